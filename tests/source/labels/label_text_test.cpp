// labels=FILE, to the letter: what belongs to a name in a list and what does not, and how much of it messages show.
// The rows themselves: folder_labels_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/uri.h"
#include "tests/source/folder/folder_files.h"
#include "tests/support/uri_escape.h"

namespace dataline::label_text_test {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;

class LabelText : public ::testing::Test {
 protected:
  LabelText() { write_pets(dir_); }
  Result<SourceRef> open(const std::string& file, const std::string& text) {
    return open_at(dir_, "pets?labels=" + uri_escape(dir_.write(file, text)));
  }
  // What is said of a list in whose second line this stands where a number should.
  std::string said_of_label(const std::string& label) {
    return open("l.csv", "dog/a.jpg,1\ndog/b.png," + label + "\n").status().message();
  }
  TempDir dir_;
};

// Excel and PowerShell begin their files with one.
TEST_F(LabelText, AByteOrderMarkIsNoPartOfTheFirstName) {
  const std::string mark = "\xef\xbb\xbf";
  for (const char* text : {"path,label\ndog/b.png,7\n", "label,path\n7,dog/b.png\n", "dog/b.png,7\n"}) {
    Result<SourceRef> source = open("l.csv", mark + text);
    ASSERT_TRUE(source.is_ok()) << source.status().message();
    EXPECT_THAT(samples_of(*source.value()), ElementsAre("dog/b.png 7"));
  }
  Result<SourceRef> source = open("l.jsonl", mark + "{\"path\":\"dog/b.png\",\"label\":7}\n");
  ASSERT_TRUE(source.is_ok()) << source.status().message();
  EXPECT_THAT(samples_of(*source.value()), ElementsAre("dog/b.png 7"));
  expect_error(open("l.csv", mark + mark + "dog/b.png,7\n"), Code::kNotFound, {"line 1"});
}

TEST_F(LabelText, AStringOfJsonMayHoldEveryByteFromTheSpaceOn) {
  write_files(dir_, {"pets/my dog\x7f.png"});
  Result<SourceRef> source =
      open("l.jsonl", "{\"a key\":\" \",\"path\":\"my dog\x7f.png\",\"label\":\" golden retriever \"}\n");
  ASSERT_TRUE(source.is_ok()) << source.status().message();
  EXPECT_THAT(samples_of(*source.value()), ElementsAre("my dog\x7f.png 0"));
  EXPECT_THAT(*source.value()->facts().classes, ElementsAre(" golden retriever "));
  expect_error(open("l.jsonl", "{\"path\":\"my\x1f.png\",\"label\":1}\n"), Code::kCorrupt,
               {"line 1: byte 12: a control character within a string"});
}

TEST_F(LabelText, BlankLinesAreSkippedInBothKindsOfLists) {
  for (const std::string blank : {"\n", "\r\n", " \t\n", "\n\n\n"}) {
    const std::string a = "dog/a.jpg", b = "dog/b.png", json = "{\"path\":\"";
    for (const auto& [file, text] : std::vector<std::pair<std::string, std::string>>{
             {"l.csv", blank + a + ",1\n" + blank + b + ",2\n" + blank},
             {"l.csv", blank + "path,label\n" + blank + a + ",1\n" + blank + b + ",2\n" + blank},
             {"l.jsonl",
              blank + json + a + "\",\"label\":1}\n" + blank + json + b + "\",\"label\":2}\n" + blank}}) {
      Result<SourceRef> source = open(file, text);
      ASSERT_TRUE(source.is_ok()) << source.status().message();
      EXPECT_THAT(samples_of(*source.value()), ElementsAre(a + " 1", b + " 2"));
    }
  }
  expect_error(open("l.jsonl", "\n \n{\"path\":1}\n"), Code::kCorrupt, {"line 3: "});
  expect_error(open("l.csv", "\n \nnone.png,1\n"), Code::kNotFound, {"line 3: "});
}

TEST_F(LabelText, MessagesShow64BytesOfAName) {
  const std::string name = std::string(63, 'n') + "e";
  EXPECT_THAT(said_of_label(name),
              EndsWith("line 2: label '" + name + "': expected a number as in the lines before"));
  EXPECT_THAT(said_of_label(name + "f"),
              EndsWith("line 2: label '" + name + "...': expected a number as in the lines before"));
}

TEST_F(LabelText, MessagesEscapeControlCharacters) {
  EXPECT_THAT(said_of_label("a\x1f\x7f~ \tb"),
              EndsWith("line 2: label 'a\\x1f\\x7f~ \\tb': expected a number as in the lines before"));
}

}  // namespace
}  // namespace dataline::label_text_test
