// Operators against fields: which texts fit which fields, what comes out of them, and the errors of those that
// do not fit; the table that bindings and the shell show.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "core/base/text.h"
#include "core/transform/transform.h"
#include "tests/transform/support/field_text.h"

namespace dataline::operators_test {
namespace {

struct Fit {
  std::string_view field;
  std::string_view text;
  std::string_view output;
  bool identity = false;
};

constexpr Fit kFits[] = {
    {"a:u8[28x28]HW", "", "u8[28x28]HW", true},
    {"a:u8[28x28]HW", "normalize(mnist)", "f32[28x28]HW"},
    {"a:u8[28x28]HW", "normalize(mnist), cast(f16)", "f16[28x28]HW"},
    {"a:u8[28x28]HW", "chw", "u8[1x28x28]CHW", true},
    {"a:u8[28x28]", "chw, normalize(mnist)", "f32[1x28x28]CHW"},
    {"a:u8[32x32x3]HWC", "chw", "u8[3x32x32]CHW"},
    {"a:u8[32x32x3]HWC", "hwc", "u8[32x32x3]HWC", true},
    {"a:u8[32x32x3]", "chw, normalize(imagenet)", "f32[3x32x32]CHW"},
    {"a:u8[3x32x32]CHW", "random_crop(28), flatten", "u8[2352]"},
    {"a:u8[3x32x32]CHW", "random_crop([30, 20], padding=4)", "u8[3x30x20]CHW"},
    {"a:u8[32x32x3]HWC", "center_crop(24)", "u8[24x24x3]HWC"},
    {"a:u8[32x32]HW", "center_crop(24x8)", "u8[24x8]HW"},
    {"a:u8[8x8]HW", "center_crop(9x4)", "u8[9x4]HW"},
    {"a:?u8[0]", "decode, resize(8x8), center_crop(9x8)", "u8[9x8x3]HWC"},
    {"a:?u8[0]", "decode, resize(8x8), normalize(imagenet), center_crop(9)", "f32[9x9x3]HWC"},
    {"a:u8[32x32x3]", "hflip", "u8[32x32x3]HWC"},
    {"a:u8[3x32x32]", "hflip", "u8[3x32x32]CHW"},
    {"a:i64", "one_hot(10)", "f32[10]"},
    {"a:u8[4x4]HW", "one_hot(7, dtype=bool)", "bool[4x4x7]HWC"},
    {"a:i64", "reshape(1)", "i64[1]", true},
    {"a:i64", "flatten", "i64[1]", true},
    {"a:f32[6]", "reshape(shape=2x3)", "f32[2x3]", true},
    {"a:f32[0x6]", "reshape(3x0)", "f32[3x0]", true},
    {"a:u16[5]", "pad_to(8)", "u16[8]"},
    {"a:u16[5x2]TC", "pad_to(length=5, value=3)", "u16[5x2]TC"},
    {"a:?u16[0]", "pad_to(8), cast(i64)", "i64[8]"},
    {"a:?u8[0x3]", "pad_to(4, value=255)", "u8[4x3]"},
    {"a:?u8[0]", "cast(f32)", "?f32[-1]"},
    {"a:?u8[0]", "", "?u8[-1]", true},
    {"a:f64[2]", "cast(c64), cast(c128)", "c128[2]"},
    {"a:bool[2]", "scale(2)", "f32[2]"},
    {"a:i32[2]", "scale(0.5), normalize(mean=1, std=2)", "f32[2]"},
    {"a:u8[2]", "cast(f32), scale(0.00392), normalize(mean=[0.5], std=[0.5])", "f32[2]"},
    {"a:u8[4x4x3]HWC", "cast(f32), scale(0.00392), normalize(cifar10)", "f32[4x4x3]HWC"},
    {"a:f32[4x4x3]HWC", "normalize(preset=\"imagenet\")", "f32[4x4x3]HWC"},
    {"a:c64[3]", "cast(c64), flatten", "c64[3]", true},
    {"a:?u8[0]", "decode", "u8[-1x-1x3]HWC"},
    {"a:?u8[0]", "decode(gray), chw", "u8[1x-1x-1]CHW"},
    {"a:?u8[0]", "decode(mode=rgba, orientation=true), hflip, vflip(0.1)", "u8[-1x-1x4]HWC"},
    {"a:?u8[0]", "decode, normalize(imagenet), chw", "f32[3x-1x-1]CHW"},
    {"a:?u8[0]", "decode, resize(256)", "u8[-1x-1x3]HWC"},
    {"a:?u8[0]", "decode, resize(256), center_crop(224), normalize(imagenet), chw", "f32[3x224x224]CHW"},
    {"a:?u8[0]", "decode, random_resized_crop(224), hflip, normalize(imagenet), chw, cast(f16)",
     "f16[3x224x224]CHW"},
    {"a:?u8[0]", "decode, resize([7, 9], filter=lanczos), scale(2), flatten", "f32[189]"},
    {"a:?u8[0]", "decode, cast(f32), random_crop(8), vflip", "f32[8x8x3]HWC"},
    {"a:?u8[0]", "decode, random_crop([20, 10], padding=4, mode=reflect), chw, resize(5)", "u8[3x10x5]CHW"},
    {"a:u8[32x24x3]HWC", "resize(48)", "u8[64x48x3]HWC"},
    {"a:u8[32x24x3]HWC", "resize(48, max_size=56, antialias=false)", "u8[56x42x3]HWC"},
    {"a:u8[32x24x3]HWC", "resize(48, bilinear, 56, false)", "u8[56x42x3]HWC"},
    {"a:u8[32x24x3]HWC", "resize(48, bilinear, none, false)", "u8[64x48x3]HWC"},
    {"a:u8[32x24x3]HWC", "random_crop(16, 4, fill=1), color_jitter(0.4, 0.4, 0.4, 0.1)", "u8[16x16x3]HWC"},
    {"a:u8[32x24x3]HWC", "affine(10, none, [0.9, 1.1], none, bilinear)", "u8[32x24x3]HWC"},
    {"a:u8[3x32x24]CHW", "random_resized_crop(16x8, scale=[0.5, 1], ratio=[1, 1])", "u8[3x16x8]CHW"},
    {"a:u8[28x28]HW", "resize(14), normalize(mnist)", "f32[14x14]HW"},
    {"a:u8[28x28]HW", "random_crop(28, padding=4, mode=symmetric)", "u8[28x28]HW"},
    {"a:u8[28x28]HW", "cast(f32), cast(u8), resize(14)", "u8[14x14]HW"},
    {"a:u16[3x9x9]CHW", "vflip, chw", "u16[3x9x9]CHW"},
    {"a:u8[8x8x2]HWC", "vflip, center_crop(4)", "u8[4x4x2]HWC"},
};

TEST(Operators, FitFieldsAndSayWhatComesOut) {
  for (const auto& [input, text, output, identity] : kFits) {
    const Field field = field_from(input);
    const auto compiled = compile_transforms(text, std::span(&field, 1));
    ASSERT_TRUE(compiled.is_ok()) << input << " " << text << ": " << compiled.status().message();
    EXPECT_EQ(written(compiled.value().programs[0]->output()), output) << input << " " << text;
    EXPECT_EQ(compiled.value().programs[0]->identity(), identity) << input << " " << text;
    EXPECT_EQ(compiled.value().programs[0]->output().name, "a");
  }
}

struct Misfit {
  std::string_view field;
  std::string_view text;
  int64_t column;
  std::string_view message;
};

constexpr Misfit kMisfits[] = {
    {"a:u8[4]", "nomalize(mnist)", 1, "expected an operator, got 'nomalize', did you mean 'normalize'?"},
    {"a:u8[4]", "flatten, zzz", 10, "expected an operator, got 'zzz'"},
    {"a:u8[4]", "flatten(3)", 9, "flatten: expected no arguments, got '3'"},
    {"a:u8[4]", "cast", 1, "cast: expected a value for dtype, got none"},
    {"a:u8[4]", "cast()", 1, "cast: expected a value for dtype, got none"},
    {"a:u8[4]", "cast(type=f32)", 6, "cast: expected one of dtype, got 'type', did you mean 'dtype'?"},
    {"a:u8[4]", "cast(f32, dtype=f16)", 11, "expected each argument of cast once, got 'dtype' twice"},
    {"a:u8[4]", "cast(f32, f16)", 11, "cast: expected no more arguments than dtype, got 'f16'"},
    {"a:u8[4]", "pad_to(8, 0, 1)", 14, "pad_to: expected no more arguments than length, value, got '1'"},
    {"a:u8[4]", "pad_to(8, 0, value=1)", 14, "expected each argument of pad_to once, got 'value' twice"},
    {"a:u8[3x4x4]CHW", "normalize(imagenet, 0.5)", 21,
     "normalize: expected a name here (mean, std), got '0.5'"},
    {"a:u8[3x4x4]CHW", "normalize([0.5], [1])", 18,
     "normalize: expected a name here (mean, std), got '[1]': write normalize(mean=[0.5], std=[1])"},
    {"a:u8[8x8]HW", "random_crop(8, 1, 0)", 19,
     "random_crop: expected a name here (fill, mode), got '0': write random_crop(8, 1, fill=0)"},
    {"a:u8[4]", "v2.Resize(3)", 1, "expected an operator, got 'v2.Resize', did you mean 'resize'?"},
    {"a:u8[4]", "torchvision.transforms.v2.RandomHorizontalFlip()", 1,
     "expected an operator, got 'torchvision.transforms.v2.RandomHorizontalFlip', did you mean 'hflip'?"},
    {"a:u8[4]", "RandomHorizontalFlip()", 1,
     "expected an operator, got 'RandomHorizontalFlip', did you mean 'hflip'?"},
    {"a:u8[4]", "v2.Resise", 1, "expected an operator, got 'v2.Resise', did you mean 'resize'?"},
    {"a:u8[4]", "cast(none)", 6,
     "cast: dtype: expected a dtype (bool, u8, u16, u32, u64, i8, i16, i32, i64, f16, "
     "bf16, f32, f64, c64, c128), got 'none'"},
    {"a:u8[4]", "cast(float)", 6,
     "cast: dtype: expected a dtype (bool, u8, u16, u32, u64, i8, i16, i32, i64, f16, "
     "bf16, f32, f64, c64, c128), got 'float'"},
    {"a:u8[4]", "cast(3)", 6,
     "cast: dtype: expected a dtype (bool, u8, u16, u32, u64, i8, i16, i32, i64, f16, bf16, "
     "f32, f64, c64, c128), got '3'"},
    {"a:c64[4]", "cast(f32)", 1, "cast: expected real numbers, got c64"},
    {"a:c128[4]", "scale(2)", 1, "scale: expected real numbers, got c128"},
    {"a:u8[4]", "scale(0)", 7, "scale: factor: expected a number other than 0 that fits in f32, got '0'"},
    {"a:u8[4]", "scale(1e300)", 7,
     "scale: factor: expected a number other than 0 that fits in f32, got '1e300'"},
    {"a:u8[4]", "scale(two)", 7, "scale: factor: expected a number, got 'two'"},
    {"a:i32[4]", "normalize(mnist)", 1,
     "normalize: expected u8, u16 or floats, got i32; scale converts it to floats"},
    {"a:bool[4]", "normalize(mnist)", 1, "normalize: expected u8, u16 or floats, got bool"},
    {"a:c64[4]", "normalize(mnist)", 1, "normalize: expected real numbers, got c64"},
    {"a:u8[4]", "normalize", 1,
     "normalize: expected a preset (imagenet, cifar10, mnist) or both mean= and std="},
    {"a:u8[4]", "normalize(mean=0.5)", 1,
     "normalize: expected a preset (imagenet, cifar10, mnist) or both mean= and std="},
    {"a:u8[4]", "normalize(mnist, mean=0.5)", 1, "normalize: pass either a preset, or mean= and std="},
    {"a:u8[4]", "normalize(mnis)", 11,
     "normalize: preset: expected imagenet, cifar10, mnist, or mean= and std=, got 'mnis', did you mean "
     "'mnist'?"},
    {"a:u8[4]", "normalize(0.5)", 11, "normalize: preset: expected a word, got '0.5'"},
    {"a:u8[4]", "normalize(mean=0, std=0)", 23, "normalize: std: expected numbers above 0, got '0'"},
    {"a:u8[4]", "normalize(mean=0, std=[1, -1])", 23,
     "normalize: std: expected axes that mark the channels of u8[4], got none for 2 values; set axes=HWC in "
     "the URI"},
    {"a:u8[4]", "normalize(mean=1, std=1e-60)", 23,
     "normalize: std: expected mean and std whose quotients fit in f32, got '1e-60'"},
    {"a:u8[4]", "normalize(mean=0, std=1e60)", 23,
     "normalize: std: expected mean and std whose quotients fit in f32, got '1e60'"},
    {"a:u8[4x4]HW", "normalize(imagenet)", 11, "normalize: preset: expected one value for axes HW, got 3"},
    {"a:u8[4x4x4]HWC", "normalize(imagenet)", 11,
     "normalize: preset: expected one value, or one for each of 4 channels, got 3"},
    {"a:u8[4x4x3]", "normalize(imagenet)", 11,
     "normalize: preset: expected axes that mark the channels of u8[4x4x3], got none for 3 values; set "
     "axes=HWC in the URI"},
    {"a:u8[4x4x3]HWC", "cast(f32), normalize(imagenet)", 12,
     "normalize: expected u8 or u16, or floats from 0 to 1, for preset imagenet, got pixels cast to f32; "
     "remove the cast, normalize converts"},
    {"a:u8[4x4x3]HWC", "cast(i32), hflip, cast(f16), normalize(cifar10)", 30,
     "normalize: expected u8 or u16, or floats from 0 to 1, for preset cifar10, got pixels cast to f16; "
     "remove the cast, normalize converts"},
    {"a:u8[4x4x3]HWC", "normalize(mean=[1, 2], std=1)", 16,
     "normalize: mean: expected one value, or one for each of 3 channels, got 2"},
    {"a:u8[4x4x3]HWC", "normalize(mean=[], std=1)", 16,
     "normalize: mean: expected a number or a list of numbers, got '[]'"},
    {"a:u8[4x4x3]HWC", "normalize(mean=[a], std=1)", 16, "normalize: mean: expected numbers, got '[a]'"},
    {"a:u8[4]", "reshape(5)", 9, "reshape: shape: expected 4 elements, as u8[4] has, got 5"},
    {"a:u8[4]", "reshape(3000000000x3000000000x3000000000)", 9,
     "reshape: shape: expected 4 elements, as u8[4] has, got 3000000000x3000000000x3000000000"},
    {"a:u8[4]", "reshape(-4)", 9, "reshape: shape: expected whole numbers of at least 0, got '-4'"},
    {"a:u8[4]", "reshape(4.0)", 9, "reshape: shape: expected one or more whole numbers, got '4.0'"},
    {"a:?u8[0]", "reshape(4)", 1,
     "reshape: expected samples of one shape, got u8[-1], whose length varies; pad_to makes them equal"},
    {"a:?u8[0]", "hflip", 1, "hflip: expected an image, got u8[-1], encoded bytes: put decode before"},
    {"a:?u16[0]", "hflip", 1,
     "hflip: expected samples of one shape, got u16[-1], whose length varies; pad_to makes them equal"},
    {"a:u8[4]", "chw", 1, "chw: expected an image of 2 or 3 dims, got u8[4]"},
    {"a:u8[4x4x4x4]", "hwc", 1, "hwc: expected an image of 2 or 3 dims, got u8[4x4x4x4]"},
    {"a:u8[4x4]TC", "chw", 1, "chw: expected axes HW, HWC or CHW, got TC"},
    {"a:u8[28x28x28]", "hflip", 1,
     "hflip: expected axes HWC or CHW, got u8[28x28x28] without axes; set axes=HWC in the URI"},
    {"a:u8[3x28x3]", "hflip", 1,
     "hflip: expected axes HWC or CHW, got u8[3x28x3] without axes; set axes=HWC in the URI"},
    {"a:u8[8x8]HW", "hflip(1.5)", 7, "hflip: p: expected a number from 0 to 1, got '1.5'"},
    {"a:u8[8x8]HW", "hflip(p=-0.1)", 9, "hflip: p: expected a number from 0 to 1, got '-0.1'"},
    {"a:u8[8x8]HW", "random_crop(9)", 13,
     "random_crop: size: expected at most 8x8, the image with its padding, got 9x9"},
    {"a:u8[8x8]HW", "random_crop([8, 13], padding=[2, 0])", 13,
     "random_crop: size: expected at most 8x12, the image with its padding, got 8x13"},
    {"a:u8[8x8]HW", "random_crop(0)", 13,
     "random_crop: size: expected whole numbers from 1 to 16777216, got '0'"},
    {"a:u8[8x8]HW", "random_crop([1, 2, 3])", 13,
     "random_crop: size: expected one side or [height, width], got '[1, 2, 3]'"},
    {"a:u8[8x8]HW", "random_crop(8, padding=[1, 2, 3])", 24,
     "random_crop: padding: expected 1, 2 or 4 numbers, got '[1, 2, 3]'"},
    {"a:u8[8x8]HW", "random_crop(8, padding=-1)", 24,
     "random_crop: padding: expected whole numbers from 0 to 16777216, got '-1'"},
    {"a:u8[8x8]HW", "random_crop(8, padding=1, fill=256)", 32,
     "random_crop: fill: expected a value that u8 holds, got '256'"},
    {"a:u8[8x8]HW", "random_crop(8, padding=1, fill=0.5)", 32,
     "random_crop: fill: expected a value that u8 holds, got '0.5'"},
    {"a:u8[8x8]HW", "random_crop(8, padding=1, fill=[1, 2])", 32,
     "random_crop: fill: expected one value, or one for each of 1 channels, got '[1, 2]'"},
    {"a:u8[8x8]HW", "random_crop(8, pading=1)", 16,
     "random_crop: expected one of size, padding, fill, mode, got 'pading', did you mean 'padding'?"},
    {"a:u8[8]", "pad_to(7)", 8, "pad_to: length: expected at least 8, the length of u8[8], got 7"},
    {"a:u8[8]", "pad_to(9, value=300)", 17, "pad_to: value: expected a value that u8 holds, got '300'"},
    {"a:u8[8]", "pad_to(-1)", 8, "pad_to: length: expected a whole number of at least 0, got '-1'"},
    {"a:u8[8x2]", "pad_to(4611686018427387904)", 1,
     "pad_to: expected a sample that can be held in memory, got shape 4611686018427387904x2"},
    {"a:u8", "pad_to(8)", 1, "pad_to: expected a sequence, got a single u8"},
    {"a:u8[8x8]HW", "pad_to(9)", 1, "pad_to: expected a sequence, got an image with axes HW"},
    {"a:f32", "one_hot(10)", 1, "one_hot: expected integer labels, got f32"},
    {"a:i64", "one_hot(0)", 9, "one_hot: n: expected a whole number of at least 1, got '0'"},
    {"a:i64", "one_hot(10, dtype=int)", 19,
     "one_hot: dtype: expected a dtype (bool, u8, u16, u32, u64, i8, i16, i32, i64, f16, bf16, f32, f64, "
     "c64, c128), "
     "got 'int'"},
    {"a:i64[9]", "one_hot(1000000000000000000)", 1,
     "one_hot: expected a sample that can be held in memory, got shape 9x1000000000000000000"},
    {"a:u8[8x8x3]HWC", "decode", 1,
     "decode: expected encoded bytes, u8[-1], got u8[8x8x3], which is already pixels"},
    {"a:i64", "decode", 1, "decode: expected encoded bytes, u8[-1], got i64"},
    {"a:?u16[0]", "decode", 1, "decode: expected encoded bytes, u8[-1], got u16[-1]"},
    {"a:?u8[0x2]", "decode", 1, "decode: expected encoded bytes, u8[-1], got u8[-1x2]"},
    {"a:?u8[0]", "decode, hflip, decode", 16,
     "decode: expected encoded bytes, got an image that is already decoded"},
    {"a:?u8[0]", "decode(grey)", 8,
     "decode: mode: expected one of rgb, gray, rgba, unchanged, got 'grey', did you mean 'gray'?"},
    {"a:?u8[0]", "decode(3)", 8, "decode: mode: expected one of rgb, gray, rgba, unchanged, got '3'"},
    {"a:?u8[0]", "decode(orientation=1)", 20, "decode: orientation: expected one of false, true, got '1'"},
    {"a:?u8[0]", "decode(unchanged)", 8,
     "decode: mode: expected a first record whose header states channels and bits: the first record of field "
     "'a' cannot be read here"},
    {"a:?u8[0]", "resize(8)", 1, "resize: expected an image, got u8[-1], encoded bytes: put decode before"},
    {"a:?u8[0]", "random_resized_crop(8)", 1,
     "random_resized_crop: expected an image, got u8[-1], encoded bytes: put decode before"},
    {"a:?u16[0]", "resize(8)", 1,
     "resize: expected u8 pixels, got u16: decode without mode=unchanged delivers u8"},
    {"a:?u8[0]", "decode, normalize(imagenet), resize(8)", 30,
     "resize: expected u8 pixels, got f32: put it before casts and normalize"},
    {"a:?u8[0]", "decode, cast(i16), cast(u8), resize(8)", 30,
     "resize: expected samples of one size, got u8[-1x-1x3], which differ; put it before the casts"},
    {"a:?u8[0]", "decode, flatten", 9,
     "flatten: expected samples of one size, got u8[-1x-1x3], which differ; resize or a crop makes them "
     "equal"},
    {"a:?u8[0]", "decode, one_hot(3)", 9,
     "one_hot: expected samples of one size, got u8[-1x-1x3], which differ; resize or a crop makes them "
     "equal"},
    {"a:?u8[0]", "decode, pad_to(9)", 9, "pad_to: expected a sequence, got an image with axes HWC"},
    {"a:?u8[0]", "normalize(imagenet)", 1,
     "normalize: expected an image, got u8[-1], encoded bytes: put decode before"},
    {"a:?u8[0]", "decode(gray), normalize(imagenet)", 25,
     "normalize: preset: expected one value, or one for each of 1 channels, got 3"},
    {"a:u8[0x8]HW", "resize(8)", 1,
     "resize: expected an image with sides from 1 to 16777216, got 8 wide, 0 high"},
    {"a:u8[4x16777217x3]HWC", "random_resized_crop(8)", 1,
     "random_resized_crop: expected an image with sides from 1 to 16777216, got 16777217 wide, 4 high"},
    {"a:u8[8x8x2]HWC", "resize(8)", 1, "resize: expected 1, 3 or 4 channels, got 2"},
    {"a:u8[8x8]HW", "resize", 1, "resize: expected a value for size, got none"},
    {"a:u8[8x8]HW", "resize(4, 5)", 11, "resize: size: expected a list, got 2 numbers: write resize([4, 5])"},
    {"a:u8[8x8]HW", "resize(4, 5, antialias=true)", 11,
     "resize: size: expected a list, got 2 numbers: write resize([4, 5], antialias=true)"},
    {"a:u8[8x8]HW", "resize(4, 5, bilinear)", 11,
     "resize: size: expected a list, got 2 numbers: write resize([4, 5], bilinear)"},
    {"a:u8[8x8]HW", "pad(1, 2, 3, 4)", 11,
     "pad: padding: expected a list, got 4 numbers: write pad([1, 2, 3, 4]) or pad(1, [2, 3, 4])"},
    {"a:u8[8x8]HW", "gaussian_blur(3, 3, 1)", 21,
     "gaussian_blur: sigma: expected a list, got 2 numbers: write gaussian_blur(3, [3, 1])"},
    {"a:u8[8x8]HW", "resize((4, 5))", 8, "expected a list in [ ], got '(4, 5)': write resize([4, 5])"},
    {"a:u8[8x8]HW", "resize({4,5}, \"bilinear\")", 8,
     "expected a list in [ ], got '{4,5}': write resize([4,5], \"bilinear\")"},
    {"a:u8[8x8]HW", "resize(size=(4, 5), antialias=true)", 13,
     "expected a list in [ ], got '(4, 5)': write resize(size=[4, 5], antialias=true)"},
    {"a:u8[8x8]HW", "gaussian_blur(3, (0.1, 2))", 18,
     "expected a list in [ ], got '(0.1, 2)': write gaussian_blur(3, [0.1, 2])"},
    {"a:u8[8x8]HW", "pad((1, 2), (3, 4))", 5,
     "expected a list in [ ], got '(1, 2)': write pad([1, 2], [3, 4])"},
    {"a:u8[3x8x8]CHW", "normalize((0.5, 0.5, 0.5), (1, 1, 1))", 11,
     "expected a list in [ ], got '(0.5, 0.5, 0.5)': write normalize(mean=[0.5, 0.5, 0.5], std=[1, 1, 1])"},
    {"a:u8[3x8x8]CHW", "normalize(mean=(0.5,), std=0.5)", 16,
     "expected a list in [ ], got '(0.5,)': write normalize(mean=[0.5], std=0.5)"},
    {"a:u8[8x8]HW", "center_crop(4, 5)", 16,
     "center_crop: size: expected a list, got 2 numbers: write center_crop([4, 5])"},
    {"a:u8[8x8]HW", "random_resized_crop(4, 5)", 24,
     "random_resized_crop: size: expected a list, got 2 numbers: write random_resized_crop([4, 5])"},
    {"a:u8[8x8]HW", "random_resized_crop(4, 0.5, 1)", 24,
     "random_resized_crop: scale: expected a list, got 2 numbers: write random_resized_crop(4, [0.5, 1])"},
    {"a:u8[8x8]HW", "reshape(4, 16)", 9,
     "reshape: shape: expected a list, got 2 numbers: write reshape([4, 16])"},
    {"a:u8[8x8]HW", "rotate(-5, 5)", 12,
     "rotate: degrees: expected a list, got 2 numbers: write rotate([-5, 5])"},
    {"a:u8[8x8]HW", "affine(5, 0.1, 0.2)", 11,
     "affine: translate: expected a list, got 2 numbers: write affine(5, [0.1, 0.2])"},
    {"a:u8[8x8]HW", "resize(0)", 8, "resize: size: expected whole numbers from 1 to 16777216, got '0'"},
    {"a:u8[8x8]HW", "resize([1, 2, 3])", 8,
     "resize: size: expected the shorter side or [height, width], got '[1, 2, 3]'"},
    {"a:u8[8x8]HW", "resize(4, filter=cubic)", 18,
     "resize: filter: expected one of nearest, bilinear, bicubic, area, lanczos, got 'cubic'"},
    {"a:u8[8x8]HW", "resize(4, antialias=yes)", 21,
     "resize: antialias: expected one of false, true, got 'yes'"},
    {"a:u8[8x8]HW", "resize(4x4, max_size=8)", 22,
     "resize: max_size: expected it only with one size, the shorter side, got '4x4' and '8'"},
    {"a:u8[8x8]HW", "resize(4, max_size=4)", 20,
     "resize: max_size: expected a whole number from 5 to 16777216, got '4'"},
    {"a:f32[8x8]HW", "random_resized_crop(4)", 1,
     "random_resized_crop: expected u8 pixels, got f32: put it before casts and normalize"},
    {"a:u8[8x8]HW", "random_resized_crop(4, scale=0.5)", 30,
     "random_resized_crop: scale: expected two numbers above 0, the smaller first, got '0.5'"},
    {"a:u8[8x8]HW", "random_resized_crop(4, scale=[1, 0.5])", 30,
     "random_resized_crop: scale: expected two numbers above 0, the smaller first, got '[1, 0.5]'"},
    {"a:u8[8x8]HW", "random_resized_crop(4, ratio=[0, 1])", 30,
     "random_resized_crop: ratio: expected two numbers above 0, the smaller first, got '[0, 1]'"},
    {"a:u8[8x8]HW", "random_resized_crop([1, 2, 3])", 21,
     "random_resized_crop: size: expected one side or [height, width], got '[1, 2, 3]'"},
    {"a:u8[8x8]HW", "vflip(2)", 7, "vflip: p: expected a number from 0 to 1, got '2'"},
    {"a:u8[8x8]HW", "random_crop(8, padding=8, mode=reflect)", 24,
     "random_crop: padding: pad: expected an image of at least 9 wide, 9 high for this padding and mode, got "
     "8 wide, 8 high"},
    {"a:u8[8x8]HW", "random_crop(8, padding=2, mode=mirror)", 32,
     "random_crop: mode: expected one of constant, edge, reflect, symmetric, got 'mirror'"},
    {"a:u8[8x8]HW", "random_crop(8, padding=2, fill=3, mode=edge)", 32,
     "random_crop: fill: expected it only with mode=constant, got mode=edge"},
    {"a:u16[8x8]HW", "random_crop(8, padding=2, mode=edge)", 1,
     "random_crop: expected u8 pixels, got u16: decode without mode=unchanged delivers u8"},
};

TEST(Operators, MisfitsNameColumnExpectedAndGot) {
  for (const auto& [input, text, column, message] : kMisfits) {
    const Field field = field_from(input);
    const auto compiled = compile_transforms(text, std::span(&field, 1));
    ASSERT_FALSE(compiled.is_ok()) << input << " " << text;
    EXPECT_EQ(compiled.status().code(), Code::kBadTransform) << input << " " << text;
    EXPECT_EQ(compiled.status().column(), column) << input << " " << text;
    EXPECT_EQ(compiled.status().message(), concat("transform: column ", column, ": ", message)) << input;
  }
  static_assert(std::size(kMisfits) >= 40);
  RecordProperty("cases", static_cast<int>(std::size(kMisfits)));
}

TEST(Table, EveryOperatorIsDescribedAndCompilesByItsName) {
  std::set<std::string_view> names;
  for (const OperatorInfo* entry : operator_table()) {
    const OperatorInfo& info = *entry;
    names.insert(info.name);
    EXPECT_FALSE(info.doc.empty()) << info.name;
    EXPECT_FALSE(info.source.empty()) << info.name;
    EXPECT_EQ(info.since, "0.1") << info.name;
    for (const OperatorArgument& argument : info.arguments) {
      EXPECT_FALSE(argument.name.empty()) << info.name;
      EXPECT_FALSE(argument.type.empty()) << info.name;
      EXPECT_EQ(argument.type.ends_with(", by name"), argument.by_name) << info.name << " " << argument.name;
    }
    const Field field = field_from("a:u8[8x8]HW");
    const auto compiled = compile_transforms(info.name, std::span(&field, 1));
    const std::string message = compiled.is_ok() ? "" : compiled.status().message();
    EXPECT_EQ(message.find("expected an operator"), std::string::npos) << info.name;
  }
  std::string sorted;
  for (std::string_view name : names) sorted.append(name).append(" ");
  EXPECT_EQ(sorted,
            "affine autocontrast cast center_crop chw color_jitter cutmix decode equalize "
            "flatten gaussian_blur grayscale hflip hwc invert mixup normalize one_hot pad "
            "pad_to perspective posterize rand_augment random_crop random_erasing "
            "random_resized_crop reshape resize rotate scale sharpness solarize trivial_augment "
            "vflip ");
}

}  // namespace
}  // namespace dataline::operators_test
