// Names of fields: what a writer accepts is read back under the same name, and what it refuses makes nothing.
// SPDX-License-Identifier: Apache-2.0
#include "tests/write/sets.h"

namespace dataline::tests::names_test {
namespace {

using FieldNames = Sets;

const std::vector<std::string> kRefused = {"",
                                           "a\nb",
                                           "a\tb",
                                           "\x01",
                                           "bell\x07",
                                           "\x1b[31mred",
                                           "del\x7f",
                                           "nul\x01",
                                           "\xff\xfe",
                                           "half\xc3",
                                           "\xed\xa0\x80",
                                           std::string(256, 'n'),
                                           "c1\xc2\x80",
                                           "c1\xc2\x9f",
                                           "lrm\xe2\x80\x8e",
                                           "rlo\xe2\x80\xae"
                                           "gpj",
                                           "line\xe2\x80\xa8",
                                           "\xef\xbb\xbfx",
                                           "alm\xd8\x9c",
                                           "lri\xe2\x81\xa6"};
const std::vector<std::string> kPlain = {"x",
                                         "with space",
                                         "a/b",
                                         "a\\b",
                                         "a\"b",
                                         "a'b",
                                         "a,b",
                                         "a:b",
                                         "a.b",
                                         "a=b&c?d#e",
                                         ".hidden",
                                         "..",
                                         "UPPER",
                                         "jpg",
                                         "cls",
                                         "txt",
                                         "json",
                                         "npy",
                                         "key",
                                         "label",
                                         "image",
                                         "__key__",
                                         "b\xc3\xa9"
                                         "b\xc3\xa9",
                                         "\xe5\x90\x8d",
                                         std::string(255, 'n')};

TEST_F(FieldNames, ThatAreNoTextAreRefusedByEveryFormat) {
  for (const char* format : {"arrow", "parquet", "tfrecord", "tar", "npy", "tokens"}) {
    for (const std::string& name : kRefused) {
      const Columns columns = {dense("x", DL_DTYPE_U16, {}, counting<uint16_t>(4))};
      Columns named = columns;
      named[0].name = name;
      TestWriter writer(std::string(format) + ":" + path("set"), named);
      EXPECT_EQ(writer.made.status, DL_ERR_INVALID_ARGUMENT) << format << ": " << writer.made.error.message;
      const std::string message = writer.made.error.message;
      EXPECT_NE(message.find("1 to 255 bytes of UTF-8 without control and direction characters"),
                std::string::npos)
          << message;
      EXPECT_FALSE(there("set.partial")) << format;
    }
  }
}

TEST_F(FieldNames, ThatAreAcceptedAreReadBack) {
  int number = 0, accepted = 0;
  for (const char* format : {"arrow", "tfrecord", "tar"}) {
    for (const std::string& name : kPlain) {
      for (const bool text : {true, false}) {
        // As JPEG files begin, which a tar archive tells images by; anything else takes any text.
        const std::string start = name == "image" ? "\xff\xd8\xff" : "";
        Columns columns = {text ? texts(name, {start + "one", start + "two", start + "three"})
                                : dense(name, DL_DTYPE_I64, {}, counting<int64_t>(3)),
                           texts(name == "other" ? "another" : "other", {"1", "2", "3"})};
        const std::string set = "set" + std::to_string(++number), uri = std::string(format) + ":" + path(set);
        TestWriter writer(uri, columns);
        if (writer.made.status != DL_OK) {
          EXPECT_NE(std::string(writer.made.error.message).find("field"), std::string::npos) << name;
          EXPECT_FALSE(there(set + ".partial"));
          continue;
        }
        ++accepted;
        const Written rows = writer.append(columns, 0, 3);
        ASSERT_EQ(rows.status, DL_OK) << format << " " << name << ": " << rows.error.message;
        ASSERT_EQ(writer.finish().status, DL_OK) << name;
        std::vector<std::string> found;
        for (const Delivery& field : deliver(uri)) found.push_back(field.name);
        EXPECT_NE(std::find(found.begin(), found.end(), name), found.end())
            << format << ": '" << name << "' of " << (text ? "text" : "numbers") << ": "
            << ::testing::PrintToString(found);
      }
    }
  }
  EXPECT_GT(accepted, 60);
}

TEST_F(FieldNames, ThatAreThereTwiceAreRefused) {
  for (const char* format : {"arrow", "parquet", "tfrecord", "tar"}) {
    const Columns twice = {texts("x", {"1"}), texts("x", {"2"})};
    TestWriter writer(std::string(format) + ":" + path("set"), twice);
    EXPECT_EQ(writer.made.status, DL_ERR_INVALID_ARGUMENT) << format;
    EXPECT_FALSE(there("set.partial"));
  }
}

// A manifest that somebody edited: its sums overflow.
TEST_F(FieldNames, OfAManifestWhoseSumsOverflowAreNotResumed) {
  const Columns columns = {dense("x", DL_DTYPE_I64, {}, counting<int64_t>(3))};
  const std::string uri = "arrow:" + path("set") + "?shard_bytes=1",
                    manifest = path("set.partial/dataline.manifest");
  {
    TestWriter writer(uri, columns);
    for (int64_t i = 0; i < 3; ++i) ASSERT_EQ(writer.append(columns, i, 1).status, DL_OK);
  }
  std::string text = read_whole(manifest);
  const std::string from = "\"samples\": 1,", to = "\"samples\": 9223372036854775807,";
  int changed = 0;
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()), ++changed)
    text.replace(at, from.size(), to);
  ASSERT_EQ(changed, 3) << text;
  write_file(manifest, text);
  TestWriter writer(uri, columns);
  EXPECT_EQ(writer.made.status, DL_ERR_CORRUPT) << writer.made.error.message;
  EXPECT_NE(std::string(writer.made.error.message).find(manifest + ": its shards add up to more"),
            std::string::npos)
      << writer.made.error.message;
}

}  // namespace
}  // namespace dataline::tests::names_test
