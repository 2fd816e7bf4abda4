// Formats that are read by a plug-in of this project: what messages say where the plug-in is not loaded.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/status.h"

namespace dataline {

struct PluginFormat {
  std::string_view name;     // the URI scheme
  std::string_view what;     // "a Parquet file"
  std::string_view library;  // the plug-in's file
  std::string_view build;    // what builds it
  std::string_view guide;
  std::span<const std::string_view> suffixes;
  std::span<const std::string_view> magics;  // a file begins with one of them
};

// Null when there is none.
const PluginFormat* plugin_format(std::string_view name);
const PluginFormat* plugin_format_of_library(std::string_view library);
const PluginFormat* plugin_format_of_file(std::string_view path, Bytes first);

// "the plug-in libdataline-parquet.so reads it, and is not loaded: ...": one thing to do in each language.
std::string plugin_advice(const PluginFormat& format);

}  // namespace dataline
