// SPDX-License-Identifier: Apache-2.0
#include "core/order/window_line.h"

#include <numeric>
#include <utility>

namespace dataline {
namespace {

// Slots [first, first + count) of a shuffle of n <= kFewPlaces places.
void shuffle_few(int64_t n, uint64_t key, int64_t first, int64_t count, int64_t* out) {
  std::array<uint8_t, kFewPlaces> places;
  std::iota(places.begin(), places.end(), uint8_t{0});
  for (int64_t i = 0; i < first + count; ++i) {  // step i fixes slot i
    const uint64_t bits = mix64(key += kGolden64);
    const uint64_t other = static_cast<uint64_t>(i) + random_below(bits, static_cast<uint64_t>(n - i));
    std::swap(places[static_cast<size_t>(i)], places[other]);
    if (i >= first) out[i - first] = places[static_cast<size_t>(i)];
  }
}

}  // namespace

void permute_places(FeistelFunction permute, int64_t n, uint64_t key, int64_t first, int64_t count,
                    int64_t* out) {
  constexpr int64_t kFewSlots = 2;  // filling the vectors takes longer than two walks
  if (n <= kFewPlaces) return shuffle_few(n, key, first, count, out);
  const Feistel feistel = make_feistel(n, key);
  const auto slot = static_cast<uint64_t>(first);
  if (count > kFewSlots) return permute(feistel, slot, count, out);
  for (int64_t i = 0; i < count; ++i)
    out[i] = static_cast<int64_t>(feistel_permute(feistel, slot + static_cast<uint64_t>(i)));
}

// A search in steps that double, from a guess that is rarely far off.
int64_t WindowLine::block_near(int64_t place, int64_t guess) const {
  const int64_t* starts = starts_;
  int64_t low = std::clamp<int64_t>(guess, 0, blocks_ - 1), high = low + 1;
  if (starts[low] <= place && place < starts[high]) [[likely]]
    return low;
  for (int64_t step = 1; starts[low] > place; step *= 2) {
    high = low;
    low = std::max<int64_t>(low - step, 0);
  }
  for (int64_t step = 1; starts[high] <= place; step *= 2) {
    low = high;
    high = std::min(high + step, blocks_);
  }
  return std::upper_bound(starts + low + 1, starts + high, place) - starts - 1;
}

}  // namespace dataline
