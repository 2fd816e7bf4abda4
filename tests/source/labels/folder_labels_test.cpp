// labels=FILE: the files that a list names, in its order, with its labels; and everything a list may get wrong.
// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include "core/base/cancel.h"
#include "core/source/uri.h"
#include "tests/source/folder/folder_files.h"
#include "tests/support/uri_escape.h"

namespace dataline::folder_labels_test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

Result<SourceRef> open_list(const TempDir& dir, const std::string& file, const std::string& keys = "") {
  return open_at(dir, "pets?labels=" + uri_escape(dir.path(file)) + keys);
}

TEST(FolderLabels, ACsvGivesOrderAndNumbers) {
  TempDir dir;
  write_pets(dir);
  dir.write("l.csv", "dog/b.png,7\ncat/x/2.JPG,0003\ndog/a.jpg,9223372036854775807\n");
  SourceRef source = open_list(dir, "l.csv").take();
  EXPECT_THAT(samples_of(*source),
              ElementsAre("dog/b.png 7", "cat/x/2.JPG 3", "dog/a.jpg 9223372036854775807"));
  EXPECT_EQ(source->facts().classes, nullptr);
}

TEST(FolderLabels, NamesAreSortedIntoClasses) {
  TempDir dir;
  write_pets(dir);
  dir.write("l.csv",
            "path,label\r\ndog/b.png,tame\r\ncat/1.jpeg,\"a, \"\"wild\"\"\nbeast\"\r\ndog/a.jpg,tame");
  SourceRef source = open_list(dir, "l.csv").take();
  EXPECT_THAT(samples_of(*source), ElementsAre("dog/b.png 1", "cat/1.jpeg 0", "dog/a.jpg 1"));
  ASSERT_NE(source->facts().classes, nullptr);
  EXPECT_THAT(*source->facts().classes, ElementsAre("a, \"wild\"\nbeast", "tame"));
  EXPECT_THAT(samples_of(*open_list(dir, "l.csv", "&label_dtype=u8").value()),
              ElementsAre("dog/b.png 1", "cat/1.jpeg 0", "dog/a.jpg 1"));
}

TEST(FolderLabels, AHeaderNamesTheColumnsAmongOthers) {
  TempDir dir;
  write_pets(dir);
  dir.write("l.csv",
            "\xef\xbb\xbfsplit,Label,width,PATH\ntrain,1,9,./dog//b.png\ntest,0,,cat/./1.jpeg\n\n\r\n");
  EXPECT_THAT(samples_of(*open_list(dir, "l.csv").value()), ElementsAre("dog/b.png 1", "cat/1.jpeg 0"));
}

TEST(FolderLabels, JsonLinesGiveTheSame) {
  TempDir dir;
  write_pets(dir);
  write_files(dir, {"pets/\xc3\xa9\xf0\x9f\x98\x80.gif"});
  dir.write("l.jsonl",
            "{\"path\": \"dog/b.png\", \"label\": 3}\n"
            " { \"box\" : [1, -2.5e+3, {\"a\": [true, null, \"]\\\"\"]}, []], \"label\":0, "
            "\"path\":\"cat\\/1.jpeg\" } \r\n"
            "{\"label\":12,\"path\":\"\\u00e9\\uD83D\\ude00.gif\",\"x\":{}}\n\n");
  EXPECT_THAT(samples_of(*open_list(dir, "l.jsonl").value()),
              ElementsAre("dog/b.png 3", "cat/1.jpeg 0", "\xc3\xa9\xf0\x9f\x98\x80.gif 12"));
  dir.write("n.jsonl",
            "{\"path\":\"dog/b.png\",\"label\":\"9\"}\n{\"path\":\"cat/1.jpeg\",\"label\":\"10\"}\n");
  SourceRef names = open_list(dir, "n.jsonl").take();
  EXPECT_THAT(*names->facts().classes, ElementsAre("10", "9")) << "text is a name, whatever it looks like";
  EXPECT_THAT(samples_of(*names), ElementsAre("dog/b.png 1", "cat/1.jpeg 0"));
}

TEST(FolderLabels, AnEmptyListIsAnErrorUnlessAllowed) {
  TempDir dir;
  write_pets(dir);
  for (const char* name : {"e.csv", "e.jsonl"}) {
    dir.write(name, "");
    expect_error(open_list(dir, name), Code::kEmpty, {dir.path(name) + ": names no files"});
    EXPECT_EQ(open_list(dir, name, "&allow_empty=true").value()->count(), 0);
  }
  dir.write("e.csv", "path,label\n");
  EXPECT_EQ(open_list(dir, "e.csv").status().code(), Code::kEmpty);
}

// A link within the folder may lead anywhere below it, and nowhere else: not when the list is read, and not when the
// link is turned round afterwards.
TEST(FolderLabels, LinksStayWithinTheFolder) {
  TempDir dir;
  write_pets(dir);
  write_files(dir, {"secret/key.png"});
  fs::create_symlink("../cat/1.jpeg", dir.path("pets/dog/inside.jpg"));
  fs::create_directory_symlink("../secret", dir.path("pets/out"));
  dir.write("in.csv", "dog/inside.jpg,1\ndog/a.jpg,0\n");
  SourceRef source = open_list(dir, "in.csv").take();
  EXPECT_THAT(samples_of(*source), ElementsAre("cat/1.jpeg 1", "dog/a.jpg 0"));
  dir.write("out.csv", "dog/a.jpg,0\nout/key.png,1\n");
  expect_error(open_list(dir, "out.csv"), Code::kPermission,
               {"out.csv: line 2: ", "pets/out/key.png", "leads out of"});
  fs::remove(dir.path("pets/dog/inside.jpg"));
  fs::create_symlink(dir.path("secret/key.png"), dir.path("pets/dog/inside.jpg"));
  fs::rename(dir.path("pets/dog/a.jpg"), dir.path("pets/dog/old"));
  fs::create_symlink("../../secret/key.png", dir.path("pets/dog/a.jpg"));
  EXPECT_THAT(samples_of(*source), ElementsAre("DL_ERR_PERMISSION", "DL_ERR_PERMISSION"));
}

TEST(FolderLabels, ACancelledTokenEndsTheReading) {
  TempDir dir;
  write_pets(dir);
  dir.write("l.csv", "dog/b.png,7\n");
  OpenContext context = test_context();
  context.cancel = std::make_shared<CancelToken>();
  context.cancel->cancel();
  EXPECT_EQ(open_at(dir, "pets?labels=" + dir.path("l.csv"), context).status().code(), Code::kCancelled);
}

TEST(FolderLabels, EveryPrefixAndFlippedBitIsAnErrorOrAList) {
  TempDir dir;
  write_pets(dir);
  const std::string lists[] = {
      "path,label\r\n\"dog/a.jpg\",\"x\"\ncat/1.jpeg,y\n",
      "{\"path\":\"dog/a.jpg\",\"label\":1}\n{\"label\":22,\"x\":[1e3],\"path\":\"cat\\u002f1.jpeg\"}\n"};
  for (const std::string& list : lists) {
    const std::string name = list[0] == '{' ? "l.jsonl" : "l.csv";
    int64_t opened = 0;
    for (size_t bit = 0; bit < list.size() * 9; ++bit) {
      std::string text = list.substr(0, bit / 9 + 1);  // every ninth: the prefix alone
      if (bit % 9 < 8) text = list, text[bit / 9] = static_cast<char>(text[bit / 9] ^ (1 << (bit % 9)));
      dir.write(name, text);
      Result<SourceRef> source = open_list(dir, name);
      if (source.is_ok()) {
        ++opened;
        EXPECT_LE(source.value()->count(), 3);
        continue;
      }
      EXPECT_EQ(source.status().message().rfind(dir.path(name) + ": ", 0), 0u) << source.status().message();
      EXPECT_EQ(source.status().message().find('\n'), std::string::npos);
    }
    EXPECT_GT(opened, 10) << name;
  }
}

struct BadList {
  std::string name;
  std::string file;  // l.csv or l.jsonl
  std::string text;
  Code code;
  std::vector<std::string> parts;  // of the message, after the list's path
};

// The trees and files that are bad: bad_files/folder_test.cpp.
TEST(FolderLabels, EveryBadListIsNamedByItsLine) {
  TempDir dir;
  write_pets(dir);
  ASSERT_EQ(::mkfifo(dir.path("pets/pipe.jpg").c_str(), 0600), 0);
  fs::create_symlink("/nowhere/at/all", dir.path("pets/dangling.jpg"));
  fs::create_symlink("loop.jpg", dir.path("pets/loop.jpg"));
  dir.write("good.csv", "dog/a.jpg,1\n");
  const std::string a = "dog/a.jpg,1\n", j = "{\"path\":\"dog/a.jpg\",\"label\":1}\n";
  auto json = [](const std::string& text) { return "{\"path\":\"dog/b.png\",\"label\":" + text + "\n"; };
  const std::vector<BadList> table = {
      {"missing file",
       "l.csv",
       a + "dog/none.jpg,1\n",
       Code::kNotFound,
       {"line 2: ", "dog/none.jpg: no such file"}},
      {"header of other names",
       "l.csv",
       "filename,class\n" + a,
       Code::kNotFound,
       {"line 1", "one would name the columns path and label"}},
      {"a directory", "l.csv", a + "cat,1\n", Code::kNotAFile, {"line 2: ", "pets/cat: is a directory"}},
      {"a directory by its slash",
       "l.csv",
       "cat/,1\n",
       Code::kCorrupt,
       {"line 1: path 'cat/' is a directory"}},
      {"a FIFO", "l.csv", "pipe.jpg,1\n", Code::kNotAFile, {"line 1: ", "pipe.jpg: is a FIFO"}},
      {"a dangling link", "l.csv", "dangling.jpg,1\n", Code::kPermission, {"line 1", "leads out of"}},
      {"a link to itself", "l.csv", "loop.jpg,1\n", Code::kNotFound, {"line 1", "too many symbolic links"}},
      {"a file as directory", "l.csv", "dog/a.jpg/x.jpg,1\n", Code::kNotFound, {"line 1", "not a directory"}},
      {"absolute", "l.csv", "/etc/passwd,1\n", Code::kCorrupt, {"line 1: path '/etc/passwd' is absolute"}},
      {"..",
       "l.csv",
       "../pets/dog/a.jpg,1\n",
       Code::kCorrupt,
       {"line 1: path '../pets/dog/a.jpg' leads out of the folder"}},
      {".. within", "l.csv", "dog/../dog/a.jpg,1\n", Code::kCorrupt, {"leads out of the folder"}},
      {"twice",
       "l.csv",
       a + "dog/b.png,2\n" + a,
       Code::kCorrupt,
       {"line 3: path 'dog/a.jpg' is already named in line 1"}},
      {"twice, written otherwise",
       "l.csv",
       a + "dog/./a.jpg,1\n",
       Code::kCorrupt,
       {"line 2: path 'dog/a.jpg' is already named in line 1"}},
      {"empty path", "l.csv", ",1\n", Code::kCorrupt, {"line 1: the path is empty"}},
      {"NUL in a path",
       "l.csv",
       std::string("dog/a\0.jpg,1\n", 13),
       Code::kCorrupt,
       {"line 1: path 'dog/a\\x00.jpg' contains a NUL"}},
      {"a path of 4096 bytes",
       "l.csv",
       std::string(4096, 'x') + ",1\n",
       Code::kCorrupt,
       {"line 1", "has 4096 bytes, at most 4095"}},
      {"a name of 300 bytes",
       "l.csv",
       std::string(300, 'x') + ",1\n",
       Code::kNotFound,
       {"line 1", "the path is too long"}},
      {"empty label", "l.csv", "dog/a.jpg,\n", Code::kCorrupt, {"line 1: the label is empty"}},
      {"name after numbers",
       "l.csv",
       a + "dog/b.png,cat\n",
       Code::kCorrupt,
       {"line 2: label 'cat': expected a number"}},
      {"number after names",
       "l.csv",
       "dog/b.png,cat\n" + a,
       Code::kCorrupt,
       {"line 2: label '1': expected a name"}},
      {"2^63",
       "l.csv",
       "dog/a.jpg,9223372036854775808\n",
       Code::kOutOfRange,
       {"line 1: label '9223372036854775808': label_dtype=i64"}},
      {"one column",
       "l.csv",
       "dog/a.jpg\n",
       Code::kCorrupt,
       {"line 1: expected a header with the columns path and label, or two columns, got 1 column"}},
      {"three columns", "l.csv", "dog/a.jpg,1,2\n", Code::kCorrupt, {"line 1", "got 3 columns"}},
      {"a column less", "l.csv", a + "dog/b.png\n", Code::kCorrupt, {"line 2: expected 2 columns, got 1"}},
      {"a column more",
       "l.csv",
       "path,label,x\ndog/a.jpg,1\n",
       Code::kCorrupt,
       {"line 2: expected 3 columns, got 2"}},
      {"two columns of a name",
       "l.csv",
       "path,label,path\n",
       Code::kCorrupt,
       {"line 1: two columns are called path"}},
      {"open quote", "l.csv", a + "\"dog/b.png,1\n\n", Code::kCorrupt, {"line 2: a quote is never closed"}},
      {"quote within",
       "l.csv",
       a + "dog/\"b.png,1\n",
       Code::kCorrupt,
       {"line 2: a quote within an unquoted field 'dog/'"}},
      {"text after a quote",
       "l.csv",
       "\"dog/b.png\"x,1\n",
       Code::kCorrupt,
       {"line 1: after a closing quote: expected a comma or the end of the line, got 'x'"}},
      {"bare carriage return",
       "l.csv",
       "dog/a.jpg,1\rdog/b.png,2\r",
       Code::kCorrupt,
       {"line 1: a carriage return without"}},
      {"blank lines count",
       "l.csv",
       a + "\n  \ndog/b.png\n",
       Code::kCorrupt,
       {"line 4: expected 2 columns, got 1"}},
      {"lines within quotes count",
       "l.csv",
       "dog/a.jpg,\"x\ny\"\nnone.jpg,z\n",
       Code::kNotFound,
       {"line 3: "}},
      {"a page",
       "l.csv",
       "<!DOCTYPE html>\n<html><body>503</body></html>\n",
       Code::kCorrupt,
       {"line 1", "got 1 column"}},
      {"a git-LFS pointer",
       "l.csv",
       "version https://git-lfs.github.com/spec/v1\n",
       Code::kCorrupt,
       {"line 1", "got 1 column"}},
      {"no object", "l.jsonl", j + "[1]\n", Code::kCorrupt, {"line 2: byte 1: expected '{', got '['"}},
      {"cut object",
       "l.jsonl",
       json("1"),
       Code::kCorrupt,
       {"line 1: byte 30: expected ',', got the end of the line"}},
      {"text after it",
       "l.jsonl",
       json("1} 2"),
       Code::kCorrupt,
       {"line 1: byte 32: expected the end of the line, got '2'"}},
      {"no label",
       "l.jsonl",
       "{\"path\":\"dog/a.jpg\"}\n",
       Code::kCorrupt,
       {"line 1: expected the keys path and label, label is missing"}},
      {"no path", "l.jsonl", "{\"label\":1}\n", Code::kCorrupt, {"path is missing"}},
      {"path twice",
       "l.jsonl",
       json("1,\"path\":\"x\"}"),
       Code::kCorrupt,
       {"line 1: the key path appears twice"}},
      {"path a number",
       "l.jsonl",
       "{\"path\":3,\"label\":1}\n",
       Code::kCorrupt,
       {"line 1: byte 9: expected a string, got '3'"}},
      {"label a fraction",
       "l.jsonl",
       json("1.5}"),
       Code::kCorrupt,
       {"line 1: label '1.5': expected a whole number from 0, or a name"}},
      {"label with exponent",
       "l.jsonl",
       json("1e-1}"),
       Code::kCorrupt,
       {"line 1: label '1e-1': expected a whole"}},
      {"label below 0", "l.jsonl", json("-1}"), Code::kOutOfRange, {"line 1: label '-1': expected a whole"}},
      {"label null",
       "l.jsonl",
       json("null}"),
       Code::kCorrupt,
       {"expected a label: an integer or a name in quotes, got 'n'"}},
      {"label 01", "l.jsonl", json("01}"), Code::kCorrupt, {"a number that starts with 0"}},
      {"label -", "l.jsonl", json("-}"), Code::kCorrupt, {"expected a digit, got '}'"}},
      {"label 2^64",
       "l.jsonl",
       json("18446744073709551616}"),
       Code::kOutOfRange,
       {"line 1: label '18446744073709551616'"}},
      {"open string",
       "l.jsonl",
       "{\"path\":\"dog/a.jpg\n",
       Code::kCorrupt,
       {"line 1: a string that is never closed"}},
      {"control character",
       "l.jsonl",
       json("\"a\tb\"}"),
       Code::kCorrupt,
       {"a control character within a string"}},
      {"unknown escape", "l.jsonl", json("\"\\x\"}"), Code::kCorrupt, {"expected an escape, got 'x'"}},
      {"half a surrogate",
       "l.jsonl",
       json("\"\\ud800\"}"),
       Code::kCorrupt,
       {"a high surrogate without its low one"}},
      {"the other half",
       "l.jsonl",
       json("\"\\udc00\"}"),
       Code::kCorrupt,
       {"a low surrogate without its high one"}},
      {"NUL by escape", "l.jsonl", json("\"a\\u0000\"}"), Code::kCorrupt, {"contains a NUL byte"}},
      {"deep nesting",
       "l.jsonl",
       "{\"x\":" + std::string(100'000, '['),
       Code::kCorrupt,
       {"more than 32 levels"}},
      {"trailing comma", "l.jsonl", json("1,}"), Code::kCorrupt, {"expected a string, got '}'"}},
      {"single quotes", "l.jsonl", "{'path':'a'}\n", Code::kCorrupt, {"byte 2: expected a string"}},
      {"NaN", "l.jsonl", "{\"x\":NaN}\n", Code::kCorrupt, {"byte 6: expected a value, got 'N'"}},
      {"an array of all", "l.jsonl", "[" + j + "]", Code::kCorrupt, {"line 1: byte 1: expected '{'"}},
  };
  for (const BadList& bad : table) {
    SCOPED_TRACE(bad.name);
    dir.write(bad.file, bad.text);
    OpenContext context = test_context();
    Result<SourceRef> source = open_at(dir, "pets?labels=" + dir.path(bad.file), context);
    expect_error(source, bad.code, bad.parts);
    ASSERT_FALSE(source.is_ok());
    EXPECT_EQ(source.status().message().rfind(dir.path(bad.file) + ": line ", 0), 0u);
    EXPECT_EQ(context.memory->in_use_bytes(), 0);
    EXPECT_THAT(samples_of(*open_list(dir, "good.csv").value()), ElementsAre("dog/a.jpg 1"))
        << "the next good list";
  }
  EXPECT_GE(table.size(), 40u);
  ::testing::Test::RecordProperty("cases", static_cast<int>(table.size()));
  dir.write("u8.csv", "dog/a.jpg,255\ndog/b.png,256\n");
  expect_error(open_list(dir, "u8.csv", "&label_dtype=u8"), Code::kOutOfRange,
               {"line 2: label '256': label_dtype=u8 holds 0 to 255"});
  expect_error(open_list(dir, "absent.csv"), Code::kNotFound, {"absent.csv: no such file"});
}

}  // namespace
}  // namespace dataline::folder_labels_test
