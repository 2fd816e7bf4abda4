// index=FILE: the index is used while it fits, rebuilt when it does not, and never trusted when it is damaged.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "core/source/identity.h"
#include "tests/source/folder/folder_files.h"
#include "tests/source/located.h"
#include "tests/support/read_whole.h"

namespace dataline::folder_saved_test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string with_checksum(std::string text) {
  text.replace(24, 8, std::string(8, '\0'));
  Digest digest;
  digest.add(std::as_bytes(std::span(text.data(), 96)));
  digest.add(std::as_bytes(std::span(text.data() + 96, text.size() - 96)));
  return text.replace(24, 8, raw_bytes(digest.value()));
}

class SavedFolderIndex : public ::testing::Test {
 protected:
  SavedFolderIndex() {
    write_pets(dir_);
    make_old(dir_, "pets");
  }
  Result<SourceRef> open(const std::string& keys = "") {
    return open_at(dir_, "pets?index=" + dir_.path("index") + keys);
  }
  std::string bytes() const { return read_file("index"); }
  std::string read_file(const std::string& name) const { return read_whole(dir_.path(name)); }
  uint64_t inode() const {
    struct stat info = {};
    EXPECT_EQ(::stat(dir_.path("index").c_str(), &info), 0);
    return info.st_ino;
  }
  // Opens with an index that does not fit: it says why, and the next opening finds it good.
  void expect_anew(const std::string& why, const std::string& keys = "") {
    Result<SourceRef> source = open(keys);
    ASSERT_TRUE(source.is_ok()) << source.status().message();
    EXPECT_THAT(source.value()->info().notes,
                ElementsAre(testing::AllOf(HasSubstr("was rebuilt"), HasSubstr(why))));
  }

  TempDir dir_;
  const std::vector<std::string> pets_ = {"cat/1.jpeg 0", "cat/x/2.JPG 0", "dog/a.jpg 1", "dog/b.png 1"};
};

TEST_F(SavedFolderIndex, IsWrittenOnceAndGivesTheSameSet) {
  SourceRef first = open().take();
  const uint64_t written = inode();
  std::string loaded;
  for (IoMode io : {IoMode::kAuto, IoMode::kMemory}) {
    SourceRef again = open_at(dir_, "pets?index=" + dir_.path("index"), test_context(io)).take();
    EXPECT_EQ(samples_of(*again), pets_);
    EXPECT_EQ(*again->facts().classes, *first->facts().classes);
    EXPECT_EQ(again->schema().fields[0].max_bytes, first->schema().fields[0].max_bytes);
    EXPECT_THAT(again->info().notes, IsEmpty());
    if (io == IoMode::kAuto) loaded = content_identity(*again).take().names;
  }
  EXPECT_EQ(content_identity(*first).take().names, loaded);
  EXPECT_EQ(inode(), written);
  EXPECT_EQ(std::distance(fs::directory_iterator(dir_.path()), fs::directory_iterator()), 2)
      << "no temporary file";
}

TEST_F(SavedFolderIndex, KeepsNotesAndSetsWithoutLabels) {
  dir_.write("pets/old.bmp", "x");
  make_old(dir_, "pets");
  for (const char* keys : {"&labels=none", ""}) {
    SourceRef made = open(keys).take(), loaded = open(keys).take();
    EXPECT_EQ(samples_of(*loaded), samples_of(*made));
    EXPECT_EQ(loaded->facts().classes == nullptr, made->facts().classes == nullptr);
    EXPECT_THAT(loaded->info().notes, ElementsAre(HasSubstr("1 file")));
  }
}

TEST_F(SavedFolderIndex, IsMadeAnewWhenADirectoryChanged) {
  ASSERT_TRUE(open().is_ok());
  write_files(dir_, {"pets/cat/x/3.png"});
  expect_anew("pets/cat/x changed");
  EXPECT_EQ(open().value()->count(), 5);
  make_old(dir_, "pets");
  expect_anew("changed");
  fs::remove_all(dir_.path("pets/cat/x"));
  make_old(dir_, "pets");
  expect_anew("pets changed");
  EXPECT_THAT(open().value()->info().notes, IsEmpty());
  fs::rename(dir_.path("pets/dog"), dir_.path("pets/was"));
  fs::create_directory(dir_.path("pets/dog"));
  fs::rename(dir_.path("pets/was/a.jpg"), dir_.path("pets/dog/a.jpg"));
  fs::remove_all(dir_.path("pets/was"));
  make_old(dir_, "pets");
  expect_anew("pets changed");
  EXPECT_EQ(open().value()->count(), 2);
}

// Archives set the times of modification, and a file system reuses the inode of a directory that was removed.
TEST_F(SavedFolderIndex, IsMadeAnewWhenADirectoryHasItsOldTimesAndOtherFiles) {
  ASSERT_TRUE(open().is_ok());
  ASSERT_THAT(open().value()->info().notes, IsEmpty());
  const auto time = fs::last_write_time(dir_.path("pets/dog"));
  fs::rename(dir_.path("pets/dog/a.jpg"), dir_.path("pets/dog/z.jpg"));
  fs::last_write_time(dir_.path("pets/dog"), time);
  expect_anew("pets/dog changed");
  EXPECT_EQ(samples_of(*open().value()).back(), "dog/a.jpg 1") << "which is called z.jpg now, after b.png";
}

TEST_F(SavedFolderIndex, OfOtherKeysOrAnotherFolderDoesNotFit) {
  ASSERT_TRUE(open().is_ok());
  expect_anew("other keys", "&labels=none");
  expect_anew("other keys");
  expect_anew("other keys", "&extensions=jpg,jpeg,png");
  expect_anew("other keys");
  write_files(dir_, {"birds/owl/1.jpg"});
  make_old(dir_, "birds");
  SourceRef birds = open_at(dir_, "birds?index=" + dir_.path("index")).take();
  EXPECT_THAT(birds->info().notes, ElementsAre(HasSubstr("birds is a different directory")));
  EXPECT_EQ(birds->count(), 1);
}

// What changed within the tick of its clock in which it was listed may have changed again.
TEST_F(SavedFolderIndex, OfADirectoryThatIsBeingWrittenIsNotTrusted) {
  write_files(dir_, {"pets/dog/new.jpg"});
  // As if it were written right now, however long this process is not given a processor.
  std::filesystem::last_write_time(dir_.path("pets/dog"),
                                   std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  ASSERT_TRUE(open().is_ok());
  expect_anew("pets/dog changed while it was listed");
}

TEST_F(SavedFolderIndex, ASampleThatGrewIsFoundWhenItIsRead) {
  ASSERT_TRUE(open().is_ok());
  std::ofstream(dir_.path("pets/dog/a.jpg"), std::ios::app) << "more";
  EXPECT_THAT(samples_of(*open().value()), ElementsAre(pets_[0], pets_[1], "DL_ERR_CHANGED", pets_[3]));
}

TEST_F(SavedFolderIndex, NobodysFileIsWrittenOver) {
  for (const char* text : {"path,label\n", "DLFOLDES", "\x93NUMPY", "D\n"}) {
    dir_.write("index", text);
    expect_error(open(), Code::kCorrupt,
                 {dir_.path("index") + ": offset 0: not an index of a folder", "not overwritten"});
    EXPECT_EQ(bytes(), text);
  }
}

TEST_F(SavedFolderIndex, EveryCutAndFlippedBitIsRefusedByName) {
  ASSERT_TRUE(open().is_ok());
  const std::string good = bytes();
  for (size_t length = 0; length < good.size(); ++length) {
    dir_.write("index", good.substr(0, length));
    expect_error(open(), Code::kTruncated, {dir_.path("index") + ": offset ", "remove it"});
  }
  dir_.write("index", good + "x");
  EXPECT_EQ(open().status().code(), Code::kTruncated);
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string flipped = good;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    dir_.write("index", flipped);
    Result<SourceRef> source = open();
    bool version = bit >= 64 && bit < 96;  // another version is rebuilt
    ASSERT_EQ(source.is_ok(), version) << "bit " << bit;
    if (version) continue;
    EXPECT_EQ(source.status().message().rfind(dir_.path("index") + ": offset ", 0), 0u);
  }
  dir_.write("index", good);
  EXPECT_EQ(samples_of(*open().value()), pets_);
}

// A checksum that is right over lengths, places and paths that are wrong.
TEST_F(SavedFolderIndex, NonsenseUnderAGoodChecksumIsRefused) {
  ASSERT_TRUE(open().is_ok());
  const std::string good = bytes();
  ASSERT_EQ(with_checksum(good), good);
  int64_t refused = 0;
  for (size_t member = 40; member < 88;
       member += 8) {  // counts of directories, classes, notes, begins, files, bytes
    for (uint64_t value : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 31, uint64_t{1} << 32, uint64_t{1} << 61,
                           (uint64_t{1} << 63) - 1, ~uint64_t{0}}) {
      std::string text = good;
      text.replace(member, 8, raw_bytes(value));
      if (text == good) continue;
      dir_.write("index", with_checksum(text));
      OpenContext context = test_context();
      Result<SourceRef> source = open_at(dir_, "pets?index=" + dir_.path("index"), context);
      if (member == 40 &&
          source.is_ok()) {  // what is no directory is taken for one that is not there any more
        EXPECT_THAT(source.value()->info().notes, ElementsAre(HasSubstr("was rebuilt")));
        continue;
      }
      expect_error(source, Code::kCorrupt, {dir_.path("index"), "contradicts itself"});
      EXPECT_LT(context.memory->peak_bytes(), 1 << 20);
      ++refused;
    }
  }
  EXPECT_GT(refused, 30);
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"1.jpeg", "../peg"}, {"cat/1.", "/at/1."}, {"2.JPG", "2//PG"}}) {
    std::string text = good;
    size_t at = text.rfind(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    dir_.write("index", with_checksum(text));
    expect_error(open(), Code::kCorrupt, {"contradicts itself"});
  }
}

// Where the classes' files begin: the first at 0, none before the one ahead of it, the last to the end.
TEST_F(SavedFolderIndex, ClassesThatDoNotShareTheFilesOutAreRefused) {
  using Begins = std::vector<int64_t>;
  ASSERT_TRUE(open().is_ok());
  const std::string good = bytes(), begins = raw_bytes(Begins{0, 2, 4});
  const size_t at = good.find(begins);
  ASSERT_NE(at, std::string::npos);
  for (const Begins& bad : {Begins{1, 2, 4}, {-1, 2, 4}, {2, 2, 4}, {0, 5, 4}, {0, 2, 3}, {0, 2, 5}}) {
    std::string text = good;
    dir_.write("index", with_checksum(text.replace(at, begins.size(), raw_bytes(bad))));
    expect_error(open(), Code::kCorrupt, {dir_.path("index"), "contradicts itself"});
  }
  for (const Begins& other : {Begins{0, 0, 4}, {0, 4, 4}}) {
    std::string text = good;
    dir_.write("index", with_checksum(text.replace(at, begins.size(), raw_bytes(other))));
    EXPECT_TRUE(open().is_ok()) << "a class without files is none that contradicts";
  }
}

TEST_F(SavedFolderIndex, APlaceThatCannotBeWrittenIsNamedBeforeTheWalk) {
  expect_error(open_at(dir_, "pets?index=" + dir_.path("none/index")), Code::kNotFound, {"none/index"});
  for (const char* inside : {"pets", "pets/index", "pets/new/index"}) {
    expect_error(open_at(dir_, "pets?index=" + dir_.path(inside)), Code::kBadOption,
                 {std::string(inside) + " is in ", "a directory of the dataset"});
  }
  fs::create_directory(dir_.path("other"));
  expect_error(open_at(dir_, "pets?index=" + dir_.path("other")), Code::kNotAFile, {"other: is a directory"});
  ASSERT_EQ(::mkfifo(dir_.path("pipe").c_str(), 0600), 0);
  expect_error(open_at(dir_, "pets?index=" + dir_.path("pipe")), Code::kNotAFile, {"pipe: is a FIFO"});
  fs::create_directory(dir_.path("pets/empty"));
  EXPECT_EQ(open().status().code(), Code::kEmpty);
  EXPECT_FALSE(fs::exists(dir_.path("index"))) << "nothing is saved of a folder that is refused";
  EXPECT_FALSE(fs::exists(dir_.path("index.new0")));
}

}  // namespace
}  // namespace dataline::folder_saved_test
