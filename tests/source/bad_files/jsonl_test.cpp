// Damaged JSON lines: what is refused when the file is opened, and what makes a line a bad sample.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/source/open.h"
#include "tests/source/bad_files/bad_file_table.h"

namespace dataline::jsonl_test {
namespace {

Result<SourceRef> open(const std::string& path, const OpenContext& context) {
  return open_source("jsonl:" + path, context);
}

const std::string kGood = "{\"a\": 1, \"t\": \"x\"}\n";

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

std::string many_members() {
  std::string out = "{";
  for (int i = 0; i < 65; ++i) out += (i > 0 ? ", \"k" : "\"k") + std::to_string(i) + "\": 1";
  return out + "}\n";
}

std::vector<BadFile> files() {
  return {
      {"nothing", "", Code::kEmpty, {"no lines to infer fields from", "fields="}},
      {"line ends alone", "\n\r\n\n", Code::kEmpty, {"no lines"}},
      {"a web page", "<!DOCTYPE html><title>404</title>\n", Code::kCorrupt, {"HTML page"}},
      {"a git-LFS pointer", "version https://git-lfs.github.com/spec/v1\n", Code::kCorrupt, {"git-LFS"}},
      {"an array", "[1, 2]\n", Code::kCorrupt, {"line 1", "expected '{', got '['"}},
      {"a number", "17\n", Code::kCorrupt, {"line 1", "expected '{'"}},
      {"a string", "\"text\"\n", Code::kCorrupt, {"expected '{'"}},
      {"null", "null\n", Code::kCorrupt, {"expected '{'"}},
      {"an object over two lines",
       "{\"a\": 1,\n\"b\": 2}\n",
       Code::kCorrupt,
       {"line 1", "expected a string"}},
      {"two objects", "{\"a\": 1} {\"a\": 2}\n", Code::kCorrupt, {"line 1", "expected the end of the line"}},
      {"a comma behind", "{\"a\": 1,}\n", Code::kCorrupt, {"line 1: byte 9", "expected a string, got '}'"}},
      {"no colon", "{\"a\" 1}\n", Code::kCorrupt, {"expected ':'"}},
      {"a key without quotes", "{a: 1}\n", Code::kCorrupt, {"expected a string, got 'a'"}},
      {"single quotes", "{'a': 1}\n", Code::kCorrupt, {"expected a string"}},
      {"a comment", "// x\n{\"a\": 1}\n", Code::kCorrupt, {"line 1", "expected '{', got '/'"}},
      {"NaN", "{\"a\": NaN}\n", Code::kCorrupt, {"expected a value, got 'N'"}},
      {"Infinity", "{\"a\": -Infinity}\n", Code::kCorrupt, {"expected a digit"}},
      {"a number with a leading zero", "{\"a\": 01}\n", Code::kCorrupt, {"starts with 0"}},
      {"a number that ends in a point", "{\"a\": 1.}\n", Code::kCorrupt, {"expected a digit"}},
      {"a number with a plus", "{\"a\": +1}\n", Code::kCorrupt, {"expected a value"}},
      {"a hexadecimal number", "{\"a\": 0x10}\n", Code::kCorrupt, {"expected ','"}},
      {"a word that is none", "{\"a\": True}\n", Code::kCorrupt, {"expected a value, got 'T'"}},
      {"an unknown escape", "{\"a\": \"\\x41\"}\n", Code::kCorrupt, {"expected an escape"}},
      {"half an escape", "{\"a\": \"\\u12\"}\n", Code::kCorrupt, {"four hexadecimal digits"}},
      {"a low surrogate alone", "{\"a\": \"\\udc00\"}\n", Code::kCorrupt, {"low surrogate"}},
      {"a high surrogate alone", "{\"a\": \"\\ud800x\"}\n", Code::kCorrupt, {"high surrogate"}},
      {"a tab in a string", "{\"a\": \"\t\"}\n", Code::kCorrupt, {"control character"}},
      {"a NUL in a string", std::string("{\"a\": \"\0\"}\n", 11), Code::kCorrupt, {"control character"}},
      {"a string without an end", "{\"a\": \"x}\n", Code::kCorrupt, {"never closed"}},
      {"the same key twice", "{\"a\": 1, \"a\": 2}\n", Code::kCorrupt, {"the key a appears twice"}},
      {"the same nested key twice",
       "{\"m\": {\"a\": 1}, \"m/a\": 2}\n",
       Code::kCorrupt,
       {"m/a appears twice"}},
      {"an empty object", "{}\n", Code::kUnsupported, {"no string, number or array of numbers", "fields="}},
      {"only nulls", "{\"a\": null}\n", Code::kUnsupported, {"no string, number"}},
      {"too many values", many_members(), Code::kUnsupported, {"more than 64 values", "fields="}},
      {"objects too deep",
       repeated("{\"a\": ", 40) + "1" + repeated("}", 40) + "\n",
       Code::kCorrupt,
       {"more than 32 levels"}},
      {"arrays too deep",
       "{\"a\": " + repeated("[", 60) + repeated("]", 60) + "}\n",
       Code::kCorrupt,
       {"more than 32 levels"}},
      {"cut within the only line",
       "{\"a\": 1, \"t\": \"x",
       Code::kTruncated,
       {"offset 0", "line 1, the last", "16 bytes"}},
      {"cut within the last line", kGood + "{\"a\": 2", Code::kTruncated, {"offset 19", "line 2, the last"}},
      {"cut after a name", kGood + "{\"a\"", Code::kTruncated, {"line 2"}},
      {"cut after a brace", kGood + "{", Code::kTruncated, {"line 2"}},
      {"gzip that is cut", std::string("\x1f\x8b\x08\0\0\0\0\0\0\3", 10), Code::kTruncated, {}},
      {"UTF-16", std::string("\xff\xfe{\0\"\0", 6), Code::kUnsupported, {"offset 0: UTF-16, expected UTF-8"}},
  };
}

TEST(BadJsonl, FilesAreRefusedByNameAndPlace) { check_bad_files(files(), kGood, open, ".jsonl"); }

// Of fields a:u8, t:text, v:f32[2], n:i16[], b:bool.
std::vector<BadRecord> lines() {
  return {
      {"no JSON", "hello", Code::kCorrupt, {"byte 1", "expected '{', got 'h'"}},
      {"cut", "{\"a\": 1", Code::kCorrupt, {"expected ','"}},
      {"more behind it",
       "{\"a\": 1, \"t\": \"\", \"v\": [1, 2], \"n\": [], \"b\": true} 7",
       Code::kCorrupt,
       {"expected the end of the line"}},
      {"a missing field", "{\"a\": 1}", Code::kCorrupt, {"field 't': missing, or null", "nulls=fill(0)"}},
      {"a null", "{\"a\": null}", Code::kCorrupt, {"field 'a': missing"}},
      {"a field twice", "{\"a\": 1, \"a\": 1}", Code::kCorrupt, {"field 'a': appears twice"}},
      {"a string for a number",
       "{\"a\": \"1\"}",
       Code::kCorrupt,
       {"expected a number for the field 'a', got '\"'"}},
      {"a word for a number", "{\"a\": true}", Code::kCorrupt, {"expected a number"}},
      {"an array for a number", "{\"a\": [1]}", Code::kCorrupt, {"expected a number"}},
      {"an object for a number", "{\"a\": {}}", Code::kCorrupt, {"expected a number"}},
      {"a fraction for an integer", "{\"a\": 1.5}", Code::kCorrupt, {"'1.5', expected an integer (u8)"}},
      {"an exponent for an integer", "{\"a\": 1e1}", Code::kCorrupt, {"expected an integer"}},
      {"one above the range", "{\"a\": 256}", Code::kOutOfRange, {"'256' is out of range of u8"}},
      {"one below the range", "{\"a\": -1}", Code::kOutOfRange, {"'-1' is out of range"}},
      {"a number of a thousand digits",
       "{\"a\": 1" + std::string(1000, '0') + "}",
       Code::kOutOfRange,
       {"out of range"}},
      {"a number for a string", "{\"t\": 1}", Code::kCorrupt, {"expected a string for the field 't'"}},
      {"bytes that are not UTF-8",
       "{\"t\": \"a\xff\"}",
       Code::kCorrupt,
       {"byte 2 of the string is not UTF-8"}},
      {"an overlong character", "{\"t\": \"\xc0\x80\"}", Code::kCorrupt, {"not UTF-8"}},
      {"a surrogate in UTF-8", "{\"t\": \"\xed\xa0\x80\"}", Code::kCorrupt, {"not UTF-8"}},
      {"a cut character", "{\"t\": \"\xe2\x82\"}", Code::kCorrupt, {"not UTF-8"}},
      {"too few values", "{\"v\": [1]}", Code::kCorrupt, {"field 'v': an array of 1 values, expected 2"}},
      {"no values", "{\"v\": []}", Code::kCorrupt, {"an array of 0 values, expected 2"}},
      {"too many values", "{\"v\": [1, 2, 3]}", Code::kCorrupt, {"an array of more than 2 values"}},
      {"nested values", "{\"v\": [[1], [2]]}", Code::kCorrupt, {"expected a number"}},
      {"a null within", "{\"v\": [1, null]}", Code::kCorrupt, {"expected a number"}},
      {"a number for an array", "{\"v\": 1}", Code::kCorrupt, {"expected an array for the field 'v'"}},
      {"a float too large", "{\"v\": [1, 1e39]}", Code::kOutOfRange, {"'1e39' is out of range of f32"}},
      {"a double too large", "{\"v\": [1, 1e999]}", Code::kOutOfRange, {"out of range"}},
      {"an array without its end", "{\"n\": [1, 2", Code::kCorrupt, {"expected ','"}},
      {"a comma behind in an array", "{\"n\": [1,]}", Code::kCorrupt, {"expected a number"}},
      {"an array out of range", "{\"n\": [1, 40000]}", Code::kOutOfRange, {"'40000' is out of range of i16"}},
      {"a string in an array", "{\"n\": [\"1\"]}", Code::kCorrupt, {"expected a number"}},
      {"a number for a bool", "{\"b\": 1}", Code::kCorrupt, {"expected true or false for the field 'b'"}},
      {"a string for a bool", "{\"b\": \"true\"}", Code::kCorrupt, {"expected true or false"}},
      {"what is skipped is no JSON", "{\"x\": [1, }", Code::kCorrupt, {"expected a value"}},
      {"what is skipped is deep",
       "{\"x\": " + repeated("[", 50) + repeated("]", 50) + "}",
       Code::kCorrupt,
       {"more than 32 levels"}},
      {"objects within objects",
       repeated("{\"x\": ", 50) + repeated("}", 50),
       Code::kCorrupt,
       {"more than 32 levels"}},
      {"a key without its end", "{\"a", Code::kCorrupt, {"never closed"}},
      {"a raw tab", "{\"t\": \"a\tb\"}", Code::kCorrupt, {"control character"}},
  };
}

TEST(BadJsonl, ALineIsABadSampleByNameAndTheNextIsRead) {
  const OpenFile open_declared = [](const std::string& path, const OpenContext& context) {
    return open_source("jsonl:" + path + "?fields=a:u8,t:text,v:f32[2],n:i16[],b:bool", context);
  };
  check_bad_records(lines(), "", "{\"a\": 1, \"t\": \"x\", \"v\": [1, 2], \"n\": [3], \"b\": false}\n",
                    open_declared, ".jsonl", "line 2");
}

TEST(BadJsonl, KeysAreRefusedByTheirColumn) {
  TempDir dir;
  const std::string path = dir.write("a.jsonl", kGood);
  const std::vector<BadKey> keys = {{"fields=", "expected name:text"},
                                    {"fields=a", "expected name:text"},
                                    {"fields=:text", "expected name:text"},
                                    {"fields=a:string", "'string' is not text"},
                                    {"fields=a:f16", "'f16' is not text"},
                                    {"fields=a:c64", "is not text"},
                                    {"fields=a:u8[", "expected name:text"},
                                    {"fields=a:u8[x]", "expected name:text"},
                                    {"fields=a:u8[0]", "expected 1 byte"},
                                    {"fields=a:u8[9999999999999x9]", "expected 1 byte"},
                                    {"fields=a:u8,a:u8", "'a' appears twice"},
                                    {"fields=a:u8,", "expected name:text"},
                                    {"nulls=masks", "expected error, fill"},
                                    {"nulls=fill()", "expected error, fill"},
                                    {"nulls=fill(x)", "expected error, fill"},
                                    {"nulls=fill(1", "expected error, fill"},
                                    {"field=a:u8", "fields"}};
  check_bad_keys(keys, "jsonl:" + path);
  expect_error(open_source("jsonl:" + path + "?fields=a:u8&nulls=fill(300)", test_context()), Code::kBadUri,
               {"field 'a' is u8, which cannot hold 300"});
}

}  // namespace
}  // namespace dataline::jsonl_test
