// Properties over random pipelines: what is fused equals what is done one operator at a time, whatever the vector
// target, however the rows lie, in whatever runs they come.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/base/text.h"
#include "tests/transform/support/runner.h"
#include "tests/transform/support/twin.h"

namespace dataline::testing {
namespace {

// One operator that fits the tensor, as text; and what the twin makes of it.
struct Step {
  std::string text;
  Tensor result;
};

bool is_image(const Tensor& in) { return in.axes == "HW" || in.axes == "HWC" || in.axes == "CHW"; }
int64_t dim(const Tensor& in, char axis) { return in.shape[in.axes.find(axis)]; }

Step random_normalize(const Tensor& in) {
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

Step random_image_step(const Tensor& in, const Draw& draw) {
  const int64_t h = dim(in, 'H'), w = dim(in, 'W');
  const auto up_to = [](int64_t most) { return *rc::gen::inRange<int64_t>(1, most + 1); };
  switch (*rc::gen::inRange(0, 5)) {
    case 0:
      return {"chw", twin_chw(in)};
    case 1:
      return {"hwc", twin_hwc(in)};
    case 2:
      return {"hflip", twin_hflip(in, 0.5, draw)};
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

Step random_step(const Tensor& in, const Draw& draw) {
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

Tensor random_input() {
  const DType dtype =
      *rc::gen::elementOf(std::vector<DType>{DType::kU8, DType::kU8, DType::kU16, DType::kF32});
  const int64_t h = *rc::gen::inRange<int64_t>(1, 40), w = *rc::gen::inRange<int64_t>(1, 40);
  const int64_t c = *rc::gen::elementOf(std::vector<int64_t>{1, 2, 3, 3, 4});
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

RunSetup random_setup() {
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

RC_GTEST_PROP(Fusion, APipelineEqualsItsOperatorsOneAtATime, ()) {
  Tensor sample = random_input();
  const RunSetup setup = random_setup();
  const int64_t row = *rc::gen::inRange<int64_t>(0, 3);
  const int64_t steps = *rc::gen::inRange<int64_t>(1, 7);
  const Field field = sample.field("data");
  std::vector<std::vector<std::byte>> rows;
  for (int64_t i = 0; i < 3; ++i)
    rows.push_back(
        finite_tensor(sample.dtype, sample.shape, sample.axes, setup.seed + static_cast<uint64_t>(i)).bytes);
  sample.bytes = rows[static_cast<size_t>(row)];
  std::string text;
  for (int64_t place = 0; place < steps; ++place) {
    Step step = random_step(sample, {setup.seed, setup.epoch, setup.first_slot + row, place});
    text += concat(place == 0 ? "" : ", ", step.text);
    sample = std::move(step.result);
  }
  RC_LOG() << text << " on " << field_type_text(field) << field.axes << ", "
           << simd_target_name(setup.target);
  const RunResult result = run_transform(text, field, rows, setup);
  Tensor got;
  got.dtype = result.output.dtype;
  got.shape = result.output.shape;
  got.axes = result.output.axes;
  got.bytes = result.rows[static_cast<size_t>(row)];
  RC_ASSERT(result.errors.empty());
  RC_ASSERT(difference(sample, got) == "");
}

RC_GTEST_PROP(Fusion, PlacesOfRowsChangeNothing, ()) {
  const Tensor sample = random_input();
  const std::string text =
      is_image(sample) ? "random_crop(1, padding=2), hflip, scale(2), cast(f16)" : "scale(2), cast(i16)";
  std::vector<std::vector<std::byte>> rows;
  for (uint64_t i = 0; i < 100; ++i)
    rows.push_back(finite_tensor(sample.dtype, sample.shape, sample.axes, i).bytes);
  RunSetup one = random_setup(), other = random_setup();
  other.seed = one.seed;
  other.epoch = one.epoch;
  other.first_slot = one.first_slot;
  other.run_rows = *rc::gen::inRange<int64_t>(1, 101);
  RC_ASSERT(run_transform(text, sample.field("data"), rows, one).rows ==
            run_transform(text, sample.field("data"), rows, other).rows);
}

}  // namespace
}  // namespace dataline::testing
