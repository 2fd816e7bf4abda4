// Geometry, layout and element work on raw image tensors in one pass: crops with padding, flips, HWC <-> CHW,
// and a chain of casts and affine maps, a block of lines at a time.
//
// Crops and flips are never carried out one by one: for each row they are composed into one map per axis from
// output to source coordinates, plus the range of the source that may be seen; the rest is padding.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/simd.h"
#include "core/transform/element_chain.h"
#include "core/transform/pass.h"

namespace dataline {

enum class ImageLayout { kInterleaved, kPlanar };  // HWC, CHW; HW is either, with one channel

struct ImageShape {
  ImageLayout layout = ImageLayout::kInterleaved;
  int64_t channels = 1;
  int64_t height = 0;
  int64_t width = 0;

  int64_t pixels() const { return height * width; }
};

// One crop or flip. A crop first pads, then takes height x width at (top, left) of the padded image.
struct GeometryStep {
  enum class Kind { kCrop, kFlip };
  Kind kind = Kind::kFlip;
  int64_t pad_left = 0, pad_top = 0, pad_right = 0, pad_bottom = 0;
  int64_t height = 0, width = 0;
  int64_t top = 0, left = 0;  // where, unless random
  bool random = false;        // anywhere in the padded image, drawn by (slot, place)
  double probability = 0;     // flip: of being done at all
  int64_t place = 0;          // of the operator in its field's list
};

struct ImagePlan {
  ImageShape input;
  ImageShape output;
  std::vector<GeometryStep> steps;
  std::vector<std::byte> fill;  // one element of the input's type a channel, or none when nothing pads
  ElementChain chain;
};

class ImagePass : public Pass {
 public:
  ImagePass(ImagePlan plan, SimdTarget target);
  int64_t scratch_bytes() const override { return 2 * block_bytes_ + plan_.chain.scratch_bytes(); }
  int64_t run(const RowContext& context, const std::byte* from, int64_t from_bytes, std::byte* to,
              int64_t room) const override;

 private:
  // source = sign * output + offset; padding where that is outside [low, high).
  struct Axis {
    int64_t sign = 1;
    int64_t offset = 0;
    int64_t low = 0;
    int64_t high = 0;
  };
  // The composed geometry of one row.
  struct View {
    Axis y, x;
    int64_t x_begin = 0, x_end = 0;  // output columns that see the source
    bool whole_lines = false;        // lines follow each other in the source as they do in the output
  };

  View view(const RowContext& context) const;
  void copy_lines(const View& view, const std::byte* plane, int64_t first, int64_t lines, int64_t pixel_bytes,
                  const std::byte* fill, std::byte* to) const;
  const std::byte* lines_of(const View& view, const std::byte* plane, int64_t first, int64_t lines,
                            int64_t pixel_bytes, const std::byte* fill, std::byte* scratch) const;
  void from_interleaved(const View& view, const std::byte* from, std::byte* to, std::byte* scratch) const;
  void from_planar(const View& view, const std::byte* from, std::byte* to, std::byte* scratch) const;
  void plane_by_plane(const View& view, const std::byte* from, std::byte* to, std::byte* scratch) const;

  ImagePlan plan_;
  int64_t from_bytes_ = 1;  // of an element
  int64_t to_bytes_ = 1;
  int64_t block_lines_ = 1;
  int64_t block_bytes_ = 0;
  PlaneKernel split_ = nullptr;
  PlaneKernel join_ = nullptr;
  ReverseKernel reverse_ = nullptr;
};

}  // namespace dataline
