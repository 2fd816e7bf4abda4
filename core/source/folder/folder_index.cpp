// SPDX-License-Identifier: Apache-2.0
#include "core/source/folder/folder_index.h"

#include <algorithm>
#include <array>

#include "core/source/names.h"

namespace dataline {
namespace {

// The kImageExtensions that `decode` does not support.
constexpr std::string_view kUndecoded[] = {".bmp", ".tif", ".tiff"};

constexpr int64_t kMaxNamed = 8;  // empty classes in an error

// Counts files that are listed as images, as torchvision does, but cannot be decoded.
class UndecodedCount {
 public:
  void add(std::string_view path) {
    for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += has_suffix(path, kUndecoded[i]) ? 1 : 0;
  }

  void note(std::vector<std::string>& notes) const {
    int64_t count = 0;
    std::string kinds;
    for (size_t i = 0; i < counts_.size(); ++i) {
      count += counts_[i];
      if (counts_[i] > 0) kinds += concat(kinds.empty() ? "" : ", ", kUndecoded[i]);
    }
    if (count > 0)
      notes.push_back(
          concat(count, count == 1 ? " file is " : " files are ", kinds, ": decode does not support these"));
  }

 private:
  std::array<int64_t, std::size(kUndecoded)> counts_{};
};

std::string extension_list(const FolderOptions& options) {
  std::string out;
  for (const std::string& extension : options.extensions) out += concat(out.empty() ? "" : " ", extension);
  return out;
}

// As torchvision's "Found no valid file for the classes ...".
Status check_classes(const std::string& root, const FolderOptions& options, const FolderIndex& index,
                     const std::string& left_out) {
  int64_t empty = 0;
  std::string names;
  for (size_t c = 0; c < index.classes.size(); ++c) {
    if (index.class_begin[c] != index.class_begin[c + 1]) continue;
    if (++empty <= kMaxNamed) names += concat(names.empty() ? "" : ", ", index.classes[c]);
  }
  if (empty == 0 || options.allow_empty) return Status::ok();
  if (empty > kMaxNamed) names += concat(" and ", empty - kMaxNamed, " more");
  return error(Code::kEmpty, root, ": no file with an accepted extension (", extension_list(options),
               ") in class ", names, "; allow_empty=true accepts this", left_out);
}

Status check_not_empty(const std::string& root, const FolderOptions& options, const FolderIndex& index,
                       const FolderTree& tree) {
  const std::string left_out = tree.left_out.empty() ? "" : concat("; left out: ", tree.left_out);
  if (options.labels == FolderLabels::kFolder && index.classes.empty()) {
    return error(Code::kEmpty, root, ": no class folders in it", left_out, "; folder:", root,
                 "?labels=none reads its files without labels");
  }
  if (options.labels == FolderLabels::kFolder) return check_classes(root, options, index, left_out);
  if (index.count() > 0 || options.allow_empty) return Status::ok();
  return error(Code::kEmpty, root, ": no file with an accepted extension (", extension_list(options),
               ") under it", left_out);
}

}  // namespace

void FolderIndex::add(std::string_view path, uint32_t bytes) {
  paths.add(path);
  sizes.push_back(bytes);
  largest_bytes = std::max<int64_t>(largest_bytes, bytes);
  files_.add(path);
  files_.add(static_cast<uint64_t>(bytes));
}

void FolderIndex::finish() {
  paths.shrink();
  sizes.shrink_to_fit();
  for (int64_t begin : class_begin) files_.add(static_cast<uint64_t>(begin));
  for (int64_t label : labels) files_.add(static_cast<uint64_t>(label));
  for (const std::string& name : classes) files_.add(name);
  digest = files_.value();
}

Status index_tree(const std::string& root, FolderTree& tree, const FolderOptions& options,
                  FolderIndex& index) {
  index.classes = tree.classes;
  index.notes = tree.notes;
  UndecodedCount undecoded;
  std::string path;
  const bool labelled = options.labels == FolderLabels::kFolder;
  auto begin_classes_up_to = [&](int64_t last) {
    while (labelled && static_cast<int64_t>(index.class_begin.size()) <= last) {
      index.class_begin.push_back(index.count());
    }
  };
  for (FolderDirectory* directory : tree.in_order) {
    begin_classes_up_to(directory->class_index);
    for (const FolderDirectory::File& file : directory->files) {
      path.assign(directory->path);
      if (!path.empty()) path += '/';
      path += directory->name(file);
      index.add(path, file.bytes);
      undecoded.add(path);
    }
    directory->free_files();  // so that every name is in memory only once
  }
  begin_classes_up_to(static_cast<int64_t>(index.classes.size()));
  index.finish();
  undecoded.note(index.notes);
  return check_not_empty(root, options, index, tree);
}

}  // namespace dataline
