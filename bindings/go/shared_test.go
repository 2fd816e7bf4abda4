// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/dataline/dataline/bindings/go"
)

func sharedOf(t *testing.T, l *dataline.Loader, ctx context.Context) *dataline.SharedEpoch {
	t.Helper()
	shared := must[*dataline.SharedEpoch](t)(l.SharedEpoch(ctx))
	t.Cleanup(func() { check(t, shared.Close()) })
	return shared
}

func TestGoroutinesThatShareAnEpochGetEachRowOnceAndAllSeeItsEnd(t *testing.T) {
	const rows, goroutines = 60_000, 4
	for _, workers := range []int{0, 2} {
		l := loaderOf(t, numbers(t, rows), dataline.With{"batch_size": 64, "shuffle": "full", "num_workers": workers})
		for round := range 3 {
			shared := sharedOf(t, l, background)
			taken := make([][]int64, goroutines)
			var group sync.WaitGroup
			for mine := range taken {
				group.Go(func() {
					for b, err := range shared.Batches() {
						if err != nil {
							t.Error(err)
							return
						}
						taken[mine] = append(taken[mine], must[[]int64](t)(dataline.View[int64](b, "x"))...)
					}
				})
			}
			group.Wait()
			all := slices.Concat(taken...)
			if len(all) != rows {
				t.Fatal(len(all), "rows of an epoch of", rows)
			}
			slices.Sort(all)
			equal(t, all, count(rows)...)
			at(t, l, round+1, 0)
		}
	}
}

// askedContext is a context that holds each goroutine that asks for its error while it is not done: the answer is nil, whatever
// happens before the goroutine gets it.
type askedContext struct {
	context.Context
	asks chan chan struct{} // nil: nobody is held
}

func (c *askedContext) Err() error {
	err := c.Context.Err()
	if err == nil && c.asks != nil {
		answer := make(chan struct{})
		c.asks <- answer
		<-answer
	}
	return err
}

// One goroutine waits, and its interrupt is used up when the two others begin to wait.
func TestEveryLoopOfASharedEpochEndsAlsoOneThatWasOnlyAboutToWait(t *testing.T) {
	for name, way := range map[string]struct {
		end  func(*dataline.Loader, *dataline.SharedEpoch, func())
		says error
	}{
		"context":    {func(_ *dataline.Loader, _ *dataline.SharedEpoch, cancel func()) { cancel() }, context.Canceled},
		"Close":      {func(_ *dataline.Loader, s *dataline.SharedEpoch, _ func()) { go s.Close() }, dataline.ErrClosed},
		"its loader": {func(l *dataline.Loader, _ *dataline.SharedEpoch, _ func()) { go l.Close() }, dataline.ErrClosed},
		"Cancel":     {func(l *dataline.Loader, _ *dataline.SharedEpoch, _ func()) { l.Cancel() }, dataline.ErrCancelled},
		"a newer one": {func(l *dataline.Loader, _ *dataline.SharedEpoch, _ func()) { sharedOf(t, l, background) },
			dataline.ErrWrongState},
	} {
		t.Run(name, func(t *testing.T) {
			l, held := leased(t, 2)
			defer held.Release()
			ctx, cancel := context.WithCancel(background)
			defer cancel()
			asked := &askedContext{Context: ctx}
			shared := sharedOf(t, l, asked)
			asked.asks = make(chan chan struct{})
			ended := make(chan error, 3)
			for range cap(ended) {
				go func() {
					for _, err := range shared.Batches() {
						ended <- err
						return
					}
					ended <- nil
				}()
			}
			answers := []chan struct{}{<-asked.asks, <-asked.asks, <-asked.asks}
			close(answers[0])
			way.end(l, shared, cancel)
			wants(t, <-ended, way.says)
			close(answers[1])
			close(answers[2])
			wants(t, <-ended, way.says)
			wants(t, <-ended, way.says)
		})
	}
}

// deafContext reports to nobody that it is done.
type deafContext struct{ context.Context }

func (deafContext) AfterFunc(func()) (stop func() bool) { return func() bool { return true } }

func (deafContext) Value(any) any { return nil } // as that of watchedContext

func TestALoopLooksAtItsContextBeforeEachBatch(t *testing.T) {
	l := loaderOf(t, numbers(t, 4))
	inner, cancel := cancellable(t)
	ctx := deafContext{inner}
	shared := sharedOf(t, l, ctx)
	cancel()
	for range 2 {
		iterations := 0
		for _, err := range shared.Batches() {
			wants(t, err, context.Canceled)
			iterations++
		}
		equal(t, []int{iterations}, 1)
	}
	at(t, l, 0, 0)
	_, err := l.SharedEpoch(ctx)
	wants(t, err, context.Canceled)
}

func TestABatchOfASharedEpochIsReleasedAfterItsIterationUnlessItIsKept(t *testing.T) {
	l := loaderOf(t, numbers(t, 4), dataline.With{"batch_size": 1})
	shared := sharedOf(t, l, background)
	var kept *dataline.Batch
	for b, err := range shared.Batches() {
		check(t, err)
		if kept == nil {
			kept = b
			b.Keep()
		}
	}
	if stats := must[dataline.Stats](t)(l.Stats()); stats.LeasesHeld != 1 {
		t.Error(stats.LeasesHeld, "batches are held")
	}
	equal(t, must[[]int64](t)(dataline.View[int64](kept, "x")), 0)
	kept.Release()
}

func TestAfterTheLastEpochThereIsNoneToShare(t *testing.T) {
	l := loaderOf(t, numbers(t, 4), dataline.With{"epochs": 1})
	for _, err := range sharedOf(t, l, background).Batches() {
		check(t, err)
	}
	_, err := l.SharedEpoch(background)
	wants(t, err, dataline.End)
}

// probedLoader is a loader whose operator is closed when nothing holds the loader's memory any more.
func probedLoader(t *testing.T) (*dataline.Loader, <-chan struct{}) {
	p, extensions := probed(t, nil, same)
	l := loaderOf(t, arrays(t, bytesTo(8)), extensions, dataline.With{"transform": "x: probe", "batch_size": 2})
	check(t, extensions.Close())
	return l, p.closed
}

func TestALoopHoldsNothingOnceItIsLeft(t *testing.T) {
	for name, leave := range map[string]func(*dataline.Loader){
		"break": func(l *dataline.Loader) {
			for range l.Epoch(background) {
				break
			}
		},
		"end": func(l *dataline.Loader) {
			for range l.Epoch(background) {
			}
		},
		"panic": func(l *dataline.Loader) {
			defer func() { _ = recover() }()
			for range l.Epoch(background) {
				panic("in the body")
			}
		},
		"Close": func(l *dataline.Loader) {
			shared := must[*dataline.SharedEpoch](t)(l.SharedEpoch(background))
			for range shared.Batches() {
				break
			}
			check(t, shared.Close())
			check(t, shared.Close()) // again: nothing happens
			for _, err := range shared.Batches() {
				wants(t, err, dataline.ErrClosed)
			}
			shared.Interrupt()
		},
	} {
		t.Run(name, func(t *testing.T) {
			l, closed := probedLoader(t)
			leave(l)
			check(t, l.Close())
			<-closed
		})
	}
}

func TestASharedEpochThatWasForgottenIsFreedByTheCollector(t *testing.T) {
	closed := func() <-chan struct{} {
		l, closed := probedLoader(t)
		shared := must[*dataline.SharedEpoch](t)(l.SharedEpoch(background))
		check(t, l.Close())
		select {
		case <-closed:
			t.Fatal("it holds nothing")
		default:
		}
		runtime.KeepAlive(shared)
		return closed
	}()
	for {
		select {
		case <-closed:
			return
		default:
			runtime.GC()
		}
	}
}
