// Random pipelines over random tensors, for RapidCheck: operators that fit, with what their twins make of a sample.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/base/text.h"
#include "tests/transform/support/frame_twin.h"
#include "tests/transform/support/runner.h"
#include "tests/transform/support/twin.h"

namespace dataline::tests {

// One operator that fits the tensor, as text; and what the twin makes of it.
struct Step {
  std::string text;
  Tensor result;
};

inline bool is_image(const Tensor& in) { return in.axes == "HW" || in.axes == "HWC" || in.axes == "CHW"; }
inline int64_t dim(const Tensor& in, char axis) { return in.shape[in.axes.find(axis)]; }

inline Step random_normalize(const Tensor& in) {
  const bool whole = in.dtype == DType::kU8 || in.dtype == DType::kU16;
  if (!whole && !dtype_is_float(in.dtype)) return {"scale(0.25)", twin_scale(in, 0.25)};
  const size_t axis = in.axes.find('C');
  if (axis == std::string::npos || *rc::gen::arbitrary<bool>())
    return {"normalize(mean=0.25, std=0.7)", twin_normalize(in, {0.25}, {0.7})};
  std::vector<double> mean, deviation;
  std::string means, deviations;
  for (int64_t c = 0; c < in.shape[axis]; ++c) {
    mean.push_back(static_cast<double>(c));
    deviation.push_back(static_cast<double>(2 * c + 1));
    means += concat(c == 0 ? "" : ",", c);
    deviations += concat(c == 0 ? "" : ",", 2 * c + 1);
  }
  return {concat("normalize(mean=[", means, "], std=[", deviations, "])"),
          twin_normalize(in, mean, deviation)};
}

inline bool is_frame(const Tensor& in) {
  const size_t axis = in.axes.find('C');
  const int64_t channels = axis == std::string::npos ? 1 : in.shape[axis];
  return is_image(in) && in.dtype == DType::kU8 && (channels == 1 || channels == 3 || channels == 4);
}

inline Step random_scaling(const Tensor& in, const Draw& draw) {
  constexpr std::array kFilters = {"nearest", "bilinear", "bicubic", "area", "lanczos"};
  const int64_t height = *rc::gen::inRange<int64_t>(1, 40), width = *rc::gen::inRange<int64_t>(1, 40);
  const int64_t filter = *rc::gen::inRange<int64_t>(0, 5);
  ViewStep step;
  step.filter = static_cast<Filter>(filter);
  step.antialias = *rc::gen::arbitrary<bool>();
  step.height = height;
  const std::string how = concat(", filter=", kFilters[static_cast<size_t>(filter)],
                                 ", antialias=", step.antialias ? "true" : "false", ")");
  if (*rc::gen::inRange(0, 3) == 0) {
    const auto [shorter, longer] = std::minmax({dim(in, 'H'), dim(in, 'W')});
    if (longer > 4 * shorter || *rc::gen::arbitrary<bool>())
      step.max_size = height + *rc::gen::inRange<int64_t>(1, 40);
    const std::string most = step.max_size > 0 ? concat(", max_size=", step.max_size) : "";
    return {concat("resize(", height, most, how), twin_view(in, step, draw)};
  }
  step.width = width;
  if (*rc::gen::arbitrary<bool>())
    return {concat("resize([", height, ",", width, "]", how), twin_view(in, step, draw)};
  step.kind = ViewStep::Kind::kRandomResizedCrop;
  step.scale_low = 0.25;
  return {concat("random_resized_crop([", height, ",", width, "], scale=[0.25, 1]", how),
          twin_view(in, step, draw)};
}

inline Step random_image_step(const Tensor& in, const Draw& draw) {
  const int64_t h = dim(in, 'H'), w = dim(in, 'W');
  const auto up_to = [](int64_t most) { return *rc::gen::inRange<int64_t>(1, most + 1); };
  switch (*rc::gen::inRange(0, is_frame(in) ? 8 : 6)) {
    case 0:
      return {"chw", twin_chw(in)};
    case 1:
      return {"hwc", twin_hwc(in)};
    case 2:
      return {"hflip", twin_hflip(in, 0.5, draw)};
    case 4:
      return {"vflip", twin_vflip(in, 0.5, draw)};
    case 6:
    case 7:
      return random_scaling(in, draw);
    case 3: {
      const int64_t height = up_to(h), width = up_to(w);
      return {concat("center_crop(", height, "x", width, ")"), twin_center_crop(in, height, width)};
    }
    default:
      break;
  }
  std::array<int64_t, 4> padding;
  for (int64_t& side : padding) side = *rc::gen::inRange<int64_t>(0, 4);
  const int64_t height = up_to(padding[1] + h + padding[3]), width = up_to(padding[0] + w + padding[2]);
  const int64_t fill = *rc::gen::inRange<int64_t>(0, 2);
  return {concat("random_crop([", height, ",", width, "], padding=[", padding[0], ",", padding[1], ",",
                 padding[2], ",", padding[3], "], fill=", fill, ")"),
          twin_random_crop(in, height, width, padding, static_cast<double>(fill), draw)};
}

inline Step random_step(const Tensor& in, const Draw& draw) {
  const int64_t kind = *rc::gen::inRange<int64_t>(0, is_image(in) ? 8 : 4);
  if (kind == 0) {
    const DType to =
        *rc::gen::elementOf(std::vector<DType>{DType::kU8, DType::kI16, DType::kI64, DType::kF16,
                                               DType::kBf16, DType::kF32, DType::kF64, DType::kU16});
    return {concat("cast(", dtype_name(to), ")"), twin_cast(in, to)};
  }
  if (kind == 1) return random_normalize(in);
  if (kind == 2 && !is_image(in)) {
    const int64_t length = in.shape[0] + *rc::gen::inRange<int64_t>(0, 5);
    return {concat("pad_to(", length, ", value=1)"), twin_pad_to(in, length, 1)};
  }
  if (kind == 3 && *rc::gen::inRange(0, 4) == 0) return {"flatten", twin_reshape(in, {in.count()})};
  if (is_image(in)) return random_image_step(in, draw);
  return {"scale(3)", twin_scale(in, 3)};
}

inline Tensor random_input() {
  const DType dtype =
      *rc::gen::elementOf(std::vector<DType>{DType::kU8, DType::kU8, DType::kU16, DType::kF32});
  const int64_t h = *rc::gen::inRange<int64_t>(1, 40), w = *rc::gen::inRange<int64_t>(1, 40);
  const int64_t c = *rc::gen::elementOf(std::vector<int64_t>{1, 2, 3, 3, 4, 7});
  const auto seed = *rc::gen::arbitrary<uint64_t>();
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      return finite_tensor(dtype, {h, w}, "HW", seed);
    case 1:
      return finite_tensor(dtype, {h, w, c}, "HWC", seed);
    case 2:
      return finite_tensor(dtype, {c, h, w}, "CHW", seed);
    default:
      return finite_tensor(dtype, {h, c}, "TC", seed);
  }
}

inline RunSetup random_setup() {
  RunSetup setup;
  setup.target = *rc::gen::elementOf(simd_targets());
  setup.misalignment = *rc::gen::inRange<int64_t>(0, 16);
  setup.source_offset = *rc::gen::inRange<int64_t>(0, 4);
  setup.contiguous = *rc::gen::arbitrary<bool>();
  setup.run_rows = *rc::gen::inRange<int64_t>(1, 5);
  setup.seed = *rc::gen::arbitrary<uint64_t>() >> 1;
  setup.epoch = *rc::gen::inRange<int64_t>(0, 100);
  setup.first_slot = *rc::gen::inRange<int64_t>(0, 1'000'000'000'000);
  return setup;
}

}  // namespace dataline::tests
