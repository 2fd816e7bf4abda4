// SPDX-License-Identifier: Apache-2.0

package dataline_test

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/dataline/dataline/bindings/go"
)

// Whoever releases a batch and forgets it at once races with the collector, which finds it unreachable. The window would be
// as narrow as the entry to Cleanup.Stop, so this is a search, not a proof: many goroutines beside a collector that never
// rests, and batches that are copies beyond max_leases, which the library frees: a second release of one ends the process.
// DATALINE_GC_SECONDS makes it longer.
func TestABatchIsReleasedOnceBesideTheCollector(t *testing.T) {
	took := time.Second
	if text := os.Getenv("DATALINE_GC_SECONDS"); text != "" {
		took = must[time.Duration](t)(time.ParseDuration(text + "s"))
	}
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	l := loaderOf(t, numbers(t, 100_000), dataline.With{"batch_size": 1, "max_leases": 1, "num_workers": 1})
	held := must[*dataline.Batch](t)(l.Next(background)) // the only slot
	end := time.Now().Add(took)
	var group sync.WaitGroup
	for range 32 {
		group.Add(1)
		go func() {
			defer group.Done()
			held := make([]*dataline.Batch, 200)
			for time.Now().Before(end) {
				for at := range held {
					held[at] = nextOrNil(t, l)
				}
				for at := range held {
					b := held[at]
					held[at] = nil // the last to know it is Release
					b.Release()
				}
			}
		}()
	}
	collecting := make(chan struct{})
	go func() {
		defer close(collecting)
		for time.Now().Before(end) {
			runtime.GC()
		}
	}()
	group.Wait()
	<-collecting
	held.Release()
	stats := must[dataline.Stats](t)(l.Stats())
	t.Log(stats.Batches, "batches")
	if stats.LeasesHeld != 0 || stats.LeaseCopies == 0 {
		t.Errorf("%+v", stats)
	}
}

func nextOrNil(t *testing.T, l *dataline.Loader) *dataline.Batch {
	b, err := l.Next(background)
	if err != nil && err != dataline.EndOfEpoch {
		t.Error(err)
	}
	return b
}
