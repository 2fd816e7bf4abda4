// Any bytes as a URI: refused with a column within the text, or printed and read again it means the same; then the keys
// of its scheme and the {000..127} of its paths are read too.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/uri.h"

#include "core/base/text.h"
#include "core/source/format.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/target.h"
#include "tests/support/uri_escape.h"

namespace dataline::fuzz {
namespace {

void check_column(const Status& status, std::string_view text) {
  check(status.code() == Code::kBadUri, "a text that is no URI is kBadUri", status.message());
  check(status.column() >= 1 && status.column() <= static_cast<int64_t>(text.size()) + 1,
        "the column is of the text", status.message());
  check(status.message().starts_with(concat("URI column ", status.column(), ": ")),
        "the message says the column", status.message());
}

std::string printed(const Uri& uri) {
  if (uri.scheme.empty()) return uri.paths[0].path;
  std::string out = uri.scheme + ":";
  for (const UriPath& path : uri.paths) {
    if (&path != &uri.paths.front()) out += ",";
    if (!path.name.empty()) out += path.name + "=";
    out += uri_escape(path.path);
  }
  for (const UriKey& key : uri.keys) {
    out += concat(&key == &uri.keys.front() ? "?" : "&", key.key, "=", uri_escape(key.value));
  }
  return out;
}

void check_same(const Uri& uri, const Uri& again) {
  check(uri.scheme == again.scheme && uri.paths.size() == again.paths.size() &&
            uri.keys.size() == again.keys.size(),
        "printed and read again it has the same parts", again.text);
  for (size_t i = 0; i < uri.paths.size(); ++i) {
    check(uri.paths[i].name == again.paths[i].name && uri.paths[i].path == again.paths[i].path,
          "printed and read again a path is the same", again.text);
  }
  for (size_t i = 0; i < uri.keys.size(); ++i) {
    check(uri.keys[i].key == again.keys[i].key && uri.keys[i].value == again.keys[i].value,
          "printed and read again a key is the same", again.text);
  }
}

// Whether ranges, from the left, come to so many files that making them takes longer than an input may: legal up to
// kMaxRangeFiles.
bool takes_long(std::string_view path) {
  constexpr int64_t kMost = 20'000;
  int64_t files = 1;
  for (size_t at = path.find(".."); at != std::string_view::npos; at = path.find("..", at + 2)) {
    const std::string_view rest = path.substr(at + 2);
    const auto high = parse_i64(rest.substr(0, rest.find('}')));
    if (high && *high >= 0 && *high <= kMaxRangeFiles) files *= *high + 1;
    if (files > kMost) return true;
  }
  return false;
}

void check_places(const Uri& uri) {
  const std::string_view text = uri.text;
  for (const UriPath& path : uri.paths) {
    const std::string_view stands = uri.text_of(path);
    check(static_cast<size_t>(path.path_column - 1) + stands.size() <= text.size(),
          "a path lies in the text");
    if (uri.scheme.empty()) continue;
    Result<std::string> decoded = uri_decode(stands, path.path_column);
    check(decoded.is_ok() && decoded.value() == path.path, "a path is its own text, decoded", stands);
    if (takes_long(stands)) continue;
    Result<std::vector<std::string>> files = expand_ranges(stands, path.path_column);
    if (!files.is_ok()) {
      check_column(files.status(), text);
    } else {
      check(!files.value().empty() && static_cast<int64_t>(files.value().size()) <= kMaxRangeFiles,
            "a range has files, and not too many");
      const bool range = stands.find('{') != std::string_view::npos;
      check(range || (files.value().size() == 1 && files.value()[0] == path.path),
            "without braces it is the path");
    }
  }
  for (const UriKey& key : uri.keys) {
    check(text.substr(static_cast<size_t>(key.column - 1), key.key.size()) == key.key,
          "a key lies at its column");
  }
}

void run(std::string_view text) {
  const std::string escaped = uri_escape(text);
  Result<std::string> decoded = uri_decode(escaped, 1);
  const bool nul = text.find('\0') != std::string_view::npos;
  check(decoded.is_ok() != nul && (nul || decoded.value() == text), "what is escaped is decoded to itself",
        escaped);

  Result<Uri> parsed = parse_uri(text);
  if (!parsed.is_ok()) return check_column(parsed.status(), text);
  const Uri& uri = parsed.value();
  check(!uri.paths.empty(), "a URI has a path");
  check_places(uri);
  const std::string print = printed(uri);
  Result<Uri> again = parse_uri(print);
  check(again.is_ok(), "a printed URI is read", print);
  check_same(uri, again.value());
  if (const Format* format = find_format(uri.scheme)) {
    Result<OpenOne> opener = format->configure(uri);
    if (!opener.is_ok()) {
      check_column(opener.status(), text);
    }
    check(opener.is_ok() == format->configure(again.value()).is_ok(), "printed keys are as good", print);
  }
}

const Target kTarget("uri", run);

}  // namespace
}  // namespace dataline::fuzz
