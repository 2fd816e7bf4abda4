// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"testing"

	"github.com/dataline/dataline/bindings/go"
)

func TestCloseEndsWaitsInProgress(t *testing.T) {
	g, l := gated(t)
	ended := waiting(l, background)
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		check(t, l.Close())
	}()
	wants(t, <-ended, dataline.ErrClosed)
	close(g.open)
	<-closed
}

func TestWhatIsUsedAfterCloseSaysSo(t *testing.T) {
	d := must[*dataline.Dataset](t)(dataline.FromArrays([]dataline.Array{dataline.NewArray("x", count(4))}, nil))
	l := must[*dataline.Loader](t)(dataline.NewLoader(d))
	for range 2 { // again: nothing happens
		check(t, l.Close())
		check(t, d.Close())
	}
	_, err := l.Next(background)
	wants(t, err, dataline.ErrClosed)
	_, err = l.Poll()
	wants(t, err, dataline.ErrClosed)
	for _, err := range l.Epoch(background) {
		wants(t, err, dataline.ErrClosed)
	}
	_, err = l.SharedEpoch(background)
	wants(t, err, dataline.ErrClosed)
	_, err = l.SaveState()
	wants(t, err, dataline.ErrClosed)
	wants(t, l.Seek(0, 0), dataline.ErrClosed)
	wants(t, l.LoadState(""), dataline.ErrClosed)
	wants(t, l.SetIndices([]int64{1}), dataline.ErrClosed)
	_, err = l.Stats()
	wants(t, err, dataline.ErrClosed)
	_, err = l.BadSamples()
	wants(t, err, dataline.ErrClosed)
	_, err = l.WaitHandle()
	wants(t, err, dataline.ErrClosed)
	l.Cancel()
	l.Interrupt()
	_, err = dataline.NewLoader(d)
	wants(t, err, dataline.ErrClosed)
	_, err = d.Subset([]int64{1})
	wants(t, err, dataline.ErrClosed)
	_, err = dataline.Concat(d)
	wants(t, err, dataline.ErrClosed)
	if d.Len() != 4 || l.Len() != 1 || d.Format() != "arrays" {
		t.Error("what describes them can still be asked")
	}
}
