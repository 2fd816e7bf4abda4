// A JSON parser of our own instead of simdjson (3.0.1 in Debian 12), because:
// - simdjson selects its code through get_active_implementation(), a mutable global that it shares with a host that uses
//   simdjson too, and that it sets from the environment (SIMDJSON_FORCE_IMPLEMENTATION). The DOM and the On-Demand parser
//   both go through it, so it cannot be avoided; this library has no mutable globals and does not read the environment.
// - It refuses text that is not UTF-8. File names on Linux need not be UTF-8, and these are read.
// - Its error codes do not say what was expected, which our messages do.
// Speed does not matter: parsing is 5 % of opening a list, which looks up every file in it.
// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "core/source/labels/label_rows.h"

namespace dataline {
namespace {

constexpr int kMaxDepth = 32;  // of values that are skipped

void append_utf8(uint32_t character, std::string& out) {
  if (character < 0x80) return out.push_back(static_cast<char>(character));
  const uint32_t more = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;  // bytes after the first
  out += static_cast<char>((0xff00 >> (more + 1) & 0xff) | character >> (6 * more));
  for (uint32_t left = more; left-- > 0;) out += static_cast<char>(0x80 | (character >> (6 * left) & 0x3f));
}

// Parses one line by RFC 8259. Errors give the byte of the line and what was expected there.
class JsonLine {
 public:
  JsonLine(const std::string& name, int64_t line, std::string_view text)
      : name_(name), line_(line), text_(text) {}

  // One object with "path" and "label", and nothing else on the line.
  Status read(std::string& path, std::string& label, bool& label_is_text) {
    bool has_path = false, has_label = false;
    DL_RETURN_IF_ERROR(expect('{'));
    for (bool first = true; !take('}'); first = false) {
      if (!first) DL_RETURN_IF_ERROR(expect(','));
      std::string key;
      DL_RETURN_IF_ERROR(read_string(key));
      DL_RETURN_IF_ERROR(expect(':'));
      bool& seen = key == "path" ? has_path : has_label;
      if (key != "path" && key != "label") {
        DL_RETURN_IF_ERROR(skip_value(0));
        continue;
      }
      if (seen) return refuse("the key ", key, " is given twice");
      seen = true;
      DL_RETURN_IF_ERROR(key == "path" ? read_string(path) : read_label(label, label_is_text));
    }
    skip_space();
    if (at_ != text_.size()) return expected("the line's end");
    if (!has_path || !has_label)
      return refuse("expected the keys path and label, ", has_path ? "label" : "path", " is missing");
    return Status::ok();
  }

 private:
  template <typename... Parts>
  Status refuse(const Parts&... parts) const {
    return line_error(Code::kCorrupt, name_, line_, parts...);
  }
  Status expected(std::string_view what) const {
    std::string got = at_ < text_.size() ? shown_text(text_.substr(at_, 1)) : "the line's end";
    return refuse("byte ", at_ + 1, ": expected ", what, ", got ", got);
  }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
  }
  bool take(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  Status expect(char c) {
    if (take(c)) return Status::ok();
    return expected(std::string("'") + c + "'");
  }

  std::optional<uint32_t> take_hex4() {
    if (text_.size() - at_ < 4) return std::nullopt;
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i) {
      char c = text_[at_ + i];
      int digit = c >= '0' && c <= '9'   ? c - '0'
                  : c >= 'a' && c <= 'f' ? c - 'a' + 10
                  : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                         : -1;
      if (digit < 0) return std::nullopt;
      value = value * 16 + static_cast<uint32_t>(digit);
    }
    at_ += 4;
    return value;
  }

  // After "\u". A high surrogate includes the low one that follows.
  Status read_unicode(std::string& out) {
    std::optional<uint32_t> unit = take_hex4();
    if (!unit) return expected("four hexadecimal digits");
    uint32_t character = *unit;
    if (character >= 0xd800 && character < 0xdc00) {
      std::optional<uint32_t> low;
      if (text_.substr(at_, 2) == "\\u") at_ += 2, low = take_hex4();
      if (!low || *low < 0xdc00 || *low > 0xdfff)
        return refuse("byte ", at_ + 1, ": a high surrogate without its low one");
      character = 0x10000 + ((character - 0xd800) << 10) + (*low - 0xdc00);
    } else if (character >= 0xdc00 && character < 0xe000) {
      return refuse("byte ", at_ + 1, ": a low surrogate without its high one");
    }
    append_utf8(character, out);
    return Status::ok();
  }

  Status read_escape(std::string& out) {
    constexpr std::string_view kNames = "\"\\/bfnrt", kValues = "\"\\/\b\f\n\r\t";
    char c = at_ < text_.size() ? text_[at_] : '\0';
    if (c == 'u') return ++at_, read_unicode(out);
    size_t index = kNames.find(c);
    if (c == '\0' || index == std::string_view::npos) return expected("an escape");
    ++at_;
    out += kValues[index];
    return Status::ok();
  }

  Status read_string(std::string& out) {
    out.clear();
    if (!take('"')) return expected("a string");
    for (; at_ < text_.size();) {
      char c = text_[at_];
      if (static_cast<unsigned char>(c) < 0x20)
        return refuse("byte ", at_ + 1, ": a control character within a string");
      ++at_;
      if (c == '"') return Status::ok();
      if (c != '\\') {
        out += c;
        continue;
      }
      DL_RETURN_IF_ERROR(read_escape(out));
    }
    return refuse("a string is opened and never closed");
  }

  // The text of a number that JSON allows.
  Status read_number(std::string_view& out, bool& whole) {
    size_t begin = at_;
    auto digits = [&] {
      size_t first = at_;
      while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
      return at_ - first;
    };
    auto next_is = [&](std::string_view any) {
      return at_ < text_.size() && any.find(text_[at_]) != std::string_view::npos;
    };
    whole = true;
    if (next_is("-")) ++at_;
    bool zero = next_is("0");
    size_t count = digits();
    if (count == 0) return expected("a digit");
    if (zero && count > 1) return refuse("byte ", begin + 1, ": a number that begins with 0");
    if (next_is(".")) {
      whole = false, ++at_;
      if (digits() == 0) return expected("a digit");
    }
    if (next_is("eE")) {
      whole = false, ++at_;
      if (next_is("+-")) ++at_;
      if (digits() == 0) return expected("a digit");
    }
    out = text_.substr(begin, at_ - begin);
    return Status::ok();
  }

  Status read_label(std::string& label, bool& is_text) {
    skip_space();
    is_text = at_ < text_.size() && text_[at_] == '"';
    if (is_text) return read_string(label);
    std::string_view number;
    bool whole = false;
    if (at_ == text_.size() || std::string_view("-0123456789").find(text_[at_]) == std::string_view::npos) {
      return expected("a label: an integer or a name in quotes");
    }
    DL_RETURN_IF_ERROR(read_number(number, whole));
    if (!whole) return refuse("label ", shown_text(number), ": expected an integer or a name in quotes");
    label = number;
    return Status::ok();
  }

  Status skip_value(int depth) {
    if (depth == kMaxDepth) return refuse("byte ", at_ + 1, ": more than ", kMaxDepth, " levels of values");
    skip_space();
    char c = at_ < text_.size() ? text_[at_] : '\0';
    std::string text;
    std::string_view number;
    bool whole = false;
    if (c == '"') return read_string(text);
    if (c == '{') return skip_members('}', depth);
    if (c == '[') return skip_members(']', depth);
    for (std::string_view word : {"true", "false", "null"}) {
      if (text_.substr(at_, word.size()) == word) return at_ += word.size(), Status::ok();
    }
    if (c == '-' || (c >= '0' && c <= '9')) return read_number(number, whole);
    return expected("a value");
  }

  Status skip_members(char end, int depth) {
    ++at_;
    std::string key;
    for (bool first = true; !take(end); first = false) {
      if (!first) DL_RETURN_IF_ERROR(expect(','));
      if (end == '}') {
        DL_RETURN_IF_ERROR(read_string(key));
        DL_RETURN_IF_ERROR(expect(':'));
      }
      DL_RETURN_IF_ERROR(skip_value(depth + 1));
    }
    return Status::ok();
  }

  const std::string& name_;
  int64_t line_;
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Status each_jsonl_row(const std::string& name, std::string_view text, const UseLabelRow& use) {
  std::string path, label;
  int64_t blank_line = 0;
  for (int64_t line = 1; !text.empty(); ++line) {
    size_t end = text.find('\n');
    std::string_view row = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (row.find_first_not_of(" \t\r") == std::string_view::npos) {
      if (blank_line == 0) blank_line = line;
      continue;
    }
    if (blank_line != 0) return line_error(Code::kCorrupt, name, blank_line, "a blank line within the list");
    bool label_is_text = false;
    DL_RETURN_IF_ERROR(JsonLine(name, line, row).read(path, label, label_is_text));
    DL_RETURN_IF_ERROR(use({line, path, label, label_is_text}));
  }
  return Status::ok();
}

}  // namespace dataline
