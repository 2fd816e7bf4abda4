// Files under a directory, one a sample: torchvision's ImageFolder, a list of files, or any tree.
//
// image: the file's bytes as stored (ragged u8); label: i64 or u8 scalar, the class.
//
// Which files, in which order (labels=folder): those of torchvision.datasets.ImageFolder of the same directory
// (folder.py: find_classes, make_dataset), one by one: classes are the direct subdirectories in Python's order of their
// names, numbered from 0; each is walked with links followed, directories sorted by their whole path, files by name,
// hidden ones too; extensions without regard to case. It differs where torchvision says nothing of what it leaves out:
// a directory that cannot be read is an error, a link that leads back to a directory above it is not followed and is
// noted, as are files that stand beside the class folders.
// labels=none: the same walk of the directory itself, without labels. labels=FILE: the files that a .csv or .jsonl
// names (folder_labels.h), in its order; none of them may lie outside the directory, whatever links say.
//
// Cost: opening lists every directory and looks at each file once (its size). The index takes 4 bytes a file, and about
// 3 and what its path does not share with the path before (ImageNet's names: 9); labels=FILE 8 more for its label,
// io=memory 8 for its place. A sample is openat, fstat, pread, close; no descriptor but the directory's stays open.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "core/memory/mapped_file.h"
#include "core/source/source.h"

namespace dataline {

// torchvision's IMG_EXTENSIONS. Files of kinds that `decode` does not read are listed as torchvision lists them; they
// are bad samples of `decode`, and a note says how many there are.
inline constexpr std::string_view kImageExtensions[] = {".jpg", ".jpeg", ".png",  ".ppm", ".bmp",
                                                        ".pgm", ".tif",  ".tiff", ".webp"};

// Whether a name ends with an extension given in lower case, whatever its own case (ASCII).
bool has_extension(std::string_view name, std::string_view extension);

// A larger file is a bad sample: scratch is made for the largest file.
constexpr int64_t kMaxFolderFileBytes = int64_t{64} << 20;

enum class FolderLabels { kFolder, kNone, kFile };

struct FolderOptions {
  FolderLabels labels = FolderLabels::kFolder;
  std::string label_file;  // kFile
  // Lower case, with their dot. Not with kFile.
  std::vector<std::string> extensions{std::begin(kImageExtensions), std::end(kImageExtensions)};
  bool allow_empty = false;  // classes without files, and sets without samples
  bool label_u8 = false;
  std::string index_file;  // empty: none. Not with kFile
};

// kNotFound (no such directory), kPermission, kEmpty (no class folders, classes or a set without files), kOutOfRange
// (a label that u8 does not hold), kOverBudget and kNoMemory (the index), kCancelled; what label files and index files
// are refused for. A file that cannot be read fails its own row: kNotFound, kPermission, kNotAFile, kTruncated (empty,
// or shorter than when it was listed), kChanged (longer), kTooLarge, kIo.
Result<SourceRef> open_folder(const std::string& path, const FolderOptions& options,
                              const OpenContext& context);

}  // namespace dataline
