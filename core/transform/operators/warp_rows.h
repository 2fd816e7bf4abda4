// Rows of the table of operators: pixels moved by maps.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/transform/operators.h"

namespace dataline {

Status add_rotate(const Arguments& arguments, Plan& plan);
Status add_affine(const Arguments& arguments, Plan& plan);
Status add_perspective(const Arguments& arguments, Plan& plan);

namespace warp_rows {

constexpr OperatorArgument kDegrees = {"degrees", "number or list", ""};
constexpr OperatorArgument kNearest = {"filter", "nearest or bilinear", "nearest"};
constexpr OperatorArgument kBilinear = {"filter", "nearest or bilinear", "bilinear"};
constexpr OperatorArgument kFill = {"fill", "number or list", "0"};
constexpr OperatorArgument kRotate[] = {kDegrees, kNearest, {"expand", "true or false", "false"}, kFill};
constexpr OperatorArgument kAffine[] = {kDegrees,
                                        {"translate", "list", "none"},
                                        {"scale", "list", "none"},
                                        {"shear", "number or list", "none"},
                                        kNearest,
                                        kFill};
constexpr OperatorArgument kPerspective[] = {
    {"distortion", "number", "0.5"}, {"p", "number", "0.5"}, kBilinear, kFill};

}  // namespace warp_rows

constexpr Operator kWarpOperators[] = {
    {{"rotate", warp_rows::kRotate,
      "Turns the image about its centre by an angle drawn from -degrees to degrees, or from [low, high]; "
      "counter-clockwise. expand=true makes room for all of it. Pixels from outside are fill.",
      "torchvision.transforms.v2.RandomRotation", "0.1"},
     add_rotate},
    {{"affine", warp_rows::kAffine,
      "Turns as rotate (clockwise), shifts by up to translate=[x, y] of width and height, scales by a factor "
      "from "
      "[low, high] and shears by degrees: a number or [low, high] along x, or [low, high, low, high] along x "
      "and y.",
      "torchvision.transforms.v2.RandomAffine", "0.1"},
     add_affine},
    {{"perspective", warp_rows::kPerspective,
      "With probability p moves each corner inwards by up to distortion (0 to 1) of half a side.",
      "torchvision.transforms.v2.RandomPerspective", "0.1"},
     add_perspective},
};

}  // namespace dataline
