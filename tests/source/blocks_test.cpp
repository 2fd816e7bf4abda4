// How every kind of source is cut into blocks for shuffle=window.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "core/source/composed/composed.h"
#include "core/source/open.h"
#include "tests/source/composed/compose_support.h"
#include "tests/source/source_support.h"
#include "tests/source/tar/tar_files.h"

namespace dataline::blocks_test {
namespace {

using ::testing::ElementsAre;

std::vector<int64_t> blocks_of(const Source& source, int64_t block_bytes) {
  BlockEnds ends;
  source.append_blocks(block_bytes, ends);
  return {ends.begin(), ends.end()};
}

SourceRef open_uri(const std::string& uri) { return open_source(uri, test_context()).take(); }

// A file of `count` records of 4 bytes.
std::string raw_file(const TempDir& dir, const std::string& name, int64_t count) {
  return dir.write(name, std::string(static_cast<size_t>(count) * 4, 'x'));
}

TEST(Blocks, RecordsOfEqualSizeAreCutEvenly) {
  TempDir dir;
  const SourceRef source = open_uri("raw:" + raw_file(dir, "a.raw", 10) + "?dtype=u8&shape=4");
  EXPECT_THAT(blocks_of(*source, 40), ElementsAre(10));
  EXPECT_THAT(blocks_of(*source, 39), ElementsAre(5, 10));
  EXPECT_THAT(blocks_of(*source, 12), ElementsAre(2, 5, 7, 10)) << "at most 3 records, as equal as can be";
  EXPECT_THAT(blocks_of(*source, 8), ElementsAre(2, 4, 6, 8, 10));
  EXPECT_THAT(blocks_of(*source, 1), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)) << "at least one record";
  EXPECT_THAT(blocks_of(*source, kWholeFiles), ElementsAre(10));
}

TEST(Blocks, OverlappingRecordsCountByWhatLiesBetweenTheirStarts) {
  TempDir dir;
  // Windows of 8 + 1 tokens, one each 2 tokens: 4 bytes further, although each is 18 long.
  const SourceRef source =
      open_uri("tokens:" + dir.write("a.bin", std::string(200, 'x')) + "?dtype=u16&length=8&stride=2");
  ASSERT_EQ(source->count(), 46);
  EXPECT_THAT(blocks_of(*source, 100), ElementsAre(23, 46));
}

TEST(Blocks, OfSeveralFilesNoneCrossesABorder) {
  TempDir dir;
  const std::string uri = "raw:" + raw_file(dir, "a.raw", 5) + "," + raw_file(dir, "b.raw", 1) + "," +
                          raw_file(dir, "c.raw", 4) + "?dtype=u8&shape=4";
  EXPECT_THAT(blocks_of(*open_uri(uri), 12), ElementsAre(2, 5, 6, 8, 10));
  EXPECT_THAT(blocks_of(*open_uri(uri), kWholeFiles), ElementsAre(5, 6, 10));
}

TEST(Blocks, OfFilesSideBySideTheRowsAreReadTogether) {
  TempDir dir;
  // 12 rows of 4 + 4 bytes; one part is two files of 5 and 7.
  const SourceRef one = open_uri("raw:" + raw_file(dir, "a.raw", 12) + "?dtype=u8&shape=4");
  const SourceRef two =
      open_uri("raw:" + raw_file(dir, "b.raw", 5) + "," + raw_file(dir, "c.raw", 7) + "?dtype=u8&shape=4");
  const SourceRef zip = zip_sources({{"x", one, ""}, {"y", two, ""}}).take();
  EXPECT_THAT(blocks_of(*zip, kWholeFiles), ElementsAre(5, 12));
  EXPECT_THAT(blocks_of(*zip, 48), ElementsAre(5, 8, 12)) << "the files' borders, and 24 bytes of y";
  BlockEnds ends;
  zip->append_blocks(kWholeFiles, ends);
  zip->append_blocks(kWholeFiles, ends);
  EXPECT_THAT(ends, ElementsAre(5, 12, 17, 24)) << "counted from the last";
}

TEST(Blocks, FilesOfAFolderArePutTogetherBySize) {
  TempDir dir;
  for (const auto& [name, bytes] :
       {std::pair{"a/1.jpg", 10}, {"a/2.jpg", 20}, {"b/3.jpg", 30}, {"b/4.jpg", 100}, {"b/5.jpg", 1}})
    dir.write(std::string("set/") + name, std::string(static_cast<size_t>(bytes), 'x'));
  const SourceRef source = open_uri("folder:" + dir.path("set"));
  EXPECT_THAT(blocks_of(*source, 60), ElementsAre(3, 4, 5)) << "100 bytes are a block of their own";
  EXPECT_THAT(blocks_of(*source, 59), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(blocks_of(*source, kWholeFiles), ElementsAre(5));
}

TEST(Blocks, SamplesOfATarAreCutWhereTheirMembersLie) {
  TempDir dir;
  std::string archive;
  for (int i = 0; i < 6; ++i) {
    archive += tar_header("s" + std::to_string(i) + ".bin", 512) + std::string(512, 'x');
  }
  archive += std::string(1024, '\0');
  const SourceRef source = open_uri("tar:" + dir.write("a.tar", archive));
  EXPECT_THAT(blocks_of(*source, 2048), ElementsAre(2, 4, 6)) << "a header and a block each";
  EXPECT_THAT(blocks_of(*source, 1), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(Blocks, DocumentsGoByTheBytesOfTheirTokensAndPackedRowsByThoseOfARow) {
  TempDir dir;
  // Documents of 2, 2, 6, 1 and 1 tokens of a byte, each ended by 'e'.
  const std::string file = dir.write("a.bin", "xexexxxxxeee");
  const SourceRef documents = open_uri("tokens:" + file + "?dtype=u8&documents=eot:101");
  ASSERT_EQ(documents->count(), 5);
  EXPECT_THAT(blocks_of(*documents, 4), ElementsAre(2, 3, 5));
  EXPECT_THAT(blocks_of(*documents, 7), ElementsAre(2, 4, 5));
  EXPECT_EQ(documents->stored_bytes(), 2);
  const SourceRef rows = open_uri("tokens:" + file + "?dtype=u8&documents=eot:101&pack_length=3");
  ASSERT_EQ(rows->count(), 4);
  EXPECT_THAT(blocks_of(*rows, 6), ElementsAre(2, 4));
}

TEST(Blocks, OfASubsetFollowTheBlocksOfItsSource) {
  TempDir dir;
  const SourceRef source =
      open_uri("raw:" + raw_file(dir, "a.raw", 20) + "?dtype=u8&shape=4");  // blocks of 5
  const auto subset = [&](std::vector<int64_t> indices) {
    return blocks_of(*subset_source(source, indices, {}, *HostMemory::create({})).take(), 20);
  };
  EXPECT_THAT(subset({3, 4, 5, 6, 7, 8, 9, 10}), ElementsAre(2, 7, 8));
  EXPECT_THAT(subset({19, 18, 0, 1}), ElementsAre(2, 4)) << "any order inside a block";
  EXPECT_THAT(subset({0, 19, 1, 18, 2, 17, 3, 16, 4, 15}), ElementsAre(5, 10)) << "jumping about: cut evenly";
  EXPECT_TRUE(subset({}).empty());
}

TEST(Blocks, OfArraysAndReadersGoByTheBytesOfASample) {
  EXPECT_THAT(blocks_of(*numbered(1, 8), 16), ElementsAre(4, 8));
  EXPECT_THAT(blocks_of(*read_texts(1, 4), 2 * (kRaggedBlockBytes + 8)), ElementsAre(2, 4));
  EXPECT_TRUE(blocks_of(*numbered(1, 0), 16).empty());
}

TEST(Blocks, AMillionShardsAndABillionSamplesAreCutAtOnce) {
  // Parts of 1,000 samples of one byte; the same source in each place, as only its blocks are asked for.
  const std::vector<uint8_t> bytes(1000);
  ArrayField field;
  field.field = {"data", FieldKind::kDense, DType::kU8, {}, "", -1};
  field.data = reinterpret_cast<const std::byte*>(bytes.data());
  const SourceRef shard = array_source({field}, 1000, {}, *HostMemory::create({})).take();
  const SourceRef all = concat_sources(std::vector<Part>(1'000'000, Part{"", shard, ""})).take();
  const std::vector<int64_t> ends = blocks_of(*all, 250);
  EXPECT_EQ(ends.size(), 4'000'000u);
  EXPECT_EQ(ends.back(), 1'000'000'000);
}

}  // namespace
}  // namespace dataline::blocks_test
