// The base of wrappers: sources with the records of another source, under the same indices, of which they change a part.
// Threads: as Source.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "core/source/source.h"

namespace dataline {

class ForwardSource : public Source {
 public:
  int64_t count() const override { return source_->count(); }
  const Schema& schema() const override { return source_->schema(); }
  SourceInfo info() const override { return source_->info(); }
  const SourceFacts& facts() const override { return source_->facts(); }
  void locate(Run& run) const override { source_->locate(run); }
  bool unchanged(const ReadSpan& span) const override { return source_->unchanged(span); }
  void confirm(Run& run, const ReadSpan& span) const override { source_->confirm(run, span); }
  int64_t scratch_bytes(int64_t max_bytes_per_sample) const override {
    return source_->scratch_bytes(max_bytes_per_sample);
  }
  void advise(std::span<const int64_t> indices) const override { source_->advise(indices); }
  void advise_block(int64_t first, int64_t count) const override { source_->advise_block(first, count); }
  bool cached(int64_t index) const override { return source_->cached(index); }
  void append_blocks(int64_t block_bytes, BlockEnds& ends) const override {
    source_->append_blocks(block_bytes, ends);
  }
  int64_t stored_bytes() const override { return source_->stored_bytes(); }
  int64_t record_items(int64_t index) const override { return source_->record_items(index); }
  Result<const std::byte*> locate_items(const Run& run, const ItemRange& range,
                                        std::byte* room) const override {
    return source_->locate_items(run, range, room);
  }
  void advise_items(const ItemRange& range) const override { source_->advise_items(range); }
  Place place_of(int64_t index, size_t column) const override { return source_->place_of(index, column); }
  void identify(IdentityBuilder& identity) const override { source_->identify(identity); }
  std::optional<uint64_t> stamp(int64_t index) const override { return source_->stamp(index); }

 protected:
  explicit ForwardSource(SourceRef source) : source_(std::move(source)) {}

  const SourceRef source_;
};

}  // namespace dataline
