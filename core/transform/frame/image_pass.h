// Raw image tensors in one pass, a block of lines at a time: crops with padding, flips, HWC <-> CHW, and a chain of casts and
// affine maps. geometry.h composes all crops and flips of a row into one view.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/simd.h"
#include "core/transform/elements/element_chain.h"
#include "core/transform/frame/geometry.h"
#include "core/transform/passes/pass.h"

namespace dataline {

struct ImagePlan {
  ImageShape input;
  ImageShape output;
  std::vector<GeometryStep> steps;
  std::vector<std::byte> fill;  // one element of the input's type per channel; empty without padding
  ElementChain chain;
};

class ImagePass : public Pass {
 public:
  ImagePass(ImagePlan plan, SimdTarget target);
  int64_t scratch_bytes() const override { return 2 * block_bytes_ + plan_.chain.scratch_bytes(); }
  int64_t run(const RowContext& context, const std::byte* from, int64_t from_bytes, std::byte* to,
              int64_t room) const override;

 private:
  // The composed geometry of one row.
  struct View : ImageView {
    int64_t x_begin = 0, x_end = 0;  // output columns that are not padding
    bool whole_lines = false;        // the output lines are contiguous in the source
  };

  View view(const RowContext& context) const;
  void copy_lines(const View& view, const std::byte* plane, int64_t channel, int64_t first, int64_t lines,
                  std::byte* to) const;
  void run_block(const View& view, const std::byte* from, int64_t channel, int64_t first, int64_t lines,
                 std::byte* to, std::byte* scratch) const;

  ImagePlan plan_;
  bool planar_input_, planar_output_;
  int64_t from_bytes_, to_bytes_;  // of an element
  int64_t pixel_bytes_;            // of the source: of all channels if they are
                                   // interleaved, else of one
  int64_t block_lines_ = 1;
  int64_t block_bytes_ = 0;
  PlaneKernel split_, join_;
  ReverseKernel reverse_;
};

}  // namespace dataline
