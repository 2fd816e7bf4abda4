// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <type_traits>

#include "core/transform/resample/kernels.h"

namespace dataline {
namespace {

int32_t rounded(int32_t sum, int32_t shift) { return (sum + (1 << (shift - 1))) >> shift; }

// Each arithmetic of kernels.h: how weight and value form a term, and how a sum is rounded.
struct Positive {
  static int32_t first(int32_t pixel, int16_t weight) {
    return (pixel * 256 * static_cast<uint16_t>(weight)) >> 16;
  }
  static int32_t second(int32_t middle, int16_t weight) {
    return rounded(middle * std::min<int32_t>(static_cast<uint16_t>(weight), 32767), 15);
  }
  static int32_t middle(const Passes&, int32_t, int32_t sum, int64_t taps) {
    return sum + static_cast<int32_t>(taps >> 1);
  }
  static int32_t result(const Passes&, int32_t, int32_t sum) { return rounded(sum, 7); }
  static constexpr int32_t kWiden = 1;
};

struct Signed {
  static int32_t first(int32_t widened, int16_t weight) { return rounded(widened * weight, 15); }
  static int32_t second(int32_t middle, int16_t weight) { return rounded(middle * weight, 15); }
  static int32_t middle(const Passes&, int32_t, int32_t sum, int64_t) {
    return 2 * std::clamp(sum, 0, 255 << 6);
  }
  static int32_t result(const Passes&, int32_t, int32_t sum) { return rounded(sum, 6); }
  static constexpr int32_t kWiden = 128;
};

struct Exact {
  static int32_t first(int32_t pixel, int16_t weight) { return pixel * weight; }
  static int32_t second(int32_t middle, int16_t weight) { return middle * weight; }
  static int32_t middle(const Passes& passes, int32_t shift, int32_t sum, int64_t) {
    const int32_t value = rounded(sum, shift - passes.middle_bits);
    return passes.clips ? std::clamp(value, 0, 255 << passes.middle_bits) : value;
  }
  static int32_t result(const Passes& passes, int32_t shift, int32_t sum) {
    return rounded(sum, shift + passes.middle_bits);
  }
  static constexpr int32_t kWiden = 1;
};

std::byte byte_of(int32_t value) { return static_cast<std::byte>(std::clamp(value, 0, 255)); }

constexpr int64_t kChunk = 256;  // elements whose sums stay in the L1 cache

// The first pass makes words of bytes, the second bytes of words.
template <typename Rule, bool kFirst>
void rows(const RowsJob& job) {
  using In = std::conditional_t<kFirst, uint8_t, int16_t>;
  [[maybe_unused]] auto* words = reinterpret_cast<int16_t*>(job.out);
  for (int64_t at = 0; at < job.elements; at += kChunk) {
    const int64_t count = std::min(kChunk, job.elements - at);
    int32_t sums[kChunk] = {};
    for (int64_t line = 0; line < job.count; ++line) {
      const auto* from = reinterpret_cast<const In*>(job.lines[line]) + at;
      const int16_t weight = job.weights[line];
      for (int64_t i = 0; i < count; ++i)
        sums[i] += kFirst ? Rule::first(from[i], weight) : Rule::second(from[i], weight);
    }
    for (int64_t i = 0; i < count; ++i) {
      if constexpr (kFirst)
        words[at + i] = static_cast<int16_t>(Rule::middle(job.passes, job.shift, sums[i], job.count));
      else
        job.out[at + i] = byte_of(Rule::result(job.passes, job.shift, sums[i]));
    }
  }
}

template <typename Rule>
void widen(const std::byte* from, int64_t elements, int16_t* out) {
  for (int64_t i = 0; i < elements; ++i)
    out[i] = static_cast<int16_t>(std::to_integer<int32_t>(from[i]) * Rule::kWiden);
}

template <typename Rule, bool kFirst>
void columns(const ColumnsJob& job) {
  const int16_t* line = job.lines[0];
  [[maybe_unused]] auto* words = reinterpret_cast<int16_t*>(job.out[0]);
  for (int64_t x = 0; x < job.outputs; ++x) {
    const int16_t* weights = job.taps.weights + x * job.taps.stride;
    const int16_t* from = line + job.taps.first[x] * job.channels;
    const int32_t taps = job.taps.counts[x];
    for (int64_t c = 0; c < job.channels; ++c) {
      int32_t sum = 0;
      for (int32_t i = 0; i < taps; ++i) {
        const int32_t value = from[i * job.channels + c];
        sum += kFirst ? Rule::first(value, weights[i]) : Rule::second(value, weights[i]);
      }
      if constexpr (kFirst)
        words[x * job.channels + c] =
            static_cast<int16_t>(Rule::middle(job.passes, job.taps.shift, sum, taps));
      else
        job.out[0][x * job.channels + c] = byte_of(Rule::result(job.passes, job.taps.shift, sum));
    }
  }
}

template <typename Rule>
ResampleKernels kernels() {
  return {1, rows<Rule, true>, rows<Rule, false>, widen<Rule>, columns<Rule, false>, columns<Rule, true>};
}

}  // namespace

ResampleKernels plain_resample_kernels(Arithmetic arithmetic) {
  if (arithmetic == Arithmetic::kPositive) return kernels<Positive>();
  if (arithmetic == Arithmetic::kSigned) return kernels<Signed>();
  return kernels<Exact>();
}

}  // namespace dataline
