// The rows of an open Arrow file. arrow.h says what they are; here is which parts of the file they lie in.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/source/arrow/arrow_rows.h"
#include "core/source/file_source.h"

namespace dataline {

class ArrowSource final : public FileSource {
 public:
  ArrowSource(MappedFile file, Schema schema, SourceInfo info, ArrowRows rows);

  int64_t count() const override { return rows_.count(); }
  void locate(Run& run) const override;
  int64_t scratch_bytes(int64_t max_bytes_per_sample) const override {
    return rows_.scratch_bytes(max_bytes_per_sample);
  }
  void append_blocks(int64_t block_bytes, BlockEnds& ends) const override {
    rows_.append_blocks(block_bytes, ends);
  }
  int64_t stored_bytes() const override { return rows_.stored_bytes(); }
  int64_t record_items(int64_t index) const override;
  Result<const std::byte*> locate_items(const Run& run, const ItemRange& range,
                                        std::byte* room) const override;
  void advise_items(const ItemRange& range) const override;
  void advise(std::span<const int64_t> indices) const override;
  void advise_block(int64_t first, int64_t count) const override;
  bool cached(int64_t index) const override;
  Place place_of(int64_t index, size_t column) const override;
  void identify(IdentityBuilder& identity) const override;

 private:
  FileExtent extent_of(int64_t index) const override;
  void append_extents(int64_t index, std::vector<FileExtent>& out) const override;
  // The same; with `whole`, the bytes of dictionaries too, and offsets are read though they may not be in memory.
  void append_extents(int64_t first, int64_t count, bool whole, std::vector<FileExtent>& out) const;
  void append_column(const int64_t* slots, const ArrowValues& values, int64_t rows, int64_t row,
                     int64_t count, bool whole, std::vector<FileExtent>& out) const;
  void append_views(const int64_t* slots, const ArrowValues& values, int64_t row, int64_t count, bool whole,
                    std::vector<FileExtent>& out) const;
  void append_decoded(const ArrowColumn& column, const ArrowStretch& stretch,
                      std::vector<FileExtent>& out) const;

  const ArrowRows rows_;
  const ArrowRows::Recheck recheck_;
};

}  // namespace dataline
