// Lists the files under a directory, with several threads.
//
// Threads: walk_folder() starts its own threads and joins them. They call the allocator, but never the host's log.
// Failure: the first error of any directory; see folder.h. std::bad_alloc when memory is refused.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

#include "core/memory/mapped_file.h"
#include "core/memory/open_directory.h"
#include "core/source/folder/folder.h"

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
  std::vector<std::string> notes;
};

// Lists `root` for options.labels = kFolder or kNone. Logs progress twice a second.
Result<FolderTree> walk_folder(const OpenDirectory& root, const FolderOptions& options,
                               const OpenContext& context, std::pmr::memory_resource* memory);

}  // namespace dataline
