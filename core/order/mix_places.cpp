// SPDX-License-Identifier: Apache-2.0
#include "core/order/mix_places.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/base/checked.h"

namespace dataline {
namespace {

// Nothing where the repeat makes more than any epoch may have. Exact for parts of fewer than 2^53 samples.
std::optional<int64_t> count_places(int64_t n, double repeat) {
  const double whole = std::floor(repeat);
  if (whole >= static_cast<double>(kFeistelMaxSamples)) return std::nullopt;
  const double more = std::floor((repeat - whole) * static_cast<double>(n) + 0.5);
  const std::optional<int64_t> places = checked_multiply(n, static_cast<int64_t>(whole));
  return places ? checked_add(*places, std::min(static_cast<int64_t>(more), n)) : std::nullopt;
}

}  // namespace

Result<MixPlaces> MixPlaces::create(const MixOrderSpec& spec) {
  const size_t count = spec.repeats.size();
  DL_ASSIGN_OR_RETURN(Block block, spec.memory->allocate(static_cast<int64_t>(count * sizeof(int64_t)), 64,
                                                         MemoryKind::kTable, "the parts of a mix"));
  auto* ends = reinterpret_cast<int64_t*>(block.data());
  int64_t end = 0;
  for (size_t k = 0; k < count; ++k) {
    std::optional<int64_t> places = count_places(spec.starts[k + 1] - spec.starts[k], spec.repeats[k]);
    if (places) places = checked_add(end, *places);
    if (!places || *places > kFeistelMaxSamples) {
      return error(Code::kTooLarge, "the repeats of a mix make an epoch of more than 2^62 samples (part ", k,
                   ")");
    }
    ends[k] = end = *places;
  }
  if (end == 0) return error(Code::kEmpty, "the repeats of a mix are so small that an epoch has no samples");
  return MixPlaces(spec, std::move(block));
}

int64_t MixPlaces::part_of(int64_t place) const {
  return std::upper_bound(ends_.begin(), ends_.end(), place) - ends_.begin();
}

int64_t MixPlaces::drawn_offset(int64_t epoch, int64_t part) const {
  const uint64_t bits = random_bits(random_key(seed_, static_cast<uint64_t>(epoch), Domain::kMixRepeat),
                                    static_cast<uint64_t>(part));
  return static_cast<int64_t>(random_below(bits, static_cast<uint64_t>(parts_.count(part))));
}

// The index-th of the samples that come once more in this epoch.
int64_t MixPlaces::chosen(int64_t epoch, int64_t part, int64_t index) const {
  if (parts_.shuffled()) return parts_.permuted(part, epoch, index);
  // In file order, at equal distances from a drawn beginning.
  const auto n = static_cast<u128>(parts_.count(part));
  return static_cast<int64_t>((static_cast<u128>(index) * n + static_cast<u128>(drawn_offset(epoch, part))) /
                              static_cast<u128>(once_more(part)));
}

}  // namespace dataline
