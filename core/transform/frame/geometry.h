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
#include "core/transform/resample/resampler.h"

namespace dataline {

// A flip, or a random or central crop of the padded image.
struct GeometryStep : ViewStep {
  int64_t pad_left = 0, pad_top = 0, pad_right = 0, pad_bottom = 0;
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
