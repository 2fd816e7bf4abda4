// Work on single elements, one after the other: casts and affine maps of a whole row or a part of one, done in
// blocks that stay in the first-level cache, so that the source is read once and the target written once.
//
// Threads: immutable; run() wants scratch of its own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/simd.h"
#include "core/transform/elements/kernels.h"

namespace dataline {

// One value in, one value out.
struct ElementStep {
  DType from = DType::kU8;
  DType to = DType::kU8;
  bool affine = false;      // x to f32, times a, plus b; `to` is f32
  std::vector<float> a, b;  // one value, or one a channel

  int64_t channels() const { return affine ? static_cast<int64_t>(a.size()) : 1; }
};

// Without what changes nothing: casts to the same type (but for a first one of bools, which makes 0 or 1 of stored
// bytes), and casts to f32 before an affine map, which begins with that cast.
std::vector<ElementStep> simplified(const std::vector<ElementStep>& steps);

class ElementChain {
 public:
  ElementChain() = default;
  ElementChain(const std::vector<ElementStep>& steps, DType input, SimdTarget target);

  bool empty() const { return stages_.empty(); }  // output bytes are input bytes
  DType input() const { return input_; }
  DType output() const { return output_; }
  int64_t channels() const { return channels_; }  // above 1: some step has a value for each channel
  int64_t scratch_bytes() const { return scratch_bytes_; }

  // Elements that are all of one channel.
  void run(const std::byte* from, std::byte* to, int64_t count, int64_t channel, std::byte* scratch) const;
  // Elements of channels 0, 1, ..., channels() - 1, 0, 1, ...
  void run_interleaved(const std::byte* from, std::byte* to, int64_t count, std::byte* scratch) const;

 private:
  struct Stage {
    ElementKernel kernel = nullptr;
    int64_t from_bytes = 0;
    int64_t to_bytes = 0;
    int64_t channels = 1;
    std::vector<float> a, b;  // as Affine wants them
  };

  template <typename AffineOf>
  void run_blocks(const std::byte* from, std::byte* to, int64_t count, std::byte* scratch,
                  AffineOf affine_of) const;
  void add_stage(ElementKernel kernel, DType from, DType to, const ElementStep* affine);

  DType input_ = DType::kU8;
  DType output_ = DType::kU8;
  int64_t channels_ = 1;
  int64_t block_elements_ = 0;  // a multiple of channels_
  int64_t scratch_bytes_ = 0;
  std::vector<Stage> stages_;
};

}  // namespace dataline
