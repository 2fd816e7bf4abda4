// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"runtime"
	"testing"

	"github.com/dataline/dataline/bindings/go"
)

func TestLentArraysAreGivenBackOnceWhenAllThatCameFromThemIsClosed(t *testing.T) {
	released := make(chan struct{}, 2)
	values := []int64{5, 6, 7}
	d := must[*dataline.Dataset](t)(dataline.FromArrays([]dataline.Array{dataline.NewArray("x", values)},
		func() { released <- struct{}{} }))
	part := must[*dataline.Dataset](t)(d.Subset([]int64{2, 0}))
	whole := must[*dataline.Dataset](t)(dataline.Concat(part, part))
	l := must[*dataline.Loader](t)(dataline.NewLoader(whole, dataline.With{"epochs": 1}))
	for _, one := range []*dataline.Dataset{d, part, whole} {
		check(t, one.Close())
	}
	runtime.GC() // what is lent stays where it is
	b := must[*dataline.Batch](t)(l.Next(background))
	defer b.Release()
	select {
	case <-released:
		t.Fatal("the loader needs them")
	default:
	}
	check(t, l.Close())
	<-released
	equal(t, must[[]int64](t)(dataline.View[int64](b, "x")), 7, 5, 7, 5) // a batch does not keep what was lent
	if len(released) != 0 {
		t.Fatal("given back twice")
	}
}

func TestArraysAreNotCopied(t *testing.T) {
	values := make([]int64, 10)
	l := loaderOf(t, arrays(t, dataline.NewArray("x", values)), dataline.With{"num_workers": 0, "batch_size": 10})
	values[4] = 44 // before the first batch is made, by this goroutine: read in place
	equal(t, joined(epoch(t, l)), 0, 0, 0, 0, 44, 0, 0, 0, 0, 0)
}

func TestWhatIsLentIsKeptAliveWithoutItsOwner(t *testing.T) {
	order := func() []int64 { return []int64{2, 1, 0} }
	l := loaderOf(t, numbers(t, 3), dataline.SampleIndices(order()), dataline.With{"batch_size": 1})
	for range 20 {
		runtime.GC()
		_ = make([]int64, 3) // would take the place of what was freed
		equal(t, joined(epoch(t, l)), 2, 1, 0)
	}
}

func TestACallThatFailsTakesNoLoan(t *testing.T) {
	refused := func() { t.Error("given back, though never taken") }
	twice := dataline.NewArray("x", []int64{1})
	_, err := dataline.FromArrays([]dataline.Array{twice, twice}, refused)
	if err == nil {
		t.Error("two fields of one name")
	}
	for _, array := range []dataline.Array{
		dataline.NewArray("x", []int64{1}, 2),
		dataline.NewArray("x", []int64{1}, -1, -1),
		dataline.NewRagged("x", []int64{1, 2, 3}, []int64{0, 2}, 2),
		dataline.NewRagged("x", []int64{1, 2}, []int64{0, 3}),
		dataline.NewRagged("x", []int64{1, 2}, nil),
		dataline.NewRagged("x", []int64{1, 2}, []int64{0, 5, 2}),
		dataline.NewRagged("x", []int64{1, 2}, []int64{-1, 2}),
		dataline.NewArray("x\x00", []int64{1}),
		dataline.NewArray("x", []int64{1}, make([]int, 40)...),
	} {
		_, err := dataline.FromArrays([]dataline.Array{array}, refused)
		if err == nil {
			t.Errorf("taken: %+v", array)
		}
	}
	_, err = dataline.FromArrays([]dataline.Array{
		dataline.NewArray("x", []uint8{1}), dataline.NewArray("y", []uint8{1, 2})}, refused)
	wants(t, err, dataline.ErrMismatch)
	lendMore(t)
}

// lendMore lends an array and waits until it is given back, by a goroutine that starts after those of earlier loans.
func lendMore(t *testing.T) {
	t.Helper()
	released := make(chan struct{})
	d, err := dataline.FromArrays([]dataline.Array{dataline.NewArray("x", []int64{1})}, func() { close(released) })
	check(t, err)
	check(t, d.Close())
	<-released
}

func TestALoaderThatWasForgottenIsClosedByTheCollector(t *testing.T) {
	released := make(chan struct{})
	func() {
		d := must[*dataline.Dataset](t)(dataline.FromArrays([]dataline.Array{dataline.NewArray("x", count(9))},
			func() { close(released) }))
		l := must[*dataline.Loader](t)(dataline.NewLoader(d))
		must[*dataline.Batch](t)(l.Next(background))
	}()
	for {
		select {
		case <-released:
			return
		default:
			runtime.GC()
		}
	}
}
