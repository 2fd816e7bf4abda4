// Crops, resizes and flips of an image, composed: whatever follows each other in a transform becomes one rectangle of the
// source, one scaling, and one window of what that gives, so that pixels are touched once and only those that show.
//
// Threads: immutable values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/status.h"
#include "core/transform/pixels/draws.h"
#include "core/transform/pixels/frame.h"

namespace dataline {

// One operator. `place` is that of the operator in its field's list.
struct ViewStep {
  enum class Kind { kCrop, kCenterCrop, kRandomCrop, kRandomResizedCrop, kResize, kFlipX, kFlipY };
  Kind kind = Kind::kResize;
  int64_t place = 0;
  int64_t top = 0, left = 0;                // kCrop
  int64_t height = 0, width = 0;            // result; kResize with width 0: `height` is the shorter side's
  int64_t max_size = 0;                     // kResize by shorter side: limit of the longer side; 0: none
  double scale_low = 0.08, scale_high = 1;  // kRandomResizedCrop
  double ratio_low = 3.0 / 4, ratio_high = 4.0 / 3;
  double probability = 0.5;  // flips
  Filter filter = Filter::kBilinear;
  bool antialias = true;

  bool draws() const;
  bool scales() const { return kind == Kind::kResize || kind == Kind::kRandomResizedCrop; }
  FrameShape shape(const FrameShape& in) const;  // what comes out; kVaries where that depends on the record
};

// Whether `next` can join the views of `steps`: there is one scaling in a view at most.
bool joins(const std::vector<ViewStep>& steps, const ViewStep& next);

// For one image.
struct View {
  int64_t top = 0, left = 0, height = 0, width = 0;  // rectangle of the source
  int64_t scaled_height = 0, scaled_width = 0;       // what it is scaled to; equal to it: nothing is
  int64_t window_top = 0, window_left = 0;           // and the part of that which shows
  int64_t out_height = 0, out_width = 0;
  bool flip_x = false, flip_y = false;  // in the end
  Filter filter = Filter::kBilinear;
  bool antialias = true;

  bool scales() const { return scaled_height != height || scaled_width != width; }
};

// kOutOfRange (of this row): a crop larger than the image, with both sizes. key, slot: as Draws.
Result<View> compose(const std::vector<ViewStep>& steps, int64_t height, int64_t width, uint64_t key,
                     uint64_t slot);

}  // namespace dataline
