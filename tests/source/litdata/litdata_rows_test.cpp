// Sets of LitData whose chunks hold the rows of Arrow files.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/source/open.h"
#include "tests/source/arrow/arrow_files.h"
#include "tests/source/litdata/litdata_files.h"
#include "tests/source/source_support.h"

namespace dataline::litdata_rows_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A chunk of so many items: none stand in it, or those of `items` do.
std::string lit_rows(uint32_t count, const std::string& arrow, const std::string& items = "") {
  const auto head = 4 * (count + 2);
  std::string out = lit_word(count);
  for (uint32_t i = 0; i < count; ++i) out += lit_word(head);
  out += lit_word(head + static_cast<uint32_t>(items.size())) + items;
  return out + arrow + lit_word(static_cast<uint32_t>(arrow.size())) + std::string("LDARW01\0", 8);
}

class LitdataRowsTest : public testing::Test {
 protected:
  static TestArrow table(const std::vector<int64_t>& labels, const std::vector<std::string>& texts_of,
                         const std::string& valid = "") {
    return arrow_table({{numbers<int64_t>("label", labels), texts("text", texts_of, valid)}});
  }
  static std::string entry(size_t number, size_t bytes, uint32_t count) {
    return R"({"chunk_bytes": )" + std::to_string(bytes) + R"(, "chunk_size": )" + std::to_string(count) +
           R"(, "dim": null, "filename": "chunk-0-)" + std::to_string(number) + R"(.bin"})";
  }
  // Chunks of so many items each.
  void write(const std::vector<std::string>& chunks, const std::vector<uint32_t>& counts) {
    std::vector<std::string> entries;
    for (size_t i = 0; i < chunks.size(); ++i) {
      dir_.write("set/chunk-0-" + std::to_string(i) + ".bin", chunks[i]);
      entries.push_back(entry(i, chunks[i].size(), counts[i]));
    }
    dir_.write("set/index.json", lit_index(entries, lit_config()));
  }
  Result<SourceRef> open(const std::string& keys = "", IoMode io = IoMode::kAuto) {
    return open_source("litdata:" + dir_.path("set") + keys, test_context(io));
  }

  TempDir dir_;
};

// Chunks of odd and even counts: behind their tables numbers lie at multiples of 4 only.
TEST_F(LitdataRowsTest, AreReadWhereTheyLieFromChunksOfFilesAndOfStreams) {
  write(
      {lit_rows(3, table({1, 2, 3}, {"a", "", "ccc"}).file()), lit_rows(2, table({4, 5}, {"dd", "e"}).file()),
       lit_rows(1, table({6}, {"f"}).stream()), lit_rows(1, table({7}, {"g"}).file(), "the item itself")},
      {3, 2, 1, 1});
  for (const IoMode io : {IoMode::kMmap, IoMode::kPread, IoMode::kMemory}) {
    const Result<SourceRef> opened = open("", io);
    ASSERT_TRUE(opened.is_ok()) << opened.status().message();
    const Source& source = *opened.value();
    ASSERT_EQ(source.count(), 7);
    EXPECT_EQ(source.info().format, "litdata");
    EXPECT_EQ(source.scratch_bytes(64) == 0, io != IoMode::kPread) << "mapped without a copy";
    for (const bool cold : {false, true}) {
      const Fetched rows = fetch_all(source, {.cold = cold});
      EXPECT_TRUE(rows.errors.empty());
      EXPECT_THAT(rows.bytes[1], ElementsAre("a", "", "ccc", "dd", "e", "f", "g"));
      for (size_t i = 0; i < 7; ++i)
        EXPECT_THAT(values_of<int64_t>(rows.bytes[0][i]), ElementsAre(static_cast<int64_t>(i) + 1));
    }
    EXPECT_THAT(source.place_of(3, 0).path, HasSubstr("chunk-0-1.bin"));
  }
}

TEST_F(LitdataRowsTest, HaveFieldsOfListsAndDictsWhichAreChosenByName) {
  const TestColumn nest = structs("meta", 2, {numbers<double>("score", {.5, 1.5}), texts("id", {"x", "yz"})});
  const TestColumn tokens = lists<int32_t>("tokens", {0, 2, 3}, numbers<int64_t>("item", {7, 8, 9}));
  write({lit_rows(2, arrow_table({{nest, tokens, bools("yes", "10")}}).file())}, {2});
  const Result<SourceRef> all = open();
  ASSERT_TRUE(all.is_ok()) << all.status().message();
  std::string types;
  for (const Field& field : all.value()->schema().fields)
    types += field.name + " " + field_type_text(field) + ", ";
  EXPECT_EQ(types, "meta/score f64, meta/id u8[-1], tokens i64[-1], yes bool, ");
  const Result<SourceRef> some = open("?fields=tokens,meta/id");
  ASSERT_TRUE(some.is_ok()) << some.status().message();
  const Fetched rows = fetch_all(*some.value());
  EXPECT_THAT(values_of<int64_t>(rows.bytes[0][0]), ElementsAre(7, 8));
  EXPECT_THAT(rows.bytes[1], ElementsAre("x", "yz"));
  expect_error(open("?fields=nothing"), Code::kNoSuchField, {"chunk-0-0.bin", "'nothing'", "tokens"});
}

TEST_F(LitdataRowsTest, AValueThatAnItemLacksIsNull) {
  write({lit_rows(2, table({1, 2}, {"a", ""}, "10").file()), lit_rows(1, table({3}, {"c"}).file())}, {2, 1});
  const Result<SourceRef> bad = open();
  ASSERT_TRUE(bad.is_ok()) << bad.status().message();
  const Fetched rows = fetch_all(*bad.value());
  ASSERT_EQ(rows.errors.size(), 1u);
  EXPECT_THAT(rows.errors.at(1).message(), HasSubstr("chunk-0-0.bin"));
  EXPECT_THAT(rows.errors.at(1).message(), HasSubstr("'text'"));
  const Result<SourceRef> filled = open("?nulls=fill(0)");
  ASSERT_TRUE(filled.is_ok()) << filled.status().message();
  EXPECT_THAT(fetch_all(*filled.value()).bytes[1], ElementsAre("a", "", "c"));
  const Result<SourceRef> masked = open("?nulls=mask");
  ASSERT_TRUE(masked.is_ok()) << masked.status().message();
  EXPECT_EQ(masked.value()->schema().fields.back().name, "text/valid");
}

TEST_F(LitdataRowsTest, CompressedBatchesAreInflatedIntoMemory) {
  TestArrow stored = table({1, 2}, {"a", "bc"});
  TestMessage& batch = stored.messages[0];
  batch.codec = 1;
  std::string body;
  for (auto& [offset, bytes] : batch.buffers) {
    const std::string plain = batch.body.substr(static_cast<size_t>(offset), static_cast<size_t>(bytes));
    offset = static_cast<int64_t>(body.size());
    if (bytes > 0) body += stored_bytes(int64_t{-1}) + plain;
    bytes += bytes > 0 ? 8 : 0;
    while (body.size() % 8 != 0) body += '\0';
  }
  batch.body = body;
  write({lit_rows(2, stored.file())}, {2});
  const Result<SourceRef> opened = open();
  if (!opened.is_ok() && opened.status().code() == Code::kUnsupported)
    GTEST_SKIP() << opened.status().message();
  ASSERT_TRUE(opened.is_ok()) << opened.status().message();
  EXPECT_THAT(fetch_all(*opened.value()).bytes[1], ElementsAre("a", "bc"));
  EXPECT_THAT(opened.value()->info().notes, ElementsAre(HasSubstr("decompressed into memory")));
}

TEST_F(LitdataRowsTest, AnItemThatEndsLikeSuchAChunkIsAnItem) {
  LitChunk chunk = lit_chunk({std::string("12345678901LDARW01\0", 19)});
  write({chunk.bytes()}, {1});
  const Result<SourceRef> opened = open();
  ASSERT_TRUE(opened.is_ok()) << opened.status().message();
  EXPECT_THAT(fetch_all(*opened.value()).bytes[1], ElementsAre(chunk.items[0][1]));
}

TEST_F(LitdataRowsTest, AChunkThatContradictsItselfOrTheOthersIsRefusedByName) {
  const std::string arrow = table({1}, {"a"}).file(), good = lit_rows(1, arrow);
  const auto refused = [&](const std::string& chunk, uint32_t count, Code code, const std::string& says) {
    SCOPED_TRACE(says);
    write({good, chunk}, {1, count});
    expect_error(open(), code, {"chunk-0-1.bin: offset ", says});
  };
  const auto with_length = [&](uint32_t length) {
    std::string out = good;
    return out.replace(out.size() - 12, 4, lit_word(length));
  };
  const auto room = static_cast<uint32_t>(arrow.size());
  refused(with_length(room + 1), 1, Code::kCorrupt,
          "an Arrow file of " + std::to_string(room + 1) + " bytes, but " + std::to_string(room) +
              " follow the items, which end at 12");
  refused(with_length(UINT32_MAX), 1, Code::kCorrupt, "an Arrow file of 4294967295 bytes");
  refused(with_length(0), 1, Code::kTruncated,
          "expected an Arrow stream, which starts with a message, got 0 bytes");
  refused(with_length(room - 1), 1, Code::kTruncated, "the metadata of a message has");
  refused(lit_rows(2, arrow), 2, Code::kCorrupt, "an Arrow file of 1 rows, the index states 2");
  refused(lit_rows(1, arrow.substr(0, arrow.size() - 1)), 1, Code::kTruncated,
          "'ARROW1' at the end of the Arrow file");
  refused(lit_chunk({"item"}).bytes(), 1, Code::kCorrupt, "expected the chunk to end with an Arrow file");
  write({lit_chunk({"item"}).bytes(), good}, {1, 1});
  expect_error(open(), Code::kUnsupported,
               {"chunk-0-1.bin: offset 12: the rows of an Arrow file", "first chunk"});
  write({good, lit_rows(1, arrow_table({{numbers<int32_t>("label", {1})}}).file())}, {1, 1});
  expect_error(open(), Code::kMismatch, {"chunk-0-1.bin", "label"});
}

// Each number of a footer and of its messages counts from where the Arrow file begins: none leads out of it.
TEST_F(LitdataRowsTest, AFooterCannotLeadOutOfItsArrowFile) {
  for (const int64_t offset : {int64_t{-8}, int64_t{1} << 20, INT64_MAX, INT64_MIN}) {
    TestArrow away = table({1}, {"a"});
    away.blocks = [&](auto&, auto& batches) { batches[0][0] = offset; };
    write({lit_rows(1, away.file(), std::string(64, 'x'))}, {1});
    expect_error(open(), Code::kTruncated, {"chunk-0-0.bin", "the footer places a message of"});
  }
}

}  // namespace
}  // namespace dataline::litdata_rows_test
