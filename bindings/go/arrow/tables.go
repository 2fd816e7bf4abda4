// SPDX-License-Identifier: Apache-2.0

// Package arrow passes tables between arrow-go and Dataline, through Arrow's C interfaces. arrow-go needs cgo for
// them.
package arrow

import (
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/cdata"

	"github.com/dataline/dataline/bindings/go"
)

// Dataset returns a dataset over all records of reader, which are read in this call. keys are the keys of an arrow:
// URI. C code uses the arrays until the dataset and everything created from it are closed. The arrays must therefore
// be in C memory, as those of memory/mallocator are. Slices of structs are rejected with ErrCorrupt: arrow-go 18.8
// exports them with an offset, but has already sliced their children.
func Dataset(reader array.RecordReader, keys string, options ...dataline.Option) (*dataline.Dataset, error) {
	stream := new(cdata.CArrowArrayStream)
	cdata.ExportRecordReader(reader, stream)
	return dataline.FromArrow(unsafe.Pointer(stream), keys, options...)
}

// Record returns the rows of a batch. It holds the batch, and counts towards max_leases, until its Release.
func Record(batch *dataline.Batch) (arrow.RecordBatch, error) {
	schema, rows := new(cdata.CArrowSchema), new(cdata.CArrowArray)
	if err := batch.Arrow(unsafe.Pointer(schema), unsafe.Pointer(rows)); err != nil {
		return nil, err
	}
	return cdata.ImportCRecordBatch(rows, schema)
}
