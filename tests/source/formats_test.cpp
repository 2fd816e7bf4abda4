// What every format says of itself.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/base/text.h"

namespace dataline::formats_test {
namespace {

std::string uri_of(const Format& format, const std::string& keys) {
  const std::string needed = format.name == "raw" ? "dtype=u8" : "";
  const std::string separator = needed.empty() || keys.empty() ? "" : "&";
  const std::string all = needed + separator + keys;
  return concat(format.name, ":path", all.empty() ? "" : "?", all);
}

TEST(Formats, EveryNameIsInTheListOnce) {
  EXPECT_EQ(format_names().size(), formats().size());
  for (std::string_view name : format_names()) EXPECT_EQ(find_format(name)->name, name);
  EXPECT_EQ(find_format("nothing"), nullptr);
}

TEST(Formats, EachIsDescribedWithItsFieldsAndOpens) {
  for (const Format* format : formats()) {
    EXPECT_TRUE(format->doc.find(". Field: ") != std::string_view::npos ||
                format->doc.find(". Fields: ") != std::string_view::npos)
        << format->name << ": " << format->doc;
    EXPECT_EQ(format->is_member == nullptr, format->members.empty()) << format->name;
    const Result<OpenOne> open = format->configure(parse_uri(uri_of(*format, "")).value());
    ASSERT_TRUE(open.is_ok()) << open.status().message();
    EXPECT_NE(open.value() == nullptr, format->compose == nullptr) << format->name;
  }
}

TEST(Formats, EveryKeyIsDescribedOnceAndItsDefaultIsTaken) {
  for (const Format* format : formats()) {
    std::set<std::string_view> names;
    for (const KeySpec& key : format->keys) {
      SCOPED_TRACE(concat(format->name, " ", key.name));
      EXPECT_TRUE(names.insert(key.name).second);
      EXPECT_NE(key.values, "");
      EXPECT_NE(key.doc, "");
      if (key.fallback.empty()) continue;
      const Result<Uri> uri = parse_uri(uri_of(*format, concat(key.name, "=", key.fallback)));
      ASSERT_TRUE(uri.is_ok()) << uri.status().message();
      const Result<OpenOne> open = format->configure(uri.value());
      EXPECT_TRUE(open.is_ok()) << open.status().message();
    }
  }
}

// Of the keys that take words: each word is taken, and no other.
TEST(Formats, KeysTakeTheirWordsAndNoOthers) {
  for (const Format* format : formats()) {
    for (const KeySpec& key : format->keys) {
      if (key.values.find('|') == std::string_view::npos || key.values.find("FILE") != std::string_view::npos)
        continue;
      SCOPED_TRACE(concat(format->name, " ", key.name));
      for (std::string_view word : split(key.values, '|')) {
        EXPECT_TRUE(
            format->configure(parse_uri(uri_of(*format, concat(key.name, "=", word))).value()).is_ok());
      }
      const auto refused =
          format->configure(parse_uri(uri_of(*format, concat(key.name, "=none_of_them"))).value());
      EXPECT_EQ(refused.status().code(), Code::kBadUri);
    }
  }
}

}  // namespace
}  // namespace dataline::formats_test
