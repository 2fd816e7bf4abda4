// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"runtime"
	"slices"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// Loader is a job's stream of batches; it owns threads, memory and a position. The stream depends only on the data,
// the options and the seed. Several goroutines may use it concurrently: each Next gets a different batch.
type Loader struct {
	handle  *handle
	fields  []Field
	steps   int
	cleanup runtime.Cleanup
	tracing *tracing
	lost    *forgotten
}

// NewLoader plans memory, starts the workers and starts to load. It keeps its own reference to the dataset. Applies
// options of scope loader.
//
// ErrUnknownOption, ErrBadOption, ErrBadTransform (with Column), ErrNoSuchField, ErrOutOfRange (indices, weights, start),
// ErrOverBudget, ErrNoMemory, ErrThread, ErrEmpty, ErrUnsupported.
func NewLoader(dataset *Dataset, options ...Option) (*Loader, error) {
	set, err := newOptionSet(options)
	if err != nil {
		return nil, err
	}
	defer set.destroy()
	if err := set.giveEnvironment(); err != nil {
		return nil, err
	}
	if err := dataset.enter(); err != nil {
		return nil, err
	}
	defer runtime.KeepAlive(dataset)
	defer dataset.handle.leave()
	out := new(abi.Handle)
	err = call(func(e *abi.Error) int32 { return abi.LoaderCreate(dataset.handle.pointer, set.handle, out, e) })
	if err != nil {
		return nil, err
	}
	count := new(int32)
	views := abi.LoaderFields(*out, count)
	tracing := new(tracing)
	destroy := func(raw abi.Handle) {
		abi.LoaderDestroy(raw)
		tracing.replace(nil)
	}
	l := &Loader{
		handle: newHandle(*out, destroy, abi.LoaderCancel),
		fields: fieldsOf(views, *count),
		steps:  int(abi.LoaderSteps(*out)),
		lost:   &forgotten{logger: set.logger},

		tracing: tracing,
	}
	// Not in the goroutine of the cleanups: joining the threads may take a while.
	l.cleanup = runtime.AddCleanup(l, func(h *handle) { go h.close() }, l.handle)
	return l, nil
}

// Close ends the loader: waits in progress return ErrClosed, threads are joined, memory is freed. Held batches stay
// valid. It may be called again and from several goroutines; it returns when the loader is closed.
func (l *Loader) Close() error {
	if l == nil {
		return nil
	}
	l.cleanup.Stop()
	l.handle.close()
	runtime.KeepAlive(l)
	return nil
}

// Len returns the batches per epoch, the same on every rank; -1 if unknown.
func (l *Loader) Len() int { return l.steps }

// Fields returns the schema of batches, after transforms. The first dim is -1 if batches may differ in size.
func (l *Loader) Fields() []Field { return slices.Clone(l.fields) }

// use makes a call on the loader.
func (l *Loader) use(function func(raw abi.Handle, e *abi.Error) int32) error {
	if l == nil {
		return errNil("loader")
	}
	if !l.handle.enter() {
		return ErrClosed
	}
	defer runtime.KeepAlive(l)
	defer l.handle.leave()
	return call(func(e *abi.Error) int32 { return function(l.handle.pointer, e) })
}

// Position returns the epoch and the number of its batches delivered so far. If these are all its batches, the end of
// the epoch has not been returned yet. Batches loaded ahead do not count.
func (l *Loader) Position() (epoch, step int, err error) {
	at := new([2]int64)
	err = l.use(func(raw abi.Handle, e *abi.Error) int32 { return abi.LoaderPosition(raw, &at[0], &at[1], e) })
	return int(at[0]), int(at[1]), err
}

// Seek seeks to a step of an epoch. Clears a cancel and an interrupt, and ends the current loop. Held batches stay
// valid. ErrOutOfRange names the limits.
func (l *Loader) Seek(epoch, step int) error {
	return l.move(func(raw abi.Handle, e *abi.Error) int32 { return abi.LoaderSeek(raw, int64(epoch), int64(step), e) })
}

// SaveState returns the position and the identity of the job, as text. Any language and the shell can resume from it.
func (l *Loader) SaveState() (string, error) {
	return textFrom(func(room *byte, bytes *uintptr) error {
		return l.use(func(raw abi.Handle, e *abi.Error) int32 { return abi.LoaderStateSave(raw, room, bytes, e) })
	})
}

// LoadState seeks to a saved position, and ends the current loop. Threads, depth, I/O, memory and transform may
// differ from the saving job. Rank and world size may differ too, if the global batch is equal. ErrBadState.
// ErrStateRefused: the state belongs to another dataset or job; names both values.
func (l *Loader) LoadState(state string) error {
	text, err := cText("state", state)
	if err != nil {
		return err
	}
	return l.move(func(raw abi.Handle, e *abi.Error) int32 { return abi.LoaderStateLoad(raw, text, e) })
}

// move makes a call that clears a cancel, and repeats the cancel of an earlier Close.
func (l *Loader) move(function func(raw abi.Handle, e *abi.Error) int32) error {
	return l.use(func(raw abi.Handle, e *abi.Error) int32 {
		status := function(raw, e)
		if l.handle.closed() {
			abi.LoaderCancel(raw)
		}
		return status
	})
}

// SetIndices replaces the order, starting with the next epoch that has not begun. For loaders created with
// SampleIndices. The new order has the length of the first one and is borrowed in the same way.
func (l *Loader) SetIndices(indices []int64) error {
	return lend(nil, func(loan *loan) error {
		data := pin(loan, indices)
		return l.use(func(raw abi.Handle, e *abi.Error) int32 {
			return abi.LoaderSetIndices(raw, data, int64(len(indices)), loan.id, e)
		})
	})
}

// Cancel ends every current and later wait with ErrCancelled, until Seek or LoadState. Any goroutine; never blocks.
func (l *Loader) Cancel() {
	_ = l.use(func(raw abi.Handle, _ *abi.Error) int32 {
		abi.LoaderCancel(raw)
		return 0
	})
}

// Interrupt ends every current wait of Next, Work and loops with ErrInterrupted. If no goroutine waits, it ends the
// next such call, unless Seek or LoadState comes first. No batch is lost. Any goroutine; never blocks.
func (l *Loader) Interrupt() {
	_ = l.use(func(raw abi.Handle, _ *abi.Error) int32 {
		abi.LoaderInterrupt(raw)
		return 0
	})
}

// WaitHandle returns a file descriptor that is readable while Next would not wait. Poll it; never read or close it.
// With num_workers=0 it is always readable, unless Next has to wait for a release (lease_overflow=wait). It lives as
// long as the loader.
func (l *Loader) WaitHandle() (uintptr, error) {
	out := new(uintptr)
	err := l.use(func(raw abi.Handle, e *abi.Error) int32 { return abi.LoaderWaitHandle(raw, out, e) })
	return *out, err
}
