// Damaged, hostile and foreign .npz archives: their records. What the members hold: npz_members_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/open.h"
#include "tests/source/bad_files/bad_file_table.h"
#include "tests/source/npz/zip_files.h"

namespace dataline::npz_test {
namespace {

Result<SourceRef> open(const std::string& path, const OpenContext& context) {
  return open_source("npz:" + path, context);
}

const std::string kX = npy_file("<i2", "(3, 2)", "abcdefghijkl"), kY = npy_file("|u1", "(3,)", "mno");
const std::vector<ZipInput> kMembers = {{"x.npy", kX}, {"y.npy", kY}};
const std::string kGood = make_zip(kMembers).bytes;

// The archive with one number of it changed; `at` finds its place.
template <typename T>
std::string with(ZipKind kind, size_t (*at)(const MadeZip&), T value) {
  MadeZip zip = make_zip(kMembers, kind);
  return zip.put(at(zip), value).bytes;
}
// The same number of the first member in its entry and in its local header.
template <typename T>
std::string in_both(size_t at_local, size_t at_entry, T value) {
  MadeZip zip = make_zip(kMembers);
  return zip.put(zip.locals[0] + at_local, value).put(zip.entries[0] + at_entry, value).bytes;
}

constexpr uint16_t k16 = 0xffff;
constexpr uint32_t k32 = ~0u;
constexpr uint64_t k64 = ~uint64_t{0};
constexpr ZipKind kPlain = ZipKind::kPlain, kNumPy = ZipKind::kNumPy, kZip64 = ZipKind::kZip64;

TEST(NpzBadFiles, EndRecordsAndForeignFiles) {
  check_bad_files(
      {{"empty", "", Code::kTruncated, {"offset 0: no zip end record"}},
       {"one byte",
        "P",
        Code::kTruncated,
        {"no zip end record in the last 1 bytes: the archive is truncated"}},
       {"magic only", "PK\x03\x04", Code::kTruncated, {"offset 4: no zip end record"}},
       {"no directory",
        kGood.substr(0, make_zip(kMembers).directory),
        Code::kTruncated,
        {"no zip end record"}},
       {"no end record", kGood.substr(0, make_zip(kMembers).end), Code::kTruncated, {"no zip end record"}},
       {"end record less a byte", kGood.substr(0, kGood.size() - 1), Code::kTruncated, {"no zip end record"}},
       {"a byte more", kGood + "x", Code::kTruncated, {"no zip end record"}},
       {"a comment that is cut",
        make_zip(kMembers, kPlain, "comment").bytes.substr(0, kGood.size() + 6),
        Code::kTruncated,
        {"no zip end record"}},
       {"bytes before it", "x" + kGood, Code::kCorrupt, {"does not end here"}},
       {"twice", kGood + kGood, Code::kCorrupt, {"does not end here"}},
       {"end record only", make_zip({}).bytes, Code::kEmpty, {"no arrays in this file"}},
       {"npy", kX, Code::kCorrupt, {"offset 0: not a zip archive: expected PK\\x03\\x04, got an npy file"}},
       {"gzip", gzip_stored(kGood), Code::kCorrupt, {"gzip data"}},
       {"git-LFS pointer", "version https://git-lfs.github.com/spec/v1\n", Code::kCorrupt, {"git lfs pull"}},
       {"HTML", "<!DOCTYPE html><title>404</title>", Code::kCorrupt, {"HTML page"}},
       {"zeros", std::string(4096, '\0'), Code::kCorrupt, {"bytes 00 00 00 00"}},
       {"a second volume",
        with(
            kPlain, [](const MadeZip& z) { return z.end + 4; }, uint16_t{1}),
        Code::kUnsupported,
        {"several volumes"}},
       {"a directory in another volume",
        with(
            kPlain, [](const MadeZip& z) { return z.end + 6; }, uint16_t{1}),
        Code::kUnsupported,
        {"several volumes"}},
       {"members elsewhere",
        with(
            kPlain, [](const MadeZip& z) { return z.end + 8; }, uint16_t{1}),
        Code::kUnsupported,
        {"several volumes"}},
       {"one member less",
        with(
            kPlain, [](const MadeZip& z) { return z.end + 8; }, 0x00010001u),
        Code::kCorrupt,
        {"bytes after the 1 entries of the zip directory"}},
       {"one member more",
        with(
            kPlain, [](const MadeZip& z) { return z.end + 8; }, 0x00030003u),
        Code::kCorrupt,
        {"expected a zip directory entry of 46 bytes, got 0 bytes"}},
       {"65535 members",
        with(
            kPlain, [](const MadeZip& z) { return z.end + 8; }, k32),
        Code::kTooLarge,
        {"65535 zip members, at most 32768"}},
       {"a directory of no bytes",
        with(
            kPlain, [](const MadeZip& z) { return z.end + 12; }, uint32_t{0}),
        Code::kCorrupt,
        {"a directory of 0 bytes", "does not end here"}},
       {"a directory that reaches too far",
        with(
            kPlain, [](const MadeZip& z) { return z.end + 12; }, uint32_t{1000}),
        Code::kCorrupt,
        {"a directory of 1000 bytes"}},
       {"a directory of 2^32 - 1 bytes",
        with(
            kPlain, [](const MadeZip& z) { return z.end + 12; }, k32),
        Code::kCorrupt,
        {"a directory of 4294967295 bytes"}},
       {"a directory elsewhere",
        with(
            kPlain, [](const MadeZip& z) { return z.end + 16; }, uint32_t{1}),
        Code::kCorrupt,
        {"at offset 1 does not end here"}},
       {"a directory at 2^32 - 1",
        with(
            kPlain, [](const MadeZip& z) { return z.end + 16; }, k32),
        Code::kCorrupt,
        {"at offset 4294967295"}},
       {"a locator beyond the file",
        with(
            kZip64, [](const MadeZip& z) { return z.locator64 + 8; }, uint64_t{1} << 40),
        Code::kCorrupt,
        {"zip64 locator: expected an end record before it, got offset 1099511627776"}},
       {"a locator of 2^64 - 1",
        with(
            kZip64, [](const MadeZip& z) { return z.locator64 + 8; }, k64),
        Code::kCorrupt,
        {"got offset 18446744073709551615"}},
       {"a locator to itself",
        with(
            kZip64, [](const MadeZip& z) { return z.locator64 + 8; },
            uint64_t{make_zip(kMembers, kZip64).locator64}),
        Code::kCorrupt,
        {"zip64 locator"}},
       {"a locator to something else",
        with(
            kZip64, [](const MadeZip& z) { return z.locator64 + 8; }, uint64_t{0}),
        Code::kCorrupt,
        {"offset 0: expected a zip64 end record, got a zip archive"}},
       {"no locator",
        with(
            kZip64, [](const MadeZip& z) { return z.locator64; }, uint32_t{0}),
        Code::kCorrupt,
        {"a directory of 4294967295 bytes at offset 4294967295"}},
       {"no zip64 record",
        with(
            kZip64, [](const MadeZip& z) { return z.end64; }, uint32_t{0}),
        Code::kCorrupt,
        {"expected a zip64 end record"}},
       {"a zip64 record too long",
        with(
            kZip64, [](const MadeZip& z) { return z.end64 + 4; }, uint64_t{45}),
        Code::kCorrupt,
        {"zip64 end record of 45 bytes, expected 44"}},
       {"a zip64 record of 2^64 - 1",
        with(
            kZip64, [](const MadeZip& z) { return z.end64 + 4; }, k64),
        Code::kCorrupt,
        {"zip64 end record of 18446744073709551615"}},
       {"a zip64 record of another volume",
        with(
            kZip64, [](const MadeZip& z) { return z.end64 + 16; }, uint32_t{7}),
        Code::kUnsupported,
        {"several volumes"}},
       {"zip64 members elsewhere",
        with(
            kZip64, [](const MadeZip& z) { return z.end64 + 24; }, uint64_t{1}),
        Code::kUnsupported,
        {"several volumes"}},
       {"a zip64 directory beyond the file",
        with(
            kZip64, [](const MadeZip& z) { return z.end64 + 48; }, uint64_t{1} << 62),
        Code::kCorrupt,
        {"does not end here"}},
       {"a zip64 directory of 2^64 - 1 bytes",
        with(
            kZip64, [](const MadeZip& z) { return z.end64 + 40; }, k64),
        Code::kCorrupt,
        {"a directory of 18446744073709551615 bytes"}},
       {"two records that contradict each other",
        with(
            kZip64, [](const MadeZip& z) { return z.end + 12; }, uint32_t{5}),
        Code::kCorrupt,
        {"contradict each other"}},
       {"two counts that contradict each other",
        with(
            kZip64, [](const MadeZip& z) { return z.end + 10; }, uint16_t{5}),
        Code::kCorrupt,
        {"contradict each other"}}},
      kGood, open, ".npz");
}

TEST(NpzBadFiles, EntriesAndLocalHeaders) {
  const MadeZip good = make_zip(kMembers);
  const auto crossed = [&](uint32_t offset) { return MadeZip(good).put(good.entries[1] + 42, offset).bytes; };
  std::string same_room = crossed(0);
  check_bad_files(
      {{"no entry",
        with(
            kPlain, [](const MadeZip& z) { return z.entries[0]; }, uint32_t{0}),
        Code::kCorrupt,
        {"expected a zip directory entry of 46 bytes", "bytes 00 00"}},
       {"a name that reaches too far",
        with(
            kPlain, [](const MadeZip& z) { return z.entries[1] + 28; }, k16),
        Code::kCorrupt,
        {"zip directory entry of 65581 bytes, the directory has 51"}},
       {"a name into the next entry",
        with(
            kPlain, [](const MadeZip& z) { return z.entries[0] + 28; }, uint16_t{6}),
        Code::kCorrupt,
        {"expected a zip directory entry"}},
       {"an extra field that reaches too far",
        with(
            kPlain, [](const MadeZip& z) { return z.entries[1] + 30; }, k16),
        Code::kCorrupt,
        {"the directory has 51"}},
       {"a comment that reaches too far",
        with(
            kPlain, [](const MadeZip& z) { return z.entries[1] + 32; }, uint16_t{1}),
        Code::kCorrupt,
        {"entry of 52 bytes"}},
       {"a part of an extra field too long",
        with(
            kZip64, [](const MadeZip& z) { return z.entries[0] + 53; }, k16),
        Code::kCorrupt,
        {"an extra field reaches beyond the others"}},
       {"a zip64 field too short",
        with(
            kZip64, [](const MadeZip& z) { return z.entries[0] + 58; }, uint16_t{20}),
        Code::kCorrupt,
        {"zip member 'x.npy': a size or offset is missing in its zip64 field"}},
       {"no zip64 field",
        with(
            kZip64, [](const MadeZip& z) { return z.entries[0] + 56; }, uint16_t{9}),
        Code::kCorrupt,
        {"missing in its zip64 field"}},
       {"a zip64 size of 2^64 - 1",
        with(
            kZip64, [](const MadeZip& z) { return z.entries[0] + 60; }, k64),
        Code::kCorrupt,
        {"or above 2^63"}},
       {"a zip64 size of 2^63 - 1",
        with(
            kZip64, [](const MadeZip& z) { return z.entries[0] + 68; }, k64 >> 1),
        Code::kCorrupt,
        {"its 9223372036854775807 bytes reach into the next member"}},
       {"a zip64 offset of 2^62",
        with(
            kZip64, [](const MadeZip& z) { return z.entries[1] + 76; }, uint64_t{1} << 62),
        Code::kCorrupt,
        {"reach into the directory"}},
       {"a size without its zip64 field",
        with(
            kPlain, [](const MadeZip& z) { return z.entries[0] + 20; }, k32),
        Code::kCorrupt,
        {"missing in its zip64 field"}},
       {"another volume",
        with(
            kPlain, [](const MadeZip& z) { return z.entries[0] + 34; }, uint16_t{2}),
        Code::kUnsupported,
        {"is in volume 2"}},
       {"an offset beyond the file",
        crossed(0x7fffffff),
        Code::kCorrupt,
        {"offset 2147483647: zip member 'y.npy': its 131 bytes reach into the directory"}},
       {"an offset in the directory",
        crossed(static_cast<uint32_t>(good.directory)),
        Code::kCorrupt,
        {"reach into the directory"}},
       {"two members in one place", same_room, Code::kCorrupt, {"reach into the next member at offset 0"}},
       {"a member within another",
        crossed(40),
        Code::kCorrupt,
        {"'x.npy': its 140 bytes reach into the next member at offset 40"}},
       {"a size into the next member",
        with(
            kPlain, [](const MadeZip& z) { return z.entries[0] + 20; }, uint32_t{141}),
        Code::kCorrupt,
        {"its 141 bytes reach into the next member"}},
       {"a size into the directory",
        with(
            kPlain, [](const MadeZip& z) { return z.entries[1] + 20; }, uint32_t{132}),
        Code::kCorrupt,
        {"its 132 bytes reach into the directory"}},
       {"no local header",
        with(
            kPlain, [](const MadeZip& z) { return z.locals[0]; }, uint32_t{0}),
        Code::kCorrupt,
        {"zip member 'x.npy': expected a local header, PK\\x03\\x04, got bytes 00 00"}},
       {"another local method",
        with(
            kPlain, [](const MadeZip& z) { return z.locals[0] + 8; }, uint16_t{8}),
        Code::kCorrupt,
        {"its local header has another method"}},
       {"another local name",
        with(
            kPlain, [](const MadeZip& z) { return z.locals[0] + 30; }, uint8_t{'z'}),
        Code::kCorrupt,
        {"its local header has another name"}},
       {"a shorter local name",
        with(
            kPlain, [](const MadeZip& z) { return z.locals[0] + 26; }, uint16_t{4}),
        Code::kCorrupt,
        {"another name"}},
       {"a longer local name",
        with(
            kPlain, [](const MadeZip& z) { return z.locals[0] + 26; }, uint16_t{6}),
        Code::kCorrupt,
        {"reach beyond offset"}},
       {"a local name beyond the file",
        with(
            kPlain, [](const MadeZip& z) { return z.locals[1] + 26; }, k16),
        Code::kCorrupt,
        {"with a local header of 65565 bytes its 131 bytes reach beyond"}},
       {"a local extra field into the data",
        with(
            kPlain, [](const MadeZip& z) { return z.locals[0] + 28; }, uint16_t{1}),
        Code::kCorrupt,
        {"with a local header of 36 bytes its 140 bytes reach beyond"}},
       {"another local size",
        with(
            kPlain, [](const MadeZip& z) { return z.locals[0] + 22; }, uint32_t{7}),
        Code::kCorrupt,
        {"another size or CRC-32"}},
       {"another local stored size",
        with(
            kPlain, [](const MadeZip& z) { return z.locals[0] + 18; }, uint32_t{7}),
        Code::kCorrupt,
        {"another size or CRC-32"}},
       {"another local CRC-32",
        with(
            kPlain, [](const MadeZip& z) { return z.locals[0] + 14; }, uint32_t{7}),
        Code::kCorrupt,
        {"another size or CRC-32"}},
       {"another local zip64 size",
        with(
            kNumPy, [](const MadeZip& z) { return z.locals[0] + 39; }, uint64_t{7}),
        Code::kCorrupt,
        {"another size or CRC-32"}},
       {"no local zip64 field",
        with(
            kNumPy, [](const MadeZip& z) { return z.locals[0] + 35; }, uint16_t{9}),
        Code::kCorrupt,
        {"another size or CRC-32"}},
       {"a local zip64 field too long",
        with(
            kNumPy, [](const MadeZip& z) { return z.locals[0] + 37; }, uint16_t{17}),
        Code::kCorrupt,
        {"another size or CRC-32"}},
       {"encrypted",
        in_both(6, 8, uint16_t{1}),
        Code::kUnsupported,
        {"zip member 'x.npy': is encrypted", "(fields=y leaves it out)"}},
       {"strongly encrypted", in_both(6, 8, uint16_t{0x41}), Code::kUnsupported, {"is encrypted"}},
       {"a masked header", in_both(6, 8, uint16_t{1 << 13}), Code::kUnsupported, {"is encrypted"}},
       {"bzip2",
        in_both(8, 10, uint16_t{12}),
        Code::kUnsupported,
        {"is compressed by method 12; stored (0) and deflated (8)"}},
       {"deflate64", in_both(8, 10, uint16_t{9}), Code::kUnsupported, {"method 9"}},
       {"zstd", in_both(8, 10, uint16_t{93}), Code::kUnsupported, {"method 93"}},
       {"stored in fewer bytes",
        in_both(22, 24, uint32_t{150}),
        Code::kCorrupt,
        {"is stored in 140 bytes, but its size is stated as 150"}},
       {"two of one name",
        make_zip({{"x.npy", kX}, {"x.npy", kX}}).bytes,
        Code::kCorrupt,
        {"two members of the archive are called 'x.npy'"}},
       {"a name of no letters",
        make_zip({{".npy", kX}}).bytes,
        Code::kUnsupported,
        {"zip member '.npy': the name is empty"}},
       {"a name that is no UTF-8",
        make_zip({{"\xff.npy", kX}}).bytes,
        Code::kUnsupported,
        {"not plain UTF-8"}},
       {"a name with a line break",
        make_zip({{"a\nb.npy", kX}}).bytes,
        Code::kUnsupported,
        {"'a\\nb.npy'", "not plain UTF-8"}},
       {"no arrays", make_zip({{"a.txt", "text"}}).bytes, Code::kEmpty, {"no arrays in this file"}}},
      kGood, open, ".npz");
}

TEST(NpzBadFiles, EveryPrefixOfAGoodFileIsTruncated) { check_prefixes(kGood, open, ".npz"); }

TEST(NpzBadFiles, NoFlippedBitReachesOutsideOfTheFile) {
  check_bit_flips(kGood, open, ".npz");
  check_bit_flips(make_zip({{"x.npy", kX}}, kZip64).bytes, open, ".npz");
}

}  // namespace
}  // namespace dataline::npz_test
