// Sets of LitData whose items are compressed within the chunks: read as those that are not.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/source/open.h"
#include "tests/source/litdata/packed_files.h"
#include "tests/source/source_support.h"

namespace dataline::litdata_packed_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class LitdataPacked : public testing::Test {
 protected:
  Result<SourceRef> open(const std::string& bytes, size_t items, const std::string& level,
                         IoMode io = IoMode::kAuto) {
    dir_.write("set/chunk.bin", bytes);
    dir_.write("set/index.json", lit_packed_index(bytes, items, level));
    return open_source("litdata:" + dir_.path("set"), test_context(io));
  }
  void SetUp() override {
    const Result<SourceRef> source = open(lit_batches(chunk_, 2), 5, "batch");
    if (!source.is_ok() && source.status().code() == Code::kUnsupported)
      GTEST_SKIP() << "this build has no Zstandard";
  }

  const LitChunk chunk_ = lit_chunk({"a", "", "ccc", std::string(300'000, 'd'), "e"}, 7);
  TempDir dir_;
};

TEST_F(LitdataPacked, ItemsInBatchesAndOneByOneAreReadAsThoseThatAreNot) {
  dir_.write("plain/chunk.bin", chunk_.bytes());
  dir_.write("plain/index.json", lit_index({lit_entry(chunk_, "chunk.bin")}, lit_config()));
  const Result<SourceRef> plain = open_source("litdata:" + dir_.path("plain"), test_context());
  ASSERT_TRUE(plain.is_ok());
  const Fetched wanted = fetch_all(*plain.value());
  ASSERT_EQ(wanted.bytes[1].size(), 5u);
  for (const IoMode io : {IoMode::kMmap, IoMode::kPread, IoMode::kMemory}) {
    for (size_t per_batch = 0; per_batch <= 6; ++per_batch) {
      SCOPED_TRACE(per_batch);
      const Result<SourceRef> source = per_batch == 0 ? open(lit_frames(chunk_), 5, "sample", io)
                                                      : open(lit_batches(chunk_, per_batch), 5, "batch", io);
      ASSERT_TRUE(source.is_ok()) << source.status().message();
      const Fetched got = fetch_all(*source.value());
      EXPECT_TRUE(got.errors.empty());
      EXPECT_EQ(got.bytes, wanted.bytes);
      EXPECT_THAT(source.value()->info().notes, ElementsAre(HasSubstr("decompressed into memory")));
    }
  }
}

TEST_F(LitdataPacked, TheFirstItemSaysTheShapeOfArraysInBatchesToo) {
  const LitChunk chunk{{{lit_array({4, 2, 1, 2}, "ab", false)}, {lit_array({4, 2, 1, 2}, "cd", false)}}};
  const std::string bytes = lit_batches(chunk, 1);
  std::string index = lit_packed_index(bytes, 2, "batch");
  const std::string two = lit_config().text(), one = LitConfig{{"numpy"}, ""}.text();
  const auto formats = [](const std::string& text) { return text.substr(text.find("\"data_format\"")); };
  index.replace(index.find("\"data_format\""), formats(two).size(), formats(one));
  dir_.write("set/chunk.bin", bytes);
  dir_.write("set/index.json", index);
  const Result<SourceRef> source = open_source("litdata:" + dir_.path("set"), test_context());
  ASSERT_TRUE(source.is_ok()) << source.status().message();
  EXPECT_EQ(source.value()->schema().fields[0].shape, (std::vector<int64_t>{1, 2}));
  EXPECT_THAT(fetch_all(*source.value()).bytes[0], ElementsAre("ab", "cd"));
}

TEST_F(LitdataPacked, InflatedBytesAreBudgetedAndGivenBack) {
  const std::string bytes = lit_batches(chunk_, 2);
  dir_.write("set/chunk.bin", bytes);
  dir_.write("set/index.json", lit_packed_index(bytes, 5, "batch"));
  const OpenContext context = test_context();
  {
    const Result<SourceRef> source = open_source("litdata:" + dir_.path("set"), context);
    ASSERT_TRUE(source.is_ok());
    EXPECT_GE(context.memory->in_use_bytes(), 300'000);
    EXPECT_LT(context.memory->in_use_bytes(), 500'000) << "the packed bytes are not kept";
  }
  EXPECT_EQ(context.memory->in_use_bytes(), 0);
}

}  // namespace
}  // namespace dataline::litdata_packed_test
