// A list of relative paths, front-coded: each is kept as the number of bytes it shares with the one before and the rest,
// every 16th whole. A million names of one class folder's kind (n01440764/n01440764_10026.JPEG) take about 8 bytes each.
//
// Threads: reading from several threads at once, when nobody adds.
// Memory: of the resource given; std::bad_alloc when it refuses.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/memory/open_directory.h"

namespace dataline {

using PathBuffer = std::array<char, kMaxPathBytes>;

class PathTable {
 public:
  static constexpr int64_t kBlock = 16;  // a look-up decodes so many at most

  explicit PathTable(std::pmr::memory_resource* memory) : bytes_(memory), blocks_(memory) {}

  // 1 to kMaxPathBytes - 1 bytes.
  void add(std::string_view path);
  void shrink();  // gives back what was reserved for more

  int64_t count() const { return count_; }
  // Path `index`, NUL-terminated in `out`; the view is of it. About 0.1 us.
  std::string_view get(int64_t index, PathBuffer& out) const;
  int64_t memory_bytes() const;

  // For a file that keeps the table. adopt() takes what encoded() and blocks() gave; false when that is not a table of
  // `count` paths, each relative, without "..", ".", empty components or NUL.
  std::span<const unsigned char> encoded() const { return bytes_; }
  std::span<const uint64_t> blocks() const { return blocks_; }
  bool adopt(int64_t count, std::span<const unsigned char> encoded, std::span<const std::byte> blocks);

 private:
  void add_length(size_t length);
  bool check() const;

  std::pmr::vector<unsigned char>
      bytes_;  // of each path: shared, rest (7 bits a byte, the last below 128), rest's bytes
  std::pmr::vector<uint64_t> blocks_;  // where every 16th begins
  int64_t count_ = 0;
  PathBuffer last_{};
  size_t last_bytes_ = 0;
};

// Whether a path is relative and stays below where it starts: no "..", no ".", no empty component, no NUL, not too long.
bool is_plain_relative(std::string_view path);

}  // namespace dataline
