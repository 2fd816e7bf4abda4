// The files under a directory, listed, and what a folder source keeps about them: paths, sizes, labels.
//
// Threads: immutable once built.
// Memory: from the given HostMemory, which counts and limits it. A file takes 4 bytes for its size, its share of the
// PathTable (3 bytes and what its path does not share with the previous one), and 8 for a label from a list.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/digest.h"
#include "core/memory/atomic_file.h"
#include "core/memory/host_memory.h"
#include "core/memory/mapped_file.h"
#include "core/memory/open_directory.h"
#include "core/source/folder/folder.h"
#include "core/source/folder/paths.h"

namespace dataline {

struct FolderDirectory {
  explicit FolderDirectory(std::pmr::memory_resource* memory) : path(memory), names(memory), files(memory) {}

  struct File {
    uint32_t name_at;  // in names; NUL-terminated
    uint32_t bytes;    // 2^32 - 1 for larger files; 0 for what is not a regular file
  };
  std::string_view name(const File& file) const { return names.c_str() + file.name_at; }
  void free_files() {
    std::pmr::vector<File>(files.get_allocator()).swap(files);
    std::pmr::string(names.get_allocator()).swap(names);
  }

  std::pmr::string path;  // relative; "" is the root
  int64_t class_index = -1;
  FileFacts facts;
  bool through_link = false;  // reached through a link, or one of its parents was
  const FolderDirectory* parent = nullptr;
  std::pmr::string names;
  std::pmr::vector<File> files;  // sorted by name
};

struct FolderTree {
  explicit FolderTree(std::pmr::memory_resource* memory) : directories(memory) {}

  std::pmr::deque<FolderDirectory> directories;  // in the order they were found
  std::vector<FolderDirectory*> in_order;  // in torchvision's order; without the root if it holds classes
  std::vector<std::string> classes;        // kFolder: sorted
  std::string left_out;                    // LeftOut::text()
  std::vector<std::string> notes;
};

// Lists `root` for options.labels = kFolder or kNone, with several threads of its own, which it joins. They call the
// allocator, but never the host's log: the caller does that. The first error of any directory; see
// folder.h. std::bad_alloc when memory is refused.
Result<FolderTree> walk_folder(const OpenDirectory& root, const FolderOptions& options,
                               const OpenContext& context, std::pmr::memory_resource* memory);

struct FolderIndex {
  explicit FolderIndex(std::shared_ptr<HostMemory> memory)
      : resource(std::move(memory)),
        paths(&resource),
        sizes(&resource),
        class_begin(&resource),
        labels(&resource) {}

  int64_t count() const { return static_cast<int64_t>(sizes.size()); }
  int64_t file_bytes(int64_t index) const { return sizes[static_cast<size_t>(index)]; }
  void add(std::string_view path, uint32_t bytes);
  void finish();  // after the last add(): releases unused capacity, computes the digest

  MetadataResource resource;
  PathTable paths;
  std::pmr::vector<uint32_t> sizes;  // 2^32 - 1 for larger files
  std::vector<std::string> classes;
  std::pmr::vector<int64_t> class_begin;  // [classes + 1] if labels are the classes of a walk; else empty
  std::pmr::vector<int64_t> labels;       // one per file if they come from a list; else empty
  std::vector<std::string> notes;
  int64_t largest_bytes = 0;
  uint64_t digest = 0;  // of relative paths, sizes and labels, in order

 private:
  Digest files_;
};

// Builds the index of a walked tree and frees the tree's files. Unless options.allow_empty, kEmpty: no class folders,
// classes without files (naming them), no files at all.
Status index_tree(const std::string& root, FolderTree& tree, const FolderOptions& options,
                  FolderIndex& index);

// The index of options.label_file, a .csv or .jsonl list of files with their labels (labels/label_rows.h). Looks up every
// file. Labels are either whole numbers from 0 (labels/label_number.h), used as they are, or names, sorted into classes; not
// both. Paths are relative to `root`.
// Messages begin with "FILE: line 7: ". kCorrupt: a syntax error, a path that is not below the folder, a file named twice,
// numbers and names mixed, fractions, names that differ only in spaces. kOutOfRange: a number below 0, or one that i64 or u8
// does not hold. kNotFound, kNotAFile, kPermission: a file.
Status index_list(const OpenDirectory& root, const FolderOptions& options, const OpenContext& context,
                  FolderIndex& index);

// The index of a folder, saved in a file that the user names (index=FILE).
//
// It is used if it was made with the same keys and every directory is unchanged: inode and times of modification and of status
// change in ns.
// A directory that changed within one clock tick of its file system before it was listed never counts as unchanged. Not
// detected: a file modified in place, which is reported when its sample is read.
// Format: little-endian; a header of 96 bytes with magic, version, lengths and a checksum of everything, then directories,
// class names, notes, class beginnings, sizes, and the PathTable. About 12 bytes per file.
struct SavedIndex {
  bool fits = false;
  std::string why = {};  // it does not; empty: there is none
};

// Fills `index` if the file fits. kCorrupt and kTruncated, naming the file: it is damaged, or not one of our indexes (which
// keeps other files from being overwritten). Otherwise file errors.
Result<SavedIndex> load_index(const std::string& file, const OpenDirectory& root,
                              const FolderOptions& options, const OpenContext& context, FolderIndex& index);

// `walk_begin_ns`: wall-clock time before the first directory was listed.
Status save_index(AtomicFile file, const FolderTree& tree, const FolderOptions& options,
                  int64_t walk_begin_ns, const FolderIndex& index);

}  // namespace dataline
