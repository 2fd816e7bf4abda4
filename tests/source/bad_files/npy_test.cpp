// Damaged, hostile and foreign .npy files.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/open.h"
#include "tests/source/bad_files/bad_file_table.h"
#include "tests/source/gzip_files.h"

namespace dataline::npy_test {
namespace {

Result<SourceRef> open(const std::string& path, const OpenContext& context) {
  return open_source("npy:" + path, context);
}

// A version 1.0 file around a header text as it stands; the text begins at offset 10.
std::string with_text(const std::string& text, const std::string& data = "") {
  return std::string("\x93NUMPY\x01\x00", 8) + raw_bytes(static_cast<uint16_t>(text.size())) + text + data;
}

std::string with_keys(const std::string& descr, const std::string& order, const std::string& shape,
                      const std::string& data = "") {
  return with_text("{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + "}", data);
}

std::string with_descr(const std::string& descr) { return with_keys(descr, "False", "(1,)", "abcdefgh"); }
std::string with_shape(const std::string& shape, const std::string& data = "") {
  return with_keys("'|u1'", "False", shape, data);
}

// Version and length as they stand.
std::string with_length(char major, char minor, const std::string& length, const std::string& rest) {
  return std::string("\x93NUMPY") + major + minor + length + rest;
}

const std::string kGood = npy_file("<i2", "(3, 2)", "abcdefghijkl");

TEST(NpyBadFiles, CutAndOverlong) {
  std::string data_short = kGood.substr(0, kGood.size() - 1);
  std::string cut_text = kGood.substr(0, 127);
  check_bad_files(
      {{"empty", "", Code::kTruncated, {"offset 0", "needs 8 bytes, the file has 0"}},
       {"one byte", "\x93", Code::kTruncated, {"offset 0", "needs 8 bytes, the file has 1"}},
       {"half of the magic", "\x93NUM", Code::kTruncated, {"needs 8 bytes, the file has 4"}},
       {"magic only", "\x93NUMPY", Code::kTruncated, {"needs 8 bytes, the file has 6"}},
       {"no minor version", "\x93NUMPY\x01", Code::kTruncated, {"needs 8 bytes, the file has 7"}},
       {"no length",
        kGood.substr(0, 8),
        Code::kTruncated,
        {"offset 8", "header length needs 2 bytes, the file has 0"}},
       {"half of the length",
        kGood.substr(0, 9),
        Code::kTruncated,
        {"header length needs 2 bytes, the file has 1"}},
       {"half of a long length",
        with_length(2, 0, std::string("\x10\0\0", 3), ""),
        Code::kTruncated,
        {"needs 4 bytes, the file has 3"}},
       {"no text",
        kGood.substr(0, 10),
        Code::kTruncated,
        {"offset 10: header needs 118 bytes, the file has 0"}},
       {"text cut by one",
        cut_text,
        Code::kTruncated,
        {"offset 10: header needs 118 bytes, the file has 117"}},
       {"header only",
        kGood.substr(0, 128),
        Code::kTruncated,
        {"offset 128", "3x2 i16 needs 12 bytes, the file has 0"}},
       {"data cut by one", data_short, Code::kTruncated, {"offset 128", "needs 12 bytes, the file has 11"}},
       {"one byte too many", kGood + "x", Code::kCorrupt, {"offset 140: 1 bytes after", "trailing=ignore"}},
       {"two arrays", kGood + kGood, Code::kCorrupt, {"offset 140: 140 bytes after"}},
       {"text length 0",
        with_length(1, 0, std::string(2, '\0'), "{}"),
        Code::kCorrupt,
        {"offset 10", "expected '{', got its end"}},
       {"text length 1",
        with_length(1, 0, std::string("\x01\x00", 2), "{}"),
        Code::kCorrupt,
        {"offset 11", "got its end"}},
       {"length of 65535",
        with_length(1, 0, "\xff\xff", kGood),
        Code::kTruncated,
        {"header needs 65535 bytes, the file has 140"}},
       {"length of 2^32 - 1",
        with_length(2, 0, "\xff\xff\xff\xff", kGood),
        Code::kTruncated,
        {"offset 12: header needs 4294967295 bytes"}},
       {"length of 2^31",
        with_length(3, 0, std::string("\0\0\0\x80", 4), kGood),
        Code::kTruncated,
        {"header needs 2147483648 bytes"}},
       {"length reaches into the data",
        with_length(1, 0, std::string("\x7a\0", 2), kGood.substr(10)),
        Code::kCorrupt,
        {"offset 128", "only blanks after the dict, got 'a'"}},
       {"length ends inside of the dict",
        with_length(1, 0, std::string("\x20\0", 2), kGood.substr(10)),
        Code::kCorrupt,
        {"offset 42"}},
       {"text above the limit",
        with_length(2, 0, std::string("\x01\0\x01\0", 4), std::string(65537, ' ')),
        Code::kTooLarge,
        {"offset 8", "65537 bytes, at most 65536"}},
       {"version 0",
        with_length(0, 0, "", kGood),
        Code::kUnsupported,
        {"offset 6: npy version 0.0", "expected 1.0, 2.0 or 3.0"}},
       {"version 4", with_length(4, 0, "", kGood), Code::kUnsupported, {"npy version 4.0"}},
       {"version 255", with_length('\xff', '\xff', "", kGood), Code::kUnsupported, {"npy version 255.255"}},
       {"version 1.1", with_length(1, 1, "", kGood), Code::kUnsupported, {"npy version 1.1"}},
       {"another magic",
        "\x93NUMPX" + kGood.substr(6),
        Code::kCorrupt,
        {"offset 0: not an npy file", "93 4e 55 4d 50 58"}},
       {"zip archive",
        std::string("PK\x03\x04") + kGood,
        Code::kCorrupt,
        {"a zip archive (npz: reads those of .npy files)"}},
       {"gzip", gzip_stored(kGood), Code::kCorrupt, {"gzip data"}},
       {"git-LFS pointer",
        "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n",
        Code::kCorrupt,
        {"git-LFS pointer"}},
       {"HTML", "<!DOCTYPE html><title>404</title>", Code::kCorrupt, {"HTML page"}},
       {"zeros", std::string(4096, '\0'), Code::kCorrupt, {"bytes 00 00 00 00"}},
       {"byte order of the length",
        with_length(1, 0, std::string("\0\x76", 2), kGood.substr(10)),
        Code::kTruncated,
        {"header needs 30208 bytes"}},
       {"shape of 2^31 - 1",
        with_shape("(2147483647,)"),
        Code::kTruncated,
        {"needs 2147483647 bytes, the file has 0"}},
       {"shape of 2^32", with_shape("(4294967296,)"), Code::kTruncated, {"needs 4294967296 bytes"}},
       {"shape of 2^63 - 1",
        with_shape("(9223372036854775807,)"),
        Code::kTruncated,
        {"needs 9223372036854775807 bytes"}},
       {"shape of 2^63",
        with_shape("(9223372036854775808,)"),
        Code::kCorrupt,
        {"dim '9223372036854775808' is above 2^63 - 1"}},
       {"shape of 2^64 - 1", with_shape("(18446744073709551615,)"), Code::kCorrupt, {"is above 2^63 - 1"}},
       {"shape of 100 digits",
        with_shape("(" + std::string(100, '9') + ",)"),
        Code::kCorrupt,
        {"...' is above 2^63 - 1"}},
       {"a product of 2^64 wraps to 0",
        with_shape("(4294967296, 4294967296)"),
        Code::kCorrupt,
        {"more than 2^63 bytes"}},
       {"a product wraps to the true size",
        with_keys("'<i8'", "False", "(2305843009213693953,)", "abcdefgh"),
        Code::kCorrupt,
        {"more than 2^63 bytes"}}},
      kGood, open);
}

TEST(NpyBadFiles, TypesAndShapesThatAreRefused) {
  std::string rank33 = "(1", rank9000 = "(1";
  for (int d = 1; d < 33; ++d) rank33 += ", 1";
  for (int d = 1; d < 9000; ++d) rank9000 += ", 1";
  std::string deep = std::string(1000, '[') + std::string(1000, ']');
  check_bad_files(
      {{"object", with_descr("'|O'"), Code::kUnsafeType, {"offset 10", "'|O'", "pickled Python objects"}},
       {"object without order", with_descr("'O'"), Code::kUnsafeType, {"'O'"}},
       {"object of Python 2", with_descr("'|O8'"), Code::kUnsafeType, {"'|O8'"}},
       {"object by name", with_descr("'object'"), Code::kUnsafeType, {"'object'"}},
       {"object in a field",
        with_descr("[('a', '<i4'), ('b', '|O')]"),
        Code::kUnsafeType,
        {"structured type holds '|O'"}},
       {"object in a nested field",
        with_descr("[('a', [('b', [('c', 'O')])])]"),
        Code::kUnsafeType,
        {"holds 'O'"}},
       {"object in a sub-array", with_descr("('|O', (2,))"), Code::kUnsafeType, {"holds '|O'"}},
       {"object in a field with a title",
        with_descr("[(('title', 'a'), '|O')]"),
        Code::kUnsafeType,
        {"holds '|O'"}},
       {"object in a field's sub-array",
        with_descr("[('a', '|O', (3,))]"),
        Code::kUnsafeType,
        {"holds '|O'"}},
       {"a field that is only called O",
        with_descr("[('O', '<i4')]"),
        Code::kUnsupported,
        {"structured type"}},
       {"structured",
        with_descr("[('x', '<f4'), ('y', '<f4', (2, 2))]"),
        Code::kUnsupported,
        {"structured type '[('x', '<f4'), ('y'", "raw: with fields="}},
       {"structured in UTF-8",
        with_descr("[('\xc3\xa4', '<f4')]"),
        Code::kUnsupported,
        {"structured type '[('\xc3\xa4'"}},
       {"sub-array", with_descr("('<i4', (2, 3))"), Code::kUnsupported, {"structured type"}},
       {"bytes", with_descr("'|S5'"), Code::kUnsupported, {"'|S5' is text"}},
       {"unicode", with_descr("'<U7'"), Code::kUnsupported, {"'<U7' is text"}},
       {"old bytes", with_descr("'|a5'"), Code::kUnsupported, {"is text"}},
       {"date", with_descr("'<M8[ns]'"), Code::kUnsupported, {"'<M8[ns]' is a date"}},
       {"time span", with_descr("'<m8[s]'"), Code::kUnsupported, {"'<m8[s]' is a date or a time span"}},
       {"void", with_descr("'|V4'"), Code::kUnsupported, {"'|V4' is void"}},
       {"2-byte void", with_descr("'|V2'"), Code::kUnsupported, {"dtype=bf16"}},
       {"longdouble", with_descr("'<f16'"), Code::kUnsupported, {"'<f16' has an unsupported size"}},
       {"complex longdouble", with_descr("'<c32'"), Code::kUnsupported, {"'<c32' has an unsupported size"}},
       {"integer of 3 bytes", with_descr("'<i3'"), Code::kUnsupported, {"'<i3'"}},
       {"integer of 16 bytes", with_descr("'<i16'"), Code::kUnsupported, {"'<i16'"}},
       {"bool of 8 bytes", with_descr("'<b8'"), Code::kUnsupported, {"'<b8'"}},
       {"size of 2^64", with_descr("'<i18446744073709551616'"), Code::kCorrupt, {"is not a type"}},
       {"type without size", with_descr("'<f'"), Code::kCorrupt, {"'<f' is not a type such as '<f4'"}},
       {"type by name", with_descr("'float32'"), Code::kCorrupt, {"'float32' is not a type"}},
       {"leading zero", with_descr("'<f04'"), Code::kCorrupt, {"'<f04' is not a type"}},
       {"negative size", with_descr("'<f-4'"), Code::kCorrupt, {"'<f-4' is not a type"}},
       {"two byte orders", with_descr("'<>f4'"), Code::kCorrupt, {"'<>f4'"}},
       {"only a byte order", with_descr("'<'"), Code::kCorrupt, {"'<' is not a type"}},
       {"empty type", with_descr("''"), Code::kCorrupt, {"'' is not a type"}},
       {"control bytes in the type",
        with_descr("'<\x01\xff'"),
        Code::kCorrupt,
        {"'<\\x01\\xff' is not a type"}},
       {"type of 5000 letters",
        with_descr("'" + std::string(5000, 'f') + "'"),
        Code::kCorrupt,
        {"...' is not a type"}},
       {"type nested 1000 times", with_descr(deep), Code::kCorrupt, {"nested too deeply"}},
       {"type with crossed brackets",
        with_descr("[('a', '<i4'])"),
        Code::kCorrupt,
        {"expected the bracket that was opened last, got ']'"}},
       {"type that does not end",
        with_descr("[('a', '<i4')"),
        Code::kCorrupt,
        {"npy header: expected a list of fields, got '"}},
       {"no dims", with_shape("()", "a"), Code::kUnsupported, {"0-d npy array"}},
       {"33 dims", with_shape(rank33 + ")", "a"), Code::kUnsupported, {"npy array of 33 dims, at most 32"}},
       {"9000 dims", with_shape(rank9000 + ")", "a"), Code::kUnsupported, {"npy array of 9000 dims"}},
       {"samples of 0 bytes",
        with_shape("(3, 0)"),
        Code::kUnsupported,
        {"npy array 3x0 u8: its samples hold no bytes"}},
       {"2^62 samples of 0 bytes",
        with_shape("(4611686018427387904, 4, 0)"),
        Code::kUnsupported,
        {"hold no bytes"}}},
      kGood, open);
}

TEST(NpyBadFiles, EveryPrefixOfAGoodFileIsTruncated) { check_prefixes(kGood, open); }

TEST(NpyBadFiles, NoFlippedBitReachesOutsideOfTheFile) { check_bit_flips(kGood, open); }

}  // namespace
}  // namespace dataline::npy_test
