// Colour operators against golden vectors that torchvision.transforms.v2.functional made, on every vector target.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/transform/color/adjust.h"
#include "core/transform/operators/stages.h"
#include "tests/transform/golden/golden.h"

namespace dataline::fidelity_test {
namespace {

// Sums of f32 may fall on the other side of a whole number.
GoldenRule rule_of(const GoldenCase& one) {
  if (one.op.starts_with("policy")) return {};
  if (one.op == "blur") return {one.op, 1, 1e-4};
  if (one.op == "grayscale" || one.op == "saturation" || one.op == "contrast") return {one.op, 1, 1e-5};
  return {one.op, 0, 0};
}

Padding padding_of(const GoldenCase& one) {
  const std::map<std::string, PadMode> modes{{"constant", PadMode::kConstant},
                                             {"edge", PadMode::kEdge},
                                             {"reflect", PadMode::kReflect},
                                             {"symmetric", PadMode::kSymmetric}};
  return {one.whole(0), one.whole(1), one.whole(2), one.whole(3), modes.at(one.arguments[4]), {9, 200, 31}};
}

Status run(const GoldenCase& one, SimdTarget target, Canvas& canvas) {
  const ColorKernels kernels = color_kernels(target);
  Frame& frame = canvas.frame;
  if (one.op == "brightness") adjust_brightness(one.number(0), frame);
  if (one.op == "contrast") adjust_contrast(kernels, one.number(0), frame);
  if (one.op == "saturation") adjust_saturation(kernels, one.number(0), frame);
  if (one.op == "hue") adjust_hue(kernels, one.number(0), frame);
  if (one.op == "sharpness") return adjust_sharpness(kernels, one.number(0), canvas.scratch, frame);
  if (one.op == "grayscale") return make_gray(kernels, one.whole(0), canvas.scratch, frame);
  if (one.op == "invert") map_levels(invert_levels(), frame);
  if (one.op == "solarize") map_levels(solarize_levels(one.number(0)), frame);
  if (one.op == "posterize") map_levels(posterize_levels(one.whole(0)), frame);
  if (one.op == "equalize") map_levels(equalize_levels(frame), frame);
  if (one.op == "autocontrast") map_levels(autocontrast_levels(frame), frame);
  if (one.op == "blur")
    return blur(kernels, gaussian_side(one.whole(0), one.number(2)),
                gaussian_side(one.whole(1), one.number(2)), canvas.scratch, frame);
  if (one.op == "pad") return make_pad(padding_of(one)).apply(Draws(0, 0, 1), canvas.scratch, frame);
  return Status::ok();
}

TEST(ColorFidelity, EachOperatorGivesTheLevelsOfTorchvision) {
  EXPECT_EQ(compare_golden("color", rule_of, run), 13u);
}

}  // namespace
}  // namespace dataline::fidelity_test
