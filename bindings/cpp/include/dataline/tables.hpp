// The library's tables of options and transforms, with types, defaults, limits and help.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/config.hpp>

#include <cstdint>
#include <vector>

namespace dataline {
inline namespace DATALINE_CPP_ABI {

// Every option: key, type (DL_OPTION_*), scope (DL_SCOPE_*), default, choices, limits, unit, doc. The strings are never freed.
inline std::vector<dl_option_info> option_table() {
  std::vector<dl_option_info> table;
  for (int32_t i = 0; i < dl_option_count(); ++i) {
    dl_option_info info = {};
    info.struct_size = sizeof info;
    if (dl_option_at(i, &info, nullptr) == DL_OK) table.push_back(info);
  }
  return table;
}

// A transform operator and its arguments.
struct Transform {
  dl_transform_info info;
  std::vector<dl_argument_info> arguments;
};

inline std::vector<Transform> transform_table() {
  std::vector<Transform> table;
  for (int32_t i = 0; i < dl_transform_count(); ++i) {
    Transform entry = {};
    entry.info.struct_size = sizeof entry.info;
    if (dl_transform_at(i, &entry.info, nullptr) != DL_OK) continue;
    for (int32_t a = 0; a < entry.info.argument_count; ++a) {
      dl_argument_info argument = {};
      argument.struct_size = sizeof argument;
      if (dl_transform_argument_at(i, a, &argument, nullptr) == DL_OK) entry.arguments.push_back(argument);
    }
    table.push_back(entry);
  }
  return table;
}

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
