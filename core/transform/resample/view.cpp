// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"
#include "core/transform/resample/resampler.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/portable_math.h"

namespace dataline {
namespace {

using Extent = RowExtent;

// Python's round(): halves go to the even neighbour.
int64_t round_even(double value) { return to_nearest(value); }

// torchvision.transforms.v2.functional._geometry._compute_resized_output_size: int(size * long / short), limited to `max`
// (max_size). If an extreme ratio would give a side of 0, torchvision fails; here the side is 1.
Extent shorter_side_to(int64_t size, int64_t max, Extent in) {
  const int64_t shorter = std::min(in.height, in.width), longer = std::max(in.height, in.width);
  int64_t new_short = size, new_long = size * longer / shorter;
  if (max > 0 && new_long > max) {
    new_short = std::max<int64_t>(1, max * new_short / new_long);
    new_long = max;
  }
  return in.width <= in.height ? Extent{new_long, new_short} : Extent{new_short, new_long};
}

// The smallest size of the image's aspect ratio that covers `shape`: one side is the shape's, the other rounded down, as
// shorter_side_to() does.
Extent covering(Extent shape, Extent in) {
  if (in.width * shape.height >= in.height * shape.width)
    return {shape.height, in.width * shape.height / in.height};
  return {in.height * shape.width / in.width, shape.width};
}

Extent resized(const ViewStep& step, Extent in) {
  if (step.to_bucket && step.kind == ViewStep::Kind::kResize) return covering({step.height, step.width}, in);
  return step.width > 0 ? Extent{step.height, step.width} : shorter_side_to(step.height, step.max_size, in);
}

// torchvision.transforms.v2.RandomResizedCrop.make_params after ten failed attempts.
ImageRegion central_box(const ViewStep& step, Extent in) {
  const double ratio = static_cast<double>(in.width) / static_cast<double>(in.height);
  ImageRegion box{0, 0, in.height, in.width};
  if (ratio < step.ratio_low) {
    box.height = std::min(in.height, round_even(static_cast<double>(in.width) / step.ratio_low));
  } else if (ratio > step.ratio_high) {
    box.width = std::min(in.width, round_even(static_cast<double>(in.height) * step.ratio_high));
  }
  box.height = std::max<int64_t>(1, box.height);
  box.width = std::max<int64_t>(1, box.width);
  box.top = (in.height - box.height) / 2;
  box.left = (in.width - box.width) / 2;
  return box;
}

// RandomResizedCrop.make_params: area uniform, ratio log-uniform, corner uniform. Four draws per attempt.
ImageRegion random_box(const ViewStep& step, Extent in, const Draws& draws) {
  const double area = static_cast<double>(in.height) * static_cast<double>(in.width);
  const double low = portable_log(step.ratio_low), high = portable_log(step.ratio_high);
  for (int64_t attempt = 0; attempt < 10; ++attempt) {
    const double target = area * draws.uniform(4 * attempt, step.scale_low, step.scale_high);
    const double ratio = portable_exp(draws.uniform(4 * attempt + 1, low, high));
    const int64_t width = round_even(std::sqrt(target * ratio));
    const int64_t height = round_even(std::sqrt(target / ratio));
    if (width <= 0 || width > in.width || height <= 0 || height > in.height) continue;
    return {draws.below(4 * attempt + 2, in.height - height + 1),
            draws.below(4 * attempt + 3, in.width - width + 1), height, width};
  }
  return central_box(step, in);
}

// torchvision's center_crop: int(round((height - crop) / 2.0)).
ImageRegion middle_box(int64_t height, int64_t width, Extent in) {
  return {round_even(static_cast<double>(in.height - height) / 2),
          round_even(static_cast<double>(in.width - width) / 2), height, width};
}

// torchvision's _center_crop_compute_padding, by axis: what of a size is missing, rounded down before the image.
void add_border(View& view, const ViewStep& step, Extent in) {
  const int64_t rows = std::max<int64_t>(0, step.height - in.height);
  const int64_t columns = std::max<int64_t>(0, step.width - in.width);
  view.border = {rows / 2, columns / 2, (rows + 1) / 2, (columns + 1) / 2};
}

// The rectangle that a step crops from an image of size `in`.
ImageRegion box_of(const ViewStep& step, Extent in, const Draws& draws) {
  switch (step.kind) {
    case ViewStep::Kind::kCrop:
      return {step.top, step.left, step.height, step.width};
    case ViewStep::Kind::kCenterCrop:
      return middle_box(step.height, step.width, in);
    case ViewStep::Kind::kRandomCrop:  // RandomCrop.make_params: corner uniform
      return {draws.below(0, in.height - step.height + 1), draws.below(1, in.width - step.width + 1),
              step.height, step.width};
    default:
      return random_box(step, in, draws);
  }
}

bool fits(const ViewStep& step, Extent in) {
  if (step.kind == ViewStep::Kind::kRandomResizedCrop) return true;
  return step.height <= in.height && step.width <= in.width && step.top <= in.height - step.height &&
         step.left <= in.width - step.width;
}

Status too_small(const ViewStep& step, Extent in) {
  const bool placed = step.kind == ViewStep::Kind::kCrop && (step.top != 0 || step.left != 0);
  return error(
      Code::kOutOfRange, "expected an image of at least ",
      picture_size(step.top + step.height, step.left + step.width),
      placed ? " for a crop that ends there, got " : " for a crop of that size, got ",
      picture_size(in.height, in.width),
      step.kind == ViewStep::Kind::kCenterCrop
          ? ": put center_crop before the operators on values (normalize, ...), where it pads with zeros"
          : ": resize before the crop");
}

// Crops the view to `box`, in coordinates of the image so far (after flips).
void cut(View& view, ImageRegion box) {
  if (view.flip_y) box.top = view.out_height - box.top - box.height;
  if (view.flip_x) box.left = view.out_width - box.left - box.width;
  view.window_top += box.top;
  view.window_left += box.left;
  view.out_height = box.height;
  view.out_width = box.width;
}

// Before anything is scaled, the window is the rectangle.
void settle(View& view) {
  view.top += view.window_top;
  view.left += view.window_left;
  view.window_top = view.window_left = 0;
  view.height = view.scaled_height = view.out_height;
  view.width = view.scaled_width = view.out_width;
}

bool flips(const ViewStep& step) {
  return step.kind == ViewStep::Kind::kFlipX || step.kind == ViewStep::Kind::kFlipY;
}

}  // namespace

bool ViewStep::draws() const {
  return kind == Kind::kRandomCrop || kind == Kind::kRandomResizedCrop ||
         (flips(*this) && probability > 0 && probability < 1);
}

FrameShape ViewStep::shape(const FrameShape& in) const {
  FrameShape out = in;
  if (flips(*this)) return out;
  out.of_bucket = to_bucket;
  if (to_bucket) {
    out.height = out.width = FrameShape::kVaries;
    return out;
  }
  if (kind == Kind::kResize && width == 0 && !in.fixed()) {
    out.height = out.width = FrameShape::kVaries;
    return out;
  }
  const Extent to = resized(*this, {in.height, in.width});
  out.height = to.height;
  out.width = to.width;
  return out;
}

bool joins(const std::vector<ViewStep>& steps, const ViewStep& next) {
  if (!next.scales()) return true;
  for (const ViewStep& step : steps) {
    if (step.scales()) return false;
    // These two filters break ties to one side (as Pillow does), so a mirrored image does not give a mirrored result.
    const bool mirrors = next.filter != Filter::kNearest && next.filter != Filter::kArea;
    if (flips(step) && !mirrors) return false;
  }
  return true;
}

Result<View> compose(const std::vector<ViewStep>& steps, int64_t height, int64_t width, uint64_t key,
                     uint64_t slot, RowExtent bucket) {
  View view;
  view.out_height = height;
  view.out_width = width;
  settle(view);
  bool scaled = false;
  for (ViewStep step : steps) {
    if (view.border.any() && !flips(step)) break;
    ++view.steps;
    if (step.to_bucket) {
      step.height = bucket.height;
      step.width = bucket.width;
    }
    const Draws draws(key, slot, step.place);
    const Extent in{view.out_height, view.out_width};
    if (flips(step)) {
      bool& flip = step.kind == ViewStep::Kind::kFlipX ? view.flip_x : view.flip_y;
      if (draws.unit(0) >= step.probability) continue;
      flip = !flip;
      if (step.kind == ViewStep::Kind::kFlipX)
        std::swap(view.border.left, view.border.right);
      else
        std::swap(view.border.top, view.border.bottom);
      continue;
    }
    if (step.kind == ViewStep::Kind::kCenterCrop && step.pads) {
      add_border(view, step, in);
      step.height = std::min(step.height, in.height);
      step.width = std::min(step.width, in.width);
    }
    if (step.kind != ViewStep::Kind::kResize) {
      if (!fits(step, in)) return too_small(step, in);
      cut(view, box_of(step, in, draws));
      if (!scaled) settle(view);
    }
    if (step.scales()) {
      const Extent to = resized(step, {view.out_height, view.out_width});
      view.scaled_height = view.out_height = to.height;
      view.scaled_width = view.out_width = to.width;
      view.filter = step.filter;
      view.antialias = step.antialias;
      scaled = true;
      if (step.to_bucket && step.kind == ViewStep::Kind::kResize)
        cut(view, middle_box(step.height, step.width, to));
    }
  }
  return view;
}

}  // namespace dataline
