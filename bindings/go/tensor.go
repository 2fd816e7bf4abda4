// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// Tensor is a field of a batch. After the batch's Release, its methods panic with ErrReleased, or return it if they
// return an error. It keeps its batch from the garbage collector; slices that it returns do not.
type Tensor struct {
	view  *abi.View
	batch *Batch
}

func (t Tensor) held() *abi.View {
	t.batch.mustHold()
	return t.view
}

// Name returns the name of the field.
func (t Tensor) Name() string {
	defer runtime.KeepAlive(t.batch)
	return abi.Text(t.held().Name)
}

// Kind returns whether all rows have one shape.
func (t Tensor) Kind() Kind {
	defer runtime.KeepAlive(t.batch)
	return Kind(t.held().Kind)
}

// DType returns the type of the items.
func (t Tensor) DType() DType {
	defer runtime.KeepAlive(t.batch)
	return DType(t.held().Dtype)
}

// Shape returns the dims. The first is the rows; for a ragged field, the sum of all lengths.
func (t Tensor) Shape() []int {
	defer runtime.KeepAlive(t.batch)
	return ints(t.held().Shape, t.held().Rank)
}

// Strides returns the strides, in items.
func (t Tensor) Strides() []int {
	defer runtime.KeepAlive(t.batch)
	return ints(t.held().Strides, t.held().Rank)
}

// Axes returns one letter per dim ("NHWC"), or "" if unknown.
func (t Tensor) Axes() string {
	defer runtime.KeepAlive(t.batch)
	return abi.Text(t.held().Axes)
}

// ReadOnly reports whether the slices must not be written to.
func (t Tensor) ReadOnly() bool {
	defer runtime.KeepAlive(t.batch)
	return t.held().Flags&viewReadOnly != 0
}

// Overlapping reports whether it shares bytes with another field of the batch, or its rows overlap.
func (t Tensor) Overlapping() bool {
	defer runtime.KeepAlive(t.batch)
	return t.held().Flags&viewOverlapping != 0
}

// Pinned reports whether it is in page-locked host memory.
func (t Tensor) Pinned() bool {
	defer runtime.KeepAlive(t.batch)
	return t.held().Flags&viewPinned != 0
}

// Device returns DLPack's number of the device type (1 cpu, 2 cuda) and the device's index.
func (t Tensor) Device() (kind, index int) {
	defer runtime.KeepAlive(t.batch)
	return int(t.held().DeviceType), int(t.held().DeviceIndex)
}

// DeviceName returns the device as a value of the option device: "cpu", "cuda:0".
func (t Tensor) DeviceName() string {
	defer runtime.KeepAlive(t.batch)
	return deviceName(t.held().DeviceType, t.held().DeviceIndex)
}

// Pointer returns the address of the first item, on its device, for C libraries; valid until the batch's Release. On
// a device, call Batch.Wait before reading it in a stream.
func (t Tensor) Pointer() unsafe.Pointer {
	defer runtime.KeepAlive(t.batch)
	t.batch.lend()
	return first(t.held())
}

// Bytes returns all items as bytes. ErrUnsupported: they are on a device, or not contiguous.
func (t Tensor) Bytes() ([]byte, error) {
	defer runtime.KeepAlive(t.batch)
	if t.batch.released() {
		return nil, ErrReleased
	}
	count, err := packedCount(t.view)
	if err != nil {
		return nil, err
	}
	t.batch.lend()
	return unsafe.Slice((*byte)(first(t.view)), count*DType(t.view.Dtype).Bytes()), nil
}

func (t Tensor) String() string {
	return fmt.Sprintf("%s: %s %v", t.Name(), t.DType(), t.Shape())
}

const (
	viewReadOnly    = abi.DL_VIEW_READ_ONLY
	viewOverlapping = abi.DL_VIEW_OVERLAPPING
	viewPinned      = abi.DL_VIEW_PINNED

	deviceCPU  = abi.DL_DEVICE_CPU
	deviceCUDA = abi.DL_DEVICE_CUDA
)

func first(view *abi.View) unsafe.Pointer {
	return unsafe.Add(view.Data, view.ByteOffset)
}

func dims(view *abi.View) (shape, strides []int64) {
	return unsafe.Slice(view.Shape, view.Rank), unsafe.Slice(view.Strides, view.Rank)
}

// packedCount returns the number of items, if all of them are contiguous in host memory.
func packedCount(view *abi.View) (int, error) {
	if view.DeviceType != deviceCPU {
		return 0, localError(ErrUnsupported, "field '%s': it is on %s, not in host memory; after Batch.Wait, "+
			"pass Tensor.Pointer to code on the device, or load with device=cpu", abi.Text(view.Name),
			deviceName(view.DeviceType, view.DeviceIndex))
	}
	shape, strides := dims(view)
	count := int64(1)
	for at := len(shape) - 1; at >= 0; at-- {
		if strides[at] != count && shape[at] > 1 {
			return 0, localError(ErrUnsupported, "field '%s': its items are not contiguous; use Rows",
				abi.Text(view.Name))
		}
		count *= shape[at]
	}
	return int(count), nil
}

func checkType[T Element](view *abi.View) error {
	if asked := dtypeOf[T](); int32(asked) != view.Dtype {
		return localError(ErrMismatch, "field '%s': items are %v, expected %v", abi.Text(view.Name), DType(view.Dtype),
			asked)
	}
	return nil
}

// View returns all items of a field, without a copy: for a dense field in C order, for a ragged field row after row.
// Valid until the batch's Release. Do not write to it if Tensor.ReadOnly is true.
//
// ErrNoSuchField. ErrMismatch: the items are not T. ErrUnsupported: they are on a device, or not contiguous.
// ErrReleased.
func View[T Element](b *Batch, field string) ([]T, error) {
	defer runtime.KeepAlive(b)
	view, err := b.find(field)
	if err != nil {
		return nil, err
	}
	if err := checkType[T](view); err != nil {
		return nil, err
	}
	count, err := packedCount(view)
	if err != nil {
		return nil, err
	}
	b.lend()
	return unsafe.Slice((*T)(first(view)), count), nil
}
