// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// Opening is a dataset that a thread of the library is opening. For programs that must not block, or that show
// progress. Several goroutines may use it. It may still change in a minor release.
type Opening struct {
	handle  *handle
	result  *opened
	cleanup runtime.Cleanup
}

// opened is the result of an opening; complete when done is closed.
type opened struct {
	done    chan struct{}
	dataset *Dataset
	err     error
	taken   atomic.Bool // Wait has returned the dataset
}

// OpenAsync starts what Open does, and returns. Wait reports errors in the URI or the data. ErrThread.
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
	// Not in the goroutine of the cleanups: ending it may take a while.
	o.cleanup = runtime.AddCleanup(o, func(h *handle) { go h.close() }, o.handle)
	return o, nil
}

// wait is a goroutine that lives as long as the opening; it has entered the handle.
func (r *opened) wait(h *handle) {
	r.dataset, r.err = newDataset(func(out *abi.Handle, e *abi.Error) int32 {
		return abi.OpeningWait(h.pointer, -1, out, e)
	})
	h.leave()
	close(r.done)
}

// Done is closed when Wait would not wait.
func (o *Opening) Done() <-chan struct{} { return o.result.done }

// Wait waits for the dataset and returns it, the same one each time; the caller closes it. When the context is done,
// the wait ends with its error, but the opening continues. The errors of Open; ErrCancelled.
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

// Cancel ends the opening soon, with ErrCancelled, unless it has already finished. Any goroutine; never blocks.
func (o *Opening) Cancel() {
	_ = o.use(func(opening abi.Handle, _ *abi.Error) int32 {
		abi.OpeningCancel(opening)
		return 0
	})
}

// Close cancels, waits until the opening has ended, and frees it. It closes a dataset that no Wait has returned. Does
// nothing if called again.
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
