// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "core/base/text.h"
#include "core/transform/operators/operator.h"

namespace dataline {
namespace {

constexpr const Operator* kOperators[] = {
#define OPERATOR(name) &name##_operator,
#include "core/transform/operators/list.def"
#undef OPERATOR
};

constexpr const OperatorInfo* kInfos[] = {
#define OPERATOR(name) &name##_operator.info,
#include "core/transform/operators/list.def"
#undef OPERATOR
};

}  // namespace

std::span<const OperatorInfo* const> operator_table() { return kInfos; }

const Operator* find_operator(std::string_view name) {
  for (const Operator* entry : kOperators) {
    if (entry->info.name == name) return entry;
  }
  return nullptr;
}

std::string nearest_operator(std::string_view name) {
  std::array<std::string_view, std::size(kInfos)> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kInfos[i]->name;
  return did_you_mean(name, names);
}

}  // namespace dataline
