// The text form of a dataset: what parses, and what is said of what does not.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/uri.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "core/source/open.h"
#include "tests/source/source_support.h"
#include "tests/support/peak_growth.h"

namespace dataline::uri_test {
namespace {

Uri parsed(std::string_view text) {
  Result<Uri> uri = parse_uri(text);
  EXPECT_TRUE(uri.is_ok()) << text << ": " << (uri.is_ok() ? "" : uri.status().message());
  return uri.is_ok() ? uri.take() : Uri{};
}

TEST(Uri, TextWithoutASchemeIsOneLiteralPath) {
  for (std::string_view text : {"a.npy", "/data/a,b.npy", "C:\\x.npy", "./npy:a", "dir?x=1", "50%.npy",
                                "a=b,c=d", "1a:b", "a b:c", ":x", "data/npy:x"}) {
    Uri uri = parsed(text);
    EXPECT_EQ(uri.scheme, "") << text;
    ASSERT_EQ(uri.paths.size(), 1u) << text;
    EXPECT_EQ(uri.paths[0].path, text);
    EXPECT_TRUE(uri.keys.empty()) << text;
  }
}

TEST(Uri, SchemeHasTwoLettersOrMore) {
  EXPECT_EQ(parsed("C:x").scheme, "");
  EXPECT_EQ(parsed("ab:x").scheme, "ab");
  EXPECT_EQ(parsed("cifar10:x").scheme, "cifar10");
}

TEST(Uri, PathsAreSplitAtCommasAndDecoded) {
  Uri uri = parsed("npy:/a%20b/%25.npy,b%2Cc.npy,d?trailing=ignore");
  ASSERT_EQ(uri.paths.size(), 3u);
  EXPECT_EQ(uri.paths[0].path, "/a b/%.npy");
  EXPECT_EQ(uri.paths[1].path, "b,c.npy");
  EXPECT_EQ(uri.paths[2].path, "d");
  EXPECT_FALSE(uri.named());
  EXPECT_EQ(uri.paths[1].column, 20);
}

TEST(Uri, NamedPathsKeepTheirNames) {
  Uri uri = parsed("npy:image=a%3Db.npy,obs/label=b.npy");
  ASSERT_EQ(uri.paths.size(), 2u);
  EXPECT_TRUE(uri.named());
  EXPECT_EQ(uri.paths[0].name, "image");
  EXPECT_EQ(uri.paths[0].path, "a=b.npy");
  EXPECT_EQ(uri.paths[1].name, "obs/label");
}

TEST(Uri, ValuesAreDecodedAndKeepWhatIsLiteral) {
  Uri uri = parsed("raw:a?fields=label:u8,image:u8[3x32x32]&x=1%262=3?");
  ASSERT_EQ(uri.keys.size(), 2u);
  EXPECT_EQ(uri.find("fields")->value, "label:u8,image:u8[3x32x32]");
  EXPECT_EQ(uri.find("x")->value, "1&2=3?");
  EXPECT_EQ(uri.find("fields")->column, 7);
  EXPECT_EQ(uri.find("fields")->value_column, 14);
  EXPECT_EQ(uri.find("y"), nullptr);
}

TEST(Uri, EveryByteButNulMayBeWrittenInEitherCaseOfHex) {
  for (std::string_view digits : {"0123456789abcdef", "0123456789ABCDEF"}) {
    std::string text = "npy:", bytes;
    for (size_t byte = 1; byte < 256; ++byte) {
      text += concat('%', digits[byte / 16], digits[byte % 16]);
      bytes += static_cast<char>(byte);
    }
    Uri uri = parsed(text);
    ASSERT_EQ(uri.paths.size(), 1u);
    EXPECT_EQ(uri.paths[0].path, bytes);
  }
}

TEST(Uri, BytesAboveAsciiStandForThemselves) {
  EXPECT_EQ(parsed("npy:d\xc3\xa9j\xc3\xa0.npy").paths[0].path, "d\xc3\xa9j\xc3\xa0.npy");
  EXPECT_EQ(parsed("npy:%C3%a9").paths[0].path, "\xc3\xa9");
}

struct BadUri {
  std::string text;
  int64_t column;
  std::string part;
};

void PrintTo(const BadUri& bad, std::ostream* out) { *out << bad.text.substr(0, 80); }

class BadUris : public testing::TestWithParam<BadUri> {};

TEST_P(BadUris, IsRefusedWithTheColumn) {
  Result<Uri> uri = parse_uri(GetParam().text);
  expect_error(uri, Code::kBadUri, {GetParam().part, concat("URI column ", GetParam().column, ": ")});
  EXPECT_EQ(uri.status().column(), GetParam().column);
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadUris,
    testing::Values(BadUri{"", 1, "empty"},                                                        //
                    BadUri{"npy:", 5, "a path is missing"},                                        //
                    BadUri{"npy:,a", 5, "a path is missing"},                                      //
                    BadUri{"npy:a,", 7, "a path is missing"},                                      //
                    BadUri{"npy:a,,b", 7, "a path is missing"},                                    //
                    BadUri{"npy:?trailing=ignore", 5, "a path is missing"},                        //
                    BadUri{"npy:image=", 11, "a path is missing"},                                 //
                    BadUri{"npy:image=,b=c", 11, "a path is missing"},                             //
                    BadUri{"npy:=a.npy", 5, "not a field name"},                                   //
                    BadUri{"npy:/data/x=1/a.npy", 5, "%3D"},                                       //
                    BadUri{"npy:a b=c", 5, "'a b' is not a field name"},                           //
                    BadUri{"npy:name/=c", 5, "'name/' is not a field name"},                       //
                    BadUri{"npy:a%3Db=c", 5, "not a field name"},                                  //
                    BadUri{"npy:a=x.npy,b.npy", 13, "named and unnamed paths together"},           //
                    BadUri{"npy:a.npy,b=x.npy", 11, "named and unnamed paths together"},           //
                    BadUri{"npy:a=x,b=y,a=z", 13, "name 'a' appears twice"},                       //
                    BadUri{"npy:a%", 6, "two hexadecimal digits"},                                 //
                    BadUri{"npy:a%2", 6, "two hexadecimal digits"},                                //
                    BadUri{"npy:a%zz", 6, "two hexadecimal digits"},                               //
                    BadUri{"npy:a%2gb", 6, "%25"},                                                 //
                    BadUri{"npy:100%.npy", 8, "%25"},                                              //
                    BadUri{"npy:a,b%", 8, "two hexadecimal digits"},                               //
                    BadUri{"npy:x=a%", 8, "two hexadecimal digits"},                               //
                    BadUri{"npy:a%00b", 6, "NUL"},                                                 //
                    BadUri{std::string("npy:a\0b", 7), 6, "NUL"},                                  //
                    BadUri{std::string("a\0b", 3), 2, "NUL"},                                      //
                    BadUri{"npy:a?", 7, "expected key=value"},                                     //
                    BadUri{"npy:a?&", 7, "expected key=value"},                                    //
                    BadUri{"npy:a?x=1&", 11, "expected key=value"},                                //
                    BadUri{"npy:a?=1", 7, "expected key=value"},                                   //
                    BadUri{"npy:a?trailing", 7, "key 'trailing' needs a value"},                   //
                    BadUri{"npy:a?x=1&y", 11, "key 'y' needs a value"},                            //
                    BadUri{"npy:a?x=1&x=2", 11, "key 'x' appears twice"},                          //
                    BadUri{"npy:a?x=1&y=2&x=1", 15, "key 'x' appears twice"},                      //
                    BadUri{"npy:a?x=%", 9, "two hexadecimal digits"},                              //
                    BadUri{"npy:a?x=1&y=%4", 13, "two hexadecimal digits"},                        //
                    BadUri{"npy:a?x=%00", 9, "NUL"},                                               //
                    BadUri{std::string("npy:") + std::string(kMaxUriBytes, 'a'), 1, "at most"}));  //

TEST(Uri, TooManyNamesAndKeysAreRefusedInShortTime) {
  std::string names = "npy:", keys = "npy:a?";
  for (int i = 0; i < 100'000; ++i) names += concat(i == 0 ? "" : ",", "n", i, "=x");
  for (int i = 0; i < 100'000; ++i) keys += concat(i == 0 ? "" : "&", "k", i, "=x");
  expect_error(parse_uri(names), Code::kBadUri, {"more than 1024 named paths"});
  expect_error(parse_uri(keys), Code::kBadUri, {"more than 64 keys"});
}

// Texts made to take long or much memory.
TEST(Uri, HostileTextsCostNextToNothing) {
  auto repeated = [](std::string_view unit, size_t count) {
    std::string text;
    text.reserve(unit.size() * count);
    for (size_t i = 0; i < count; ++i) text += unit;
    return text;
  };
  constexpr size_t kMost = 4 << 20;
  std::string many_fields = "raw:a?fields=f:u8";
  for (int i = 0; i < 100'000; ++i) many_fields += concat(",f", i, ":u8");
  const std::vector<std::pair<std::string, std::string>> table = {
      {"npy:" + std::string(kMost, ','), "URI column 5: a path is missing"},
      {"npy:a?" + std::string(kMost, '&'), "URI column 7: expected key=value"},
      {"npy:a?" + repeated("k=1&", kMost / 4), "URI column 11: key 'k' appears twice"},
      {"npy:" + repeated("%41", kMost / 3) + "%", "two hexadecimal digits"},
      {"npy:" + std::string(kMost, '%'), "URI column 5: "},
      {"npy:" + std::string(kMost, '='), "URI column 5: "},
      {"npy:" + std::string(kMost, '?'), "URI column 5: a path is missing"},
  };
  const std::string twice = "raw:a?fields=" + repeated("a:u8,", 100'000),
                    dims = "raw:a?dtype=u8&shape=" + repeated("1x", 100'000) + "1";
  PeakGrowth growth;
  for (const auto& [text, part] : table) expect_error(parse_uri(text), Code::kBadUri, {part});
  expect_error(open_source(many_fields, test_context()), Code::kBadUri, {"more than 1024 fields"});
  expect_error(open_source(twice, test_context()), Code::kBadUri, {"field 'a' appears twice"});
  expect_error(open_source(dims, test_context()), Code::kBadUri, {"100001 dims, at most 32"});
  EXPECT_LT(growth.bytes(), kMostGrowthBytes);
}

TEST(Uri, AHundredThousandPathsParse) {
  std::string text = "npy:";
  for (int i = 0; i < 100'000; ++i) text += concat(i == 0 ? "" : ",", "part-", i, ".npy");
  EXPECT_EQ(parsed(text).paths.size(), 100'000u);
}

TEST(Uri, NumbersBooleansAndTypesAreChecked) {
  Uri uri = parsed("tokens:a?length=12&stride=0&views=yes&dtype=u61&big=99999999999999999999&neg=-1");
  EXPECT_EQ(uri_i64(uri, "length", 7, 1).value(), 12);
  EXPECT_EQ(uri_i64(uri, "absent", 7, 1).value(), 7);
  expect_error(uri_i64(uri, "stride", 7, 1), Code::kBadUri,
               {"stride='0': expected a whole number, at least 1"});
  expect_error(uri_i64(uri, "big", 7, 1), Code::kBadUri, {"big='99999999999999999999'"});
  expect_error(uri_i64(uri, "neg", 7, 0), Code::kBadUri, {"at least 0"});
  constexpr KeySpec kViews{"views", "true|false", "false", ""}, kAbsent{"absent", "true|false", "false", ""};
  expect_error(uri_is(uri, kViews, "true"), Code::kBadUri, {"views='yes': expected true or false"});
  expect_error(uri_dtype(uri, "dtype"), Code::kBadUri, {"dtype='u61': expected a dtype: bool u8"});
  EXPECT_FALSE(uri_is(uri, kAbsent, "true").value());
  EXPECT_FALSE(uri_dtype(uri, "absent").value().has_value());
  EXPECT_EQ(uri_is(uri, kViews, "true").status().column(), 35);
}

TEST(Uri, WordsNameTheNearest) {
  constexpr KeySpec kWords{"t", "error|ignore", "error", ""};
  EXPECT_TRUE(uri_is(parsed("npy:a?t=ignore"), kWords, "ignore").value());
  EXPECT_FALSE(uri_is(parsed("npy:a?t=ignore"), kWords, "error").value());
  EXPECT_TRUE(uri_is(parsed("npy:a"), kWords, "error").value());
  expect_error(uri_is(parsed("npy:a?t=ignor"), kWords, "ignore"), Code::kBadUri,
               {"t='ignor': expected error or ignore", "did you mean 'ignore'?"});
}

// The fields of an empty file.
std::string fields_text(const std::string& keys) {
  TempDir dir;
  std::string out;
  Result<SourceRef> source = open_source("raw:" + dir.write("a", "") + "?" + keys, test_context());
  if (!source.is_ok()) return source.status().message();
  for (const Field& field : source.value()->schema().fields)
    out += concat(field.name, ":", field_type_text(field), " ");
  return out;
}

TEST(RecordFields, AreReadFromEitherForm) {
  EXPECT_EQ(fields_text("dtype=f32&shape=3x4"), "data:f32[3x4] ");
  EXPECT_EQ(fields_text("dtype=i64"), "data:i64 ");
  EXPECT_EQ(fields_text("fields=label:u8,image:u8[3x32x32],a/b:c64[1]"),
            "label:u8 image:u8[3x32x32] a/b:c64[1] ");
}

class BadRecordFields : public testing::TestWithParam<BadUri> {};

TEST_P(BadRecordFields, AreRefusedWithTheColumn) {
  Result<SourceRef> source = open_source(GetParam().text, test_context());
  expect_error(source, Code::kBadUri, {GetParam().part});
  EXPECT_EQ(source.status().column(), GetParam().column);
}

INSTANTIATE_TEST_SUITE_P(Table, BadRecordFields,
                         testing::Values(BadUri{"raw:a", 6, "raw needs dtype="},
                                         BadUri{"raw:a?shape=3", 14, "raw needs dtype="},
                                         BadUri{"raw:a?dtype=f31", 13, "dtype='f31'"},
                                         BadUri{"raw:a?dtype=u8&shape=3x", 22, "shape='3x'"},
                                         BadUri{"raw:a?dtype=u8&shape=", 22, "shape=''"},
                                         BadUri{"raw:a?dtype=u8&shape=-3", 22, "shape='-3'"},
                                         BadUri{"raw:a?dtype=u8&shape=3,4", 22, "shape='3,4'"},
                                         BadUri{"raw:a?dtype=u8&shape=9999999999999999999x2", 22, "shape="},
                                         BadUri{"raw:a?fields=x:u8&dtype=u8", 19, "'dtype' and 'fields'"},
                                         BadUri{"raw:a?fields=x:u8&shape=3", 19, "'shape' and 'fields'"},
                                         BadUri{"raw:a?fields=", 14, "expected name:dtype"},
                                         BadUri{"raw:a?fields=x", 14, "'x': expected name:dtype"},
                                         BadUri{"raw:a?fields=:u8", 14, "expected name:dtype"},
                                         BadUri{"raw:a?fields=x:u8,", 19, "expected name:dtype"},
                                         BadUri{"raw:a?fields=x:u8,y:u9", 19, "unknown dtype 'u9'"},
                                         BadUri{"raw:a?fields=x:u8,x:u8", 19, "field 'x' appears twice"},
                                         BadUri{"raw:a?fields=x:u8[3", 14, "expected name:dtype"},
                                         BadUri{"raw:a?fields=x:u8[]", 14, "expected name:dtype"},
                                         BadUri{"raw:a?fields=x:u8[3]4", 14, "expected name:dtype"},
                                         BadUri{"raw:a?fields=x:u8[3xx4]", 14, "expected name:dtype"},
                                         BadUri{"raw:a?fields=x:u8[-1]", 14, "expected name:dtype"}));

}  // namespace
}  // namespace dataline::uri_test
