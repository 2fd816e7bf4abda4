// Documents of Megatron-LM's indexed datasets.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/source/open.h"
#include "tests/source/megatron/megatron_files.h"
#include "tests/source/tokens/token_files.h"

namespace dataline::megatron_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class MegatronTest : public testing::Test {
 protected:
  SourceRef open(const std::string& uri, IoMode io = IoMode::kAuto) {
    Result<SourceRef> source = open_source(uri, test_context(io));
    EXPECT_TRUE(source.is_ok()) << uri << ": " << (source.is_ok() ? "" : source.status().message());
    return source.is_ok() ? source.take() : nullptr;
  }
  void write(const std::string& name, const MegatronIndex& index, const std::string& data) {
    dir_.write(name + ".idx", index.bytes());
    dir_.write(name + ".bin", data);
  }

  TempDir dir_;
};

TEST_F(MegatronTest, ADocumentIsItsSequencesJoined) {
  write("web", megatron_index({3, 2, 4, 1}, {2, 1, 0, 1}), raw_bytes(counting_tokens<uint16_t>(10)));
  for (IoMode io : {IoMode::kMmap, IoMode::kPread, IoMode::kMemory}) {
    SourceRef source = open("megatron:" + dir_.path("web"), io);
    ASSERT_EQ(source->count(), 4);
    EXPECT_EQ(field_type_text(source->schema().fields[0]), "u16[-1]");
    EXPECT_EQ(source->schema().fields[0].name, "tokens");
    EXPECT_EQ(source->schema().fields[0].max_bytes, 10);
    Fetched rows = fetch_all(*source);
    EXPECT_THAT(values_of<uint16_t>(rows.bytes[0][0]), ElementsAre(100, 101, 102, 103, 104));
    EXPECT_THAT(values_of<uint16_t>(rows.bytes[0][1]), ElementsAre(105, 106, 107, 108));
    EXPECT_EQ(rows.bytes[0][2], "");
    EXPECT_THAT(values_of<uint16_t>(rows.bytes[0][3]), ElementsAre(109));
    for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(source->record_items(i), std::vector<int64_t>({5, 4, 0, 1})[i]);
    EXPECT_THAT(source->place_of(1, 0).within, HasSubstr("document 1, offset 10"));
  }
}

TEST_F(MegatronTest, PrefixIndexAndDataNameTheSameSet) {
  write("web", megatron_index({3, 2}, {1, 1}), raw_bytes(counting_tokens<uint16_t>(5)));
  for (const std::string& uri : {"megatron:" + dir_.path("web"), "megatron:" + dir_.path("web.idx"),
                                 "megatron:" + dir_.path("web.bin"), dir_.path("web.idx"),
                                 dir_.path("web.bin"), dir_.path(), "megatron:" + dir_.path()}) {
    SourceRef source = open(uri);
    ASSERT_NE(source, nullptr);
    EXPECT_EQ(source->info().format, "megatron") << uri;
    EXPECT_EQ(source->count(), 2) << uri;
  }
}

TEST_F(MegatronTest, ADirectoryIsItsIndexesInNaturalOrder) {
  write("part-10", megatron_index({1}, {1}), raw_bytes(std::vector<uint16_t>{10}));
  write("part-2", megatron_index({1, 1}, {1, 1}), raw_bytes(std::vector<uint16_t>{2, 3}));
  Fetched rows = fetch_all(*open("megatron:" + dir_.path()));
  ASSERT_EQ(rows.bytes[0].size(), 3u);
  EXPECT_THAT(values_of<uint16_t>(rows.bytes[0][0]), ElementsAre(2));
  EXPECT_THAT(values_of<uint16_t>(rows.bytes[0][2]), ElementsAre(10));
}

TEST_F(MegatronTest, EveryIntegerTypeIsRead) {
  const std::vector<std::pair<uint8_t, std::string>> codes = {{1, "u8"},  {2, "i8"},  {3, "i16"},
                                                              {4, "i32"}, {5, "i64"}, {8, "u16"}};
  for (const auto& [code, name] : codes) {
    const int64_t bytes = dtype_bytes(*dtype_from_name(name));
    MegatronIndex index = megatron_index({2, 1}, {1, 1}, bytes);
    index.code = code;
    write("set", index, std::string(static_cast<size_t>(3 * bytes), '\1'));
    EXPECT_EQ(field_type_text(open("megatron:" + dir_.path("set"))->schema().fields[0]), name + "[-1]");
  }
}

TEST_F(MegatronTest, ModesOfMultimodalSetsAreSaidNotToBeDelivered) {
  MegatronIndex index = megatron_index({3, 2}, {1, 1});
  index.modes = std::string("\0\1", 2);
  write("web", index, raw_bytes(counting_tokens<uint16_t>(5)));
  EXPECT_THAT(open("megatron:" + dir_.path("web"))->info().notes, Contains(HasSubstr("modes")));
}

TEST_F(MegatronTest, DataOfAnotherSizeIsRefusedNamingBothFiles) {
  for (const auto& [tokens, code] : {std::pair{4, Code::kTruncated}, std::pair{6, Code::kCorrupt}}) {
    write("web", megatron_index({3, 2}, {1, 1}), raw_bytes(counting_tokens<uint16_t>(tokens)));
    expect_error(open_source("megatron:" + dir_.path("web"), test_context()), code, {"web.idx"});
  }
  std::filesystem::remove(dir_.path("web.bin"));
  expect_error(open_source("megatron:" + dir_.path("web"), test_context()), Code::kNotFound, {"web.bin"});
  expect_error(open_source("megatron:" + dir_.path("none"), test_context()), Code::kNotFound, {"none.idx"});
}

TEST_F(MegatronTest, AnEmptySetHasNoDocuments) {
  write("web", megatron_index({}, {}), "");
  EXPECT_EQ(open("megatron:" + dir_.path("web"))->count(), 0);
}

}  // namespace
}  // namespace dataline::megatron_test
