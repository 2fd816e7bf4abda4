// Blocks of the host's records: where they end, and which the host is told of.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "core/source/composed/composed.h"
#include "tests/source/host/reader_host.h"

namespace dataline::reader_blocks_test {
namespace {

class ReaderBlocksTest : public testing::Test {
 protected:
  Host host_;
};

TEST_F(ReaderBlocksTest, AreTakenAsTheyAre) {
  const int64_t ends[] = {1, 40, 64, 100};
  ReaderTable table = host_.table(100);
  table.block_ends = ends;
  table.block_count = 4;
  auto memory = HostMemory::create({});
  const SourceRef source = reader_source({dense_field("x", DType::kU8, {})}, table, *memory).take();
  EXPECT_EQ(memory->in_use_bytes(), 4 * 8);
  EXPECT_EQ(source->facts().held_blocks, kAnyBlocks);
  for (const int64_t block_bytes : {int64_t{1}, int64_t{8} << 20, kWholeFiles}) {
    BlockEnds cut = {5};
    source->append_blocks(block_bytes, cut);
    EXPECT_EQ(cut, (BlockEnds{5, 6, 45, 69, 105}));
  }
}

TEST_F(ReaderBlocksTest, ThatDoNotCoverTheRecordsAreRefused) {
  struct Case {
    std::vector<int64_t> ends;
    int64_t count;  // of them, as the table says
    const char* says;
  };
  const Case cases[] = {{{4, 9}, 2, "the 2 block_ends end at 9, record_count is 10"},
                        {{4, 11}, 2, "block_ends[1] is 11, expected 5 to 10"},
                        {{4, 4, 10}, 3, "block_ends[1] is 4, expected 5 to 10"},
                        {{4, 3, 10}, 3, "block_ends[1] is 3, expected 5 to 10"},
                        {{0, 10}, 2, "block_ends[0] is 0, expected 1 to 10"},
                        {{-4, 10}, 2, "block_ends[0] is -4, expected 1 to 10"},
                        {{10, 11}, 2, "block_ends[1] is 11, expected 11 to 10"},
                        {{10}, 0, "the 0 block_ends end at 0, record_count is 10"},
                        {{10}, -1, "block_count is -1"},
                        {{}, 3, "block_ends is null, block_count is 3"}};
  for (const Case& one : cases) {
    ReaderTable table = host_.table(10);
    table.block_ends = one.ends.empty() ? nullptr : one.ends.data();
    table.block_count = one.count;
    expect_error(reader_source({dense_field("x", DType::kU8, {})}, table, *HostMemory::create({})),
                 Code::kInvalidArgument, {"reader: ", one.says});
  }
  ReaderTable table = host_.table(10);
  table.held_blocks = -1;
  expect_error(reader_source({dense_field("x", DType::kU8, {})}, table, *HostMemory::create({})),
               Code::kInvalidArgument, {"reader: held_blocks is -1"});
  EXPECT_EQ(host_.destroyed, 0);
}

// A reader of 10 records in blocks of 4, 2 and 4 that notes of which it is told.
struct ToldReader {
  std::vector<int64_t> told;

  SourceRef source(bool with_blocks = true, bool tells = true) {
    static constexpr int64_t kEnds[] = {4, 6, 10};
    ReaderTable table;
    table.context = this;
    table.record_count = 10;
    table.read = [](void*, ReaderRequest*) { return 0; };
    if (with_blocks) table.block_ends = kEnds, table.block_count = 3;
    if (tells)
      table.advise = [](void* context, int64_t block) {
        static_cast<ToldReader*>(context)->told.push_back(block);
      };
    return reader_source({dense_field("x", DType::kU8, {})}, table, *HostMemory::create({})).take();
  }
  std::vector<int64_t> take() { return std::exchange(told, {}); }
};

TEST(ReaderAdvice, NamesTheBlocksThatTheRecordsAreOf) {
  ToldReader reader;
  const SourceRef source = reader.source();
  EXPECT_TRUE(source->facts().opens_blocks);
  struct Case {
    int64_t first, count;
    std::vector<int64_t> blocks;
  };
  const Case cases[] = {{0, 4, {0}}, {4, 2, {1}},    {6, 4, {2}}, {0, 10, {0, 1, 2}},
                        {5, 1, {1}}, {3, 2, {0, 1}}, {9, 1, {2}}};
  for (const Case& one : cases) {
    source->advise_block(one.first, one.count);
    EXPECT_EQ(reader.take(), one.blocks) << one.first << " " << one.count;
  }
}

TEST(ReaderAdvice, IsNotGivenWithoutBlocksOrWhereNobodyListens) {
  ToldReader reader;
  for (const SourceRef& source : {reader.source(false, true), reader.source(true, false)}) {
    EXPECT_FALSE(source->facts().opens_blocks);
    source->advise_block(0, 10);
  }
  EXPECT_EQ(reader.take(), std::vector<int64_t>());
}

TEST(ReaderAdvice, ReachesThePartsOfAConcatAndOfAZipButNotOfASubset) {
  ToldReader first, second;
  const SourceRef joined =
      concat_sources({Part{"", first.source(), ""}, Part{"", second.source(), ""}}).take();
  EXPECT_TRUE(joined->facts().opens_blocks);
  joined->advise_block(10, 4);
  EXPECT_EQ(first.take(), std::vector<int64_t>());
  EXPECT_EQ(second.take(), std::vector<int64_t>{0});

  const SourceRef beside =
      zip_sources({Part{"a", first.source(), ""}, Part{"b", second.source(true, false), ""}}).take();
  EXPECT_TRUE(beside->facts().opens_blocks);
  beside->advise_block(6, 4);
  EXPECT_EQ(first.take(), std::vector<int64_t>{2});

  const std::vector<int64_t> chosen = {9, 0, 5};
  const SourceRef some = subset_source(first.source(), chosen, {}, *HostMemory::create({})).take();
  EXPECT_FALSE(some->facts().opens_blocks);
  some->advise_block(0, 3);
  EXPECT_EQ(first.take(), std::vector<int64_t>());
}

}  // namespace
}  // namespace dataline::reader_blocks_test
