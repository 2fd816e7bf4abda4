// The lines of the manifest of a set as a writer makes them (core/source/set_manifest.h), and what differs between two heads.
// Threads: values and plain functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/field.h"
#include "core/source/set_manifest.h"
#include "core/write/codec.h"

namespace dataline {

struct ManifestHead {
  std::string format;
  int64_t shard_bytes = 0;
  WriteCodec codec = WriteCodec::kNone;
  std::vector<Field> fields;
  std::string job;
};

std::string head_line(const ManifestHead& head);
std::string shard_line(const ManifestShard& shard);
std::string end_line(int64_t samples, int64_t bytes, int64_t shards);

std::string shard_name(int64_t number, std::string_view suffix);  // "part-00007.arrow"

// What differs between two heads, for a message: "its format is tar, not arrow".
std::string head_difference(const std::string& path, const std::string& found, const ManifestHead& expected);

}  // namespace dataline
