// Sets of LitData: the fields of items by name, from the chunks of any number of workers.
// SPDX-License-Identifier: Apache-2.0
#include "tests/source/litdata/litdata_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/source/open.h"
#include "tests/source/frame_files.h"
#include "tests/source/source_support.h"

namespace dataline::litdata_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class LitdataTest : public testing::Test {
 protected:
  SourceRef open(const std::string& uri, IoMode io = IoMode::kAuto) {
    Result<SourceRef> source = open_source(uri, test_context(io));
    EXPECT_TRUE(source.is_ok()) << uri << ": " << (source.is_ok() ? "" : source.status().message());
    return source.is_ok() ? source.take() : nullptr;
  }
  void write(const std::vector<LitChunk>& chunks, const LitConfig& config,
             const std::vector<std::string>& dims = {}) {
    std::vector<std::string> entries;
    for (size_t i = 0; i < chunks.size(); ++i) {
      const std::string name = "chunk-" + std::to_string(i) + "-0.bin";
      dir_.write("set/" + name, chunks[i].bytes());
      entries.push_back(lit_entry(chunks[i], name, dims.empty() ? "null" : dims[i]));
    }
    dir_.write("set/index.json", lit_index(entries, config));
  }
  // One item.
  SourceRef one(const std::vector<std::string>& formats, const std::string& spec,
                const std::vector<std::string>& values) {
    write({LitChunk{{values}}}, {formats, spec});
    return open(uri());
  }
  std::string names(const Source& source) {
    std::string out;
    for (const Field& field : source.schema().fields) out += field.name + " ";
    return out;
  }
  std::string uri(const std::string& keys = "") { return "litdata:" + dir_.path("set") + keys; }

  TempDir dir_;
};

TEST_F(LitdataTest, ItemsOfAllChunksFollowOneAnotherAsTheIndexListsThem) {
  write({lit_chunk({"a", "", "ccc"}), lit_chunk({"dd"}, 3), lit_chunk({}), lit_chunk({"eeeee"}, 4)},
        lit_config());
  for (const IoMode io : {IoMode::kMmap, IoMode::kPread, IoMode::kMemory}) {
    const SourceRef source = open(uri(), io);
    ASSERT_NE(source, nullptr);
    ASSERT_EQ(source->count(), 5);
    EXPECT_EQ(names(*source), "label text ");
    EXPECT_EQ(source->scratch_bytes(64) == 0, io != IoMode::kPread) << "mapped without a copy";
    for (const bool cold : {false, true}) {
      const Fetched rows = fetch_all(*source, {.cold = cold});
      EXPECT_THAT(rows.bytes[1], ElementsAre("a", "", "ccc", "dd", "eeeee"));
      for (size_t i = 0; i < 5; ++i)
        EXPECT_THAT(values_of<int64_t>(rows.bytes[0][i]), ElementsAre(static_cast<int64_t>(i)));
    }
    EXPECT_THAT(source->place_of(3, 0).path, HasSubstr("chunk-1-0.bin"));
    EXPECT_THAT(source->place_of(3, 0).within, HasSubstr("sample 0, offset"));
  }
}

TEST_F(LitdataTest, ADirectoryItsIndexAndABarePathAreTheSameSet) {
  write({lit_chunk({"a"})}, lit_config());
  for (const std::string& name : {uri(), uri() + "/index.json", uri() + "/", dir_.path("set")}) {
    const SourceRef source = open(name);
    ASSERT_NE(source, nullptr);
    EXPECT_EQ(source->info().format, "litdata") << name;
    EXPECT_EQ(source->count(), 1);
  }
}

TEST_F(LitdataTest, FieldsAreNamedByTheTreeOfAnItem) {
  const auto ints = [&](size_t count, const std::string& spec) {
    const SourceRef source = one(std::vector<std::string>(count, "int"), spec,
                                 std::vector<std::string>(count, raw_bytes(int64_t{1})));
    return source == nullptr ? "" : names(*source);
  };
  EXPECT_EQ(ints(1, lit_spec(kLitLeaf)), "data ");
  EXPECT_EQ(ints(1, ""), "data ");
  EXPECT_EQ(ints(2, ""), "0 1 ");
  EXPECT_EQ(ints(2, lit_spec(lit_node("builtins.tuple", "null", {kLitLeaf, kLitLeaf}))), "0 1 ");
  const std::string list = lit_node("builtins.list", "null", {kLitLeaf, lit_dict({"x", "y"})});
  EXPECT_EQ(ints(4, lit_spec(lit_dict({"a", "b"}, {kLitLeaf, list}))), "a b/0 b/1/x b/1/y ");
  EXPECT_EQ(ints(2, lit_spec(lit_node("collections.OrderedDict", R"(["u", 7])", {kLitLeaf, kLitLeaf}))),
            "u 7 ");
  EXPECT_EQ(ints(1, lit_spec(lit_node("collections.namedtuple", "a.B", {kLitLeaf}))), "0 ");
}

TEST_F(LitdataTest, EveryFormatThatIsReadHasItsType) {
  const std::vector<std::string> formats = {"int",
                                            "float",
                                            "bool",
                                            "str",
                                            "bytes",
                                            "jpeg",
                                            "image:png",
                                            "file:mp4",
                                            "text",
                                            "no_header_tensor:1",
                                            "no_header_tensor:10",
                                            "no_header_tensor:20",
                                            "no_header_numpy:7",
                                            "numpy",
                                            "tensor"};
  std::vector<std::string> values;
  for (const std::string& format : formats) values.push_back(std::string(8, format[0]));
  values[2] = std::string(1, '\1');
  values[13] = lit_array({4, 2, 2, 3}, "abcdef", false);
  values[14] = lit_array({13, 3, 1, 2, 1}, "abcd", true);
  const SourceRef source = one(formats, "", values);
  ASSERT_NE(source, nullptr);
  std::string types;
  for (const Field& field : source->schema().fields) types += field_type_text(field) + " ";
  EXPECT_EQ(types,
            "i64 f64 bool u8[-1] u8[-1] u8[-1] u8[-1] u8[-1] u8[-1] f32[-1] bf16[-1] u16[-1] u64[-1] u8[2x3] "
            "i16[1x2x1] ");
  const Fetched rows = fetch_all(*source);
  for (size_t f = 0; f < 13; ++f) EXPECT_EQ(rows.bytes[f][0], values[f]) << f;
  EXPECT_EQ(rows.bytes[13][0], "abcdef");
  EXPECT_EQ(rows.bytes[14][0], "abcd");
}

TEST_F(LitdataTest, TensorsOfOlderReleasesAreLittleEndianAndThoseOfNoDimsAreScalars) {
  const SourceRef source = one({"tensor", "tensor"}, "",
                               {lit_array({11, 2, 1, 2}, "ab", false), lit_array({17, 0}, "12345678", true)});
  EXPECT_EQ(field_type_text(source->schema().fields[0]), "u8[1x2]");
  EXPECT_EQ(field_type_text(source->schema().fields[1]), "i64");
  EXPECT_EQ(fetch_all(*source).bytes[0][0], "ab");
}

TEST_F(LitdataTest, AnArrayThatDiffersFromTheFirstIsABadSampleAndTheOthersAreRead) {
  LitChunk chunk;
  for (const std::string& array : {lit_array({4, 2, 1, 2}, "ab", false), lit_array({4, 2, 2, 1}, "cd", false),
                                   lit_array({0, 2, 1, 2}, "ef", false), lit_array({4, 2, 1, 2}, "g", false),
                                   std::string("xy"), lit_array({4, 2, 1, 2}, "hi", false)})
    chunk.items.push_back({array, "t"});
  write({chunk}, {{"numpy", "str"}, ""});
  for (const IoMode io : {IoMode::kMmap, IoMode::kPread}) {
    const Fetched rows = fetch_all(*open(uri(), io));
    EXPECT_EQ(rows.errors.size(), 4u);
    EXPECT_THAT(rows.errors.at(1).message(), HasSubstr("chunk-0-0.bin: sample 1, offset "));
    EXPECT_THAT(rows.errors.at(1).message(),
                HasSubstr("column '0': an array u8[2x1], expected u8[1x2] as in the first sample"));
    EXPECT_THAT(rows.errors.at(2).message(), HasSubstr("i8[1x2], expected u8[1x2]"));
    EXPECT_THAT(rows.errors.at(3).message(), HasSubstr("its header and its 17 bytes disagree"));
    EXPECT_THAT(rows.errors.at(4).message(), HasSubstr("its header and its 2 bytes disagree"));
    EXPECT_EQ(rows.bytes[0][5], "hi");
  }
}

TEST_F(LitdataTest, TokensAreDocuments) {
  LitChunk first{{{raw_bytes(std::vector<uint16_t>{1, 2, 3})}, {""}}, false};
  LitChunk second{{{raw_bytes(std::vector<uint16_t>{4})}}, false};
  write({first, second}, {{"no_header_tensor:20"}, "", "null", "null", "\"TokensLoader\""}, {"3", "1"});
  for (const IoMode io : {IoMode::kMmap, IoMode::kPread, IoMode::kMemory}) {
    const SourceRef source = open(uri(), io);
    ASSERT_NE(source, nullptr);
    EXPECT_EQ(names(*source), "tokens ");
    EXPECT_EQ(field_type_text(source->schema().fields[0]), "u16[-1]");
    const Fetched rows = fetch_all(*source);
    ASSERT_EQ(rows.bytes[0].size(), 3u);
    EXPECT_THAT(values_of<uint16_t>(rows.bytes[0][0]), ElementsAre(1, 2, 3));
    EXPECT_EQ(rows.bytes[0][1], "");
    EXPECT_THAT(values_of<uint16_t>(rows.bytes[0][2]), ElementsAre(4));
    EXPECT_EQ(source->record_items(0), 3);
  }
}

TEST_F(LitdataTest, FieldsAreChosenAndOrdered) {
  LitConfig config{{"int", "str", "pickle"}, lit_spec(lit_dict({"label", "text", "x"}))};
  LitChunk chunk = lit_chunk({"a", "b"});
  for (auto& item : chunk.items) item.push_back("pickle");
  write({chunk}, config);
  const SourceRef source = open(uri("?fields=text,label"));
  EXPECT_EQ(source->schema().fields[0].name, "text");
  EXPECT_THAT(fetch_all(*source).bytes[0], ElementsAre("a", "b"));
  expect_error(open_source(uri(), test_context()), Code::kUnsafeType,
               {"field 'x'", "'pickle'", "a pickle runs code", "`fields`"});
  expect_error(open_source(uri("?fields=y"), test_context()), Code::kNoSuchField,
               {"index.json: no column 'y'; it has label, text, x"});
  expect_error(open_source(uri("?fields=text,text"), test_context()), Code::kBadUri, {"named twice"});
}

TEST_F(LitdataTest, ACompressedChunkIsInflatedUnlessItsPlainFileIsThere) {
  LitConfig config = lit_config();
  config.compression = "\"zstd\"";
  const LitChunk chunk = lit_chunk({"a", "bc"});
  dir_.write("set/index.json", lit_index({lit_entry(chunk, "chunk-0-0.zstd.bin")}, config));
  expect_error(open_source(uri(), test_context()), Code::kNotFound,
               {"chunk-0-0.bin: no such file", "'chunk-0-0.zstd.bin'"});
  dir_.write("set/chunk-0-0.zstd.bin", zstd_stored(chunk.bytes()));
  const Result<SourceRef> inflated = open_source(uri(), test_context());
  if (!inflated.is_ok() && inflated.status().code() == Code::kUnsupported)
    GTEST_SKIP() << "this build has no Zstandard";
  ASSERT_TRUE(inflated.is_ok()) << inflated.status().message();
  EXPECT_THAT(fetch_all(*inflated.value()).bytes[1], ElementsAre("a", "bc"));
  EXPECT_THAT(inflated.value()->info().notes, ElementsAre(HasSubstr("decompressed into memory")));
  dir_.write("set/chunk-0-0.zstd.bin", "");
  expect_error(open_source(uri(), test_context()), Code::kCorrupt, {"chunk-0-0.zstd.bin"});
  dir_.write("set/chunk-0-0.bin", chunk.bytes());
  EXPECT_THAT(fetch_all(*open(uri())).bytes[1], ElementsAre("a", "bc"));
}

TEST_F(LitdataTest, AnItemThatContradictsItselfIsBadAndTheOthersAreRead) {
  const LitChunk chunk = lit_chunk({"aaaa", "bbbb", "cccc"});
  const size_t at = chunk.bytes().find("bbbb") - 16;  // the sizes of item 1
  struct Case {
    size_t field;
    uint32_t size;
    std::string says;
  };
  for (const Case& bad : std::vector<Case>{{0, 7, "column 'label': its size is 7, expected 8"},
                                           {1, 5, "its columns need more than 16 bytes, the sample has 20"},
                                           {1, 3, "its columns have 19 bytes, the sample has 20"},
                                           {1, UINT32_MAX, "need more than 16 bytes"}}) {
    std::string bytes = chunk.bytes();
    bytes.replace(at + 4 * bad.field, 4, raw_bytes(bad.size));
    write({chunk}, lit_config());
    dir_.write("set/chunk-0-0.bin", bytes);
    for (const IoMode io : {IoMode::kMmap, IoMode::kPread}) {
      const Fetched rows = fetch_all(*open(uri(), io));
      ASSERT_EQ(rows.errors.size(), 1u);
      EXPECT_EQ(rows.errors.at(1).code(), Code::kCorrupt);
      EXPECT_THAT(rows.errors.at(1).message(), HasSubstr(bad.says));
      EXPECT_THAT(rows.errors.at(1).message(), HasSubstr("chunk-0-0.bin: sample 1, offset "));
      EXPECT_EQ(rows.bytes[1][2], "cccc");
    }
  }
}

}  // namespace
}  // namespace dataline::litdata_test
