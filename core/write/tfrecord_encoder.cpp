// The format `tfrecord`: a tf.train.Example a row, in TFRecord files.
//
// Bytes are a bytes_list of one value, and so are dense u8 tensors; whole numbers and bool an int64_list, f32 a float_list.
// Source: tensorflow/core/lib/io/record_writer.cc, tensorflow/core/example/{example,feature}.proto; protobuf.dev, "Encoding".
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/simd.h"
#include "core/source/tfrecord/crc32c.h"
#include "core/write/shard_encoder.h"
#include "core/write/whole_numbers.h"

namespace dataline {
namespace {

constexpr int64_t kMaxMessageBytes = INT32_MAX;  // protobuf's own limit

enum class ListKind { kBytes = 1, kFloats = 2, kInts = 3 };  // as in Feature

ListKind list_of(const Field& field) {
  if (field.dtype == DType::kF32) return ListKind::kFloats;
  return field.dtype == DType::kU8 && !field.shape.empty() ? ListKind::kBytes : ListKind::kInts;
}

size_t varint_bytes(uint64_t value) {
  size_t bytes = 1;
  for (; value >= 128; value >>= 7) ++bytes;
  return bytes;
}

class Message {
 public:
  void varint(uint64_t value) {
    for (; value >= 128; value >>= 7) bytes_.push_back(static_cast<std::byte>(value | 128));
    bytes_.push_back(static_cast<std::byte>(value));
  }
  // The tag of a field of bytes, and how many come.
  void field(uint32_t number, uint64_t bytes) {
    varint(number << 3 | 2);
    varint(bytes);
  }
  void append(Bytes bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void clear() { bytes_.clear(); }
  Bytes bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

class TfRecordEncoder final : public ShardEncoder {
 public:
  TfRecordEncoder() : checksum_(best_simd_target()) {}

  Status begin(ShardFile&) override { return Status::ok(); }

  Status check(const HostRows& rows) const override {
    for (int64_t r = 0; r < rows.count; ++r) {
      int64_t bytes = 0;
      for (size_t f = 0; f < rows.arrays.size(); ++f) {
        const Field& field = rows.field(f);
        const Bytes cell = rows.cell(f, r);
        if (field.dtype == DType::kU64) DL_RETURN_IF_ERROR(check_unsigned(field, cell, r));
        // A varint takes 10 bytes at most; f32 and bytes as they are.
        const int64_t each = list_of(field) == ListKind::kInts ? 10 : dtype_bytes(field.dtype);
        if (cell.size() >= kMaxMessageBytes) return too_large(r);
        bytes += static_cast<int64_t>(cell.size()) / dtype_bytes(field.dtype) * each +
                 static_cast<int64_t>(field.name.size()) + 64;
        if (bytes > kMaxMessageBytes) return too_large(r);
      }
    }
    return Status::ok();
  }

  Status add(const HostRows& rows, int64_t, ShardFile& file) override {
    for (int64_t r = 0; r < rows.count; ++r) {
      features_.clear();
      for (size_t f = 0; f < rows.arrays.size(); ++f) entry(rows.field(f), rows.cell(f, r));
      example_.clear();
      example_.field(1, features_.bytes().size());
      example_.append(features_.bytes());
      DL_RETURN_IF_ERROR(record(example_.bytes(), file));
    }
    return Status::ok();
  }

  Status end(ShardFile&) override { return Status::ok(); }

 private:
  static Status too_large(int64_t row) {
    return error(Code::kTooLarge, "row ", row, ": expected an Example of at most ", kMaxMessageBytes,
                 " bytes");
  }

  static Status check_unsigned(const Field& field, Bytes cell, int64_t row) {
    for (size_t at = 0; at + 8 <= cell.size(); at += 8) {
      const auto value = load_native<uint64_t>(cell.data() + at);
      if (value <= INT64_MAX) continue;
      return error(Code::kOutOfRange, "row ", row, ": field '", field.name, "' has ", value,
                   ", but an int64_list holds at most ", INT64_MAX);
    }
    return Status::ok();
  }

  // Features.feature: key = 1, value = 2 (a Feature with one list, whose values are its field 1, packed).
  void entry(const Field& field, Bytes cell) {
    const ListKind kind = list_of(field);
    values_.clear();
    if (kind == ListKind::kInts) {
      const int64_t each = dtype_bytes(field.dtype);
      for (size_t at = 0; at < cell.size(); at += static_cast<size_t>(each))
        values_.varint(whole_number_at(field.dtype, cell.data() + at));
    } else {
      values_.append(cell);
    }
    const size_t values = values_.bytes().size();
    // An empty list of numbers has no field at all, an empty string is one value.
    const size_t list = values == 0 && kind != ListKind::kBytes ? 0 : 1 + varint_bytes(values) + values;
    const size_t feature = 1 + varint_bytes(list) + list;
    const size_t name = field.name.size();
    features_.field(1, 1 + varint_bytes(name) + name + 1 + varint_bytes(feature) + feature);
    features_.field(1, name);
    features_.append(std::as_bytes(std::span(field.name)));
    features_.field(2, feature);
    features_.field(static_cast<uint32_t>(kind), list);
    if (list == 0) return;
    features_.field(1, values);
    features_.append(values_.bytes());
  }

  Status record(Bytes data, ShardFile& file) {
    std::array<std::byte, 12> head;
    const uint64_t bytes = data.size();
    for (size_t i = 0; i < 8; ++i) head[i] = static_cast<std::byte>(bytes >> (8 * i));
    store_crc(Bytes(head).first(8), head.data() + 8);
    DL_RETURN_IF_ERROR(file.write(head));
    DL_RETURN_IF_ERROR(file.write(data));
    std::array<std::byte, 4> tail;
    store_crc(data, tail.data());
    return file.write(tail);
  }

  void store_crc(Bytes bytes, std::byte* out) const {
    const uint32_t crc = mask_crc32c(checksum_.of(bytes));
    for (size_t i = 0; i < 4; ++i) out[i] = static_cast<std::byte>(crc >> (8 * i));
  }

  const Crc32c checksum_;
  Message example_, features_, values_;
};

Result<std::unique_ptr<ShardEncoder>> make_tfrecord(const std::vector<Field>& fields, WriteCodec) {
  for (const Field& field : fields) {
    const bool other_float = field.dtype == DType::kF16 || field.dtype == DType::kBf16 ||
                             field.dtype == DType::kF64 || field.dtype == DType::kC64 ||
                             field.dtype == DType::kC128;
    if (other_float) {
      return error(
          Code::kUnsupported, "field '", field.name, "' is ", dtype_name(field.dtype),
          "; a tf.train.Example has only 32-bit floats: add the transform cast(f32), or write arrow");
    }
    if (field.kind == FieldKind::kRagged && field.shape.size() > 1) {
      return error(Code::kUnsupported, "field '", field.name, "' is ", field_type_text(field),
                   "; a tf.train.Example has only flat lists: write arrow");
    }
    if (field.name.empty()) return error(Code::kUnsupported, "a feature needs a name");
  }
  return std::unique_ptr<ShardEncoder>(std::make_unique<TfRecordEncoder>());
}

}  // namespace

constinit const WriteFormat kWriteTfRecord{.name = "tfrecord",
                                           .suffix = ".tfrecord",
                                           .doc = "tf.train.Example records in TFRecord files",
                                           .make = make_tfrecord};

}  // namespace dataline
