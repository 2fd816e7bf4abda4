// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"context"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// Opening is a dataset that is being opened: for programs that do something else meanwhile, or show how far it is. Several
// goroutines may use it. It may still change in a minor release.
type Opening struct {
	handle  *handle
	result  *opened
	cleanup runtime.Cleanup
}

// opened is what an opening ends with; complete when done is closed.
type opened struct {
	done    chan struct{}
	dataset *Dataset
	err     error
	taken   atomic.Bool // Wait has returned the dataset
}

// OpenAsync begins what Open does, and returns. What is wrong with the URI or the data, Wait says. ErrThread.
func OpenAsync(uri string, options ...Option) (*Opening, error) {
	set, err := newOptionSet(options)
	if err != nil {
		return nil, err
	}
	defer set.destroy()
	text, err := cText("URI", uri)
	if err != nil {
		return nil, err
	}
	raw := new(abi.Handle)
	err = call(func(e *abi.Error) int32 { return abi.DatasetOpenAsync(text, set.handle, raw, e) })
	if err != nil {
		return nil, err
	}
	o := &Opening{
		handle: newHandle(*raw, abi.OpeningDestroy, abi.OpeningCancel),
		result: &opened{done: make(chan struct{})},
	}
	o.handle.enter()
	go o.result.wait(o.handle)
	// Ending it may take a while, so not in the goroutine of the cleanups.
	o.cleanup = runtime.AddCleanup(o, func(h *handle) { go h.close() }, o.handle)
	return o, nil
}

// wait is a goroutine for the time of the opening; it has entered the handle.
func (r *opened) wait(h *handle) {
	r.dataset, r.err = newDataset(func(out *abi.Handle, e *abi.Error) int32 {
		return abi.OpeningWait(h.pointer, -1, out, e)
	})
	h.leave()
	close(r.done)
}

// Done is closed when Wait would not wait.
func (o *Opening) Done() <-chan struct{} { return o.result.done }

// Wait returns the dataset once it is open, the same one each time; the caller closes it. A context that is done ends the
// wait with its error, not the opening. The errors of Open; ErrCancelled.
func (o *Opening) Wait(ctx context.Context) (*Dataset, error) {
	if o == nil || o.result == nil {
		return nil, errNil("opening")
	}
	if ctx == nil {
		return nil, errNil("context")
	}
	select {
	case <-o.result.done:
	default:
		select {
		case <-o.result.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	runtime.KeepAlive(o)
	if o.result.err == nil {
		o.result.taken.Store(true)
	}
	return o.result.dataset, o.result.err
}

// OpenProgress is how far an opening is. The numbers only grow, the totals too.
type OpenProgress struct {
	Done       bool  // Wait would not wait
	Files      int64 // opened
	TotalFiles int64 // that the URI stands for; 0: not known yet
	Bytes      int64 // read into memory (io=memory, .gz: as stored, then inflated) or searched (tar)
	TotalBytes int64 // of those files that were begun; 0: only headers are read
	Entries    int64 // found in folders, label files and tars
}

// Progress never blocks. ErrClosed.
func (o *Opening) Progress() (OpenProgress, error) {
	raw := &abi.Progress{StructSize: uint32(unsafe.Sizeof(abi.Progress{}))}
	err := o.use(func(opening abi.Handle, e *abi.Error) int32 { return abi.OpeningProgress(opening, raw, e) })
	return OpenProgress{
		Done:       raw.Done != 0,
		Files:      raw.Files,
		TotalFiles: raw.TotalFiles,
		Bytes:      raw.Bytes,
		TotalBytes: raw.TotalBytes,
		Entries:    raw.Entries,
	}, err
}

// Cancel ends it soon, with ErrCancelled, unless it is done by then. Any goroutine; never blocks.
func (o *Opening) Cancel() {
	_ = o.use(func(opening abi.Handle, _ *abi.Error) int32 {
		abi.OpeningCancel(opening)
		return 0
	})
}

// Close cancels, waits until the opening has ended, and frees; a dataset that no Wait has returned is closed. Calling it
// again does nothing.
func (o *Opening) Close() error {
	if o == nil || o.result == nil {
		return nil
	}
	o.cleanup.Stop()
	o.handle.close()
	<-o.result.done
	runtime.KeepAlive(o)
	if o.result.err == nil && !o.result.taken.Swap(true) {
		return o.result.dataset.Close()
	}
	return nil
}

func (o *Opening) use(function func(raw abi.Handle, e *abi.Error) int32) error {
	if o == nil {
		return errNil("opening")
	}
	if !o.handle.enter() {
		return ErrClosed
	}
	defer runtime.KeepAlive(o)
	defer o.handle.leave()
	return call(func(e *abi.Error) int32 { return function(o.handle.pointer, e) })
}
