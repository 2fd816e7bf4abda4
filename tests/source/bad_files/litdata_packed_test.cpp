// Damaged LitData chunks whose items are compressed within them.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/source/open.h"
#include "tests/source/litdata/packed_files.h"
#include "tests/source/source_support.h"

namespace dataline::litdata_packed_test {
namespace {

// Three items in two batches: offsets at 24, the batches at 40 and 64, their frames at 88.
const LitChunk kPackedChunk = lit_chunk({"aaaa", "b", "cc"});
const std::string kBatches = lit_batches(kPackedChunk, 2), kFrames = lit_frames(kPackedChunk);

struct BadPacked {
  std::string name, bytes, level;
  Code code;
  std::vector<std::string> parts;
  int64_t items = 3;
};

std::string batches_with(size_t at, uint32_t value) {
  return std::string(kBatches).replace(at, 4, raw_bytes(value));
}
std::string frames_with(size_t at, uint32_t value) {
  return std::string(kFrames).replace(at, 4, raw_bytes(value));
}

std::vector<BadPacked> packed_chunks() {
  const auto all = static_cast<uint32_t>(kBatches.size());
  const std::string damaged = kBatches.substr(0, all - 3) + "\xff\xff\xff";
  return {
      {"nothing", "", "batch", Code::kCorrupt, {"compressed in batches, as the index states"}},
      {"no batches",
       kPackedChunk.bytes(),
       "batch",
       Code::kCorrupt,
       {"compressed in batches, as the index states"}},
      {"another version", batches_with(8, 2), "batch", Code::kUnsupported, {"version 2, flags 0"}},
      {"flags", batches_with(8, 0x10001), "batch", Code::kUnsupported, {"version 1, flags 1"}},
      {"another count",
       batches_with(12, 4),
       "batch",
       Code::kCorrupt,
       {"offset 12: 4 items, the index states 3"}},
      {"an index of 2^62 items",
       kBatches,
       "batch",
       Code::kTruncated,
       {"4611686018427387904 samples"},
       int64_t{1} << 62},
      {"2^32 - 1 batches", batches_with(20, UINT32_MAX), "batch", Code::kTruncated, {"its tables need"}},
      {"cut in its tables",
       kBatches.substr(0, 80),
       "batch",
       Code::kTruncated,
       {"its tables need 64 bytes, the file has 80"}},
      {"offsets that begin later",
       batches_with(24, 1),
       "batch",
       Code::kCorrupt,
       {"offset 24: offsets of items do not ascend from 0"}},
      {"offsets that go back",
       batches_with(28, 2000),
       "batch",
       Code::kCorrupt,
       {"offset 32: offsets of items"}},
      {"items beyond what frames can hold",
       batches_with(36, UINT32_MAX),
       "batch",
       Code::kCorrupt,
       {"more than its frames can hold"}},
      {"a batch that begins elsewhere",
       batches_with(64, 1),
       "batch",
       Code::kCorrupt,
       {"offset 64: batch 1 has items 1 to 2, expected them from 2"}},
      {"a batch beyond the items",
       batches_with(68, 2),
       "batch",
       Code::kCorrupt,
       {"batch 1 has items 2 to 4"}},
      {"a batch of no items", batches_with(68, 0), "batch", Code::kCorrupt, {"batch 1 decompresses to"}},
      {"one batch less", batches_with(20, 1), "batch", Code::kCorrupt, {"its batches have 2 items of 3"}},
      {"another inflated size",
       batches_with(60, 5),
       "batch",
       Code::kCorrupt,
       {"offset 60: batch 0 decompresses to 5 bytes, its items have"}},
      {"a frame beyond the file", batches_with(72, all), "batch", Code::kTruncated, {"a frame of"}},
      {"a frame beyond 2^63", batches_with(76, UINT32_MAX), "batch", Code::kTruncated, {"a frame of"}},
      {"a frame of no bytes", batches_with(80, 0), "batch", Code::kTruncated, {"a frame of 0 bytes"}},
      {"a frame of 2^32 - 1 bytes",
       batches_with(80, UINT32_MAX),
       "batch",
       Code::kTruncated,
       {"a frame of 4294967295 bytes"}},
      {"a frame that is cut", batches_with(80, 20), "batch", Code::kCorrupt, {"offset "}},
      {"another frame", batches_with(72, 88), "batch", Code::kCorrupt, {"offset 88"}},
      {"items one by one without items",
       kFrames.substr(0, 15),
       "sample",
       Code::kTruncated,
       {"a table of 3 items"}},
      {"another count of items", frames_with(0, 2), "sample", Code::kCorrupt, {"a table of 3 items"}},
      {"an index of 2^62 frames",
       kFrames,
       "sample",
       Code::kTruncated,
       {"4611686018427387904 samples"},
       int64_t{1} << 62},
      {"items that begin later", frames_with(4, 21), "sample", Code::kCorrupt, {"item 0 is not in the file"}},
      {"items that go back", frames_with(8, 19), "sample", Code::kCorrupt, {"item 0 is not in the file"}},
      {"items beyond the file",
       frames_with(16, UINT32_MAX),
       "sample",
       Code::kCorrupt,
       {"item 2 is not in the file"}},
      {"items that are not compressed", kPackedChunk.bytes(), "sample", Code::kCorrupt, {"offset 20"}},
      {"an item of no bytes", frames_with(8, 20), "sample", Code::kTruncated, {"offset 20"}},
  };
}

TEST(BadLitdataPacked, ChunksAreRefusedByNameAndPlace) {
  TempDir dir;
  const auto open = [&](const std::string& bytes, int64_t items, const std::string& level,
                        const OpenContext& context) {
    dir.write("index.json", lit_packed_index(bytes, static_cast<size_t>(items), level));
    dir.write("chunk.bin", bytes);
    return open_source("litdata:" + dir.path(), context);
  };
  for (const std::string level : {"batch", "sample"}) {
    const Result<SourceRef> good = open(level == "batch" ? kBatches : kFrames, 3, level, test_context());
    if (!good.is_ok() && good.status().code() == Code::kUnsupported)
      GTEST_SKIP() << "this build has no Zstandard";
    ASSERT_TRUE(good.is_ok()) << good.status().message();
  }
  for (const BadPacked& bad : packed_chunks()) {
    SCOPED_TRACE(bad.name);
    for (const IoMode io : {IoMode::kMmap, IoMode::kPread, IoMode::kMemory}) {
      const OpenContext context = test_context(io);
      const Result<SourceRef> source = open(bad.bytes, bad.items, bad.level, context);
      expect_error(source, bad.code, bad.parts);
      expect_error(source, bad.code, {"chunk.bin: "});
      EXPECT_EQ(context.memory->in_use_bytes(), 0);
    }
  }
}

// Each byte of the tables changed in each bit, and each cut: an error or the same items, never a crash.
TEST(BadLitdataPacked, ChangedBitsAndCutsAreRefusedOrGiveWholeItems) {
  TempDir dir;
  for (const auto& [bytes, level] : {std::pair(kBatches, "batch"), std::pair(kFrames, "sample")}) {
    for (size_t at = 0; at < bytes.size() * 9; ++at) {
      std::string changed = bytes;
      if (at % 9 == 8)
        changed.resize(at / 9);
      else
        changed[at / 9] = static_cast<char>(changed[at / 9] ^ (1 << at % 9));
      dir.write("index.json", lit_packed_index(changed, 3, level));
      dir.write("chunk.bin", changed);
      const OpenContext context = test_context();
      {
        const Result<SourceRef> source = open_source("litdata:" + dir.path(), context);
        if (source.is_ok()) fetch_all(*source.value());
      }
      ASSERT_EQ(context.memory->in_use_bytes(), 0) << level << " " << at;
    }
  }
}

}  // namespace
}  // namespace dataline::litdata_packed_test
