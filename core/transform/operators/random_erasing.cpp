// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <utility>

#include "core/base/portable_math.h"
#include "core/transform/elements/convert.h"
#include "core/transform/elements/fill.h"
#include "core/transform/operators/operator.h"
#include "core/transform/operators/stages.h"

namespace dataline {
namespace {

enum ErasingArgument : size_t { kErasingProbability, kErasingScale, kErasingRatio, kErasingValue };
constexpr OperatorArgument kErasingArguments[] = {kProbabilityArgument,
                                                  {"scale", "list", "[0.02, 0.33]"},
                                                  {"ratio", "list", "[0.3, 3.3]"},
                                                  {"value", "number, list or random", "0"}};

constexpr int64_t kErasingAttempts = 10;
constexpr int64_t kCornerDraw = 2 * kErasingAttempts + 1;
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

void fill_interleaved(const ImageRegion& at, const Erasing& erasing, int64_t width, std::byte* to) {
  const int64_t pixel = static_cast<int64_t>(erasing.value.size());
  for (int64_t y = at.top; y < at.top + at.height; ++y)
    fill_elements(to + (y * width + at.left) * pixel, at.width, erasing.value.data(), pixel);
}

// On a finished row of any real dtype, HWC or CHW; normal values need a float.
class ErasePass : public Pass {
 public:
  ErasePass(Erasing erasing, const ImageShape& image, DType dtype, int64_t place)
      : erasing_(std::move(erasing)),
        image_(image),
        dtype_(dtype),
        element_bytes_(dtype_bytes(dtype)),
        place_(place) {}
  bool in_place() const override { return true; }
  int64_t run(const RowContext& context, const std::byte* from, int64_t from_bytes, std::byte* to,
              int64_t room) const override;

 private:
  Erasing erasing_;
  ImageShape image_;
  DType dtype_;
  int64_t element_bytes_;
  int64_t place_;
};

int64_t ErasePass::run(const RowContext& context, const std::byte* from, int64_t from_bytes, std::byte* to,
                       int64_t room) const {
  static_cast<void>(room);
  if (to != from) std::memcpy(to, from, static_cast<size_t>(from_bytes));
  const Draws draws(context.key, static_cast<uint64_t>(context.rows->first_slot + context.row), place_);
  const std::optional<ImageRegion> at = draw_rectangle(erasing_, draws, image_.height, image_.width);
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

// The erased value; empty for normal values.
Result<std::vector<std::byte>> value_argument(const Arguments& arguments, DType dtype, int64_t channels) {
  if (!arguments.word(kErasingValue).is_ok()) return arguments.elements(kErasingValue, dtype, channels);
  DL_ASSIGN_OR_RETURN([[maybe_unused]] const bool random,
                      arguments.choice<bool>(kErasingValue, {{"random", true}}));
  if (dtype_is_float(dtype)) return std::vector<std::byte>();
  return arguments.fault_at(kErasingValue, "expected a number, or floats to erase with normal values, got ",
                            dtype_name(dtype), ": put random_erasing after normalize");
}

Status add_random_erasing(const Arguments& arguments, Plan& plan) {
  DL_RETURN_IF_ERROR(want_decoded(arguments, plan));
  DL_RETURN_IF_ERROR(want_real(arguments, plan));
  Erasing erasing;
  DL_ASSIGN_OR_RETURN(erasing.probability, probability_argument(arguments, kErasingProbability));
  DL_ASSIGN_OR_RETURN(erasing.scale, bounds_argument(arguments, kErasingScale, 0, 1));
  DL_ASSIGN_OR_RETURN(erasing.ratio, range_argument(arguments, kErasingRatio));
  const DType dtype = plan.field().dtype;
  const bool draws = erasing.probability > 0;
  if (dtype == DType::kU8) {
    DL_ASSIGN_OR_RETURN(const FrameShape shape, want_frame(arguments, plan));
    DL_ASSIGN_OR_RETURN(erasing.value, value_argument(arguments, dtype, shape.channels));
    plan.add_stage({draws, [erasing](const Draws& drawn, FrameScratch&, Frame& frame) {
                      const auto at = draw_rectangle(erasing, drawn, frame.height, frame.width);
                      if (at)
                        fill_interleaved(*at, erasing, frame.width, frame.pixels);  // one byte per channel
                      return Status::ok();
                    }});
    return Status::ok();
  }
  DL_ASSIGN_OR_RETURN(const ImageShape image, want_image(arguments, plan));
  DL_ASSIGN_OR_RETURN(erasing.value, value_argument(arguments, dtype, image.channels));
  plan.add_pass(std::make_shared<ErasePass>(std::move(erasing), image, dtype, plan.place()), draws);
  return Status::ok();
}

}  // namespace

std::optional<ImageRegion> draw_rectangle(const Erasing& erasing, const Draws& draws, int64_t height,
                                          int64_t width) {
  if (!(draws.unit(0) < erasing.probability)) return std::nullopt;
  const double area = static_cast<double>(height * width);
  const double low = portable_log(erasing.ratio.low), high = portable_log(erasing.ratio.high);
  for (int64_t attempt = 0; attempt < kErasingAttempts; ++attempt) {
    const double erased = area * draws.uniform(1 + 2 * attempt, erasing.scale);
    const double ratio = portable_exp(draws.uniform(2 + 2 * attempt, low, high));
    const double tall = std::nearbyint(std::sqrt(erased * ratio)),
                 wide = std::nearbyint(std::sqrt(erased / ratio));
    if (!(tall < static_cast<double>(height) && wide < static_cast<double>(width))) continue;
    ImageRegion out;
    out.height = static_cast<int64_t>(tall);
    out.width = static_cast<int64_t>(wide);
    out.top = draws.below(kCornerDraw, height - out.height + 1);
    out.left = draws.below(kCornerDraw + 1, width - out.width + 1);
    return out;
  }
  return std::nullopt;
}

const Operator random_erasing_operator = {
    {"random_erasing", kErasingArguments,
     "With probability p, fills a rectangle with value, one per channel, or (random; after normalize) with "
     "standard normal values. Its area and its ratio of height to width are drawn from scale and ratio.",
     "torchvision.transforms.v2.RandomErasing", "0.1"},
    add_random_erasing};

}  // namespace dataline
