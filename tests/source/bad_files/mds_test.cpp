// Damaged MDS datasets: the index, and shards that contradict it.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/source/open.h"
#include "tests/source/bad_files/bad_file_table.h"
#include "tests/source/mds/mds_files.h"
#include "tests/source/source_support.h"

namespace dataline::mds_test {
namespace {

const MdsFile kFile = mds_file({"aaaa", "b"});
const std::string kShard = kFile.bytes();
const std::string kEntry = mds_entry(kFile, "shard.mds");
const std::string kIndex = mds_index({kEntry});

std::string changed(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}
std::string index_with(const std::string& from, const std::string& to) { return changed(kIndex, from, to); }

// The index at `path`, renamed to what it is called, with a good shard beside it.
Result<SourceRef> open_index(const std::string& path, const OpenContext& context) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::ofstream(folder / "shard.mds", std::ios::binary) << kShard;
  return open_source("mds:" + path, context);
}

std::vector<BadFile> indexes() {
  const std::string other = mds_entry(MdsFile{{{"label", "int", "8"}}, {}}, "b.mds");
  return {
      {"nothing", "", Code::kCorrupt, {"line 1", "expected '{'"}},
      {"an array", "[]", Code::kCorrupt, {"expected '{', got '['"}},
      {"cut", kIndex.substr(0, kIndex.size() / 2), Code::kCorrupt, {"line 1: byte"}},
      {"cut by a byte", kIndex.substr(0, kIndex.size() - 1), Code::kCorrupt, {"its end"}},
      {"more behind it", kIndex + "x", Code::kCorrupt, {"nothing but spaces"}},
      {"a web page", "<!DOCTYPE html>", Code::kCorrupt, {"HTML page"}},
      {"a git-LFS pointer", "version https://git-lfs.github.com/spec/v1\n", Code::kCorrupt, {"git-LFS"}},
      {"another file's keys",
       "{\"chunks\": [], \"config\": {}}",
       Code::kCorrupt,
       {"version and shards", "is missing (this is a LitData set: litdata:DIRECTORY)"}},
      {"no version", "{\"shards\": []}", Code::kCorrupt, {"version is missing"}},
      {"no shards", "{\"shards\": [], \"version\": 2}", Code::kEmpty, {"no shards"}},
      {"version 1", "{\"version\": 1, \"shards\": []}", Code::kUnsupported, {"version 1 of MDS, expected 2"}},
      {"a shard's version 3",
       index_with("\"version\": 2,", "\"version\": 3,"),
       Code::kUnsupported,
       {"version 3"}},
      {"a version that is text",
       "{\"version\": \"2\", \"shards\": []}",
       Code::kCorrupt,
       {"expected a whole number"}},
      {"a shard of json",
       index_with("\"mds\"", "\"json\""),
       Code::kUnsupported,
       {"shard 0 has the format 'json'"}},
      {"no format", index_with("\"format\"", "\"f\""), Code::kUnsupported, {"the format ''"}},
      {"no samples", index_with("\"samples\"", "\"s\""), Code::kCorrupt, {"shard 0: samples is missing"}},
      {"no raw_data", index_with("\"raw_data\"", "\"r\""), Code::kCorrupt, {"raw_data.basename is missing"}},
      {"no bytes", index_with("\"bytes\"", "\"b\""), Code::kCorrupt, {"raw_data.bytes is missing"}},
      {"no basename", index_with("\"basename\"", "\"b\""), Code::kCorrupt, {"raw_data.basename is missing"}},
      {"a shard above the index",
       index_with("shard.mds", "../shard.mds"),
       Code::kCorrupt,
       {"not the name of a file below"}},
      {"a shard by an absolute path",
       index_with("shard.mds", "/etc/passwd"),
       Code::kCorrupt,
       {"'/etc/passwd'"}},
      {"a name with a NUL", index_with("shard.mds", "a\\u0000b"), Code::kCorrupt, {"not the name of a file"}},
      {"a name with an empty part",
       index_with("shard.mds", "a//b"),
       Code::kCorrupt,
       {"not the name of a file"}},
      {"samples that are negative",
       index_with("\"samples\": 2", "\"samples\": -2"),
       Code::kCorrupt,
       {"expected a whole number"}},
      {"samples with a fraction",
       index_with("\"samples\": 2", "\"samples\": 2.5"),
       Code::kCorrupt,
       {"expected a whole number from 0, got '2.5'"}},
      {"samples of 2^64",
       index_with("\"samples\": 2", "\"samples\": 18446744073709551616"),
       Code::kCorrupt,
       {"is above 2^63 - 1"}},
      {"samples that are null",
       index_with("\"samples\": 2", "\"samples\": null"),
       Code::kCorrupt,
       {"expected a whole number"}},
      {"a column less",
       index_with("\"label\", \"text\"", "\"label\""),
       Code::kCorrupt,
       {"1 column_names, 2 column_encodings"}},
      {"an encoding more",
       index_with("\"int\", \"str\"", "\"int\", \"str\", \"str\""),
       Code::kCorrupt,
       {"3 column_encodings"}},
      {"a size less", index_with("[8, null]", "[8]"), Code::kCorrupt, {"1 column_sizes"}},
      {"no columns", mds_index({mds_entry(MdsFile{}, "shard.mds")}), Code::kCorrupt, {"0 column_names"}},
      {"two columns of one name",
       index_with("\"label\", \"text\"", "\"text\", \"text\""),
       Code::kCorrupt,
       {"two columns are called 'text'"}},
      {"a column without a name",
       index_with("\"label\", \"text\"", "\"\", \"text\""),
       Code::kCorrupt,
       {"a column without a name"}},
      {"names that are numbers",
       index_with("\"label\", \"text\"", "1, 2"),
       Code::kCorrupt,
       {"expected a string"}},
      {"an int of 4 bytes",
       index_with("[8, null]", "[4, null]"),
       Code::kCorrupt,
       {"column 'label'", "column_sizes states 4, expected 8"}},
      {"an int of any size",
       index_with("[8, null]", "[null, null]"),
       Code::kCorrupt,
       {"states null, expected 8"}},
      {"a text of 4 bytes",
       index_with("[8, null]", "[8, 4]"),
       Code::kCorrupt,
       {"column 'text'", "states 4, expected null"}},
      {"a text of 0 bytes", index_with("[8, null]", "[8, 0]"), Code::kCorrupt, {"states 0, expected null"}},
      {"an unknown encoding",
       index_with("\"str\"", "\"zip\""),
       Code::kUnsupported,
       {"column 'text'", "'zip' is not supported", "`fields`"}},
      {"PIL pixels", index_with("\"str\"", "\"pil\""), Code::kUnsupported, {"'pil' is not supported"}},
      {"a pickle", index_with("\"str\"", "\"pkl\""), Code::kUnsafeType, {"a pickle runs code"}},
      {"arrays of any dtype",
       index_with("\"str\"", "\"ndarray\""),
       Code::kUnsupported,
       {"whose dtype differs"}},
      {"arrays of an unknown dtype",
       index_with("\"str\"", "\"ndarray:complex64\""),
       Code::kUnsupported,
       {"not an array of a known dtype"}},
      {"arrays of no dims",
       index_with("\"str\"", "\"ndarray:uint8:0\""),
       Code::kUnsupported,
       {"not an array of a known"}},
      {"arrays beyond everything",
       index_with("\"str\"", "\"ndarray:uint8:9999999999,9999999999\""),
       Code::kCorrupt,
       {"more than 2^63"}},
      {"columns that differ", mds_index({kEntry, other}), Code::kMismatch, {"the columns of shard 1 differ"}},
      {"types that differ",
       mds_index({kEntry, changed(kEntry, "\"str\"", "\"bytes\"")}),
       Code::kMismatch,
       {"shard 1 differ"}},
  };
}

TEST(BadMds, IndexesAreRefusedByNameAndPlace) {
  check_bad_files(indexes(), kIndex, open_index, "-index.json");
}

// A shard at `path`, named by an index that fits the good one.
struct BadShard {
  std::string name, bytes, index;
  Code code;
  std::vector<std::string> parts;
};

std::string sized(const std::string& bytes) {
  return changed(kIndex, "\"bytes\": " + std::to_string(kShard.size()),
                 "\"bytes\": " + std::to_string(bytes.size()));
}
std::string word(size_t at, uint32_t value) { return std::string(kShard).replace(at, 4, raw_bytes(value)); }

std::vector<BadShard> shards() {
  const auto first = static_cast<uint32_t>(16 + kFile.config.size()),
             all = static_cast<uint32_t>(kShard.size());
  const std::string longer = kShard + "x", few = kShard.substr(0, 15);
  return {
      {"a byte less", kShard.substr(0, all - 1), kIndex, Code::kTruncated, {"the index states", "file has"}},
      {"a byte more", longer, kIndex, Code::kCorrupt, {"the index states"}},
      {"a byte more, as the index states",
       longer,
       sized(longer),
       Code::kCorrupt,
       {"1 bytes after the last sample"}},
      {"no room for the table",
       few,
       sized(few),
       Code::kTruncated,
       {"offset 0: 2 samples need a table", "file has 15"}},
      {"nothing", "", sized(""), Code::kTruncated, {"file has 0"}},
      {"another count", word(0, 3), kIndex, Code::kCorrupt, {"offset 0: 3 samples, the index states 2"}},
      {"a count of 2^32 - 1", word(0, UINT32_MAX), kIndex, Code::kCorrupt, {"4294967295 samples"}},
      {"an index of 2^62 samples",
       kShard,
       index_with("\"samples\": 2", "\"samples\": 4611686018427387904"),
       Code::kTruncated,
       {"4611686018427387904 samples"}},
      {"an offset in the table",
       word(4, 8),
       kIndex,
       Code::kCorrupt,
       {"offset 4: offsets[0] is 8, expected 16"}},
      {"an offset of 0", word(8, 0), kIndex, Code::kCorrupt, {"offset 8: offsets[1] is 0"}},
      {"offsets that go back", word(8, first - 1), kIndex, Code::kCorrupt, {"offsets[1]"}},
      {"an offset beyond the file", word(12, all + 1), kIndex, Code::kTruncated, {"offset 12: offsets[2]"}},
      {"an offset of 2^32 - 1", word(12, UINT32_MAX), kIndex, Code::kTruncated, {"offsets[2] is 4294967295"}},
      {"a last offset before the end",
       word(12, all - 1),
       kIndex,
       Code::kCorrupt,
       {"1 bytes after the last sample"}},
  };
}

TEST(BadMds, ShardsAreRefusedByNameAndPlace) {
  TempDir dir;
  for (const BadShard& bad : shards()) {
    SCOPED_TRACE(bad.name);
    dir.write("index.json", bad.index);
    dir.write("shard.mds", bad.bytes);
    for (const IoMode io : {IoMode::kMmap, IoMode::kPread, IoMode::kMemory}) {
      const OpenContext context = test_context(io);
      Result<SourceRef> source = open_source("mds:" + dir.path(), context);
      expect_error(source, bad.code, bad.parts);
      expect_error(source, bad.code, {"shard.mds: "});
      EXPECT_EQ(context.memory->in_use_bytes(), 0);
    }
  }
  dir.write("index.json", kIndex);
  dir.write("shard.mds", kShard);
  EXPECT_TRUE(open_source("mds:" + dir.path(), test_context()).is_ok());
}

}  // namespace
}  // namespace dataline::mds_test
