// Class folders with what is no file, cannot be read, or changes between listing and reading: the tree is refused by
// name, or the sample fails alone, by its exact code, and its neighbours are delivered. Bad lists and bad saved indexes
// have tables of their own: folder_labels_test.cpp, folder_saved_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "tests/source/bad_files/folder_trees.h"
#include "tests/source/located.h"

namespace dataline::folder_trees::folder_test {
namespace {

const std::string kFile = "dog/b.png", kPath = "pets/dog/b.png";        // the one that is spoilt
const std::string kNew = "dog/bad.jpg", kNewPath = "pets/dog/bad.jpg";  // one beside it

// What can be seen when the folder is listed; the same whether it is read then or later.
TEST(FolderBadFiles, WhatIsNoGoodFileFailsAlone) {
  const std::vector<BadTree> table = {
      {"FIFO",
       "pets",
       [](const TempDir& d) { make_fifo(d.path(kNewPath)); },
       nothing,
       kNew,
       Code::kNotAFile,
       {"is a FIFO, expected a file"}},
      {"socket",
       "pets",
       [](const TempDir& d) { make_socket(d.path(kNewPath)); },
       nothing,
       kNew,
       Code::kNotAFile,
       {"is a socket"}},
      {"device",
       "pets",
       link("/dev/zero", kNewPath),
       nothing,
       kNew,
       Code::kNotAFile,
       {"is a character device"}},
      {"terminal", "pets", link("/dev/tty", kNewPath), nothing, kNew, Code::kNotAFile, {"a"}},
      {"dangling link",
       "pets",
       link("/nowhere/at/all", kNewPath),
       nothing,
       kNew,
       Code::kNotFound,
       {"no such file"}},
      {"link to itself",
       "pets",
       link("bad.jpg", kNewPath),
       nothing,
       kNew,
       Code::kNotFound,
       {"too many symbolic links"}},
      {"links to each other",
       "pets",
       [](const TempDir& d) {
         link("other", kNewPath)(d);
         link("bad.jpg", "pets/dog/other")(d);
       },
       nothing,
       kNew,
       Code::kNotFound,
       {"too many symbolic links"}},
      {"link through a file",
       "pets",
       link("a.jpg/x", kNewPath),
       nothing,
       kNew,
       Code::kNotFound,
       {"not a directory"}},
      {"link to a FIFO",
       "pets",
       [](const TempDir& d) {
         make_fifo(d.path("pipe"));
         link("../../pipe", kNewPath)(d);
       },
       nothing,
       kNew,
       Code::kNotAFile,
       {"is a FIFO"}},
      {"empty file",
       "pets",
       resized(kNewPath, 0),
       nothing,
       kNew,
       Code::kTruncated,
       {"offset 0: the file is empty"}},
      {"empty file, emptied",
       "pets",
       resized(kPath, 0),
       nothing,
       kFile,
       Code::kTruncated,
       {"the file is empty"}},
      {"64 MiB and a byte",
       "pets",
       resized(kNewPath, (64 << 20) + 1),
       nothing,
       kNew,
       Code::kTooLarge,
       {"has 67108865 bytes, expected at most 67108864"}},
      {"8 TiB of holes",
       "pets",
       resized(kNewPath, uintmax_t{8} << 40),
       nothing,
       kNew,
       Code::kTooLarge,
       {"has 8796093022208 bytes"}},
      {"FIFO without labels",
       "pets?labels=none",
       [](const TempDir& d) { make_fifo(d.path(kNewPath)); },
       nothing,
       kNew,
       Code::kNotAFile,
       {"is a FIFO"}},
      {"name with a newline",
       "pets",
       resized("pets/dog/a\nb.jpg", 0),
       nothing,
       "dog/a\nb.jpg",
       Code::kTruncated,
       {"empty"}},
      {"name that is no UTF-8",
       "pets",
       resized("pets/dog/\xff\xfe.jpg", 0),
       nothing,
       "dog/\xff\xfe.jpg",
       Code::kTruncated,
       {"empty"}},
      {"name of escapes",
       "pets",
       resized("pets/dog/\x1b[2J.jpg", 0),
       nothing,
       "dog/\x1b[2J.jpg",
       Code::kTruncated,
       {"empty"}},
      {"name of 255 bytes",
       "pets",
       resized("pets/dog/" + std::string(251, 'n') + ".jpg", 0),
       nothing,
       "dog/" + std::string(251, 'n') + ".jpg",
       Code::kTruncated,
       {"empty"}},
      {"name like a flag",
       "pets",
       resized("pets/dog/--.jpg", 0),
       nothing,
       "dog/--.jpg",
       Code::kTruncated,
       {"empty"}},
  };
  EXPECT_GE(table.size(), 19u);
  check_all(table, IoMode::kAuto);
  check_all(table, IoMode::kMemory);
}

TEST(FolderBadFiles, WhatChangesBetweenListingAndReadingFailsAlone) {
  const std::string size = std::to_string(std::string("bytes of pets/dog/b.png").size());  // 23
  auto make_folder = [](const std::string& path) { fs::create_directory(path); };
  auto make_loop = [](const std::string& path) { fs::create_symlink(path, path); };
  const std::vector<BadTree> table = {
      {"vanishes", "pets", nothing, without(kPath), kFile, Code::kNotFound, {"no such file"}},
      {"grows",
       "pets",
       nothing,
       resized(kPath, 24),
       kFile,
       Code::kChanged,
       {"has 24 bytes, it had " + size + " when the folder was listed"}},
      {"grows past 64 MiB",
       "pets",
       nothing,
       resized(kPath, 65 << 20),
       kFile,
       Code::kTooLarge,
       {"68157440 bytes"}},
      {"shrinks",
       "pets",
       nothing,
       resized(kPath, 22),
       kFile,
       Code::kTruncated,
       {"offset 22: expected 1 more bytes", "it had " + size}},
      {"shrinks to nothing",
       "pets",
       nothing,
       resized(kPath, 0),
       kFile,
       Code::kTruncated,
       {"offset 0: expected 23 more bytes"}},
      {"becomes a directory",
       "pets",
       nothing,
       instead(kPath, make_folder),
       kFile,
       Code::kNotAFile,
       {"is a directory"}},
      {"becomes a FIFO", "pets", nothing, instead(kPath, make_fifo), kFile, Code::kNotAFile, {"is a FIFO"}},
      {"becomes a socket",
       "pets",
       nothing,
       instead(kPath, make_socket),
       kFile,
       Code::kNotAFile,
       {"is a socket"}},
      {"becomes a loop",
       "pets",
       nothing,
       instead(kPath, make_loop),
       kFile,
       Code::kNotFound,
       {"too many symbolic links"}},
      {"becomes a dangling link",
       "pets",
       nothing,
       instead(kPath, [](const std::string& p) { fs::create_symlink("/nowhere/at/all", p); }),
       kFile,
       Code::kNotFound,
       {"no such file"}},
      {"its directory vanishes",
       "pets",
       nothing,
       without("pets/cat/x"),
       "cat/x/2.JPG",
       Code::kNotFound,
       {"no such file"}},
      {"its directory is renamed",
       "pets",
       nothing,
       [](const TempDir& d) { fs::rename(d.path("pets/cat/x"), d.path("pets/cat/y")); },
       "cat/x/2.JPG",
       Code::kNotFound,
       {"no such file"}},
      {"its directory becomes a file",
       "pets",
       nothing,
       instead("pets/cat/x", [](const std::string& p) { std::ofstream(p) << "x"; }),
       "cat/x/2.JPG",
       Code::kNotFound,
       {"not a directory"}},
      {"empty when listed, filled then",
       "pets",
       resized(kNewPath, 0),
       resized(kNewPath, 5),
       kNew,
       Code::kChanged,
       {"has 5 bytes, it had 0"}},
      {"a FIFO becomes a file",
       "pets",
       [](const TempDir& d) { make_fifo(d.path(kNewPath)); },
       instead(kNewPath, [](const std::string& p) { std::ofstream(p) << "x"; }),
       kNew,
       Code::kChanged,
       {"it had 0"}},
  };
  for (BadTree tree : table) {  // as it is with one more good one beside it
    SCOPED_TRACE(tree.name);
    Act before = tree.before;
    tree.before = [before](const TempDir& dir) {
      write_files(dir, {"pets/dog/c.jpg"});
      before(dir);
    };
    check(tree, IoMode::kAuto);
  }
  EXPECT_GE(table.size(), 15u);
  ::testing::Test::RecordProperty("cases", static_cast<int>(table.size()));
}

// Root may read everything: a child gives its rights up first.
TEST(FolderBadFiles, WhatMayNotBeReadIsNamed) {
  TempDir dir;
  write_pets(dir);
  write_files(dir, {"pets/dog/c.jpg", "locked/cat/1.jpg", "locked/cat/deep/2.jpg"});
  fs::permissions(dir.path(), fs::perms::all);
  fs::permissions(dir.path("pets/dog/b.png"), fs::perms::none);
  fs::permissions(dir.path("locked/cat/deep"), fs::perms::none);
  const int result = in_child([&] {
    if (::geteuid() == 0 && ::setuid(65534) != 0) return 77;
    SourceRef source = open_at(dir, "pets").take();
    Fetched fetched = fetch_all(*source);
    if (fetched.errors.size() != 1 || fetched.errors.begin()->second.code() != Code::kPermission) return 1;
    if (fetched.errors.begin()->second.os_error() != EACCES) return 2;
    if (fetched.bytes[0].back() != "bytes of pets/dog/c.jpg") return 3;
    Result<SourceRef> locked = open_at(dir, "locked");
    if (locked.is_ok() || locked.status().code() != Code::kPermission) return 4;
    return locked.status().message().rfind(dir.path("locked/cat/deep") + ": permission denied", 0) == 0 ? 0
                                                                                                        : 5;
  });
  fs::permissions(dir.path("locked/cat/deep"), fs::perms::owner_all);
  if (result == 77) GTEST_SKIP() << "root's rights cannot be given up here";
  EXPECT_EQ(result, 0) << "1, 4: another code, 2: another os_error, 3: no good sample, 5: other words";
}

}  // namespace
}  // namespace dataline::folder_trees::folder_test
