// The formats `npy`, an array whose rows are the samples of one field, and `tokens`, the whole numbers of one field one after
// another: .npy files, which NumPy maps. How many there are is known at the end of a shard: the header is written then.
// Source: NumPy, "NEP 1, A Simple File Format for NumPy Arrays", version 1.0.
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "core/base/checked.h"
#include "core/base/dtype.h"
#include "core/write/shard_encoder.h"

namespace dataline {
namespace {

constexpr int64_t kNpyAlignment = 64;   // of the data, as NumPy has it
constexpr size_t kNpyPrefixBytes = 10;  // magic, version, u16 length

// The type as NumPy says it: "<f4".
std::string npy_descr(DType dtype) {
  const int64_t bytes = dtype_bytes(dtype);
  const char* const order = bytes == 1 ? "|" : std::endian::native == std::endian::little ? "<" : ">";
  const bool complex = dtype == DType::kC64 || dtype == DType::kC128;
  const bool real = dtype == DType::kF16 || dtype == DType::kF32 || dtype == DType::kF64;
  const bool is_unsigned =
      dtype == DType::kU8 || dtype == DType::kU16 || dtype == DType::kU32 || dtype == DType::kU64;
  const char* const kind = dtype == DType::kBool ? "b" : complex ? "c" : real ? "f" : is_unsigned ? "u" : "i";
  return order + (kind + std::to_string(bytes));
}

// Padded by spaces to `bytes`; 0: to the next multiple of 64.
std::string npy_header(DType dtype, int64_t count, const std::vector<int64_t>& row_shape, size_t bytes) {
  std::string text = "{'descr': '" + npy_descr(dtype) + "', 'fortran_order': False, 'shape': (" +
                     std::to_string(count) + ",";
  for (const int64_t dim : row_shape) text += " " + std::to_string(dim) + ",";
  if (!row_shape.empty()) text.pop_back();
  text += "), }";
  if (bytes == 0) {
    const auto needed = static_cast<int64_t>(kNpyPrefixBytes + text.size() + 1);
    bytes = static_cast<size_t>(round_up(needed, kNpyAlignment));
  }
  text.append(bytes - kNpyPrefixBytes - text.size() - 1, ' ');
  text += '\n';
  const auto length = static_cast<uint16_t>(text.size());
  std::string out = "\x93NUMPY";
  for (const int byte : {1, 0, length & 255, length >> 8}) out += static_cast<char>(byte);
  return out + text;
}

class NpyEncoder final : public ShardEncoder {
 public:
  // `flat`: items of the field instead of rows.
  NpyEncoder(const Field& field, bool flat)
      : field_(field),
        flat_(flat),
        header_bytes_(npy_header(field.dtype, INT64_MAX, row_shape(), 0).size()) {}

  Status begin(ShardFile& file) override {
    count_ = 0;
    return file.reserve_start(static_cast<int64_t>(header_bytes_));
  }

  Status check(const HostRows& rows) const override {
    static_cast<void>(rows);
    return Status::ok();
  }

  Status add(const HostRows& rows, int64_t, ShardFile& file) override {
    const ArrayField& array = rows.arrays[0];
    const int64_t bytes = field_.item_bytes();
    if (field_.kind == FieldKind::kRagged) {
      const int64_t first = array.offsets[0], items = array.offsets[rows.count] - first;
      count_ += items;
      return file.write({array.data + first * bytes, static_cast<size_t>(items * bytes)});
    }
    count_ += flat_ ? rows.count * (bytes / dtype_bytes(field_.dtype)) : rows.count;
    if (rows.row_stride(0) == bytes) return file.write({array.data, static_cast<size_t>(rows.count * bytes)});
    for (int64_t r = 0; r < rows.count; ++r) DL_RETURN_IF_ERROR(file.write(rows.cell(0, r)));
    return Status::ok();
  }

  Status end(ShardFile& file) override {
    const std::string header = npy_header(field_.dtype, count_, row_shape(), header_bytes_);
    return file.write_start(std::as_bytes(std::span(header)));
  }

 private:
  std::vector<int64_t> row_shape() const { return flat_ ? std::vector<int64_t>() : field_.shape; }

  const Field& field_;
  const bool flat_;
  const size_t header_bytes_;
  int64_t count_ = 0;  // in the shard
};

Status check_only_field(std::string_view format, const std::vector<Field>& fields) {
  if (fields.size() == 1) return Status::ok();
  const bool windows = fields.size() == 2 && fields[0].name == "x" && fields[1].name == "y";
  if (windows && dtype_is_integer(fields[0].dtype) && fields[0].shape.size() == 1) {
    return error(Code::kUnsupported, "a set of ", format,
                 " holds one field, and windows of tokens have two, x and y, with every token twice: to "
                 "write each token once, read documents (tokens:FILE?documents=eot:ID) or single numbers "
                 "(raw:FILE?dtype=u16, npy:FILE)");
  }
  return error(Code::kUnsupported, "field '", fields[1].name, "' is the second of ", fields.size(),
               ": a set of ", format, " holds one; write arrow, which holds all");
}

Result<std::unique_ptr<ShardEncoder>> make_npy(const std::vector<Field>& fields, WriteCodec) {
  DL_RETURN_IF_ERROR(check_only_field("npy", fields));
  const Field& field = fields[0];
  if (field.kind == FieldKind::kRagged) {
    return error(Code::kUnsupported, "field '", field.name, "' is ", field_type_text(field),
                 "; rows of an array have one shape: write arrow, or tokens (rows joined into one stream)");
  }
  if (field.dtype == DType::kBf16) {
    return error(Code::kUnsupported, "field '", field.name,
                 "' is bf16, which NumPy does not support: add the transform cast(f32)");
  }
  if (field.shape.size() >= static_cast<size_t>(kMaxRank))
    return error(Code::kUnsupported, "field '", field.name, "' has ", field.shape.size(),
                 " dims: an array of its rows has one more, and at most ", kMaxRank, " are read");
  return std::unique_ptr<ShardEncoder>(std::make_unique<NpyEncoder>(field, false));
}

Result<std::unique_ptr<ShardEncoder>> make_tokens(const std::vector<Field>& fields, WriteCodec) {
  DL_RETURN_IF_ERROR(check_only_field("tokens", fields));
  const Field& field = fields[0];
  if (!dtype_is_integer(field.dtype) || field.shape.size() > 1) {
    return error(Code::kUnsupported, "field '", field.name, "' is ", field_type_text(field),
                 "; tokens are integers in one stream: write arrow or npy");
  }
  return std::unique_ptr<ShardEncoder>(std::make_unique<NpyEncoder>(field, true));
}

}  // namespace

constinit const WriteFormat kWriteNpy{
    .name = "npy", .suffix = ".npy", .doc = "NumPy arrays of one field", .make = make_npy};
constinit const WriteFormat kWriteTokens{.name = "tokens",
                                         .suffix = ".npy",
                                         .doc = "the tokens of one field, joined, as NumPy arrays",
                                         .make = make_tokens};

}  // namespace dataline
