// SPDX-License-Identifier: Apache-2.0
#include "core/source/mds/mds_columns.h"

#include <algorithm>
#include <utility>

#include "core/base/checked.h"
#include "core/base/text.h"
#include "core/source/files.h"

namespace dataline {
namespace {

struct MdsType {
  std::string_view name;
  DType dtype;
};

// `int` is what Python's are stored as.
constexpr MdsType kMdsScalars[] = {
    {"int", DType::kI64},    {"uint8", DType::kU8},    {"uint16", DType::kU16},  {"uint32", DType::kU32},
    {"uint64", DType::kU64}, {"int8", DType::kI8},     {"int16", DType::kI16},   {"int32", DType::kI32},
    {"int64", DType::kI64},  {"float16", DType::kF16}, {"float32", DType::kF32}, {"float64", DType::kF64}};
// Delivered as their bytes.
constexpr std::string_view kMdsBytes[] = {"bytes", "str",     "json",      "jpeg",
                                          "png",   "str_int", "str_float", "str_decimal"};

std::optional<DType> mds_dtype(std::string_view name) {
  const auto found = std::find_if(std::begin(kMdsScalars), std::end(kMdsScalars),
                                  [&](const MdsType& type) { return type.name == name; });
  return found == std::end(kMdsScalars) ? std::nullopt : std::optional(found->dtype);
}

// "ndarray:float32:3,4": dtype and shape may be left out.
struct MdsArray {
  std::optional<DType> dtype;
  std::optional<std::vector<int64_t>> shape;
  bool sound = true;
};

MdsArray parse_mds_array(std::string_view encoding) {
  const std::vector<std::string_view> parts = split(encoding, ':');
  MdsArray array;
  if (parts.size() > 1 && parts[1] != "int") array.dtype = mds_dtype(parts[1]);
  array.sound = parts.size() <= 3 && (parts.size() < 2 || array.dtype);
  if (parts.size() < 3) return array;
  array.shape.emplace();
  for (const std::string_view part : split(parts[2], ',')) {
    if (part.empty() && parts[2].ends_with(',')) continue;  // "3," is Python's tuple of one
    const std::optional<int64_t> dim = parse_i64(part);
    array.sound = array.sound && dim && *dim > 0;
    array.shape->push_back(dim.value_or(0));
  }
  array.sound = array.sound && static_cast<int64_t>(array.shape->size()) <= kMaxRank;
  return array;
}

// Arrays of any length begin with a byte, (dims << 2 | log2 of the bytes of a dim), and the dims: leaves their values, of one dim.
std::string take_mds_shape(const ShardColumn& column, const std::byte* sample, FileExtent& value) {
  const int64_t form = value.bytes > 0 ? std::to_integer<int64_t>(sample[value.offset]) : 0;
  const int64_t dims = form >> 2, dim_bytes = int64_t{1} << (form & 3);
  const int64_t values = value.bytes - 1 - dim_bytes;
  uint64_t items = 0;
  for (int64_t i = dim_bytes; i > 0 && values >= 0; --i)
    items = items << 8 | std::to_integer<uint64_t>(sample[value.offset + i]);
  // No overflow: the values are no more than the file.
  const int64_t item_bytes = dtype_bytes(column.field->dtype);
  const bool fits =
      values >= 0 && values % item_bytes == 0 && items == static_cast<uint64_t>(values / item_bytes);
  if (dims != 1) return concat("an array of ", dims, " dims, expected 1");
  if (!fits) return concat("its length and its ", value.bytes, " bytes disagree");
  value = {value.offset + 1 + dim_bytes, values};
  return {};
}

Field ragged_field(const std::string& name, DType dtype) {
  return {name, FieldKind::kRagged, dtype, {-1}, "", -1};
}

}  // namespace

Result<MdsColumn> mds_column(const std::string& path, MdsColumnSpec spec) {
  MdsColumn out{std::move(spec), {}};
  const std::string& name = out.spec.name;
  out.stored.name = name;
  out.stored.stored_bytes = out.spec.size;
  const std::string& encoding = out.spec.encoding;
  auto refuse = [&](Code code, const auto&... parts) {
    out.stored.why_not = error(code, path, ": column ", printable(name), ": encoding ", printable(encoding),
                               parts..., " (select other columns with the key `fields`)");
    return out;
  };
  std::optional<int64_t> size;  // that the encoding has; nothing: any
  if (const std::optional<DType> dtype = mds_dtype(encoding)) {
    out.stored.field = Field{name, FieldKind::kDense, *dtype, {}, "", -1};
    size = dtype_bytes(*dtype);
  } else if (encoding == "ndarray" || encoding.starts_with("ndarray:")) {
    const MdsArray array = parse_mds_array(encoding);
    if (!array.sound) return refuse(Code::kUnsupported, " is not an array of a known dtype and shape");
    if (!array.dtype) return refuse(Code::kUnsupported, ": arrays whose dtype differs by sample");
    if (!array.shape) out.stored.take_items = take_mds_shape;
    if (array.shape) {
      const std::optional<int64_t> items = checked_product(*array.shape);
      size = items ? checked_multiply(*items, dtype_bytes(*array.dtype)) : std::nullopt;
      if (!size) return refuse(Code::kCorrupt, " has more than 2^63 bytes");
    }
    out.stored.field = !array.shape ? ragged_field(name, *array.dtype)
                                    : Field{name, FieldKind::kDense, *array.dtype, *array.shape, "", -1};
  } else if (std::find(std::begin(kMdsBytes), std::end(kMdsBytes), encoding) != std::end(kMdsBytes)) {
    out.stored.field = ragged_field(name, DType::kU8);
  } else if (encoding == "pkl") {
    return refuse(Code::kUnsafeType, ": a pickle runs code when it is read, so it is never read");
  } else {
    return refuse(Code::kUnsupported, " is not supported");
  }
  const int64_t expected = size.value_or(-1);
  if (out.spec.size == expected) return out;
  return error(Code::kCorrupt, path, ": column ", printable(name), ": encoding ", printable(encoding),
               ": column_sizes states ", out.spec.size < 0 ? "null" : std::to_string(out.spec.size),
               ", expected ", expected < 0 ? "null" : std::to_string(expected));
}

}  // namespace dataline
