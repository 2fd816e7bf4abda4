// The padding arguments of pad and random_crop; pad.cpp defines them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/transform/operators/checks.h"
#include "core/transform/operators/stages.h"

namespace dataline {

constexpr OperatorArgument kPadModeArgument = {"mode", "constant, edge, reflect or symmetric", "constant"};

struct PaddingArguments {
  size_t padding, fill, mode;  // their indices in the table row
};
// "padding" in torchvision's order: all sides; left and right, top and bottom; or left, top, right, bottom. "fill" is
// allowed with mode=constant only; the operator reads its value.
Result<Padding> padding_argument(const Arguments& arguments, const PaddingArguments& places);

}  // namespace dataline
