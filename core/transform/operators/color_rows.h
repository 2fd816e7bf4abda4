// Rows of the table of operators: colour, borders, erasing, policies.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/transform/operators.h"

namespace dataline {

Status add_color_jitter(const Arguments& arguments, Plan& plan);
Status add_grayscale(const Arguments& arguments, Plan& plan);
Status add_gaussian_blur(const Arguments& arguments, Plan& plan);
Status add_solarize(const Arguments& arguments, Plan& plan);
Status add_posterize(const Arguments& arguments, Plan& plan);
Status add_equalize(const Arguments& arguments, Plan& plan);
Status add_autocontrast(const Arguments& arguments, Plan& plan);
Status add_invert(const Arguments& arguments, Plan& plan);
Status add_sharpness(const Arguments& arguments, Plan& plan);
Status add_pad(const Arguments& arguments, Plan& plan);
Status add_random_erasing(const Arguments& arguments, Plan& plan);
Status add_rand_augment(const Arguments& arguments, Plan& plan);
Status add_trivial_augment(const Arguments& arguments, Plan& plan);

namespace color_rows {

constexpr OperatorArgument kProbability = {"p", "number", "0.5"};
constexpr OperatorArgument kProbabilityOnly[] = {kProbability};
constexpr OperatorArgument kFactor = {"factor", "number", ""};
constexpr OperatorArgument kFilter = {"filter", "nearest or bilinear", "nearest"};
constexpr OperatorArgument kFill = {"fill", "number or list", "0"};
constexpr OperatorArgument kBins = {"bins", "integer", "31"};
constexpr OperatorArgument kColorJitter[] = {{"brightness", "number or list", "none"},
                                             {"contrast", "number or list", "none"},
                                             {"saturation", "number or list", "none"},
                                             {"hue", "number or list", "none"}};
constexpr OperatorArgument kGrayscale[] = {{"p", "number", "none"}, {"channels", "1 or 3", "none"}};
constexpr OperatorArgument kGaussianBlur[] = {{"kernel", "integer or list", ""},
                                              {"sigma", "number or list", "[0.1, 2]"}};
constexpr OperatorArgument kSolarize[] = {{"threshold", "number", ""}, kProbability};
constexpr OperatorArgument kPosterize[] = {{"bits", "integer", ""}, kProbability};
constexpr OperatorArgument kSharpness[] = {kFactor, kProbability};
constexpr OperatorArgument kPad[] = {
    {"padding", "integer or list", ""}, kFill, {"mode", "constant, edge, reflect or symmetric", "constant"}};
constexpr OperatorArgument kRandomErasing[] = {kProbability,
                                               {"scale", "list", "[0.02, 0.33]"},
                                               {"ratio", "list", "[0.3, 3.3]"},
                                               {"value", "number, list or random", "0"}};
constexpr OperatorArgument kRandAugment[] = {
    {"n", "integer", "2"}, {"m", "integer", "9"}, kBins, kFilter, kFill};
constexpr OperatorArgument kTrivialAugment[] = {kBins, kFilter, kFill};

}  // namespace color_rows

constexpr Operator kColorOperators[] = {
    {{"color_jitter", color_rows::kColorJitter,
      "Brightness, contrast and saturation times a random factor, hue turned by a random part of the circle, "
      "in random "
      "order. A number is how far from 1 (hue: 0) a factor may be, a list of two its range. Also b, c, s, h.",
      "torchvision.transforms.v2.ColorJitter", "0.1"},
     add_color_jitter},
    {{"grayscale", color_rows::kGrayscale,
      "Grey, 0.2989 R + 0.587 G + 0.114 B: with probability p in as many channels as before, or always in "
      "channels= 1 or "
      "3.",
      "torchvision.transforms.v2.RandomGrayscale, Grayscale", "0.1"},
     add_grayscale},
    {{"gaussian_blur", color_rows::kGaussianBlur,
      "Blurs with a kernel of odd size (or [width, height]) and a sigma in pixels, drawn from the range if "
      "it is one. The "
      "image is reflected at its borders.",
      "torchvision.transforms.v2.GaussianBlur", "0.1"},
     add_gaussian_blur},
    {{"solarize", color_rows::kSolarize,
      "Inverts the levels from a threshold (0 to 255) on, with probability p.",
      "torchvision.transforms.v2.RandomSolarize", "0.1"},
     add_solarize},
    {{"posterize", color_rows::kPosterize, "Keeps the upper bits (0 to 8) of each level, with probability p.",
      "torchvision.transforms.v2.RandomPosterize", "0.1"},
     add_posterize},
    {{"equalize", color_rows::kProbabilityOnly,
      "Equalizes the histogram of each channel, with probability p.",
      "torchvision.transforms.v2.RandomEqualize", "0.1"},
     add_equalize},
    {{"autocontrast", color_rows::kProbabilityOnly,
      "Stretches each channel so that its least level is 0 and its largest 255, with probability p.",
      "torchvision.transforms.v2.RandomAutocontrast", "0.1"},
     add_autocontrast},
    {{"invert", color_rows::kProbabilityOnly, "Each level x becomes 255 - x, with probability p.",
      "torchvision.transforms.v2.RandomInvert", "0.1"},
     add_invert},
    {{"sharpness", color_rows::kSharpness,
      "Blurred at factor 0, as it is at 1, sharper above; with probability p.",
      "torchvision.transforms.v2.RandomAdjustSharpness", "0.1"},
     add_sharpness},
    {{"pad", color_rows::kPad,
      "Borders: all sides, [left and right, top and bottom] or [left, top, right, bottom]; of fill, or by "
      "mode of pixels "
      "of the image.",
      "torchvision.transforms.v2.Pad", "0.1"},
     add_pad},
    {{"random_erasing", color_rows::kRandomErasing,
      "With probability p a rectangle, scale of the image's area and ratio of height to width drawn from the "
      "ranges, gets a "
      "value, one a channel, or (random; after normalize) values of the standard normal distribution.",
      "torchvision.transforms.v2.RandomErasing", "0.1"},
     add_random_erasing},
    {{"rand_augment", color_rows::kRandAugment,
      "n operators one after the other, drawn from 14 (shears, shifts, rotation, colours), each with "
      "magnitude m of bins.",
      "torchvision.transforms.v2.RandAugment", "0.1"},
     add_rand_augment},
    {{"trivial_augment", color_rows::kTrivialAugment,
      "One operator, drawn from 14 (shears, shifts, rotation, colours), with a magnitude drawn from bins.",
      "torchvision.transforms.v2.TrivialAugmentWide", "0.1"},
     add_trivial_augment},
};

}  // namespace dataline
