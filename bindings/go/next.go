// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"context"
	"runtime"
	"time"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// Statuses that calls check before they become errors.
const (
	statusOK          = abi.DL_OK
	statusTimeout     = int32(ErrTimeout)
	statusInterrupted = int32(ErrInterrupted)
)

// Next returns the next batch, in order; the caller releases it. When the context is done, the wait ends with the
// context's error. Only waits with that context end, and no batch is lost. With num_workers=0 the call itself loads,
// without regard to the context.
//
// EndOfEpoch once at the end of each epoch, End after the last. ErrBadSample (option on_error=raise), once per step:
// the next call delivers the good samples of that step. ErrTooManyBad, ErrLeasesHeld, ErrOverBudget, ErrNoMemory;
// ErrCancelled, ErrInterrupted, ErrClosed.
func (l *Loader) Next(ctx context.Context) (*Batch, error) {
	if err := checkContext(ctx); err != nil {
		return nil, err
	}
	return l.one(func(f *abi.Frame) (int32, error) {
		if ctx.Done() == nil {
			return f.Next(l.handle.pointer, -1), nil
		}
		// Usually a batch is ready, and there is no need to watch the context.
		if status := f.Next(l.handle.pointer, 0); status != statusTimeout {
			return status, nil
		}
		return l.wait(ctx, f)
	})
}

// wait waits for a batch through its own handle, which the context interrupts. The result is that of Frame.Next.
func (l *Loader) wait(ctx context.Context, f *abi.Frame) (int32, error) {
	raw := new(abi.Handle)
	if status := abi.LoaderStream(l.handle.pointer, raw, &f.Error); status != statusOK {
		return status, nil
	}
	h := newHandle(*raw, abi.EpochRelease, nil)
	defer h.close()
	defer context.AfterFunc(ctx, func() { h.do(abi.EpochInterrupt) })()
	status := f.NextOf(h.pointer, -1)
	if status == statusInterrupted {
		return status, ctx.Err()
	}
	return status, nil
}

// Poll is Next without a wait: ErrTimeout if the batch is not ready.
func (l *Loader) Poll() (*Batch, error) {
	return l.one(func(f *abi.Frame) (int32, error) { return f.Next(l.handle.pointer, 0), nil })
}

// Work loads in this goroutine for about the budget, with num_workers=0, for example in a frame loop; at least one
// run of samples. True: Next or Poll returns immediately. With workers it loads nothing.
//
// ErrForked, ErrDeviceLost; ErrCancelled, ErrInterrupted, ErrClosed.
func (l *Loader) Work(budget time.Duration) (due bool, err error) {
	err = l.use(func(raw abi.Handle, e *abi.Error) int32 { return abi.LoaderWork(raw, budget.Nanoseconds(), e) })
	if err == error(ErrTimeout) {
		return false, nil
	}
	return err == nil, err
}

// one makes a call that takes a batch, which the caller releases.
func (l *Loader) one(next func(f *abi.Frame) (int32, error)) (*Batch, error) {
	if l == nil {
		return nil, errNil("loader")
	}
	if !l.handle.enter() {
		return nil, ErrClosed
	}
	defer runtime.KeepAlive(l)
	defer l.handle.leave()
	f := frames.Get().(*abi.Frame)
	defer frames.Put(f)
	status, err := next(f)
	switch {
	case err != nil:
		return nil, err
	case status == statusOK:
		b := l.take(f)
		b.Keep()
		return b, nil
	case l.handle.closed():
		return nil, ErrClosed
	}
	return nil, failure(status, &f.Error)
}

// checkContext returns the error of a context that is done.
func checkContext(ctx context.Context) error {
	if ctx == nil {
		return errNil("context")
	}
	return ctx.Err()
}
