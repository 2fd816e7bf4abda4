// The format `arrow`: an IPC file a shard, which is read from its mapping without a copy where it is not compressed.
//
// Rows are gathered column by column in memory until a record batch is full, then written as one. Each buffer begins at a multiple
// of 64 bytes in the file.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "core/base/checked.h"
#include "core/write/arrow/arrow_messages.h"
#include "core/write/shard_encoder.h"

namespace dataline {
namespace {

constexpr int64_t kBatchBytes = int64_t{4} << 20;  // a record batch is written when it has so many
constexpr int64_t kAlign = 64;

int64_t padding(int64_t bytes) { return (kAlign - bytes % kAlign) % kAlign; }

// One column of the record batch that is being gathered.
class ColumnRows {
 public:
  explicit ColumnRows(const Field& field) : field_(field), ragged_(field.kind == FieldKind::kRagged) {
    if (ragged_) offsets_.push_back(0);
    for (size_t d = ragged_ ? 1 : 0; d < field.shape.size(); ++d) item_values_ *= field.shape[d];
  }

  void add(const HostRows& rows, size_t f) {
    const ArrayField& array = rows.arrays[f];
    const int64_t bytes = field_.item_bytes();
    if (ragged_) {
      const int64_t first = array.offsets[0], items = array.offsets[rows.count] - first;
      for (int64_t r = 1; r <= rows.count; ++r) offsets_.push_back(items_ + array.offsets[r] - first);
      items_ += items;
      values(array.data + first * bytes, items * bytes);
      return;
    }
    items_ += rows.count;
    const int64_t stride = rows.row_stride(f);
    if (stride == bytes) return values(array.data, rows.count * bytes);
    for (int64_t r = 0; r < rows.count; ++r) values(array.data + r * stride, bytes);
  }

  int64_t bytes() const { return static_cast<int64_t>(values_.size() + offsets_.size() * 8); }

  void clear() {
    values_.clear();
    offsets_.resize(ragged_ ? 1 : 0);
    items_ = bits_ = 0;
  }

  // Nodes and buffers in the order of the schema, depth first; validity bitmaps are left out, as nothing is null.
  void describe(int64_t rows, std::vector<ArrowNodeCounts>& nodes, std::vector<Bytes>& buffers) const {
    if (is_bytes(field_)) {
      nodes.push_back({rows});
      buffers.insert(buffers.end(), {Bytes(), offset_bytes(), Bytes(values_)});
      return;
    }
    size_t dim = 0;
    if (ragged_) {
      nodes.push_back({rows});
      buffers.insert(buffers.end(), {Bytes(), offset_bytes()});
      dim = 1;
    }
    int64_t length = items_;
    const bool tensor = is_arrow_tensor(field_);
    const size_t lists = tensor ? 1 : field_.shape.size() - dim;
    for (size_t l = 0; l < lists; ++l) {
      nodes.push_back({length});
      buffers.emplace_back();
      length *= tensor ? item_values_ : field_.shape[dim + l];
    }
    nodes.push_back({length});
    buffers.insert(buffers.end(), {Bytes(), Bytes(values_)});
  }

 private:
  Bytes offset_bytes() const { return std::as_bytes(std::span(offsets_)); }

  void values(const std::byte* from, int64_t bytes) {
    if (bytes == 0) return;
    if (field_.dtype != DType::kBool) {
      values_.insert(values_.end(), from, from + bytes);
      return;
    }
    values_.resize(static_cast<size_t>((bits_ + bytes + 7) / 8));
    for (int64_t i = 0; i < bytes; ++i, ++bits_) {
      if (from[i] != std::byte{0}) values_[static_cast<size_t>(bits_ / 8)] |= std::byte{1} << (bits_ % 8);
    }
  }

  const Field& field_;
  const bool ragged_;
  int64_t item_values_ = 1, items_ = 0, bits_ = 0;
  std::vector<std::byte> values_;
  std::vector<int64_t> offsets_;
};

class ArrowEncoder final : public ShardEncoder {
 public:
  ArrowEncoder(const std::vector<Field>& fields, WriteCodec codec)
      : fields_(fields), compressor_(codec, Compressor::Form::kFrame) {
    columns_.reserve(fields.size());
    for (const Field& field : fields) columns_.emplace_back(field);
  }

  Status begin(ShardFile& file) override {
    static constexpr std::array<char, 8> kMagic = {'A', 'R', 'R', 'O', 'W', '1', 0, 0};
    batches_.clear();
    clear();
    DL_RETURN_IF_ERROR(file.write(std::as_bytes(std::span(kMagic))));
    return message(arrow_schema_message(fields_), {}, 0, file);
  }

  Status check(const HostRows& rows) const override {
    static_cast<void>(rows);
    return Status::ok();
  }

  Status add(const HostRows& rows, int64_t, ShardFile& file) override {
    for (size_t f = 0; f < columns_.size(); ++f) columns_[f].add(rows, f);
    rows_ += rows.count;
    return pending_bytes() < kBatchBytes ? Status::ok() : write_batch(file);
  }

  int64_t pending_bytes() const override {
    int64_t bytes = 0;
    for (const ColumnRows& column : columns_) bytes += column.bytes();
    return bytes;
  }

  Status end(ShardFile& file) override {
    if (rows_ > 0) DL_RETURN_IF_ERROR(write_batch(file));
    static constexpr std::array<uint32_t, 2> kEnd = {0xFFFFFFFF, 0};
    DL_RETURN_IF_ERROR(file.write(std::as_bytes(std::span(kEnd))));
    const std::vector<std::byte> footer = arrow_footer(fields_, batches_);
    DL_RETURN_IF_ERROR(file.write(footer));
    const auto bytes = static_cast<int32_t>(footer.size());
    DL_RETURN_IF_ERROR(file.write(std::as_bytes(std::span(&bytes, 1))));
    return file.write(std::as_bytes(std::span("ARROW1", 6)));
  }

 private:
  void clear() {
    rows_ = 0;
    for (ColumnRows& column : columns_) column.clear();
  }

  Status write_batch(ShardFile& file) {
    std::vector<ArrowNodeCounts> nodes;
    std::vector<Bytes> buffers;
    for (const ColumnRows& column : columns_) column.describe(rows_, nodes, buffers);
    std::vector<std::vector<std::byte>> compressed;
    DL_RETURN_IF_ERROR(compress(buffers, compressed));
    std::vector<ArrowBufferPlace> places;
    int64_t body_bytes = 0;
    for (const Bytes& buffer : buffers) {
      const auto bytes = static_cast<int64_t>(buffer.size());
      places.push_back({body_bytes, bytes});
      body_bytes += bytes + padding(bytes);
    }
    const int64_t offset = file.bytes();
    const std::vector<std::byte> metadata =
        arrow_batch_message(rows_, nodes, places, body_bytes, compressor_.codec());
    DL_RETURN_IF_ERROR(message(metadata, buffers, body_bytes, file));
    batches_.push_back({offset, static_cast<int32_t>(file.bytes() - offset - body_bytes), body_bytes});
    clear();
    return Status::ok();
  }

  // Each buffer becomes its length and a frame; -1 and its bytes where a frame is no smaller; an empty one stays empty.
  Status compress(std::vector<Bytes>& buffers, std::vector<std::vector<std::byte>>& out) {
    if (compressor_.codec() == WriteCodec::kNone) return Status::ok();
    out.resize(buffers.size());
    for (size_t b = 0; b < buffers.size(); ++b) {
      if (buffers[b].empty()) continue;
      int64_t length = std::ssize(buffers[b]);
      out[b].resize(sizeof length);
      DL_RETURN_IF_ERROR(compressor_.compress(buffers[b], out[b]));
      if (out[b].size() >= sizeof length + buffers[b].size()) {
        length = -1;
        out[b].resize(sizeof length);
        out[b].insert(out[b].end(), buffers[b].begin(), buffers[b].end());
      }
      std::memcpy(out[b].data(), &length, sizeof length);
      buffers[b] = out[b];
    }
    return Status::ok();
  }

  // The frame, the metadata padded so that the body is aligned in the file, and the body.
  Status message(const std::vector<std::byte>& metadata, const std::vector<Bytes>& buffers,
                 int64_t body_bytes, ShardFile& file) {
    const auto bytes = static_cast<int64_t>(metadata.size());
    const int64_t pad = padding(file.bytes() + 8 + bytes);
    const std::array<uint32_t, 2> frame = {0xFFFFFFFF, static_cast<uint32_t>(bytes + pad)};
    DL_RETURN_IF_ERROR(file.write(std::as_bytes(std::span(frame))));
    DL_RETURN_IF_ERROR(file.write(metadata));
    DL_RETURN_IF_ERROR(file.zeros(pad));
    int64_t written = 0;
    for (const Bytes& buffer : buffers) {
      const auto here = static_cast<int64_t>(buffer.size());
      DL_RETURN_IF_ERROR(file.write(buffer));
      DL_RETURN_IF_ERROR(file.zeros(padding(here)));
      written += here + padding(here);
    }
    return written == body_bytes
               ? Status::ok()
               : error(Code::kInternal, "the body of an Arrow message differs from its stated size");
  }

  const std::vector<Field>& fields_;
  std::vector<ColumnRows> columns_;
  std::vector<ArrowFileBlock> batches_;
  Compressor compressor_;
  int64_t rows_ = 0;  // gathered
};

Result<std::unique_ptr<ShardEncoder>> make_arrow(const std::vector<Field>& fields, WriteCodec codec) {
  DL_RETURN_IF_ERROR(check_arrow_fields(fields));
  return std::unique_ptr<ShardEncoder>(std::make_unique<ArrowEncoder>(fields, codec));
}

}  // namespace

constinit const WriteFormat kWriteArrow{
    .name = "arrow",
    .suffix = ".arrow",
    .doc = "Arrow IPC files (Feather 2), for every Arrow library; uncompressed files are read without a copy",
    .make = make_arrow,
    .takes_codec = true};

}  // namespace dataline
