// A file of another kind, opened with a scheme: the message names the kind before it complains of the content.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/source/open.h"
#include "tests/source/image_sets/image_set_files.h"
#include "tests/source/source_support.h"

namespace dataline::other_kinds_test {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Kind {
  std::string bytes, named;
};

std::vector<Kind> kinds() {
  const std::string zeros(99, '\0');
  return {{std::string("\xfd") + "7zXZ" + zeros, "xz data"},
          {"BZh91AY&SY" + zeros, "bzip2 data"},
          {"PK\x03\x04\x14" + zeros, "a zip archive"},
          {"PAR1\x15\x04" + zeros, "a Parquet file"},
          {"ARROW1" + zeros, "an Arrow file"},
          {"\x89HDF\r\n\x1a\n" + zeros, "an HDF5 file"},
          {"\x93NUMPY\x01" + zeros, "an npy file"},
          {"\x89PNG\r\n\x1a\n" + zeros, "a PNG image"},
          {"<!DOCTYPE html>\n<p>404</p>\n", "an HTML page"},
          {"version https://git-lfs.github.com/spec/v1\n", "a git-LFS pointer"}};
}

class OtherKinds : public testing::Test {
 protected:
  void expect_named(const std::string& scheme, const std::string& file, const std::string& keys,
                    const std::string& named) {
    SCOPED_TRACE(scheme + ": " + named);
    const Result<SourceRef> source = open_source(scheme + ":" + file + keys, test_context());
    ASSERT_FALSE(source.is_ok());
    EXPECT_THAT(source.status().message(), HasSubstr("this is " + named));
  }

  TempDir dir_;
};

TEST_F(OtherKinds, FormatsOfTextNameThem) {
  for (const Kind& kind : kinds()) {
    const std::string file = dir_.write("x", kind.bytes);
    for (const std::string scheme : {"csv", "jsonl", "mds", "litdata", "mix"})
      expect_named(scheme, file, "", kind.named);
    expect_named("csv", file, "?fields=a:i64", kind.named);
    expect_named("csv", file, "?header=false&fields=column0:text", kind.named);
    expect_named("jsonl", file, "?fields=a:i64", kind.named);
  }
}

TEST_F(OtherKinds, AlsoInsideACompressedFile) {
  if (!gzip_is_read()) GTEST_SKIP() << "this build has no libdeflate";
  for (const Kind& kind : kinds()) {
    const std::string file = dir_.write("x.gz", gzip_stored(kind.bytes));
    expect_named("csv", file, "", kind.named);
    expect_named("jsonl", file, "", kind.named);
  }
}

TEST_F(OtherKinds, BareNumbersNameThemWhereTheSizeIsWrong) {
  const std::string file = dir_.write("x", kinds()[0].bytes + "x");
  expect_named("tokens", file, "", "xz data");
  expect_named("tokens", file, "?dtype=u64", "xz data");
  expect_named("raw", file, "?dtype=u64", "xz data");
}

TEST_F(OtherKinds, TextThatBeginsLikeOneIsText) {
  for (const std::string name : {"PAR1", "BZh", "ARROW1", "FEA1"}) {
    const Result<SourceRef> source =
        open_source("csv:" + dir_.write("x", name + ",\xc3\xa4\n1,2\n"), test_context());
    ASSERT_TRUE(source.is_ok()) << source.status().message();
    EXPECT_EQ(source.value()->schema().fields[0].name, name);
  }
  // The first bytes end within a character.
  const std::string cut = "PAR1," + std::string(506, 'a') + "\xc3\xa4\n1,2\n";
  EXPECT_THAT(open_source("csv:" + dir_.write("x", cut), test_context()).status().message(),
              Not(HasSubstr("Parquet")));
}

}  // namespace
}  // namespace dataline::other_kinds_test
