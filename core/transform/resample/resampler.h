// Crops, resizes and flips of an image, composed and executed: consecutive ones become one rectangle of the source, one scaling,
// and one window of the scaled image. So only visible pixels are computed, and each one once.
//
// The same bytes on every machine and vector width; within 1 level of Pillow's resize, which rounds twice (for bicubic and
// lanczos: of a resize that does columns first).
//
// Threads: views are immutable values; a Resampler belongs to one worker: it caches the tables of recent sizes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/simd.h"
#include "core/base/status.h"
#include "core/transform/pixels/draws.h"
#include "core/transform/pixels/frame.h"
#include "core/transform/pixels/lines.h"

namespace dataline {

// One operator. `place`: its index in its field's list.
struct ViewStep {
  enum class Kind { kCrop, kCenterCrop, kRandomCrop, kRandomResizedCrop, kResize, kFlipX, kFlipY };
  Kind kind = Kind::kResize;
  int64_t place = 0;
  int64_t top = 0, left = 0;      // kCrop
  int64_t height = 0, width = 0;  // of the result; kResize with width 0: `height` is the shorter side
  int64_t max_size = 0;           // kResize by shorter side: limit of the longer side; 0: none
  double scale_low = 0.08, scale_high = 1;  // kRandomResizedCrop
  double ratio_low = 3.0 / 4, ratio_high = 4.0 / 3;
  double probability = 0.5;  // flips
  Filter filter = Filter::kBilinear;
  bool antialias = true;
  // height and width are those of the batch's bucket. kResize then keeps the aspect ratio: the image is scaled until it covers
  // them, and its middle is taken.
  bool to_bucket = false;
  bool pads =
      false;  // kCenterCrop: an image that is smaller gets a border of zeros; else that is an error of the record

  bool draws() const;
  bool scales() const { return kind == Kind::kResize || kind == Kind::kRandomResizedCrop; }
  FrameShape shape(const FrameShape& in) const;  // of the output; kVaries if it depends on the record
};

// Whether `next` can join the view of `steps`: a view has at most one scaling.
bool joins(const std::vector<ViewStep>& steps, const ViewStep& next);

// Lines and columns of zeros around an image.
struct Border {
  int64_t top = 0, left = 0, bottom = 0, right = 0;

  bool any() const { return top > 0 || left > 0 || bottom > 0 || right > 0; }
};

// The composed steps for one image.
struct View {
  int64_t top = 0, left = 0, height = 0, width = 0;  // rectangle of the source
  int64_t scaled_height = 0, scaled_width = 0;       // its size after scaling; no scaling if equal
  int64_t window_top = 0, window_left = 0;           // the visible part of the scaled image
  int64_t out_height = 0, out_width = 0;
  bool flip_x = false, flip_y = false;  // applied last
  Filter filter = Filter::kBilinear;
  bool antialias = true;
  Border border;     // around the result, after the flips; a Resampler does not write it
  size_t steps = 0;  // that are composed: not those behind a border, except flips

  bool scales() const { return scaled_height != height || scaled_width != width; }
  int64_t full_height() const { return border.top + out_height + border.bottom; }
  int64_t full_width() const { return border.left + out_width + border.right; }
};

// kOutOfRange (for this row): a crop larger than the image, with both sizes. key, slot: as in Draws. `bucket`: of the batch,
// for steps to it.
Result<View> compose(const std::vector<ViewStep>& steps, int64_t height, int64_t width, uint64_t key,
                     uint64_t slot, RowExtent bucket = {});

// Executes a View: lines of the source rectangle in, lines of the result out, with weights in fixed point and one rounding
// to u8 (kernels.h).
class Resampler {
 public:
  virtual ~Resampler() = default;
  // The source rectangle that a view reads (taps may extend beyond the visible part, never outside view.top .. + height), and
  // how many lines at once.
  struct Need {
    ImageRegion region;
    int64_t max_lines = 1;
  };
  virtual Need need(const View& view) = 0;
  // `source` was started with need(view). Lines of view.out_width pixels go to `sink`. u8 of 1, 3 or 4 channels; also u16
  // (element_bytes 2) if the view does not scale.
  virtual Status run(const View& view, int64_t channels, int64_t element_bytes, LineSource& source,
                     LineSink& sink, FrameScratch& scratch) = 0;
};

std::unique_ptr<Resampler> make_resampler(SimdTarget target);

}  // namespace dataline
