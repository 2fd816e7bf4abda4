// SPDX-License-Identifier: Apache-2.0
#include "core/source/plugin_formats.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/source/names.h"

namespace dataline {
namespace {

constexpr std::string_view kParquetSuffixes[] = {".parquet", ".parq", ".pq"};
constexpr std::string_view kParquetMagics[] = {"PAR1", "PARE"};

constexpr PluginFormat kPluginFormats[] = {
    {"parquet", "a Parquet file", "libdataline-parquet.so", "plugins/parquet/build.sh", "Parquet",
     kParquetSuffixes, kParquetMagics},
};

}  // namespace

const PluginFormat* plugin_format(std::string_view name) {
  const auto* found = std::find_if(std::begin(kPluginFormats), std::end(kPluginFormats),
                                   [&](const PluginFormat& format) { return format.name == name; });
  return found == std::end(kPluginFormats) ? nullptr : found;
}

const PluginFormat* plugin_format_of_library(std::string_view library) {
  const auto* found = std::find_if(std::begin(kPluginFormats), std::end(kPluginFormats),
                                   [&](const PluginFormat& format) { return format.library == library; });
  return found == std::end(kPluginFormats) ? nullptr : found;
}

const PluginFormat* plugin_format_of_file(std::string_view path, Bytes first) {
  const std::string_view text(reinterpret_cast<const char*>(first.data()), first.size());
  for (const PluginFormat& format : kPluginFormats) {
    const bool ours = std::any_of(format.magics.begin(), format.magics.end(),
                                  [&](std::string_view magic) { return text.starts_with(magic); });
    if (ours || has_suffix(path, format.suffixes)) return &format;
  }
  return nullptr;
}

std::string plugin_advice(const PluginFormat& format) {
  return concat(
      "the plug-in ", format.library,
      " reads it, but is not loaded: use --plugin in the shell, Extensions.load() or dl_extensions_load(); ",
      format.build, " builds it (guide: ", format.guide, ")");
}

}  // namespace dataline
