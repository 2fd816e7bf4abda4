// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// Array is a field in the program's own memory, for FromArrays and Writer.Append. It borrows the slice passed to its
// constructor.
type Array struct {
	name    string
	kind    Kind
	dtype   DType
	shape   []int64
	axes    string
	data    unsafe.Pointer
	offsets []int64
	err     error // reported by FromArrays and Append
}

// NewArray returns a dense field: shape[0] samples of shape[1:], in C order. Without a shape, the shape is
// [len(data)].
func NewArray[T Element](name string, data []T, shape ...int) Array {
	if len(shape) == 0 {
		shape = []int{len(data)}
	}
	a := Array{name: name, kind: Dense, dtype: dtypeOf[T](), shape: int64s(shape), data: dataOf(data)}
	if items, ok := product(shape); !ok || items != len(data) {
		a.err = localError(ErrInvalidArgument, "array '%s': shape %v does not hold %d items", name, shape, len(data))
	}
	return a
}

// NewRagged returns a ragged field: sample i is rows [offsets[i], offsets[i + 1]) of data. Each row has the shape
// item (none: single items). The offsets start at 0, never decrease, and end at the number of rows.
func NewRagged[T Element](name string, data []T, offsets []int64, item ...int) Array {
	a := Array{name: name, kind: Ragged, dtype: dtypeOf[T](), data: dataOf(data), offsets: offsets}
	items, ok := product(item)
	rows := 0
	if items > 0 {
		rows = len(data) / items
	}
	a.shape = append([]int64{int64(rows)}, int64s(item)...)
	switch {
	case !ok || rows*items != len(data):
		a.err = localError(ErrInvalidArgument, "array '%s': %[3]d items are not whole rows of shape %[2]v", name, item, len(data))
	case len(offsets) == 0 || offsets[len(offsets)-1] != int64(rows):
		a.err = localError(ErrInvalidArgument, "array '%s': the last offset must be %d, the number of rows", name, rows)
	}
	return a
}

// Axes names the dims of one sample, one letter each: "HWC".
func (a Array) Axes(axes string) Array {
	a.axes = axes
	return a
}

func dataOf[T any](items []T) unsafe.Pointer {
	return unsafe.Pointer(unsafe.SliceData(items))
}

func product(shape []int) (int, bool) {
	items := 1
	for _, dim := range shape {
		if dim < 0 || (dim > 0 && items > (1<<62)/dim) {
			return 0, false
		}
		items *= dim
	}
	return items, true
}

func int64s(numbers []int) []int64 {
	copied := make([]int64, len(numbers))
	for at, number := range numbers {
		copied[at] = int64(number)
	}
	return copied
}

// raw returns the array in the library's form; everything it points to is pinned for the loan.
func (a Array) raw(l *loan) (abi.Array, error) {
	if a.err != nil {
		return abi.Array{}, a.err
	}
	raw := abi.Array{
		StructSize:  uint32(unsafe.Sizeof(abi.Array{})),
		Kind:        int32(a.kind),
		Dtype:       int32(a.dtype),
		Rank:        int32(len(a.shape)),
		Shape:       pin(l, a.shape),
		Data:        a.data,
		Offsets:     pin(l, a.offsets),
		SampleCount: int64(max(0, len(a.offsets)-1)),
	}
	if a.data != nil {
		l.pinner.Pin(a.data)
	}
	var err error
	if raw.Name, err = pinText(l, "array", a.name); err != nil {
		return raw, err
	}
	if a.axes != "" {
		raw.Axes, err = pinText(l, a.name, a.axes)
	}
	return raw, err
}

// rawArrays returns arrays in the library's form, pinned for the loan.
func rawArrays(l *loan, arrays []Array) ([]abi.Array, error) {
	raw := make([]abi.Array, len(arrays))
	for at, array := range arrays {
		var err error
		if raw[at], err = array.raw(l); err != nil {
			return nil, err
		}
	}
	return raw, nil
}

func pinText(l *loan, what, text string) (*byte, error) {
	pinned, err := cText(what, text)
	if err == nil {
		l.pinner.Pin(pinned)
	}
	return pinned, err
}
