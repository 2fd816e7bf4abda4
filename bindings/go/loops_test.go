// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/dataline/dataline/bindings/go"
)

const endedText = "dataline: this loop's epoch was ended by another loop over the same loader (begin_epoch, seek or load_state)"

func isEnded(t *testing.T, err error) {
	t.Helper()
	wants(t, err, dataline.ErrWrongState)
	if err.Error() != endedText {
		t.Fatal(err)
	}
}

// far is how often a loop turns that does not end.
const far = 100

func TestALoopInsideALoopEndsTheOuterOne(t *testing.T) {
	l := loaderOf(t, numbers(t, 8), dataline.With{"batch_size": 2})
	turns, inner := 0, 0
	for _, err := range l.Epoch(background) {
		if turns++; turns == 2 || turns > far {
			isEnded(t, err)
			continue
		}
		check(t, err)
		inner += len(joined(epoch(t, l)))
	}
	equal(t, []int{turns, inner}, 2, 8) // a batch and an error; the inner loop has an epoch to itself
}

func TestASeekOrALoadedStateEndsTheLoopAndOneThatFailsDoesNot(t *testing.T) {
	l := loaderOf(t, numbers(t, 8), dataline.With{"batch_size": 2})
	state := must[string](t)(l.SaveState())
	for moved, left := range map[string]int{"seek": 1, "state": 4} {
		turns := 0
		for _, err := range l.Epoch(background) {
			switch turns++; {
			case turns == 3:
				isEnded(t, err)
				continue
			case turns > far:
				t.Fatal("the loop did not end")
			}
			check(t, err)
			wants(t, l.Seek(0, 99), dataline.ErrOutOfRange)
			wants(t, l.LoadState("nonsense"), dataline.ErrBadState)
			if turns == 2 && moved == "seek" {
				check(t, l.Seek(0, 3))
			} else if turns == 2 {
				check(t, l.LoadState(state))
			}
		}
		equal(t, []int{turns, len(epoch(t, l))}, 3, left) // the next loop goes on there
	}
}

func TestCallsOfNextInTheBodyTakePartInTheEpoch(t *testing.T) {
	for _, steps := range []int{4, 5} { // the end is told to the loop, or to Next
		l := loaderOf(t, numbers(t, 2*steps), dataline.With{"batch_size": 2})
		var seen []int64
		for b, err := range l.Epoch(background) {
			check(t, err)
			if len(seen) > far {
				t.Fatal("the loop did not end")
			}
			seen = append(seen, int64(b.Info().Step))
			more, err := l.Next(background)
			if err == nil {
				seen = append(seen, int64(more.Info().Step))
				more.Release()
			}
		}
		equal(t, seen, count(steps)...)
		at(t, l, 1, 0)
	}
}

// inGoroutines runs a function in three, and joins what they made.
func inGoroutines(run func() ([]int64, error)) (samples [][]int64, failed []error) {
	samples, failed = make([][]int64, 3), make([]error, 3)
	var group sync.WaitGroup
	for at := range samples {
		group.Add(1)
		go func() {
			defer group.Done()
			samples[at], failed[at] = run()
		}()
	}
	group.Wait()
	return samples, failed
}

func TestOfLoopsInSeveralGoroutinesEachHasItsEpochWholeOrIsTold(t *testing.T) {
	const samples = 20_000
	for _, workers := range []int{0, 2} {
		l := loaderOf(t, numbers(t, samples), dataline.With{"batch_size": 64, "shuffle": "full", "num_workers": workers})
		for range 10 {
			taken, failed := inGoroutines(func() (mine []int64, err error) {
				for b, err := range l.Epoch(background) {
					if err != nil {
						return nil, err
					}
					mine = append(mine, b.SampleIndices()...)
				}
				return mine, nil
			})
			whole := 0
			for at, err := range failed {
				if err != nil {
					isEnded(t, err)
					continue
				}
				whole++
				slices.Sort(taken[at])
				if !slices.Equal(taken[at], count(samples)) {
					t.Fatal(len(taken[at]), "samples of an epoch of", samples)
				}
			}
			if whole == 0 {
				t.Fatal("nothing ended the last one to begin")
			}
		}
	}
}

func TestGoroutinesShareAnEpochThroughAChannel(t *testing.T) {
	l := loaderOf(t, numbers(t, 5000), dataline.With{"batch_size": 16, "shuffle": "full"})
	for round := range 2 {
		batches := make(chan *dataline.Batch)
		go func() {
			defer close(batches)
			for b, err := range l.Epoch(background) {
				if err != nil {
					t.Error(err)
					return
				}
				b.Keep()
				batches <- b
			}
		}()
		taken, _ := inGoroutines(func() (mine []int64, err error) {
			for b := range batches {
				mine = append(mine, b.SampleIndices()...)
				b.Release()
			}
			return mine, nil
		})
		all := slices.Concat(taken...)
		slices.Sort(all)
		if !slices.Equal(all, count(5000)) {
			t.Fatal(len(all), "samples of an epoch of 5000")
		}
		at(t, l, round+1, 0)
	}
}

func TestALoopThatWaitsIsEndedByASeekAndNextWaitsOn(t *testing.T) {
	g, l := gated(t)
	ended, another := make(chan error, 1), waiting(l, background)
	go func() {
		for _, err := range l.Epoch(background) {
			ended <- err
			return
		}
		ended <- errors.New("no turn of the loop")
	}()
	var err error
	for err == nil {
		select {
		case err = <-ended:
		default:
			check(t, l.Seek(0, 0)) // one that comes before the loop has begun ends nothing
		}
	}
	isEnded(t, err)
	close(g.open)
	if err := <-another; err != nil {
		t.Fatal("it was not this call's wait that had to end:", err)
	}
}

func TestNilIsAnErrorAndNoCrash(t *testing.T) {
	d, l := numbers(t, 4), loaderOf(t, numbers(t, 4))
	var noDataset *dataline.Dataset
	var noLoader *dataline.Loader
	var noBatch *dataline.Batch
	var noToken *dataline.CancelToken
	one := func(_ any, err error) error { return err }
	for at, err := range []error{
		one(dataline.NewLoader(nil)),
		one(dataline.NewLoader(d, dataline.CancelWith(nil))),
		one(dataline.NewLoader(d, dataline.LogTo(nil))),
		one(dataline.Concat(d, nil)),
		one(dataline.Concat()),
		one(dataline.Zip(dataline.Named{Name: "x"})),
		one(dataline.Zip()),
		one(dataline.FromSource(nil, nil)),
		one(dataline.FromArrays(nil, nil)),
		one(dataline.FromArrays([]dataline.Array{{}}, nil)),
		one(dataline.OpenContext(nil, "raw:x")), //nolint:staticcheck
		one(noDataset.Subset(nil)),
		one(noDataset.ImageInfo(0)),
		one(noLoader.Next(background)),
		one(noLoader.Poll()),
		one(noLoader.SaveState()),
		one(noLoader.Stats()),
		one(noLoader.Plan()),
		one(noLoader.BadSamples()),
		one(noLoader.WaitHandle()),
		noLoader.Seek(0, 0),
		noLoader.LoadState(""),
		noLoader.SetIndices(nil),
		noBatch.Wait(0),
		one(l.Next(nil)), //nolint:staticcheck
		one(noBatch.Tensor("x")),
		one(dataline.View[int64](noBatch, "x")),
		one(dataline.Rows[int64](noBatch, "x")),
	} {
		if !errors.Is(err, dataline.ErrInvalidArgument) {
			t.Errorf("%d: %v", at, err)
		}
	}
	_, _, err := noLoader.Position()
	wants(t, err, dataline.ErrInvalidArgument)
	_, _, err = noLoader.PixelScale("x", 0)
	wants(t, err, dataline.ErrInvalidArgument)
	for _, loop := range []*dataline.Loader{noLoader, l} {
		turns := 0
		for _, err := range loop.Epoch(nil) { //nolint:staticcheck
			wants(t, err, dataline.ErrInvalidArgument)
			turns++
		}
		equal(t, []int{turns}, 1)
	}
	// What ends things, often deferred before the error was looked at.
	check(t, noDataset.Close())
	check(t, noLoader.Close())
	check(t, noToken.Close())
	check(t, noBatch.ReleaseOn(0))
	noBatch.Release()
	noToken.Cancel()
	noLoader.Cancel()
	noLoader.Interrupt()
	// Values that nothing made are as closed ones.
	wants(t, one(dataline.NewLoader(new(dataline.Dataset))), dataline.ErrClosed)
	wants(t, one(new(dataline.Loader).Next(background)), dataline.ErrClosed)
	check(t, new(dataline.Loader).Close())
	if text := fmt.Sprint(one(dataline.NewLoader(nil))); text != "dataline: dataset: expected one, got nil" {
		t.Error(text)
	}
}
