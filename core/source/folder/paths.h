// The paths of a folder's files: Python's order of names, and a compact table.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string_view>

#include "core/memory/open_directory.h"

namespace dataline {

// a < b as Python's sorted() orders file names, so that samples are in the same order as in torchvision: by code points,
// names decoded as os.fsdecode() does (UTF-8; an invalid byte becomes U+DC80 .. U+DCFF, PEP 383). This differs from the
// order of bytes only among names with bytes of 0x80 and above.
bool python_less(std::string_view a, std::string_view b);

using PathBuffer = std::array<char, kMaxPathBytes>;

// A list of relative paths, front-coded: each is stored as the number of bytes it shares with the previous one plus the
// rest; every 16th is stored whole. A million paths like n01440764/n01440764_10026.JPEG take about 8 bytes each.
//
// Threads: may be read from several threads at once while nobody adds.
// Memory: from the given resource; std::bad_alloc when it refuses.
class PathTable {
 public:
  static constexpr int64_t kBlock = 16;  // paths that get() decodes at most

  explicit PathTable(std::pmr::memory_resource* memory) : bytes_(memory), blocks_(memory) {}

  // 1 to kMaxPathBytes - 1 bytes.
  void add(std::string_view path);
  void shrink();  // releases unused capacity

  int64_t count() const { return count_; }
  // Path `index`: a view of `out`, where it is NUL-terminated. About 0.1 us.
  std::string_view get(int64_t index, PathBuffer& out) const;

  // For saving the table. adopt() takes what encoded() and blocks() returned; false if that is not a table of `count`
  // paths for which is_plain_relative() holds.
  std::span<const unsigned char> encoded() const { return bytes_; }
  std::span<const uint64_t> blocks() const { return blocks_; }
  bool adopt(int64_t count, std::span<const unsigned char> encoded, std::span<const std::byte> blocks);

 private:
  void add_length(size_t length);
  bool check() const;

  // Per path: the lengths of the shared part and of the rest (7 bits per byte, the last byte below 128), then the rest.
  std::pmr::vector<unsigned char> bytes_;
  std::pmr::vector<uint64_t> blocks_;  // where every 16th path begins
  int64_t count_ = 0;
  PathBuffer last_{};
  size_t last_bytes_ = 0;
};

// Whether a path is relative and stays below its starting point: no "..", ".", empty component or NUL, and not too long.
bool is_plain_relative(std::string_view path);

}  // namespace dataline
