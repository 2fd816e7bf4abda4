// The source pixels that contribute to an output pixel along one axis, and their weights in fixed point: Pillow's
// precompute_coeffs (libImaging/Resample.c), and PyTorch's upsample_bilinear2d / upsample_bicubic2d (align_corners=false)
// without antialias.
//
// Weights are computed from integers and from f64 products that no compiler may fuse, so they are the same everywhere. The
// weights of one output pixel sum to exactly 1: a flat image stays flat. They are symmetric: output x of a flipped image has
// the taps of output - 1 - x in reverse order (nearest and area break ties to one side, as Pillow does).
//
// Threads: pure functions. A TapsCache is externally synchronized; each worker has its own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/transform/resample/resampler.h"

namespace dataline {

// One axis: `in` pixels scaled to `out`.
struct Axis {
  int64_t in = 1;
  int64_t out = 1;
  Filter filter = Filter::kBilinear;
  bool antialias = true;

  bool operator==(const Axis&) const = default;
};

struct TapRange {
  int64_t first = 0;
  int64_t count = 1;
};

// The taps of output pixel x, all inside [0, in).
TapRange tap_range(const Axis& axis, int64_t x);

// The maximum number of taps of an output pixel of the axis.
int64_t max_taps(const Axis& axis);

// A request for the taps of a part of an axis.
struct TapsWanted {
  Axis axis;
  int64_t begin = 0, count = 0;  // output pixels
  bool reversed = false;         // in reverse order
  int64_t origin = 0;            // source pixel that `first` counts from
  int32_t max_shift = 15;        // maximum fractional bits
  bool fixed_shift = false;      // exactly max_shift; with 15 the weights are u16 stored as i16: 1 is 0x8000

  bool operator==(const TapsWanted&) const = default;
};

// Weights of output i at weights[i * stride ..]: counts[i] of them, then zeros up to `stride` = max_taps().
struct Taps {
  const int32_t* first = nullptr;
  const int32_t* counts = nullptr;
  const int16_t* weights = nullptr;
  const int32_t* pairs =
      nullptr;  // the weights, each twice in an i32 for vector paths; there a 15-bit 1 is 0x7fff
  int64_t stride = 0;
  int32_t shift = 0;  // a weight of 1 is 1 << shift
};

int64_t taps_bytes(const TapsWanted& wanted);
// `memory`: taps_bytes() bytes, aligned to 8; the result points into it.
Taps build_taps(const TapsWanted& wanted, std::byte* memory);

// The tables of recent requests, so that images of one size build them once. Random crops need new tables each time: those
// replace the least recently used one, in place. Holds kKept tables of at most kKeptBytes; a larger one is built in the row's
// scratch and not cached.
class TapsCache {
 public:
  static constexpr size_t kKept = 4;
  static constexpr int64_t kKeptBytes = 16 << 10;

  // memory(bytes) allocates tables that are not cached. Null if it returned null. Valid until the next get().
  template <typename Memory>
  const Taps* get(const TapsWanted& wanted, Memory memory) {
    for (Entry& entry : entries_)
      if (entry.used != 0 && entry.wanted == wanted) {
        entry.used = ++clock_;
        return &entry.taps;
      }
    const int64_t bytes = taps_bytes(wanted);
    if (bytes > kKeptBytes) {
      std::byte* at = memory(bytes);
      if (at == nullptr) return nullptr;
      long_ = build_taps(wanted, at);
      return &long_;
    }
    Entry& oldest = *std::min_element(entries_.begin(), entries_.end(),
                                      [](const Entry& a, const Entry& b) { return a.used < b.used; });
    oldest.wanted = wanted;
    oldest.used = ++clock_;
    oldest.taps = build_taps(wanted, oldest.memory.data());
    return &oldest.taps;
  }

 private:
  struct Entry {
    TapsWanted wanted;
    uint64_t used = 0;  // time of last use; 0: never
    Taps taps;
    alignas(64) std::array<std::byte, kKeptBytes> memory;
  };

  std::array<Entry, kKept> entries_;
  Taps long_;
  uint64_t clock_ = 0;
};

}  // namespace dataline
