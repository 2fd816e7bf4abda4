// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/dataline/dataline/bindings/go"
)

func TestALoopIsAnEpochOfKnownLength(t *testing.T) {
	l := loaderOf(t, numbers(t, 10), dataline.With{"batch_size": 3, "epochs": 2})
	if l.Len() != 4 {
		t.Fatal(l.Len())
	}
	for range 2 {
		batches := epoch(t, l)
		equal(t, joined(batches), count(10)...)
		if len(batches) != 4 || len(batches[3]) != 1 {
			t.Fatal(batches)
		}
	}
	if after := epoch(t, l); after != nil {
		t.Fatal("after the last epoch there is nothing, got", after)
	}
}

func TestEverySampleComesOnceAnEpochAndEachEpochHasItsOwnOrder(t *testing.T) {
	l := loaderOf(t, numbers(t, 100), dataline.With{"batch_size": 7, "shuffle": "full", "seed": 3, "epochs": 2})
	one, two := joined(epoch(t, l)), joined(epoch(t, l))
	if slices.Equal(one, two) {
		t.Fatal("two epochs have one order")
	}
	for _, order := range [][]int64{one, two} {
		slices.Sort(order)
		equal(t, order, count(100)...)
	}
}

func TestTheStreamDoesNotDependOnTheNumberOfThreads(t *testing.T) {
	stream := func(workers int) []int64 {
		options := dataline.With{"shuffle": true, "seed": 5, "batch_size": 9, "num_workers": workers}
		return joined(epoch(t, loaderOf(t, numbers(t, 1000), options)))
	}
	equal(t, stream(3), stream(0)...)
}

func at(t *testing.T, l *dataline.Loader, epoch, step int) {
	t.Helper()
	gotEpoch, gotStep, err := l.Position()
	check(t, err)
	equal(t, []int{gotEpoch, gotStep}, epoch, step)
}

func TestNextTellsTheEndOfEachEpochAndOfAll(t *testing.T) {
	l := loaderOf(t, numbers(t, 2), dataline.With{"batch_size": 2, "epochs": 1})
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	b := must[*dataline.Batch](t)(l.Next(ctx))
	defer b.Release()
	if b.Len() != 2 {
		t.Fatal(b.Len())
	}
	_, err := l.Next(background)
	wants(t, err, dataline.EndOfEpoch)
	_, err = l.Poll()
	wants(t, err, dataline.End)
	_, err = l.Next(ctx)
	wants(t, err, dataline.End)
}

func TestSeveralGoroutinesGetDifferentBatches(t *testing.T) {
	l := loaderOf(t, numbers(t, 1000), dataline.With{"batch_size": 1, "epochs": 1})
	var lock sync.Mutex
	var group sync.WaitGroup
	var seen []int64
	for range 4 {
		group.Add(1)
		go func() {
			defer group.Done()
			for {
				b, err := l.Next(background)
				if err != nil {
					if err != dataline.EndOfEpoch && err != dataline.End {
						t.Error(err)
					}
					return
				}
				lock.Lock()
				seen = append(seen, b.SampleIndices()...)
				lock.Unlock()
				b.Release()
			}
		}()
	}
	group.Wait()
	slices.Sort(seen)
	equal(t, seen, count(1000)...)
}

func TestANewOrderHoldsFromTheNextEpoch(t *testing.T) {
	order := []int64{3, 1}
	l := loaderOf(t, numbers(t, 4), dataline.With{"batch_size": 1}, dataline.SampleIndices(order))
	b := must[*dataline.Batch](t)(l.Next(background))
	equal(t, b.SampleIndices(), 3)
	b.Release()
	check(t, l.SetIndices([]int64{0, 2}))
	b = must[*dataline.Batch](t)(l.Next(background))
	equal(t, b.SampleIndices(), 1)
	b.Release()
	equal(t, joined(epoch(t, l)), 0, 2)
	if err := l.SetIndices([]int64{0, 2, 1}); err == nil {
		t.Fatal("an order of another length was taken")
	}
}

func TestWeightsDrawTheSamplesThatHaveSome(t *testing.T) {
	l := loaderOf(t, numbers(t, 3), dataline.Weights([]float64{0, 1, 0}), dataline.With{"samples_per_epoch": 4})
	equal(t, joined(epoch(t, l)), 1, 1, 1, 1)
}

func TestAStateGoesOnWhereItWasSaved(t *testing.T) {
	options := dataline.With{"batch_size": 3, "shuffle": "full", "seed": 9}
	one, two := loaderOf(t, numbers(t, 20), options), loaderOf(t, numbers(t, 20), options)
	for range 3 {
		must[*dataline.Batch](t)(one.Next(background)).Release()
	}
	check(t, two.LoadState(must[string](t)(one.SaveState())))
	at(t, two, 0, 3)
	expected := must[*dataline.Batch](t)(one.Next(background)).SampleIndices()
	equal(t, must[*dataline.Batch](t)(two.Next(background)).SampleIndices(), expected...)
}
