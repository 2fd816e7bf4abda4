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

// Batch is a lease on one batch: its slices point into the loader's memory and are valid until Release. It may outlive its
// loader and its dataset. Held batches count towards the option max_leases; more are delivered as copies.
//
// The loop over Loader.Epoch releases each batch at the end of the iteration, unless Keep was called. The holder releases
// a batch of Loader.Next or one that was kept (deferred, or after the last use of its slices). If that is forgotten, it is
// released some time after the garbage collector finds it unreachable, unless slices of it were given out: the collector
// cannot see who still uses those, so such a batch stays held, and is reported, in Stats.Forgotten and, the first of a
// loader, to the logger of LogTo (else slog.Default).
//
// After Release, View, Rows and similar functions return ErrReleased; accessors without an error result panic with it.
// Several goroutines may use a batch concurrently; call Release when no other uses it.
type Batch struct {
	lease   unsafe.Pointer // an abi.Handle; nil after Release
	views   *abi.View
	fields  []Field
	kept    bool
	cleanup runtime.Cleanup
	lost    *forgotten
	sliced  atomic.Bool // a slice was given of it, before Keep
	guard   *guard      // of one that was kept
}

// take makes a batch from the lease in a frame.
func (l *Loader) take(f *abi.Frame) *Batch {
	return &Batch{lease: f.Batch, views: f.Views, fields: l.fields, lost: l.lost}
}

// Release returns the batch's memory. Calling it again, or on nil, does nothing.
func (b *Batch) Release() {
	if b == nil {
		return
	}
	if lease := atomic.SwapPointer(&b.lease, nil); lease != nil {
		if b.kept {
			b.cleanup.Stop()
			// Keeps b reachable until here: an earlier cleanup could not be stopped any more, and would release or report b.
			runtime.KeepAlive(b)
		}
		abi.BatchRelease(lease)
	}
}

// Keep keeps a batch of a loop over Loader.Epoch past its iteration: the caller releases it.
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
	return nil, localError(ErrNoSuchField, "no field '%s'; there are %s", name, strings.Join(names, ", "))
}

// Tensor is a field of the batch: its shape, dtype, device and bytes. ErrNoSuchField lists the existing names.
func (b *Batch) Tensor(field string) (Tensor, error) {
	view, err := b.find(field)
	if err != nil {
		return Tensor{}, err
	}
	return Tensor{view, b}, nil
}

// Tensors are all fields, in the order of Loader.Fields.
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

// Info is the batch's position and size. Panics after Release.
func (b *Batch) Info() BatchInfo {
	raw := b.info()
	return BatchInfo{int(raw.Epoch), int(raw.Step), int(raw.Samples), int(raw.Valid)}
}

// Len is the number of rows, including pads. Panics after Release.
func (b *Batch) Len() int {
	return int(b.info().Samples)
}

// SampleIndices is the dataset index of each row; for replaced samples, of the replacement. The slice points into the
// batch and is valid until Release. Panics after Release.
func (b *Batch) SampleIndices() []int64 {
	raw := b.info()
	b.lend()
	return unsafe.Slice(raw.SampleIndices, raw.Samples)
}

// SampleSources is the dataset of a mix that each row is from; 0 for a single one. The slice points into the batch and is
// valid until Release. Panics after Release.
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

// held is the lease, for a call during which b is kept alive.
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

// Wait makes a CUDA stream (a CUstream of the batch's device; 0 is the legacy stream) wait until the batch is ready; the
// goroutine does not wait. Call it once for each stream that reads the batch, before its first use there: batches on a
// device are delivered while their copies are in flight. The stream must live until the batch's Release; the memory is
// written again only after the work in the stream by then. On the cpu device it does nothing.
func (b *Batch) Wait(stream uintptr) error {
	lease, err := b.held()
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(b)
	return call(func(e *abi.Error) int32 { return abi.BatchWait(lease, stream, e) })
}

// Arrow fills two structs of Arrow's C data interface, a struct ArrowSchema and a struct ArrowArray in C's memory (of
// github.com/apache/arrow-go: *cdata.CArrowSchema and *cdata.CArrowArray, as unsafe.Pointer, which
// cdata.ImportCRecordBatch then takes): the rows that are not pads, with a child for each field. The array holds the batch
// until it is released, and counts towards MaxLeases. Nothing is copied but bools, which Arrow stores as bits, and fields
// whose rows do not lie one after another. ErrUnsupported: bf16 and complex numbers, and batches in a device's memory.
func (b *Batch) Arrow(schema, array unsafe.Pointer) error {
	lease, err := b.held()
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(b)
	return call(func(e *abi.Error) int32 { return abi.BatchArrow(lease, schema, array, e) })
}

// ReleaseOn is Release, but the memory is written again only after the work now in a CUDA stream is done. The batch is
// released even if an error is returned.
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
