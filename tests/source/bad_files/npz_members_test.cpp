// .npz archives that are sound, with members that hold no array, or another one than they say.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/gzip.h"
#include "core/source/open.h"
#include "tests/source/bad_files/bad_file_table.h"
#include "tests/source/npz/zip_files.h"

namespace dataline::npz_members_test {
namespace {

Result<SourceRef> open(const std::string& path, const OpenContext& context) {
  return open_source("npz:" + path, context);
}

const std::string kX = npy_file("<i2", "(3, 2)", "abcdefghijkl"), kY = npy_file("|u1", "(3,)", "mno");
const std::string kGood = make_zip({{"x.npy", kX}, {"y.npy", kY}}).bytes;

std::string one(const std::string& npy) { return make_zip({{"x.npy", npy}}).bytes; }

// The same number of the first member, which is deflated, in its entry and in its local header.
std::string in_both(size_t at_local, size_t at_entry, uint32_t value) {
  MadeZip zip = make_zip({{"x.npy", kX, 8}, {"y.npy", kY}});
  return zip.put(zip.locals[0] + at_local, value).put(zip.entries[0] + at_entry, value).bytes;
}

TEST(NpzBadMembers, ArraysThatDoNotFitTheirMembers) {
  check_bad_files(
      {{"an empty member",
        one(""),
        Code::kTruncated,
        {"array 'x': offset 35: npy magic and version needs 8 bytes, the member has 0"}},
       {"text", one("text and more"), Code::kCorrupt, {"not an npy file"}},
       {"a header that reaches into the directory",
        one(kX.substr(0, 100)),
        Code::kTruncated,
        {"offset 45: header needs 118 bytes, the member has 90"}},
       {"data less a byte",
        one(kX.substr(0, kX.size() - 1)),
        Code::kTruncated,
        {"array 'x': offset 163: npy array 3x2 i16 needs 12 bytes, the member has 11"}},
       {"a byte more", one(kX + "z"), Code::kCorrupt, {"needs 12 bytes, the member has 13"}},
       {"no data", one(kX.substr(0, 128)), Code::kTruncated, {"needs 12 bytes, the member has 0"}},
       {"2^40 samples",
        one(npy_file("|u1", "(1099511627776,)", "a")),
        Code::kTruncated,
        {"needs 1099511627776 bytes, the member has 1"}},
       {"a product that wraps",
        one(npy_file("<i8", "(2305843009213693953,)", "abcdefgh")),
        Code::kCorrupt,
        {"more than 2^63 bytes"}},
       {"objects",
        one(npy_file("|O", "(1,)", "a")),
        Code::kUnsafeType,
        {"array 'x': offset", "pickled Python objects"}},
       {"text of letters", one(npy_file("<U3", "(1,)", "abcdefghijkl")), Code::kUnsupported, {"is text"}},
       {"dates", one(npy_file("<M8[ns]", "(1,)", "abcdefgh")), Code::kUnsupported, {"is a date"}},
       {"void", one(npy_file("|V3", "(1,)", "abc")), Code::kUnsupported, {"is void"}},
       {"version 4",
        one(std::string("\x93NUMPY\x04\x00", 8) + kX.substr(8)),
        Code::kUnsupported,
        {"npy version 4.0"}},
       {"a dict that is none",
        one(std::string("\x93NUMPY\x01\x00\x02\x00()", 12)),
        Code::kCorrupt,
        {"npy header: expected '{'"}},
       {"no first axis",
        one(npy_file("|u1", "()", "a")),
        Code::kUnsupported,
        {"array 'x' without dims u8: has no first axis", "rows=false"}},
       {"samples of no bytes",
        one(npy_file("|u1", "(3, 0)", "")),
        Code::kUnsupported,
        {"its samples hold no bytes"}},
       {"other lengths",
        make_zip({{"x.npy", kX}, {"y.npy", npy_file("|u1", "(2,)", "ab")}}).bytes,
        Code::kMismatch,
        {"array 'y' 2 u8 and array 'x' 3x2 i16 differ in their first dim"}},
       {"an npz in an npz", one(kGood), Code::kCorrupt, {"not an npy file", "a zip archive"}}},
      kGood, open, ".npz", 0);
}

// Skipped where the build has no libdeflate.
TEST(NpzBadMembers, DeflatedMembers) {
  if (!inflate_start("/x.gz", std::as_bytes(std::span(std::string_view(gzip_stored(""))))).is_ok())
    GTEST_SKIP() << "built without libdeflate";
  const auto packed = [](const std::string& deflate, const std::string& data = kX) {
    return make_zip({{"x.npy", data, 8, deflate}}).bytes;
  };
  const std::string good = stored_deflate(kX);
  std::string flipped = good;
  flipped[40] = static_cast<char>(flipped[40] ^ 1);
  const std::string huge = zeros_deflate(npy_file("|u1", "(1073741824,)", ""), 4000);
  check_bad_files(
      {{"one byte of data", packed(std::string(1, '\3')), Code::kCorrupt, {"damaged or truncated"}},
       {"a bomb that says so",
        MadeZip(make_zip({{"x.npy", kX, 8}}))
            .put(make_zip({{"x.npy", kX, 8}}).entries[0] + 24, 0x7fffffffu)
            .bytes,
        Code::kCorrupt,
        {"states 2147483647 bytes, 145 deflated bytes can hold at most 149640"}},
       {"another size", in_both(22, 24, 139), Code::kCorrupt, {"decompresses to more than 139 bytes"}},
       {"a larger size", in_both(22, 24, 141), Code::kCorrupt, {"decompresses to 140 bytes, expected 141"}},
       {"another CRC-32",
        in_both(14, 16, 7),
        Code::kCorrupt,
        {"zip member 'x.npy': CRC-32: expected 7, got"}},
       {"a bit of the data", packed(flipped), Code::kCorrupt, {"CRC-32"}},
       {"cut by one",
        packed(good.substr(0, good.size() - 1)),
        Code::kCorrupt,
        {"its deflate data is damaged or truncated"}},
       {"cut in the middle", packed(good.substr(0, 70)), Code::kCorrupt, {"damaged or truncated"}},
       {"a byte more", packed(good + "x"), Code::kCorrupt, {"ends after 145 bytes, expected 146"}},
       {"a block of no kind", packed(std::string(20, '\x07')), Code::kCorrupt, {"damaged or truncated"}},
       {"inflates beyond", packed(huge), Code::kCorrupt, {"decompresses to more than 140 bytes"}},
       {"an array that says more",
        packed("", kX.substr(0, 128)),
        Code::kTruncated,
        {"array 'x', inflated: offset 128: npy array 3x2 i16 needs 12 bytes, the member has 0"}},
       {"text", packed("", "text"), Code::kCorrupt, {"array 'x', inflated: offset 0: not an npy file"}},
       {"nothing",
        packed("", ""),
        Code::kTruncated,
        {"inflated: offset 0: npy magic and version needs 8 bytes, the member has 0"}},
       {"objects",
        packed("", npy_file("|O", "(1,)", "a")),
        Code::kUnsafeType,
        {"array 'x', inflated: offset 10"}}},
      kGood, open, ".npz", 0);
}

}  // namespace
}  // namespace dataline::npz_members_test
