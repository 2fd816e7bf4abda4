// Text files in other encodings are refused by name, in every format that reads text; a byte order mark of UTF-8 is skipped.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/text_encoding.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/source/open.h"
#include "tests/source/gzip_files.h"
#include "tests/source/image_sets/image_set_files.h"
#include "tests/source/mds/mds_files.h"
#include "tests/source/source_support.h"

namespace dataline::text_encoding_test {
namespace {

// ASCII text in units of so many bytes, after a byte order mark or without one.
std::string encoded(const std::string& text, size_t unit, bool big, bool marked) {
  std::string out;
  const auto put = [&](uint32_t value) {
    for (size_t i = 0; i < unit; ++i) out += static_cast<char>(value >> 8 * (big ? unit - 1 - i : i));
  };
  if (marked) put(0xfeff);
  for (const char c : text) put(static_cast<unsigned char>(c));
  return out;
}

struct Encoding {
  std::string name;
  size_t unit;
  bool big, marked;
};
const std::vector<Encoding> kEncodings = {{"UTF-16", 2, false, true},    {"UTF-16", 2, true, true},
                                          {"UTF-16LE", 2, false, false}, {"UTF-16BE", 2, true, false},
                                          {"UTF-32", 4, false, true},    {"UTF-32", 4, true, true},
                                          {"UTF-32LE", 4, false, false}, {"UTF-32BE", 4, true, false}};

struct TextFile {
  std::string uri, file, text;  // uri: before the directory; file: in it
  std::string opened = {};      // what the URI names, where that is not the file
};
std::vector<TextFile> text_files() {
  return {{"csv:", "a.csv", "a,t\n1,x\n"},
          {"", "b.csv", "a,t\n1,x\n"},
          {"jsonl:", "a.jsonl", "{\"a\": 1}\n"},
          {"", "b.jsonl", "{\"a\": 1}\n"},
          {"folder:", "labels.csv", "cat.png,1\n", "pets?labels="},
          {"folder:", "labels.jsonl", "{\"path\": \"cat.png\", \"label\": 1}\n", "pets?labels="},
          {"mix:", "mix.json", "{\"parts\": [{\"name\": \"x\", \"uri\": \"csv:good.csv\", \"weight\": 1}]}"},
          {"mds:", "set/index.json", mds_index({mds_entry(mds_file({"x"}), "shard.mds")}), "set"}};
}

class TextEncoding : public testing::Test {
 protected:
  TextEncoding() {
    dir_.write("good.csv", "a\n1\n");
    dir_.write("pets/cat.png", "x");
    dir_.write("set/shard.mds", mds_file({"x"}).bytes());
  }
  Result<SourceRef> open(const TextFile& file, const std::string& bytes) {
    const std::string path = dir_.write(file.file, bytes);
    const bool is_list = file.opened.ends_with('=');
    return open_source(
        file.uri + (file.opened.empty() ? path : dir_.path(file.opened) + (is_list ? path : "")),
        test_context());
  }

  TempDir dir_;
};

TEST_F(TextEncoding, OthersThanUtf8AreNamedWithWhatConvertsThem) {
  for (const TextFile& file : text_files()) {
    for (const Encoding& encoding : kEncodings) {
      SCOPED_TRACE(file.uri + file.file + " in " + encoding.name);
      expect_error(open(file, encoded(file.text, encoding.unit, encoding.big, encoding.marked)),
                   Code::kUnsupported,
                   {file.file, "offset 0: " + encoding.name + ", expected UTF-8",
                    "iconv -f " + encoding.name + " -t UTF-8"});
    }
  }
}

TEST_F(TextEncoding, AByteOrderMarkOfUtf8IsNoPartOfTheText) {
  for (const TextFile& file : text_files()) {
    for (const std::string mark : {"", "\xef\xbb\xbf"}) {
      const Result<SourceRef> source = open(file, mark + file.text);
      ASSERT_TRUE(source.is_ok()) << file.file << ": " << source.status().message();
      EXPECT_EQ(source.value()->count(), 1) << file.file;
    }
  }
}

TEST_F(TextEncoding, IsThatOfTheInflatedText) {
  if (!gzip_is_read()) GTEST_SKIP() << "this build has no libdeflate";
  for (const char* name : {"a.csv.gz", "a.jsonl.gz"}) {
    const std::string path = dir_.write(name, gzip_stored(encoded("{\"a\": 1}\n", 2, false, true)));
    expect_error(open_source(path, test_context()), Code::kUnsupported, {"offset 0: UTF-16, expected UTF-8"});
  }
}

}  // namespace
}  // namespace dataline::text_encoding_test
