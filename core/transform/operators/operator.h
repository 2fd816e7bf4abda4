// What an operator is: a row of the table that users see, and a function that checks a call's arguments and adds to a plan.
// To add one, write a file in this folder and a line in list.def.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/transform/grammar/arguments.h"
#include "core/transform/plan/plan.h"

namespace dataline {

struct Operator {
  OperatorInfo info;
  // Checks the arguments against plan.field(), then adds to the plan. kBadTransform with a column.
  Status (*add)(const Arguments& arguments, Plan& plan);
};

#define OPERATOR(name) extern const Operator name##_operator;
#include "core/transform/operators/list.def"
#undef OPERATOR

const Operator* find_operator(std::string_view name);  // null if there is none
std::string nearest_operator(std::string_view name);   // ", did you mean 'normalize'?" or ""

}  // namespace dataline
