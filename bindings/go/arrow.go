// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// FromArrow is a dataset of a table in C's memory, by Arrow's C stream interface: of all arrays of a struct
// ArrowArrayStream (of arrow-go: *cdata.CArrowArrayStream, as unsafe.Pointer, which cdata.ExportRecordReader fills). Values are
// delivered from where they lie, and released when the dataset and all that came of it are gone. keys are those of an arrow: URI,
// "fields=image/bytes,label&nulls=fill(0)", or "". The stream is taken, on an error too.
//
// ErrUnsupported names a type that is not read; ErrCorrupt for arrays that contradict themselves; ErrNoSuchField; ErrBadURI
// in keys; ErrReader with what the stream says.
func FromArrow(stream unsafe.Pointer, keys string, options ...Option) (*Dataset, error) {
	return fromArrow(keys, options, func(text *byte, set abi.Handle, out *abi.Handle, e *abi.Error) int32 {
		return abi.DatasetFromArrow(stream, text, set, out, e)
	})
}

// FromArrowArray is FromArrow of one array, as Batch.Arrow gives it: a struct of the columns, or the only column.
func FromArrowArray(schema, array unsafe.Pointer, keys string, options ...Option) (*Dataset, error) {
	return fromArrow(keys, options, func(text *byte, set abi.Handle, out *abi.Handle, e *abi.Error) int32 {
		return abi.DatasetFromArrowArray(schema, array, text, set, out, e)
	})
}

func fromArrow(keys string, options []Option,
	make func(text *byte, set abi.Handle, out *abi.Handle, e *abi.Error) int32) (*Dataset, error) {
	text, err := cText("keys", keys)
	if err != nil {
		return nil, err
	}
	set, err := newOptionSet(options)
	if err != nil {
		return nil, err
	}
	defer set.destroy()
	return newDataset(func(out *abi.Handle, e *abi.Error) int32 { return make(text, set.handle, out, e) })
}
