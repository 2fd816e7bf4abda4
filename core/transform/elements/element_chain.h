// Element-wise operations in sequence: casts and affine maps of a row or a part of one, in blocks that stay in the L1 cache,
// so that the source is read once and the target written once.
//
// Threads: immutable; each run() needs its own scratch.
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
  std::vector<float> a, b;  // one value, or one per channel

  int64_t channels() const { return affine ? static_cast<int64_t>(a.size()) : 1; }
};

// The same steps without no-ops: casts to the same type (except a first one of bools, which maps stored bytes to 0 or 1), and
// casts to f32 before an affine map, which includes that cast.
std::vector<ElementStep> simplified(const std::vector<ElementStep>& steps);

class ElementChain {
 public:
  ElementChain() = default;
  ElementChain(const std::vector<ElementStep>& steps, DType input, SimdTarget target);

  bool empty() const { return stages_.empty(); }  // output bytes are input bytes
  DType input() const { return input_; }
  DType output() const { return output_; }
  int64_t channels() const { return channels_; }  // above 1: some step has a value per channel
  int64_t scratch_bytes() const { return scratch_bytes_; }

  // Elements that are all of one channel.
  void run(const std::byte* from, std::byte* to, int64_t count, int64_t channel, std::byte* scratch) const;
  // Elements of channels 0, 1, ..., channels() - 1, 0, 1, ...
  void run_interleaved(const std::byte* from, std::byte* to, int64_t count, std::byte* scratch) const {
    run(from, to, count, kInterleaved, scratch);
  }

 private:
  struct Stage {
    ElementKernel kernel = nullptr;
    int64_t from_bytes = 0;
    int64_t to_bytes = 0;
    int64_t channels = 1;
    std::vector<float> a, b;  // laid out as in Affine
  };

  static constexpr int64_t kInterleaved = -1;  // as a channel: all of them in turn

  void add_stage(ElementKernel kernel, DType from, DType to, const ElementStep* affine);

  DType input_ = DType::kU8;
  DType output_ = DType::kU8;
  int64_t channels_ = 1;
  int64_t block_elements_ = 0;  // a multiple of channels_
  int64_t scratch_bytes_ = 0;
  std::vector<Stage> stages_;
};

}  // namespace dataline
