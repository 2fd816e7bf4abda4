// Where a record lies, as messages about bad samples say it: every format, through everything that sources are made of.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/source.h"

#include <gtest/gtest.h>

#include "core/source/composed/composed.h"
#include "core/source/open.h"
#include "tests/source/composed/compose_support.h"
#include "tests/source/tar/tar_files.h"

namespace dataline::place_test {
namespace {

class Places : public testing::Test {
 protected:
  SourceRef open(const std::string& uri) {
    Result<SourceRef> source = open_source(uri, context_);
    EXPECT_TRUE(source.is_ok()) << uri << ": " << (source.is_ok() ? "" : source.status().message());
    return source.take();
  }
  // The place of a record's column, the test's directory as `.`.
  std::string place(const SourceRef& source, int64_t index, size_t column = 0) {
    Place found = source->place_of(index, column);
    if (found.path.starts_with(dir_.path())) found.path.replace(0, dir_.path().size(), ".");
    return place_text(found);
  }
  std::string place(const std::string& uri, int64_t index, size_t column = 0) {
    return place(open(uri), index, column);
  }

  TempDir dir_;
  OpenContext context_ = test_context();
};

TEST_F(Places, FilesOfRecordsNameRecordAndOffset) {
  const std::string at = dir_.path();
  dir_.write("a.npy", npy_file("|u1", "(2, 3)", "abcdef"));
  EXPECT_EQ(place("npy:" + at + "/a.npy", 1), "./a.npy: record 1, offset 131");
  std::string fortran = npy_file("|u1", "(2, 3)", "abcdef");
  fortran.replace(fortran.find("False"), 5, "True ");
  dir_.write("f.npy", fortran);
  EXPECT_EQ(place("npy:" + at + "/f.npy", 1), "./f.npy: record 1");
  dir_.write("r.bin", std::string(50, 'r'));
  const std::string raw = "raw:" + at + "/r.bin?fields=label:u8,image:u8[2x2]&header=5";
  EXPECT_EQ(place(raw, 3, 0), "./r.bin: record 3, offset 20");
  EXPECT_EQ(place(raw, 3, 1), "./r.bin: record 3, offset 21");
  EXPECT_EQ(place("tokens:" + at + "/r.bin?length=4&stride=2", 5), "./r.bin: record 5, offset 20");
}

TEST_F(Places, InAFolderItIsTheFile) {
  dir_.write("set/cat/1.jpg", "one");
  dir_.write("set/d\xc3\xb6g/2.jpg", "two");
  for (const char* io : {"auto", "memory"}) {
    context_.io = std::string_view(io) == "memory" ? IoMode::kMemory : IoMode::kAuto;
    EXPECT_EQ(place("folder:" + dir_.path("set"), 1), "./set/d\xc3\xb6g/2.jpg");
  }
}

TEST_F(Places, InATarItIsTheMemberAsItIsCalledThere) {
  const std::string tar = tar_member("n/1.JPG", "one") + tar_member("n/1.cls", "7") +
                          tar_member("n/2.png", "two") + tar_member("n/2.cls", "8") + tar_end();
  dir_.write("s.tar", tar);
  const std::string uri = "tar:" + dir_.path("s.tar");
  const SourceRef source = open(uri);
  ASSERT_EQ(source->schema().fields[0].name, "image");
  EXPECT_EQ(place(source, 0, 0), "./s.tar: member n/1.JPG, offset 512");
  EXPECT_EQ(place(source, 1, 0), "./s.tar: member n/2.png, offset 2560");
  EXPECT_EQ(place(source, 1, 1), "./s.tar: member n/2.cls, offset 3584");
  EXPECT_EQ(place(source, 1, 2), "./s.tar: sample n/2, offset 2560");
  context_.io = IoMode::kPread;
  EXPECT_EQ(place(uri, 1, 0), "./s.tar: member n/2.png, offset 2560");
}

TEST_F(Places, ThroughEverythingThatIsMadeOfOthersItIsThePartsOwn) {
  dir_.write("a.npy", npy_file("|u1", "(3,)", "abc"));
  dir_.write("b.npy", npy_file("|u1", "(3,)", "def"));
  const std::string a = dir_.path("a.npy"), b = dir_.path("b.npy");
  const SourceRef joined = open("npy:" + a + "," + b);
  EXPECT_EQ(place(joined, 2), "./a.npy: record 2, offset 130");
  EXPECT_EQ(place(joined, 4), "./b.npy: record 1, offset 129");
  const SourceRef beside = open("npy:x=" + a + ",y=" + b);
  EXPECT_EQ(place(beside, 1, 0), "./a.npy: record 1, offset 129");
  EXPECT_EQ(place(beside, 1, 1), "./b.npy: record 1, offset 129");
  const std::vector<int64_t> chosen = {5, 0};
  const SourceRef subset = subset_source(joined, chosen, {}, *context_.memory).take();
  EXPECT_EQ(place(subset, 0), "./b.npy: record 2, offset 130");
  EXPECT_EQ(place(subset, 1), "./a.npy: record 0, offset 128");
}

TEST_F(Places, RowsOfTheHostAreCountedInTheirOwnArrayOrReader) {
  EXPECT_EQ(place(numbered(1, 9), 7), "array row 7");
  EXPECT_EQ(place(read_texts(1, 9), 7), "reader: record 7");
  const SourceRef joined = concat_sources({{"", texts(0, 4), ""}, {"", read_texts(1, 9), ""}}).take();
  EXPECT_EQ(place(joined, 3), "part 0: array row 3");
  EXPECT_EQ(place(joined, 5, 1), "part 1: reader: record 1");
  const SourceRef beside = zip_sources({{"left", numbered(0, 4), ""}, {"right", numbered(1, 4), ""}}).take();
  EXPECT_EQ(place(beside, 2, 1), "right: array row 2");
}

TEST_F(Places, OfALongPathTheEndIsKeptWithinTheBoundAndWithoutHalfACharacter) {
  const std::string path = "/data/" + std::string(300, 'x') + "/n01440764_10026.JPEG";
  for (const std::string& within :
       {std::string(), std::string("record 7, offset 1024"), std::string(400, 'w')}) {
    const std::string text = place_text({path, within});
    EXPECT_TRUE(text.starts_with("...")) << text;
    EXPECT_NE(text.find("/n01440764_10026.JPEG"), std::string::npos) << text;
    EXPECT_LE(text.size(), kMaxPlaceBytes) << text;
  }
  EXPECT_EQ(place_text({"short.jpg", ""}), "short.jpg");
  for (size_t most = 8; most < 20; ++most) {
    const std::string tail = tail_of("aaaaaaaaaaaaaaaaaaaaaaa\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac", most);
    EXPECT_LE(tail.size(), most);
    EXPECT_TRUE(tail.starts_with("...a") || tail.starts_with("...\xe2")) << tail;
  }
}

}  // namespace
}  // namespace dataline::place_test
