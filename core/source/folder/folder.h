// Files under a directory, one per sample: torchvision's ImageFolder, a list of files, or any tree.
//
// image: the file's bytes as stored (ragged u8); label: i64 or u8 scalar, the class.
//
// labels=folder: the files and the order of torchvision.datasets.ImageFolder (folder.py: find_classes, make_dataset).
// Classes are the direct subdirectories in Python's order of their names, numbered from 0. Each is walked, following links,
// with directories sorted by their whole path and files by name; extensions ignore case. This differs from torchvision:
// hidden names are left out (names.h); a directory that cannot be read is an error; a link that leads back to one of its
// parents is not followed. Notes report what was left out: hidden names, files with other extensions, files beside the class
// folders.
// labels=none: the same walk of the directory itself, without labels.
// labels=FILE: the files that a .csv or .jsonl names (folder_index.h), in its order. None may be outside the directory,
// not even through links.
//
// Cost: opening lists every directory and stats every file. The index takes per file 4 bytes, about 3, and what its path
// does not share with the previous path (ImageNet's names: 9); labels=FILE adds 8 for the label, io=memory 8 for the
// offset. Reading a sample is openat, fstat, pread, close; only the directory's descriptor stays open.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "core/memory/mapped_file.h"
#include "core/source/source.h"

namespace dataline {

// torchvision's IMG_EXTENSIONS. Files that `decode` does not support are listed as in torchvision; they are bad samples of
// `decode`, and a note says how many there are.
inline constexpr std::string_view kImageExtensions[] = {".jpg", ".jpeg", ".png",  ".ppm", ".bmp",
                                                        ".pgm", ".tif",  ".tiff", ".webp"};

// A larger file is a bad sample, because scratch is sized for the largest file.
constexpr int64_t kMaxFolderFileBytes = int64_t{64} << 20;

enum class FolderLabels { kFolder, kNone, kFile };

struct FolderOptions {
  FolderLabels labels = FolderLabels::kFolder;
  std::string label_file;  // kFile
  // In lower case, with the dot. Not with kFile.
  std::vector<std::string> extensions{std::begin(kImageExtensions), std::end(kImageExtensions)};
  bool allow_empty = false;  // accepts classes without files, and sets without samples
  bool label_u8 = false;
  std::string index_file;  // empty: none. Not with kFile
};

// kNotFound (no such directory), kPermission, kEmpty (no class folders, or classes or a set without files), kOutOfRange (a
// label that u8 does not hold), kOverBudget and kNoMemory (the index), kCancelled; and the errors of label and index
// files. A file that cannot be read fails its own row: kNotFound, kPermission, kNotAFile, kTruncated (empty, or shorter
// than when listed), kChanged (longer), kTooLarge, kIo.
Result<SourceRef> open_folder(const FolderOptions& options, const std::string& path,
                              const OpenContext& context);

}  // namespace dataline
