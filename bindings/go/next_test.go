// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dataline/dataline/bindings/go"
)

// withAndWithoutWorkers runs a test twice.
func withAndWithoutWorkers(t *testing.T, run func(t *testing.T, workers int)) {
	for _, workers := range []int{0, 2} {
		t.Run([]string{"alone", "", "workers"}[workers], func(t *testing.T) { run(t, workers) })
	}
}

// cancellable is a context of the test's own.
func cancellable(t *testing.T) (context.Context, func()) {
	ctx, cancel := context.WithCancel(background)
	t.Cleanup(cancel)
	return ctx, cancel
}

// endOne waits in Next, which has looked at its context before that is done.
func endOne(t *testing.T, l *dataline.Loader) {
	t.Helper()
	ctx, cancel := cancellable(t)
	asked := &askedContext{Context: ctx, asks: make(chan chan struct{})}
	ended := waiting(l, asked)
	close(<-asked.asks)
	cancel()
	wants(t, <-ended, context.Canceled)
}

func TestAContextEndsOnlyItsOwnWaits(t *testing.T) {
	withAndWithoutWorkers(t, func(t *testing.T, workers int) {
		l, held := leased(t, workers)
		other, _ := cancellable(t)
		others := []chan error{waiting(l, background), waiting(l, other)}
		for range 10 {
			endOne(t, l)
		}
		held.Release()
		for _, ended := range others { // 3 batches are left
			check(t, <-ended)
		}
		b := must[*dataline.Batch](t)(l.Next(background))
		equal(t, b.SampleIndices(), 6, 7) // no batch was lost
		b.Release()
	})
}

func TestGoroutinesWithContextsOfTheirOwnGetDifferentBatches(t *testing.T) {
	withAndWithoutWorkers(t, func(t *testing.T, workers int) {
		const samples = 300
		l := loaderOf(t, numbers(t, samples), dataline.With{
			"batch_size": 1, "num_workers": workers, "max_leases": 1, "lease_overflow": "wait", "epochs": 1})
		var group sync.WaitGroup
		var lock sync.Mutex
		var all []int64
		for range 4 {
			group.Go(func() {
				for {
					ctx, cancel := context.WithCancel(background)
					b, err := l.Next(ctx)
					cancel()
					if err == dataline.EndOfEpoch || err == dataline.End {
						return
					} else if err != nil {
						t.Error(err)
						return
					}
					lock.Lock()
					all = append(all, b.SampleIndices()...)
					lock.Unlock()
					b.Release()
				}
			})
		}
		group.Wait()
		equal(t, all, count(samples)...) // one is held at a time, so they come in order
	})
}

func TestANextThatWaitsGetsTheBatchAtAPlaceThatWasSought(t *testing.T) {
	withAndWithoutWorkers(t, func(t *testing.T, workers int) {
		l, held := leased(t, workers)
		ctx, _ := cancellable(t)
		taken := make(chan []int64)
		go func() {
			b, err := l.Next(ctx)
			if err != nil {
				t.Error(err)
				close(taken)
				return
			}
			defer b.Release()
			taken <- slices.Clone(b.SampleIndices())
		}()
		check(t, l.Seek(5, 3))
		held.Release()
		equal(t, <-taken, 6, 7)
	})
}

func TestCancelAndCloseEndAllWaitsWhateverTheirContexts(t *testing.T) {
	withAndWithoutWorkers(t, func(t *testing.T, workers int) {
		l, held := leased(t, workers)
		defer held.Release()
		wait := func() (ended []chan error) {
			for range 3 {
				ctx, _ := cancellable(t)
				ended = append(ended, waiting(l, ctx), waiting(l, background))
			}
			return ended
		}
		waits := wait()
		l.Cancel()
		for _, ended := range waits {
			wants(t, <-ended, dataline.ErrCancelled)
		}
		check(t, l.Seek(0, 1))
		waits = wait()
		check(t, l.Close())
		for _, ended := range waits {
			wants(t, <-ended, dataline.ErrClosed)
		}
	})
}

func TestInterruptEndsOneWaitOfNextOrTheNextCall(t *testing.T) {
	withAndWithoutWorkers(t, func(t *testing.T, workers int) {
		l, held := leased(t, workers)
		for range 10 {
			ctx, _ := cancellable(t)
			ended := waiting(l, ctx)
			for range 3 { // meanwhile it has most likely begun to wait; it may also be about to
				endOne(t, l)
			}
			l.Interrupt()
			wants(t, <-ended, dataline.ErrInterrupted)
			_, err := l.Poll() // it ended one call
			wants(t, err, dataline.ErrTimeout)
		}
		held.Release()
		b := must[*dataline.Batch](t)(l.Next(background))
		equal(t, b.SampleIndices(), 2, 3)
		b.Release()
	})
}

// What ends a loop or a wait concerns no other call.
func TestContextsAndSeeksEndNoPoll(t *testing.T) {
	l, held := leased(t, 1)
	defer held.Release()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range 300 {
			ctx, cancel := context.WithCancel(background)
			next, loop := waiting(l, ctx), make(chan struct{})
			go func() {
				defer close(loop)
				for range l.Epoch(ctx) {
					return
				}
			}()
			if err := l.Seek(0, 0); err != nil {
				t.Error(err)
			}
			cancel()
			<-loop
			<-next
		}
	}()
	for polls := true; polls; {
		if _, err := l.Poll(); !errors.Is(err, dataline.ErrTimeout) {
			t.Error(err)
			break
		}
		select {
		case <-ended:
			polls = false
		default:
		}
	}
	<-ended
}

// lateContext holds the wait that watches it until goOn is closed.
type lateContext struct {
	context.Context
	reached, goOn chan struct{}
}

func (c *lateContext) AfterFunc(f func()) (stop func() bool) {
	close(c.reached)
	<-c.goOn
	return context.AfterFunc(c.Context, f)
}

func (c *lateContext) Value(any) any { return nil } // as that of watchedContext

// A seek clears the cancel of Close while one call is about to wait.
func TestASeekThatClearsACancelDoesNotUndoClose(t *testing.T) {
	l, held := leased(t, 1)
	defer held.Release()
	inner, _ := cancellable(t)
	late := &lateContext{inner, make(chan struct{}), make(chan struct{})}
	first, second := waiting(l, background), waiting(l, late)
	<-late.reached
	seeking, seek, sought := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		sought <- l.SeekAfter(func() {
			close(seeking)
			<-seek
		}, 0, 1)
	}()
	<-seeking
	go l.Close()
	wants(t, <-first, dataline.ErrClosed)
	close(seek)
	check(t, <-sought)
	close(late.goOn)
	wants(t, <-second, dataline.ErrClosed)
}

// watchedContext counts who watches it.
type watchedContext struct {
	context.Context
	begun, watching atomic.Int32
}

func (c *watchedContext) AfterFunc(f func()) (stop func() bool) {
	c.begun.Add(1)
	c.watching.Add(1)
	unwatch := context.AfterFunc(c.Context, f)
	return func() bool {
		c.watching.Add(-1)
		return unwatch()
	}
}

func (c *watchedContext) Value(any) any { return nil } // not the context in it: that is watched through this one

func TestNothingWatchesAContextAfterItsLoopOrWait(t *testing.T) {
	inner, _ := cancellable(t)
	for name, use := range map[string]func(*testing.T, *dataline.Loader, context.Context){
		"loop": func(t *testing.T, l *dataline.Loader, ctx context.Context) {
			for range l.Epoch(ctx) {
				break
			}
		},
		"shared": func(t *testing.T, l *dataline.Loader, ctx context.Context) {
			check(t, must[*dataline.SharedEpoch](t)(l.SharedEpoch(ctx)).Close())
		},
		"wait": func(t *testing.T, l *dataline.Loader, ctx context.Context) {
			held := must[*dataline.Batch](t)(l.Next(ctx))
			ended := waiting(l, ctx)
			l.Interrupt()
			wants(t, <-ended, dataline.ErrInterrupted)
			held.Release()
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := &watchedContext{Context: inner}
			l := loaderOf(t, numbers(t, 8), dataline.With{"batch_size": 2, "max_leases": 1, "lease_overflow": "wait"})
			use(t, l, ctx)
			if ctx.watching.Load() != 0 || name != "wait" && ctx.begun.Load() == 0 {
				t.Error(ctx.watching.Load(), "of", ctx.begun.Load(), "watches are left")
			}
		})
	}
}
