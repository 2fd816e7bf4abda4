// Checks a MixOrderSpec and creates its order; the shares and the offsets of periods; how a part is gone through.
// SPDX-License-Identifier: Apache-2.0
#include "core/order/mix.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/base/checked.h"
#include "core/order/mix_parts.h"

namespace dataline {

void mix_shares(std::span<const double> weights, std::span<uint64_t> ends) {
  // Divided by the largest, so that no sum overflows.
  const double largest = *std::max_element(weights.begin(), weights.end());
  double total = 0;
  for (const double weight : weights) total += weight / largest;
  const auto whole = static_cast<double>(uint64_t{1} << kMixShareBits);
  const auto share_of = [&](double weight) {
    return static_cast<uint64_t>(weight / largest / total * whole);
  };
  uint64_t sum = 0;
  size_t most = 0;
  for (size_t k = 0; k < weights.size(); ++k) {
    sum += share_of(weights[k]);
    if (weights[k] > weights[most]) most = k;
  }
  uint64_t end = 0;
  for (size_t k = 0; k < weights.size(); ++k) {
    end += share_of(weights[k]);
    if (k == most) end += (uint64_t{1} << kMixShareBits) - sum;  // may wrap: rounding goes both ways
    ends[k] = end;
  }
}

uint64_t mix_carries(uint64_t period, uint64_t fraction, int32_t bits) {
  if (fraction == 0) return 0;
  const uint64_t cycle = uint64_t{1} << bits;
  const uint64_t least = cycle - fraction;       // the smallest offset that carries
  uint64_t count = (period >> bits) * fraction;  // of whole cycles, which have each offset once
  period &= cycle - 1;
  // Blocks [high bits of period, 0, free bits below i): their offsets are `low` and every `step` after it.
  uint64_t low = 0;
  while (period != 0) {
    const int32_t i = static_cast<int32_t>(std::bit_width(period)) - 1;
    const uint64_t step = uint64_t{1} << (bits - i), block = uint64_t{1} << i;
    const uint64_t before = least > low ? (least - low + step - 1) / step : 0;
    count += block - std::min(before, block);
    low |= step >> 1;
    period ^= block;
  }
  return count;
}

MixParts::MixParts(const MixOrderSpec& spec)
    : starts_(spec.starts),
      shuffled_(spec.shuffle != Shuffle::kNone),
      seed_(random_key(spec.seed, 0, Domain::kMixPart)) {}

void MixParts::begin(int64_t part, int64_t number, Pass& pass) const {
  const int64_t n = count(part);
  pass.number = number;
  pass.feistel = make_feistel(n, permutation_key(seed(part), number, n));
}

Result<std::vector<int64_t>> mix_first_blocks(const MixOrderSpec& spec) {
  std::vector<int64_t> firsts = {0};
  int64_t block = 0;
  for (size_t k = 1; k < spec.starts.size(); ++k) {
    const auto end = std::lower_bound(spec.block_ends.begin() + block, spec.block_ends.end(), spec.starts[k]);
    if (end == spec.block_ends.end() || *end != spec.starts[k])
      return error(Code::kInternal, "no block of a mix ends with part ", k - 1, ", at sample ",
                   spec.starts[k]);
    block = end - spec.block_ends.begin() + 1;
    firsts.push_back(block);
  }
  return firsts;
}

Result<std::unique_ptr<const MixOrder>> MixOrder::create(const MixOrderSpec& spec) {
  if (spec.repeats.empty()) return weighted_mix(spec);
  const bool windows = spec.shuffle == Shuffle::kWindow;
  if (windows && spec.homogeneous) {
    return error(Code::kUnsupported,
                 "option shuffle: window does not support a mix with repeats and homogeneous=batch; expected "
                 "full or none, or a mix with weights");
  }
  if (windows) return repeated_windows(spec);
  return spec.homogeneous ? stepped_mix(spec) : repeated_mix(spec);
}

}  // namespace dataline
