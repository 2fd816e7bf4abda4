// The library's tables of options, transforms, formats and storages, with types, defaults, limits and help.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/extensions.hpp>

#include <cstdint>
#include <vector>

namespace dataline {
inline namespace DATALINE_CPP_ABI {

namespace detail {

// Returns the elements of a table of the library; `at(of..., index, out, error)` reads one.
template <typename Info, typename At, typename... Of>
std::vector<Info> read_table(int32_t count, At at, Of... of) {
  std::vector<Info> table;
  for (int32_t i = 0; i < count; ++i) {
    Info info = {};
    info.struct_size = sizeof info;
    if (at(of..., i, &info, nullptr) == DL_OK) table.push_back(info);
  }
  return table;
}

}  // namespace detail

// Every option: key, type (DL_OPTION_*), scope (DL_SCOPE_*), default, choices, limits, unit, doc. The strings are
// never freed.
inline std::vector<dl_option_info> option_table() {
  return detail::read_table<dl_option_info>(dl_option_count(), dl_option_at);
}

// A transform operator and its arguments.
struct Transform {
  dl_transform_info info;
  std::vector<dl_argument_info> arguments;
};

// The library's operators, then those of `extensions` (Extensions::get), whose strings live as long as it does.
inline std::vector<Transform> transform_table(const dl_extensions* extensions = nullptr) {
  const int32_t count = dl_transform_count(extensions);
  std::vector<Transform> table;
  for (const auto& info : detail::read_table<dl_transform_info>(count, dl_transform_at, extensions)) {
    const auto index = static_cast<int32_t>(table.size());
    table.push_back({info, detail::read_table<dl_argument_info>(info.argument_count, dl_transform_argument_at,
                                                                extensions, index)});
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
  const int32_t count = dl_format_count(extensions);
  std::vector<FormatEntry> table;
  for (const auto& info : detail::read_table<dl_format_info>(count, dl_format_at, extensions)) {
    const auto index = static_cast<int32_t>(table.size());
    table.push_back(
        {info, detail::read_table<dl_format_key>(info.key_count, dl_format_key_at, extensions, index)});
  }
  return table;
}

// The storages of `extensions`: scheme and doc; the other members are NULL.
inline std::vector<dl_storage> storage_table(const dl_extensions* extensions) {
  return detail::read_table<dl_storage>(dl_storage_count(extensions), dl_storage_at, extensions);
}

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
