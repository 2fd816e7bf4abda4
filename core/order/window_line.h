// The line of an epoch with shuffle=window (window.h): its blocks in their new order, and where each begins; and the permutations of
// blocks and of the places in a window.
// Threads: a line is a view of memory that its caller guards.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/base/random.h"
#include "core/order/orders.h"

namespace dataline {

// Bijections are those of feistel.h; of at most kFewPlaces places, where some orders of a Feistel network are visibly likelier
// than others (tests/order/window_statistics_test.cpp), Fisher-Yates shuffles by the words of splitmix64 from the same key. Such windows
// have large records, beside which that costs nothing.
constexpr int64_t kFewPlaces = 64;

// Writes slots [first, first + count) of the permutation of n places with this key.
void permute_places(FeistelFunction permute, int64_t n, uint64_t key, int64_t first, int64_t count,
                    int64_t* out);
inline int64_t permute_place(int64_t n, uint64_t key, int64_t slot) {
  if (n > kFewPlaces)
    return static_cast<int64_t>(feistel_permute(make_feistel(n, key), static_cast<uint64_t>(slot)));
  int64_t place = 0;
  permute_places(nullptr, n, key, slot, 1, &place);
  return place;
}

inline uint64_t blocks_key(uint64_t seed, int64_t epoch, int64_t blocks) {
  return random_bits(random_key(seed, static_cast<uint64_t>(epoch), Domain::kBlocks),
                     static_cast<uint64_t>(blocks));
}

// A block as the line holds it.
struct LineBlock {
  uint32_t number = 0;
  int64_t places = 0;
};

// Memory: starts[blocks + 1], then numbers[blocks].
class WindowLine {
 public:
  static int64_t bytes_for(int64_t blocks) { return 8 * (blocks + 1) + 4 * blocks; }

  // `blocks_per_place`: on average, for guesses.
  WindowLine(std::byte* memory, int64_t blocks, double blocks_per_place)
      : starts_(reinterpret_cast<int64_t*>(memory)),
        numbers_(reinterpret_cast<uint32_t*>(starts_ + blocks + 1)),
        blocks_(blocks),
        blocks_per_place_(blocks_per_place) {}

  int64_t begin(int64_t i) const { return starts_[i]; }
  int64_t end(int64_t i) const { return starts_[i + 1]; }
  uint32_t number(int64_t i) const { return numbers_[i]; }
  // The block that holds the place.
  int64_t block_at(int64_t place) const { return block_near(place, guess(place)); }

  // Makes blocks [first, end) of the line; those before them are made. `take`: what the line holds of a block of the set.
  template <typename Take>
  void build(FeistelFunction permute, uint64_t key, int64_t first, int64_t end, const Take& take) {
    if (first == 0) starts_[0] = 0;
    for (int64_t i = first; i < end;) {
      std::array<int64_t, kBuildBlocks> numbers;
      const int64_t count = std::min(end - i, kBuildBlocks);
      permute_places(permute, blocks_, key, i, count, numbers.data());
      for (int64_t k = 0; k < count; ++k, ++i) {
        const LineBlock block = take(numbers[static_cast<size_t>(k)]);
        numbers_[i] = block.number;
        starts_[i + 1] = starts_[i] + block.places;
      }
    }
  }

  // In place: places in a window that begins at `window_begin` to samples. `sample_of(block, at)`: of the line's block.
  template <typename SampleOf>
  void to_samples(int64_t window_begin, int64_t count, int64_t* places, const SampleOf& sample_of) const {
    const int64_t first_block = block_at(window_begin);
    const int64_t last_block = blocks_ - 1;
    const int64_t base = window_begin - starts_[first_block];
    for (int64_t k = 0; k < count; ++k) {
      const int64_t place = window_begin + places[k];
      // Right at once where blocks are equal, but for places at their ends.
      int64_t i = std::min(first_block + guess(base + places[k]), last_block);
      if (place < starts_[i] || place >= starts_[i + 1]) [[unlikely]]
        i = block_near(place, i);
      places[k] = sample_of(i, place - starts_[i]);
    }
  }

 private:
  static constexpr int64_t kBuildBlocks = 256;  // permuted at once; 2 KiB of stack

  int64_t guess(int64_t places) const {
    return static_cast<int64_t>(static_cast<double>(places) * blocks_per_place_);
  }
  int64_t block_near(int64_t place, int64_t guess) const;

  int64_t* starts_;    // the first place of each block
  uint32_t* numbers_;  // of the block in the set
  int64_t blocks_;
  double blocks_per_place_;
};

}  // namespace dataline
