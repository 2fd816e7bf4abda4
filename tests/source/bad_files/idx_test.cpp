// Damaged, hostile and foreign IDX files, plain and gzipped.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/idx/idx.h"

#include "tests/source/bad_files/bad_file_table.h"
#include "tests/source/gzip_files.h"

namespace dataline::idx_test {
namespace {

Result<SourceRef> open(const std::string& path, const OpenContext& context) {
  return open_idx(path, context);
}

std::string idx_file(uint8_t type, const std::vector<uint32_t>& dims, const std::string& data = "") {
  std::string out = {0, 0, static_cast<char>(type), static_cast<char>(dims.size())};
  for (uint32_t dim : dims) out += big_u32(dim);
  return out + data;
}

// A header whose count of dims is not that of the dims that follow.
std::string with_rank(uint8_t rank, const std::string& rest) {
  return std::string{0, 0, 8, static_cast<char>(rank)} + rest;
}

const std::string kGood = idx_file(8, {3, 2, 2}, "abcdefghijkl");

bool has_libdeflate() {
  TempDir dir;
  return open(dir.write("a", gzip_stored(kGood)), test_context()).is_ok();
}

TEST(IdxBadFiles, PlainFiles) {
  std::vector<uint32_t> rank33(33, 1), rank255(255, 1);
  std::string reversed_dims = std::string{0, 0, 8, 1, 3, 0, 0, 0} + "abc";
  std::string reversed_magic = std::string{1, 8, 0, 0, 0, 0, 0, 3} + "abc";
  check_bad_files(
      {{"empty", "", Code::kTruncated, {"offset 0: idx magic needs 4 bytes, the file has 0"}},
       {"one byte", kGood.substr(0, 1), Code::kTruncated, {"idx magic needs 4 bytes, the file has 1"}},
       {"two bytes", kGood.substr(0, 2), Code::kTruncated, {"idx magic needs 4 bytes, the file has 2"}},
       {"three bytes", kGood.substr(0, 3), Code::kTruncated, {"idx magic needs 4 bytes, the file has 3"}},
       {"magic only",
        kGood.substr(0, 4),
        Code::kTruncated,
        {"offset 4: 3 idx dims need 12 bytes, the file has 0"}},
       {"first dim cut", kGood.substr(0, 7), Code::kTruncated, {"need 12 bytes, the file has 3"}},
       {"one dim only", kGood.substr(0, 8), Code::kTruncated, {"need 12 bytes, the file has 4"}},
       {"last dim cut", kGood.substr(0, 15), Code::kTruncated, {"need 12 bytes, the file has 11"}},
       {"header only",
        kGood.substr(0, 16),
        Code::kTruncated,
        {"offset 16: idx array 3x2x2 u8 needs 12 bytes, the file has 0"}},
       {"data cut by one", kGood.substr(0, 27), Code::kTruncated, {"needs 12 bytes, the file has 11"}},
       {"data cut by one sample", kGood.substr(0, 24), Code::kTruncated, {"needs 12 bytes, the file has 8"}},
       {"one byte too many",
        kGood + "x",
        Code::kCorrupt,
        {"offset 28: 1 bytes after the idx array 3x2x2 u8 of 12 bytes"}},
       {"a sample too many", kGood + "mnop", Code::kCorrupt, {"offset 28: 4 bytes after"}},
       {"two files", kGood + kGood, Code::kCorrupt, {"offset 28: 28 bytes after"}},
       {"bytes after no samples",
        idx_file(8, {0, 2}, "ab"),
        Code::kCorrupt,
        {"offset 12: 2 bytes after the idx array 0x2 u8 of 0 bytes"}},
       {"type 0",
        idx_file(0, {1}, "a"),
        Code::kCorrupt,
        {"offset 2: idx type byte 0, expected 8, 9, 11, 12, 13 or 14"}},
       {"type 7", idx_file(7, {1}, "a"), Code::kCorrupt, {"idx type byte 7"}},
       {"type 10", idx_file(10, {1}, "a"), Code::kCorrupt, {"idx type byte 10"}},
       {"type 15", idx_file(15, {1}, "a"), Code::kCorrupt, {"idx type byte 15"}},
       {"type 255", idx_file(255, {1}, "a"), Code::kCorrupt, {"idx type byte 255"}},
       {"first byte",
        "\x01" + kGood.substr(1),
        Code::kCorrupt,
        {"offset 0: not an idx file: expected two zero bytes, got bytes 01 00 08 03"}},
       {"second byte", std::string("\0\x01", 2) + kGood.substr(2), Code::kCorrupt, {"bytes 00 01 08 03"}},
       {"magic in the other order", reversed_magic, Code::kCorrupt, {"not an idx file"}},
       {"dims in the other order",
        reversed_dims,
        Code::kTruncated,
        {"50331648 u8 needs 50331648 bytes, the file has 3"}},
       {"no dims",
        with_rank(0, "a"),
        Code::kUnsupported,
        {"offset 3: idx array of 0 dims, expected 1 to 32"}},
       {"33 dims", idx_file(8, rank33, "a"), Code::kUnsupported, {"idx array of 33 dims"}},
       {"255 dims", idx_file(8, rank255, "a"), Code::kUnsupported, {"idx array of 255 dims"}},
       {"more dims than there are",
        with_rank(5, kGood.substr(4, 12)),
        Code::kTruncated,
        {"5 idx dims need 20 bytes, the file has 12"}},
       {"fewer dims than there are",
        with_rank(2, kGood.substr(4)),
        Code::kCorrupt,
        {"bytes after the idx array 3x2 u8"}},
       {"samples of 0 bytes",
        idx_file(8, {3, 0}),
        Code::kUnsupported,
        {"offset 4: idx array 3x0 u8: its samples hold no bytes"}},
       {"2^32 - 1 samples of 0 bytes",
        idx_file(8, {0xffffffff, 5, 0}),
        Code::kUnsupported,
        {"4294967295x5x0"}},
       {"2^31 - 1 samples",
        idx_file(8, {0x7fffffff}),
        Code::kTruncated,
        {"needs 2147483647 bytes, the file has 0"}},
       {"2^31 samples", idx_file(8, {0x80000000}), Code::kTruncated, {"needs 2147483648 bytes"}},
       {"2^32 - 1 samples", idx_file(8, {0xffffffff}), Code::kTruncated, {"needs 4294967295 bytes"}},
       {"a dim of 2^32 - 1", idx_file(14, {1, 0xffffffff}), Code::kTruncated, {"needs 34359738360 bytes"}},
       {"just below 2^63",
        idx_file(8, {0x7fffffff, 0x80000000, 2}),
        Code::kTruncated,
        {"needs 9223372032559808512 bytes"}},
       {"just 2^63",
        idx_file(8, {0x80000000, 0x80000000, 2}),
        Code::kCorrupt,
        {"offset 4", "has more than 2^63 bytes"}},
       {"a product of 2^64 wraps to 0",
        idx_file(8, {0x80000000, 0x80000000, 4}),
        Code::kCorrupt,
        {"more than 2^63"}},
       {"a product wraps to the true size",
        idx_file(13, {3, 0x80000000, 0x80000000}, "abcdefghijkl"),
        Code::kCorrupt,
        {"more than 2^63"}},
       {"31 dims of 2^32 - 1",
        idx_file(8, std::vector<uint32_t>(31, 0xffffffff)),
        Code::kCorrupt,
        {"more than 2^63"}},
       {"f64 data of f32 size",
        idx_file(14, {3}, "abcdefghijkl"),
        Code::kTruncated,
        {"3 f64 needs 24 bytes, the file has 12"}},
       {"git-LFS pointer",
        "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n",
        Code::kCorrupt,
        {"git-LFS pointer"}},
       {"HTML", "<html><body>403 Forbidden</body></html>", Code::kCorrupt, {"an HTML page"}},
       {"npy", npy_file("|u1", "(1,)", "a"), Code::kCorrupt, {"an npy file"}},
       {"zip", "PK\x03\x04 and more", Code::kCorrupt, {"a zip archive"}},
       {"half of a gzip magic", "\x1f", Code::kCorrupt, {"bytes 1f"}},
       {"text", "0 0 8 3", Code::kCorrupt, {"bytes 30 20 30 20"}},
       {"zeros", std::string(4096, '\0'), Code::kCorrupt, {"idx type byte 0"}}},
      kGood, open);
}

TEST(IdxBadFiles, GzippedFiles) {
  if (!has_libdeflate()) GTEST_SKIP() << "this build has no libdeflate";
  std::string gz = gzip_stored(kGood), large = idx_file(8, {100000}, std::string(100000, 'x'));
  auto with_byte = [&](size_t at, char value) {
    std::string out = gz;
    out[at] = value;
    return out;
  };
  // Deflates to almost nothing: 10,000 runs of 258 zeros in 16 KB.
  std::string bomb = zeros_deflate(idx_file(8, {100}), 10000);
  check_bad_files(
      {{"magic only",
        gz.substr(0, 2),
        Code::kTruncated,
        {"offset 0: gzip member needs at least 18 bytes, the file has 2"}},
       {"half of the header", gz.substr(0, 9), Code::kTruncated, {"needs at least 18 bytes, the file has 9"}},
       {"header only", gz.substr(0, 10), Code::kTruncated, {"file has 10"}},
       {"17 bytes", gz.substr(0, 17), Code::kTruncated, {"file has 17"}},
       {"18 bytes of more",
        gz.substr(0, 18),
        Code::kCorrupt,
        {"offset 10: gzip data is damaged or truncated"}},
       {"half of the data", gz.substr(0, gz.size() / 2), Code::kCorrupt, {"damaged or truncated"}},
       {"no trailer",
        gz.substr(0, gz.size() - 8),
        Code::kTruncated,
        {concat("offset ", gz.size() - 8, ": gzip trailer needs 8 bytes, the file has 0")}},
       {"half of the trailer",
        gz.substr(0, gz.size() - 4),
        Code::kTruncated,
        {"gzip trailer needs 8 bytes, the file has 4"}},
       {"one byte cut",
        gz.substr(0, gz.size() - 1),
        Code::kTruncated,
        {"gzip trailer needs 8 bytes, the file has 7"}},
       {"method 7", with_byte(2, 7), Code::kCorrupt, {"offset 0: gzip member with an unknown method"}},
       {"reserved flags", with_byte(3, '\xe0'), Code::kCorrupt, {"unknown flags"}},
       {"a name that does not end",
        with_byte(3, 8).substr(0, 10) + std::string(40, 'n'),
        Code::kTruncated,
        {"gzip header is truncated"}},
       {"extra fields beyond the end",
        with_byte(3, 4).substr(0, 10) + "\xff\xff" + std::string(40, 'n'),
        Code::kTruncated,
        {"gzip header is truncated"}},
       {"block of unknown type", with_byte(10, 7), Code::kCorrupt, {"offset 10: gzip data is damaged"}},
       {"stored length that does not check",
        with_byte(11, 27),
        Code::kCorrupt,
        {"offset 10: gzip data is damaged"}},
       {"checksum",
        with_byte(gz.size() - 8, 0),
        Code::kCorrupt,
        {concat("gzip CRC-32: expected "), concat(", got ", crc32_of(kGood))}},
       {"length", with_byte(gz.size() - 4, 29), Code::kCorrupt, {"gzip length: expected 29, got 28"}},
       {"length of 4 GiB",
        gz.substr(0, gz.size() - 4) + "\xff\xff\xff\xff",
        Code::kCorrupt,
        {"gzip length: expected 4294967295, got 28"}},
       {"data byte", with_byte(gz.size() - 9, 'x'), Code::kCorrupt, {"CRC-32"}},
       {"right checksum over too few samples",
        gzip_stored(kGood.substr(0, 24)),
        Code::kTruncated,
        {"decompresses to 24 bytes, expected 28", "idx array 3x2x2 u8"}},
       {"right checksum over too many",
        gzip_stored(kGood + "x"),
        Code::kCorrupt,
        {"decompresses to more than 28 bytes", "idx array 3x2x2 u8"}},
       {"a second member too many",
        gz + gzip_stored("mnop"),
        Code::kCorrupt,
        {"decompresses to more than 28 bytes"}},
       {"a second member that is cut",
        gz + gz.substr(0, 12),
        Code::kTruncated,
        {concat("offset ", gz.size(), ": gzip member needs at least 18")}},
       {"garbage after the member",
        gz + "garbage",
        Code::kCorrupt,
        {concat("offset ", gz.size(), ": expected a gzip member, got 7 other bytes")}},
       {"one byte after the member", gz + "g", Code::kCorrupt, {"expected a gzip member, got 1 other bytes"}},
       {"garbage after zeros",
        gz + std::string(100, '\0') + "garbage",
        Code::kCorrupt,
        {concat("offset ", gz.size() + 100, ": expected a gzip member, got 7 other bytes")}},
       {"nothing", gzip_stored(""), Code::kEmpty, {"decompresses to no bytes, expected an idx array"}},
       {"many empty members",
        [] {
          std::string out;
          for (int i = 0; i < 5000; ++i) out += gzip_stored("");
          return out;
        }(),
        Code::kEmpty,
        {"decompresses to no bytes, expected an idx array"}},
       {"three bytes",
        gzip_stored(kGood.substr(0, 3)),
        Code::kTruncated,
        {"idx magic needs 4 bytes, the file has 3"}},
       {"dims cut",
        gzip_stored(kGood.substr(0, 9)),
        Code::kTruncated,
        {"3 idx dims need 12 bytes, the file has 5"}},
       {"not idx",
        gzip_stored("some text, and enough of it"),
        Code::kCorrupt,
        {"not an idx file", "bytes 73 6f 6d 65"}},
       {"npy", gzip_stored(npy_file("|u1", "(1,)", "a")), Code::kCorrupt, {"an npy file"}},
       {"gzip in gzip", gzip_stored(gz), Code::kCorrupt, {"not an idx file", "gzip data"}},
       {"unknown type", gzip_stored(idx_file(7, {1}, "a")), Code::kCorrupt, {"idx type byte 7"}},
       {"no dims", gzip_stored(with_rank(0, "a")), Code::kUnsupported, {"idx array of 0 dims"}},
       {"33 dims",
        gzip_stored(idx_file(8, std::vector<uint32_t>(33, 1), "a")),
        Code::kUnsupported,
        {"idx array of 33 dims"}},
       {"samples of 0 bytes", gzip_stored(idx_file(8, {7, 0})), Code::kUnsupported, {"hold no bytes"}},
       {"claims 2^32 - 1 samples",
        gzip_stored(idx_file(8, {0xffffffff}, "abc")),
        Code::kTruncated,
        {"4294967295 u8 needs 4294967303 bytes, 34 compressed bytes hold at most 35088"}},
       {"claims just below 2^63",
        gzip_stored(idx_file(8, {0x7fffffff, 0x80000000, 2})),
        Code::kTruncated,
        {"hold at most"}},
       {"claims more than 2^63",
        gzip_stored(idx_file(8, {0x80000000, 0x80000000, 4})),
        Code::kCorrupt,
        {"more than 2^63"}},
       {"claims all that its bytes could hold",
        gzip_stored(idx_file(8, {30000}, "abc")),
        Code::kTruncated,
        {"decompresses to 11 bytes, expected 30008"}},
       {"bomb above its claim",
        gzip_member(bomb, ""),
        Code::kCorrupt,
        {"decompresses to more than 108 bytes"}},
       {"bomb behind a good file",
        gz + gzip_member(zeros_deflate("", 10000), ""),
        Code::kCorrupt,
        {"decompresses to more than 28 bytes"}},
       {"bomb that is no idx",
        gzip_member(zeros_deflate("x", 10000), ""),
        Code::kCorrupt,
        {"not an idx file"}},
       {"large and damaged far behind",
        [&] {
          std::string out = gzip_stored(large);
          out[90000] = 'y';
          return out;
        }(),
        Code::kCorrupt,
        {"gzip CRC-32", "idx array 100000 u8"}},
       {"large and cut far behind",
        gzip_stored(large).substr(0, 90000),
        Code::kCorrupt,
        {"damaged or truncated", "idx array 100000 u8"}}},
      gzip_stored(kGood), open);
}

TEST(IdxBadFiles, EveryPrefixOfAGoodFileIsTruncated) { check_prefixes(kGood, open); }

TEST(IdxBadFiles, NoFlippedBitReachesOutsideOfTheFile) { check_bit_flips(kGood, open); }

TEST(IdxBadFiles, NoFlippedBitOfAGzippedFileReachesOutsideOfIt) {
  check_bit_flips(
      gzip_stored(kGood.substr(0, 9)) + gzip_member(zeros_deflate(kGood.substr(9), 0), kGood.substr(9)),
      open);
}

}  // namespace
}  // namespace dataline::idx_test
