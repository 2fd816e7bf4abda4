// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"iter"
	"runtime"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// Batch is a lease on one batch. Its slices point into the loader's memory and are valid until Release. It may
// outlive its loader and its dataset. Held batches count towards the option max_leases; further batches are delivered
// as copies.
//
// The loop over Loader.Epoch releases each batch at the end of the iteration, unless Keep was called. The holder
// releases a batch of Loader.Next and a batch after Keep, with defer or after the last use of its slices. A forgotten
// batch is released some time after the garbage collector finds it unreachable, unless it has returned slices. The
// collector cannot see whether slices are still in use, so such a batch stays held and is reported in
// Stats.Forgotten. The first one of a loader is also logged to the logger of LogTo (default: slog.Default).
//
// After Release, View, Rows and similar functions return ErrReleased; accessors without an error result panic with
// it. Several goroutines may use a batch concurrently. Call Release when no other goroutine uses the batch.
type Batch struct {
	lease   unsafe.Pointer // an abi.Handle; nil after Release
	views   *abi.View
	fields  []Field
	kept    bool
	cleanup runtime.Cleanup
	lost    *forgotten
	sliced  atomic.Bool // it has returned a slice, before Keep
	guard   *guard      // set after Keep
}

// take returns a batch for the lease in a frame.
func (l *Loader) take(f *abi.Frame) *Batch {
	return &Batch{lease: f.Batch, views: f.Views, fields: l.fields, lost: l.lost}
}

// Release returns the batch's memory. Does nothing if called again, or on nil.
func (b *Batch) Release() {
	if b == nil {
		return
	}
	if lease := atomic.SwapPointer(&b.lease, nil); lease != nil {
		if b.kept {
			b.cleanup.Stop()
			// Keeps b reachable until here: an earlier cleanup could no longer be stopped, and would release or report b.
			runtime.KeepAlive(b)
		}
		abi.BatchRelease(lease)
	}
}

// Keep makes a batch of a loop over Loader.Epoch outlive its iteration. The caller then releases it.
func (b *Batch) Keep() {
	if !b.kept && b.lease != nil {
		b.kept = true
		b.guard = &guard{lease: b.lease, lost: b.lost}
		b.guard.sliced.Store(b.sliced.Load())
		b.cleanup = runtime.AddCleanup(b, (*guard).settle, b.guard)
	}
}

func (b *Batch) released() bool {
	return atomic.LoadPointer(&b.lease) == nil
}

func (b *Batch) mustHold() abi.Handle {
	lease := atomic.LoadPointer(&b.lease)
	if lease == nil {
		panic(ErrReleased)
	}
	return lease
}

// find returns the view of a field.
func (b *Batch) find(name string) (*abi.View, error) {
	if b == nil {
		return nil, errNil("batch")
	}
	if b.released() {
		return nil, ErrReleased
	}
	for at := range b.fields {
		if b.fields[at].Name == name {
			return abi.ViewAt(b.views, at), nil
		}
	}
	names := make([]string, len(b.fields))
	for at := range b.fields {
		names[at] = b.fields[at].Name
	}
	return nil, localError(ErrNoSuchField, "no field '%s'; the fields are %s", name, strings.Join(names, ", "))
}

// Tensor returns a field of the batch: its shape, dtype, device and bytes. ErrNoSuchField lists the existing fields.
func (b *Batch) Tensor(field string) (Tensor, error) {
	view, err := b.find(field)
	if err != nil {
		return Tensor{}, err
	}
	return Tensor{view, b}, nil
}

// Tensors returns all fields, in the order of Loader.Fields.
func (b *Batch) Tensors() iter.Seq[Tensor] {
	return func(yield func(Tensor) bool) {
		b.mustHold()
		for at := range b.fields {
			if !yield(Tensor{abi.ViewAt(b.views, at), b}) {
				return
			}
		}
	}
}

// BatchInfo is a batch's position and size.
type BatchInfo struct {
	Epoch, Step int
	Samples     int // rows, including pads
	Valid       int // rows that are not pads
}

// Info returns the batch's position and size. Panics after Release.
func (b *Batch) Info() BatchInfo {
	raw := b.info()
	return BatchInfo{int(raw.Epoch), int(raw.Step), int(raw.Samples), int(raw.Valid)}
}

// Len returns the number of rows, including pads. Panics after Release.
func (b *Batch) Len() int {
	return int(b.info().Samples)
}

// SampleIndices returns the sample index of each row. For a replaced sample, the index of its replacement. The slice
// points into the batch and is valid until Release. Panics after Release.
func (b *Batch) SampleIndices() []int64 {
	raw := b.info()
	b.lend()
	return unsafe.Slice(raw.SampleIndices, raw.Samples)
}

// SampleSources returns the part of a mix that each row comes from; 0 without a mix. The slice points into the batch
// and is valid until Release. Panics after Release.
func (b *Batch) SampleSources() []int64 {
	raw := b.info()
	b.lend()
	return unsafe.Slice(raw.SampleSources, raw.Samples)
}

func (b *Batch) info() abi.BatchInfo {
	lease := b.mustHold()
	raw := new(abi.BatchInfo)
	raw.StructSize = uint32(unsafe.Sizeof(*raw))
	if err := call(func(e *abi.Error) int32 { return abi.BatchGetInfo(lease, raw, e) }); err != nil {
		panic(err) // only a NULL or a wrong size fails
	}
	runtime.KeepAlive(b)
	return *raw
}

// held returns the lease, for a call during which b is kept alive.
func (b *Batch) held() (abi.Handle, error) {
	if b == nil {
		return nil, errNil("batch")
	}
	lease := atomic.LoadPointer(&b.lease)
	if lease == nil {
		return nil, ErrReleased
	}
	return lease, nil
}

// Wait makes a CUDA stream (a CUstream of the batch's device; 0 is the legacy stream) wait until the batch is
// complete; the goroutine does not wait. Batches on a device are delivered while their copies are in flight. Call it
// once for each stream that reads the batch, before the first use there. The stream must live until the batch's
// Release. The memory is not reused before the work then queued in the stream is done. Does nothing on the cpu
// device.
func (b *Batch) Wait(stream uintptr) error {
	lease, err := b.held()
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(b)
	return call(func(e *abi.Error) int32 { return abi.BatchWait(lease, stream, e) })
}

// Arrow exports the rows that are not pads, with a child for each field. It fills a struct ArrowSchema and a struct
// ArrowArray of Arrow's C data interface, in C memory. With github.com/apache/arrow-go, pass *cdata.CArrowSchema and
// *cdata.CArrowArray as unsafe.Pointer, then call cdata.ImportCRecordBatch. The array holds the batch until it is
// released, and counts towards MaxLeases. Only bools, which Arrow stores as bits, and fields whose rows are not
// contiguous are copied. ErrUnsupported: bf16 and complex numbers, and batches in a device's memory.
func (b *Batch) Arrow(schema, array unsafe.Pointer) error {
	lease, err := b.held()
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(b)
	return call(func(e *abi.Error) int32 { return abi.BatchArrow(lease, schema, array, e) })
}

// ReleaseOn is Release, but the memory is not reused before the work now queued in a CUDA stream is done. The batch
// is released even if an error is returned.
func (b *Batch) ReleaseOn(stream uintptr) error {
	if b == nil {
		return nil
	}
	lease := atomic.SwapPointer(&b.lease, nil)
	if lease == nil {
		return nil
	}
	err := call(func(e *abi.Error) int32 { return abi.BatchReleaseOn(lease, stream, e) })
	if b.kept {
		b.cleanup.Stop()
	}
	runtime.KeepAlive(b) // as in Release
	return err
}
