// Damaged CSV: what is refused when the file is opened, and what makes a record a bad sample.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/source/csv/csv_columns.h"
#include "core/source/open.h"
#include "tests/source/bad_files/bad_file_table.h"

namespace dataline::csv_test {
namespace {

Result<SourceRef> open(const std::string& path, const OpenContext& context) {
  return open_source("csv:" + path, context);
}

const std::string kGood = "a,t\n1,x\n";

std::string many_columns() {
  std::string out = "k0", row = "1";
  for (int i = 1; i < 65; ++i) out += ",k" + std::to_string(i), row += ",1";
  return out + "\n" + row + "\n";
}

std::vector<BadFile> files() {
  return {
      {"nothing", "", Code::kEmpty, {"expected a header"}},
      {"line ends alone", "\n\r\n\n", Code::kEmpty, {"expected a header"}},
      {"a byte order mark alone", "\xef\xbb\xbf", Code::kEmpty, {"expected a header"}},
      {"a header alone", "a,t\n", Code::kEmpty, {"no records to infer types from", "fields="}},
      {"a web page", "<!DOCTYPE html><title>404</title>\n", Code::kCorrupt, {"HTML page"}},
      {"a git-LFS pointer", "version https://git-lfs.github.com/spec/v1\n", Code::kCorrupt, {"git-LFS"}},
      {"UTF-16, little",
       std::string("\xff\xfe"
                   "a\0,\0",
                   6),
       Code::kUnsupported,
       {"offset 0", "UTF-16", "iconv"}},
      {"UTF-16, big", std::string("\xfe\xff\0a\0,", 6), Code::kUnsupported, {"UTF-16"}},
      {"no name that a field can have", ",\n1,2\n", Code::kUnsupported, {"no column has a name"}},
      {"names of control characters", "\x01,\t\n1,2\n", Code::kUnsupported, {"no column has a name"}},
      {"a name of 256 bytes", std::string(256, 'n') + "\n1\n", Code::kUnsupported, {"no column has a name"}},
      {"a name that is not UTF-8", "a,\xff\n1,2\n", Code::kCorrupt, {"the name of column 2 is not UTF-8"}},
      {"lines that end with CR alone",
       "a,t\r1,x\r",
       Code::kUnsupported,
       {"header: a carriage return in column 2"}},
      {"more columns than are read",
       std::string(kMaxCsvColumns, ',') + "\n",
       Code::kUnsupported,
       {"header: 262145 columns"}},
      {"nothing but delimiters",
       std::string(1 << 20, ','),
       Code::kUnsupported,
       {"header: 1048577 columns, at most 262144"}},
      {"two columns of one name", "a,a\n1,2\n", Code::kCorrupt, {"two columns are called 'a'"}},
      {"too many columns",
       many_columns(),
       Code::kUnsupported,
       {"65 columns, and at most 64 fields", "u8[784]"}},
      {"something behind a quoted name",
       "\"a\"b,c\n1,2\n",
       Code::kCorrupt,
       {"header", "column 1", "got 'b'"}},
      {"a header within quotes", "\"a,b\n1,2\n", Code::kTruncated, {"offset 0", "never closed"}},
      {"cut within quotes", kGood + "2,\"y", Code::kTruncated, {"offset 8", "a quote that is never closed"}},
      {"cut within the last record",
       "a,b,c\n1,2,3\n4,5",
       Code::kTruncated,
       {"record 1, offset 12", "3 bytes", "2 of 3 cells"}},
      {"cut in the only record", "a,b\n1", Code::kTruncated, {"record 0, offset 4", "1 of 2 cells"}},
      {"gzip that is cut", std::string("\x1f\x8b\x08\0\0\0\0\0\0\3", 10), Code::kTruncated, {}},
  };
}

// Little is wrong with a file as a whole; records are the other half of this table.
TEST(BadCsv, FilesAreRefusedByNameAndPlace) { check_bad_files(files(), kGood, open, ".csv", 23); }

// Of columns a:u8, t:text, v:f32[2], b:bool.
std::vector<BadRecord> records() {
  return {
      {"a cell less", "1,x,1,2", Code::kCorrupt, {"4 cells, expected 5"}},
      {"a cell more", "1,x,1,2,true,6", Code::kCorrupt, {"6 cells, expected 5"}},
      {"a delimiter behind", "1,x,1,2,true,", Code::kCorrupt, {"6 cells, expected 5"}},
      {"one cell", "hello", Code::kCorrupt, {"column 'a': 'hello', expected an integer (u8)"}},
      {"another delimiter", "1;x;1;2;true", Code::kCorrupt, {"'1;x;1;2;true', expected an integer"}},
      {"something behind a quote",
       "1,\"x\"y,1,2,true",
       Code::kCorrupt,
       {"after the closing quote of cell 2", "got 'y'"}},
      {"a blank behind a quote", "1,\"x\" ,1,2,true", Code::kCorrupt, {"closing quote of cell 2", "got ' '"}},
      {"an empty number", ",x,1,2,true", Code::kCorrupt, {"column 'a': empty", "nulls=fill(0)"}},
      {"a blank number", "  ,x,1,2,true", Code::kCorrupt, {"column 'a': empty"}},
      {"an empty item", "1,x,1,,true", Code::kCorrupt, {"column 'v1': empty"}},
      {"an empty bool", "1,x,1,2,", Code::kCorrupt, {"column 'b': empty"}},
      {"a word for an integer", "one,x,1,2,true", Code::kCorrupt, {"'one', expected an integer (u8)"}},
      {"a fraction for an integer", "1.5,x,1,2,true", Code::kCorrupt, {"'1.5', expected an integer (u8)"}},
      {"a whole float for an integer", "1.0,x,1,2,true", Code::kCorrupt, {"'1.0', expected an integer"}},
      {"an exponent for an integer", "1e1,x,1,2,true", Code::kCorrupt, {"expected an integer"}},
      {"nan for an integer", "nan,x,1,2,true", Code::kCorrupt, {"expected an integer"}},
      {"a hexadecimal integer", "0x10,x,1,2,true", Code::kCorrupt, {"expected an integer"}},
      {"an integer with a space within", "1 0,x,1,2,true", Code::kCorrupt, {"expected an integer"}},
      {"an integer with groups", "\"1,000\",x,1,2,true", Code::kCorrupt, {"'1,000', expected an integer"}},
      {"two signs", "+-1,x,1,2,true", Code::kCorrupt, {"expected an integer"}},
      {"a sign alone", "-,x,1,2,true", Code::kCorrupt, {"expected an integer"}},
      {"one above the range", "256,x,1,2,true", Code::kOutOfRange, {"'256' is out of range of u8"}},
      {"one below the range", "-1,x,1,2,true", Code::kOutOfRange, {"'-1' is out of range"}},
      {"an integer of a thousand digits",
       "1" + std::string(1000, '0') + ",x,1,2,true",
       Code::kOutOfRange,
       {"out of range"}},
      {"a float too large",
       "1,x,1e39,2,true",
       Code::kOutOfRange,
       {"column 'v0': '1e39' is out of range of f32"}},
      {"a double too large", "1,x,1,1e999,true", Code::kOutOfRange, {"column 'v1'", "out of range"}},
      {"a word for a float",
       "1,x,1,two,true",
       Code::kCorrupt,
       {"column 'v1': 'two', expected a number (f32)"}},
      {"a float with a comma", "1,x,\"1,5\",2,true", Code::kCorrupt, {"'1,5', expected a number"}},
      {"a float with an end", "1,x,1.5f,2,true", Code::kCorrupt, {"expected a number"}},
      {"a tiny float with an end", "1,x,1e-400x,2,true", Code::kCorrupt, {"'1e-400x', expected a number"}},
      {"a number for a bool", "1,x,1,2,2", Code::kCorrupt, {"column 'b': '2', expected true or false"}},
      {"a word for a bool", "1,x,1,2,yes", Code::kCorrupt, {"expected true or false"}},
      {"bytes that are not UTF-8",
       "1,a\xff,1,2,true",
       Code::kCorrupt,
       {"column 't': byte 2 of the cell is not UTF-8"}},
      {"an overlong character", "1,\xc0\x80,1,2,true", Code::kCorrupt, {"not UTF-8"}},
      {"a surrogate in UTF-8", "1,\xed\xa0\x80,1,2,true", Code::kCorrupt, {"not UTF-8"}},
      {"a cut character within quotes",
       "1,\"\"\"\xe2\x82\",1,2,true",
       Code::kCorrupt,
       {"byte 2 of the cell is not UTF-8"}},
      {"a NUL for a number", std::string("\0,x,1,2,true", 12), Code::kCorrupt, {"expected an integer"}},
  };
}

TEST(BadCsv, ARecordIsABadSampleByNameAndTheNextIsRead) {
  const OpenFile open_declared = [](const std::string& path, const OpenContext& context) {
    return open_source("csv:" + path + "?fields=a:u8,t:text,v0:f32[2],b:bool", context);
  };
  check_bad_records(records(), "a,t,v0,v1,b\n", "1,x,1,2,false\n", open_declared, ".csv",
                    "record 1, offset 26");
}

TEST(BadCsv, KeysAreRefusedByTheirColumn) {
  TempDir dir;
  const std::string path = dir.write("a.csv", kGood);
  const std::vector<BadKey> keys = {{"fields=", "expected name:text"},
                                    {"fields=a", "expected name:text"},
                                    {"fields=a:string", "'string' is not text"},
                                    {"fields=a:f16", "'f16' is not text"},
                                    {"fields=a:u8[]", "a cell holds one value"},
                                    {"fields=a:u8[0]", "expected 1 byte"},
                                    {"fields=a:u8,a:u8", "'a' appears twice"},
                                    {"delimiter=,", "comma"},
                                    {"delimiter=colon", "comma"},
                                    {"header=no", "true"},
                                    {"nulls=masks", "expected error, fill"},
                                    {"field=a:u8", "fields"}};
  check_bad_keys(keys, "csv:" + path);
  expect_error(open_source("csv:" + path + "?fields=a:u8&nulls=fill(300)", test_context()), Code::kBadUri,
               {"field 'a' is u8, which cannot hold 300"});
  expect_error(open_source("csv:" + path + "?fields=tt:text", test_context()), Code::kNoSuchField,
               {path + ": no column 'tt', did you mean 't'? it has a, t"});
}

}  // namespace
}  // namespace dataline::csv_test
