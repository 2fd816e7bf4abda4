// SPDX-License-Identifier: Apache-2.0
#include "core/write/manifest.h"

#include <algorithm>
#include <cstdio>

#include "core/base/message_text.h"
#include "core/base/text.h"
#include "core/source/files.h"
#include "core/source/json.h"

namespace dataline {
namespace {

// As JSON; bytes that are no UTF-8 become U+FFFD.
std::string json_text(std::string_view text) {
  std::string out = "\"";
  char escape[8];
  while (!text.empty()) {
    const std::string_view before = text;
    const uint32_t character = take_character(text);
    const std::string_view bytes = before.substr(0, before.size() - text.size());
    if (character == '"' || character == '\\') {
      out += '\\';
      out += bytes;
    } else if (character < 0x20) {
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(character));
      out += escape;
    } else if (character >= kNotUtf8 && character < kNotUtf8 + 0x100) {
      out += "\\ufffd";
    } else {
      out += bytes;
    }
  }
  return out + "\"";
}

std::string crc_text(uint32_t crc) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", static_cast<unsigned>(crc));
  return text;
}

std::string fields_text(const std::vector<Field>& fields) {
  std::string out = "[";
  for (const Field& field : fields) {
    std::string shape;
    for (const int64_t dim : field.shape) shape += (shape.empty() ? "" : ", ") + std::to_string(dim);
    out += concat(out.size() == 1 ? "" : ", ", "{\"name\": ", json_text(field.name), ", \"kind\": \"",
                  field.kind == FieldKind::kRagged ? "ragged" : "dense", "\", \"dtype\": \"",
                  dtype_name(field.dtype), "\", \"shape\": [", shape, "], \"axes\": ", json_text(field.axes),
                  "}");
  }
  return out + "]";
}

// A line for a message: with what precedes byte `from` cut short, and at most 200 bytes of it.
std::string shown(std::string_view line, size_t from) {
  constexpr size_t kBefore = 60, kMaxBytes = 200;
  const size_t begin = line.size() <= kMaxBytes || from <= kBefore ? 0 : from - kBefore;
  const std::string_view rest = end_of(line, line.size() - begin), head = head_of(rest, kMaxBytes);
  return concat(begin == 0 ? "'" : "'...", message_text(head), head.size() < rest.size() ? "...'" : "'");
}

std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

// The first line in which two texts of a job differ.
std::string line_difference(std::string_view found, std::string_view expected) {
  while (!found.empty() || !expected.empty()) {
    const std::string_view have = take_line(found), want = take_line(expected);
    if (have == want) continue;
    const auto same = std::mismatch(have.begin(), have.end(), want.begin(), want.end()).first - have.begin();
    const auto from = static_cast<size_t>(same);
    return concat("it was started with ", shown(have, from), ", now it is ", shown(want, from));
  }
  return "its job differs";
}

// The members of a head as text, so that two can be compared.
struct HeadText {
  std::string format, shard_bytes, job, fields, codec = "none";
};

Status read_head(JsonReader& json, std::string_view line, HeadText& out) {
  return json.each_member([&](const std::string& key) -> Status {
    if (key == "format") return json.read_string(out.format);
    if (key == "job") return json.read_string(out.job);
    if (key == "codec") return json.read_string(out.codec);
    const size_t begin = json.byte() - 1;
    DL_RETURN_IF_ERROR(json.skip_value());
    std::string_view value = trim(line.substr(begin, json.byte() - 1 - begin));
    if (key == "shard_bytes") out.shard_bytes = value;
    if (key == "fields") out.fields = value;
    return Status::ok();
  });
}

}  // namespace

std::string head_line(const ManifestHead& head) {
  const std::string codec =
      head.codec == WriteCodec::kNone ? "" : concat(", \"codec\": \"", write_codec_name(head.codec), "\"");
  return concat("{\"set\": 1, \"format\": ", json_text(head.format), ", \"shard_bytes\": ", head.shard_bytes,
                codec, ", \"fields\": ", fields_text(head.fields), ", \"job\": ", json_text(head.job), "}\n");
}

std::string shard_line(const ManifestShard& shard) {
  return concat("{\"shard\": ", json_text(shard.name), ", \"samples\": ", shard.samples,
                ", \"bytes\": ", shard.bytes, ", \"crc32c\": \"", crc_text(shard.crc32c),
                "\", \"position\": ", json_text(shard.position), "}\n");
}

std::string end_line(int64_t samples, int64_t bytes, int64_t shards) {
  return concat("{\"samples\": ", samples, ", \"bytes\": ", bytes, ", \"shards\": ", shards, "}\n");
}

std::string shard_name(int64_t number, std::string_view suffix) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "part-%05lld", static_cast<long long>(number));
  return std::string(digits) + std::string(suffix);
}

std::string head_difference(const std::string& path, const std::string& found, const ManifestHead& expected) {
  const std::string wanted_line = head_line(expected);
  HeadText have, want;
  JsonReader have_json(path, 1, found, "the line"), want_json(path, 1, wanted_line, "the line");
  if (!read_head(have_json, found, have).is_ok() || !read_head(want_json, wanted_line, want).is_ok())
    return "its manifest cannot be read";
  if (have.format != want.format) return concat("its format is ", have.format, ", not ", want.format);
  if (have.fields != want.fields) return concat("its fields are ", have.fields, ", not ", want.fields);
  if (have.shard_bytes != want.shard_bytes)
    return concat("its shard_bytes is ", have.shard_bytes, ", not ", want.shard_bytes);
  if (have.codec != want.codec)
    return concat("its codec is ", printable(have.codec), ", not ", printable(want.codec));
  return line_difference(have.job, want.job);
}

}  // namespace dataline
