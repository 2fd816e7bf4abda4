// Inflating: members, checksums, bounds, and every way in which compressed data can break off.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/gzip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "tests/source/gzip_files.h"
#include "tests/source/source_support.h"

namespace dataline::gzip_test {
namespace {

using testing::HasSubstr;

Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

Status inflate(std::string_view compressed, std::string& out, const CancelTokenRef& cancel = nullptr) {
  OpenContext context;
  context.cancel = cancel;
  return inflate_exactly("/x.gz", bytes_of(compressed), std::as_writable_bytes(std::span(out)), context);
}

// Skips where the build has no libdeflate; GzipWithout says what happens then.
class Gzip : public testing::Test {
 protected:
  void SetUp() override {
    if (inflate_start("/x.gz", bytes_of(gzip_stored(""))).is_ok()) return;
    GTEST_SKIP() << "this build has no libdeflate";
  }
  static std::string sample() {
    std::string out;
    for (int i = 0; i < 5000; ++i) out += std::to_string(i * i) + " ";
    return out;
  }
};

void expect_failure(std::string_view compressed, size_t out_bytes, Code code, const std::string& words) {
  std::string out(out_bytes, '\0');
  Status status = inflate(compressed, out);
  EXPECT_EQ(status.code(), code) << status.message();
  EXPECT_THAT(status.message(), HasSubstr("/x.gz: offset "));
  EXPECT_THAT(status.message(), HasSubstr(words));
}

TEST(GzipMagic, IsTwoBytes) {
  EXPECT_TRUE(is_gzip(bytes_of("\x1f\x8b")));
  EXPECT_FALSE(is_gzip(bytes_of("\x1f")));
  EXPECT_FALSE(is_gzip(bytes_of("")));
  EXPECT_FALSE(is_gzip(bytes_of("\x1f\x8a...")));
}

TEST(GzipBound, IsWhatDeflateCanDo) {
  EXPECT_EQ(max_inflated_bytes(0), 0);
  EXPECT_EQ(max_inflated_bytes(1000), 1032000);
  EXPECT_EQ(max_inflated_bytes(std::numeric_limits<int64_t>::max()), std::numeric_limits<int64_t>::max());
}

TEST_F(Gzip, OneMember) {
  std::string data = sample(), out(data.size(), '\0');
  EXPECT_TRUE(inflate(gzip_stored(data), out).is_ok());
  EXPECT_EQ(out, data);
}

TEST_F(Gzip, SeveralMembersEmptyOnesAndZerosAtTheEnd) {
  std::string data = sample(), out(data.size(), '\0');
  std::string file = gzip_stored("") + gzip_stored(data.substr(0, 1)) + gzip_stored(data.substr(1, 7000)) +
                     gzip_stored("") + gzip_stored(data.substr(7001)) + std::string(512, '\0');
  EXPECT_TRUE(inflate(file, out).is_ok());
  EXPECT_EQ(out, data);
}

TEST_F(Gzip, NothingInflatesToNothing) {
  std::string out;
  EXPECT_TRUE(inflate(gzip_stored(""), out).is_ok());
}

TEST_F(Gzip, OptionalHeaderFieldsAreSkipped) {
  std::string data = "some data";
  std::string extra(
      "\x05\x00"
      "abc\0d",
      7),
      name("na\xffme\0", 6), comment("co\0", 3), checksum("zz", 2);
  for (int flags = 0; flags < 32; ++flags) {
    std::string file = gzip_header(static_cast<uint8_t>(flags));
    if ((flags & 4) != 0) file += extra;
    if ((flags & 8) != 0) file += name;
    if ((flags & 16) != 0) file += comment;
    if ((flags & 2) != 0) file += checksum;
    file += stored_deflate(data);
    size_t trailer = file.size();
    file += little_u32(crc32_of(data)) + little_u32(9);
    std::string out(data.size(), '\0');
    EXPECT_TRUE(inflate(file, out).is_ok()) << flags;
    EXPECT_EQ(out, data);
    ++file[trailer];
    expect_failure(file, 9, Code::kCorrupt, concat("offset ", trailer, ": gzip CRC-32: expected "));
  }
}

TEST_F(Gzip, WrongChecksumAndWrongLengthNameBothValues) {
  std::string file = gzip_member(stored_deflate("some data"), "some dada");
  expect_failure(file, 9, Code::kCorrupt,
                 concat("CRC-32: expected ", crc32_of("some dada"), ", got ", crc32_of("some data")));
  file = gzip_header() + stored_deflate("some data") + little_u32(crc32_of("some data")) + little_u32(10);
  expect_failure(file, 9, Code::kCorrupt, "gzip length: expected 10, got 9");
}

TEST_F(Gzip, MoreOrLessThanExpectedIsAnError) {
  std::string file = gzip_stored("some data");
  expect_failure(file, 8, Code::kCorrupt, "decompresses to more than 8 bytes");
  expect_failure(file, 10, Code::kTruncated, "decompresses to 9 bytes, expected 10");
  expect_failure(file + gzip_stored("x"), 9, Code::kCorrupt, "decompresses to more than 9 bytes");
  expect_failure(gzip_member(zeros_deflate("", 1000), ""), 100, Code::kCorrupt,
                 "decompresses to more than 100 bytes");
}

TEST_F(Gzip, AFileCutAnywhereIsAnErrorNeverLess) {
  std::string data = sample().substr(0, 300);
  std::string file =
      gzip_stored(data.substr(0, 100)) + gzip_member(zeros_deflate(data.substr(100), 0), data.substr(100));
  std::string out(300, '\0');
  ASSERT_TRUE(inflate(file, out).is_ok());
  EXPECT_EQ(out, data);
  size_t member = gzip_stored(data.substr(0, 100)).size();
  for (size_t length = 0; length < file.size(); ++length) {
    Status status = inflate(file.substr(0, length), out);
    EXPECT_TRUE(status.code() == Code::kTruncated || status.code() == Code::kCorrupt) << length;
    // What is structurally visible is named so; inside of deflate data only "damaged or truncated" can be
    // said.
    if (length <= 1 || length == member || length > file.size() - 8) {
      EXPECT_EQ(status.code(), Code::kTruncated) << length << " " << status.message();
    }
  }
}

TEST_F(Gzip, WhatFollowsTheMembersMustBeZeros) {
  std::string file = gzip_stored("some data");
  expect_failure(file + "garbage", 9, Code::kCorrupt,
                 concat("offset ", file.size(), ": expected a gzip member"));
  expect_failure(file + std::string(8, '\0') + "x", 9, Code::kCorrupt, "expected a gzip member");
  expect_failure(file + "\x1f", 9, Code::kTruncated, concat("offset ", file.size()));
  expect_failure(file + "\x1f\x8b", 9, Code::kTruncated, "needs at least 18 bytes, the file has 2");
}

TEST_F(Gzip, UnknownMethodsAndFlagsAreRefused) {
  std::string file = gzip_stored("some data");
  file[2] = 7;
  expect_failure(file, 9, Code::kCorrupt, "unknown method");
  file = gzip_stored("some data");
  file[3] = '\x80';
  expect_failure(file, 9, Code::kCorrupt, "unknown flags");
  for (const char* header : {"\x04\xff\xff", "\x08 name", "\x10 comment"}) {
    file = gzip_header();
    file.replace(3, 1, header, 1);
    file += std::string(header).substr(1) + std::string(20, 'x');
    expect_failure(file, 9, Code::kTruncated, "gzip header is truncated");
  }
}

// Headers of 18 bytes, which is all that the file has, and the same fields with a byte too few of them.
TEST_F(Gzip, AHeaderThatEndsWithTheFileHasNoDataAndALongerOneIsCut) {
  auto extra = [](char length) { return std::string{length, '\0'}; };
  const std::string end(1, '\0');
  const std::tuple<uint8_t, std::string, std::string> table[] = {
      {4, extra(6) + "extras", extra(7) + "extras"},                // extra fields
      {8, "thename" + end, "thename!"},                             // a name
      {16, "comment" + end, "comment!"},                            // a comment
      {2 | 4, extra(4) + "extr" + "zz", extra(5) + "extra" + "z"},  // ... and the header's checksum
      {2 | 8, "aname" + end + "zz", "a name" + end + "z"}};
  for (const auto& [flags, whole, cut] : table) {
    SCOPED_TRACE(int{flags});
    ASSERT_EQ(whole.size(), 8u);
    ASSERT_EQ(cut.size(), 8u);
    expect_failure(gzip_header(flags) + whole, 9, Code::kCorrupt,
                   "offset 18: gzip data is damaged or truncated");
    expect_failure(gzip_header(flags) + cut, 9, Code::kTruncated, "offset 0: gzip header is truncated");
  }
}

// Each bit of a small file: an error, or the same data (names, times and the like lie outside of it).
TEST_F(Gzip, NoFlippedBitChangesTheData) {
  std::string data = "some data that is checked";
  std::string file =
      gzip_stored(data.substr(0, 10)) + gzip_member(zeros_deflate(data.substr(10), 0), data.substr(10));
  std::set<size_t> harmless;
  for (size_t bit = 0; bit < file.size() * 8; ++bit) {
    std::string flipped = file, out(data.size(), '\0');
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    if (!inflate(flipped, out).is_ok()) continue;
    EXPECT_EQ(out, data) << "bit " << bit;
    harmless.insert(bit / 8);
  }
  size_t second = gzip_stored(data.substr(0, 10)).size();
  for (size_t at : harmless) {
    size_t in_member = at < second ? at : at - second;
    bool header = in_member >= 3 && in_member <= 9;
    bool padding = at == second - 9 - 14 || at == file.size() - 9;  // the unused bits after a block's last
    EXPECT_TRUE(header || padding || at == 10) << "byte " << at;
  }
}

TEST_F(Gzip, TheStartIsSeenWithoutInflatingTheRest) {
  std::string data;
  while (data.size() < 400000) data += sample();
  EXPECT_EQ(inflate_start("/x.gz", bytes_of(gzip_stored("short"))).value(), "short");
  EXPECT_EQ(inflate_start("/x.gz", bytes_of(gzip_stored(data.substr(0, 5000)))).value(),
            data.substr(0, 5000));
  // Larger files, in one member and in several, stored and coded: what is told is the data's own beginning.
  for (const std::string& file :
       {gzip_stored(data),
        gzip_stored("") + gzip_stored(data.substr(0, 1023)) + gzip_stored(data.substr(1023)),
        gzip_member(zeros_deflate(data.substr(0, 2000), 5000), ""),
        gzip_stored(data.substr(0, 1)) + gzip_member(zeros_deflate(data.substr(1, 2000), 5000), "")}) {
    std::string start = inflate_start("/x.gz", bytes_of(file)).take();
    EXPECT_GE(start.size(), kInflateStartBytes);
    EXPECT_LT(start.size(), kInflateStartBytes + 65536);
    EXPECT_EQ(start.substr(0, kInflateStartBytes), data.substr(0, kInflateStartBytes));
  }
  EXPECT_EQ(inflate_start("/x.gz", bytes_of("not gzip")).status().code(), Code::kCorrupt);
}

TEST_F(Gzip, CancelIsSeenBetweenMembers) {
  auto cancel = std::make_shared<CancelToken>();
  cancel->cancel();
  std::string out(4, '\0');
  EXPECT_EQ(inflate(gzip_stored("some"), out, cancel).code(), Code::kCancelled);
}

TEST(GzipWithout, LibdeflateTheBuildOptionIsNamed) {
  Result<std::string> start = inflate_start("/x.gz", bytes_of(gzip_stored("")));
  if (start.is_ok()) GTEST_SKIP() << "this build has libdeflate";
  EXPECT_EQ(start.status().code(), Code::kUnsupported);
  EXPECT_THAT(start.status().message(), HasSubstr("DATALINE_WITH_LIBDEFLATE"));
  std::string out;
  EXPECT_EQ(inflate(gzip_stored(""), out).code(), Code::kUnsupported);
}

}  // namespace
}  // namespace dataline::gzip_test
