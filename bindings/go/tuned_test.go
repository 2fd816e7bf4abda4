// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"testing"

	"github.com/dataline/dataline/bindings/go"
)

func TestTunedIsAllThatTheLibraryReports(t *testing.T) {
	loader := measured(t, dataline.With{"num_workers": 3, "prefetch_depth": 2})
	want := dataline.Tuned{NumWorkers: 3, PrefetchDepth: 2, MostWorkers: 3, MostDepth: 2, WantedWorkers: 3, WantedDepth: 2,
		Frozen: true, Text: "not tuned: num_workers is set"}
	if got := must[dataline.Tuned](t)(loader.Tuned()); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	wholeEpoch(t, loader)
}

func TestATunedLoaderSaysWhatItDoes(t *testing.T) {
	loader := measured(t, dataline.With{"num_workers": 3, "tune": "on"})
	got := must[dataline.Tuned](t)(loader.Tuned())
	if got.Mode != dataline.TuneOn || got.Frozen || got.Text != "measuring 3 workers, depth 4" {
		t.Errorf("got %+v", got)
	}
}
