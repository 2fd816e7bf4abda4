// rotate, affine and perspective in the grammar: what comes out, and what is refused in which words.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/transform/transform.h"

namespace dataline::warp_operators_test {
namespace {

Field image_field() {
  Field field;
  field.name = "a";
  field.dtype = DType::kU8;
  field.shape = {8, 6, 3};
  field.axes = "HWC";
  return field;
}

TEST(WarpOperators, KeepTheSizeUnlessTheyExpand) {
  const Field field = image_field();
  for (const char* text :
       {"rotate(30)", "rotate([-10, 10], filter=bilinear, fill=[1, 2, 3])", "affine(0)",
        "affine(degrees=[5, 9], translate=[0.1, 1], scale=[0.5, 2], shear=[-5, 5, 0, 3], filter=bilinear, "
        "fill=7)",
        "perspective", "perspective(0.3, p=1, filter=nearest)", "rotate(45, expand=true), resize([8, 6])"}) {
    const auto compiled = compile_transforms(text, std::span(&field, 1));
    ASSERT_TRUE(compiled.is_ok()) << text << ": " << compiled.status().message();
    EXPECT_EQ(compiled.value().programs[0]->output().shape, field.shape) << text;
    EXPECT_EQ(compiled.value().programs[0]->output().dtype, DType::kU8) << text;
  }
}

TEST(WarpOperators, MisfitsSayExpectedAndGot) {
  const Field field = image_field();
  for (const auto& [text, words] : std::vector<std::pair<std::string, std::string>>{
           {"rotate", "expected a value for degrees, got none"},
           {"rotate(-3)", "degrees: expected degrees >= 0 or [low, high], got '-3'"},
           {"rotate([3, 1])", "degrees: expected [low, high] with low <= high, got '[3, 1]'"},
           {"rotate([1, 2, 3])", "degrees: expected degrees >= 0 or [low, high], got '[1, 2, 3]'"},
           {"rotate(3, filter=bicubic)", "filter: expected one of nearest, bilinear, got 'bicubic'"},
           {"rotate(3, fill=[1, 2])",
            "fill: expected one value, or one for each of 3 channels, got '[1, 2]'"},
           {"affine(3, translate=0.5)", "translate: expected [x, y] from 0 to 1, got '0.5'"},
           {"affine(3, translate=[0.5, 1.5])", "translate: expected [x, y] from 0 to 1, got '[0.5, 1.5]'"},
           {"affine(3, scale=[0, 1])", "scale: expected two numbers above 0"},
           {"affine(3, shear=90)", "shear: expected degrees from -89 to 89, got '90'"},
           {"affine(3, shear=[1, 2, 3])",
            "shear: expected degrees >= 0, [low, high] or [low, high, low, high], got '[1, 2, 3]'"},
           {"perspective(1.5)", "distortion: expected a number from 0 to 1, got '1.5'"},
           {"perspective(p=2)", "p: expected a number from 0 to 1, got '2'"},
           {"normalize(imagenet), rotate(3)",
            "expected u8 pixels, got f32: put it before casts and normalize"}}) {
    const auto compiled = compile_transforms(text, std::span(&field, 1));
    ASSERT_FALSE(compiled.is_ok()) << text;
    EXPECT_EQ(compiled.status().code(), Code::kBadTransform) << text;
    EXPECT_NE(compiled.status().message().find(words), std::string::npos) << compiled.status().message();
  }
}

}  // namespace
}  // namespace dataline::warp_operators_test
