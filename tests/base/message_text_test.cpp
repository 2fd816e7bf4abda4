// What messages show of text that is not the library's: which characters stay, how others are escaped, where text is cut.
// SPDX-License-Identifier: Apache-2.0
#include "core/base/message_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "core/base/text.h"

namespace dataline::message_text_test {
namespace {

std::string utf8(uint32_t code) {
  if (code < 0x80) return {static_cast<char>(code)};
  std::string out;
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  out += static_cast<char>((0xff00 >> (more + 1) & 0xff) | code >> (6 * more));
  for (int i = more - 1; i >= 0; --i) out += static_cast<char>(0x80 | (code >> (6 * i) & 0x3f));
  return out;
}

bool is_one_of(uint32_t code, const std::vector<std::pair<uint32_t, uint32_t>>& ranges) {
  for (const auto& [first, last] : ranges) {
    if (code >= first && code <= last) return true;
  }
  return false;
}

TEST(MessageText, EveryCharacterStaysExceptControlsAndThoseThatSetTheDirection) {
  const std::vector<std::pair<uint32_t, uint32_t>> escaped = {
      {0, 0x1f},        {0x7f, 0x9f},     {0x61c, 0x61c},  {0x200e, 0x200f},
      {0x2028, 0x202e}, {0x2066, 0x2069}, {0xfeff, 0xfeff}};
  for (uint32_t code = 0; code <= 0x10ffff; ++code) {
    if (code >= 0xd800 && code < 0xe000) continue;
    const std::string character = utf8(code), shown = message_text(character);
    ASSERT_TRUE(is_utf8(character));
    if (is_one_of(code, escaped)) {
      ASSERT_EQ(shown[0], '\\') << code;
      for (const char c : shown) ASSERT_TRUE(c >= ' ' && c <= '~') << code;
    } else {
      ASSERT_EQ(shown, character) << code;
    }
  }
}

TEST(MessageText, EscapesNameTheCharacterOrTheByte) {
  EXPECT_EQ(message_text("a\n\t\r\x1b[31m\x7f"), "a\\n\\t\\x0d\\x1b[31m\\x7f");
  EXPECT_EQ(message_text(std::string_view("\0x", 2)), "\\x00x");
  EXPECT_EQ(message_text("\xc2\x85\xd8\x9c\xe2\x80\xae\xe2\x81\xa9\xef\xbb\xbf"),
            "\\u0085\\u061c\\u202e\\u2069\\ufeff");
  EXPECT_EQ(message_text("\xe4\xf0\x9f\x98\xff\xed\xa0\x80"), "\\xe4\\xf0\\x9f\\x98\\xff\\xed\\xa0\\x80");
  EXPECT_EQ(message_text("C:\\new\\x"), "C:\\new\\x") << "a backslash stays";
}

TEST(MessageText, EscapedTextStaysTheSame) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  const std::string once = message_text(all + "\xe2\x80\xae\xe6\x97\xa5");
  EXPECT_EQ(message_text(once), once);
}

TEST(MessageText, LongTextIsCutAtACharacter) {
  const std::string euros = "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac";
  EXPECT_EQ(printable(euros, 9), "'" + euros + "'");
  for (const size_t room : {6, 7, 8}) EXPECT_EQ(printable(euros, room), "'" + euros.substr(0, 6) + "...'");
  EXPECT_EQ(printable(euros, 2), "'...'");
  EXPECT_EQ(printable(std::string(41, 'x')), "'" + std::string(40, 'x') + "...'");
  EXPECT_EQ(printable("\xe6\x97\xa5\xe6\x9c\xac"), "'\xe6\x97\xa5\xe6\x9c\xac'");
  EXPECT_EQ(printable("\xff" + std::string(40, '\x80'), 3), "'\\xff\\x80\\x80...'")
      << "bytes without a character";
  for (size_t room = 0; room <= 10; ++room) {
    const std::string_view head = head_of("a" + euros, room), end = end_of(euros + "a", room);
    EXPECT_TRUE(is_utf8(std::string("a" + euros).substr(0, head.size())));
    EXPECT_LE(head.size(), room);
    EXPECT_LE(end.size(), room);
    EXPECT_TRUE(end.empty() || end.size() % 3 == 1) << end.size();
  }
}

TEST(MessageText, TheFirstCharacterIsShownCompletely) {
  EXPECT_EQ(printable_character("\xc3\xa9t\xc3\xa9"), "'\xc3\xa9'");
  EXPECT_EQ(printable_character("\nx"), "'\\n'");
  EXPECT_EQ(printable_character("\xc3"), "'\\xc3'");
  EXPECT_EQ(printable_character(""), "''");
}

TEST(MessageText, ACharacterThatItsWriterCutIsLeftOut) {
  const std::string text = "a\xe6\x97\xa5\xf0\x9f\x98\x80";
  for (size_t bytes = 0; bytes <= text.size(); ++bytes) {
    const std::string_view left = without_cut_character(std::string_view(text).substr(0, bytes));
    EXPECT_EQ(left.size(), bytes < 1 ? 0u : bytes < 4 ? 1u : bytes < 8 ? 4u : 8u) << bytes;
  }
  EXPECT_EQ(without_cut_character("\x80\x80\x80\x80"), "\x80\x80\x80\x80");
  EXPECT_EQ(without_cut_character("caf\xe9"), "caf");
}

TEST(MessageText, TheLogReceivesEscapedText) {
  std::string seen;
  const Log log{&seen, [](void* context, int32_t, const char* message, size_t length) {
                  static_cast<std::string*>(context)->assign(message, length);
                }};
  log(LogLevel::kWarning, "r\xc3\xa9sum\xc3\xa9\x1b[2J\xe2\x80\xae");
  EXPECT_EQ(seen, "r\xc3\xa9sum\xc3\xa9\\x1b[2J\\u202e");
}

}  // namespace
}  // namespace dataline::message_text_test
