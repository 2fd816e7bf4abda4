// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"iter"
	"runtime"
	"unsafe"
)

// RowSet is a field row by row. Rows of a ragged field differ in length. Valid until the batch's Release.
type RowSet[T Element] struct {
	first   *T
	stride  int64   // items from row to row; dense
	items   int64   // of one row; of one step of offsets when ragged
	offsets []int64 // ragged
	count   int
}

// Rows returns a field row by row, without a copy. It also works if rows overlap, as windows of tokens with
// views=true do.
//
// ErrNoSuchField. ErrMismatch: the items are not T. ErrUnsupported: the field is on a device, or the items of a row
// are not contiguous. ErrReleased.
func Rows[T Element](b *Batch, field string) (RowSet[T], error) {
	defer runtime.KeepAlive(b)
	view, err := b.find(field)
	if err != nil {
		return RowSet[T]{}, err
	}
	if err := checkType[T](view); err != nil {
		return RowSet[T]{}, err
	}
	shape, strides := dims(view)
	if len(shape) == 0 {
		return RowSet[T]{}, localError(ErrUnsupported, "field '%s': it has no rows", field)
	}
	// A single row has to be packed.
	row := *view
	row.Rank--
	row.Shape = (*int64)(unsafe.Add(unsafe.Pointer(view.Shape), unsafe.Sizeof(int64(0))))
	row.Strides = (*int64)(unsafe.Add(unsafe.Pointer(view.Strides), unsafe.Sizeof(int64(0))))
	items, err := packedCount(&row)
	if err != nil {
		return RowSet[T]{}, err
	}
	b.lend()
	rows := RowSet[T]{first: (*T)(first(view)), stride: strides[0], items: int64(items), count: int(shape[0])}
	if Kind(view.Kind) == Ragged {
		rows.count = b.Len()
		rows.offsets = unsafe.Slice(view.Offsets, rows.count+1)
	}
	return rows, nil
}

// Len returns the number of rows.
func (r RowSet[T]) Len() int {
	return r.count
}

// At returns row i, 0 <= i < Len.
func (r RowSet[T]) At(i int) []T {
	if i < 0 || i >= r.count {
		panic(localError(ErrOutOfRange, "row %d: expected 0 to %d", i, r.count-1))
	}
	begin, items := int64(i)*r.stride, r.items
	if r.offsets != nil {
		begin, items = r.offsets[i]*r.items, (r.offsets[i+1]-r.offsets[i])*r.items
	}
	var one T
	return unsafe.Slice((*T)(unsafe.Add(unsafe.Pointer(r.first), uintptr(begin)*unsafe.Sizeof(one))), items)
}

// All iterates over the rows in order.
func (r RowSet[T]) All() iter.Seq2[int, []T] {
	return func(yield func(int, []T) bool) {
		for i := range r.count {
			if !yield(i, r.At(i)) {
				return
			}
		}
	}
}

// Offsets returns the offsets of a ragged field, or nil for a dense field. Row i is items [Offsets[i], Offsets[i +
// 1]) of View, in steps of one item of the field's shape.
func (r RowSet[T]) Offsets() []int64 {
	return r.offsets
}
