// The operators. Adding one takes a row of the table in operators.cpp and a file in operators/.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/transform/arguments.h"
#include "core/transform/plan.h"
#include "core/transform/transform.h"

namespace dataline {

// Checks the arguments against plan.field(), then adds to the plan. kBadTransform with a column.
using AddOperator = Status (*)(const Arguments& arguments, Plan& plan);

struct Operator {
  OperatorInfo info;
  AddOperator add;
};

const Operator* find_operator(std::string_view name);  // null when there is none
std::string nearest_operator(std::string_view name);   // ", did you mean 'normalize'?" or ""

// One a file of operators/. Each file names its arguments by their places in its table row.
Status add_cast(const Arguments& arguments, Plan& plan);
Status add_scale(const Arguments& arguments, Plan& plan);
Status add_normalize(const Arguments& arguments, Plan& plan);
Status add_reshape(const Arguments& arguments, Plan& plan);
Status add_flatten(const Arguments& arguments, Plan& plan);
Status add_chw(const Arguments& arguments, Plan& plan);
Status add_hwc(const Arguments& arguments, Plan& plan);
Status add_pad_to(const Arguments& arguments, Plan& plan);
Status add_one_hot(const Arguments& arguments, Plan& plan);
Status add_random_crop(const Arguments& arguments, Plan& plan);
Status add_center_crop(const Arguments& arguments, Plan& plan);
Status add_hflip(const Arguments& arguments, Plan& plan);
Status add_vflip(const Arguments& arguments, Plan& plan);
Status add_decode(const Arguments& arguments, Plan& plan);
Status add_resize(const Arguments& arguments, Plan& plan);
Status add_random_resized_crop(const Arguments& arguments, Plan& plan);
Status add_mixup(const Arguments& arguments, Plan& plan);
Status add_cutmix(const Arguments& arguments, Plan& plan);

}  // namespace dataline
