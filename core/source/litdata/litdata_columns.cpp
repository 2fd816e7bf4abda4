// SPDX-License-Identifier: Apache-2.0
#include "core/source/litdata/litdata_columns.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "core/base/checked.h"
#include "core/base/text.h"
#include "core/source/files.h"

namespace dataline {
namespace {

// By their numbers in LitData; some have two.
constexpr DType kTensorDtypes[] = {
    DType::kF32,  DType::kF32, DType::kF64, DType::kF64,  DType::kC64, DType::kC64,  DType::kC128,
    DType::kC128, DType::kF16, DType::kF16, DType::kBf16, DType::kU8,  DType::kI8,   DType::kI16,
    DType::kI16,  DType::kI32, DType::kI32, DType::kI64,  DType::kI64, DType::kBool, DType::kU16};
constexpr DType kNumpyDtypes[] = {DType::kI8,  DType::kI16, DType::kI32,  DType::kI64, DType::kU8,
                                  DType::kU16, DType::kU32, DType::kU64,  DType::kF16, DType::kF32,
                                  DType::kF64, DType::kC64, DType::kC128, DType::kBool};
// Delivered as their bytes, whatever follows a colon: "image:png".
constexpr std::string_view kLitdataBytes[] = {"bytes", "str",   "text", "jpeg", "image",    "file", "video",
                                              "audio", "nifti", "mesh", "pdf",  "tifffile", "tiff"};

std::optional<DType> dtype_of(std::span<const DType> dtypes, int64_t number) {
  if (number < 0 || number >= static_cast<int64_t>(dtypes.size())) return std::nullopt;
  return dtypes[static_cast<size_t>(number)];
}

struct LitdataArray {
  DType dtype = DType::kU8;
  std::array<int64_t, kMaxRank> dims{};
  int64_t rank = 0, header_bytes = 0, data_bytes = 0;
  std::span<const int64_t> shape() const { return std::span(dims).first(static_cast<size_t>(rank)); }
};

// Nothing: no array of a known dtype that has so many bytes. `start`: as much of it as is there, up to its header.
std::optional<LitdataArray> parse_array(Bytes start, int64_t bytes, std::span<const DType> dtypes, bool big) {
  LitdataArray array;
  const auto word = [&](int64_t i) {
    const std::byte* from = start.data() + 4 * i;
    return int64_t{big ? load_big<uint32_t>(from) : load_little<uint32_t>(from)};
  };
  if (start.size() < 8) return std::nullopt;
  const std::optional<DType> dtype = dtype_of(dtypes, word(0));
  array.rank = word(1);
  if (!dtype || array.rank > kMaxRank) return std::nullopt;
  array.dtype = *dtype;
  array.header_bytes = 4 * (2 + array.rank);
  if (static_cast<int64_t>(start.size()) < array.header_bytes) return std::nullopt;
  std::optional<int64_t> size = dtype_bytes(*dtype);
  for (int64_t i = 0; i < array.rank && size; ++i) {
    array.dims[static_cast<size_t>(i)] = word(2 + i);
    size = checked_multiply(*size, word(2 + i));
  }
  if (!size || *size != bytes - array.header_bytes) return std::nullopt;
  array.data_bytes = *size;
  return array;
}

std::optional<LitdataArray> parse_numpy(Bytes start, int64_t bytes) {
  return parse_array(start, bytes, kNumpyDtypes, false);
}

std::optional<LitdataArray> parse_tensor(Bytes start, int64_t bytes) {
  const std::optional<LitdataArray> array = parse_array(start, bytes, kTensorDtypes, true);
  return array ? array : parse_array(start, bytes, kTensorDtypes, false);
}

Field array_field(const std::string& name, const LitdataArray& array) {
  const std::span<const int64_t> shape = array.shape();
  return {name, FieldKind::kDense, array.dtype, {shape.begin(), shape.end()}, "", -1};
}

template <auto kParse>
std::string take_array(const ShardColumn& column, const std::byte* sample, FileExtent& value) {
  const int64_t head = std::min(value.bytes, kMaxLitdataHeaderBytes);
  const std::optional<LitdataArray> array =
      kParse(Bytes(sample + value.offset, static_cast<size_t>(head)), value.bytes);
  if (!array) return concat("its header and its ", value.bytes, " bytes disagree");
  const std::span<const int64_t> shape = array->shape();
  if (array->dtype != column.field->dtype ||
      !std::equal(shape.begin(), shape.end(), column.field->shape.begin(), column.field->shape.end())) {
    return concat("an array ", field_type_text(array_field("", *array)), ", expected ",
                  field_type_text(*column.field), " as in the first sample");
  }
  value = {value.offset + array->header_bytes, array->data_bytes};
  return {};
}

std::string take_whole(const ShardColumn& column, const std::byte*, FileExtent& value) {
  const int64_t item = dtype_bytes(column.field->dtype);
  return value.bytes % item == 0 ? ""
                                 : concat(value.bytes, " bytes are not a multiple of the item size ", item);
}

// "no_header_tensor:17"
std::optional<DType> items_dtype(std::string_view format) {
  const size_t colon = format.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view kind = format.substr(0, colon);
  const std::optional<int64_t> number = parse_i64(format.substr(colon + 1));
  if (!number) return std::nullopt;
  if (kind == "no_header_tensor") return dtype_of(kTensorDtypes, *number);
  return kind == "no_header_numpy" ? dtype_of(kNumpyDtypes, *number) : std::nullopt;
}

void refuse_format(const std::string& path, const LitdataField& field, std::string_view kind,
                   ShardColumn& out) {
  const auto refuse = [&](Code code, std::string_view what) {
    out.why_not = error(code, path, ": field ", printable(field.name), ": data_format ",
                        printable(field.format), what, " (select other fields with the key `fields`)");
  };
  if (kind == "pickle" || kind == "graph")
    return refuse(Code::kUnsafeType, ": a pickle runs code when it is read, so it is never read");
  if (kind == "no_header_tensor" || kind == "no_header_numpy")
    return refuse(Code::kUnsupported, " has an unsupported dtype");
  if (kind == "pil" || kind == "jpeg_array")
    return refuse(Code::kUnsupported, " is not supported: write images as JPEG or as encoded bytes");
  if (kind == "json")
    return refuse(Code::kUnsupported, " is not supported: write lists of numbers as arrays, others as text");
  refuse(Code::kUnsupported, " is not supported");
}

}  // namespace

std::optional<DType> litdata_token_dtype(const std::string& format) { return items_dtype(format); }

LitdataColumn litdata_column(const std::string& path, const LitdataField& field) {
  LitdataColumn out;
  ShardColumn& stored = out.stored;
  stored.name = field.name;
  const std::string_view kind = std::string_view(field.format).substr(0, field.format.find(':'));
  const auto scalar = [&](DType dtype) {
    stored.field = Field{field.name, FieldKind::kDense, dtype, {}, "", -1};
    stored.expected_bytes = dtype_bytes(dtype);
  };
  if (kind == "int") {
    scalar(DType::kI64);
  } else if (kind == "float") {
    scalar(DType::kF64);
  } else if (kind == "bool") {
    scalar(DType::kBool);
  } else if (kind == "tensor" || kind == "numpy") {
    out.by_header = true;
    stored.take_items = kind == "numpy" ? take_array<parse_numpy> : take_array<parse_tensor>;
  } else if (const std::optional<DType> dtype = items_dtype(field.format)) {
    stored.field = Field{field.name, FieldKind::kRagged, *dtype, {-1}, "", -1};
    stored.take_items = take_whole;
  } else if (std::find(std::begin(kLitdataBytes), std::end(kLitdataBytes), kind) != std::end(kLitdataBytes)) {
    stored.field = Field{field.name, FieldKind::kRagged, DType::kU8, {-1}, "", -1};
  } else {
    refuse_format(path, field, kind, stored);
  }
  return out;
}

std::string take_litdata_header(Bytes start, int64_t bytes, ShardColumn& column) {
  const bool numpy = column.take_items == take_array<parse_numpy>;
  const std::optional<LitdataArray> array = numpy ? parse_numpy(start, bytes) : parse_tensor(start, bytes);
  if (!array) return concat("its header and its ", bytes, " bytes disagree");
  if (array->data_bytes == 0) return "an array without items";
  column.field = array_field(column.name, *array);
  return {};
}

}  // namespace dataline
