// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/vocabulary.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "bindings/cli/failure.h"
#include "bindings/cli/input_file.h"
#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

constexpr size_t kMaxFileBytes = size_t{256} << 20;

struct Token {
  std::string text;
  int64_t id = 0;
  int64_t line = 0;
};

[[noreturn]] void fail(const std::string& path, int64_t line, const std::string& what) {
  throw Failure{.message = path + ": line " + std::to_string(line) + ": " + what};
}

void append_utf8(uint32_t code, std::string& out) {
  const auto byte = [&out](uint32_t value) { out += static_cast<char>(value); };
  const auto tail = [&](int shift) { byte(0x80 | (code >> shift & 0x3F)); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0 | code >> 6), tail(0);
  } else if (code < 0x10000) {
    byte(0xE0 | code >> 12), tail(6), tail(0);
  } else {
    byte(0xF0 | code >> 18), tail(12), tail(6), tail(0);
  }
}

// {"token": id, ...}
class JsonTokens {
 public:
  JsonTokens(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  std::vector<Token> read() {
    std::vector<Token> out;
    take('{');
    if (!take_if('}')) {
      do {
        skip_spaces();
        Token token{.text = {}, .id = 0, .line = line()};
        token.text = string();
        take(':');
        token.id = id();
        out.push_back(std::move(token));
      } while (take_if(','));
      take('}');
    }
    skip_spaces();
    if (at_ < text_.size()) expected("the end of the file");
    return out;
  }

 private:
  int64_t line() {
    lines_ += std::count(text_.begin() + static_cast<ptrdiff_t>(counted_),
                         text_.begin() + static_cast<ptrdiff_t>(at_), '\n');
    counted_ = at_;
    return lines_;
  }
  [[noreturn]] void expected(const std::string& what) {
    const int64_t here = line();
    fail(path_, here,
         "expected " + what +
             (at_ < text_.size() ? ", got '" + std::string(1, text_[at_]) + "'"
                                 : ", got the end of the file") +
             " in {\"token\": id, ...}");
  }
  void skip_spaces() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  bool take_if(char mark) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != mark) return false;
    ++at_;
    return true;
  }
  void take(char mark) {
    if (!take_if(mark)) expected("'" + std::string(1, mark) + "'");
  }
  int64_t id() {
    skip_spaces();
    int64_t value = -1;
    const auto end = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (end.ec != std::errc() || value < 0) expected("a whole number of at least 0");
    at_ = static_cast<size_t>(end.ptr - text_.data());
    return value;
  }
  uint32_t hex() {
    uint32_t value = 0;
    const char* const from = text_.data() + at_;
    if (text_.size() - at_ < 4 || std::from_chars(from, from + 4, value, 16).ptr != from + 4)
      expected("\\u and 4 hex digits");
    at_ += 4;
    return value;
  }
  std::string string() {
    take('"');
    std::string out;
    for (;; ++at_) {
      if (at_ == text_.size() || text_[at_] == '\n') expected("a closing '\"'");
      if (text_[at_] == '"') break;
      if (text_[at_] != '\\') {
        out += text_[at_];
        continue;
      }
      if (++at_ == text_.size()) expected("a closing '\"'");
      constexpr std::string_view kNames = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
      if (const size_t which = kNames.find(text_[at_]); which != std::string_view::npos) {
        out += kMeant[which];
      } else if (text_[at_] == 'u') {
        ++at_;
        append_utf8(code_point(), out);
        --at_;
      } else {
        expected("a JSON escape");
      }
    }
    ++at_;
    return out;
  }
  uint32_t code_point() {
    const uint32_t high = hex();
    if (high < 0xD800 || high > 0xDBFF || text_.substr(at_, 2) != "\\u") return high;
    at_ += 2;
    const uint32_t low = hex();
    if (low < 0xDC00 || low > 0xDFFF) expected("the second half of a pair");
    return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
  }

  std::string_view text_;
  const std::string& path_;
  size_t at_ = 0, counted_ = 0;
  int64_t lines_ = 1;
};

// GPT-2's characters for bytes: printable ones of Latin-1 stand for themselves, the others are U+0100, U+0101, ...
std::optional<std::string> bytes_of_characters(std::string_view text) {
  const auto itself = [](uint32_t b) {
    return (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || (b >= 0xAE && b <= 0xFF);
  };
  static const std::unordered_map<std::string, char> bytes = [&] {
    std::unordered_map<std::string, char> out;
    uint32_t next = 0x100;
    for (uint32_t b = 0; b < 256; ++b) {
      std::string character;
      append_utf8(itself(b) ? b : next++, character);
      out[character] = static_cast<char>(b);
    }
    return out;
  }();
  std::string out;
  while (!text.empty()) {
    const size_t length = std::max<size_t>(1, utf8_bytes(text));
    const auto found = bytes.find(std::string(text.substr(0, length)));
    if (found == bytes.end()) return std::nullopt;
    out += found->second;
    text.remove_prefix(length);
  }
  return out;
}

// If spaces or line ends are spelt as GPT-2 does; tokens added later with other characters stay as they are.
void undo_byte_level(std::vector<Token>& tokens) {
  constexpr std::string_view kSpace = "\xC4\xA0", kLineEnd = "\xC4\x8A";
  const bool spelt = std::any_of(tokens.begin(), tokens.end(), [&](const Token& token) {
    return token.text.starts_with(kSpace) || token.text == kLineEnd;
  });
  if (!spelt) return;
  for (Token& token : tokens)
    if (auto bytes = bytes_of_characters(token.text)) token.text = *std::move(bytes);
}

std::optional<std::string> from_base64(std::string_view text) {
  constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.empty() || text.size() % 4 != 0) return std::nullopt;
  std::string out;
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  uint32_t bits = 0;
  int have = 0;
  for (const char c : text) {
    const size_t digit = kBase64.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    if ((have += 6) >= 8) out += static_cast<char>(bits >> (have -= 8) & 0xFF);
  }
  return out;
}

// "aGVsbG8= 31373"; nothing if the line is no such.
std::optional<Token> ranked(std::string_view line) {
  const size_t space = line.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  auto text = from_base64(line.substr(0, space));
  Token token;
  const std::string_view id = line.substr(space + 1);
  const auto end = std::from_chars(id.data(), id.data() + id.size(), token.id);
  if (!text || end.ec != std::errc() || end.ptr != id.data() + id.size() || token.id < 0) return std::nullopt;
  token.text = *std::move(text);
  return token;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    out.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::vector<Token> tokens_of(std::string_view text, const std::string& path) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) fail(path, 1, "expected a vocabulary, got an empty file");
  if (text[first] == '{' && text.find('"') != std::string_view::npos) {
    std::vector<Token> tokens = JsonTokens(text, path).read();
    undo_byte_level(tokens);
    return tokens;
  }
  const auto lines = lines_of(text);
  const bool base64 = ranked(lines.front()).has_value();
  std::vector<Token> tokens;
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto line = static_cast<int64_t>(i + 1);
    if (base64 && lines[i].empty()) continue;
    auto token = base64 ? ranked(lines[i]) : Token{std::string(lines[i]), line - 1};
    if (!token) fail(path, line, "expected a token in base64, a space and its id, as in the first line");
    token->line = line;
    tokens.push_back(*std::move(token));
  }
  return tokens;
}

}  // namespace

Vocabulary Vocabulary::parse(std::string_view text, const std::string& path) {
  Vocabulary out;
  for (Token& token : tokens_of(text, path)) {
    if (!out.tokens_.emplace(token.id, std::move(token.text)).second)
      fail(path, token.line, "id " + std::to_string(token.id) + " appears twice");
  }
  return out;
}

Vocabulary Vocabulary::read(const std::string& path, const Interrupts& interrupts) {
  InputFile file(path, interrupts);
  std::string text;
  std::vector<char> piece(size_t{1} << 16);
  for (size_t count; text.size() <= kMaxFileBytes && (count = file.read(piece.data(), piece.size())) > 0;)
    text.append(piece.data(), count);
  if (text.size() > kMaxFileBytes) throw Failure{.message = path + ": too large for a vocabulary (256 MiB)"};
  return parse(text, path);
}

std::string Vocabulary::text_of(int64_t id) const {
  const auto found = tokens_.find(id);
  return found != tokens_.end() ? found->second : "<" + std::to_string(id) + ">";
}

}  // namespace dataline::cli
