// Damaged token files.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "core/source/open.h"
#include "tests/source/bad_files/bad_file_table.h"
#include "tests/source/tokens/token_files.h"

namespace dataline::tokens_test {
namespace {

const std::string kGood = llmc_u16(9);
const std::string kGoodWide = llmc_u32(9);
constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();
constexpr int32_t kU16 = 20240520, kU32 = 20240801, kEval = 20240522;

Result<SourceRef> open_with(const std::string& path, std::optional<DType> dtype, const OpenContext& context) {
  const std::string key = dtype ? concat("&dtype=", dtype_name(*dtype)) : "";
  return open_source(concat("tokens:", path, "?length=4", key), context);
}

Result<SourceRef> open(const std::string& path, const OpenContext& context) {
  return open_with(path, std::nullopt, context);
}

std::string header_and(int32_t magic, int32_t version, int32_t count, size_t data_bytes) {
  return llmc_header(magic, version, count) + std::string(data_bytes, 'x');
}

std::string reversed_magic(int32_t magic) { return big_u32(static_cast<uint32_t>(magic)) + kGood.substr(4); }

// llm.c files and files of bare tokens.
std::vector<BadFile> cuts_and_counts() {
  return {
      {"one byte", "x", Code::kTruncated, {"offset 0: the last token is truncated: 1 bytes of a u16"}},
      {"three bytes", "xyz", Code::kTruncated, {"offset 2: the last token is truncated"}},
      {"odd size", std::string(4097, 'x'), Code::kTruncated, {"offset 4096: the last token is truncated"}},
      {"magic only", kGood.substr(0, 4), Code::kTruncated, {"offset 0", "needs 1024 bytes, the file has 4"}},
      {"no version", kGood.substr(0, 7), Code::kTruncated, {"file has 7"}},
      {"no count", kGood.substr(0, 8), Code::kTruncated, {"file has 8"}},
      {"count and nothing", kGood.substr(0, 12), Code::kTruncated, {"file has 12"}},
      {"header less a byte", kGood.substr(0, 1023), Code::kTruncated, {"file has 1023"}},
      {"header only",
       kGood.substr(0, 1024),
       Code::kTruncated,
       {"offset 8", "9 tokens, 18 bytes, the file has 0"}},
      {"one byte of data", kGood.substr(0, 1025), Code::kTruncated, {"file has 1"}},
      {"a byte less", kGood.substr(0, kGood.size() - 1), Code::kTruncated, {"18 bytes, the file has 17"}},
      {"a token less", kGood.substr(0, kGood.size() - 2), Code::kTruncated, {"18 bytes, the file has 16"}},
      {"a byte more", kGood + "x", Code::kCorrupt, {"18 bytes, the file has 19"}},
      {"a token more", kGood + "xy", Code::kCorrupt, {"18 bytes, the file has 20"}},
      {"two files in one", kGood + kGood, Code::kCorrupt, {"18 bytes, the file has 1060"}},
      {"count 0 and data",
       header_and(kU16, 1, 0, 18),
       Code::kCorrupt,
       {"0 tokens, 0 bytes, the file has 18"}},
      {"count + 1", header_and(kU16, 1, 10, 18), Code::kTruncated, {"10 tokens, 20 bytes, the file has 18"}},
      {"count - 1", header_and(kU16, 1, 8, 18), Code::kCorrupt, {"8 tokens, 16 bytes, the file has 18"}},
      {"count -1", header_and(kU16, 1, -1, 18), Code::kCorrupt, {"offset 8: the header states -1 tokens"}},
      {"least count", header_and(kU16, 1, kLeast, 18), Code::kCorrupt, {"-2147483648 tokens"}},
      {"most count", header_and(kU16, 1, kMost, 18), Code::kTruncated, {"4294967294 bytes, the file has 18"}},
      {"count 2^16", header_and(kU16, 1, 65536, 18), Code::kTruncated, {"65536 tokens"}},
      {"count 2^30", header_and(kU16, 1, 1 << 30, 18), Code::kTruncated, {"2147483648 bytes"}},
      {"count wraps onto the size",
       header_and(kU16, 1, kLeast + 9, 18),
       Code::kCorrupt,
       {"-2147483639 tokens"}},
      {"wide, a byte less",
       kGoodWide.substr(0, kGoodWide.size() - 1),
       Code::kTruncated,
       {"36 bytes, the file has 35"}},
      {"wide, a byte more", kGoodWide + "x", Code::kCorrupt, {"36 bytes, the file has 37"}},
      {"wide, most count",
       header_and(kU32, 7, kMost, 36),
       Code::kTruncated,
       {"8589934588 bytes, the file has 36"}},
      {"wide, count -1", header_and(kU32, 7, -1, 36), Code::kCorrupt, {"-1 tokens"}},
      {"narrow data, wide header",
       header_and(kU32, 7, 9, 18),
       Code::kTruncated,
       {"36 bytes, the file has 18"}},
      {"wide data, narrow header", header_and(kU16, 1, 9, 36), Code::kCorrupt, {"18 bytes, the file has 36"}},
      {"version 0",
       header_and(kU16, 0, 9, 18),
       Code::kUnsupported,
       {"offset 4: llm.c version 0, expected 1"}},
      {"version 2", header_and(kU16, 2, 9, 18), Code::kUnsupported, {"version 2, expected 1"}},
      {"version 7", header_and(kU16, 7, 9, 18), Code::kUnsupported, {"version 7, expected 1"}},
      {"version -1", header_and(kU16, -1, 9, 18), Code::kUnsupported, {"version 4294967295"}},
      {"most version", header_and(kU16, kMost, 9, 18), Code::kUnsupported, {"version 2147483647"}},
      {"wide, version 1", header_and(kU32, 1, 9, 36), Code::kUnsupported, {"version 1, expected 7"}},
      {"wide, version 8", header_and(kU32, 8, 9, 36), Code::kUnsupported, {"version 8, expected 7"}},
      {"eval", header_and(kEval, 1, 9, 18), Code::kUnsupported, {"evaluation file (magic 20240522)"}},
      {"eval cut", header_and(kEval, 1, 9, 0).substr(0, 9), Code::kTruncated, {"needs 1024 bytes"}},
      {"big-endian", reversed_magic(kU16), Code::kUnsupported, {"big-endian"}},
      {"big-endian wide", reversed_magic(kU32), Code::kUnsupported, {"big-endian"}},
      {"big-endian eval", reversed_magic(kEval), Code::kUnsupported, {"big-endian"}},
  };
}

const std::string kFive = raw_bytes(std::vector<uint16_t>{1, 2, 3, 4, 5});
const std::string kGoodNpy = npy_file("<u2", "(5,)", kFive);

std::vector<BadFile> npy_and_what_is_no_data() {
  const std::string &five = kFive, &good = kGoodNpy;
  const std::string lfs = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
  const std::string page = "<!DOCTYPE html>\n<html><head><title>404 Not Found</title></head></html>\n";
  return {
      {"two dims",
       npy_file("<u2", "(5, 1)", five),
       Code::kUnsupported,
       {"one-dimensional", "got a 2-dimensional array"}},
      {"no dims", npy_file("<u2", "()", five), Code::kUnsupported, {"a 0-d npy array"}},
      {"f4", npy_file("<f4", "(5,)", five + five), Code::kUnsupported, {"array of integers", "'<f4'"}},
      {"f8", npy_file("<f8", "(1,)", five.substr(0, 8)), Code::kUnsupported, {"'<f8'"}},
      {"bool", npy_file("|b1", "(10,)", five), Code::kUnsupported, {"'|b1'"}},
      {"complex", npy_file("<c8", "(1,)", five.substr(0, 8)), Code::kUnsupported, {"'<c8'"}},
      {"objects", npy_file("|O", "(5,)", five), Code::kUnsafeType, {"offset 10", "'|O' holds pickled"}},
      {"text", npy_file("<U4", "(5,)", five), Code::kUnsupported, {"offset 10", "'<U4' is text"}},
      {"a byte less",
       good.substr(0, good.size() - 1),
       Code::kTruncated,
       {"npy array of 5 tokens needs 10 bytes, the file has 9"}},
      {"header only",
       good.substr(0, good.size() - 10),
       Code::kTruncated,
       {"npy array of 5 tokens needs 10 bytes, the file has 0"}},
      {"a byte more", good + "x", Code::kCorrupt, {"1 bytes after the npy array of 5 tokens of 10 bytes"}},
      {"twice", good + good, Code::kCorrupt, {"bytes after the npy array of 5 tokens"}},
      {"most dim",
       npy_file("<u2", "(9223372036854775807,)", five),
       Code::kTruncated,
       {"9223372036854775807 tokens"}},
      {"dim above 63 bits",
       npy_file("<u2", "(9223372036854775808,)", five),
       Code::kCorrupt,
       {"offset 61", "dim '9223372036854775808' is above 2^63 - 1"}},
      {"wraps onto the size",
       npy_file("<u8", "(2305843009213693953,)", five.substr(0, 8)),
       Code::kTruncated,
       {"offset 128: npy array of 2305843009213693953 tokens needs"}},
      {"negative dim",
       npy_file("<u2", "(-5,)", five),
       Code::kCorrupt,
       {"offset 61", "expected a dim, got '-'"}},
      {"broken text",
       npy_file("<u2", "5", five),
       Code::kCorrupt,
       {"offset 60", "expected a tuple of dims, got '5'"}},
      {"version 9",
       good.substr(0, 6) + '\x09' + good.substr(7),
       Code::kUnsupported,
       {"offset 6: npy version 9.0, expected 1.0"}},
      {"git-LFS pointer", lfs, Code::kCorrupt, {"offset 0", "git-LFS pointer"}},
      {"git-LFS pointer, odd", lfs + "x", Code::kCorrupt, {"git-LFS pointer"}},
      {"HTML page", page, Code::kCorrupt, {"HTML page"}},
      {"HTML page, odd", page + "x", Code::kCorrupt, {"HTML page"}},
      {"HTML page, other case", "<html>" + page, Code::kCorrupt, {"HTML page"}},
      {"XML document", "<?xml version=\"1.0\"?><Error/>", Code::kCorrupt, {"XML"}},
  };
}

TEST(TokensBadFiles, EachIsNamed) {
  std::vector<BadFile> table = cuts_and_counts();
  for (BadFile& bad : npy_and_what_is_no_data()) table.push_back(std::move(bad));
  check_bad_files(table, kGood, open);
}

TEST(TokensBadFiles, EveryCutOfAnNpyHeaderIsTruncated) {
  TempDir dir;
  for (size_t length = 6; length < kGoodNpy.size() - kFive.size(); ++length) {
    const std::string path = dir.write("cut.npy", kGoodNpy.substr(0, length));
    const bool in_text = length >= 10;
    expect_error(open(path, test_context()), Code::kTruncated,
                 {path + ": offset ",
                  in_text ? concat("header needs 118 bytes, the file has ", length - 10) : "needs"});
  }
}

TEST(TokensBadFiles, WhatTheUriSaysAgainstTheFile) {
  TempDir dir;
  OpenContext context = test_context();
  auto refused = [&](const std::string& name, const std::string& bytes, std::optional<DType> dtype, Code code,
                     const std::string& part) {
    SCOPED_TRACE(name);
    std::string path = dir.write(name, bytes);
    expect_error(open_with(path, dtype, context), code, {path, part});
  };
  refused("a.bin", kGood, DType::kU32, Code::kMismatch,
          "offset 0: the header states u16, the URI states dtype=u32");
  refused("b.bin", kGoodWide, DType::kU16, Code::kMismatch,
          "the header states u32, the URI states dtype=u16");
  refused("c.npy", npy_file("<u2", "(2,)", "abcd"), DType::kI32, Code::kMismatch, "the header states u16");
  refused("d.tok", "abcd", std::nullopt, Code::kBadUri, "dtype is needed");
  refused("e", "abcd", std::nullopt, Code::kBadUri, "dtype is needed");
  refused("f.tok", "abcde", DType::kU32, Code::kTruncated,
          "offset 4: the last token is truncated: 1 bytes of a u32");
  refused("g.tok", std::string(15, 'x'), DType::kI64, Code::kTruncated,
          "offset 8: the last token is truncated: 7 bytes");
  refused("h.bin.gz",
          "\x1f\x8b"
          "abcd",
          DType::kU16, Code::kUnsupported, "compressed token files");
  refused("i.npy", "no numpy here", std::nullopt, Code::kCorrupt, "offset 0");
  refused("j.npy", "", std::nullopt, Code::kTruncated, "");
  refused("k.html", "<html></html>xyz", DType::kU16, Code::kCorrupt, "HTML page");
  EXPECT_TRUE(open_with(dir.write("l.html", "<html></html>xyz"), DType::kU8, context).is_ok());
}

TEST(TokensBadFiles, NoFlippedBitReachesOutsideOfTheFile) {
  check_bit_flips(kGood, open);
  check_bit_flips(kGoodNpy, open);
}

}  // namespace
}  // namespace dataline::tokens_test
