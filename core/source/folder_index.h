// What a folder source keeps of its files: paths, sizes, labels.
//
// Threads: immutable once made.
// Memory: of the HostMemory given, counted and bounded by it. A file takes 4 bytes of size and its PathTable share (3
// bytes and what its path does not share with the one before); in a labelled list 8 more.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/digest.h"
#include "core/memory/host_memory.h"
#include "core/source/folder_walk.h"
#include "core/source/path_table.h"

namespace dataline {

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
  void finish();  // after the last: gives back what was reserved, closes the digest
  int64_t memory_bytes() const;

  MetadataResource resource;
  PathTable paths;
  std::pmr::vector<uint32_t> sizes;  // 2^32 - 1 for all above
  std::vector<std::string> classes;
  std::pmr::vector<int64_t> class_begin;  // [classes + 1] where labels are the classes of a walk; else empty
  std::pmr::vector<int64_t> labels;       // one a file where a list gives them; else empty
  std::vector<std::string> notes;
  int64_t largest_bytes = 0;
  uint64_t digest = 0;  // of relative paths, sizes and labels, in order

 private:
  Digest files_;
};

// The index of a walked tree, which is taken apart on the way. kEmpty: no class folders, classes without files (they are
// named), no files at all; unless options.allow_empty.
Status index_tree(const std::string& root, FolderTree& tree, const FolderOptions& options,
                  FolderIndex& index);

}  // namespace dataline
