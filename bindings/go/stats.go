// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"time"
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// Stats are counters since the loader was made. Samples + Skipped + Dropped = the rank's part of the epochs that were
// passed through.
type Stats struct {
	NumWorkers int   // in use; 0: the goroutine in Next
	Batches    int64 // delivered
	Samples    int64 // delivered, without pads
	Bytes      int64 // delivered
	Skipped    int64 // samples left out because they were bad
	Dropped    int64 // left out by last_batch=drop
	Padded     int64 // rows added by last_batch=pad
	Replaced   int64 // rows in which another sample stands in
	Bad        int64 // distinct bad samples seen
	// Wait is how long callers waited in Next and loops; 0 with num_workers=0.
	Wait  time.Duration
	Waits int64 // calls of Next, and iterations, that had to wait
	// WorkerCPU is the CPU time of worker threads; 0 with num_workers=0.
	WorkerCPU        time.Duration
	ArenaBytes       int64 // the room for batches
	HeldBytes        int64 // all host memory the loader holds now
	BudgetBytes      int64 // the limit in force
	LeasesHeld       int64 // batches held now
	LeaseCopies      int64 // batches delivered as a copy, beyond max_leases
	ReadyBatches     int64 // loaded and waiting for Next
	PinnedBytes      int64 // page-locked; 0 where that was refused
	ThreadsAbandoned int64 // workers left behind in a Source whose Read never returned
	DeviceBytes      int64 // device memory the loader holds now
	CopiedBytes      int64 // sent over the bus to the device
	Warned           int64 // images delivered though their decoder warned of damage (on_warning=accept)
	CacheRead        int64 // samples that were found in the cache (cache=DIR)
	CacheMade        int64 // samples that were not, and were read and made; 0 without a cache
	Forgotten        int64 // batches whose Release was forgotten, and that stay held: slices of them may be in use
}

// Stats are the counters now.
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

// Tune is what the option tune says.
type Tune int

// The values of the option tune.
const (
	TuneOff   Tune = abi.DL_TUNE_OFF
	TuneWatch Tune = abi.DL_TUNE_WATCH // only says what it would try
	TuneOn    Tune = abi.DL_TUNE_ON
)

// Tuned says how many workers work and how many batches are in flight, and what tuning makes of it.
type Tuned struct {
	Mode          Tune
	NumWorkers    int // that work now, perhaps only to be tried; 0: the goroutine in Next
	PrefetchDepth int // now
	MostWorkers   int // that memory is planned for
	MostDepth     int
	WantedWorkers int // the best so far; with TuneWatch what would be tried next
	WantedDepth   int
	Changes       int64   // of what is in force, so far
	Frozen        bool    // nothing is tried now
	BatchesPerS   float64 // consumed, in the last whole measurement; 0 before that
	WaitShare     float64 // of that time, the consumer waited; 0 to 1
	Text          string  // what it does, and why
}

// SetWorkers has so many workers work from now on, 1 to Tuned.MostWorkers; the others sleep. It ends tuning. ErrOutOfRange;
// ErrWrongState with num_workers=0.
func (l *Loader) SetWorkers(count int) error {
	return l.use(func(loader abi.Handle, e *abi.Error) int32 { return abi.LoaderSetWorkers(loader, int64(count), e) })
}

// Tuned is what is in force now.
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
	Epoch, Step   int // where it was first met
	Slot          int64
	Replacement   int64 // the sample that stood in, or -1: it was skipped
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
