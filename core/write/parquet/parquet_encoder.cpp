// The format `parquet`: a file a shard, PLAIN and, if no codec is asked for, uncompressed, so that it is decoded as fast as the format
// allows.
//
// Rows are gathered column by column, as pages, until a row group is full, then written one column after another. Nothing but the footer
// says where pages lie: a file without one (a writer that was killed) is no shard yet, as in every other format.
// Source: apache/parquet-format, README.md.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "core/write/parquet/column_chunk.h"
#include "core/write/parquet/parquet_footer.h"
#include "core/write/shard_encoder.h"

namespace dataline {
namespace {

// A row group is written when it has so many bytes. It is what readers decode and keep as a whole, and the block of shuffle=window: as
// large as the default shuffle_block. So a cache of 256 MiB (cache_bytes) has room for 32 and one sample read by itself decodes little,
// while the footer stays a few hundred bytes a group, and a group has enough pages for readers that decode groups in parallel.
constexpr int64_t kGroupBytes = int64_t{8} << 20;

constexpr std::array<char, 4> kParquetMagic = {'P', 'A', 'R', '1'};

class ParquetEncoder final : public ShardEncoder {
 public:
  ParquetEncoder(const std::vector<Field>& fields, WriteCodec codec)
      : fields_(fields), compressor_(codec, Compressor::Form::kBlock) {
    columns_.reserve(fields.size());
    for (const Field& field : fields) columns_.emplace_back(field, compressor_);
  }

  Status begin(ShardFile& file) override {
    groups_.clear();
    rows_ = group_bytes_ = 0;
    for (ColumnChunk& column : columns_) column.clear();
    return file.write(std::as_bytes(std::span(kParquetMagic)));
  }

  Status check(const HostRows& rows) const override {
    for (size_t f = 0; f < fields_.size(); ++f) {
      if (fields_[f].kind != FieldKind::kRagged) continue;
      for (int64_t r = 0; r < rows.count; ++r) {
        const auto bytes = static_cast<int64_t>(rows.cell(f, r).size());
        DL_RETURN_IF_ERROR(check_parquet_row(fields_[f], bytes, r));
      }
    }
    return Status::ok();
  }

  // Where row groups end depends on the rows alone, not on how many are appended at once.
  Status add(const HostRows& rows, int64_t, ShardFile& file) override {
    for (int64_t at = 0; at < rows.count;) {
      int64_t end = at;
      while (end < rows.count && group_bytes_ < kGroupBytes) group_bytes_ += row_bytes(rows, end++);
      for (size_t f = 0; f < columns_.size(); ++f) DL_RETURN_IF_ERROR(columns_[f].add(rows, f, at, end));
      rows_ += end - at;
      at = end;
      if (group_bytes_ >= kGroupBytes) DL_RETURN_IF_ERROR(write_group(file));
    }
    return Status::ok();
  }

  int64_t pending_bytes() const override {
    int64_t bytes = 0;
    for (const ColumnChunk& column : columns_) bytes += column.bytes();
    return bytes;
  }

  Status end(ShardFile& file) override {
    if (rows_ > 0) DL_RETURN_IF_ERROR(write_group(file));
    const ThriftWriter footer = parquet_footer(fields_, groups_, compressor_.codec());
    if (footer.bytes().size() > INT32_MAX)
      return error(Code::kTooLarge, "a footer of ", footer.bytes().size(), " bytes for ", groups_.size(),
                   " row groups, but Parquet holds at most ", INT32_MAX, ": lower shard_bytes");
    DL_RETURN_IF_ERROR(file.write(footer.bytes()));
    const auto bytes = static_cast<uint32_t>(footer.bytes().size());
    DL_RETURN_IF_ERROR(file.write(std::as_bytes(std::span(&bytes, 1))));
    return file.write(std::as_bytes(std::span(kParquetMagic)));
  }

 private:
  int64_t row_bytes(const HostRows& rows, int64_t row) const {
    int64_t bytes = 0;
    for (size_t f = 0; f < fields_.size(); ++f)
      bytes += parquet_row_bytes(fields_[f], static_cast<int64_t>(rows.cell(f, row).size()));
    return bytes;
  }

  Status write_group(ShardFile& file) {
    ParquetGroup group{rows_, std::vector<ParquetChunk>(columns_.size())};
    for (size_t f = 0; f < columns_.size(); ++f) DL_RETURN_IF_ERROR(columns_[f].write(file, group.chunks[f]));
    groups_.push_back(std::move(group));
    rows_ = group_bytes_ = 0;
    return Status::ok();
  }

  const std::vector<Field>& fields_;
  Compressor compressor_;
  std::vector<ColumnChunk> columns_;
  std::vector<ParquetGroup> groups_;    // of the shard
  int64_t rows_ = 0, group_bytes_ = 0;  // gathered
};

Result<std::unique_ptr<ShardEncoder>> make_parquet(const std::vector<Field>& fields, WriteCodec codec) {
  DL_RETURN_IF_ERROR(check_parquet_fields(fields));
  return std::unique_ptr<ShardEncoder>(std::make_unique<ParquetEncoder>(fields, codec));
}

}  // namespace

constinit const WriteFormat kWriteParquet{
    .name = "parquet",
    .suffix = ".parquet",
    .doc = "Parquet files, for other programs and for sets that are read by column",
    .make = make_parquet,
    .takes_codec = true};

}  // namespace dataline
