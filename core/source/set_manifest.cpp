// SPDX-License-Identifier: Apache-2.0
#include "core/source/set_manifest.h"

#include <algorithm>
#include <charconv>

#include "core/source/json.h"
#include "core/source/text_encoding.h"

namespace dataline {
namespace {

// What each head begins with, and what a head that was cut is a part of.
constexpr std::string_view kHeadStart = "{\"set\": 1, \"format\": \"";

Status check_head_start(const std::string& path, std::string_view text) {
  const size_t bytes = std::min(text.size(), kHeadStart.size());
  if (text.substr(0, bytes) == kHeadStart.substr(0, bytes)) return Status::ok();
  return line_error(Code::kCorrupt, path, 1, "expected ", kHeadStart,
                    "...: this is not the manifest of a set");
}

Status read_head(JsonReader& json, Manifest& out) {
  return json.each_member([&](const std::string& key) -> Status {
    return key == "format" ? json.read_string(out.format) : json.skip_value();
  });
}

Status read_crc(JsonReader& json, uint32_t& out) {
  std::string text;
  DL_RETURN_IF_ERROR(json.read_string(text));
  uint32_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, failure] = std::from_chars(text.data(), end, value, 16);
  if (text.size() != 8 || at != end || failure != std::errc())
    return json.refuse("\"crc32c\": expected eight hex digits");
  out = value;
  return Status::ok();
}

// A line behind the head: of a shard, or the last one.
struct Line {
  ManifestShard shard;
  bool is_shard = false;
  int64_t shards = 0;
};

Status read_line(JsonReader& json, Line& out) {
  return json.each_member([&](const std::string& key) -> Status {
    if (key == "shard") out.is_shard = true;
    if (key == "shard") return json.read_string(out.shard.name);
    if (key == "samples") return json.read_count(out.shard.samples);
    if (key == "bytes") return json.read_count(out.shard.bytes);
    if (key == "shards") return json.read_count(out.shards);
    if (key == "crc32c") return read_crc(json, out.shard.crc32c);
    if (key == "position") return json.read_string(out.shard.position);
    return json.skip_value();
  });
}

}  // namespace

Result<Manifest> parse_manifest(const std::string& path, std::string_view text) {
  DL_RETURN_IF_ERROR(check_encoding(path, text));
  DL_RETURN_IF_ERROR(check_head_start(path, text));
  Manifest out;
  size_t at = 0;
  for (int64_t number = 1; at < text.size() && !out.end; ++number) {
    const size_t end = text.find('\n', at);
    if (end == std::string_view::npos) break;
    const std::string_view text_of_line = text.substr(at, end - at);
    at = end + 1;
    JsonReader json(path, number, text_of_line, "the line");
    Line line;
    DL_RETURN_IF_ERROR(number == 1 ? read_head(json, out) : read_line(json, line));
    if (!json.at_end()) return json.expected("the end of the line");
    if (number == 1) {
      out.head = text_of_line;
      out.head_end = static_cast<int64_t>(at);
    } else if (line.is_shard) {
      out.shards.push_back(std::move(line.shard));
      out.line_ends.push_back(static_cast<int64_t>(at));
    } else {
      out.end = ManifestEnd{line.shard.samples, line.shard.bytes, line.shards};
    }
  }
  if (out.end) out.bytes_behind = static_cast<int64_t>(text.size() - at);
  return out;
}

}  // namespace dataline
