// Numbers, sizes, shapes, nearest names and natural order, the same in every locale.
// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <clocale>
#include <limits>
#include <string>
#include <vector>

#include "core/base/random.h"

namespace dataline::text_test {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

TEST(Text, WholeNumbersAreDecimalAndNothingElse) {
  EXPECT_EQ(parse_i64("0"), 0);
  EXPECT_EQ(parse_i64("-0"), 0);
  EXPECT_EQ(parse_i64("007"), 7);
  EXPECT_EQ(parse_i64("9223372036854775807"), kMost);
  EXPECT_EQ(parse_i64("-9223372036854775808"), std::numeric_limits<int64_t>::min());
  for (std::string_view bad : {"", "-", "+1", " 1", "1 ", "1\n", "0x1", "1e3", "1.0", "1,000", "--1", "one",
                               "9223372036854775808", "-9223372036854775809", "99999999999999999999"}) {
    EXPECT_EQ(parse_i64(bad), std::nullopt) << "'" << bad << "'";
  }
  EXPECT_EQ(parse_i64(std::string_view("1\0", 2)), std::nullopt);
  EXPECT_EQ(parse_i64(std::string_view("12", 1)), 1) << "no further than the view";
}

TEST(Text, DecimalsAreFiniteWithAPoint) {
  EXPECT_EQ(parse_f64("0.5"), 0.5);
  EXPECT_EQ(parse_f64("-1e-3"), -0.001);
  EXPECT_EQ(parse_f64("3"), 3.0);
  EXPECT_EQ(parse_f64(".5"), 0.5);
  for (std::string_view bad :
       {"", ".", "0,5", "inf", "-inf", "nan", "1e999", "0.5f", " 1", "1 ", "+1", "e5"}) {
    EXPECT_EQ(parse_f64(bad), std::nullopt) << "'" << bad << "'";
  }
}

TEST(Text, LocalesChangeNothing) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  const bool changed = std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr ||
                       std::setlocale(LC_ALL, "fr_FR.UTF-8") != nullptr ||
                       std::setlocale(LC_ALL, "tr_TR.UTF-8") != nullptr;
  EXPECT_EQ(parse_f64("0.5"), 0.5);
  EXPECT_EQ(parse_f64("0,5"), std::nullopt);
  EXPECT_EQ(parse_size("1.5KiB"), 1536);
  std::setlocale(LC_ALL, before.c_str());
  if (!changed) GTEST_SKIP() << "no locale with a decimal comma is installed; only C was tried";
}

TEST(Text, SizesTakeBinaryUnits) {
  EXPECT_EQ(parse_size("0"), 0);
  EXPECT_EQ(parse_size("4096"), 4096);
  EXPECT_EQ(parse_size("64KiB"), 64 << 10);
  EXPECT_EQ(parse_size("1.5GiB"), 1610612736);
  EXPECT_EQ(parse_size("8388607GiB"), int64_t{8388607} << 30);
  EXPECT_EQ(parse_size("-1"), -1) << "its meaning is the option's";
  for (std::string_view bad : {"", "KiB", "1kib", "1KB", "1 KiB", "1TiB", "1.5", "-1KiB", "nanKiB", "infGiB",
                               "8589934592GiB", "1e400GiB", "1KiBKiB", "iB", "1iB"}) {
    EXPECT_EQ(parse_size(bad), std::nullopt) << "'" << bad << "'";
  }
}

TEST(Text, BooleansAreTwoWords) {
  EXPECT_EQ(parse_bool("true"), true);
  EXPECT_EQ(parse_bool("false"), false);
  for (std::string_view bad : {"", "1", "0", "True", "yes", "true "})
    EXPECT_EQ(parse_bool(bad), std::nullopt);
}

TEST(Text, ShapesAreWhatTheyAreWrittenAs) {
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{3}, {3, 32, 32}, {0}, {1, kMost}}) {
    EXPECT_EQ(parse_shape(shape_text(shape)), shape);
  }
  EXPECT_EQ(shape_text({}), "");
  for (std::string_view bad :
       {"", "x", "3x", "x3", "3xx4", "-3", "3x-1", "3,4", "3X4", "3 x 4", "9223372036854775808"}) {
    EXPECT_EQ(parse_shape(bad), std::nullopt) << "'" << bad << "'";
  }
}

TEST(Text, SplitKeepsEmptyPartsAndTrimTakesBlanks) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(split("", ','), Parts({""}));
  EXPECT_EQ(split("a", ','), Parts({"a"}));
  EXPECT_EQ(split(",a,,b,", ','), Parts({"", "a", "", "b", ""}));
  EXPECT_EQ(trim(" \t a b\t "), "a b");
  EXPECT_EQ(trim(" \t"), "");
  EXPECT_EQ(trim(""), "");
  EXPECT_EQ(trim("\n"), "\n") << "a line feed is no blank";
}

TEST(Text, TheNearestNameIsFewEditsAway) {
  constexpr std::string_view kNames[] = {"batch_size", "global_batch_size", "seed", "io"};
  EXPECT_EQ(nearest("batchsize", kNames), "batch_size");
  EXPECT_EQ(nearest("batch_sise", kNames), "batch_size");
  EXPECT_EQ(nearest("bacth_size", kNames), "batch_size");
  EXPECT_EQ(nearest("sede", kNames), "seed") << "two letters exchanged are one edit";
  EXPECT_EQ(nearest("sode", kNames), "") << "two edits of four letters are too many";
  EXPECT_EQ(nearest("sed", kNames), "seed");
  EXPECT_EQ(nearest("oi", kNames), "io");
  EXPECT_EQ(nearest("zzzzzzzzzz", kNames), "");
  EXPECT_EQ(nearest("", kNames), "");
  constexpr std::string_view kLetters[] = {"x", "ab"};
  EXPECT_EQ(nearest("y", kLetters), "") << "another letter is another name";
  EXPECT_EQ(nearest("b", kLetters), "ab");
  EXPECT_EQ(nearest("seed", {}), "");
  EXPECT_EQ(nearest(std::string(16 << 20, 's'), kNames), "") << "at no cost";
  EXPECT_EQ(did_you_mean("sed", kNames), ", did you mean 'seed'?");
  EXPECT_EQ(did_you_mean("zzzzzzzzzz", kNames), "");
}

TEST(Text, NaturalOrderComparesRunsOfDigitsAsNumbers) {
  const std::vector<std::string> names = {"",        "0",       "1",        "2",        "10",     "part-2",
                                          "part-02", "part-10", "part-010", "part-10a", "part-a", "parta"};
  std::vector<std::string> shuffled = names;
  std::reverse(shuffled.begin(), shuffled.end());
  std::sort(shuffled.begin(), shuffled.end(), natural_less);
  for (size_t i = 0; i + 1 < shuffled.size(); ++i)
    EXPECT_TRUE(natural_less(shuffled[i], shuffled[i + 1])) << shuffled[i] << " " << shuffled[i + 1];
  EXPECT_TRUE(natural_less("part-2", "part-10"));
  EXPECT_TRUE(natural_less("part-99999999999999999999998", "part-99999999999999999999999"));
  EXPECT_TRUE(natural_less("a\x7f", "a\xc3\xa4")) << "bytes above ASCII come last";
}

// A sort by what is no strict weak order reads past its end; so: every triple of many small texts.
TEST(Text, NaturalOrderIsAStrictOrderOfAllTexts) {
  std::vector<std::string> texts;
  for (uint64_t i = 0; i < 120; ++i) {
    std::string text;
    for (uint64_t at = 0; at < i % 5; ++at) text += "0019a-\xe4"[random_below(random_bits(3, i, at), 7)];
    texts.push_back(text);
  }
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  for (const std::string& a : texts) {
    EXPECT_FALSE(natural_less(a, a)) << a;
    for (const std::string& b : texts) {
      EXPECT_TRUE(a == b || natural_less(a, b) != natural_less(b, a)) << a << " " << b;
      for (const std::string& c : texts) {
        const bool chained = natural_less(a, b) && natural_less(b, c);
        ASSERT_TRUE(!chained || natural_less(a, c)) << a << " " << b << " " << c;
      }
    }
  }
}

TEST(Text, WellFormedUtf8IsToldFromOtherBytes) {
  for (std::string_view text : {std::string_view(""), std::string_view("a\0b", 3), std::string_view("\x7f"),
                                std::string_view("\xc3\xa4"), std::string_view("\xe2\x82\xac"),
                                std::string_view("\xed\x9f\xbf"), std::string_view("\xf0\x9f\x98\x80")})
    EXPECT_TRUE(is_utf8(text)) << text;
  // A byte that begins nothing, cut, overlong, a surrogate, beyond U+10FFFF.
  for (const char* text : {"\x80", "a\xff", "\xc3", "\xc3z", "\xe2\x82", "\xc0\xaf", "\xe0\x80\x80",
                           "\xf0\x80\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80"})
    EXPECT_FALSE(is_utf8(text));
}

TEST(Text, CharactersAreTakenOneByOneAndOtherBytesAsThemselves) {
  std::string_view text = "a\xe2\x82\xac\xff";
  EXPECT_EQ(take_character(text), uint32_t{'a'});
  EXPECT_EQ(take_character(text), 0x20acu);
  EXPECT_EQ(take_character(text), kNotUtf8 + 0xff);
  EXPECT_TRUE(text.empty());
}

}  // namespace
}  // namespace dataline::text_test
