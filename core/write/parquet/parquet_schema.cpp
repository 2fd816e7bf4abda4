// SPDX-License-Identifier: Apache-2.0
#include "core/write/parquet/parquet_schema.h"

#include <algorithm>
#include <string_view>

#include "core/write/arrow/arrow_messages.h"
#include "core/write/rows.h"
#include "core/write/whole_numbers.h"

namespace dataline {
namespace {

// Sizes of pages and counts of their values are i32, and a row is never cut: half of what that holds, for the levels beside it.
constexpr int64_t kMaxPageRowBytes = int64_t{1} << 30;

// Numbers of parquet.thrift.
constexpr int32_t kParquetRequired = 0, kParquetOptional = 1, kParquetRepeated = 2;
constexpr int32_t kConvertedList = 3, kConvertedUint8 = 11, kConvertedInt8 = 15;
constexpr int kLogicalList = 3, kLogicalInteger = 10, kLogicalFloat16 = 15;

ParquetType stored_type(const Field& field) {
  if (is_bytes(field)) return ParquetType::kByteArray;
  switch (field.dtype) {
    case DType::kBool:
      return ParquetType::kBoolean;
    case DType::kU64:
    case DType::kI64:
      return ParquetType::kInt64;
    case DType::kF16:
      return ParquetType::kFixedBytes;
    case DType::kF32:
      return ParquetType::kFloat;
    case DType::kF64:
      return ParquetType::kDouble;
    default:
      return ParquetType::kInt32;
  }
}

// The width and the sign of whole numbers, where the stored type does not say them; halves.
void put_value_type(ThriftWriter& out, const Field& field, ParquetType type) {
  if (type == ParquetType::kFixedBytes) {
    out.begin(10);
    out.empty(kLogicalFloat16);
    return out.end();
  }
  const bool integer = type == ParquetType::kInt32 || type == ParquetType::kInt64;
  if (!integer || field.dtype == DType::kI32 || field.dtype == DType::kI64) return;
  const bool is_signed = is_signed_dtype(field.dtype);
  const auto bytes = static_cast<int32_t>(dtype_bytes(field.dtype));
  int32_t power = 0;
  for (int32_t b = bytes; b > 1; b /= 2) ++power;
  out.i32(6, (is_signed ? kConvertedInt8 : kConvertedUint8) + power);
  out.begin(10);
  out.begin(kLogicalInteger);
  out.i8(1, static_cast<int8_t>(8 * bytes));
  out.boolean(2, is_signed);
  out.end();
  out.end();
}

void put_schema_leaf(ThriftWriter& out, std::string_view name, const Field& field,
                     const ParquetColumnType& type) {
  out.begin_item();
  out.i32(1, static_cast<int32_t>(type.type));
  if (type.type == ParquetType::kFixedBytes) out.i32(2, static_cast<int32_t>(dtype_bytes(field.dtype)));
  out.i32(3, type.optional ? kParquetOptional : kParquetRequired);
  out.text(4, name);
  put_value_type(out, field, type.type);
  out.end();
}

void put_schema_group(ThriftWriter& out, std::string_view name, int32_t repetition, size_t children,
                      bool list) {
  out.begin_item();
  if (repetition >= 0) out.i32(3, repetition);
  out.text(4, name);
  out.i32(5, static_cast<int32_t>(children));
  if (list) {
    out.i32(6, kConvertedList);
    out.begin(10);
    out.empty(kLogicalList);
    out.end();
  }
  out.end();
}

}  // namespace

ParquetColumnType parquet_column_type(const Field& field) {
  ParquetColumnType out;
  out.type = stored_type(field);
  if (is_bytes(field)) return out;
  out.indexed = field.dtype == DType::kU8 || field.dtype == DType::kI8;
  out.lists = field.shape;
  if (is_arrow_tensor(field)) {
    out.optional = true;
    out.lists = {field.bytes() / dtype_bytes(field.dtype)};
  }
  return out;
}

int64_t parquet_row_bytes(const Field& field, int64_t bytes) {
  if (is_bytes(field)) return bytes + 4;
  const bool widened = field.dtype == DType::kU16 || field.dtype == DType::kI16;
  return std::max<int64_t>(widened ? 2 * bytes : bytes, 1);
}

Status check_parquet_fields(const std::vector<Field>& fields) {
  for (const Field& field : fields) {
    if (field.dtype == DType::kBf16 || field.dtype == DType::kC64 || field.dtype == DType::kC128) {
      return error(Code::kUnsupported, "field '", field.name, "' is ", dtype_name(field.dtype),
                   ", for which Parquet has no type",
                   field.dtype == DType::kBf16 ? "; add the transform cast(f32)" : "");
    }
    const bool empty = std::find(field.shape.begin(), field.shape.end(), 0) != field.shape.end();
    if (empty) {
      return error(Code::kUnsupported, "field '", field.name, "' is ", field_type_text(field),
                   ": its rows hold no values, which Parquet readers reject: write arrow");
    }
    if (parquet_row_bytes(field, field.item_bytes()) <= kMaxPageRowBytes) continue;
    return error(Code::kUnsupported, "field '", field.name, "' is ", field_type_text(field),
                 ": a row can take at most ", kMaxPageRowBytes, " bytes in a Parquet page: write arrow");
  }
  return Status::ok();
}

Status check_parquet_row(const Field& field, int64_t bytes, int64_t row) {
  const int64_t needed = parquet_row_bytes(field, bytes);
  if (needed <= kMaxPageRowBytes) return Status::ok();
  return error(Code::kTooLarge, "row ", row, ": field '", field.name, "' takes ", needed,
               " bytes in a Parquet page, expected at most ", kMaxPageRowBytes, ": write arrow");
}

void put_parquet_schema(ThriftWriter& out, int number, const std::vector<Field>& fields) {
  size_t elements = 1;
  for (const Field& field : fields) elements += 1 + 2 * parquet_column_type(field).lists.size();
  out.list(number, ThriftWriter::Element::kStruct, elements);
  put_schema_group(out, "schema", -1, fields.size(), false);
  for (const Field& field : fields) {
    const ParquetColumnType type = parquet_column_type(field);
    for (size_t l = 0; l < type.lists.size(); ++l) {
      put_schema_group(out, l == 0 ? std::string_view(field.name) : "element", kParquetRequired, 1, true);
      put_schema_group(out, "list", kParquetRepeated, 1, false);
    }
    put_schema_leaf(out, type.lists.empty() ? std::string_view(field.name) : "element", field, type);
  }
}

void put_parquet_path(ThriftWriter& out, int number, const Field& field) {
  const size_t lists = parquet_column_type(field).lists.size();
  out.list(number, ThriftWriter::Element::kText, 1 + 2 * lists);
  out.item(field.name);
  for (size_t l = 0; l < lists; ++l) {
    out.item(std::string_view("list"));
    out.item(std::string_view("element"));
  }
}

}  // namespace dataline
