// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/edit_distance.h"
#include "core/base/field.h"
#include "core/base/status.h"

namespace dataline {
namespace {

template <typename T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const char* end = text.data() + text.size();
  auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc() || stop != end || text.empty()) return std::nullopt;
  return value;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The run of digits at text[at], without leading zeros.
std::string_view digits_at(std::string_view text, size_t& at) {
  while (at < text.size() && text[at] == '0') ++at;
  size_t begin = at;
  while (at < text.size() && is_digit(text[at])) ++at;
  return text.substr(begin, at - begin);
}

constexpr size_t kAsciiStep = 16;  // a fixed inner loop, which compilers vectorize even at -O2

}  // namespace

std::optional<size_t> find_no_utf8(std::string_view text) {
  for (std::string_view rest = text; !rest.empty();) {
    while (rest.size() >= kAsciiStep) {
      unsigned char bits = 0;
      for (size_t i = 0; i < kAsciiStep; ++i) bits |= static_cast<unsigned char>(rest[i]);
      if (bits >= 0x80) break;
      rest.remove_prefix(kAsciiStep);
    }
    if (rest.empty()) break;
    const size_t left = rest.size();
    const uint32_t character = take_character(rest);
    if (character >= kNotUtf8 && character < kNotUtf8 + 256) return text.size() - left;
  }
  return std::nullopt;
}

std::optional<int64_t> parse_i64(std::string_view text) { return parse_number<int64_t>(text); }

std::optional<double> parse_f64(std::string_view text) {
  std::optional<double> value = parse_number<double>(text);
  if (value && !std::isfinite(*value)) return std::nullopt;
  return value;
}

std::optional<int64_t> parse_size(std::string_view text) {
  double unit = 1;
  if (text.ends_with("iB") && text.size() > 3) {
    char prefix = text[text.size() - 3];
    unit = prefix == 'K' ? 0x1p10 : prefix == 'M' ? 0x1p20 : prefix == 'G' ? 0x1p30 : 0;
    text.remove_suffix(3);
  }
  if (unit == 1) return parse_i64(text);
  std::optional<double> count = parse_f64(text);
  if (!count || unit == 0 || *count < 0 || *count * unit >= 0x1p63) return std::nullopt;
  return static_cast<int64_t>(*count * unit);
}

std::optional<bool> parse_bool(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

std::optional<std::vector<int64_t>> parse_shape(std::string_view text) {
  std::vector<int64_t> shape;
  if (text.empty()) return std::nullopt;
  for (std::string_view part : split(text, 'x')) {
    std::optional<int64_t> dim = parse_i64(part);
    if (!dim || *dim < 0) return std::nullopt;
    shape.push_back(*dim);
  }
  return shape;
}

std::string picture_size(int64_t height, int64_t width) { return concat(width, " wide, ", height, " high"); }

std::string shape_text(std::span<const int64_t> shape) {
  std::string out;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) out += 'x';
    out += std::to_string(shape[i]);
  }
  return out;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  for (size_t at = text.find(separator); at != std::string_view::npos; at = text.find(separator, begin)) {
    parts.push_back(text.substr(begin, at - begin));
    begin = at + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::string_view trim(std::string_view text) {
  size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::string_view nearest(std::string_view text, std::span<const std::string_view> names) {
  std::string_view best;
  size_t best_distance = std::max<size_t>(text.size() / 3, 1) + 1;
  for (std::string_view name : names) {
    // The difference in length is a lower bound, so that a text of megabytes costs nothing.
    const size_t bound = text.size() > name.size() ? text.size() - name.size() : name.size() - text.size();
    if (bound >= best_distance) continue;
    size_t distance = edit_distance(text, name);
    const bool one_stays = distance < std::max(text.size(), name.size());
    if (distance < best_distance && one_stays) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

uint32_t take_character(std::string_view& text) {
  const auto byte_of = [&](size_t at) -> uint32_t { return static_cast<unsigned char>(text[at]); };
  const uint32_t lead = byte_of(0);
  size_t length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  uint32_t character = length == 1   ? lead
                       : length == 2 ? lead & 0x1f
                       : length == 3 ? lead & 0x0f
                                     : lead & 0x07;
  for (size_t i = 1; i < length; ++i) {
    if (i >= text.size() || (byte_of(i) & 0xc0) != 0x80) {
      length = 0;
      break;
    }
    character = character << 6 | (byte_of(i) & 0x3f);
  }
  const bool overlong = (length == 3 && character < 0x800) || (length == 4 && character < 0x10000);
  const bool surrogate = character >= 0xd800 && character < 0xe000;
  if (length == 0 || overlong || surrogate || character > 0x10ffff) {
    text.remove_prefix(1);
    return kNotUtf8 + lead;
  }
  text.remove_prefix(length);
  return character;
}

bool is_utf8(std::string_view text) { return !find_no_utf8(text).has_value(); }

std::string did_you_mean(std::string_view text, std::span<const std::string_view> names) {
  std::string_view name = nearest(text, names);
  return name.empty() ? std::string() : concat(", did you mean '", name, "'?");
}

bool natural_less(std::string_view a, std::string_view b) {
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      std::string_view x = digits_at(a, i), y = digits_at(b, j);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else {
      if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
      ++i, ++j;
    }
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;  // equal except for leading zeros: any fixed order
}

std::string field_type_text(const Field& field) {
  std::string out(dtype_name(field.dtype));
  if (!field.shape.empty()) out += concat("[", shape_text(field.shape), "]");
  return out;
}

}  // namespace dataline
