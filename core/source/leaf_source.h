// The base of sources that read records themselves. Its defaults hold for records in memory that nobody changes.
// Threads: as Source.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/source/source.h"

namespace dataline {

class LeafSource : public Source {
 public:
  const SourceFacts& facts() const override {
    static constexpr SourceFacts kNone;
    return kNone;
  }
  bool unchanged(const ReadSpan&) const override { return true; }
  void confirm(Run&, const ReadSpan&) const override {}
  int64_t scratch_bytes(int64_t) const override { return 0; }
  void advise(std::span<const int64_t>) const override {}
  void advise_block(int64_t first, int64_t count) const override { Source::advise_block(first, count); }
  bool cached(int64_t) const override { return true; }
  void append_blocks(int64_t block_bytes, BlockEnds& ends) const override {
    Source::append_blocks(block_bytes, ends);
  }
  int64_t stored_bytes() const override { return Source::stored_bytes(); }
  int64_t record_items(int64_t) const override { return -1; }
  Result<const std::byte*> locate_items(const Run& run, const ItemRange& range,
                                        std::byte* room) const override {
    return Source::locate_items(run, range, room);
  }
  void advise_items(const ItemRange&) const override {}
  std::optional<uint64_t> stamp(int64_t) const override { return std::nullopt; }
};

}  // namespace dataline
