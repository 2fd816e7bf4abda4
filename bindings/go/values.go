// Code generated from capi/api.json by capi/api/generate.py; DO NOT EDIT.
//
// What methods return, with what the header states of each member.
//
// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"time"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// Tune is the value of the option tune.
type Tune int

// The values of Tune.
const (
	// TuneOff: workers and depth do not change.
	TuneOff Tune = abi.DL_TUNE_OFF
	// TuneWatch: reports what it would try, and changes nothing.
	TuneWatch Tune = abi.DL_TUNE_WATCH
	// TuneOn: changes workers and depth.
	TuneOn Tune = abi.DL_TUNE_ON
)

// Stats holds counters since the loader was created. delivered + skipped + dropped = the number of slots of this rank
// in the epochs so far.
type Stats struct {
	// Workers in use; 0: the caller's thread.
	NumWorkers int
	// Batches delivered.
	Batches int64
	// Samples delivered, without pads.
	Samples int64
	// Bytes delivered.
	Bytes int64
	// Bad samples that were skipped.
	Skipped int64
	// Slots dropped by last_batch=drop.
	Dropped int64
	// Rows added by last_batch=pad.
	Padded int64
	// Rows filled with a replacement sample.
	Replaced int64
	// Distinct bad samples seen.
	Bad int64
	// Time that consumers waited in Loader.Next; 0 with num_workers=0.
	Wait time.Duration
	// Calls of Loader.Next that had to wait.
	Waits int64
	// CPU time of worker threads; 0 with num_workers=0.
	WorkerCPU time.Duration
	// Size of the slots; for rows without a fixed size, the part touched so far.
	ArenaBytes int64
	// All host memory that the loader holds now.
	HeldBytes int64
	// The memory limit in force.
	BudgetBytes int64
	// Batches held by consumers now.
	LeasesHeld int64
	// Batches delivered as a new allocation, beyond the slots for leases.
	LeaseCopies int64
	// Batches loaded, not yet delivered.
	ReadyBatches int64
	// Page-locked memory; 0 if the system refused it (logged once).
	PinnedBytes int64
	// Workers abandoned in a host callback that did not return.
	ThreadsAbandoned int64
	// Device memory that the loader holds now.
	DeviceBytes int64
	// Bytes copied over the bus to the device.
	CopiedBytes int64
	// Images delivered although the decoder warned of damage (on_warning=accept).
	Warned int64
	// Samples that the cache provided (option cache).
	CacheRead int64
	// Samples that had to be processed; 0 without a cache.
	CacheMade int64
	// Batches without Release that stay held, because slices of them may be in use.
	Forgotten int64
}

func statsOf(raw *abi.Stats) Stats {
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
	}
}

// BadSample is a bad sample that the loader found (on_error replace, quarantine or raise). Bad samples are in order
// of delivery.
type BadSample struct {
	// The kind of error.
	Code Code
	// The part of a mix that it belongs to; 0 without a mix.
	Source int64
	// Its index in that dataset.
	Index int64
	// The epoch where it was found first.
	Epoch int
	// The step where it was found first.
	Step int
	// The slot where it was found first.
	Slot int64
	// The replacement sample; -1: skipped.
	Replacement int64
	// Where the sample is stored (file, member or record), then what is wrong.
	Message string
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

// OpenProgress is the progress of an opening. All numbers only grow. The library lists files before it opens the
// first one, so totals grow as well, but a total is never less than the part that is done. Log lines with
// DL_LOG_PROGRESS contain the same numbers.
type OpenProgress struct {
	// Opening.Wait would not wait.
	Done bool
	// Files opened so far.
	Files int64
	// Files of the URI; 0: not known yet.
	TotalFiles int64
	// Bytes read into memory (io=memory, .gz: as stored, then decompressed) or searched.
	Bytes int64
	// Size of the files that were started; 0: only headers are read.
	TotalBytes int64
	// Entries found in folders, label files and tars.
	Entries int64
}

func openProgressOf(raw *abi.Progress) OpenProgress {
	return OpenProgress{
		Done:       raw.Done != 0,
		Files:      raw.Files,
		TotalFiles: raw.TotalFiles,
		Bytes:      raw.Bytes,
		TotalBytes: raw.TotalBytes,
		Entries:    raw.Entries,
	}
}

// Stall is a call of Loader.Next that took 10 ms or more. If calls end with ErrTimeout or ErrInterrupted, their time
// is added to the next call that delivers a batch. The time between the calls does not count.
type Stall struct {
	// Epoch of the batch that was delivered.
	Epoch int
	// Step of that batch.
	Step int
	// Duration of the call.
	Wait time.Duration
	// What the workers spent that time on, as dl_metric.part; "leases": the consumer held max_leases batches.
	Cause string
}

func stallOf(raw *abi.Stall) Stall {
	return Stall{
		Epoch: int(raw.Epoch),
		Step:  int(raw.Step),
		Wait:  time.Duration(raw.WaitNs),
		Cause: abi.Text(raw.Cause),
	}
}

// Tuned is the workers and the depth in use, and what tuning does or would do.
type Tuned struct {
	// The option tune.
	Mode Tune
	// Active workers, perhaps only as a trial; 0: the caller's thread.
	NumWorkers int
	// The depth in use.
	PrefetchDepth int
	// Memory is planned for this many workers.
	MostWorkers int
	// Memory is planned for this depth.
	MostDepth int
	// The best number so far; with TuneWatch, the number to try next.
	WantedWorkers int
	// The best depth so far; with TuneWatch, the depth to try next.
	WantedDepth int
	// How often the setting changed so far.
	Changes int64
	// Nothing is tried now.
	Frozen bool
	// Batches consumed per second, in the last complete measurement. Before that 0, as is wait_share.
	BatchesPerS float64
	// Share of that time in which the consumer waited, 0 to 1.
	WaitShare float64
	// What tuning does, and why.
	Text string
}

func tunedOf(raw *abi.Tuned) Tuned {
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
	}
}

// Part is a part of a mix, as its dataset or a loader describes it.
type Part struct {
	// Name in the mix.
	Name string
	// Dataset: as in the recipe, or as its dataset was opened.
	URI string
	// The sample count of the part.
	Samples int64
	// Loader: samples delivered to this rank since create, without pads.
	Delivered int64
	// Dataset: its repeat; 0: it has a weight.
	Repeat float64
	// Loader: how many passes over the part the job has made at its position, over all ranks.
	Epochs float64
	// The requested share of the samples drawn now; dataset: at the start of a job.
	ShareAsked float64
	// Loader: the share of what was delivered.
	ShareGot float64
	// Dataset: the part's own transform, "" for none.
	Transform string
}

func partOf(raw *abi.Part) Part {
	return Part{
		Name:       abi.Text(raw.Name),
		URI:        abi.Text(raw.Uri),
		Samples:    raw.Samples,
		Delivered:  raw.Delivered,
		Repeat:     raw.Repeat,
		Epochs:     raw.Epochs,
		ShareAsked: raw.ShareAsked,
		ShareGot:   raw.ShareGot,
		Transform:  abi.Text(raw.Transform),
	}
}

// WriterInfo is the progress of a writer.
type WriterInfo struct {
	// Samples appended, including those present at create.
	Samples int64
	// Samples present at create.
	ResumedSamples int64
	// Finished shards.
	Shards int64
	// Size of the finished shards.
	Bytes int64
}

func writerInfoOf(raw *abi.WriterInfo) WriterInfo {
	return WriterInfo{
		Samples:        raw.Samples,
		ResumedSamples: raw.ResumedSamples,
		Shards:         raw.Shards,
		Bytes:          raw.Bytes,
	}
}
