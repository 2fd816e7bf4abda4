// Text formatting.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/text.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "bindings/cli/system.h"
#include "core/base/edit_distance.h"

namespace dataline::cli {

std::string grouped(int64_t value) {
  std::string digits = std::to_string(value);
  const size_t first = value < 0 ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string warned_text(int64_t images) {
  return grouped(images) + (images == 1 ? " image was" : " images were") +
         " delivered although the decoder warned of damage (--on-warning error rejects them)";
}

std::string fixed(double value, int digits) {
  char buffer[400];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::fixed, digits);
  return std::string(buffer, end.ptr);
}

namespace {

int digits_after_point(double value) { return value >= 100 ? 0 : value >= 10 ? 1 : 2; }

std::string with_unit(double value, const std::vector<const char*>& units) {
  size_t unit = 0;
  while (std::fabs(value) >= 999.5 && unit + 1 < units.size()) {
    value /= 1000;
    ++unit;
  }
  return fixed(value, unit == 0 && value == std::floor(value) ? 0 : digits_after_point(std::fabs(value))) +
         units[unit];
}

}  // namespace

std::string scaled(double value) { return with_unit(value, {"", " k", " M", " G", " T"}); }
std::string bytes_text(double bytes) { return with_unit(bytes, {" B", " kB", " MB", " GB", " TB"}); }

std::string shape_text(const int64_t* shape, int32_t rank) {
  if (rank == 0) return "scalar";
  std::string out;
  for (int32_t i = 0; i < rank; ++i) {
    if (i > 0) out += 'x';
    out += shape[i] < 0 ? "?" : std::to_string(shape[i]);
  }
  return out;
}

size_t utf8_bytes(std::string_view text) {
  const auto byte = [&](size_t at) { return static_cast<unsigned char>(text[at]); };
  const auto more = [&](size_t count, unsigned char low, unsigned char high) -> size_t {
    if (text.size() <= count || byte(1) < low || byte(1) > high) return 0;
    for (size_t at = 2; at <= count; ++at) {
      if ((byte(at) & 0xC0) != 0x80) return 0;
    }
    return count + 1;
  };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return more(1, 0x80, 0xBF);
  if (lead == 0xE0) return more(2, 0xA0, 0xBF);
  if (lead == 0xED) return more(2, 0x80, 0x9F);
  if (lead >= 0xE1 && lead <= 0xEF) return more(2, 0x80, 0xBF);
  if (lead == 0xF0) return more(3, 0x90, 0xBF);
  if (lead >= 0xF1 && lead <= 0xF3) return more(3, 0x80, 0xBF);
  if (lead == 0xF4) return more(3, 0x80, 0x8F);
  return 0;
}

std::string flag_text(std::string_view name) {
  std::string out = "--" + std::string(name);
  std::replace(out.begin() + 2, out.end(), '_', '-');
  return out;
}

bool is_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t length = utf8_bytes(bytes);
    if (length == 0 || bytes[0] == '\0') return false;
    bytes.remove_prefix(length);
  }
  return true;
}

uint32_t code_point(std::string_view character) {
  const auto byte = [&](size_t at) { return uint32_t{static_cast<unsigned char>(character[at])}; };
  if (character.size() == 1) return byte(0);
  uint32_t value = byte(0) & (0xFFu >> (character.size() + 1));
  for (size_t at = 1; at < character.size(); ++at) value = value << 6 | (byte(at) & 0x3F);
  return value;
}

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

bool is_control(uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x61C || code == 0x200E || code == 0x200F ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF;
}

namespace {

std::string escape(char letter, uint32_t value, int digits) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = {'\\', letter};
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) out += kHex[value >> shift & 15];
  return out;
}

}  // namespace

std::string escaped_text(std::string_view bytes, bool ascii) {
  constexpr int kByte = 2, kShort = 4, kLong = 8;
  std::string out;
  while (!bytes.empty()) {
    const size_t length = utf8_bytes(bytes);
    const std::string_view character = bytes.substr(0, std::max<size_t>(length, 1));
    const uint32_t code = length == 0 ? static_cast<unsigned char>(bytes[0]) : code_point(character);
    if (code == '\n' || code == '\t') {
      out += code == '\n' ? "\\n" : "\\t";
    } else if (length == 0 || (code < 0x80 && is_control(code))) {
      out += escape('x', code, kByte);
    } else if (is_control(code) || (ascii && code >= 0x80)) {
      out += code < 0x10000 ? escape('u', code, kShort) : escape('U', code, kLong);
    } else {
      out += character;
    }
    bytes.remove_prefix(character.size());
  }
  return out;
}

std::string message_text(std::string_view text) { return escaped_text(text, false); }

std::string_view start_of(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

std::string_view cut_to_columns(std::string_view text, size_t columns) {
  size_t end = 0;
  for (size_t used = 0; end < text.size();) {
    const size_t bytes = std::max<size_t>(1, utf8_bytes(text.substr(end)));
    used += bytes >= 3 ? 2 : 1;
    if (used > columns) break;
    end += bytes;
  }
  return text.substr(0, end);
}

std::string did_you_mean(std::string_view text, const std::vector<std::string>& names) {
  const std::string* best = nullptr;
  size_t best_distance = std::max<size_t>(1, text.size() / 3) + 1;
  for (const std::string& name : names) {
    const size_t distance = edit_distance(text, name);
    if (distance < best_distance) best = &name, best_distance = distance;
  }
  return best == nullptr ? "" : ", did you mean '" + *best + "'?";
}

namespace {

// Appends to `line`, whose last line is the start of the first wrapped one.
void append_wrapped(std::string& line, std::string_view text, size_t width, size_t hang) {
  const size_t first = line.size() - (line.rfind('\n') == std::string::npos ? 0 : line.rfind('\n') + 1);
  const auto room_after = [&](size_t columns) { return width > columns + 20 ? width - columns : 20; };
  for (size_t at = 0; at < text.size();) {
    const size_t room = room_after(at == 0 ? first : hang);
    size_t take = text.size() - at;
    if (take > room) {
      const size_t space = text.rfind(' ', at + room);
      take = space != std::string_view::npos && space > at ? space - at : room;
      while (take > 1 && (static_cast<unsigned char>(text[at + take]) & 0xC0) == 0x80)
        --take;  // whole characters
    }
    line += text.substr(at, take);
    at += take;
    while (at < text.size() && text[at] == ' ') ++at;
    if (at < text.size()) line += "\n" + std::string(hang, ' ');
  }
}

}  // namespace

std::string wrapped_text(std::string_view text, size_t width, size_t hang) {
  std::string out;
  append_wrapped(out, text, width, hang);
  return out;
}

std::string table_text(const std::vector<std::vector<std::string>>& rows, size_t width, size_t indent) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t c = 0; c + 1 < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line(indent, ' ');
    for (size_t c = 0; c + 1 < row.size(); ++c) {
      line += row[c] + std::string(widths[c] + 2 - row[c].size(), ' ');
    }
    append_wrapped(line, row.back(), width, line.size());
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

size_t output_width() {
  const size_t columns = terminal_columns(STDOUT_FILENO);
  constexpr size_t kNoTerminal = 100, kLeast = 20, kMost = 160;  // longer lines are hard to read
  return columns == 0 ? kNoTerminal : std::clamp(columns, kLeast, kMost);
}

}  // namespace dataline::cli
