// SPDX-License-Identifier: Apache-2.0
#include "core/source/uri.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"

namespace dataline {
namespace {

// Above any real use. Names and keys are compared pairwise; the limits keep that cheap.
constexpr size_t kMaxNames = 1024;
constexpr size_t kMaxKeys = 64;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_scheme_char(char c) { return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '_'; }
bool is_name_char(char c) { return is_scheme_char(c) || c == '/' || c == '.'; }

// The position of the colon after the scheme; npos for a bare path.
size_t scheme_end(std::string_view text) {
  size_t at = 0;
  while (at < text.size() && is_scheme_char(text[at])) ++at;
  bool scheme = at >= 2 && at < text.size() && text[at] == ':' && is_letter(text[0]);
  return scheme ? at : std::string_view::npos;
}

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// A piece of the text being parsed, with its column.
struct Piece {
  std::string_view text;
  int64_t column;  // of text[0], 1-based

  Piece from(size_t begin) const { return {text.substr(begin), column + static_cast<int64_t>(begin)}; }
  Piece upto(size_t end) const { return {text.substr(0, end), column}; }
};

// Calls use(part) for each part between separators; stops at the first error.
template <typename Use>
Status each_part(Piece piece, char separator, Use use) {
  for (;;) {
    size_t at = piece.text.find(separator);
    DL_RETURN_IF_ERROR(use(piece.upto(at)));
    if (at == std::string_view::npos) return Status::ok();
    piece = piece.from(at + 1);
  }
}

Result<std::string> decode(Piece piece) {
  std::string out;
  out.reserve(piece.text.size());
  for (size_t i = 0; i < piece.text.size(); ++i) {
    const size_t begin = i;
    char c = piece.text[i];
    if (c == '%') {
      int high = i + 1 < piece.text.size() ? hex_value(piece.text[i + 1]) : -1;
      int low = i + 2 < piece.text.size() ? hex_value(piece.text[i + 2]) : -1;
      if (high < 0 || low < 0) {
        return uri_error(piece.from(i).column,
                         "expected two hexadecimal digits after '%'; write %25 for a literal '%'");
      }
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    if (c == '\0') return uri_error(piece.from(begin).column, "a NUL byte");
    out.push_back(c);
  }
  return out;
}

// Names become field names, or their part before '/'.
Status check_name(Piece name) {
  bool good = !name.text.empty() && name.text.front() != '/' && name.text.back() != '/';
  size_t at = 0;
  while (at < name.text.size() && is_name_char(name.text[at])) ++at;
  if (good && at == name.text.size()) return Status::ok();
  return uri_error(
      name.column, "'", name.text,
      "' is not a field name (letters, digits, _ - . /); a literal '=' in a path is written %3D");
}

Result<UriPath> parse_path(Piece piece) {
  UriPath path;
  path.column = piece.column;
  if (size_t equals = piece.text.find('='); equals != std::string_view::npos) {
    DL_RETURN_IF_ERROR(check_name(piece.upto(equals)));
    path.name = piece.text.substr(0, equals);
    piece = piece.from(equals + 1);
  }
  if (piece.text.empty()) return uri_error(piece.column, "a path is missing");
  path.path_column = piece.column;
  path.path_bytes = static_cast<int64_t>(piece.text.size());
  DL_ASSIGN_OR_RETURN(path.path, decode(piece));
  return path;
}

Status parse_paths(Piece piece, Uri& uri) {
  return each_part(piece, ',', [&](Piece part) -> Status {
    DL_ASSIGN_OR_RETURN(UriPath path, parse_path(part));
    if (!uri.paths.empty() && uri.named() != !path.name.empty()) {
      return uri_error(part.column,
                       "named and unnamed paths together: name all (zipped) or none (concatenated)");
    }
    uri.paths.push_back(std::move(path));
    return Status::ok();
  });
}

Status check_names_differ(const Uri& uri) {
  if (!uri.named()) return Status::ok();
  if (uri.paths.size() > kMaxNames) return uri_error(1, "more than ", kMaxNames, " named paths");
  for (size_t i = 1; i < uri.paths.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (uri.paths[i].name != uri.paths[j].name) continue;
      return uri_error(uri.paths[i].column, "name '", uri.paths[i].name, "' appears twice");
    }
  }
  return Status::ok();
}

Status parse_keys(Piece piece, Uri& uri) {
  return each_part(piece, '&', [&](Piece part) -> Status {
    size_t equals = part.text.find('=');
    std::string_view name = part.text.substr(0, equals);
    if (name.empty()) return uri_error(part.column, "expected key=value");
    if (equals == std::string_view::npos)
      return uri_error(part.column, "key '", name, "' needs a value: ", name, "=...");
    if (uri.find(name) != nullptr) return uri_error(part.column, "key '", name, "' appears twice");
    Piece value = part.from(equals + 1);
    if (uri.keys.size() == kMaxKeys) return uri_error(part.column, "more than ", kMaxKeys, " keys");
    UriKey key{std::string(name), {}, part.column, value.column};
    DL_ASSIGN_OR_RETURN(key.value, decode(value));
    uri.keys.push_back(std::move(key));
    return Status::ok();
  });
}

Status bad_value(const UriKey& key, std::string_view expected) {
  return uri_error(key.value_column, key.key, "='", key.value, "': expected ", expected);
}

}  // namespace

const UriKey* Uri::find(std::string_view key) const {
  for (const UriKey& candidate : keys) {
    if (candidate.key == key) return &candidate;
  }
  return nullptr;
}

Result<Uri> bare_uri(std::string_view text) {
  Uri uri;
  uri.text = text;
  if (size_t nul = text.find('\0'); nul != std::string_view::npos)
    return uri_error(static_cast<int64_t>(nul) + 1, "a NUL byte");
  uri.paths.push_back({{}, uri.text, 1, 1, static_cast<int64_t>(text.size())});
  return uri;
}

Result<Uri> parse_uri(std::string_view text) {
  if (text.empty()) return uri_error(1, "empty; expected scheme:path or a path");
  if (text.size() > kMaxUriBytes)
    return uri_error(1, text.size(), " bytes, at most ", kMaxUriBytes, " are read");
  size_t colon = scheme_end(text);
  if (colon == std::string_view::npos) return bare_uri(text);
  Uri uri;
  uri.text = text;
  uri.scheme = text.substr(0, colon);
  Piece rest = Piece{text, 1}.from(colon + 1);
  size_t question = rest.text.find('?');
  DL_RETURN_IF_ERROR(parse_paths(rest.upto(question), uri));
  DL_RETURN_IF_ERROR(check_names_differ(uri));
  if (question != std::string_view::npos) DL_RETURN_IF_ERROR(parse_keys(rest.from(question + 1), uri));
  return uri;
}

Result<Uri> parse_uri_keys(std::string_view text) {
  Uri uri;
  if (text.size() > kMaxUriBytes)
    return uri_error(1, text.size(), " bytes, at most ", kMaxUriBytes, " are read");
  uri.text = text;
  if (!text.empty()) DL_RETURN_IF_ERROR(parse_keys({text, 1}, uri));
  return uri;
}

Result<std::string> uri_decode(std::string_view text, int64_t column) { return decode({text, column}); }

Result<int64_t> uri_i64(const Uri& uri, std::string_view key, int64_t fallback, int64_t min) {
  const UriKey* found = uri.find(key);
  if (found == nullptr) return fallback;
  std::optional<int64_t> value = parse_i64(found->value);
  if (!value || *value < min) return bad_value(*found, concat("a whole number, at least ", min));
  return *value;
}

Result<std::vector<std::string>> uri_names(const Uri& uri, std::string_view key) {
  std::vector<std::string> names;
  const UriKey* given = uri.find(key);
  if (given == nullptr) return names;
  int64_t column = given->value_column;
  for (const std::string_view name : split(given->value, ',')) {
    const std::string at = concat(key, "='", given->value, "': ");
    if (name.empty()) return uri_error(column, at, "expected names, as in image,label");
    if (names.size() == kMaxNamesOfKey) return uri_error(column, at, "more than ", kMaxNamesOfKey, " names");
    if (std::find(names.begin(), names.end(), name) != names.end())
      return uri_error(column, at, "'", name, "' is named twice");
    names.emplace_back(name);
    column += static_cast<int64_t>(name.size()) + 1;
  }
  return names;
}

Result<std::optional<DType>> uri_dtype(const Uri& uri, std::string_view key) {
  const UriKey* found = uri.find(key);
  if (found == nullptr) return std::optional<DType>();
  std::optional<DType> value = dtype_from_name(found->value);
  if (!value)
    return bad_value(*found, "a dtype: bool u8 u16 u32 u64 i8 i16 i32 i64 f16 bf16 f32 f64 c64 c128");
  return value;
}

Status check_word(const UriKey& given, const KeySpec& key) {
  const std::vector<std::string_view> words = split(key.values, '|');
  if (words.size() < 2) return Status::ok();
  std::string expected;
  for (std::string_view known : words) {
    if (known == given.value) return Status::ok();
    expected += concat(expected.empty() ? "" : " or ", known);
  }
  return bad_value(given, concat(expected, did_you_mean(given.value, words)));
}

Result<bool> uri_is(const Uri& uri, const KeySpec& key, std::string_view word) {
  const UriKey* found = uri.find(key.name);
  if (found == nullptr) return key.fallback == word;
  DL_RETURN_IF_ERROR(check_word(*found, key));
  return found->value == word;
}

}  // namespace dataline
