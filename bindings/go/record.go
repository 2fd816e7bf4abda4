// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"fmt"
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// Record is a sample that a Source fills; it lives for the call of Read.
type Record struct {
	fields []Field
	cells  []abi.ReaderCell
	filled []bool
}

func (r *Record) begin(fields []Field, cells []abi.ReaderCell) {
	r.fields, r.cells = fields, cells
	r.filled = append(r.filled[:0], make([]bool, len(fields))...)
}

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

// Put fills a field with a copy of items: of a dense field all of its shape, of a ragged one any number of whole rows.
func Put[T Element](r *Record, field string, items ...T) error {
	at, err := r.find(field)
	if err != nil {
		return err
	}
	if asked := dtypeOf[T](); asked != r.fields[at].DType {
		return fmt.Errorf("field '%s': expected %v, got %v", field, r.fields[at].DType, asked)
	}
	var one T
	bytes := int64(len(items)) * int64(unsafe.Sizeof(one))
	cell := &r.cells[at]
	switch ragged := r.fields[at].Kind == Ragged; {
	case !ragged && bytes != cell.Capacity:
		return fmt.Errorf("field '%s': expected %d bytes, got %d", field, cell.Capacity, bytes)
	case bytes > cell.Capacity:
		return fmt.Errorf("field '%s': %d bytes, at most %d", field, bytes, cell.Capacity)
	case ragged:
		cell.Bytes = bytes
	}
	copy(unsafe.Slice((*T)(cell.Data), len(items)), items)
	r.filled[at] = true
	return nil
}

// Bytes is the room of a dense field, to be filled in place, whole, during the call of Read.
func (r *Record) Bytes(field string) ([]byte, error) {
	at, err := r.find(field)
	if err != nil {
		return nil, err
	}
	if r.fields[at].Kind == Ragged {
		return nil, fmt.Errorf("field '%s': a ragged field is filled by Put", field)
	}
	r.filled[at] = true
	return unsafe.Slice((*byte)(r.cells[at].Data), r.cells[at].Capacity), nil
}
