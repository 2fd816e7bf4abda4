// Crops and flips of an image, composed: for each row one map per axis from output to source coordinates, and the visible
// range of the source; everything outside it is padding.
//
// Threads: immutable, no state.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/tail.h"
#include "core/transform/passes/program.h"
#include "core/transform/pixels/frame.h"

namespace dataline {

// One crop or flip. A crop pads first, then takes height x width at (top, left) of the padded image.
struct GeometryStep {
  enum class Kind { kCrop, kFlip };
  Kind kind = Kind::kFlip;
  int64_t pad_left = 0, pad_top = 0, pad_right = 0, pad_bottom = 0;
  int64_t height = 0, width = 0;
  int64_t top = 0, left = 0;  // unless random
  bool random = false;        // at a random position in the padded image
  double probability = 0;     // of a flip
  bool vertical = false;      // flip: top to bottom
  int64_t place = 0;          // of the operator in its field's list

  bool draws() const { return kind == Kind::kFlip ? probability > 0 && probability < 1 : random; }
};

// source = sign * output + offset; padding if the result is outside [low, high).
struct ImageAxis {
  int64_t sign = 1;
  int64_t offset = 0;
  int64_t low = 0;
  int64_t high = 0;
};
struct ImageView {
  ImageAxis y, x;
};

// The view of the row at position `slot` of the epoch's order. key, slot: as in Draws.
ImageView compose_view(const std::vector<GeometryStep>& steps, const ImageShape& input, uint64_t key,
                       uint64_t slot);
bool draws(const std::vector<GeometryStep>& steps);  // views differ from row to row

// Maximum side of an image on a device, whose coordinates have 32 bits.
constexpr int64_t kMaxTailSide = int64_t{1} << 28;
TailGeometry narrow_view(const ImageView& view);

// Writes one TailGeometry per row, including failed rows. Reads no source.
std::unique_ptr<const Program> make_geometry_program(std::string field, std::vector<GeometryStep> steps,
                                                     const ImageShape& input);

}  // namespace dataline
