// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"context"
	"iter"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// Statuses that the loop looks at before they are errors.
const (
	statusOK          = abi.DL_OK
	statusInterrupted = int32(ErrInterrupted)
)

// waiter is a goroutine's waits in the library, which its context can end.
//
// A wait blocks an OS thread, never a processor of Go: the scheduler gives that to others within some tens of
// microseconds. dl_loader_interrupt ends only waits that have begun, so what watches the context repeats it until the
// waiter is outside.
type waiter struct {
	loader  *Loader
	ctx     context.Context
	looping bool // it holds the turn, and gives it up when somebody wants it
	inside  atomic.Bool
	stopped atomic.Bool
}

// watch begins to watch the context; the result ends it.
func (w *waiter) watch() func() bool {
	if w.ctx.Done() == nil {
		return func() bool { return true }
	}
	return context.AfterFunc(w.ctx, func() {
		w.stopped.Store(true)
		for pause := 10 * time.Microsecond; w.inside.Load(); pause = min(2*pause, time.Millisecond) {
			w.loader.nudge()
			time.Sleep(pause)
		}
	})
}

// next is one batch, in order: its lease is in the frame when the error is nil.
func (w *waiter) next(f *abi.Frame) error {
	l := w.loader
	if !l.handle.enter() {
		return ErrClosed
	}
	defer runtime.KeepAlive(l)
	defer l.handle.leave()
	for {
		interrupts := l.interrupts.Load()
		w.inside.Store(true)
		if w.stopped.Load() {
			w.inside.Store(false)
			return w.ctx.Err()
		}
		status := f.Next(l.handle.pointer, -1)
		w.inside.Store(false)
		switch {
		case status == statusOK:
			return nil
		case l.handle.closed():
			return ErrClosed
		case status != statusInterrupted:
			return failure(status, &f.Error)
		case w.stopped.Load():
			return w.ctx.Err()
		case l.interrupts.Load() != interrupts:
			return ErrInterrupted
		case w.looping && l.loops.wanted.Load() != 0:
			return errEvicted
		}
		// The interrupt was meant for another goroutine: its context is done, or its loop has to end.
	}
}

// poll is next that does not wait, and so needs no waiter.
func (l *Loader) poll(f *abi.Frame) error {
	if l == nil {
		return errNil("loader")
	}
	if !l.handle.enter() {
		return ErrClosed
	}
	defer runtime.KeepAlive(l)
	defer l.handle.leave()
	l.loops.strangers.Add(1)
	for {
		interrupts := l.interrupts.Load()
		status := f.Next(l.handle.pointer, 0)
		switch {
		case status == statusOK:
			return nil
		case l.handle.closed():
			return ErrClosed
		case status == statusInterrupted && l.interrupts.Load() == interrupts:
			continue // it was meant for another goroutine, as in waiter.next
		}
		return failure(status, &f.Error)
	}
}

// Next is the next batch, in order; the caller releases it. A context that is done ends a wait in progress with its
// error; nothing is lost by that. With num_workers=0 the call does the work itself, whatever the context.
//
// EndOfEpoch once at the end of each epoch, End after the last. ErrBadSample (option on_error=raise), once a step: the
// next call delivers the step's good samples. ErrTooManyBad, ErrLeasesHeld, ErrOverBudget, ErrNoMemory; ErrCancelled,
// ErrInterrupted, ErrClosed.
func (l *Loader) Next(ctx context.Context) (*Batch, error) {
	if err := checkContext(ctx); err != nil {
		return nil, err
	}
	f := frames.Get().(*abi.Frame)
	defer frames.Put(f)
	// Most batches are ready: then there is no need to watch the context.
	err := l.poll(f)
	if err == ErrTimeout {
		err = l.wait(ctx, f)
	}
	return l.lasting(f, err)
}

// Poll is Next that does not wait: ErrTimeout when the batch is not ready.
func (l *Loader) Poll() (*Batch, error) {
	f := frames.Get().(*abi.Frame)
	defer frames.Put(f)
	return l.lasting(f, l.poll(f))
}

// Work loads in this goroutine for about the budget, with num_workers=0, so that a frame loop can spread a batch over
// several frames; one run of samples at least. True: Next or Poll returns at once. With workers it loads nothing.
//
// ErrForked, ErrDeviceLost; ErrCancelled, ErrInterrupted, ErrClosed.
func (l *Loader) Work(budget time.Duration) (due bool, err error) {
	err = l.use(func(raw abi.Handle, e *abi.Error) int32 { return abi.LoaderWork(raw, budget.Nanoseconds(), e) })
	if err == error(ErrTimeout) {
		return false, nil
	}
	return err == nil, err
}

func (l *Loader) wait(ctx context.Context, f *abi.Frame) error {
	w := &waiter{loader: l, ctx: ctx}
	defer w.watch()()
	return w.next(f)
}

// lasting is the batch of a frame, for a caller who releases it.
func (l *Loader) lasting(f *abi.Frame, err error) (*Batch, error) {
	if err != nil {
		return nil, err
	}
	b := l.take(f)
	b.Keep()
	runtime.KeepAlive(l)
	return b, nil
}

// Epoch is the batches of one epoch: the rest of this one after Seek or LoadState; the next one from its first step if
// this was left in the middle (break). Nothing after the last epoch of the job.
//
// A batch is valid for its turn of the loop, unless Keep is called. A context that is done ends the loop, also in the
// middle of a wait, with its error. ErrBadSample does not end the loop: a body that goes on gets the step's good samples;
// all other errors end it.
//
// A loop that begins, here or in another goroutine, ends the one under way over the same loader, and so do Seek and
// LoadState: its next turn is ErrWrongState. Goroutines that are to share an epoch take its batches from one loop, through
// a channel (after Keep), or call Next.
func (l *Loader) Epoch(ctx context.Context) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		w := &waiter{loader: l, ctx: ctx, looping: true}
		number, err := l.beginEpoch(ctx)
		if err != nil {
			if err != End {
				yield(nil, err)
			}
			return
		}
		defer w.watch()()
		f := frames.Get().(*abi.Frame)
		defer frames.Put(f)
		var current *Batch
		defer func() { current.endTurn() }() // also after a panic in the body
		for {
			err := w.nextOf(number, f)
			switch err {
			case nil:
				current = l.take(f)
				if !yield(current, nil) {
					return
				}
				current.endTurn()
			case EndOfEpoch, End:
				return
			default:
				if !yield(nil, err) || !isBadSample(err) {
					return
				}
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

// beginEpoch begins a loop, and is its number; End after the last epoch.
func (l *Loader) beginEpoch(ctx context.Context) (number uint64, err error) {
	if err := checkContext(ctx); err != nil {
		return 0, err
	}
	err = l.displace(func() error {
		if err := l.use(func(raw abi.Handle, e *abi.Error) int32 { return abi.LoaderBeginEpoch(raw, e) }); err != nil {
			return err
		}
		s := &l.loops
		number, s.over, s.seen = s.number+1, false, s.strangers.Load()
		s.epoch, _, err = l.Position()
		return err
	})
	return number, err
}

// checkContext is the error of a context that is done.
func checkContext(ctx context.Context) error {
	if ctx == nil {
		return errNil("context")
	}
	return ctx.Err()
}
