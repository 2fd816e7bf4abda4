// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/dataline/dataline/bindings/go"
)

func TestWorkersAreSetAndToldWhileItRuns(t *testing.T) {
	loader := measured(t, dataline.With{"num_workers": 3, "prefetch_depth": 2})
	check(t, loader.SetWorkers(2))
	for _, count := range []int{-1, 0, 4} {
		if err := loader.SetWorkers(count); !errors.Is(err, dataline.ErrOutOfRange) || !strings.Contains(err.Error(), "expected 1 to 3") {
			t.Errorf("%d workers: %v", count, err)
		}
	}
	want := dataline.Tuned{NumWorkers: 2, PrefetchDepth: 2, MostWorkers: 3, MostDepth: 2, WantedWorkers: 2, WantedDepth: 2,
		Changes: 1, Frozen: true, Text: "not tuned: num_workers is set"}
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
