// How often durations of which length came, in fixed memory: eight steps to each doubling, so that a quantile is at most one
// eighth too long.
// Threads: one writer; any number of readers at the same time, who may miss what is being added.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/base/atomic.h"

namespace dataline {

constexpr int kHistogramSteps = 8;       // to a doubling
constexpr int kHistogramDoublings = 40;  // from 8 ns: up to 2.4 hours; longer counts as that
constexpr size_t kHistogramBins = kHistogramSteps * (kHistogramDoublings + 1);

// The bin of a duration. Below 8 ns each has its own.
constexpr size_t histogram_bin(int64_t ns) {
  const auto value = static_cast<uint64_t>(std::max<int64_t>(ns, 0));
  if (value < kHistogramSteps) return static_cast<size_t>(value);
  const int shift = 60 - std::countl_zero(value);  // leaves 8 to 15
  const size_t bin = static_cast<size_t>(shift + 1) * kHistogramSteps + (value >> shift) - kHistogramSteps;
  return std::min(bin, kHistogramBins - 1);
}
// The longest duration of a bin.
constexpr int64_t histogram_limit(size_t bin) {
  if (bin < kHistogramSteps) return static_cast<int64_t>(bin);
  const auto shift = static_cast<int>(bin / kHistogramSteps) - 1;
  return ((static_cast<int64_t>(bin % kHistogramSteps) + kHistogramSteps + 1) << shift) - 1;
}

// Several histograms added up; of one reader.
struct HistogramSum {
  std::array<int64_t, kHistogramBins> bins{};
  int64_t count = 0, sum_ns = 0, max_ns = 0;

  // The shortest duration that `share` of all do not exceed, rounded up to its bin's limit; 0 of none.
  int64_t quantile(double share) const {
    if (count == 0) return 0;
    const auto wanted =
        std::clamp<int64_t>(int64_t{std::llround(share * static_cast<double>(count))}, 1, count);
    int64_t seen = 0;
    for (size_t bin = 0; bin < kHistogramBins; ++bin) {
      seen += bins[bin];
      if (seen >= wanted) return std::min(histogram_limit(bin), max_ns);
    }
    return max_ns;
  }
};

class Histogram {
 public:
  // `weight`: for how many like it this one stands.
  void add(int64_t ns, int64_t weight = 1) {
    bump(bins_[histogram_bin(ns)], weight);
    bump(sum_ns_, ns * weight);
    if (ns > max_ns_.load(std::memory_order_relaxed)) max_ns_.store(ns, std::memory_order_relaxed);
  }
  int64_t sum_ns() const { return sum_ns_.load(std::memory_order_relaxed); }

  void add_to(HistogramSum& total) const {
    for (size_t bin = 0; bin < kHistogramBins; ++bin) {
      const int64_t here = bins_[bin].load(std::memory_order_relaxed);
      total.bins[bin] += here;
      total.count += here;
    }
    total.sum_ns += sum_ns();
    total.max_ns = std::max(total.max_ns, max_ns_.load(std::memory_order_relaxed));
  }

 private:
  // One writer: no read-modify-write is needed.
  static void bump(Atomic<int64_t>& word, int64_t by) {
    word.store(word.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }
  std::array<Atomic<int64_t>, kHistogramBins> bins_{};
  Atomic<int64_t> sum_ns_{0}, max_ns_{0};
};

}  // namespace dataline
