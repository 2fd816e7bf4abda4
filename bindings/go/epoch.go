// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"context"
	"iter"
	"runtime"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// Epoch returns the batches of one epoch. At its start, or after Seek or LoadState, these are the rest of the current
// epoch. After a break, they are those of the next epoch, from its first step. Yields nothing after the last epoch of
// the job.
//
// A batch is valid for its iteration, unless Keep is called. When the context is done, the loop ends with the
// context's error, also during a wait. ErrBadSample does not end the loop: if the body continues, the next iteration
// delivers the good samples of that step. All other errors end the loop.
//
// When it starts, a loop ends the earlier loop over the same loader, as Seek and LoadState do: the next iteration of
// that loop returns ErrWrongState. To share an epoch between goroutines, use SharedEpoch.
func (l *Loader) Epoch(ctx context.Context) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		loop, err := l.begin(ctx)
		if err != nil {
			if err != End {
				yield(nil, err)
			}
			return
		}
		defer loop.close()
		loop.run(yield)
	}
}

// SharedEpoch is one epoch that several goroutines share. Each batch goes to one of them, and all see its end.
type SharedEpoch struct {
	loop    *epochLoop
	cleanup runtime.Cleanup
}

// SharedEpoch starts an epoch as a loop over Epoch does, for several goroutines, each of which loops over Batches.
// When the context is done, all loops end with its error. End: after the last epoch of the job.
func (l *Loader) SharedEpoch(ctx context.Context) (*SharedEpoch, error) {
	loop, err := l.begin(ctx)
	if err != nil {
		return nil, err
	}
	s := &SharedEpoch{loop: loop}
	// Not in the goroutine of the cleanups: it may free the memory of a closed loader.
	s.cleanup = runtime.AddCleanup(s, func(loop *epochLoop) { go loop.close() }, loop)
	return s, nil
}

// Batches returns the batches of the epoch that no other loop over it takes. Any number of goroutines may loop over
// it, also more than once: after a break, other loops and later loops take the rest. Batches and errors are those of
// Loader.Epoch. After the end of the epoch, a loop yields nothing. If a newer loop, Seek or LoadState has ended the
// epoch early, each loop yields ErrWrongState.
func (s *SharedEpoch) Batches() iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		if s == nil || s.loop == nil {
			yield(nil, errNil("shared epoch"))
			return
		}
		s.loop.run(yield)
		runtime.KeepAlive(s)
	}
}

// Interrupt ends every wait of loops over Batches with ErrInterrupted. If no loop waits, it ends the next iteration.
// A later loop over Batches continues the epoch. Any goroutine; never blocks.
func (s *SharedEpoch) Interrupt() {
	if s != nil && s.loop != nil {
		s.loop.interrupt()
		runtime.KeepAlive(s)
	}
}

// Close frees the memory of the epoch. Its loops end with ErrClosed, also those that wait. The loader's position does
// not change, as after a break. Does nothing if called again.
func (s *SharedEpoch) Close() error {
	if s == nil || s.loop == nil {
		return nil
	}
	s.cleanup.Stop()
	s.loop.close()
	runtime.KeepAlive(s)
	return nil
}

// epochLoop is an epoch of the library and the context that ends it.
type epochLoop struct {
	loader  *Loader
	handle  *handle
	ctx     context.Context
	unwatch func() bool
}

// begin starts an epoch; close ends it. End: after the last one.
func (l *Loader) begin(ctx context.Context) (*epochLoop, error) {
	if err := checkContext(ctx); err != nil {
		return nil, err
	}
	raw := new(abi.Handle)
	if err := l.use(func(loader abi.Handle, e *abi.Error) int32 { return abi.LoaderEpoch(loader, raw, e) }); err != nil {
		return nil, err
	}
	h := newHandle(*raw, abi.EpochRelease, abi.EpochInterrupt)
	return &epochLoop{l, h, ctx, context.AfterFunc(ctx, func() { h.do(abi.EpochInterrupt) })}, nil
}

func (e *epochLoop) interrupt() { e.handle.do(abi.EpochInterrupt) }

func (e *epochLoop) close() {
	e.unwatch()
	e.handle.close()
}

// next waits for a batch: its lease is in the frame if the error is nil.
func (e *epochLoop) next(f *abi.Frame) error {
	l := e.loader
	if !l.handle.enter() {
		return ErrClosed
	}
	defer runtime.KeepAlive(l)
	defer l.handle.leave()
	if !e.handle.enter() {
		return ErrClosed
	}
	defer e.handle.leave()
	if err := e.ctx.Err(); err != nil {
		return err
	}
	status := f.NextOf(e.handle.pointer, -1)
	switch {
	case status == statusOK:
		return nil
	case l.handle.closed():
		return ErrClosed
	case status != statusInterrupted:
		return failure(status, &f.Error)
	}
	var err error = ErrClosed
	if !e.handle.closed() {
		err = e.ctx.Err()
	}
	if err == nil {
		return ErrInterrupted
	}
	// An interrupt ends the waits that have started, or one later call. A goroutine that was about to wait needs another one.
	abi.EpochInterrupt(e.handle.pointer)
	return err
}

// run yields batches until the epoch ends.
func (e *epochLoop) run(yield func(*Batch, error) bool) {
	f := frames.Get().(*abi.Frame)
	defer frames.Put(f)
	var current *Batch
	defer func() { current.endTurn() }() // also after a panic in the body
	for {
		switch err := e.next(f); err {
		case nil:
			current = e.loader.take(f)
			if !yield(current, nil) {
				return
			}
			current.endTurn()
		case EndOfEpoch:
			return
		default:
			if !yield(nil, err) || !isBadSample(err) {
				return
			}
		}
	}
}

func (b *Batch) endTurn() {
	if b != nil && !b.kept {
		b.Release()
	}
}

func isBadSample(err error) bool {
	details, ok := err.(*Error)
	return ok && details.Code == ErrBadSample
}
