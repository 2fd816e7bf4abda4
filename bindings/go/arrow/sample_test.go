// SPDX-License-Identifier: Apache-2.0

package arrow_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

const rows = 400

// some is one of n values that look random.
func some(row, column, n int) int {
	return (row*2_654_435_761 + column*40_503 + row*row%977) % n
}

func word(row, column int) string {
	return strings.Repeat("ab😀z", 5)[:4*some(row, column, 5)]
}

var sampleTypes = []struct {
	name string
	of   arrow.DataType
}{
	{"i8", arrow.PrimitiveTypes.Int8}, {"i16", arrow.PrimitiveTypes.Int16}, {"i32", arrow.PrimitiveTypes.Int32},
	{"i64", arrow.PrimitiveTypes.Int64}, {"u8", arrow.PrimitiveTypes.Uint8}, {"u16", arrow.PrimitiveTypes.Uint16},
	{"u32", arrow.PrimitiveTypes.Uint32}, {"u64", arrow.PrimitiveTypes.Uint64}, {"f16", arrow.FixedWidthTypes.Float16},
	{"f32", arrow.PrimitiveTypes.Float32}, {"f64", arrow.PrimitiveTypes.Float64},
	{"bool", arrow.FixedWidthTypes.Boolean}, {"when", &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}},
	{"fixed", &arrow.FixedSizeBinaryType{ByteWidth: 5}}, {"text", arrow.BinaryTypes.String},
	{"large_text", arrow.BinaryTypes.LargeString}, {"text_view", arrow.BinaryTypes.StringView},
	{"bytes", arrow.BinaryTypes.Binary}, {"list", arrow.ListOf(arrow.PrimitiveTypes.Int32)},
	{"matrix", arrow.FixedSizeListOf(2, arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Float32))},
	{"label", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}},
	{"image", arrow.StructOf(arrow.Field{Name: "bytes", Type: arrow.BinaryTypes.Binary},
		arrow.Field{Name: "size", Type: arrow.PrimitiveTypes.Int32})},
}

// cell is a value of one of these types, as JSON has it.
func cell(row, column int, of arrow.DataType) any {
	switch of := of.(type) {
	case *arrow.BooleanType:
		return some(row, column, 3) == 0
	case *arrow.Float16Type, *arrow.Float32Type, *arrow.Float64Type:
		return float64(some(row, column, 100)) / 8
	case *arrow.TimestampType:
		return fmt.Sprintf("2026-01-01T00:00:%02d.%06dZ", some(row, column, 60), row)
	case *arrow.FixedSizeBinaryType:
		return []byte(fmt.Sprintf("%05d", some(row, column, 100_000)))
	case *arrow.BinaryType:
		return []byte(word(row, column))
	case *arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType:
		return word(row, column)
	case *arrow.DictionaryType:
		return [...]string{"cat", "dog", "bird"}[some(row, column, 3)]
	case *arrow.ListType:
		return cells(some(row, column, 6), row, column, of.Elem())
	case *arrow.FixedSizeListType:
		return cells(int(of.Len()), row, column, of.Elem())
	case *arrow.StructType:
		return map[string]any{"bytes": []byte(word(row, column)), "size": row}
	}
	return some(row, column, 100)
}

func cells(n, row, column int, of arrow.DataType) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = cell(row*7+i, column, of)
	}
	return out
}

// sample is a table of every type that is read, in memory that C may keep.
func sample(from memory.Allocator) (arrow.RecordBatch, error) {
	var fields []arrow.Field
	for _, column := range sampleTypes {
		fields = append(fields, arrow.Field{Name: column.name, Type: column.of})
	}
	builder := array.NewRecordBuilder(from, arrow.NewSchema(fields, nil))
	defer builder.Release()
	for row := range rows {
		values := map[string]any{}
		for at, column := range sampleTypes {
			values[column.name] = cell(row, at, column.of)
		}
		text, err := json.Marshal(values)
		if err != nil {
			return nil, err
		}
		if err := builder.UnmarshalJSON(text); err != nil {
			return nil, err
		}
	}
	return builder.NewRecordBatch(), nil
}

// plain is a value without what Dataline does not keep of its type: texts and bytes as bytes, times as their integers, a dictionary's
// values, a list whatever its offsets.
func plain(values arrow.Array, row int) string {
	switch values := values.(type) {
	case interface{ Value(int) string }:
		return hex.EncodeToString([]byte(values.Value(row)))
	case interface{ Value(int) []byte }:
		return hex.EncodeToString(values.Value(row))
	case *array.Timestamp:
		return fmt.Sprint(int64(values.Value(row)))
	case *array.Dictionary:
		return plain(values.Dictionary(), values.GetValueIndex(row))
	case array.ListLike:
		begin, end := values.ValueOffsets(row)
		items := values.ListValues()
		if bytes, is := items.(*array.Uint8); is {
			return hex.EncodeToString(bytes.Uint8Values()[begin:end])
		}
		var all []string
		for at := begin; at < end; at++ {
			all = append(all, plain(items, int(at)))
		}
		return fmt.Sprint(all)
	}
	return fmt.Sprint(values.GetOneForMarshal(row))
}
