// Arrow files and streams that are cut, read up to there.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/source/open.h"
#include "tests/source/arrow/arrow_files.h"
#include "tests/source/located.h"

namespace dataline::arrow_cut_test {
namespace {

TEST(CutArrow, WhatIsCutIsReadUpToTheLastWholeBatch) {
  TempDir dir;
  const TestArrow table = arrow_table(
      {{numbers<int32_t>("x", {1, 2})}, {numbers<int32_t>("x", {3})}, {numbers<int32_t>("x", {4, 5, 6})}});
  const std::vector<int32_t> all = {1, 2, 3, 4, 5, 6};
  for (const std::string& whole : {table.file(), table.stream()}) {
    size_t most = 0;
    for (size_t bytes = 0; bytes <= whole.size(); ++bytes) {
      const std::string path = dir.write("cut.arrow", whole.substr(0, bytes));
      const Result<SourceRef> source = open_source("arrow:" + path + "?end=cut", test_context());
      if (!source.is_ok()) {
        EXPECT_EQ(most, 0u) << bytes << ": " << source.status().message();
        EXPECT_EQ(source.status().code(), Code::kTruncated) << bytes << ": " << source.status().message();
        continue;
      }
      const auto rows = static_cast<size_t>(source.value()->count());
      EXPECT_TRUE(rows == 0 || rows == 2 || rows == 3 || rows == 6) << bytes;
      EXPECT_GE(rows, most) << bytes;
      most = rows;
      if (rows == 0) continue;
      const Fetched got = fetch_all(*source.value());
      ASSERT_TRUE(got.errors.empty());
      for (size_t i = 0; i < rows; ++i)
        EXPECT_EQ(values_of<int32_t>(got.bytes[0][i]), std::vector<int32_t>{all[i]});
    }
    EXPECT_EQ(most, 6u);
  }
}

}  // namespace
}  // namespace dataline::arrow_cut_test
