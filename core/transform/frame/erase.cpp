// SPDX-License-Identifier: Apache-2.0
#include "core/transform/frame/erase.h"

#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include "core/base/portable_math.h"
#include "core/transform/convert.h"
#include "core/transform/fill.h"

namespace dataline {
namespace {

constexpr int64_t kAttempts = 10;
constexpr int64_t kCornerDraw = 2 * kAttempts + 1;
constexpr int64_t kValueDraw = 64;

// Strictly between 0 and 1, so that its quantile is finite.
float normal(const Draws& draws, int64_t number) {
  constexpr int kUnused = 12;
  return static_cast<float>(
      normal_quantile((static_cast<double>(draws.bits(number) >> kUnused) + 0.5) * 0x1p-52));
}

// `step`: bytes from one pixel of a line to the next.
template <typename T>
void store_normal(const Draws& draws, int64_t number, std::byte* to, int64_t count, int64_t step) {
  for (int64_t i = 0; i < count; ++i) {
    const T value = convert<T>(normal(draws, number + i));
    std::memcpy(to + i * step, &value, sizeof value);
  }
}

void store_normal(DType dtype, const Draws& draws, int64_t number, std::byte* to, int64_t count,
                  int64_t step) {
  if (dtype == DType::kF16) return store_normal<Half>(draws, number, to, count, step);
  if (dtype == DType::kBf16) return store_normal<Bfloat>(draws, number, to, count, step);
  if (dtype == DType::kF64) return store_normal<double>(draws, number, to, count, step);
  store_normal<float>(draws, number, to, count, step);
}

void fill_interleaved(const ErasedRectangle& at, const Erasing& erasing, int64_t width, std::byte* to) {
  const int64_t pixel = static_cast<int64_t>(erasing.value.size());
  for (int64_t y = at.top; y < at.top + at.height; ++y)
    fill_elements(to + (y * width + at.left) * pixel, at.width, erasing.value.data(), pixel);
}

}  // namespace

std::optional<ErasedRectangle> draw_rectangle(const Erasing& erasing, const Draws& draws, int64_t height,
                                              int64_t width) {
  if (!(draws.unit(0) < erasing.probability)) return std::nullopt;
  const double area = static_cast<double>(height * width);
  const double low = portable_log(erasing.ratio_low), high = portable_log(erasing.ratio_high);
  for (int64_t attempt = 0; attempt < kAttempts; ++attempt) {
    const double erased = area * draws.uniform(1 + 2 * attempt, erasing.scale_low, erasing.scale_high);
    const double ratio = portable_exp(draws.uniform(2 + 2 * attempt, low, high));
    const double tall = std::nearbyint(std::sqrt(erased * ratio)),
                 wide = std::nearbyint(std::sqrt(erased / ratio));
    if (!(tall < static_cast<double>(height) && wide < static_cast<double>(width))) continue;
    ErasedRectangle out;
    out.height = static_cast<int64_t>(tall);
    out.width = static_cast<int64_t>(wide);
    out.top = draws.below(kCornerDraw, height - out.height + 1);
    out.left = draws.below(kCornerDraw + 1, width - out.width + 1);
    return out;
  }
  return std::nullopt;
}

Status EraseStage::apply(const Draws& draws, FrameScratch& scratch, Frame& frame) const {
  static_cast<void>(scratch);
  const std::optional<ErasedRectangle> at = draw_rectangle(erasing_, draws, frame.height, frame.width);
  if (at) fill_interleaved(*at, erasing_, frame.width, frame.pixels);
  return Status::ok();
}

ErasePass::ErasePass(Erasing erasing, const ImageShape& image, DType dtype, int64_t place)
    : erasing_(std::move(erasing)),
      image_(image),
      dtype_(dtype),
      element_bytes_(dtype_bytes(dtype)),
      place_(place) {}

int64_t ErasePass::run(const RowContext& context, const std::byte* from, int64_t from_bytes, std::byte* to,
                       int64_t room) const {
  static_cast<void>(room);
  if (to != from) std::memcpy(to, from, static_cast<size_t>(from_bytes));
  const Draws draws(context.key, static_cast<uint64_t>(context.rows->first_slot + context.row), place_);
  const std::optional<ErasedRectangle> at = draw_rectangle(erasing_, draws, image_.height, image_.width);
  if (!at) return from_bytes;
  const bool planar = image_.layout == ImageLayout::kPlanar;
  if (!planar && !erasing_.value.empty()) {
    fill_interleaved(*at, erasing_, image_.width, to);
    return from_bytes;
  }
  const int64_t step = planar ? element_bytes_ : element_bytes_ * image_.channels;
  int64_t number = kValueDraw;
  for (int64_t c = 0; c < image_.channels; ++c) {
    std::byte* const plane = to + c * (planar ? image_.pixels() : 1) * element_bytes_;
    for (int64_t y = at->top; y < at->top + at->height; ++y, number += at->width) {
      std::byte* const line = plane + (y * image_.width + at->left) * step;
      if (erasing_.value.empty())
        store_normal(dtype_, draws, number, line, at->width, step);
      else
        fill_elements(line, at->width, erasing_.value.data() + c * element_bytes_, element_bytes_);
    }
  }
  return from_bytes;
}

}  // namespace dataline
