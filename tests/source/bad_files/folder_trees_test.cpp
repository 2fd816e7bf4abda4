// Directories that cannot be listed as class folders are refused by name.
// SPDX-License-Identifier: Apache-2.0
#include "tests/source/bad_files/folder_trees.h"

namespace dataline::folder_trees::folder_trees_test {
namespace {

TEST(FolderBadFiles, TreesThatCannotBeListedAreRefusedByName) {
  auto bomb = [](const TempDir& dir) {  // 2^40 ways down
    for (int i = 0; i < 40; ++i) fs::create_directories(dir.path("bomb/" + std::to_string(i)));
    for (int i = 0; i < 39; ++i) {
      const std::string next = dir.path("bomb/" + std::to_string(i + 1)), here = "bomb/" + std::to_string(i);
      fs::create_directory_symlink(next, dir.path(here + "/l"));
      fs::create_directory_symlink(next, dir.path(here + "/r"));
    }
    fs::create_directory_symlink(dir.path("bomb/0"), dir.path("pets/bomb"));
  };
  const std::vector<BadTree> table = {
      {"no directory", "none", nothing, nullptr, "", Code::kNotFound, {"/none: no such file or directory"}},
      {"a file",
       "pets/dog/a.jpg",
       nothing,
       nullptr,
       "",
       Code::kNotFound,
       {"a.jpg: is a file, expected a directory"}},
      {"a FIFO",
       "pipe",
       [](const TempDir& d) { make_fifo(d.path("pipe")); },
       nullptr,
       "",
       Code::kNotFound,
       {"pipe: is a file, expected a directory"}},
      {"below a file", "pets/dog/a.jpg/x", nothing, nullptr, "", Code::kNotFound, {"not a directory"}},
      {"a dangling link", "l", link("/nowhere/at/all", "l"), nullptr, "", Code::kNotFound, {"no such file"}},
      {"a link to itself", "l", link("l", "l"), nullptr, "", Code::kNotFound, {"too many symbolic links"}},
      {"a name of 5000 bytes",
       std::string(5000, 'n'),
       nothing,
       nullptr,
       "",
       Code::kNotFound,
       {"the path is too long"}},
      {"no class folders",
       "pets/dog",
       nothing,
       nullptr,
       "",
       Code::kEmpty,
       {"pets/dog: no class folders in it", "?labels=none"}},
      {"an empty directory",
       "e",
       [](const TempDir& d) { fs::create_directory(d.path("e")); },
       nullptr,
       "",
       Code::kEmpty,
       {"no class folders in it"}},
      {"an empty directory, without labels",
       "e?labels=none",
       [](const TempDir& d) { fs::create_directory(d.path("e")); },
       nullptr,
       "",
       Code::kEmpty,
       {"no file with an accepted extension", "under it"}},
      {"a class without files",
       "pets",
       [](const TempDir& d) { fs::create_directory(d.path("pets/eel")); },
       nullptr,
       "",
       Code::kEmpty,
       {"in class eel"}},
      {"ten classes without files",
       "pets",
       [](const TempDir& d) {
         for (int i = 0; i < 10; ++i) fs::create_directory(d.path("pets/e" + std::to_string(i)));
       },
       nullptr,
       "",
       Code::kEmpty,
       {"e6, e7 and 2 more"}},
      {"a class of other files",
       "pets?extensions=png",
       nothing,
       nullptr,
       "",
       Code::kEmpty,
       {"(.png) in class cat"}},
      {"a class that leads back",
       "pets",
       link(".", "pets/self"),
       nullptr,
       "",
       Code::kEmpty,
       {"in class self"}},
      {"a directory called a.jpg alone",
       "pets",
       [](const TempDir& d) { fs::create_directories(d.path("pets/eel/a.jpg")); },
       nullptr,
       "",
       Code::kEmpty,
       {"in class eel"}},
      {"deep: a path above 4 KiB",
       "pets",
       make_deep,
       nullptr,
       "",
       Code::kNotFound,
       {"[...]", "the path is too long"}},
      {"deep, without labels",
       "pets?labels=none",
       make_deep,
       nullptr,
       "",
       Code::kNotFound,
       {"the path is too long"}},
      {"links that multiply",
       "pets",
       bomb,
       nullptr,
       "",
       Code::kTooLarge,
       {"links lead to this directory in more than 1024 ways"}},
      {"another folder's classes",
       "pets,%d/other",
       [](const TempDir& d) { write_files(d, {"other/owl/1.jpg"}); },
       nullptr,
       "",
       Code::kMismatch,
       {"other has 1 classes"}},
  };
  for (BadTree tree : table) {
    SCOPED_TRACE(tree.name);
    if (size_t at = tree.uri.find("%d"); at != std::string::npos) {
      TempDir dir;
      write_pets(dir);
      tree.before(dir);
      tree.uri.replace(at, 2, dir.path());
      expect_error(open_at(dir, tree.uri), tree.code, tree.parts);
      continue;
    }
    check(tree, IoMode::kAuto);
  }
  EXPECT_GE(table.size(), 19u);
  ::testing::Test::RecordProperty("cases", static_cast<int>(table.size()));
}

}  // namespace
}  // namespace dataline::folder_trees::folder_trees_test
