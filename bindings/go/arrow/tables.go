// SPDX-License-Identifier: Apache-2.0

// Package arrow passes tables between arrow-go and Dataline, by Arrow's C interfaces. arrow-go's part of it needs cgo.
package arrow

import (
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/cdata"

	"github.com/dataline/dataline/bindings/go"
)

// Dataset is a dataset of all that reader gives, read in this call. keys are those of an arrow: URI. C keeps the arrays until the
// dataset and all that came of it are gone, so they must lie in its memory: those of memory/mallocator do. Structs that are slices are
// refused with ErrCorrupt: arrow-go 18.8 exports them with an offset, and children that it has cut by it already.
func Dataset(reader array.RecordReader, keys string, options ...dataline.Option) (*dataline.Dataset, error) {
	stream := new(cdata.CArrowArrayStream)
	cdata.ExportRecordReader(reader, stream)
	return dataline.FromArrow(unsafe.Pointer(stream), keys, options...)
}

// Record is the rows of a batch. It keeps the batch, and counts towards max_leases, until its Release.
func Record(batch *dataline.Batch) (arrow.RecordBatch, error) {
	schema, rows := new(cdata.CArrowSchema), new(cdata.CArrowArray)
	if err := batch.Arrow(unsafe.Pointer(schema), unsafe.Pointer(rows)); err != nil {
		return nil, err
	}
	return cdata.ImportCRecordBatch(rows, schema)
}
