// Documents of token files: where they end, and what they hold.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "core/source/documents/end_tokens.h"
#include "core/source/open.h"
#include "tests/source/tokens/token_files.h"

namespace dataline::documents_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class DocumentsTest : public testing::Test {
 protected:
  Result<SourceRef> try_open(const std::string& keys, IoMode io = IoMode::kAuto) {
    return open_source("tokens:" + dir_.path("t.bin") + "?" + keys, test_context(io));
  }
  SourceRef open(const std::string& keys, IoMode io = IoMode::kAuto) {
    Result<SourceRef> source = try_open(keys, io);
    EXPECT_TRUE(source.is_ok()) << keys << ": " << (source.is_ok() ? "" : source.status().message());
    return source.is_ok() ? source.take() : nullptr;
  }
  std::vector<int64_t> lengths(const Source& source) {
    std::vector<int64_t> all;
    for (int64_t i = 0; i < source.count(); ++i) all.push_back(source.record_items(i));
    return all;
  }
  Result<SourceRef> with_offsets(const std::vector<int64_t>& offsets) {
    const std::string shape = concat("(", offsets.size(), ",)");
    dir_.write("o.npy", npy_file("<i8", shape, raw_bytes(offsets)));
    return try_open("documents=offsets:" + dir_.path("o.npy"));
  }

  TempDir dir_;
};

TEST_F(DocumentsTest, ADocumentEndsWithTheTokenWhichBelongsToIt) {
  dir_.write("t.bin", raw_bytes(std::vector<uint16_t>{5, 6, 9, 9, 7, 9, 8}));
  for (IoMode io : {IoMode::kMmap, IoMode::kPread, IoMode::kMemory}) {
    SourceRef source = open("documents=eot:9", io);
    ASSERT_EQ(source->schema().fields.size(), 1u);
    EXPECT_EQ(source->schema().fields[0].name, "tokens");
    Fetched rows = fetch_all(*source);
    ASSERT_EQ(rows.bytes[0].size(), 4u);
    EXPECT_THAT(values_of<uint16_t>(rows.bytes[0][0]), ElementsAre(5, 6, 9));
    EXPECT_THAT(values_of<uint16_t>(rows.bytes[0][1]), ElementsAre(9));
    EXPECT_THAT(values_of<uint16_t>(rows.bytes[0][2]), ElementsAre(7, 9));
    EXPECT_THAT(values_of<uint16_t>(rows.bytes[0][3]), ElementsAre(8)) << "the last document may lack it";
  }
}

TEST_F(DocumentsTest, AFileWithoutTheTokenIsOneDocumentAndSaysSo) {
  dir_.write("t.bin", raw_bytes(std::vector<uint16_t>{5, 6, 7}));
  EXPECT_THAT(open("documents=eot:9")->info().notes, Contains(HasSubstr("one document of 3 tokens")));
  dir_.write("t.bin", "");
  EXPECT_EQ(open("documents=eot:9")->count(), 0);
}

TEST_F(DocumentsTest, LlmcHeadersAndOtherByteOrdersAreRead) {
  dir_.write("t.bin", llmc_u16(9));
  EXPECT_THAT(lengths(*open("documents=eot:103")), ElementsAre(4, 5));
  dir_.write("n.npy",
             npy_file(">u4", "(5,)", big_u32(1) + big_u32(70000) + big_u32(3) + big_u32(70000) + big_u32(4)));
  for (IoMode io : {IoMode::kMmap, IoMode::kPread, IoMode::kMemory}) {
    Result<SourceRef> source =
        open_source("tokens:" + dir_.path("n.npy") + "?documents=eot:70000", test_context(io));
    ASSERT_TRUE(source.is_ok()) << source.status().message();
    Fetched rows = fetch_all(*source.value());
    EXPECT_THAT(values_of<uint32_t>(rows.bytes[0][0]), ElementsAre(1, 70000));
    EXPECT_THAT(values_of<uint32_t>(rows.bytes[0][2]), ElementsAre(4));
  }
}

TEST_F(DocumentsTest, OffsetsMayBeAllStartsOrEnds) {
  dir_.write("t.bin", raw_bytes(counting_tokens<uint16_t>(12)));
  for (const std::vector<int64_t>& offsets :
       {std::vector<int64_t>{0, 5, 5, 9, 12}, {0, 5, 5, 9}, {5, 5, 9, 12}}) {
    Result<SourceRef> source = with_offsets(offsets);
    ASSERT_TRUE(source.is_ok()) << source.status().message();
    EXPECT_THAT(lengths(*source.value()), ElementsAre(5, 0, 4, 3));
    EXPECT_THAT(values_of<uint16_t>(fetch_all(*source.value()).bytes[0][3]), ElementsAre(109, 110, 111));
  }
}

TEST_F(DocumentsTest, WrongOffsetsNameFileEntryExpectedAndGot) {
  dir_.write("t.bin", raw_bytes(counting_tokens<uint16_t>(12)));
  expect_error(with_offsets({0, 5, 4, 12}), Code::kOutOfRange,
               {"o.npy", "offsets[2] is 4, expected 5 to 12"});
  expect_error(with_offsets({0, 13}), Code::kOutOfRange, {"offsets[1] is 13, expected 0 to 12"});
  expect_error(with_offsets({-1, 12}), Code::kOutOfRange, {"offsets[0] is -1"});
  expect_error(with_offsets({3, 9}), Code::kMismatch, {"2 offsets, the last 9", "end at 12"});
  expect_error(with_offsets({}), Code::kMismatch, {"0 offsets"});
  dir_.write("o.npy", npy_file("<i4", "(2,)", raw_bytes(std::vector<int32_t>{0, 12})));
  expect_error(try_open("documents=offsets:" + dir_.path("o.npy")), Code::kUnsupported,
               {"i64 or u64", "'<i4'"});
  dir_.write("o.npy", npy_file("<i8", "(1, 2)", raw_bytes(std::vector<int64_t>{0, 12})));
  expect_error(try_open("documents=offsets:" + dir_.path("o.npy")), Code::kUnsupported, {"2-dimensional"});
  dir_.write("o.npy", npy_file("<i8", "(3,)", raw_bytes(std::vector<int64_t>{0, 12})));
  expect_error(try_open("documents=offsets:" + dir_.path("o.npy")), Code::kTruncated, {"o.npy", "3 offsets"});
  expect_error(try_open("documents=offsets:" + dir_.path("none.npy")), Code::kNotFound, {"none.npy"});
}

TEST_F(DocumentsTest, WrongKeysPointAtTheColumn) {
  dir_.write("t.bin", raw_bytes(counting_tokens<uint16_t>(12)));
  for (const char* keys :
       {"documents=", "documents=eot", "documents=eot:", "documents=eot:x", "documents=offsets:",
        "documents=eot:1&length=8", "documents=eot:1&views=true", "documents=eot:1&stride=2",
        "pack_method=concat", "documents=eot:1&pack_length=0", "documents=eot:1&pack_length=16777216",
        "documents=eot:1&pack_length=8&pack_window=8", "documents=eot:1&pack_length=8&pack_split=true",
        "documents=eot:1&pack_length=8&pack_method=best_fit&pack_window=65537",
        "documents=eot:1&pack_length=8&pack_method=bestfit"}) {
    Result<SourceRef> source = try_open(keys);
    ASSERT_FALSE(source.is_ok()) << keys;
    EXPECT_EQ(source.status().code(), Code::kBadUri) << keys << ": " << source.status().message();
    EXPECT_GT(source.status().column(), 0) << keys;
  }
  expect_error(try_open("documents=eot:65536"), Code::kMismatch, {"t.bin", "u16, which cannot hold 65536"});
  expect_error(try_open("documents=eot:-1"), Code::kMismatch, {"cannot hold -1"});
}

TEST_F(DocumentsTest, ADocumentThatIsTooLargeFailsAloneWhereItIsCopied) {
  dir_.write("t.bin", raw_bytes(std::vector<uint16_t>{1, 9, 1, 1, 1, 1, 9}));
  SourceRef source = open("documents=eot:9", IoMode::kPread);
  Fetched rows = fetch(*source, {0, 1}, {.max_bytes_per_sample = 4});
  // The room is rounded up to 64 bytes; nothing is lost that fits.
  EXPECT_TRUE(rows.errors.empty());
  dir_.write("t.bin", raw_bytes(std::vector<uint16_t>(100, 1)));
  rows = fetch(*open("documents=eot:9", IoMode::kPread), {0}, {.max_bytes_per_sample = 4});
  ASSERT_EQ(rows.errors.size(), 1u);
  EXPECT_THAT(rows.errors[0].message(),
              HasSubstr("document 0, offset 0: 200 bytes, max_bytes_per_sample is 4"));
}

TEST_F(DocumentsTest, OpeningIsCancelledAndCountedAsProgress) {
  dir_.write("t.bin", std::string(1 << 20, 'x'));
  OpenContext context = test_context();
  const std::string uri = "tokens:" + dir_.path("t.bin") + "?documents=eot:9";
  ASSERT_TRUE(open_source(uri, context).is_ok());
  EXPECT_EQ(context.progress->numbers().bytes, 1 << 20);
  EXPECT_EQ(context.progress->numbers().total_bytes, 1 << 20);
}

// Pieces of 8 MiB are searched by several threads.
TEST_F(DocumentsTest, DocumentsAcrossManyPiecesAreAllFound) {
  std::vector<uint16_t> tokens((size_t{20} << 20) + 7, 1);
  std::vector<int64_t> ends;
  for (size_t i = 0; i < tokens.size(); i += 1 + i % 100'003) {
    tokens[i] = 9;
    ends.push_back(static_cast<int64_t>(i) + 1);
  }
  if (ends.back() != static_cast<int64_t>(tokens.size())) ends.push_back(static_cast<int64_t>(tokens.size()));
  dir_.write("t.bin", raw_bytes(tokens));
  SourceRef source = open("documents=eot:9");
  std::vector<int64_t> found;
  int64_t at = 0;
  for (const int64_t length : lengths(*source)) found.push_back(at += length);
  EXPECT_EQ(found, ends);
}

template <typename T>
void check_search() {
  const auto value = *rc::gen::arbitrary<T>();
  const auto tokens = *rc::gen::container<std::vector<T>>(rc::gen::oneOf(
      rc::gen::just(value), rc::gen::arbitrary<T>(), rc::gen::just(static_cast<T>(value ^ 1))));
  std::vector<uint32_t> expected;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] == value) expected.push_back(static_cast<uint32_t>(i) + 8);
  }
  for (SimdTarget target :
       {SimdTarget::kPlain, SimdTarget::kSse4, SimdTarget::kAvx2, SimdTarget::kAvx3, SimdTarget::kNeon}) {
    if (target > best_simd_target()) continue;
    std::vector<uint32_t> out(tokens.size() + 1, 77);
    const int64_t found =
        find_tokens_function(sizeof(T), target)(reinterpret_cast<const std::byte*>(tokens.data()),
                                                static_cast<int64_t>(tokens.size()), value, 7, out.data());
    RC_ASSERT(out.back() == 77u);
    out.resize(static_cast<size_t>(found));
    RC_ASSERT(out == expected);
  }
}

RC_GTEST_PROP(FindTokens, EveryTargetFindsTheSamePlaces, ()) {
  check_search<uint8_t>();
  check_search<uint16_t>();
  check_search<uint32_t>();
  check_search<uint64_t>();
}

}  // namespace
}  // namespace dataline::documents_test
