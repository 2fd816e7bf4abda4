// Damaged indexes of Megatron-LM.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/source/open.h"
#include "tests/source/bad_files/bad_file_table.h"
#include "tests/source/megatron/megatron_files.h"

namespace dataline::megatron_test {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max(), kLeast = std::numeric_limits<int64_t>::min();

// Four sequences of ten tokens in three documents.
MegatronIndex good_index() { return megatron_index({3, 2, 4, 1}, {2, 1, 1}); }
const std::string kGood = good_index().bytes();

// The index at `path`, with data for ten tokens beside it.
Result<SourceRef> open(const std::string& path, const OpenContext& context) {
  std::ofstream(std::filesystem::path(path).replace_extension(".bin"), std::ios::binary)
      << std::string(20, 't');
  return open_source("megatron:" + path, context);
}

std::string with(const std::function<void(MegatronIndex&)>& change) {
  MegatronIndex index = good_index();
  change(index);
  return index.bytes();
}

std::vector<BadFile> headers() {
  using I = MegatronIndex;
  return {
      {"nothing", "", Code::kTruncated, {"offset 0", "header of 34 bytes, the file has 0"}},
      {"one byte", "M", Code::kTruncated, {"file has 1"}},
      {"magic only", kGood.substr(0, 9), Code::kTruncated, {"file has 9"}},
      {"no dtype", kGood.substr(0, 17), Code::kTruncated, {"file has 17"}},
      {"no counts", kGood.substr(0, 18), Code::kTruncated, {"file has 18"}},
      {"header less a byte", kGood.substr(0, 33), Code::kTruncated, {"file has 33"}},
      {"header only",
       kGood.substr(0, 34),
       Code::kTruncated,
       {"offset 18", "4 sequences of 12 bytes, the file has 34"}},
      {"another magic",
       with([](I& i) { i.magic[0] = 'N'; }),
       Code::kCorrupt,
       {"offset 0", "'MMIDIDX'", "bytes 4e 4d"}},
      {"a magic that ends otherwise",
       with([](I& i) { i.magic[8] = 'x'; }),
       Code::kCorrupt,
       {"offset 0", "MMIDIDX"}},
      {"the old kind", std::string("TNTIDX\0\0", 8) + kGood, Code::kUnsupported, {"TNTIDX", "mmap"}},
      {"the old kind, cut", std::string("TNTIDX\0\0", 8), Code::kUnsupported, {"TNTIDX"}},
      {"a web page", "<!DOCTYPE html><title>404</title>" + kGood, Code::kCorrupt, {"HTML page"}},
      {"a git-LFS pointer", "version https://git-lfs.github.com/spec/v1\n", Code::kCorrupt, {"git-LFS"}},
      {"an npy file", "\x93NUMPY" + kGood, Code::kCorrupt, {"an npy file"}},
      {"gzip data", "\x1f\x8b" + kGood, Code::kCorrupt, {"gzip"}},
      {"version 0",
       with([](I& i) { i.version = 0; }),
       Code::kUnsupported,
       {"offset 9", "version 0", "expected 1"}},
      {"version 2", with([](I& i) { i.version = 2; }), Code::kUnsupported, {"version 2"}},
      {"version in the other order",
       with([](I& i) { i.version = uint64_t{1} << 56; }),
       Code::kUnsupported,
       {"version 72057594037927936"}},
      {"dtype code 0",
       with([](I& i) { i.code = 0; }),
       Code::kCorrupt,
       {"offset 17", "code 0, expected 1 to 8"}},
      {"dtype code 9", with([](I& i) { i.code = 9; }), Code::kCorrupt, {"code 9"}},
      {"dtype code 255", with([](I& i) { i.code = 255; }), Code::kCorrupt, {"code 255"}},
      {"tokens of f64", with([](I& i) { i.code = 6; }), Code::kUnsupported, {"offset 17", "f64", "integers"}},
      {"tokens of f32", with([](I& i) { i.code = 7; }), Code::kUnsupported, {"f32"}},
  };
}

std::vector<BadFile> counts() {
  using I = MegatronIndex;
  return {
      {"a sequence more",
       with([](I& i) { i.sequence_count = 5; }),
       Code::kTruncated,
       {"offset 18", "5 sequences", "file has"}},
      {"a sequence less",
       with([](I& i) { i.sequence_count = 3; }),
       Code::kCorrupt,
       {"3 sequences and 3 documents"}},
      {"no sequences", with([](I& i) { i.sequence_count = 0; }), Code::kCorrupt, {"0 sequences"}},
      {"2^63 sequences",
       with([](I& i) { i.sequence_count = kMost; }),
       Code::kTruncated,
       {"9223372036854775807 sequences"}},
      {"a document more",
       with([](I& i) { i.document_count = 5; }),
       Code::kTruncated,
       {"4 sequences and 4 documents"}},
      {"a document less",
       with([](I& i) { i.document_count = 3; }),
       Code::kCorrupt,
       {"4 sequences and 2 documents"}},
      {"no document entries",
       with([](I& i) { i.document_count = 0; }),
       Code::kCorrupt,
       {"offset 26", "0 document entries"}},
      {"2^62 documents",
       with([](I& i) { i.document_count = int64_t{1} << 62; }),
       Code::kTruncated,
       {"offset 26", "4611686018427387904 document entries"}},
      {"counts of the other order",
       with([](I& i) { i.sequence_count = int64_t{4} << 56; }),
       Code::kTruncated,
       {"offset 18"}},
      {"a byte less", kGood.substr(0, kGood.size() - 1), Code::kTruncated, {"114 bytes, the file has 113"}},
      {"an entry less", kGood.substr(0, kGood.size() - 8), Code::kTruncated, {"file has 106"}},
      {"a byte more", kGood + "x", Code::kCorrupt, {"file has 115"}},
      {"a mode less", kGood + "xyz", Code::kCorrupt, {"file has 117"}},
      {"a mode more", kGood + "vwxyz", Code::kCorrupt, {"file has 119"}},
      {"two indexes in one", kGood + kGood, Code::kCorrupt, {"file has 228"}},
  };
}

std::vector<BadFile> numbers() {
  using I = MegatronIndex;
  return {
      {"a negative length",
       with([](I& i) { i.lengths[1] = -2; }),
       Code::kCorrupt,
       {"offset 38", "lengths[1] is -2"}},
      {"the least length",
       with([](I& i) { i.lengths[0] = INT32_MIN; }),
       Code::kCorrupt,
       {"offset 34", "lengths[0]"}},
      {"a length too long",
       with([](I& i) { i.lengths[3] = 2; }),
       Code::kTruncated,
       {"offset 46", "lengths[3] is 2 at byte 18", "has 20 bytes"}},
      {"the longest length",
       with([](I& i) { i.lengths[3] = INT32_MAX; }),
       Code::kTruncated,
       {"lengths[3] is 2147483647"}},
      {"a length too short",
       with([](I& i) { i.lengths[3] = 0; }),
       Code::kCorrupt,
       {"end at byte 18", "has 20 bytes"}},
      {"a length that moves the next",
       with([](I& i) { i.lengths[0] = 2; }),
       Code::kCorrupt,
       {"offset 58", "pointers[1] is 6, expected 4"}},
      {"the first pointer not 0",
       with([](I& i) { i.pointers[0] = 2; }),
       Code::kCorrupt,
       {"offset 50", "pointers[0] is 2, expected 0"}},
      {"a negative pointer", with([](I& i) { i.pointers[0] = -2; }), Code::kCorrupt, {"pointers[0] is -2"}},
      {"a gap", with([](I& i) { i.pointers[2] = 12; }), Code::kCorrupt, {"pointers[2] is 12, expected 10"}},
      {"an overlap", with([](I& i) { i.pointers[2] = 8; }), Code::kCorrupt, {"pointers[2] is 8"}},
      {"an odd pointer", with([](I& i) { i.pointers[2] = 11; }), Code::kCorrupt, {"pointers[2] is 11"}},
      {"a pointer beyond everything",
       with([](I& i) { i.pointers[3] = kMost; }),
       Code::kCorrupt,
       {"offset 74", "pointers[3] is 9223372036854775807"}},
      {"pointers in tokens",
       with([](I& i) {
         i.pointers = {0, 3, 5, 9};
       }),
       Code::kCorrupt,
       {"pointers[1] is 3, expected 6"}},
      {"the least pointer", with([](I& i) { i.pointers[1] = kLeast; }), Code::kCorrupt, {"pointers[1]"}},
      {"documents that do not begin at 0",
       with([](I& i) { i.documents[0] = 1; }),
       Code::kCorrupt,
       {"offset 82", "documents[0] is 1, expected 0 to 0"}},
      {"a negative document",
       with([](I& i) { i.documents[1] = -1; }),
       Code::kCorrupt,
       {"documents[1] is -1, expected 0 to 4"}},
      {"documents that go back",
       with([](I& i) { i.documents[2] = 1; }),
       Code::kCorrupt,
       {"offset 98", "documents[2] is 1, expected 2 to 4"}},
      {"a document beyond the sequences",
       with([](I& i) { i.documents[3] = 5; }),
       Code::kCorrupt,
       {"documents[3] is 5, expected 3 to 4"}},
      {"sequences in no document",
       with([](I& i) { i.documents[3] = 3; }),
       Code::kCorrupt,
       {"documents[3] is 3, expected 4", "all sequences"}},
      {"the least document", with([](I& i) { i.documents[1] = kLeast; }), Code::kCorrupt, {"documents[1]"}},
      {"no documents, but sequences",
       with([](I& i) { i.documents = {0}; }),
       Code::kCorrupt,
       {"documents[0] is 0, expected 4"}},
      {"another dtype than the pointers'",
       with([](I& i) { i.code = 4; }),
       Code::kCorrupt,
       {"pointers[1] is 6, expected 12"}},
  };
}

TEST(BadMegatronIndexes, EachNamesFileOffsetExpectedAndGot) {
  std::vector<BadFile> table = headers();
  for (std::vector<BadFile> more : {counts(), numbers()}) table.insert(table.end(), more.begin(), more.end());
  check_bad_files(table, kGood, open, ".idx");
}

TEST(BadMegatronIndexes, EveryPrefixIsTruncated) { check_prefixes(kGood, open, ".idx"); }

TEST(BadMegatronIndexes, NoFlippedBitReadsOutsideTheData) { check_bit_flips(kGood, open, ".idx"); }

}  // namespace
}  // namespace dataline::megatron_test
