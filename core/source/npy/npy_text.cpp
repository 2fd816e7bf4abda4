// SPDX-License-Identifier: Apache-2.0
// The parser for the text of an .npy header.

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/base/text.h"
#include "core/source/files.h"
#include "core/source/npy/npy_header.h"

namespace dataline {
namespace {

constexpr size_t kMaxNesting = 32;  // of a structured type, before it is refused

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// O, |O, O8, object: types whose values are pickled Python objects.
bool is_object_type(std::string_view type) {
  if (type.starts_with("object")) return true;
  if (!type.empty() && std::string_view("<>|=").find(type[0]) != std::string_view::npos)
    type.remove_prefix(1);
  return !type.empty() && type[0] == 'O' && std::all_of(type.begin() + 1, type.end(), is_digit);
}

constexpr std::array<std::string_view, 3> kHeaderKeys = {"descr", "fortran_order", "shape"};

class Parser {
 public:
  Parser(const std::string& path, int64_t offset, std::string_view text)
      : path_(path), offset_(offset), text_(text) {}

  Result<NpyHeader> parse() {
    NpyHeader out;
    if (!take('{')) return unexpected("'{'");
    while (!take('}')) {
      DL_RETURN_IF_ERROR(parse_entry(out));
      if (take(',')) continue;
      if (!take('}')) return unexpected("',' or '}'");
      break;
    }
    skip_blanks();
    if (!at_end()) return unexpected("only blanks after the dict");
    for (size_t k = 0; k < kHeaderKeys.size(); ++k) {
      if (!seen_[k]) return wrong(text_.size(), concat("the key '", kHeaderKeys[k], "' is missing"));
    }
    return out;
  }

 private:
  Status unexpected(std::string_view expected) const {
    std::string got = at_end() ? std::string("its end") : printable_character(text_.substr(at_));
    return wrong(at_, concat("expected ", expected, ", got ", got));
  }

  Status wrong(size_t at, std::string_view what) const {
    return error(Code::kCorrupt, path_, ": offset ", offset_ + static_cast<int64_t>(at),
                 ": npy header: ", what);
  }

  void skip_blanks() {
    while (!at_end() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }

  // After blanks.
  bool take(char c) {
    skip_blanks();
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool at_end() const { return at_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }

  Result<std::string_view> parse_string() {
    skip_blanks();
    char quote = peek();
    if (quote != '\'' && quote != '"') return unexpected("a quoted string");
    size_t begin = ++at_;
    while (!at_end() && text_[at_] != quote) {
      if (text_[at_] == '\\' || text_[at_] == '\n' || text_[at_] == '\0')
        return unexpected("a string without escapes");
      ++at_;
    }
    if (at_end()) return unexpected("the end of a string");
    return text_.substr(begin, at_++ - begin);
  }

  Status parse_entry(NpyHeader& out) {
    skip_blanks();
    size_t begin = at_;
    DL_ASSIGN_OR_RETURN(std::string_view key, parse_string());
    size_t which =
        static_cast<size_t>(std::find(kHeaderKeys.begin(), kHeaderKeys.end(), key) - kHeaderKeys.begin());
    if (which == kHeaderKeys.size()) {
      return wrong(begin, concat("expected the keys descr, fortran_order and shape, got ", printable(key)));
    }
    if (std::exchange(seen_[which], true)) return wrong(begin, concat("the key '", key, "' appears twice"));
    if (!take(':')) return unexpected("':'");
    skip_blanks();
    return which == 0 ? parse_descr(out) : which == 1 ? parse_order(out) : parse_shape(out);
  }

  Status parse_descr(NpyHeader& out) {
    if (peek() == '[' || peek() == '(') return refuse_structured();
    DL_ASSIGN_OR_RETURN(std::string_view descr, parse_string());
    if (is_object_type(descr)) {
      return error(Code::kUnsafeType, path_, ": offset ", offset_, ": npy type ", printable(descr),
                   " holds pickled Python objects, which are never loaded");
    }
    out.descr = std::string(descr);
    return Status::ok();
  }

  Status parse_order(NpyHeader& out) {
    for (bool value : {false, true}) {
      std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      out.fortran_order = value;
      return Status::ok();
    }
    return unexpected("True or False");
  }

  Status parse_shape(NpyHeader& out) {
    if (!take('(')) return unexpected("a tuple of dims");
    bool comma = true;  // () needs none
    while (!take(')')) {
      if (!comma) return unexpected("',' or ')'");
      DL_RETURN_IF_ERROR(parse_dim(out));
      comma = take(',');
    }
    if (out.shape.size() == 1 && !comma) return wrong(at_ - 1, "expected ',' after the only dim of a tuple");
    return Status::ok();
  }

  Status parse_dim(NpyHeader& out) {
    size_t begin = at_;
    while (is_digit(peek())) ++at_;
    std::string_view digits = text_.substr(begin, at_ - begin);
    if (digits.empty()) return unexpected("a dim");
    if (digits.size() > 1 && digits[0] == '0')
      return wrong(begin, concat("dim ", printable(digits), " starts with 0"));
    std::optional<int64_t> dim = parse_i64(digits);
    if (!dim) return wrong(begin, concat("dim ", printable(digits), " is above 2^63 - 1"));
    out.shape.push_back(*dim);
    if (peek() == 'L') ++at_;
    return Status::ok();
  }

  // Walks the brackets of a list of (name, type[, shape]) tuples, or of a (type, shape) tuple, only to find out whether any
  // type in it is an object. A name is the first item of a tuple in a list.
  Status refuse_structured() {
    struct Level {
      char open;
      bool names_first;
      size_t item;
    };
    std::vector<Level> levels;
    size_t begin = at_;
    do {
      skip_blanks();
      char c = peek();
      if (c == '[' || c == '(') {
        bool in_list = !levels.empty() && levels.back().open == '[';
        bool title = !levels.empty() && levels.back().names_first && levels.back().item == 0;
        levels.push_back({c, c == '(' && (in_list || title), 0});
        if (levels.size() > kMaxNesting) return wrong(begin, "the type is nested too deeply");
        ++at_;
      } else if (c == ']' || c == ')') {
        if (levels.back().open != (c == ']' ? '[' : '('))
          return unexpected("the bracket that was opened last");
        levels.pop_back();
        ++at_;
      } else if (c == ',') {
        ++levels.back().item;
        ++at_;
      } else if (c == '\'' || c == '"') {
        bool name = levels.back().names_first && levels.back().item == 0;
        DL_ASSIGN_OR_RETURN(std::string_view type, parse_string());
        if (!name && is_object_type(type)) {
          return error(Code::kUnsafeType, path_, ": offset ", offset_, ": npy structured type holds ",
                       printable(type), ", pickled Python objects, which are never loaded");
        }
      } else if (is_digit(c)) {
        ++at_;
      } else {
        return unexpected("a list of fields");
      }
    } while (!levels.empty());
    return error(Code::kUnsupported, path_, ": offset ", offset_, ": npy structured type ",
                 printable(text_.substr(begin, at_ - begin)),
                 " is not supported; raw: with fields= reads packed records");
  }

  const std::string& path_;
  int64_t offset_;
  std::string_view text_;
  size_t at_ = 0;
  std::array<bool, 3> seen_{};
};

}  // namespace

Result<NpyHeader> parse_npy_text(const std::string& path, int64_t offset, std::string_view text) {
  return Parser(path, offset, text).parse();
}

}  // namespace dataline
