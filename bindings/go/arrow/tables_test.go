// SPDX-License-Identifier: Apache-2.0

package arrow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/arrow/memory/mallocator"

	"github.com/dataline/dataline/bindings/go"
	between "github.com/dataline/dataline/bindings/go/arrow"
)

func must[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// table is the sample; at the end of the test nothing of it may be left.
func table(t *testing.T) arrow.RecordBatch {
	t.Helper()
	checked := memory.NewCheckedAllocator(mallocator.NewMallocator())
	out := must[arrow.RecordBatch](t)(sample(checked))
	t.Cleanup(func() {
		out.Release()
		checked.AssertSize(t, 0)
	})
	return out
}

// slice is rows of a table. Of a struct that is a slice arrow-go exports the offset and children that it has cut by it already,
// which contradict each other; so structs are made anew of these children.
func slice(t *testing.T, from arrow.RecordBatch, begin, end int64) arrow.RecordBatch {
	t.Helper()
	part := from.NewSlice(begin, end)
	defer part.Release()
	columns := slices.Clone(part.Columns())
	for at, column := range columns {
		inner, is := column.(*array.Struct)
		if !is {
			column.Retain()
			continue
		}
		var fields []arrow.Array
		for leaf := range inner.NumField() {
			fields = append(fields, inner.Field(leaf))
		}
		columns[at] = must[*array.Struct](t)(array.NewStructArrayWithFields(fields, inner.DataType().(*arrow.StructType).Fields()))
	}
	defer func() {
		for _, column := range columns {
			column.Release()
		}
	}()
	return array.NewRecordBatch(part.Schema(), columns, part.NumRows())
}

// read is a dataset of a table in chunks of so many rows.
func read(t *testing.T, from arrow.RecordBatch, chunk int64, keys string) (*dataline.Dataset, error) {
	t.Helper()
	var chunks []arrow.RecordBatch
	for at := int64(0); at < from.NumRows(); at += chunk {
		chunks = append(chunks, slice(t, from, at, min(at+chunk, from.NumRows())))
	}
	reader := must[array.RecordReader](t)(array.NewRecordReader(from.Schema(), chunks))
	for _, each := range chunks {
		each.Release()
	}
	defer reader.Release()
	return between.Dataset(reader, keys)
}

// epoch is what a loader gives, row by row by name; `rows` of from in that order are what it must be.
func epoch(t *testing.T, d *dataline.Dataset, options dataline.With, from arrow.RecordBatch) {
	t.Helper()
	l := must[*dataline.Loader](t)(dataline.NewLoader(d, options))
	defer l.Close()
	seen := 0
	for batch, err := range l.Epoch(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		got := must[arrow.RecordBatch](t)(between.Record(batch))
		for at, row := range batch.SampleIndices() {
			same(t, got, at, from, int(row))
		}
		seen += int(got.NumRows())
		got.Release()
	}
	if int64(seen) != from.NumRows() {
		t.Fatalf("%d rows of %d", seen, from.NumRows())
	}
}

func same(t *testing.T, got arrow.RecordBatch, at int, from arrow.RecordBatch, row int) {
	t.Helper()
	next := 0
	check := func(name string, values arrow.Array) {
		t.Helper()
		if got.ColumnName(next) != name || plain(got.Column(next), at) != plain(values, row) {
			t.Fatalf("%s, row %d: %s, expected %s: %s", got.ColumnName(next), row, plain(got.Column(next), at), name, plain(values, row))
		}
		next++
	}
	for column, values := range from.Columns() {
		inner, is := values.(*array.Struct)
		if !is {
			check(from.ColumnName(column), values)
			continue
		}
		for leaf := range inner.NumField() {
			check(from.ColumnName(column)+"/"+inner.DataType().(*arrow.StructType).Field(leaf).Name, inner.Field(leaf))
		}
	}
	if int64(next) != got.NumCols() {
		t.Fatalf("%d columns of %d", got.NumCols(), next)
	}
}

func TestATableOfEveryTypeComesBackEqual(t *testing.T) {
	from := table(t)
	d := must[*dataline.Dataset](t)(read(t, from, 97, ""))
	defer d.Close()
	for workers := range 3 {
		epoch(t, d, dataline.With{"batch_size": 61, "shuffle": "none", "num_workers": workers}, from)
		epoch(t, d, dataline.With{"batch_size": 61, "shuffle": "full", "num_workers": workers}, from)
	}
}

func TestASliceComesBackEqualWhereBitsDoNotBeginAByte(t *testing.T) {
	whole := table(t)
	for _, first := range []int64{1, 3, 8, 13} {
		part := slice(t, whole, first, first+200)
		d := must[*dataline.Dataset](t)(read(t, part, 61, ""))
		epoch(t, d, dataline.With{"batch_size": 33}, part)
		d.Close()
		part.Release()
	}
}

func TestASlicedStructAsArrowGoExportsItIsRefusedRatherThanReadWrong(t *testing.T) {
	part := table(t).NewSlice(5, 9)
	defer part.Release()
	reader := must[array.RecordReader](t)(array.NewRecordReader(part.Schema(), []arrow.RecordBatch{part}))
	defer reader.Release()
	if _, err := between.Dataset(reader, ""); !errors.Is(err, dataline.ErrCorrupt) {
		t.Fatal(err)
	}
}

func TestNullsAreFilledOrBad(t *testing.T) {
	builder := array.NewInt32Builder(mallocator.NewMallocator())
	defer builder.Release()
	builder.AppendValues([]int32{1, 0, 3}, []bool{true, false, true})
	column := builder.NewArray()
	defer column.Release()
	from := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "x", Type: column.DataType(), Nullable: true}}, nil),
		[]arrow.Array{column}, 3)
	defer from.Release()
	for keys, wanted := range map[string]string{"nulls=fill(7)": "[1 7 3]", "": "null"} {
		d := must[*dataline.Dataset](t)(read(t, from, 2, keys))
		l := must[*dataline.Loader](t)(dataline.NewLoader(d, dataline.With{"shuffle": "none"}))
		batch, err := l.Next(context.Background())
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprint(must[[]int32](t)(dataline.View[int32](batch, "x")))
			batch.Release()
		}
		if !strings.Contains(got, wanted) {
			t.Fatalf("%q: %s", keys, got)
		}
		l.Close()
		d.Close()
	}
}

func TestATypeThatIsNotReadIsRefusedByName(t *testing.T) {
	builder := array.NewMonthDayNanoIntervalBuilder(mallocator.NewMallocator())
	defer builder.Release()
	builder.Append(arrow.MonthDayNanoInterval{Months: 1})
	column := builder.NewArray()
	defer column.Release()
	from := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "span", Type: column.DataType()}}, nil), []arrow.Array{column}, 1)
	defer from.Release()
	_, err := read(t, from, 1, "")
	if !errors.Is(err, dataline.ErrUnsupported) || !strings.Contains(err.Error(), "span") {
		t.Fatal(err)
	}
}
