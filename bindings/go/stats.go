// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"time"
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// Stats are counters since the loader was created. Samples + Skipped + Dropped = the rank's part of the epochs so
// far.
type Stats struct {
	NumWorkers int   // in use; 0: the goroutine in Next
	Batches    int64 // delivered
	Samples    int64 // delivered, without pads
	Bytes      int64 // delivered
	Skipped    int64 // samples skipped because they were bad
	Dropped    int64 // slots dropped by last_batch=drop
	Padded     int64 // rows added by last_batch=pad
	Replaced   int64 // rows filled with a replacement sample
	Bad        int64 // distinct bad samples seen
	// Wait is how long callers waited in Next and loops; 0 with num_workers=0.
	Wait  time.Duration
	Waits int64 // calls of Next, and iterations, that had to wait
	// WorkerCPU is the CPU time of worker threads; 0 with num_workers=0.
	WorkerCPU        time.Duration
	ArenaBytes       int64 // bytes of the slots
	HeldBytes        int64 // all host memory the loader holds now
	BudgetBytes      int64 // the current memory limit
	LeasesHeld       int64 // batches that consumers hold now
	LeaseCopies      int64 // batches delivered as a copy, beyond max_leases
	ReadyBatches     int64 // loaded and not taken yet
	PinnedBytes      int64 // page-locked; 0 if the system refused
	ThreadsAbandoned int64 // workers abandoned in a Source whose Read never returned
	DeviceBytes      int64 // device memory the loader holds now
	CopiedBytes      int64 // sent over the bus to the device
	Warned           int64 // images delivered although their decoder warned of damage (on_warning=accept)
	CacheRead        int64 // samples found in the cache (cache=DIR)
	CacheMade        int64 // samples not found in the cache, which were read and computed; 0 without a cache
	Forgotten        int64 // batches without Release that stay held, because slices of them may be in use
}

// Stats returns the current counters.
func (l *Loader) Stats() (Stats, error) {
	raw := &abi.Stats{StructSize: uint32(unsafe.Sizeof(abi.Stats{}))}
	if err := l.use(func(loader abi.Handle, e *abi.Error) int32 { return abi.LoaderStats(loader, raw, e) }); err != nil {
		return Stats{}, err
	}
	return Stats{
		NumWorkers:       int(raw.NumWorkers),
		Batches:          raw.Batches,
		Samples:          raw.Samples,
		Bytes:            raw.Bytes,
		Skipped:          raw.Skipped,
		Dropped:          raw.Dropped,
		Padded:           raw.Padded,
		Replaced:         raw.Replaced,
		Bad:              raw.Bad,
		Wait:             time.Duration(raw.WaitNs),
		Waits:            raw.Waits,
		WorkerCPU:        time.Duration(raw.WorkerCpuNs),
		ArenaBytes:       raw.ArenaBytes,
		HeldBytes:        raw.HeldBytes,
		BudgetBytes:      raw.BudgetBytes,
		LeasesHeld:       raw.LeasesHeld,
		LeaseCopies:      raw.LeaseCopies,
		ReadyBatches:     raw.ReadyBatches,
		PinnedBytes:      raw.PinnedBytes,
		ThreadsAbandoned: raw.ThreadsAbandoned,
		DeviceBytes:      raw.DeviceBytes,
		CopiedBytes:      raw.CopiedBytes,
		Warned:           raw.Warned,
		CacheRead:        raw.CacheRead,
		CacheMade:        raw.CacheMade,
		Forgotten:        l.lost.count.Load(),
	}, nil
}

// Tune is the value of the option tune.
type Tune int

// The values of the option tune.
const (
	TuneOff   Tune = abi.DL_TUNE_OFF
	TuneWatch Tune = abi.DL_TUNE_WATCH // only reports what it would try
	TuneOn    Tune = abi.DL_TUNE_ON
)

// Tuned holds the workers and depth in use, and what tuning would change.
type Tuned struct {
	Mode          Tune
	NumWorkers    int // active now, possibly only to try this number; 0: the goroutine in Next
	PrefetchDepth int // current
	MostWorkers   int // maximum that memory is planned for
	MostDepth     int
	WantedWorkers int // the best so far; with TuneWatch the number to try next
	WantedDepth   int
	Changes       int64   // of workers and depth so far
	Frozen        bool    // nothing is being tried now
	BatchesPerS   float64 // consumed, in the last complete measurement; 0 before that
	WaitShare     float64 // share of that time that the consumer waited, 0 to 1
	Text          string  // what tuning does, and why
}

// SetWorkers sets the number of active workers, 1 to Tuned.MostWorkers; the others sleep. Ends tuning. ErrOutOfRange;
// ErrWrongState with num_workers=0.
func (l *Loader) SetWorkers(count int) error {
	return l.use(func(loader abi.Handle, e *abi.Error) int32 { return abi.LoaderSetWorkers(loader, int64(count), e) })
}

// Tuned returns the workers and depth in use, and what tune=on or tune=watch would change.
func (l *Loader) Tuned() (Tuned, error) {
	raw := &abi.Tuned{StructSize: uint32(unsafe.Sizeof(abi.Tuned{}))}
	if err := l.use(func(loader abi.Handle, e *abi.Error) int32 { return abi.LoaderTuned(loader, raw, e) }); err != nil {
		return Tuned{}, err
	}
	return Tuned{
		Mode:          Tune(raw.Mode),
		NumWorkers:    int(raw.NumWorkers),
		PrefetchDepth: int(raw.PrefetchDepth),
		MostWorkers:   int(raw.MostWorkers),
		MostDepth:     int(raw.MostDepth),
		WantedWorkers: int(raw.WantedWorkers),
		WantedDepth:   int(raw.WantedDepth),
		Changes:       raw.Changes,
		Frozen:        raw.Frozen != 0,
		BatchesPerS:   raw.BatchesPerS,
		WaitShare:     raw.WaitShare,
		Text:          abi.TextOf(raw.Text[:]),
	}, nil
}

// BadSample is a sample that could not be delivered.
type BadSample struct {
	Code          Code
	Source, Index int64
	Epoch, Step   int // where it was first found
	Slot          int64
	Replacement   int64 // the sample that replaced it; -1: skipped
	Message       string
}

func badSampleOf(raw *abi.BadSample) BadSample {
	return BadSample{
		Code:        Code(raw.Code),
		Source:      raw.Source,
		Index:       raw.Index,
		Epoch:       int(raw.Epoch),
		Step:        int(raw.Step),
		Slot:        raw.Slot,
		Replacement: raw.Replacement,
		Message:     abi.TextOf(raw.Message[:]),
	}
}
