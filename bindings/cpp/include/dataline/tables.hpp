// The library's tables of options, transforms, formats and storages, with types, defaults, limits and help.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/extensions.hpp>

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

// The library's operators, then those of `extensions` (Extensions::get), whose strings live as long as that.
inline std::vector<Transform> transform_table(const dl_extensions* extensions = nullptr) {
  std::vector<Transform> table;
  for (int32_t i = 0; i < dl_transform_count(extensions); ++i) {
    Transform entry = {};
    entry.info.struct_size = sizeof entry.info;
    if (dl_transform_at(extensions, i, &entry.info, nullptr) != DL_OK) continue;
    for (int32_t a = 0; a < entry.info.argument_count; ++a) {
      dl_argument_info argument = {};
      argument.struct_size = sizeof argument;
      if (dl_transform_argument_at(extensions, i, a, &argument, nullptr) == DL_OK)
        entry.arguments.push_back(argument);
    }
    table.push_back(entry);
  }
  return table;
}

// A format and the keys of its URIs.
struct FormatEntry {
  dl_format_info info;
  std::vector<dl_format_key> keys;
};

// The library's formats, then those of `extensions`.
inline std::vector<FormatEntry> format_table(const dl_extensions* extensions = nullptr) {
  std::vector<FormatEntry> table;
  for (int32_t i = 0; i < dl_format_count(extensions); ++i) {
    FormatEntry entry = {};
    entry.info.struct_size = sizeof entry.info;
    if (dl_format_at(extensions, i, &entry.info, nullptr) != DL_OK) continue;
    for (int32_t k = 0; k < entry.info.key_count; ++k) {
      dl_format_key key = {};
      key.struct_size = sizeof key;
      if (dl_format_key_at(extensions, i, k, &key, nullptr) == DL_OK) entry.keys.push_back(key);
    }
    table.push_back(entry);
  }
  return table;
}

// The storages of `extensions`: scheme and doc; the rest is NULL.
inline std::vector<dl_storage> storage_table(const dl_extensions* extensions) {
  std::vector<dl_storage> table;
  for (int32_t i = 0; i < dl_storage_count(extensions); ++i) {
    dl_storage entry = {};
    entry.struct_size = sizeof entry;
    if (dl_storage_at(extensions, i, &entry, nullptr) == DL_OK) table.push_back(entry);
  }
  return table;
}

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
