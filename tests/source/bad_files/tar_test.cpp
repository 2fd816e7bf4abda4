// Damaged, hostile and foreign tar archives.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/tar/tar.h"

#include "tests/source/bad_files/bad_file_table.h"
#include "tests/source/gzip_files.h"
#include "tests/source/tar/tar_files.h"

namespace dataline::tar_test {
namespace {

Result<SourceRef> open(const std::string& path, const OpenContext& context) {
  return open_tar(path, {}, context);
}

const std::string kGood = tar_member("a.jpg", "JPEG") + tar_member("a.cls", "1") + tar_end();

std::string alone(const std::string& header) { return header + tar_end(); }
std::string with(size_t offset, std::string_view bytes) {
  return alone(tar_header_with(tar_header("a.jpg", 0), offset, bytes));
}
// base-256 with these last eight bytes.
std::string base_256(uint64_t value, char first = '\x80') {
  std::string out(12, first == '\xff' ? '\xff' : '\0');
  out[0] = first;
  for (size_t i = 0; i < 8; ++i) out[4 + i] = static_cast<char>(value >> (56 - 8 * i));
  return out;
}
std::string pax(const std::string& records, char type = 'x') {
  return pax_header(records, type) + tar_member("a.jpg", "JPEG") + tar_end();
}

TEST(TarBadFiles, HeadersAndEnds) {
  const std::string nul(512, '\0');
  std::string unsummed = kGood, unsummed_later = kGood;
  unsummed[0] = 'b';
  unsummed_later[1024] = 'b';
  const std::string gnu = tar_header_with(tar_header("a.jpg", 0), 257, std::string("ustar  \0", 8));
  check_bad_files(
      {
          {"empty",
           "",
           Code::kTruncated,
           {"offset 0: a tar archive needs at least 512 bytes, the file has 0"}},
          {"one byte", kGood.substr(0, 1), Code::kTruncated, {"file has 1"}},
          {"a byte short of a header", kGood.substr(0, 511), Code::kTruncated, {"file has 511"}},
          {"header only",
           kGood.substr(0, 512),
           Code::kTruncated,
           {"offset 0: member 'a.jpg' of 4 bytes", "file has 0"}},
          {"data cut", kGood.substr(0, 514), Code::kTruncated, {"member 'a.jpg' of 4 bytes", "file has 2"}},
          {"padding cut",
           kGood.substr(0, 1023),
           Code::kTruncated,
           {"in whole blocks of 512", "file has 511"}},
          {"second header cut",
           kGood.substr(0, 1100),
           Code::kTruncated,
           {"offset 1024: a tar header needs 512 bytes, the file has 76"}},
          {"no end mark", kGood.substr(0, 2048), Code::kTruncated, {"offset 2048", "it is truncated"}},
          {"end mark cut",
           kGood.substr(0, 2500),
           Code::kTruncated,
           {"offset 2048: a tar header needs 512 bytes, the file has 452"}},
          {"a byte after the end",
           kGood + "x",
           Code::kCorrupt,
           {"offset 3072: bytes after the end mark of the archive at offset 2048"}},
          {"two archives in one file",
           kGood + kGood,
           Code::kCorrupt,
           {"offset 3072", "several archives in one file"}},
          {"a member after a lone block of zeros",
           kGood.substr(0, 2560) + tar_member("b.jpg", "x") + tar_end(),
           Code::kCorrupt,
           {"offset 2560"}},
          {"nothing but the end", tar_end(), Code::kEmpty, {"no samples"}},
          {"nothing but directories", tar_member("d/", "", '5') + tar_end(), Code::kEmpty, {"no samples"}},
          {"nothing with an extension",
           tar_member("README", "x") + tar_end(),
           Code::kUnsupported,
           {"KEY.EXTENSION"}},
          {"checksum of another name",
           unsummed,
           Code::kCorrupt,
           {"offset 148: tar checksum", "not a tar archive?"}},
          {"checksum wrong later", unsummed_later, Code::kCorrupt, {"offset 1172: tar checksum"}},
          {"no checksum",
           alone(tar_header("a.jpg", 0).replace(148, 8, std::string(8, '\0'))),
           Code::kCorrupt,
           {"tar checksum 0"}},
          {"checksum in letters",
           alone(tar_header("a.jpg", 0).replace(148, 8, "checksum")),
           Code::kCorrupt,
           {"tar checksum 'checksum' is not an octal"}},
          {"magic of nobody",
           with(257, "USTAR"),
           Code::kCorrupt,
           {"offset 257: tar magic 'USTAR\\x0000', expected 'ustar'"}},
          {"magic cut short", with(257, std::string("usta\0\0\0\0", 8)), Code::kCorrupt, {"tar magic"}},
          {"size in letters",
           with(124, "12345678abc"),
           Code::kCorrupt,
           {"offset 124: tar size '12345678abc\\x00' is not an octal"}},
          {"size with an 8", with(124, "00000000008"), Code::kCorrupt, {"tar size"}},
          {"size negative in octal", with(124, "-0000000001"), Code::kCorrupt, {"tar size"}},
          {"size with a number after it",
           with(124, std::string("0000004\0004\0\0\0", 12)),
           Code::kCorrupt,
           {"tar size"}},
          {"size of all octal digits",
           with(124, "777777777777"),
           Code::kTruncated,
           {"member 'a.jpg' of 68719476735 bytes"}},
          {"size one too many",
           alone(tar_header("a.jpg", 1025)),
           Code::kTruncated,
           {"of 1025 bytes", "file has 1024"}},
          {"size 2^31", with(124, base_256(uint64_t{1} << 31)), Code::kTruncated, {"of 2147483648 bytes"}},
          {"size 2^32", with(124, base_256(uint64_t{1} << 32)), Code::kTruncated, {"of 4294967296 bytes"}},
          {"size 2^63 - 1",
           with(124, base_256((uint64_t{1} << 63) - 1)),
           Code::kTruncated,
           {"of 9223372036854775807 bytes"}},
          {"size 2^63",
           with(124, base_256(uint64_t{1} << 63)),
           Code::kCorrupt,
           {"tar size", "is not an octal or base-256 number"}},
          {"size 2^64 - 1", with(124, base_256(~uint64_t{0})), Code::kCorrupt, {"tar size"}},
          {"size -1", with(124, base_256(~uint64_t{0}, '\xff')), Code::kCorrupt, {"tar size -1 is negative"}},
          {"size above 2^64",
           with(124, std::string("\x80\1\0\0\0\0\0\0\0\0\0\0", 12)),
           Code::kCorrupt,
           {"tar size"}},
          {"mode in letters", with(100, "rw-r--r-"), Code::kCorrupt, {"offset 100: tar mode"}},
          {"time in letters", with(136, "yesterday   "), Code::kCorrupt, {"offset 136: tar mtime"}},
          {"device in letters", with(329, "sda"), Code::kCorrupt, {"offset 329: tar devmajor"}},
          {"bytes where GNU keeps times",
           alone(tar_header_with(gnu, 345, "14000000000")),
           Code::kUnsupported,
           {"offset 345", "programs read them differently"}},
          {"no name", alone(tar_header("", 0)), Code::kCorrupt, {"offset 0: a member without a name"}},
          {"a file that is called a directory",
           alone(tar_header("d/", 0)),
           Code::kCorrupt,
           {"member 'd/' is a directory by its name and a file by its type"}},
          {"a directory with data",
           tar_member("d/", "x", '5') + tar_end(),
           Code::kCorrupt,
           {"directory 'd/' of 1 bytes, expected 0"}},
          {"an old directory with data",
           tar_member("d/", "x", '\0') + tar_end(),
           Code::kCorrupt,
           {"of 1 bytes"}},
      },
      kGood, open);
}

TEST(TarBadFiles, TypesExtensionsAndStrangers) {
  const std::string member = tar_member("a.jpg", "JPEG") + tar_end();
  const std::string sized = pax_record("size", "4"), named = pax_record("path", "b.jpg");
  std::string many_fields;
  for (int i = 0; i < 65; ++i) many_fields += tar_member("a." + std::to_string(i), "");
  std::string dangling = pax_header(sized);
  std::string cut = pax(sized);
  cut.replace(512, 4, "99 s");
  check_bad_files(
      {
          {"hard link",
           alone(tar_header("a.jpg", 0, '1')),
           Code::kUnsafeType,
           {"offset 0: member 'a.jpg' is a hard link", "--hard-dereference"}},
          {"symbolic link",
           alone(tar_header("a.jpg", 0, '2')),
           Code::kUnsafeType,
           {"is a symbolic link", "--dereference"}},
          {"link after a member",
           tar_member("b.jpg", "") + alone(tar_header("a.jpg", 0, '2')),
           Code::kUnsafeType,
           {"offset 512: member 'a.jpg'"}},
          {"character device",
           alone(tar_header("a.jpg", 0, '3')),
           Code::kUnsafeType,
           {"is a character device"}},
          {"block device", alone(tar_header("a.jpg", 0, '4')), Code::kUnsafeType, {"is a block device"}},
          {"FIFO", alone(tar_header("a.jpg", 0, '6')), Code::kUnsafeType, {"is a FIFO"}},
          {"sparse file of old GNU",
           alone(tar_header("a.jpg", 0, 'S')),
           Code::kUnsupported,
           {"is a sparse file"}},
          {"incremental directory", alone(tar_header("d", 0, 'D')), Code::kUnsupported, {"incremental"}},
          {"volume label", alone(tar_header("v", 0, 'V')), Code::kUnsupported, {"volume label"}},
          {"rest of another volume", alone(tar_header("a", 0, 'M')), Code::kUnsupported, {"another volume"}},
          {"Solaris header", alone(tar_header("a", 0, 'X')), Code::kUnsupported, {"Solaris"}},
          {"unknown type",
           alone(tar_header("a.jpg", 0, 'Q')),
           Code::kUnsupported,
           {"is of the unknown type 'Q'"}},
          {"long link name, then a link",
           gnu_long("target", 'K') + alone(tar_header("a.jpg", 0, '2')),
           Code::kUnsafeType,
           {"offset 1024: member 'a.jpg' is a symbolic link"}},
          {"sparse map in pax",
           pax(pax_record("GNU.sparse.map", "0,4")),
           Code::kUnsupported,
           {"offset 512: pax record 'GNU.sparse.map'"}},
          {"sparse version in pax", pax(pax_record("GNU.sparse.major", "1")), Code::kUnsupported, {"sparse"}},
          {"real size in pax",
           pax(pax_record("SCHILY.realsize", "9")),
           Code::kUnsupported,
           {"'SCHILY.realsize'"}},
          {"unknown key of POSIX",
           pax(pax_record("encryption", "1")),
           Code::kUnsupported,
           {"pax record 'encryption' is not known"}},
          {"unknown charset",
           pax(pax_record("hdrcharset", "EBCDIC")),
           Code::kUnsupported,
           {"'hdrcharset' is 'EBCDIC'"}},
          {"size in a global header", pax(sized, 'g'), Code::kUnsupported, {"'size' in a global header"}},
          {"path in a global header", pax(named, 'g'), Code::kUnsupported, {"'path' in a global header"}},
          {"size twice", pax(sized + sized), Code::kCorrupt, {"offset 521: pax record 'size' appears twice"}},
          {"path twice", pax(named + named), Code::kCorrupt, {"'path' appears twice"}},
          {"size empty", pax(pax_record("size", "")), Code::kCorrupt, {"'size' is ''"}},
          {"size negative", pax(pax_record("size", "-4")), Code::kCorrupt, {"'size' is '-4'"}},
          {"size with a sign", pax(pax_record("size", "+4")), Code::kCorrupt, {"'size' is '+4'"}},
          {"size above 2^63",
           pax(pax_record("size", "9223372036854775808")),
           Code::kCorrupt,
           {"expected a number"}},
          {"size beyond the file",
           pax(pax_record("size", "2000")),
           Code::kTruncated,
           {"member 'a.jpg' of 2000 bytes"}},
          {"size that swallows the end", pax(pax_record("size", "1536")), Code::kTruncated, {"end mark"}},
          {"size 0 before data", pax(pax_record("size", "0")), Code::kCorrupt, {"tar checksum"}},
          {"path empty", pax(pax_record("path", "")), Code::kCorrupt, {"'path' is empty"}},
          {"path with a NUL",
           pax(pax_record("path", std::string_view("a\0b.jpg", 7))),
           Code::kCorrupt,
           {"NUL"}},
          {"path of a directory",
           pax(pax_record("path", "d/")),
           Code::kCorrupt,
           {"'d/' is a directory by its name"}},
          {"record without a length",
           pax("size=4\n"),
           Code::kCorrupt,
           {"offset 512: pax record 'size=4\\n' is not of the form"}},
          {"record longer than the list", cut, Code::kCorrupt, {"not of the form '<length> <key>=<value>'"}},
          {"record without its newline", pax("8 size=4"), Code::kCorrupt, {"not of the form"}},
          {"record without a key", pax("5 =4\n"), Code::kCorrupt, {"not of the form"}},
          {"record without '='", pax("7 size\n"), Code::kCorrupt, {"not of the form"}},
          {"record of length 0", pax("0 size=4\n"), Code::kCorrupt, {"not of the form"}},
          {"record of a length beyond 2^64",
           pax("99999999999999999999 a=b\n"),
           Code::kCorrupt,
           {"not of the form"}},
          {"zeros after the records", pax(sized + std::string(3, '\0')), Code::kCorrupt, {"not of the form"}},
          {"records beyond the list",
           tar_header("x", 9, 'x') + tar_padded(sized + sized) + member,
           Code::kCorrupt,
           {"a pax header of 9 bytes that continues after them"}},
          {"pax header cut",
           pax(sized).substr(0, 600),
           Code::kTruncated,
           {"a pax header of 9 bytes needs 512, the file has 88"}},
          {"pax header of 2 MiB",
           alone(tar_header("x", 2 << 20, 'x')),
           Code::kTooLarge,
           {"a pax header of 2097152 bytes, at most 1048576"}},
          {"long name of 2^40 bytes",
           alone(tar_header_with(tar_header("L", 0, 'L'), 124, base_256(uint64_t{1} << 40))),
           Code::kTooLarge,
           {"a long name of 1099511627776 bytes"}},
          {"long name empty",
           gnu_long("") + member,
           Code::kCorrupt,
           {"a long name that is empty or contains a NUL byte"}},
          {"long name with a NUL", gnu_long(std::string_view("a\0b", 3)) + member, Code::kCorrupt, {"NUL"}},
          {"two long names",
           gnu_long("b.jpg") + gnu_long("c.jpg") + member,
           Code::kUnsupported,
           {"after another header"}},
          {"two pax headers",
           pax_header(sized) + pax(sized),
           Code::kUnsupported,
           {"offset 1024: a pax header after another"}},
          {"long name and pax header",
           gnu_long("b.jpg") + pax(sized),
           Code::kUnsupported,
           {"after another header"}},
          {"pax header and long name",
           pax_header(named) + gnu_long("c.jpg") + member,
           Code::kUnsupported,
           {"after another header"}},
          {"pax header, then the end",
           dangling + tar_end(),
           Code::kCorrupt,
           {"expected a member after the header that extends it"}},
          {"pax header, then nothing", dangling, Code::kTruncated, {"offset 1024"}},
          {"an old directory renamed",
           gnu_long("b.jpg") + tar_header("d/", 0, '\0') + tar_end(),
           Code::kCorrupt,
           {"is a directory by one of its names"}},
          {"the same member twice",
           tar_member("a.jpg", "") + tar_member("a.jpg", "") + tar_end(),
           Code::kCorrupt,
           {"offset 512: member 'a.jpg' is a second member for the field 'image'"}},
          {"two images",
           tar_member("a.jpg", "") + tar_member("a.PNG", "") + tar_end(),
           Code::kCorrupt,
           {"second member for the field 'image' of the sample 'a'"}},
          {"extension of a made field",
           tar_member("a.key", "") + tar_end(),
           Code::kUnsupported,
           {"member 'a.key' has the extension 'key'"}},
          {"extension that is no text",
           tar_member("a.\x01", "") + tar_end(),
           Code::kUnsupported,
           {"cannot name a field"}},
          {"extension that is not ASCII",
           tar_member("a.\xc3\xa9", "") + tar_end(),
           Code::kUnsupported,
           {"cannot name a field"}},
          {"65 extensions",
           many_fields + tar_end(),
           Code::kTooLarge,
           {"more than 64 different ones", "first dot"}},
          {"no field common",
           tar_member("a.x", "") + tar_member("b.y", "") + tar_end(),
           Code::kMismatch,
           {"more than half", "fields=x reads one of them", "bad samples"}},
          {"gzip",
           gzip_stored(kGood),
           Code::kUnsupported,
           {"gzip data: a compressed archive has no random access; decompress it first"}},
          {"zstd", "\x28\xb5\x2f\xfd" + kGood, Code::kUnsupported, {"zstd data", "decompress"}},
          {"git-LFS pointer",
           "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
           Code::kCorrupt,
           {"a git-LFS pointer"}},
          {"error page",
           "<!DOCTYPE html>" + kGood,
           Code::kCorrupt,
           {"expected a tar archive, got an HTML page"}},
          {"zip archive", "PK\x03\x04" + kGood, Code::kCorrupt, {"a zip archive"}},
          {"an image", "\xff\xd8\xff\xe0" + std::string(600, 'x'), Code::kCorrupt, {"a JPEG image"}},
          {"noise",
           std::string(2000, 'n'),
           Code::kCorrupt,
           {"offset 148: tar checksum 'nnnnnnnn' is not an octal"}},
      },
      kGood, open);
}

// But for what stands after the first block of zeros: there nothing can have been cut away.
TEST(TarBadFiles, EveryPrefixIsTruncated) {
  TempDir dir;
  for (size_t length = 0; length < 2560; ++length) {
    Result<SourceRef> source = open(dir.write("cut.tar", kGood.substr(0, length)), test_context());
    ASSERT_FALSE(source.is_ok()) << length << " bytes";
    EXPECT_EQ(source.status().code(), Code::kTruncated) << length << ": " << source.status().message();
  }
}

TEST(TarBadFiles, EveryFlippedBitIsRefusedOrOutsideTheHeaders) {
  TempDir dir;
  const std::string good = pax_header(pax_record("path", "b.txt")) + tar_member("a.txt", "text") + tar_end();
  for (size_t bit = 0; bit < 2048 * 8; bit += static_cast<size_t>(sweep_stride())) {
    std::string flipped = good;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    OpenContext context = test_context();
    Result<SourceRef> source = open(dir.write("flipped.tar", flipped), context);
    EXPECT_LT(context.memory->peak_bytes(), kMostGrowthBytes);
    // The checksum's own digits may become the spaces that mean the same.
    const size_t byte = bit / 8, in_block = byte % 512;
    const bool summed = byte / 512 % 2 == 0 && (in_block < 148 || in_block >= 156);
    EXPECT_FALSE(source.is_ok() && summed) << "bit " << bit << " is under a checksum";
    if (!source.is_ok()) continue;
    EXPECT_TRUE(fetch_all(*source.value()).errors.empty()) << "bit " << bit;
  }
}

// 10,000 members of no bytes and names of 1 MiB cost what they hold, not more; a claim of terabytes costs nothing.
TEST(TarBadFiles, BombsCostNoMemory) {
  TempDir dir;
  std::string archive;
  for (int i = 0; i < 10000; ++i) archive += tar_header(std::to_string(i) + ".txt", 0);
  OpenContext context = test_context();
  ASSERT_TRUE(open(dir.write("many.tar", archive + tar_end()), context).is_ok());
  EXPECT_LT(context.memory->peak_bytes(), 2 << 20);
  const std::string path = dir.write("tail.tar", kGood);
  std::filesystem::resize_file(path, int64_t{1} << 40);
  expect_error(open(path, test_context()), Code::kCorrupt,
               {"1099511625728 bytes; at most 16777216 are searched"});
}

}  // namespace
}  // namespace dataline::tar_test
