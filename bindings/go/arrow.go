// SPDX-License-Identifier: Apache-2.0

package dataline

import (
	"unsafe"

	"github.com/dataline/dataline/bindings/go/internal/abi"
)

// FromArrow returns a dataset over a table in C memory: all arrays of a stream of Arrow's C stream interface (struct
// ArrowArrayStream). With arrow-go, pass the *cdata.CArrowArrayStream that cdata.ExportRecordReader fills, as
// unsafe.Pointer. Values are delivered from Arrow's memory. The arrays are released after the dataset and everything
// created from it are closed. keys are the keys of an arrow: URI, "fields=image/bytes,label&nulls=fill(0)", or "".
// The call takes ownership of the stream, also on an error.
//
// ErrUnsupported names a type that is not supported. ErrCorrupt: inconsistent arrays; ErrNoSuchField; ErrBadURI: in
// keys; ErrReader: with the stream's message.
func FromArrow(stream unsafe.Pointer, keys string, options ...Option) (*Dataset, error) {
	return fromArrow(keys, options, func(text *byte, set abi.Handle, out *abi.Handle, e *abi.Error) int32 {
		return abi.DatasetFromArrow(stream, text, set, out, e)
	})
}

// FromArrowArray is FromArrow for one array, such as the result of Batch.Arrow: a struct of the columns, or the only
// column.
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
