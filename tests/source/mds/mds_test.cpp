// Datasets of MosaicML Streaming: columns by name, from any number of shards.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "core/source/open.h"
#include "tests/source/frame_files.h"
#include "tests/source/gzip_files.h"
#include "tests/source/mds/mds_files.h"
#include "tests/source/source_support.h"

namespace dataline::mds_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class MdsTest : public testing::Test {
 protected:
  SourceRef open(const std::string& uri, IoMode io = IoMode::kAuto) {
    Result<SourceRef> source = open_source(uri, test_context(io));
    EXPECT_TRUE(source.is_ok()) << uri << ": " << (source.is_ok() ? "" : source.status().message());
    return source.is_ok() ? source.take() : nullptr;
  }
  void write(const std::vector<MdsFile>& files, const std::string& folder = "set") {
    std::vector<std::string> entries;
    for (size_t i = 0; i < files.size(); ++i) {
      const std::string name = "shard.0000" + std::to_string(i) + ".mds";
      dir_.write(folder + "/" + name, files[i].bytes());
      entries.push_back(mds_entry(files[i], name));
    }
    dir_.write(folder + "/index.json", mds_index(entries));
  }
  std::string uri(const std::string& keys = "") { return "mds:" + dir_.path("set") + keys; }

  TempDir dir_;
};

TEST_F(MdsTest, SamplesOfAllShardsFollowOneAnother) {
  write({mds_file({"a", "", "ccc"}), mds_file({"dd"}, 3), mds_file({}, 4), mds_file({"eeeee"}, 4)});
  for (const IoMode io : {IoMode::kMmap, IoMode::kPread, IoMode::kMemory}) {
    const SourceRef source = open(uri(), io);
    ASSERT_EQ(source->count(), 5);
    EXPECT_EQ(field_type_text(source->schema().fields[0]), "i64");
    EXPECT_EQ(field_type_text(source->schema().fields[1]), "u8[-1]");
    for (const bool cold : {false, true}) {
      const Fetched rows = fetch_all(*source, {.cold = cold});
      EXPECT_THAT(rows.bytes[1], ElementsAre("a", "", "ccc", "dd", "eeeee"));
      for (size_t i = 0; i < 5; ++i)
        EXPECT_THAT(values_of<int64_t>(rows.bytes[0][i]), ElementsAre(static_cast<int64_t>(i)));
    }
    EXPECT_THAT(source->place_of(3, 0).path, HasSubstr("shard.00001.mds"));
    EXPECT_THAT(source->place_of(3, 0).within, HasSubstr("sample 0, offset"));
  }
}

TEST_F(MdsTest, ADirectoryItsIndexAndABarePathAreTheSameSet) {
  write({mds_file({"a"})});
  for (const std::string& name : {uri(), uri() + "/index.json", uri() + "/", dir_.path("set")}) {
    const SourceRef source = open(name);
    ASSERT_NE(source, nullptr);
    EXPECT_EQ(source->info().format, "mds") << name;
    EXPECT_EQ(source->count(), 1);
  }
}

TEST_F(MdsTest, EveryEncodingThatIsReadHasItsType) {
  MdsFile file{{{"a", "uint8", "1"},
                {"b", "uint16", "2"},
                {"c", "uint32", "4"},
                {"d", "uint64", "8"},
                {"e", "int8", "1"},
                {"f", "int16", "2"},
                {"g", "int32", "4"},
                {"h", "int64", "8"},
                {"i", "float16", "2"},
                {"j", "float32", "4"},
                {"k", "float64", "8"},
                {"l", "bytes"},
                {"m", "json"},
                {"n", "jpeg"},
                {"o", "png"},
                {"p", "str_int"},
                {"q", "str_float"},
                {"r", "str_decimal"},
                {"s", "ndarray:float32:2,3", "24"},
                {"t", "ndarray:int64:4", "32"},
                {"u", "ndarray:uint16"}},
               {}};
  std::vector<std::string> sample;
  for (const MdsFileColumn& column : file.columns)
    sample.push_back(column.size == "null" ? column.name
                                           : std::string(std::stoul(column.size), column.name[0]));
  sample[20] = std::string("\x04\x03", 2) + raw_bytes(std::vector<uint16_t>{7, 8, 9});
  file.samples = {sample};
  write({file});
  const SourceRef source = open(uri());
  std::string types;
  for (const Field& field : source->schema().fields) types += field_type_text(field) + " ";
  EXPECT_EQ(types,
            "u8 u16 u32 u64 i8 i16 i32 i64 f16 f32 f64 u8[-1] u8[-1] u8[-1] u8[-1] u8[-1] u8[-1] u8[-1] "
            "f32[2x3] i64[4] u16[-1] ");
  const Fetched rows = fetch_all(*source);
  for (size_t c = 0; c < 20; ++c) EXPECT_EQ(rows.bytes[c][0], sample[c]) << c;
  EXPECT_THAT(values_of<uint16_t>(rows.bytes[20][0]), ElementsAre(7, 8, 9));
}

TEST_F(MdsTest, LengthsOfArraysAreReadInAllFourForms) {
  MdsFile file{{{"u", "ndarray:uint8"}}, {}};
  for (int form = 0; form < 4; ++form) {
    std::string shape(size_t{1} << form, '\0');
    shape[0] = 3;
    file.samples.push_back({std::string(1, static_cast<char>(4 | form)) + shape + "xyz"});
  }
  write({file});
  EXPECT_THAT(fetch_all(*open(uri())).bytes[0], ElementsAre("xyz", "xyz", "xyz", "xyz"));
}

TEST_F(MdsTest, FieldsAreChosenAndOrdered) {
  MdsFile file = mds_file({"a", "b"});
  file.columns.push_back({"x", "pkl"});
  for (auto& sample : file.samples) sample.push_back("pickle");
  write({file});
  const SourceRef source = open(uri("?fields=text,label"));
  EXPECT_EQ(source->schema().fields[0].name, "text");
  EXPECT_THAT(fetch_all(*source).bytes[0], ElementsAre("a", "b"));
  expect_error(open_source(uri(), test_context()), Code::kUnsafeType,
               {"column 'x'", "'pkl'", "a pickle runs code", "`fields`"});
  expect_error(open_source(uri("?fields=y"), test_context()), Code::kNoSuchField,
               {"index.json: no column 'y'; it has label, text, x"});
  expect_error(open_source(uri("?fields=text,text"), test_context()), Code::kBadUri, {"named twice"});
}

TEST_F(MdsTest, ShardsThatZstandardOrGzipCompressedAreInflated) {
  const MdsFile first = mds_file({"a", "bc"}), second = mds_file({"d"}, 2);
  const std::string zstd = zstd_stored(first.bytes()), gzip = gzip_stored(second.bytes());
  dir_.write("set/0.mds.zstd", zstd);
  dir_.write("set/1.mds.gz", gzip);
  dir_.write("set/index.json",
             mds_index({mds_compressed_entry(first, "0.mds", "zstd:3", "0.mds.zstd", zstd.size()),
                        mds_compressed_entry(second, "1.mds", "gz", "1.mds.gz", gzip.size())}));
  for (const IoMode io : {IoMode::kMmap, IoMode::kPread, IoMode::kMemory}) {
    const Result<SourceRef> source = open_source(uri(), test_context(io));
    if (!source.is_ok() && source.status().code() == Code::kUnsupported)
      GTEST_SKIP() << "this build has no Zstandard or no libdeflate";
    ASSERT_TRUE(source.is_ok()) << source.status().message();
    EXPECT_THAT(fetch_all(*source.value()).bytes[1], ElementsAre("a", "bc", "d"));
    EXPECT_THAT(source.value()->info().notes, ElementsAre(HasSubstr("decompressed into memory")));
  }
  // Decompressed by hand, it is mapped.
  dir_.write("set/0.mds", first.bytes());
  dir_.write("set/1.mds", second.bytes());
  const SourceRef source = open(uri());
  EXPECT_THAT(fetch_all(*source).bytes[1], ElementsAre("a", "bc", "d"));
  EXPECT_THAT(source->info().notes, IsEmpty());
}

TEST_F(MdsTest, ACompressedShardThatIsNotAsTheIndexSaysIsRefused) {
  const MdsFile file = mds_file({"a", "bc"});
  const std::string zstd = zstd_stored(file.bytes());
  const auto refused = [&](const std::string& bytes, const std::string& entry, Code code,
                           const std::vector<std::string>& says) {
    dir_.write("set/0.mds.zstd", bytes);
    dir_.write("set/index.json", mds_index({entry}));
    expect_error(open_source(uri(), test_context()), code, says);
  };
  const auto entry = [&](const std::string& codec, size_t bytes) {
    return mds_compressed_entry(file, "0.mds", codec, "0.mds.zstd", bytes);
  };
  refused("what brotli made", entry("br", 16), Code::kUnsupported, {"0.mds.zstd", "'br'", "brotli -d"});
  refused("no frame", entry("zstd:3", 8), Code::kCorrupt, {"0.mds.zstd: offset 0: expected data of zstd"});
  const auto elsewhere = [&](const std::string& name) {
    dir_.write("set/index.json", mds_index({mds_compressed_entry(file, "0.mds", "zstd", name, zstd.size())}));
    return open_source(uri(), test_context());
  };
  expect_error(elsewhere("gone.mds.zstd"), Code::kNotFound, {"0.mds", "'gone.mds.zstd'"});
  expect_error(elsewhere("../0.mds.zstd"), Code::kCorrupt, {"'../0.mds.zstd'", "below the index"});

  std::string nothing;
  const std::string empty_frame = zstd_stored(nothing);
  if (FrameInflater()
          .inflate(FrameCodec::kZstd, "/x", std::as_bytes(std::span(empty_frame)),
                   std::as_writable_bytes(std::span(nothing)))
          .code() == Code::kUnsupported)
    GTEST_SKIP() << "this build has no Zstandard";
  refused(zstd, entry("zstd", zstd.size() + 1), Code::kTruncated,
          {"0.mds.zstd", "the index states", "file has"});
  refused(zstd, entry("zstd", zstd.size() - 1), Code::kCorrupt,
          {"0.mds.zstd", "the index states", "file has"});
  const std::string cut = zstd.substr(0, zstd.size() - 1);
  refused(cut, entry("zstd", cut.size()), Code::kTruncated, {"0.mds.zstd", "Zstandard data is truncated"});
  const std::string longer = zstd_stored(file.bytes() + "x");
  refused(longer, entry("zstd", longer.size()), Code::kCorrupt, {"the index states", "file decompresses to"});
  const std::string shorter = zstd_stored(file.bytes().substr(1));
  refused(shorter, entry("zstd", shorter.size()), Code::kTruncated,
          {"the index states", "file decompresses to"});
  // An index that lies gets no memory for it.
  const auto huge = [&](std::string lie) {
    const std::string size = "\"bytes\": " + std::to_string(file.bytes().size());
    return lie.replace(lie.find(size), size.size(), "\"bytes\": 1099511627776");
  };
  refused(zstd, huge(entry("zstd", zstd.size())), Code::kTruncated, {"the index states 1099511627776 bytes"});
  const std::string gzip = gzip_stored(file.bytes());
  refused(gzip, huge(entry("gz", gzip.size())), Code::kCorrupt,
          {"1099511627776 bytes when decompressed", "hold at most"});
}

TEST_F(MdsTest, ASampleThatContradictsItselfIsBadAndTheOthersAreRead) {
  MdsFile file = mds_file({"aaaa", "bbbb", "cccc"});
  std::string bytes = file.bytes();
  const size_t at = bytes.find("bbbb") - 12;  // the size of the text of sample 1
  for (const auto& [size, says] :
       {std::pair<uint32_t, std::string>{5, "its columns need more than 12 bytes, the sample has 16"},
        {3, "its columns have 15 bytes, the sample has 16"},
        {UINT32_MAX, "need more than 12 bytes"}}) {
    bytes.replace(at, 4, raw_bytes(size));
    dir_.write("set/shard.00000.mds", bytes);
    dir_.write("set/index.json", mds_index({mds_entry(file, "shard.00000.mds")}));
    for (const IoMode io : {IoMode::kMmap, IoMode::kPread}) {
      const Fetched rows = fetch_all(*open(uri(), io));
      ASSERT_EQ(rows.errors.size(), 1u);
      EXPECT_THAT(rows.errors.at(1).message(), HasSubstr(says));
      EXPECT_THAT(rows.errors.at(1).message(), HasSubstr("shard.00000.mds: sample 1, offset "));
      EXPECT_EQ(rows.bytes[1][2], "cccc");
    }
  }
}

TEST_F(MdsTest, ArraysOfAnotherRankOrLengthAreBadSamples) {
  MdsFile file{{{"u", "ndarray:uint16"}}, {}};
  file.samples = {{""},
                  {std::string("\x08\x01\x01zz", 5)},
                  {std::string("\x04\x02zz", 4)},
                  {std::string("\x07\xff\xff\xff\xff\xff\xff\xff\xffzz", 11)},
                  {std::string("\x04", 1)},
                  {std::string("\x04\x01zz", 4)}};
  write({file});
  const Fetched rows = fetch_all(*open(uri()));
  EXPECT_EQ(rows.errors.size(), 5u);
  EXPECT_THAT(rows.errors.at(1).message(), HasSubstr("column 'u': an array of 2 dims, expected 1"));
  EXPECT_THAT(rows.errors.at(2).message(), HasSubstr("its length and its"));
  EXPECT_EQ(rows.bytes[0][5], "zz");
}

TEST_F(MdsTest, ASampleLargerThanTheRoomIsRefusedByName) {
  write({mds_file({std::string(5000, 'x')})});
  const Fetched rows = fetch_all(*open(uri("?fields=label"), IoMode::kPread), {.max_bytes_per_sample = 16});
  EXPECT_EQ(rows.errors.at(0).code(), Code::kTooLarge);
  EXPECT_THAT(rows.errors.at(0).message(), HasSubstr("sample 0"));
}

TEST_F(MdsTest, BlocksAreCutByBytesWithinShards) {
  write({mds_file({"aaaa", "bbbb", "cccc", "dddd"}), mds_file({"e"})});
  std::pmr::vector<int64_t> ends;
  open(uri())->append_blocks(32, ends);
  EXPECT_THAT(ends, ElementsAre(2, 4, 5));
}

}  // namespace
}  // namespace dataline::mds_test
