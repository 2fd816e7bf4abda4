// Bytes as damage to the saved index of a folder that is really there, under a right checksum: refused by name, taken
// for stale with a reason, or an index whose every path is plain, whose classes cover its files, and which saved and
// loaded again is the same. The bytes are also tried as an index themselves.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/folder/folder_index.h"

#include <chrono>

#include "core/base/digest.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/target.h"

namespace dataline::fuzz {
namespace {

constexpr size_t kHeaderBytes = 96;

struct Pets {
  Folder folder;
  FolderOptions options;
  std::string base;  // a good index

  Pets() {
    namespace fs = std::filesystem;
    for (const char* name :
         {"pets/cat/1.jpg", "pets/cat/x/2.jpg", "pets/dog/a.png", "pets/dog/b.png", "pets/dog/old.bmp"}) {
      fs::create_directories(fs::path(folder.path(name)).parent_path());
      folder.write(name, name);
    }
    // Directories that changed just now would never fit.
    for (const char* name : {"pets/cat/x", "pets/cat", "pets/dog", "pets"})
      fs::last_write_time(folder.path(name), fs::file_time_type::clock::now() - std::chrono::hours(1));
    const OpenContext opened = context();
    const OpenDirectory root = OpenDirectory::open(folder.path("pets")).take();
    FolderIndex index(opened.memory);
    FolderTree tree = walk_folder(root, options, opened, &index.resource).take();
    check(index_tree(root.path(), tree, options, index).is_ok(), "the folder is indexed");
    AtomicFile file = AtomicFile::create(folder.path("base")).take();
    check(save_index(std::move(file), tree, options, wall_clock_ns(), index).is_ok(), "the index is saved");
    std::ifstream in(folder.path("base"), std::ios::binary);
    base.assign(std::istreambuf_iterator<char>(in), {});
    check(load(base), "the index that was saved fits");
  }

  // Whether it fits.
  bool load(std::string_view bytes) const {
    const std::string file = folder.write("index", bytes);
    const OpenContext opened = context();
    const OpenDirectory root = OpenDirectory::open(folder.path("pets")).take();
    FolderIndex index(opened.memory);
    Result<SavedIndex> saved = load_index(file, root, options, opened, index);
    if (!saved.is_ok()) {
      check_names(saved.status(), file);
      return false;
    }
    check(saved.value().fits || !saved.value().why.empty(), "what does not fit says why");
    if (saved.value().fits) check_index(index);
    return saved.value().fits;
  }

  static void check_index(const FolderIndex& index) {
    check(index.paths.count() == index.count(), "a path for every file");
    int64_t largest = 0;
    for (int64_t i = 0; i < index.count(); ++i) {
      PathBuffer buffer;
      const std::string_view path = index.paths.get(i, buffer);
      check(is_plain_relative(path) && !path.empty(), "a path stays below the folder", path);
      check(path.find("..") == std::string_view::npos || path.find("../") != 0, "a path does not climb",
            path);
      largest = std::max(largest, index.file_bytes(i));
    }
    check(index.largest_bytes == largest, "the largest file is the largest");
    if (index.classes.empty()) return check(index.class_begin.empty(), "no classes, no beginnings");
    check(index.class_begin.size() == index.classes.size() + 1 && index.class_begin.front() == 0 &&
              index.class_begin.back() == index.count(),
          "the classes cover the files");
    check(std::is_sorted(index.class_begin.begin(), index.class_begin.end()), "classes follow each other");
  }
};

void put(std::string& bytes, size_t at, uint64_t value) {
  for (size_t i = 0; i < 8; ++i) bytes[at + i] = static_cast<char>(value >> (8 * i) & 255);
}

// Total and checksum as a writer would have made them.
std::string closed(std::string bytes) {
  if (bytes.size() < kHeaderBytes) return bytes;
  put(bytes, 16, bytes.size());
  put(bytes, 24, 0);
  Digest digest;
  digest.add(std::as_bytes(std::span(bytes)).first(kHeaderBytes));
  digest.add(std::as_bytes(std::span(bytes)).subspan(kHeaderBytes));
  put(bytes, 24, digest.value());
  return bytes;
}

// Each three bytes are a place and a value; a place beyond the end cuts or grows the index.
std::string damaged(std::string bytes, std::string_view damage) {
  for (size_t at = 0; at + 3 <= damage.size(); at += 3) {
    const size_t place = number_at(damage, at, 2, false);
    const auto value = damage[at + 2];
    if (place < bytes.size()) {
      bytes[place] = value;
    } else if (place & 1) {
      bytes.resize(bytes.size() - std::min<size_t>(static_cast<unsigned char>(value), bytes.size()));
    } else {
      bytes.append(static_cast<unsigned char>(value), '\0');
    }
  }
  return bytes;
}

void run(std::string_view bytes) {
  static const Pets pets;
  pets.load(bytes);
  pets.load(closed(damaged(pets.base, bytes)));
  // Without a right checksum any damage is seen. A version is looked at before it.
  const std::string open = damaged(pets.base, bytes);
  if (open != pets.base) check(!pets.load(open), "damage is seen by the checksum");
}

const Target kTarget("saved_index", run);

}  // namespace
}  // namespace dataline::fuzz
