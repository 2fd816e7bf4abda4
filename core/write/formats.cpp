// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>

#include "core/write/shard_encoder.h"

namespace dataline {
namespace {

constexpr std::array<const WriteFormat*, 6> kWriteFormats = {&kWriteArrow,    &kWriteParquet, &kWriteTar,
                                                             &kWriteTfRecord, &kWriteNpy,     &kWriteTokens};

}  // namespace

std::span<const WriteFormat* const> write_formats() { return kWriteFormats; }

const WriteFormat* find_write_format(std::string_view name) {
  for (const WriteFormat* format : kWriteFormats) {
    if (format->name == name) return format;
  }
  return nullptr;
}

std::string write_format_names() {
  std::string out;
  for (const WriteFormat* format : kWriteFormats)
    out += (out.empty() ? "" : ", ") + std::string(format->name);
  return out;
}

}  // namespace dataline
