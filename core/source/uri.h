// The text form of a dataset: `scheme:path[,path...][?key=value&key=value]`, or a bare path.
//
// A scheme has two letters or more, so that C:\x is a path. %XX is decoded in paths and values. A text
// without a scheme is one literal path, nothing decoded.
//
// Threads: values, externally synchronized.
// Failure: kBadUri with the 1-based column of the byte at fault.
// Limits: kMaxUriBytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/status.h"

namespace dataline {

constexpr size_t kMaxUriBytes = size_t{16} << 20;  // about 10^5 shards named one by one

struct UriPath {
  std::string name;  // of `name=path`, else empty
  std::string path;  // decoded
  int64_t column = 0;
  int64_t path_column = 0;  // after `name=`
  int64_t path_bytes = 0;   // as it stands in the text, not decoded
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
  std::vector<UriPath> paths;  // at least one; all named or none
  std::vector<UriKey> keys;    // no key twice

  bool named() const { return !paths.front().name.empty(); }
  const UriKey* find(std::string_view key) const;  // null when absent
  // A path as it stands in `text`.
  std::string_view text_of(const UriPath& path) const {
    return std::string_view(text).substr(static_cast<size_t>(path.path_column - 1),
                                         static_cast<size_t>(path.path_bytes));
  }
};

Result<Uri> parse_uri(std::string_view text);

// %XX decoded; `column` is that of text[0].
Result<std::string> uri_decode(std::string_view text, int64_t column);

// `text` with `% , ? & =` written as %XX: fit for a path or a value of a URI.
std::string uri_escape(std::string_view text);

// kBadUri: "URI column 7: ..."
template <typename... Parts>
Status uri_error(int64_t column, const Parts&... parts) {
  return error(Code::kBadUri, "URI column ", column, ": ", parts...).with_column(column);
}

// The value of a key, or `fallback` when it is absent; kBadUri says what was expected.
Result<int64_t> uri_i64(const Uri& uri, std::string_view key, int64_t fallback, int64_t least);
Result<bool> uri_bool(const Uri& uri, std::string_view key, bool fallback);
Result<std::optional<DType>> uri_dtype(const Uri& uri, std::string_view key);
Result<std::string_view> uri_word(const Uri& uri, std::string_view key, std::string_view fallback,
                                  std::span<const std::string_view> words);

}  // namespace dataline
