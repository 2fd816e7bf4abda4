// SPDX-License-Identifier: Apache-2.0
#include "core/transform/grammar/grammar.h"

#include <optional>
#include <utility>

#include "core/base/message_text.h"
#include "core/base/text.h"

namespace dataline {
namespace {

// Far above practical texts, and low enough to bound time and memory.
constexpr size_t kMaxTextBytes = 64 << 10;
constexpr size_t kMaxArguments = 64;  // each is compared with all others

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
// A character that ends a bare number, word, shape or field name.
bool is_mark(char c) {
  return is_space(c) || std::string_view(",;:()[]=\"").find(c) != std::string_view::npos;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<std::vector<ClauseSyntax>> transforms() {
    std::vector<ClauseSyntax> clauses;
    skip_spaces();
    if (at_ == text_.size()) return clauses;
    do {
      DL_ASSIGN_OR_RETURN(ClauseSyntax parsed, clause());
      clauses.push_back(std::move(parsed));
    } while (take(';'));
    if (at_ < text_.size()) return expected("',' or ';'");
    return clauses;
  }

  Result<Value> value() {
    if (here() == '[') return list();
    Value out;
    out.column = column();
    if (here() == '"') {
      out.kind = ValueKind::kText;
      DL_ASSIGN_OR_RETURN(out.text, quoted());
      return out;
    }
    const size_t begin = at_;
    out.text = bare();
    if (out.text.empty()) return expected("a value");
    if (std::optional<double> number = parse_f64(out.text)) {
      out.kind = ValueKind::kNumber;
      out.number = *number;
    } else if (std::optional<std::vector<int64_t>> shape = parse_shape(out.text)) {
      out.kind = ValueKind::kShape;
      out.shape = std::move(*shape);
    } else if (!is_letter(out.text[0])) {
      at_ = begin;
      return expected("a number, word, \"text\", list or shape");
    }
    return out;
  }

 private:
  int64_t column() const { return static_cast<int64_t>(at_) + 1; }
  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_spaces() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  // Consumes a mark and the spaces around it.
  bool take(char mark) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != mark) return false;
    ++at_;
    skip_spaces();
    return true;
  }

  // The token at the current position, for a message: the rest of a word, one mark, or the end.
  std::string found() const {
    if (at_ == text_.size()) return "the end of the text";
    size_t end = at_ + 1;
    while (!is_mark(text_[at_]) && end < text_.size() && !is_mark(text_[end])) ++end;
    return quote(text_.substr(at_, end - at_));
  }
  Status expected(std::string_view what) const {
    return transform_error(column(), "expected ", what, ", got ", found());
  }

  std::string_view bare() {
    const size_t begin = at_;
    while (at_ < text_.size() && !is_mark(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  // Reads a quoted text and its quotes, without escapes.
  Result<std::string_view> quoted() {
    const size_t end = text_.find('"', at_ + 1);
    if (end == std::string_view::npos)
      return transform_error(column(), "expected a closing '\"', got the end of the text");
    std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return inside;
  }

  // Whether the clause starts with field names: it contains a ':'.
  bool names_fields() const {
    int depth = 0;
    bool quote = false;
    for (size_t i = at_; i < text_.size(); ++i) {
      const char c = text_[i];
      if (c == '"') quote = !quote;
      if (quote) continue;
      if (c == '(' || c == '[') ++depth;
      if (c == ')' || c == ']') --depth;
      if (depth > 0) continue;
      if (c == ';') return false;
      if (c == ':') return true;
    }
    return false;
  }

  Result<ClauseSyntax> clause() {
    ClauseSyntax out;
    out.column = column();
    if (names_fields()) {
      do {
        DL_ASSIGN_OR_RETURN(FieldSyntax parsed, field());
        out.fields.push_back(parsed);
      } while (take(','));
      if (!take(':')) return expected("',' or ':'");
    }
    do {
      DL_ASSIGN_OR_RETURN(CallSyntax parsed, call());
      out.calls.push_back(std::move(parsed));
    } while (take(','));
    return out;
  }

  Result<FieldSyntax> field() {
    FieldSyntax out;
    out.column = column();
    if (here() == '"') {
      DL_ASSIGN_OR_RETURN(out.name, quoted());
    } else {
      out.name = bare();
    }
    if (out.name.empty()) return expected("a field name");
    return out;
  }

  // A name of an operator or argument: a letter, then letters and digits.
  std::optional<std::string_view> name() {
    if (!is_letter(here())) return std::nullopt;
    const size_t begin = at_;
    while (is_letter(here()) || is_digit(here())) ++at_;
    if (at_ < text_.size() && !is_mark(text_[at_])) {
      at_ = begin;
      return std::nullopt;
    }
    return text_.substr(begin, at_ - begin);
  }

  // An operator of Python's, with its module: its own name decides what the error suggests.
  std::optional<std::string_view> dotted_name() {
    const size_t begin = at_;
    for (size_t end = at_; end < text_.size() && is_letter(text_[end]);) {
      while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
      at_ = end;
      if (end == text_.size() || text_[end++] != '.') break;
    }
    if (at_ == begin || (at_ < text_.size() && !is_mark(text_[at_]))) {
      at_ = begin;
      return std::nullopt;
    }
    return text_.substr(begin, at_ - begin);
  }

  Result<CallSyntax> call() {
    const size_t begin = at_;
    CallSyntax out;
    out.column = column();
    std::optional<std::string_view> operator_name = dotted_name();
    if (!operator_name) return expected("an operator");
    out.name = *operator_name;
    if (take('(') && !take(')')) {
      do {
        DL_RETURN_IF_ERROR(argument(out));
      } while (take(','));
      if (!take(')')) return expected("',' or ')'");
    }
    out.text = text_.substr(begin, at_ - begin);
    while (is_space(out.text.back())) out.text.remove_suffix(1);
    return out;
  }

  Status argument(CallSyntax& call) {
    if (call.arguments.size() == kMaxArguments)
      return expected(concat("at most ", kMaxArguments, " arguments"));
    ArgumentSyntax out;
    out.column = column();
    const size_t begin = at_;
    std::optional<std::string_view> argument_name = name();
    if (argument_name && take('=')) {
      out.name = *argument_name;
      for (const ArgumentSyntax& other : call.arguments) {
        if (other.name == out.name)
          return transform_error(out.column, "expected each argument of ", call.name, " once, got '",
                                 out.name, "' twice");
      }
    } else {
      at_ = begin;
      if (!call.arguments.empty() && !call.arguments.back().name.empty())
        return expected("name=value after an argument with a name");
    }
    const bool tuple = here() == '(' || here() == '{';
    DL_ASSIGN_OR_RETURN(out.value, tuple ? this->tuple(call, out.name) : value());
    call.arguments.push_back(std::move(out));
    return Status::ok();
  }

  // A Python tuple, or a list in braces, where a value starts. The error of one within another shows what a list looks like.
  Result<Value> tuple(const CallSyntax& call, std::string_view argument_name) {
    const char closing = here() == '(' ? ')' : '}';
    const size_t end = text_.find_first_of("()[]{}", at_ + 1);
    if (end == std::string_view::npos || text_[end] != closing)
      return transform_error(column(), "expected a list in [ ], got ", found(), ": write ", call.name, "(",
                             call.arguments.empty() ? "" : "..., ", argument_name,
                             argument_name.empty() ? "" : "=", "[height, width])");
    Value out;
    out.kind = ValueKind::kList;
    out.column = column();
    out.text = text_.substr(at_, end + 1 - at_);
    out.tuple = true;
    at_ = end + 1;
    return out;
  }

  Result<Value> list() {
    Value out;
    out.kind = ValueKind::kList;
    out.column = column();
    const size_t begin = at_;
    take('[');
    if (here() != ']') {
      do {
        if (here() == '[') return expected("a value that is not a list");
        DL_ASSIGN_OR_RETURN(Value item, value());
        out.items.push_back(std::move(item));
      } while (take(','));  // which also skips spaces
    }
    if (here() != ']') return expected("',' or ']'");
    ++at_;
    out.text = text_.substr(begin, at_ - begin);
    return out;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::string joined(std::span<const std::string_view> words) {
  std::string out;
  for (std::string_view word : words) out += concat(out.empty() ? "" : ", ", word);
  return out;
}

std::string quote(std::string_view text) { return printable(text, 60); }

Result<std::vector<ClauseSyntax>> parse_transforms(std::string_view text) {
  if (text.size() > kMaxTextBytes)
    return transform_error(1, "expected a text of at most ", kMaxTextBytes, " bytes, got ", text.size());
  return Parser(text).transforms();
}

Result<Value> parse_value(std::string_view text) { return Parser(text).value(); }

}  // namespace dataline
