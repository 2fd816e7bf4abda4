// Which texts can name a field.
// SPDX-License-Identifier: Apache-2.0
#include "core/base/name_text.h"

#include <gtest/gtest.h>

#include <string>

#include "core/base/message_text.h"

namespace dataline::name_text_test {
namespace {

TEST(NameText, IsUtf8) {
  for (const std::string good : {"a", "image/encoded", "caf\xc3\xa9", "\xe4\xb8\xad", "\xf0\x9f\x98\x80", ""})
    EXPECT_TRUE(is_name_text(good)) << good;
  for (const std::string bad :
       {"\n", "a\x7f", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xed\xb3\xbf", "\xf0\x80\x80\x80",
        "\xf4\x90\x80\x80", "\xff", "\x80", "\xe4\xb8"})
    EXPECT_FALSE(is_name_text(bad)) << bad;
}

std::string utf8(uint32_t character) {
  const auto part = [&](int shift, uint32_t lead) {
    return static_cast<char>(lead | (character >> shift & 0x3f));
  };
  if (character < 0x80) return {static_cast<char>(character)};
  if (character < 0x800) return {static_cast<char>(0xc0 | character >> 6), part(0, 0x80)};
  return {static_cast<char>(0xe0 | character >> 12), part(6, 0x80), part(0, 0x80)};
}

TEST(NameText, IsWhatMessagesShowAsItIs) {
  for (uint32_t character = 0; character < 0x10000; ++character) {
    const std::string text = "x" + utf8(character) + "y";
    EXPECT_EQ(is_name_text(text), message_text(text) == text) << character;
  }
  for (const uint32_t bidirectional : {0x61cu, 0x200eu, 0x202eu, 0x2066u, 0x80u, 0x9fu, 0xfeffu})
    EXPECT_FALSE(is_name_text(utf8(bidirectional))) << bidirectional;
}

}  // namespace
}  // namespace dataline::name_text_test
