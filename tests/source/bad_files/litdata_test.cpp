// Damaged LitData sets: the index, and chunks that contradict it.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/source/open.h"
#include "tests/source/bad_files/bad_file_table.h"
#include "tests/source/litdata/litdata_files.h"
#include "tests/source/source_support.h"

namespace dataline::litdata_test {
namespace {

const LitChunk kLitChunk = lit_chunk({"aaaa", "b"});
const std::string kLitBytes = kLitChunk.bytes();
const std::string kLitIndex = lit_index({lit_entry(kLitChunk, "chunk.bin")}, lit_config());

std::string lit_changed(const std::string& from, const std::string& to) {
  std::string text = kLitIndex;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}
std::string lit_with(const LitConfig& config) {
  return lit_index({lit_entry(kLitChunk, "chunk.bin")}, config);
}
std::string lit_tree(const std::string& spec) { return lit_with({{"int", "str"}, spec}); }
std::string lit_text_as(const std::string& format) {
  return lit_with({{"int", format}, lit_spec(lit_dict({"label", "text"}))});
}

// The index at `path`, with a good chunk beside it.
Result<SourceRef> open_lit_index(const std::string& path, const OpenContext& context) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::ofstream(folder / "chunk.bin", std::ios::binary) << kLitBytes;
  return open_source("litdata:" + path, context);
}

std::vector<BadFile> lit_indexes() {
  std::string deep = kLitLeaf;
  for (int i = 0; i < 40; ++i) deep = lit_node("builtins.list", "null", {deep});
  const std::string two = lit_dict({"a", "b"});
  return {
      {"nothing", "", Code::kCorrupt, {"line 1", "expected '{'"}},
      {"an array", "[]", Code::kCorrupt, {"expected '{', got '['"}},
      {"cut", kLitIndex.substr(0, kLitIndex.size() / 2), Code::kCorrupt, {"line 1: "}},
      {"cut by a byte", kLitIndex.substr(0, kLitIndex.size() - 1), Code::kCorrupt, {"its end"}},
      {"more behind it", kLitIndex + "x", Code::kCorrupt, {"nothing but spaces"}},
      {"a web page", "<!DOCTYPE html>", Code::kCorrupt, {"HTML page"}},
      {"a git-LFS pointer", "version https://git-lfs.github.com/spec/v1\n", Code::kCorrupt, {"git-LFS"}},
      {"the index of MDS",
       "{\"shards\": [], \"version\": 2}",
       Code::kCorrupt,
       {"chunks and config", "chunks is missing (this is an MDS set: mds:DIRECTORY)"}},
      {"no config", "{\"chunks\": []}", Code::kCorrupt, {"config is missing"}},
      {"no chunks", lit_index({}, lit_config()), Code::kEmpty, {"no chunks"}},
      {"chunks that are no list", lit_changed("[{", "{\"a\": [{"), Code::kCorrupt, {"expected '['"}},
      {"a config that is null",
       "{\"chunks\": [], \"config\": null}",
       Code::kCorrupt,
       {"expected '{', got 'n'"}},
      {"no filename", lit_changed("\"filename\"", "\"f\""), Code::kCorrupt, {"chunk 0: filename is missing"}},
      {"no bytes", lit_changed("\"chunk_bytes\"", "\"b\""), Code::kCorrupt, {"chunk_bytes is missing"}},
      {"no size", lit_changed("\"chunk_size\"", "\"s\""), Code::kCorrupt, {"chunk_size is missing"}},
      {"a negative size",
       lit_changed("\"chunk_size\": 2", "\"chunk_size\": -2"),
       Code::kCorrupt,
       {"expected a whole number"}},
      {"a size with a fraction",
       lit_changed("\"chunk_size\": 2", "\"chunk_size\": 2.5"),
       Code::kCorrupt,
       {"expected a whole number from 0, got '2.5'"}},
      {"a size beyond 2^63",
       lit_changed("\"chunk_size\": 2", "\"chunk_size\": 99999999999999999999"),
       Code::kCorrupt,
       {"is above 2^63 - 1"}},
      {"a dim that is text",
       lit_changed("\"dim\": null", "\"dim\": \"2\""),
       Code::kCorrupt,
       {"whole number"}},
      {"a chunk above the index",
       lit_changed("chunk.bin", "../chunk.bin"),
       Code::kCorrupt,
       {"'../chunk.bin' is not the name of a file below the index"}},
      {"an absolute path", lit_changed("chunk.bin", "/etc/passwd"), Code::kCorrupt, {"'/etc/passwd'"}},
      {"a name with a NUL",
       lit_changed("chunk.bin", "a\\u0000b"),
       Code::kCorrupt,
       {"not the name of a file"}},
      {"encrypted",
       lit_changed("\"encryption\": null", "\"encryption\": {\"algorithm\": \"fernet\"}"),
       Code::kUnsupported,
       {"encrypted"}},
      {"items compressed in a way of their own",
       lit_changed("\"compression\": null", "\"compression\": \"zstd\", \"compression_level\": \"column\""),
       Code::kUnsupported,
       {"compression_level 'column', expected chunk, batch or sample"}},
      {"items compressed by another codec",
       lit_changed("\"compression\": null", "\"compression\": \"lz4\", \"compression_level\": \"batch\""),
       Code::kUnsupported,
       {"items compressed with 'lz4'"}},
      {"lists",
       lit_text_as("json"),
       Code::kUnsupported,
       {"'json' is not supported: write lists of numbers as arrays"}},
      {"Parquet", lit_changed("PyTreeLoader", "ParquetLoader"), Code::kUnsupported, {"Parquet files"}},
      {"another loader",
       lit_changed("PyTreeLoader", "OwnLoader"),
       Code::kUnsupported,
       {"item_loader 'OwnLoader', expected PyTreeLoader or TokensLoader"}},
      {"no formats", lit_with({{}, ""}), Code::kCorrupt, {"data_format names no fields"}},
      {"formats that are null",
       lit_changed("[\"int\", \"str\"]", "null"),
       Code::kCorrupt,
       {"data_format names no fields"}},
      {"formats that are numbers", lit_changed("\"str\"]", "1]"), Code::kCorrupt, {"expected a string"}},
      {"too many formats",
       lit_with({std::vector<std::string>(300, "int"), ""}),
       Code::kUnsupported,
       {"more than 256 fields"}},
      {"a format more",
       lit_with({{"int", "str", "str"}, lit_spec(two)}),
       Code::kCorrupt,
       {"has 2 fields", "data_format 3"}},
      {"a tree of another protocol",
       lit_tree("[2, " + two + "]"),
       Code::kUnsupported,
       {"protocol '2' of trees"}},
      {"a tree without a protocol",
       lit_tree(two),
       Code::kCorrupt,
       {"config.data_spec: line 1", "expected '['"}},
      {"a cut tree", lit_tree(lit_spec(two).substr(0, 60)), Code::kCorrupt, {"config.data_spec: line 1"}},
      {"a tree and more", lit_tree(lit_spec(two) + "1"), Code::kCorrupt, {"nothing but spaces"}},
      {"a deep tree", lit_with({{"int"}, lit_spec(deep)}), Code::kUnsupported, {"nested more than 32 deep"}},
      {"a key more",
       lit_tree(lit_spec(lit_dict({"a", "b", "c"}, {kLitLeaf, kLitLeaf}))),
       Code::kCorrupt,
       {"a dict of 3 keys with 2 children_spec"}},
      {"a key less",
       lit_tree(lit_spec(lit_dict({"a"}, {kLitLeaf, kLitLeaf}))),
       Code::kCorrupt,
       {"a dict of 1 keys with 2 children_spec"}},
      {"keys that are no list",
       lit_tree(lit_spec(lit_node("builtins.dict", "{}", {kLitLeaf, kLitLeaf}))),
       Code::kCorrupt,
       {"the keys of a dict", "expected '['"}},
      {"a key without text", lit_tree(lit_spec(lit_dict({"", "b"}))), Code::kCorrupt, {"a key without text"}},
      {"one key twice",
       lit_tree(lit_spec(lit_dict({"a", "a"}))),
       Code::kCorrupt,
       {"two fields are called 'a'"}},
      {"a leaf with children",
       lit_tree("[1, {\"type\": null, \"context\": null, \"children_spec\": [" + kLitLeaf + "]}]"),
       Code::kCorrupt,
       {"children of a node without a type"}},
      {"a pickle",
       lit_text_as("pickle"),
       Code::kUnsafeType,
       {"field 'text'", "'pickle': a pickle runs code"}},
      {"a graph", lit_text_as("graph"), Code::kUnsafeType, {"'graph': a pickle"}},
      {"PIL pixels",
       lit_text_as("pil"),
       Code::kUnsupported,
       {"'pil' is not supported: write images as JPEG"}},
      {"lists of images", lit_text_as("jpeg_array"), Code::kUnsupported, {"'jpeg_array' is not supported"}},
      {"an unknown format", lit_text_as("zip"), Code::kUnsupported, {"'zip' is not supported", "`fields`"}},
      {"an unknown dtype",
       lit_text_as("no_header_tensor:21"),
       Code::kUnsupported,
       {"'no_header_tensor:21' has an unsupported dtype"}},
      {"Python objects",
       lit_text_as("no_header_numpy:14"),
       Code::kUnsupported,
       {"'no_header_numpy:14' has an unsupported dtype"}},
      {"a dtype without a number",
       lit_text_as("no_header_numpy:"),
       Code::kUnsupported,
       {"has an unsupported dtype"}},
      {"tokens of two fields",
       lit_changed("PyTreeLoader", "TokensLoader"),
       Code::kCorrupt,
       {"TokensLoader with 2 fields"}},
      {"tokens that are texts",
       lit_with({{"str"}, "", "null", "null", "\"TokensLoader\""}),
       Code::kUnsupported,
       {"TokensLoader with data_format 'str'"}},
      {"tokens with fractions",
       lit_with({{"no_header_tensor:1"}, "", "null", "null", "\"TokensLoader\""}),
       Code::kUnsupported,
       {"expected whole numbers"}},
  };
}

TEST(BadLitdata, IndexesAreRefusedByNameAndPlace) {
  check_bad_files(lit_indexes(), kLitIndex, open_lit_index, "-index.json");
}

// A chunk, named by an index.
struct BadChunk {
  std::string name, bytes, index;
  Code code;
  std::vector<std::string> parts;
};

std::string lit_sized(const std::string& bytes) {
  return lit_changed("\"chunk_bytes\": " + std::to_string(kLitBytes.size()),
                     "\"chunk_bytes\": " + std::to_string(bytes.size()));
}
std::string lit_with_word(size_t at, uint32_t value) {
  return std::string(kLitBytes).replace(at, 4, raw_bytes(value));
}
// Of one field.
BadChunk lit_one(const std::string& name, const std::string& format, const LitChunk& chunk, Code code,
                 const std::vector<std::string>& parts, const std::string& dim = "null") {
  LitConfig config{{format}, ""};
  if (!chunk.sizes) config.loader = "\"TokensLoader\"";
  return {name, chunk.bytes(), lit_index({lit_entry(chunk, "chunk.bin", dim)}, config), code, parts};
}

std::vector<BadChunk> lit_chunks() {
  const auto all = static_cast<uint32_t>(kLitBytes.size());
  const std::string longer = kLitBytes + "x", few = kLitBytes.substr(0, 15);
  const std::string magic("LDARW01\0", 8);
  const std::string framed = std::string("LDFZ01\0\0", 8) + kLitBytes, rows = kLitBytes + magic;
  const LitChunk tokens{{{"abc"}}, false};
  LitChunk lying{{{lit_array({4, 2, 1, 2}, "ab", false)}}};
  return {
      {"a byte less", kLitBytes.substr(0, all - 1), kLitIndex, Code::kTruncated, {"the index states"}},
      {"a byte more", longer, kLitIndex, Code::kCorrupt, {"the index states"}},
      {"a byte after all", longer, lit_sized(longer), Code::kCorrupt, {"1 bytes after the last sample"}},
      {"no room for the table", few, lit_sized(few), Code::kTruncated, {"2 samples need a table"}},
      {"nothing", "", lit_sized(""), Code::kTruncated, {"file has 0"}},
      {"another count",
       lit_with_word(0, 3),
       kLitIndex,
       Code::kCorrupt,
       {"offset 0: 3 samples, the index states 2"}},
      {"a count of 2^32 - 1",
       lit_with_word(0, UINT32_MAX),
       kLitIndex,
       Code::kCorrupt,
       {"4294967295 samples"}},
      {"an index of 2^62 items",
       kLitBytes,
       lit_changed("\"chunk_size\": 2", "\"chunk_size\": 4611686018427387904"),
       Code::kTruncated,
       {"4611686018427387904 samples"}},
      {"an offset in the table",
       lit_with_word(4, 8),
       kLitIndex,
       Code::kCorrupt,
       {"offsets[0] is 8, expected 16"}},
      {"a gap", lit_with_word(4, 20), kLitIndex, Code::kCorrupt, {"offsets[0] is 20, expected 16"}},
      {"an offset of 0", lit_with_word(8, 0), kLitIndex, Code::kCorrupt, {"offset 8: offsets[1] is 0"}},
      {"offsets that go back", lit_with_word(8, 15), kLitIndex, Code::kCorrupt, {"offsets[1] is 15"}},
      {"an offset beyond the file", lit_with_word(12, all + 1), kLitIndex, Code::kTruncated, {"offsets[2]"}},
      {"an offset of 2^32 - 1", lit_with_word(12, UINT32_MAX), kLitIndex, Code::kTruncated, {"offsets[2]"}},
      {"an end before the end",
       lit_with_word(12, all - 1),
       kLitIndex,
       Code::kCorrupt,
       {"1 bytes after the last"}},
      {"items compressed in batches",
       framed,
       lit_sized(framed),
       Code::kCorrupt,
       {"items compressed in batches, but the index has no compression_level batch"}},
      {"rows of Arrow without room for them",
       rows,
       lit_sized(rows),
       Code::kCorrupt,
       {"an Arrow file of ", "but 0 follow the items, which end at " + std::to_string(all)}},
      {"rows of Arrow that are none",
       kLitBytes + "rows" + lit_word(4) + magic,
       lit_sized(kLitBytes + "rows" + lit_word(4) + magic),
       Code::kTruncated,
       {"offset " + std::to_string(all), "the metadata of a message has"}},
      {"an Arrow file of no bytes",
       kLitBytes + lit_word(0) + magic,
       lit_sized(kLitBytes + lit_word(0) + magic),
       Code::kTruncated,
       {"expected an Arrow stream, which starts with a message, got 0 bytes"}},
      {"an Arrow file that is cut",
       kLitBytes + "ARROW1" + lit_word(6) + magic,
       lit_sized(kLitBytes + "ARROW1" + lit_word(6) + magic),
       Code::kTruncated,
       {"expected an Arrow file of 18 bytes or more, got 6"}},
      lit_one("half a token", "no_header_tensor:20", tokens, Code::kCorrupt,
              {"3 bytes are not a multiple of the token size"}),
      lit_one("tokens that are not there", "no_header_tensor:11", tokens, Code::kCorrupt,
              {"3 tokens, the index states 4"}, "4"),
      lit_one("an array cut in its header", "numpy", LitChunk{{{"abc"}}}, Code::kCorrupt,
              {"sample 0, offset 16", "its header and its 3 bytes disagree"}),
      lit_one("an array of an unknown dtype", "numpy", LitChunk{{{lit_array({14, 0}, "", false)}}},
              Code::kCorrupt, {"disagree"}),
      lit_one("an array of 33 dims", "tensor", LitChunk{{{lit_array({11, 33}, "", true)}}}, Code::kCorrupt,
              {"disagree"}),
      lit_one("an array beyond everything", "tensor",
              LitChunk{{{lit_array({11, 3, UINT32_MAX, UINT32_MAX, UINT32_MAX}, "", true)}}}, Code::kCorrupt,
              {"disagree"}),
      lit_one("an array without items", "numpy", LitChunk{{{lit_array({4, 2, 0, 2}, "", false)}}},
              Code::kCorrupt, {"an array without items"}),
      lit_one("no item", "numpy", LitChunk{}, Code::kEmpty, {"no items"}),
      {"an item without sizes",
       std::string(lying.bytes()).replace(8, 4, raw_bytes(uint32_t{12})).substr(0, 12),
       lit_index({"{\"chunk_bytes\": 12, \"chunk_size\": 1, \"filename\": \"chunk.bin\"}"}, {{"numpy"}, ""}),
       Code::kCorrupt,
       {"sample 0, offset 12", "its sizes need"}},
      {"a size beyond the item",
       std::string(lying.bytes()).replace(12, 4, raw_bytes(UINT32_MAX)),
       lit_index({lit_entry(lying, "chunk.bin")}, {{"numpy"}, ""}),
       Code::kCorrupt,
       {"column 'data': its size is 4294967295, expected at most 18"}},
  };
}

TEST(BadLitdata, ChunksAreRefusedByNameAndPlace) {
  TempDir dir;
  for (const BadChunk& bad : lit_chunks()) {
    SCOPED_TRACE(bad.name);
    dir.write("index.json", bad.index);
    dir.write("chunk.bin", bad.bytes);
    for (const IoMode io : {IoMode::kMmap, IoMode::kPread, IoMode::kMemory}) {
      const OpenContext context = test_context(io);
      Result<SourceRef> source = open_source("litdata:" + dir.path(), context);
      expect_error(source, bad.code, bad.parts);
      expect_error(source, bad.code, {bad.code == Code::kEmpty ? "index.json: " : "chunk.bin: "});
      EXPECT_EQ(context.memory->in_use_bytes(), 0);
    }
  }
  dir.write("index.json", kLitIndex);
  dir.write("chunk.bin", kLitBytes);
  EXPECT_TRUE(open_source("litdata:" + dir.path(), test_context()).is_ok());
}

}  // namespace
}  // namespace dataline::litdata_test
