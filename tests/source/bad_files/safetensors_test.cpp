// Damaged, hostile and foreign .safetensors files.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/arrays/arrays.h"
#include "core/source/open.h"
#include "tests/source/bad_files/bad_file_table.h"
#include "tests/source/gzip_files.h"
#include "tests/source/safetensors/safetensors_files.h"

namespace dataline::safetensors_test {
namespace {

Result<SourceRef> open(const std::string& path, const OpenContext& context) {
  return open_source("safetensors:" + path, context);
}

const std::string kGood =
    safetensors_file({{"x", "I16", {3, 2}, "abcdefghijkl"}, {"y", "U8", {3}, "mno"}}, R"({"format":"np"})");

// A length as it stands.
std::string with_length(uint64_t length, const std::string& rest) { return raw_bytes(length) + rest; }

// One tensor `x` with these members, and six bytes of data.
std::string with_members(const std::string& members) {
  return safetensors_bytes("{\"x\":{" + members + "}}", "abcdef");
}
std::string with_dtype(const std::string& dtype) {
  return with_members("\"dtype\":" + dtype + R"(,"shape":[6],"data_offsets":[0,6])");
}
std::string with_shape(const std::string& shape) {
  return with_members(R"("dtype":"U8","shape":)" + shape + R"(,"data_offsets":[0,6])");
}
std::string with_offsets(const std::string& offsets, const std::string& shape = "6") {
  return with_members(R"("dtype":"U8","shape":[)" + shape + R"(],"data_offsets":)" + offsets);
}
// Tensors of bytes `a`, `b`, ... at these places, in a file of so many bytes of data.
std::string with_extents(const std::vector<std::pair<int64_t, int64_t>>& extents, size_t bytes) {
  std::string header = "{", name = "a";
  for (const auto& [begin, end] : extents) {
    header +=
        concat(header == "{" ? "" : ",", tensor_entry(name, "U8", std::to_string(end - begin), begin, end));
    ++name[0];
  }
  return safetensors_bytes(header + "}", std::string(bytes, 'd'));
}

TEST(SafetensorsBadFiles, CutOverlongAndForeign) {
  const auto header_end = static_cast<size_t>(8 + values_of<uint64_t>(kGood.substr(0, 8))[0]);
  check_bad_files(
      {{"empty", "", Code::kTruncated, {"offset 0: header length needs 8 bytes, the file has 0"}},
       {"one byte", "x", Code::kTruncated, {"needs 8 bytes, the file has 1"}},
       {"seven bytes", kGood.substr(0, 7), Code::kTruncated, {"needs 8 bytes, the file has 7"}},
       {"length only", kGood.substr(0, 8), Code::kTruncated, {"offset 8: header needs", "file has 0"}},
       {"length and a brace", kGood.substr(0, 9), Code::kTruncated, {"offset 8: header needs", "file has 1"}},
       {"header less a byte", kGood.substr(0, header_end - 1), Code::kTruncated, {"offset 8: header needs"}},
       {"no data",
        kGood.substr(0, header_end),
        Code::kTruncated,
        {"the tensors need 15 bytes, the file has 0"}},
       {"half of the data",
        kGood.substr(0, header_end + 7),
        Code::kTruncated,
        {"need 15 bytes, the file has 7"}},
       {"data less a byte", kGood.substr(0, kGood.size() - 1), Code::kTruncated, {"file has 14"}},
       {"a byte more", kGood + "x", Code::kCorrupt, {"the tensors need 15 bytes, the file has 16"}},
       {"twice", kGood + kGood, Code::kCorrupt, {"the tensors need 15 bytes"}},
       {"length 0",
        with_length(0, "{}"),
        Code::kCorrupt,
        {"offset 0: not a safetensors file", "length of 0"}},
       {"length 1", with_length(1, "{}"), Code::kCorrupt, {"got a length of 1"}},
       {"length above the limit",
        with_length(100'000'001, "{}"),
        Code::kCorrupt,
        {"of 2 to 100000000 bytes", "got a length of 100000001"}},
       {"length at the limit",
        with_length(100'000'000, "{}"),
        Code::kTruncated,
        {"needs 100000000 bytes, the file has 2"}},
       {"length of 2^63", with_length(uint64_t{1} << 63, "{}"), Code::kCorrupt, {"9223372036854775808"}},
       {"length of 2^64 - 1", with_length(~uint64_t{0}, "{}"), Code::kCorrupt, {"18446744073709551615"}},
       {"length in the other order",
        with_length(uint64_t{2} << 56, "{}"),
        Code::kCorrupt,
        {"length of 144115188075855872"}},
       {"length too short by one",
        with_length(header_end - 9, kGood.substr(8)),
        Code::kCorrupt,
        {"need 15 bytes, the file has 16"}},
       {"a list", safetensors_bytes("[]"), Code::kCorrupt, {"starts with '{'", "got a length of 2"}},
       {"a space first", safetensors_bytes(" {}"), Code::kCorrupt, {"starts with '{'"}},
       {"npy", npy_file("|u1", "(2,)", "ab"), Code::kCorrupt, {"an npy file"}},
       {"zip archive", "PK\x03\x04" + kGood, Code::kCorrupt, {"a zip archive"}},
       {"gzip", gzip_stored(kGood), Code::kCorrupt, {"gzip data"}},
       {"git-LFS pointer", "version https://git-lfs.github.com/spec/v1\n", Code::kCorrupt, {"git lfs pull"}},
       {"HTML", "<!DOCTYPE html><title>404</title>", Code::kCorrupt, {"HTML page"}},
       {"zeros", std::string(4096, '\0'), Code::kCorrupt, {"got a length of 0"}},
       {"text", "{\"x\": 1, \"y\": 2, \"z\": 3}", Code::kCorrupt, {"not a safetensors file"}},
       {"no tensors", safetensors_bytes("{}"), Code::kEmpty, {"no arrays in this file"}},
       {"only metadata", safetensors_bytes(R"({"__metadata__":{"a":"b"}})"), Code::kEmpty, {"no arrays"}},
       {"no tensors, and data",
        safetensors_bytes("{}", "x"),
        Code::kCorrupt,
        {"need 0 bytes, the file has 1"}},
       {"a hole at the start",
        with_extents({{1, 3}}, 3),
        Code::kCorrupt,
        {"tensor 'a': data_offsets 1 to 3: leave a gap after the header"}},
       {"a gap",
        with_extents({{0, 2}, {3, 5}}, 5),
        Code::kCorrupt,
        {"tensor 'b': data_offsets 3 to 5: leave a gap after 'a', which ends at 2"}},
       {"a hole at the end", with_extents({{0, 2}}, 3), Code::kCorrupt, {"need 2 bytes, the file has 3"}},
       {"an overlap",
        with_extents({{0, 4}, {3, 5}}, 5),
        Code::kCorrupt,
        {"tensor 'b': data_offsets 3 to 5: overlap 'a', which ends at 4"}},
       {"one within the other", with_extents({{0, 4}, {1, 3}}, 4), Code::kCorrupt, {"overlap 'a'"}},
       {"the same place twice",
        with_extents({{0, 4}, {0, 4}}, 4),
        Code::kCorrupt,
        {"tensor 'b': data_offsets 0 to 4: overlap 'a'"}},
       {"beyond the file",
        with_extents({{0, 2}, {2, 2000}}, 5),
        Code::kTruncated,
        {"need 2000 bytes, the file has 5"}},
       {"2^62 bytes",
        with_extents({{0, int64_t{1} << 62}}, 5),
        Code::kTruncated,
        {"need 4611686018427387904 bytes, the file has 5"}},
       {"an empty one in another",
        with_extents({{0, 4}, {2, 2}}, 4),
        Code::kCorrupt,
        {"tensor 'b': data_offsets 2 to 2: overlap 'a'"}}},
      kGood, open, ".safetensors");
}

TEST(SafetensorsBadFiles, HeadersThatAreNoneOfTheFormat) {
  std::string deep(1000, '['), many = "{";
  for (size_t i = 0; i <= kMaxArrays; ++i) {
    many += concat(i == 0 ? "\"" : ",\"", i, R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})");
  }
  check_bad_files(
      {{"cut in a name",
        safetensors_bytes("{\"x"),
        Code::kCorrupt,
        {"offset 8: safetensors header: line 1: a string that is never closed"}},
       {"cut after a name",
        safetensors_bytes("{\"x\""),
        Code::kCorrupt,
        {"byte 5: expected ':', got its end"}},
       {"cut in a tensor", safetensors_bytes("{\"x\":{"), Code::kCorrupt, {"expected a string"}},
       {"not closed",
        safetensors_bytes("{\"x\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}"),
        Code::kCorrupt,
        {"expected ',', got its end"}},
       {"text after it",
        safetensors_bytes("{}x"),
        Code::kCorrupt,
        {"byte 3: expected nothing but spaces, got 'x'"}},
       {"zeros after it",
        safetensors_bytes(std::string("{}\0", 3)),
        Code::kCorrupt,
        {"expected nothing but spaces"}},
       {"a comma at the end",
        safetensors_bytes(R"({"__metadata__":{},})"),
        Code::kCorrupt,
        {"byte 20: expected a string, got '}'"}},
       {"a number for a tensor", safetensors_bytes(R"({"x":1})"), Code::kCorrupt, {"expected '{', got '1'"}},
       {"a list for a tensor",
        safetensors_bytes("{\"x\":" + deep),
        Code::kCorrupt,
        {"expected '{', got '['"}},
       {"metadata of numbers",
        safetensors_bytes(R"({"__metadata__":{"a":1}})"),
        Code::kCorrupt,
        {"expected a string, got '1'"}},
       {"metadata of objects",
        safetensors_bytes(R"({"__metadata__":{"a":{}}})"),
        Code::kCorrupt,
        {"expected a string, got '{'"}},
       {"metadata twice",
        safetensors_bytes(R"({"__metadata__":{},"__metadata__":{}})"),
        Code::kCorrupt,
        {"__metadata__ appears twice"}},
       {"two of one name",
        safetensors_bytes(
            "{" + tensor_entry("x", "U8", "1", 0, 1) + "," + tensor_entry("x", "U8", "1", 1, 2) + "}", "ab"),
        Code::kCorrupt,
        {"two tensors are called 'x'"}},
       {"two of one name, one escaped",
        safetensors_bytes(
            "{" + tensor_entry("x", "U8", "1", 0, 1) + "," + tensor_entry("\\u0078", "U8", "1", 1, 2) + "}",
            "ab"),
        Code::kCorrupt,
        {"two tensors are called 'x'"}},
       {"a name of no bytes",
        safetensors_bytes("{" + tensor_entry("", "U8", "1", 0, 1) + "}", "a"),
        Code::kUnsupported,
        {"tensor '': the name is empty"}},
       {"a name that is no UTF-8",
        safetensors_bytes("{" + tensor_entry("\xff", "U8", "1", 0, 1) + "}", "a"),
        Code::kUnsupported,
        {"not plain UTF-8"}},
       {"a name with a line break",
        safetensors_bytes("{" + tensor_entry("a\\nb", "U8", "1", 0, 1) + "}", "a"),
        Code::kUnsupported,
        {"tensor 'a\\nb'", "not plain UTF-8"}},
       {"a name with a zero",
        safetensors_bytes("{" + tensor_entry("a\\u0000", "U8", "1", 0, 1) + "}", "a"),
        Code::kUnsupported,
        {"not plain UTF-8"}},
       {"a bare control character",
        safetensors_bytes("{\"\x01\":{}}"),
        Code::kCorrupt,
        {"control character"}},
       {"half of a surrogate",
        safetensors_bytes("{\"\\ud800\":{}}"),
        Code::kCorrupt,
        {"a high surrogate without its low one"}},
       {"32769 tensors", safetensors_bytes(many + "}"), Code::kTooLarge, {"more than 32768 tensors"}},
       {"no dtype",
        with_members(R"("shape":[6],"data_offsets":[0,6])"),
        Code::kCorrupt,
        {"tensor 'x': the key dtype is missing"}},
       {"no shape",
        with_members(R"("dtype":"U8","data_offsets":[0,6])"),
        Code::kCorrupt,
        {"the key shape is missing"}},
       {"no offsets",
        with_members(R"("dtype":"U8","shape":[6])"),
        Code::kCorrupt,
        {"the key data_offsets is missing"}},
       {"nothing", with_members(""), Code::kCorrupt, {"the key dtype is missing"}},
       {"a key twice",
        with_members(R"("dtype":"U8","dtype":"U8","shape":[6],"data_offsets":[0,6])"),
        Code::kCorrupt,
        {"the key dtype appears twice"}},
       {"another key",
        with_members(R"("dtype":"U8","shape":[6],"data_offsets":[0,6],"order":"C")"),
        Code::kCorrupt,
        {"expected the keys dtype, shape and data_offsets, got 'order'"}},
       {"a key in capitals",
        with_members(R"("DTYPE":"U8","shape":[6],"data_offsets":[0,6])"),
        Code::kCorrupt,
        {"got 'DTYPE'"}},
       {"a number for a dtype", with_dtype("8"), Code::kCorrupt, {"expected a string, got '8'"}},
       {"no such dtype",
        with_dtype("\"U7\""),
        Code::kUnsupported,
        {"tensor 'x' has dtype 'U7', which is not supported"}},
       {"a dtype in small letters", with_dtype("\"u8\""), Code::kUnsupported, {"has dtype 'u8'"}},
       {"a dtype of no letters", with_dtype("\"\""), Code::kUnsupported, {"has dtype ''"}},
       {"8-bit floats", with_dtype("\"F8_E4M3\""), Code::kUnsupported, {"has dtype 'F8_E4M3'"}},
       {"4-bit floats that fit",
        with_members(R"("dtype":"F4","shape":[12],"data_offsets":[0,6])"),
        Code::kUnsupported,
        {"has dtype 'F4'"}},
       {"4-bit floats that do not fit",
        with_members(R"("dtype":"F4","shape":[3],"data_offsets":[0,6])"),
        Code::kCorrupt,
        {"do not fill complete bytes"}}},
      kGood, open, ".safetensors", 35);
}

TEST(SafetensorsBadFiles, ShapesAndOffsetsThatDoNotFit) {
  std::string rank33 = "[6", rank9000 = "[6";
  for (int d = 1; d < 33; ++d) rank33 += ",1";
  for (int d = 1; d < 9000; ++d) rank9000 += ",1";
  check_bad_files(
      {{"a shape too small",
        with_shape("[5]"),
        Code::kCorrupt,
        {"tensor 'x': data_offsets 0 to 6 are 6 bytes, its shape and dtype need 5"}},
       {"a shape too large", with_shape("[7]"), Code::kCorrupt, {"need 7"}},
       {"no dims for six bytes", with_shape("[]"), Code::kCorrupt, {"need 1"}},
       {"a dtype too wide",
        with_dtype("\"I16\""),
        Code::kCorrupt,
        {"are 6 bytes, its shape and dtype need 12"}},
       {"a negative dim", with_shape("[-6]"), Code::kCorrupt, {"expected a whole number from 0, got '-6'"}},
       {"minus zero", with_shape("[-0,6]"), Code::kCorrupt, {"got '-0'"}},
       {"a fraction", with_shape("[6.0]"), Code::kCorrupt, {"expected a whole number from 0, got '6.0'"}},
       {"an exponent", with_shape("[6e0]"), Code::kCorrupt, {"got '6e0'"}},
       {"a leading zero", with_shape("[06]"), Code::kCorrupt, {"a number that starts with 0"}},
       {"a text", with_shape("[\"6\"]"), Code::kCorrupt, {"expected a whole number, got '\"'"}},
       {"null", with_shape("[null]"), Code::kCorrupt, {"expected a whole number, got 'n'"}},
       {"a list in the list", with_shape("[[6]]"), Code::kCorrupt, {"expected a whole number, got '['"}},
       {"no list", with_shape("6"), Code::kCorrupt, {"expected '[', got '6'"}},
       {"a comma at the end", with_shape("[6,]"), Code::kCorrupt, {"expected a whole number, got ']'"}},
       {"a list that is not closed", with_shape("[6"), Code::kCorrupt, {"expected a whole number, got '\"'"}},
       {"a dim of 2^63",
        with_shape("[9223372036854775808]"),
        Code::kCorrupt,
        {"number '9223372036854775808' is above 2^63 - 1"}},
       {"a dim of 100 digits",
        with_shape("[" + std::string(100, '9') + "]"),
        Code::kCorrupt,
        {"is above 2^63 - 1"}},
       {"a dim of 2^63 - 1",
        with_shape("[9223372036854775807]"),
        Code::kCorrupt,
        {"need 9223372036854775807"}},
       {"a product that wraps to 0",
        with_shape("[4294967296,4294967296]"),
        Code::kCorrupt,
        {"overflows 63 bits"}},
       {"a product that wraps to the true size",
        with_shape("[2305843009213693953,8]"),
        Code::kCorrupt,
        {"overflows 63 bits"}},
       {"a large dim after none",
        with_shape("[0,9223372036854775807]"),
        Code::kCorrupt,
        {"are 6 bytes, its shape and dtype need 0"}},
       {"33 dims", with_shape(rank33 + "]"), Code::kUnsupported, {"at most 32 dims are supported"}},
       {"9000 dims", with_shape(rank9000 + "]"), Code::kUnsupported, {"at most 32 dims are supported"}},
       {"no bytes",
        with_members(R"("dtype":"U8","shape":[2,0],"data_offsets":[0,0])"),
        Code::kCorrupt,
        {"need 0 bytes, the file has 6"}},
       {"samples of no bytes",
        safetensors_bytes("{" + tensor_entry("x", "U8", "2,0", 0, 0) + "}"),
        Code::kUnsupported,
        {"array 'x' 2x0 u8: its samples hold no bytes"}},
       {"no first axis",
        safetensors_bytes("{" + tensor_entry("x", "U8", "", 0, 1) + "}", "a"),
        Code::kUnsupported,
        {"array 'x' without dims u8: has no first axis", "rows=false"}},
       {"other lengths",
        safetensors_bytes(
            "{" + tensor_entry("x", "U8", "2", 0, 2) + "," + tensor_entry("y", "U8", "3", 2, 5) + "}",
            "abcde"),
        Code::kMismatch,
        {"array 'y' 3 u8 and array 'x' 2 u8 differ in their first dim"}},
       {"one offset", with_offsets("[0]"), Code::kCorrupt, {"expected ',', got ']'"}},
       {"no offset", with_offsets("[]"), Code::kCorrupt, {"expected a whole number, got ']'"}},
       {"three offsets", with_offsets("[0,6,6]"), Code::kCorrupt, {"expected ']', got ','"}},
       {"a negative offset", with_offsets("[-1,5]"), Code::kCorrupt, {"got '-1'"}},
       {"a negative end", with_offsets("[0,-6]"), Code::kCorrupt, {"got '-6'"}},
       {"a fraction of an offset", with_offsets("[0,6.5]"), Code::kCorrupt, {"got '6.5'"}},
       {"an offset of 2^64", with_offsets("[0,18446744073709551616]"), Code::kCorrupt, {"is above 2^63 - 1"}},
       {"an end of 2^63 - 1",
        with_offsets("[0,9223372036854775807]", "9223372036854775807"),
        Code::kTruncated,
        {"the tensors need 9223372036854775807 bytes, the file has 6"}},
       {"the end first",
        with_offsets("[6,0]"),
        Code::kCorrupt,
        {"data_offsets 6 to 0: the end is before the start"}},
       {"offsets too far apart",
        with_offsets("[0,7]"),
        Code::kCorrupt,
        {"are 7 bytes, its shape and dtype need 6"}},
       {"offsets from the file's start",
        with_offsets("[70,76]"),
        Code::kCorrupt,
        {"leave a gap after the header"}},
       {"a large begin",
        with_offsets("[9223372036854775801,9223372036854775807]"),
        Code::kCorrupt,
        {"leave a gap after the header, which ends at 0"}},
       {"offsets as a text", with_offsets("\"0,6\""), Code::kCorrupt, {"expected '['"}}},
      kGood, open, ".safetensors");
}

TEST(SafetensorsBadFiles, EveryPrefixOfAGoodFileIsTruncated) { check_prefixes(kGood, open, ".safetensors"); }

TEST(SafetensorsBadFiles, NoFlippedBitReachesOutsideOfTheFile) {
  check_bit_flips(kGood, open, ".safetensors");
}

}  // namespace
}  // namespace dataline::safetensors_test
