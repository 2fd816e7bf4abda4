// The URI of a dataset: `scheme:path[,path...][?key=value&key=value]`, or a bare path.
//
// A scheme has at least two characters, so that C:\x is a path. %XX is decoded in paths and values. Text without a scheme
// is one literal path; nothing in it is decoded.
//
// Threads: values, externally synchronized.
// Failure: kBadUri with the 1-based column of the offending byte.
// Limits: kMaxUriBytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/status.h"

namespace dataline {

constexpr size_t kMaxUriBytes = size_t{16} << 20;  // about 10^5 shards, each named

struct UriPath {
  std::string name;  // of `name=path`, else empty
  std::string path;  // decoded
  int64_t column = 0;
  int64_t path_column = 0;  // after `name=`
  int64_t path_bytes = 0;   // in the text, not decoded
};

struct UriKey {
  std::string key;
  std::string value;  // decoded
  int64_t column = 0;
  int64_t value_column = 0;
};

struct Uri {
  std::string text;            // as given
  std::string scheme;          // empty: a bare path
  std::vector<UriPath> paths;  // at least one; either all are named or none
  std::vector<UriKey> keys;    // no duplicates

  bool named() const { return !paths.front().name.empty(); }
  const UriKey* find(std::string_view key) const;  // null when absent
  // A path as written in `text`, not decoded.
  std::string_view text_of(const UriPath& path) const {
    return std::string_view(text).substr(static_cast<size_t>(path.path_column - 1),
                                         static_cast<size_t>(path.path_bytes));
  }
};

Result<Uri> parse_uri(std::string_view text);
// `key=value&key=value` alone, of what has no path; columns are those of `text`.
Result<Uri> parse_uri_keys(std::string_view text);
Result<Uri> bare_uri(std::string_view text);  // one literal path, whatever colons it has

// Decodes %XX; `column` is that of text[0].
Result<std::string> uri_decode(std::string_view text, int64_t column);

constexpr int64_t kMaxRangeFiles = int64_t{1} << 20;

// Brace ranges in a path (shard_ranges.cpp): train-{000..127}.tar stands for 128 files. Returns the paths that `text`, a
// path as written in a URI, stands for, decoded (%XX). Several ranges multiply; the last one counts fastest. If either end
// of a range begins with 0, numbers are zero-padded to the width of the longer end. A literal brace is written %7B.
// `column` is that of text[0]. kBadUri with column: braces that do not match, nest, or hold anything but two ascending
// numbers; more than kMaxRangeFiles files or 256 MiB of names, checked before any name is built.
Result<std::vector<std::string>> expand_ranges(std::string_view text, int64_t column);

// kBadUri: "URI column 7: ..."
template <typename... Parts>
Status uri_error(int64_t column, const Parts&... parts) {
  return error(Code::kBadUri, "URI column ", column, ": ", parts...).with_column(column);
}

// The value of a key, or `fallback` when the key is absent. kBadUri says what was expected.
Result<int64_t> uri_i64(const Uri& uri, std::string_view key, int64_t fallback, int64_t min);
Result<std::optional<DType>> uri_dtype(const Uri& uri, std::string_view key);

constexpr size_t kMaxNamesOfKey = 1024;  // they are compared pairwise
// `fields=image,label`: names, none twice; empty when the key is absent. kBadUri with column.
Result<std::vector<std::string>> uri_names(const Uri& uri, std::string_view key);

// The description of a key that a scheme takes.
struct KeySpec {
  std::string_view name;
  std::string_view values;    // the words it takes, "error|ignore", or the kind of value, "INTEGER"
  std::string_view fallback;  // the value when the key is absent; empty: `doc` says what happens then
  std::string_view doc;
};

// That the value of a key that takes words ("a|b") is one of them; ok for other keys.
Status check_word(const UriKey& given, const KeySpec& key);

// Whether the value of a key that takes words is this one.
Result<bool> uri_is(const Uri& uri, const KeySpec& key, std::string_view word);

}  // namespace dataline
