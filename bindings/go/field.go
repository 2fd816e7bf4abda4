// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// Kind distinguishes fields whose samples all have one shape from fields whose samples differ in length.
type Kind int32

const (
	// Dense: all samples have one shape.
	Dense Kind = abi.DL_KIND_DENSE
	// Ragged: samples differ in length and are stored contiguously. Bytes and UTF-8 text are ragged u8.
	Ragged Kind = abi.DL_KIND_RAGGED
)

// Field describes a field of a dataset, of a loader, of a Source, or of a Writer.
type Field struct {
	Name  string // nested names use "/"
	Kind  Kind
	DType DType
	// Shape of one sample in a dataset, of a batch in a loader; -1: varying. For a ragged field, also of a Source or a
	// Writer, it starts with -1.
	Shape []int
	// Axes is one letter per dim ("HWC"), or "" if unknown.
	Axes string
	// Bytes of one sample, or of a batch; -1 if they vary. For a ragged field of a Source: the maximum bytes of one
	// sample; 0: the option max_bytes_per_sample.
	Bytes int64
}

func fieldOf(view *abi.View) Field {
	return Field{
		Name:  abi.Text(view.Name),
		Kind:  Kind(view.Kind),
		DType: DType(view.Dtype),
		Shape: ints(view.Shape, view.Rank),
		Axes:  abi.Text(view.Axes),
		Bytes: view.Bytes,
	}
}

func fieldsOf(views *abi.View, count int32) []Field {
	fields := make([]Field, 0, count)
	for at := range int(count) {
		fields = append(fields, fieldOf(abi.ViewAt(views, at)))
	}
	return fields
}

// viewsOf returns fields in the library's form; everything they point to is pinned for the loan.
func viewsOf(l *loan, fields []Field) ([]abi.View, error) {
	views := make([]abi.View, len(fields))
	for at, field := range fields {
		shape := int64s(field.Shape)
		views[at] = abi.View{
			StructSize: uint32(unsafe.Sizeof(abi.View{})),
			Kind:       int32(field.Kind),
			Dtype:      int32(field.DType),
			Rank:       int32(len(shape)),
			Shape:      pin(l, shape),
			Bytes:      field.Bytes,
		}
		var err error
		if views[at].Name, err = pinText(l, "field", field.Name); err != nil {
			return nil, err
		}
		if views[at].Axes, err = pinText(l, field.Name, field.Axes); err != nil {
			return nil, err
		}
	}
	return views, nil
}

func ints(numbers *int64, count int32) []int {
	copied := make([]int, count)
	for at, number := range unsafe.Slice(numbers, count) {
		copied[at] = int(number)
	}
	return copied
}
