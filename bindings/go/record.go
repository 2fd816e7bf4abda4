// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// Record is a sample that a Source fills; it is valid during the call of Read.
type Record struct {
	fields  []Field
	request *abi.ReaderRequest
	at      int // the record's number in the request
	filled  []bool
	lent    *loan // of all records of the request; nil: none
}

func (r *Record) begin(fields []Field, request *abi.ReaderRequest, at int) {
	r.fields, r.request, r.at = fields, request, at
	r.filled = append(r.filled[:0], make([]bool, len(fields))...)
}

// end is called after the last record of a request.
func (r *Record) end() {
	if r.lent != nil {
		r.request.ReleaseContext = r.lent.id
	}
	r.request, r.lent = nil, nil
}

// Slot returns the sample's place in the epoch's order. Random draws should depend on it. A sample that replaces a
// bad one has the place of the bad one. -1 for a sample that is read outside an epoch (Dataset.ImageInfo, the upload
// of io=device).
func (r *Record) Slot() int64 {
	return unsafe.Slice(r.request.Slots, r.request.RecordCount)[r.at]
}

// Epoch returns the epoch, or -1 if Slot is -1.
func (r *Record) Epoch() int64 { return r.request.Epoch }

// Seed returns the loader's seed.
func (r *Record) Seed() uint64 { return r.request.Seed }

// Cancelled reports that the sample is no longer wanted: its loader is being closed or was cancelled. The result of
// Read is then ignored.
func (r *Record) Cancelled() bool { return atomic.LoadInt32(r.request.Cancelled) != 0 }

func (r *Record) complete() error {
	for at, filled := range r.filled {
		if !filled {
			return fmt.Errorf("field '%s' was not filled", r.fields[at].Name)
		}
	}
	return nil
}

func (r *Record) find(name string) (int, error) {
	for at := range r.fields {
		if r.fields[at].Name == name {
			return at, nil
		}
	}
	return 0, fmt.Errorf("no field '%s'", name)
}

// fit returns the cell for that many items of a type.
func fit[T Element](r *Record, field string, items int) (cell *abi.ReaderCell, err error) {
	at, err := r.find(field)
	if err != nil {
		return nil, err
	}
	if asked := dtypeOf[T](); asked != r.fields[at].DType {
		return nil, fmt.Errorf("field '%s': expected %v, got %v", field, r.fields[at].DType, asked)
	}
	var one T
	bytes := int64(items) * int64(unsafe.Sizeof(one))
	cell = r.request.Cell(r.at, at)
	switch ragged := r.fields[at].Kind == Ragged; {
	case !ragged && bytes != cell.Capacity:
		return nil, fmt.Errorf("field '%s': expected %d bytes, got %d", field, cell.Capacity, bytes)
	case bytes > cell.Capacity:
		return nil, fmt.Errorf("field '%s': %d bytes, at most %d", field, bytes, cell.Capacity)
	}
	cell.Bytes, cell.Borrowed = bytes, nil
	r.filled[at] = true
	return cell, nil
}

// Put fills a field with a copy of items: for a dense field its complete shape, for a ragged field any number of
// rows.
func Put[T Element](r *Record, field string, items ...T) error {
	cell, err := fit[T](r, field, len(items))
	if err != nil {
		return err
	}
	copy(unsafe.Slice((*T)(cell.Data), len(items)), items)
	return nil
}

// Lend fills a field as Put does, without the copy: the library converts directly from items. They must not change
// until then, which is some time after Read has returned. They are pinned meanwhile. Memory outside Go (a mapped
// file) must stay valid.
func Lend[T Element](r *Record, field string, items []T) error {
	cell, err := fit[T](r, field, len(items))
	if err != nil || len(items) == 0 {
		return err
	}
	if r.lent == nil {
		r.lent = newLoan()
	}
	cell.Borrowed = unsafe.Pointer(pin(r.lent, items))
	return nil
}

// Bytes returns the memory of a dense field. Fill it completely, during the call of Read.
func (r *Record) Bytes(field string) ([]byte, error) {
	at, err := r.find(field)
	if err != nil {
		return nil, err
	}
	if r.fields[at].Kind == Ragged {
		return nil, fmt.Errorf("field '%s': fill a ragged field with Put", field)
	}
	r.filled[at] = true
	cell := r.request.Cell(r.at, at)
	cell.Borrowed = nil
	return unsafe.Slice((*byte)(cell.Data), cell.Capacity), nil
}
