// Operators of colour, borders, erasing and policies: what comes out of which fields, and the errors of those that do not
// fit.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "core/base/text.h"
#include "tests/transform/color/pictures.h"
#include "tests/transform/support/runner.h"

namespace dataline::operators_test {
namespace {

using tests::RunResult;

struct Fit {
  std::string_view text;
  std::vector<int64_t> shape;
  std::string_view axes;
  std::string_view output;
};

TEST(ColorOperators, SayWhatComesOut) {
  const Fit fits[] = {
      {"color_jitter(0.4)", {9, 8, 3}, "HWC", "u8[9x8x3]HWC"},
      {"color_jitter(b=0.4, c=[0.5, 1.5], s=0.2, h=0.1)", {3, 9, 8}, "CHW", "u8[3x9x8]CHW"},
      {"grayscale(p=0.2)", {9, 8, 3}, "HWC", "u8[9x8x3]HWC"},
      {"grayscale(channels=1)", {9, 8, 3}, "HWC", "u8[9x8x1]HWC"},
      {"grayscale(channels=1), normalize(mnist), chw", {9, 8, 3}, "HWC", "f32[1x9x8]CHW"},
      {"grayscale(channels=3)", {9, 8}, "HW", "u8[9x8x3]HWC"},
      {"grayscale(channels=3)", {1, 9, 8}, "CHW", "u8[3x9x8]CHW"},
      {"grayscale(1)", {9, 8}, "HW", "u8[9x8]HW"},
      {"gaussian_blur(3)", {9, 8, 4}, "HWC", "u8[9x8x4]HWC"},
      {"gaussian_blur([15, 3], sigma=1.5)", {9, 8, 3}, "HWC", "u8[9x8x3]HWC"},
      {"solarize(128), posterize(4, p=1), equalize, autocontrast(1), invert(p=0.1)",
       {9, 8, 3},
       "HWC",
       "u8[9x8x3]HWC"},
      {"sharpness(2)", {9, 8}, "HW", "u8[9x8]HW"},
      {"pad(2)", {9, 8, 3}, "HWC", "u8[13x12x3]HWC"},
      {"pad([1, 2], fill=[1, 2, 3])", {3, 9, 8}, "CHW", "u8[3x13x10]CHW"},
      {"pad([1, 2, 3, 4], mode=reflect)", {9, 8}, "HW", "u8[15x12]HW"},
      {"random_erasing", {9, 8, 3}, "HWC", "u8[9x8x3]HWC"},
      {"normalize(imagenet), chw, random_erasing(p=1, value=random)", {9, 8, 3}, "HWC", "f32[3x9x8]CHW"},
      {"normalize(imagenet), random_erasing(1, scale=[0.1, 0.2], ratio=[1, 1], value=[0, 1, 2])",
       {9, 8, 3},
       "HWC",
       "f32[9x8x3]HWC"},
      {"normalize(imagenet), cast(u8), random_erasing(1, value=7)", {9, 8, 3}, "HWC", "u8[9x8x3]HWC"},
      {"cast(f32), random_erasing(1, value=7)", {9, 8, 3}, "HWC", "f32[9x8x3]HWC"},
      {"rand_augment", {9, 8, 3}, "HWC", "u8[9x8x3]HWC"},
      {"rand_augment(n=3, m=4, bins=11, filter=bilinear, fill=128)", {9, 8}, "HW", "u8[9x8]HW"},
      {"trivial_augment(bins=11, fill=[1, 2, 3])", {3, 9, 8}, "CHW", "u8[3x9x8]CHW"},
  };
  for (const Fit& fit : fits) {
    const Field field = image_field(fit.shape, std::string(fit.axes));
    const RunResult result = tests::run_transform(fit.text, field, pictures(field, 20));
    EXPECT_EQ(concat(field_type_text(result.output), result.output.axes), fit.output) << fit.text;
    EXPECT_TRUE(result.errors.empty()) << fit.text;
  }
}

TEST(ColorOperators, FactorsThatChangeNothingLeaveEveryByteAsItIs) {
  const Field field = image_field({64, 64, 3}, "HWC");
  Rows rows = pictures(field, 4);
  for (size_t i = 0; i < rows[0].size(); ++i) rows[0][i] = static_cast<std::byte>(random_bits(1, i) & 0xff);
  for (const char* text : {"color_jitter(0)", "color_jitter(c=0)", "color_jitter(s=0)", "color_jitter(h=0)",
                           "color_jitter(b=[1, 1], c=[1, 1], s=[1, 1], h=[0, 0])"})
    EXPECT_TRUE(tests::run_transform(text, field, rows).rows == rows) << text;
}

struct Misfit {
  std::string_view axes;
  std::vector<int64_t> shape;
  std::string_view text;
  int64_t column;
  std::string_view message;
};

TEST(ColorOperators, MisfitsNameColumnExpectedAndGot) {
  const Misfit misfits[] = {
      {"HWC",
       {9, 8, 4},
       "color_jitter(0.4)",
       1,
       "color_jitter: expected 1 or 3 channels, got 4; decode(mode=rgb) delivers 3"},
      {"HWC",
       {9, 8, 4},
       "equalize",
       1,
       "equalize: expected 1 or 3 channels, got 4; decode(mode=rgb) delivers 3"},
      {"HWC", {9, 8, 2}, "invert", 1, "invert: expected 1, 3 or 4 channels, got 2"},
      {"HWC",
       {9, 8, 3},
       "color_jitter",
       1,
       "color_jitter: expected brightness=, contrast=, saturation= or hue=, got none"},
      {"HWC",
       {9, 8, 3},
       "color_jitter(-1)",
       14,
       "color_jitter: brightness: expected a number from 0 to 1000000, got '-1'"},
      {"HWC",
       {9, 8, 3},
       "color_jitter(b=1, brightness=1)",
       19,
       "expected each argument of color_jitter once, got 'brightness' twice"},
      {"HWC",
       {9, 8, 3},
       "color_jitter(hue=0.6)",
       18,
       "color_jitter: hue: expected a number from 0 to 0.5, got '0.6'"},
      {"HWC",
       {9, 8, 3},
       "color_jitter(h=[-0.6, 0])",
       16,
       "color_jitter: hue: expected two numbers from -0.5 to 0.5, the smaller first, got '[-0.6, 0]'"},
      {"HWC",
       {9, 8, 3},
       "color_jitter(c=[2, 1])",
       16,
       "color_jitter: contrast: expected two numbers from 0 to 1000000, the smaller first, got '[2, 1]'"},
      {"HWC",
       {9, 8, 3},
       "color_jitter(s=[1, 2, 3])",
       16,
       "color_jitter: saturation: expected two numbers from 0 to 1000000, the smaller first, got '[1, 2, "
       "3]'"},
      {"HWC",
       {9, 8, 3},
       "normalize(imagenet), color_jitter(1)",
       22,
       "color_jitter: expected u8 pixels, got f32: put it before casts and normalize"},
      {"HWC",
       {9, 8, 3},
       "grayscale",
       1,
       "grayscale: expected p= (a probability) or channels= (1 or 3), got none"},
      {"HWC",
       {9, 8, 3},
       "grayscale(1, channels=1)",
       1,
       "grayscale: expected p= (a probability) or channels= (1 or 3), got both"},
      {"HWC", {9, 8, 3}, "grayscale(channels=2)", 20, "grayscale: channels: expected 1 or 3, got '2'"},
      {"HWC",
       {9, 8, 3},
       "grayscale(channels=4)",
       20,
       "grayscale: channels: expected a whole number from 1 to 3, got '4'"},
      {"HWC", {9, 8, 3}, "grayscale(p=2)", 13, "grayscale: p: expected a number from 0 to 1, got '2'"},
      {"HWC",
       {9, 8, 3},
       "gaussian_blur(4)",
       15,
       "gaussian_blur: kernel: expected an odd number, or [width, height] of two, got '4'"},
      {"HWC",
       {9, 8, 3},
       "gaussian_blur([3, 3, 3])",
       15,
       "gaussian_blur: kernel: expected an odd number, or [width, height] of two, got '[3, 3, 3]'"},
      {"HWC",
       {9, 8, 3},
       "gaussian_blur(257)",
       15,
       "gaussian_blur: kernel: expected whole numbers from 1 to 255, got '257'"},
      {"HWC",
       {9, 8, 3},
       "gaussian_blur(17)",
       15,
       "gaussian_blur: kernel: expected less than twice the sides of the image, 8 wide, 9 high, got '17'"},
      {"HWC",
       {9, 8, 3},
       "gaussian_blur(3, sigma=0)",
       24,
       "gaussian_blur: sigma: expected a number of pixels of at least 0.001, or two, the smaller first, got "
       "'0'"},
      {"HWC",
       {9, 8, 3},
       "gaussian_blur(3, sigma=[2, 1])",
       24,
       "gaussian_blur: sigma: expected a number of pixels of at least 0.001, or two, the smaller first, got "
       "'[2, 1]'"},
      {"HWC", {9, 8, 3}, "solarize", 1, "solarize: expected a value for threshold, got none"},
      {"HWC",
       {9, 8, 3},
       "solarize(256)",
       10,
       "solarize: threshold: expected a number from 0 to 255, got '256'"},
      {"HWC", {9, 8, 3}, "posterize(9)", 11, "posterize: bits: expected a whole number from 0 to 8, got '9'"},
      {"HWC", {9, 8, 3}, "invert(1.5)", 8, "invert: p: expected a number from 0 to 1, got '1.5'"},
      {"HWC",
       {9, 8, 3},
       "sharpness(-1)",
       11,
       "sharpness: factor: expected a number from 0 to 1000000, got '-1'"},
      {"HWC", {9, 8, 3}, "pad([1, 2, 3])", 5, "pad: padding: expected 1, 2 or 4 numbers, got '[1, 2, 3]'"},
      {"HWC",
       {9, 8, 3},
       "pad(8, mode=reflect)",
       5,
       "pad: padding: pad: expected an image of at least 9 wide, 9 high for this padding and mode, got 8 "
       "wide, 9 high"},
      {"HWC",
       {9, 8, 3},
       "pad(1, fill=7, mode=edge)",
       13,
       "pad: fill: expected it only with mode=constant, got mode=edge"},
      {"HWC",
       {9, 8, 3},
       "pad(1, fill=[1, 2])",
       13,
       "pad: fill: expected one value, or one for each of 3 channels, got '[1, 2]'"},
      {"HWC",
       {9, 8, 3},
       "random_erasing(value=random)",
       22,
       "random_erasing: value: expected a number, or floats to erase with normal values, got u8: put "
       "random_erasing after "
       "normalize"},
      {"HWC",
       {9, 8, 3},
       "random_erasing(scale=[0.5, 2])",
       22,
       "random_erasing: scale: expected two numbers from 0 to 1, the smaller first, got '[0.5, 2]'"},
      {"HWC",
       {9, 8, 3},
       "random_erasing(ratio=[0, 1])",
       22,
       "random_erasing: ratio: expected two numbers above 0, the smaller first, got '[0, 1]'"},
      {"HWC",
       {9, 8, 3},
       "random_erasing(value=[1, 2])",
       22,
       "random_erasing: value: expected one value, or one for each of 3 channels, got '[1, 2]'"},
      {"HWC",
       {9, 8, 3},
       "rand_augment(n=-1)",
       16,
       "rand_augment: n: expected a whole number from 0 to 100, got '-1'"},
      {"HWC",
       {9, 8, 3},
       "rand_augment(m=31)",
       16,
       "rand_augment: m: expected a whole number from 0 to 30, got '31'"},
      {"HWC", {9, 8, 3}, "rand_augment(bins=5)", 19, "rand_augment: bins: expected more than m, 9, got '5'"},
      {"HWC",
       {9, 8, 3},
       "trivial_augment(1)",
       17,
       "trivial_augment: bins: expected a whole number from 2 to 65536, got '1'"},
      {"HWC",
       {9, 8, 3},
       "trivial_augment(filter=bicubic)",
       24,
       "trivial_augment: filter: expected one of nearest, bilinear, got 'bicubic'"},
  };
  for (const Misfit& misfit : misfits) {
    const Field field = image_field(misfit.shape, std::string(misfit.axes));
    const auto compiled = compile_transforms(misfit.text, std::span(&field, 1));
    ASSERT_FALSE(compiled.is_ok()) << misfit.text;
    EXPECT_EQ(compiled.status().code(), Code::kBadTransform) << misfit.text;
    EXPECT_EQ(compiled.status().column(), misfit.column) << misfit.text;
    EXPECT_EQ(
        compiled.status().message().find(concat("transform: column ", misfit.column, ": ", misfit.message)),
        0u)
        << compiled.status().message();
  }
  RecordProperty("cases", static_cast<int>(std::size(misfits)));
}

}  // namespace
}  // namespace dataline::operators_test
