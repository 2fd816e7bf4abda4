// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/dataline/dataline/bindings/go"
)

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
		one(noLoader.SharedEpoch(background)),
		one(noLoader.SaveState()),
		one(noLoader.Stats()),
		one(noLoader.Plan()),
		one(noLoader.BadSamples()),
		one(noLoader.WaitHandle()),
		noLoader.Seek(0, 0),
		noLoader.LoadState(""),
		noLoader.SetIndices(nil),
		noBatch.Wait(0),
		one(l.Next(nil)),        //nolint:staticcheck
		one(l.SharedEpoch(nil)), //nolint:staticcheck
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
	var noEpoch *dataline.SharedEpoch
	for at, loop := range []iter.Seq2[*dataline.Batch, error]{
		noLoader.Epoch(background), l.Epoch(nil), noEpoch.Batches(), new(dataline.SharedEpoch).Batches()} { //nolint:staticcheck
		iterations := 0
		for _, err := range loop {
			wants(t, err, dataline.ErrInvalidArgument)
			iterations++
		}
		equal(t, []int{at, iterations}, at, 1)
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
	noEpoch.Interrupt()
	check(t, noEpoch.Close())
	// Values that nothing made are as closed ones.
	wants(t, one(dataline.NewLoader(new(dataline.Dataset))), dataline.ErrClosed)
	wants(t, one(new(dataline.Loader).Next(background)), dataline.ErrClosed)
	check(t, new(dataline.Loader).Close())
	if text := fmt.Sprint(one(dataline.NewLoader(nil))); text != "dataline: dataset is nil" {
		t.Error(text)
	}
}
