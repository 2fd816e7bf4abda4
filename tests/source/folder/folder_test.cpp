// The folder source: which files, in which order, with which labels; how they are read.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>

#include "core/base/cancel.h"
#include "core/source/composed/composed.h"
#include "core/source/folder/paths.h"
#include "core/source/identity.h"
#include "tests/source/folder/folder_files.h"
#include "tests/source/located.h"

namespace dataline::folder_test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<std::string> kPets = {"cat/1.jpeg 0", "cat/x/2.JPG 0", "dog/a.jpg 1", "dog/b.png 1"};

TEST(Folder, ClassesAreTheSortedSubdirectoriesAndFilesComeAsImageFolderListsThem) {
  TempDir dir;
  write_pets(dir);
  for (IoMode io : {IoMode::kAuto, IoMode::kMmap, IoMode::kPread, IoMode::kMemory}) {
    SourceRef source = open_at(dir, "pets", test_context(io)).take();
    EXPECT_EQ(samples_of(*source), kPets);
    ASSERT_NE(source->facts().classes, nullptr);
    EXPECT_THAT(*source->facts().classes, ElementsAre("cat", "dog"));
    EXPECT_EQ(source->info().format, "folder");
    EXPECT_TRUE(source->info().notes.empty());
  }
}

TEST(Folder, FieldsAreRaggedBytesAndALabel) {
  TempDir dir;
  write_pets(dir);
  SourceRef source = open_at(dir, "pets").take();
  ASSERT_EQ(source->schema().fields.size(), 2u);
  const Field& image = source->schema().fields[0];
  EXPECT_EQ(image.name + " " + field_type_text(image), "image u8[-1]");
  EXPECT_EQ(image.max_bytes, static_cast<int64_t>(std::string("bytes of pets/cat/x/2.JPG").size()));
  EXPECT_EQ(source->scratch_bytes(1), 64) << "the largest file, whatever max_bytes_per_sample";
  EXPECT_EQ(field_type_text(source->schema().fields[1]), "i64");
  SourceRef narrow = open_at(dir, "pets?label_dtype=u8").take();
  EXPECT_EQ(field_type_text(narrow->schema().fields[1]), "u8");
  EXPECT_EQ(samples_of(*narrow), kPets);
}

TEST(Folder, DirectoriesAreSortedByTheirWholePathAndHiddenNamesAreLeftOut) {
  TempDir dir;
  // '-' and '.' come before '/', so that "a-b" and "a.b" stand between "a" and what is below it.
  write_files(dir, {"p/c/a/1.jpg", "p/c/a-b/2.jpg", "p/c/a.b/3.jpg", "p/c/z.jpg", "p/c/.hidden.jpg",
                    "p/c/.jpg", "p/c/.d/4.jpg", "p/c/A.jpg", "p/c/a/b/5.jpg", "p/.e/6.jpg"});
  SourceRef source = open_at(dir, "p").take();
  EXPECT_THAT(samples_of(*source, "bytes of p/"),
              ElementsAre("c/A.jpg 0", "c/z.jpg 0", "c/a/1.jpg 0", "c/a-b/2.jpg 0", "c/a.b/3.jpg 0",
                          "c/a/b/5.jpg 0"));
  EXPECT_THAT(source->info().notes,
              ElementsAre(dir.path("p") + ": left out: 4 hidden names (.e, c/.d, ...)"));
}

TEST(Folder, ExtensionsAreTorchvisionsWhateverTheirCase) {
  TempDir dir;
  for (const char* name : {"a.JPG", "b.jpeg", "c.PnG", "d.ppm", "e.bmp", "f.pgm", "g.tif", "h.TIFF", "i.webp",
                           "j.gif", "k.jpg.txt", "l", "jpg", "m.jpg~", "n.jpgx"}) {
    dir.write(std::string("p/c/") + name, std::string("bytes of pets/") + name);
  }
  SourceRef source = open_at(dir, "p").take();
  EXPECT_THAT(samples_of(*source), ElementsAre("a.JPG 0", "b.jpeg 0", "c.PnG 0", "d.ppm 0", "e.bmp 0",
                                               "f.pgm 0", "g.tif 0", "h.TIFF 0", "i.webp 0"));
  EXPECT_THAT(source->info().notes,
              ElementsAre(dir.path("p") + ": left out: 6 files of other kinds (c/j.gif, ...)",
                          "3 files are .bmp, .tif, .tiff: decode does not support these"));
  EXPECT_THAT(samples_of(*open_at(dir, "p?extensions=.GIF,jpg.txt").take()),
              ElementsAre("j.gif 0", "k.jpg.txt 0"));
}

TEST(Folder, NamesAreOrderedAsPythonOrdersThem) {
  // As Python 3 sorts what os.listdir gives: a byte that is no UTF-8 counts as U+DC80 to U+DCFF.
  std::vector<std::string> names = {"a",
                                    "a\x7f",
                                    "a\xc3\xa9",
                                    "a\xe2\x82\xac",
                                    "a\xed\x9f\xbf",
                                    "a\x80",
                                    "a\xe2\x82",
                                    "a\xe2\x82g",
                                    "a\xff",
                                    "a\xee\x80\x80",
                                    "a\xef\xbf\xbd",
                                    "a\xf0\x9f\x98\x80",
                                    "a\xf4\x8f\xbf\xbf",
                                    "b"};
  for (size_t i = 0; i < names.size(); ++i) {
    for (size_t j = 0; j < names.size(); ++j)
      EXPECT_EQ(python_less(names[i], names[j]), i < j) << i << " " << j;
  }
  // Overlong forms, surrogates and what is above U+10FFFF are bytes on their own.
  for (const char* bad :
       {"\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80", "\xc3"}) {
    EXPECT_TRUE(python_less(bad, "\xee\x80\x80") && python_less("\xed\x9f\xbf", bad)) << bad;
  }
}

TEST(Folder, LinksAreFollowedAndThoseThatLeadBackAreNoted) {
  TempDir dir;
  write_files(dir, {"p/c/1.jpg", "far/2.jpg", "far/deep/3.jpg"});
  fs::create_directory_symlink(dir.path("far"), dir.path("p/c/link"));
  fs::create_directory_symlink(dir.path("far"), dir.path("p/linked"));
  fs::create_symlink(dir.path("far/2.jpg"), dir.path("p/c/0.jpg"));
  fs::create_directory_symlink(dir.path("p/c"), dir.path("far/deep/back"));
  fs::create_directory_symlink("..", dir.path("p/c/up"));
  SourceRef source = open_at(dir, "p").take();
  EXPECT_THAT(samples_of(*source, "bytes of "),
              ElementsAre("far/2.jpg 0", "p/c/1.jpg 0", "far/2.jpg 0", "far/deep/3.jpg 0", "far/2.jpg 1",
                          "far/deep/3.jpg 1", "far/2.jpg 1", "p/c/1.jpg 1"));
  EXPECT_THAT(source->info().notes,
              ElementsAre(HasSubstr("p/c/link/deep/back: leads back to a directory above it: not followed"),
                          HasSubstr("p/c/up: leads back"), HasSubstr("p/linked/deep/back/link: leads back"),
                          HasSubstr("p/linked/deep/back/up: leads back")));
}

TEST(Folder, WithoutLabelsAnyTreeIsTakenAsItStands) {
  TempDir dir;
  write_pets(dir);
  write_files(dir, {"pets/top.png"});
  SourceRef source = open_at(dir, "pets?labels=none").take();
  EXPECT_THAT(samples_of(*source),
              ElementsAre("top.png", "cat/1.jpeg", "cat/x/2.JPG", "dog/a.jpg", "dog/b.png"));
  EXPECT_EQ(source->schema().fields.size(), 1u);
  EXPECT_EQ(source->facts().classes, nullptr);
  SourceRef labelled = open_at(dir, "pets").take();
  EXPECT_EQ(samples_of(*labelled), kPets);
  EXPECT_THAT(labelled->info().notes, ElementsAre("1 file is outside the class folders: not read"));
}

TEST(Folder, AClassWithoutFilesIsAnErrorUnlessAllowed) {
  TempDir dir;
  write_pets(dir);
  dir.write("pets/ant/readme.txt", "no image");
  fs::create_directory(dir.path("pets/eel"));
  expect_error(open_at(dir, "pets"), Code::kEmpty,
               {"in class ant, eel; allow_empty=true", "(.jpg .jpeg .png"});
  SourceRef source = open_at(dir, "pets?allow_empty=true").take();
  EXPECT_THAT(*source->facts().classes, ElementsAre("ant", "cat", "dog", "eel"));
  EXPECT_THAT(samples_of(*source),
              ElementsAre("cat/1.jpeg 1", "cat/x/2.JPG 1", "dog/a.jpg 2", "dog/b.png 2"));
  EXPECT_EQ(open_at(dir, "pets/eel?labels=none&allow_empty=true").value()->count(), 0);
  EXPECT_EQ(
      open_at(dir, "pets?allow_empty=true&extensions=gif", test_context(IoMode::kMemory)).value()->count(),
      0);
}

TEST(Folder, ARowThatFailsLeavesTheOthersInTheirRun) {
  TempDir dir;
  write_pets(dir);
  SourceRef source = open_at(dir, "pets").take();
  fs::remove(dir.path("pets/cat/x/2.JPG"));
  EXPECT_THAT(samples_of(*source),
              ElementsAre("cat/1.jpeg 0", "DL_ERR_NOT_FOUND", "dog/a.jpg 1", "dog/b.png 1"));
  Fetched backwards = fetch(*source, {3, 1, 0, 1, 2});
  EXPECT_EQ(backwards.errors.size(), 2u);
  EXPECT_EQ(backwards.errors.at(1).sample_index(), 1);
  EXPECT_EQ(backwards.bytes[0][4], "bytes of pets/dog/a.jpg");
}

TEST(Folder, AdviceAndResidencyNeverFail) {
  TempDir dir;
  write_pets(dir);
  dir.write("pets/dog/c.png", "");
  for (IoMode io : {IoMode::kAuto, IoMode::kMemory}) {
    SourceRef source = open_at(dir, "pets", test_context(io)).take();
    const std::vector<int64_t> all = {4, 0, 1, 2, 3};
    source->advise(all);
    EXPECT_TRUE(source->cached(0)) << "just written";
    if (io == IoMode::kAuto) fs::remove(dir.path("pets/cat/1.jpeg"));
    source->advise(all);
    EXPECT_TRUE(source->cached(0)) << "cannot be told";
    EXPECT_TRUE(source->cached(4)) << "empty";
    write_pets(dir);
  }
}

TEST(Folder, ItsOwnNameMayChangeAndAForkedChildReadsOn) {
  TempDir dir;
  write_pets(dir);
  SourceRef source = open_at(dir, "pets").take();
  fs::rename(dir.path("pets"), dir.path("renamed"));
  EXPECT_EQ(samples_of(*source), kPets);
  EXPECT_EQ(in_child([&] { return samples_of(*source) == kPets ? 0 : 1; }), 0);
}

TEST(Folder, KeepsNoDescriptorButItsDirectorys) {
  TempDir dir;
  write_pets(dir);
  auto open_descriptors = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  const auto before = open_descriptors();
  {
    SourceRef source = open_at(dir, "pets").take();
    samples_of(*source);
    EXPECT_EQ(open_descriptors(), before + 1);
    fs::create_directory(dir.path("pets/none"));
    EXPECT_FALSE(open_at(dir, "pets").is_ok());
  }
  EXPECT_EQ(open_descriptors(), before);
}

std::string names_of(const Source& source) {
  const ContentIdentity identity = content_identity(source).take();
  return identity.structure + identity.names;
}

TEST(Folder, TheIdentityIsOfNamesSizesAndLabelsNotOfTheDirectorysPath) {
  TempDir dir, other;
  write_pets(dir);
  write_pets(other);
  const std::string pets = names_of(*open_at(dir, "pets").value());
  EXPECT_EQ(names_of(*open_at(other, "pets").value()), pets);
  EXPECT_NE(names_of(*open_at(dir, "pets?labels=none").value()), pets);
  EXPECT_NE(names_of(*open_at(dir, "pets?label_dtype=u8").value()), pets);
  other.write("pets/dog/b.png", "longer bytes of pets/dog/b.png");
  EXPECT_NE(names_of(*open_at(other, "pets").value()), pets) << "another size";
  write_pets(other);
  fs::rename(other.path("pets/dog/b.png"), other.path("pets/dog/c.png"));
  EXPECT_NE(names_of(*open_at(other, "pets").value()), pets) << "another name";
  fs::rename(other.path("pets/dog/c.png"), other.path("pets/dog/b.png"));
  EXPECT_EQ(names_of(*open_at(other, "pets").value()), pets);
  fs::create_directory(other.path("pets/ant"));
  EXPECT_NE(names_of(*open_at(other, "pets?allow_empty=true").value()), pets) << "other labels";
}

TEST(Folder, ClassesPassThroughCompositions) {
  TempDir dir;
  write_pets(dir);
  write_files(dir, {"more/cat/9.jpg", "more/dog/8.jpg", "birds/owl/1.jpg", "less/cat/1.jpg"});
  SourceRef pets = open_at(dir, "pets").take(), more = open_at(dir, "more").take();
  EXPECT_EQ(*concat_sources({{"", pets, ""}, {"", more, ""}}).value()->facts().classes,
            *pets->facts().classes);
  const int64_t index = 2;
  auto memory = HostMemory::create({});
  EXPECT_EQ(*subset_source(pets, {&index, 1}, {}, *memory).value()->facts().classes, *pets->facts().classes);
  SourceRef plain = open_at(dir, "birds?labels=none").take(), one = open_at(dir, "birds").take();
  SourceRef zipped = zip_sources({{"a", plain, ""}, {"b", one, ""}}).take();
  EXPECT_THAT(*zipped->facts().classes, ElementsAre("owl"));
  EXPECT_EQ(zip_sources({{"a", plain, ""}, {"b", plain, ""}}).value()->facts().classes, nullptr);
  EXPECT_EQ(*open_source("folder:" + dir.path("pets") + "," + dir.path("more"), test_context())
                 .value()
                 ->facts()
                 .classes,
            *pets->facts().classes);
}

TEST(Folder, DifferentClassesAreNotConcatenated) {
  TempDir dir;
  write_pets(dir);
  write_files(dir, {"birds/owl/1.jpg", "birds/rook/1.jpg", "less/cat/1.jpg"});
  const std::string pets = dir.path("pets");
  expect_error(open_source("folder:" + pets + "," + dir.path("birds"), test_context()), Code::kMismatch,
               {dir.path("birds") + " has 2 classes, " + pets + " has 2; class 0 is 'owl' and 'cat'"});
  expect_error(open_source("folder:" + pets + "," + dir.path("less"), test_context()), Code::kMismatch,
               {dir.path("less") + " has 1 classes, " + pets + " has 2; class 1 is none and 'dog'"});
}

TEST(Folder, U8LabelsHold256Classes) {
  TempDir dir;
  for (int i = 0; i < 256; ++i) dir.write("p/" + std::to_string(1000 + i) + "/a.jpg", "x");
  SourceRef source = open_at(dir, "p?label_dtype=u8").take();
  EXPECT_EQ(fetch(*source, {255}).bytes[1][0], "\xff");
  dir.write("p/2000/a.jpg", "x");
  expect_error(open_at(dir, "p?label_dtype=u8"), Code::kOutOfRange,
               {"257 classes, label_dtype=u8 holds 256"});
  EXPECT_EQ(values_of<int64_t>(fetch(*open_at(dir, "p").value(), {256}).bytes[1][0])[0], 256);
}

TEST(Folder, TheIndexIsCompactAndWithinTheBudget) {
  TempDir dir;
  constexpr int64_t kFiles = 2000;
  for (int64_t i = 0; i < kFiles; ++i) {
    std::string name =
        "p/n0" + std::to_string(1440764 + i % 4) + "/n0" + std::to_string(1440764 + i % 4) + "_";
    dir.write(name + std::to_string(10000 + i * 17 % 60000) + ".JPEG", "");
  }
  OpenContext context = test_context();
  SourceRef source = open_at(dir, "p", context).take();
  EXPECT_EQ(source->count(), kFiles);
  EXPECT_LT(context.memory->in_use_bytes(), kFiles * 20) << "bytes for " << kFiles << " files";
  OpenContext tight = test_context();
  tight.memory = HostMemory::create({}, 60'000);
  expect_error(open_at(dir, "p", tight), Code::kOverBudget,
               {"the index of its files: needs ", "of memory_budget 60000 are in use; raise memory_budget"});
  EXPECT_EQ(tight.memory->in_use_bytes(), 0);
}

TEST(Folder, ACancelledTokenEndsTheIndexing) {
  TempDir dir;
  write_pets(dir);
  OpenContext context = test_context();
  context.cancel = std::make_shared<CancelToken>();
  context.cancel->cancel();
  EXPECT_EQ(open_at(dir, "pets", context).status().code(), Code::kCancelled);
}

// Many directories at once: threads join in, and the order is that of one.
TEST(Folder, AnyNumberOfThreadsGivesOneOrder) {
  TempDir dir;
  std::vector<std::string> expected;
  for (int c = 0; c < 60; ++c) {
    for (int d = 0; d < 4; ++d) {
      std::string name = std::to_string(100 + c) + "/" + std::to_string(d) + "/a.jpg";
      dir.write("p/" + name, "bytes of pets/" + name);
      expected.push_back(name + " " + std::to_string(c));
    }
  }
  for (int repeat = 0; repeat < 8; ++repeat) ASSERT_EQ(samples_of(*open_at(dir, "p").value()), expected);
}

}  // namespace
}  // namespace dataline::folder_test
