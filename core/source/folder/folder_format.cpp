// The format `folder`: its keys and how it is detected.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/text.h"
#include "core/source/files.h"
#include "core/source/folder/folder.h"
#include "core/source/format.h"

namespace dataline {
namespace {

constexpr KeySpec kAllowEmpty{"allow_empty", "true|false", "false", "accept classes and sets without files"};
constexpr std::string_view kLabelsDoc =
    "folder: the class folders, in the order of their names; none: no labels, files at any depth; FILE: a "
    "list of paths in the folder and labels, as .csv (two columns, or a header line with path and label) or "
    ".jsonl ({\"path\": ..., \"label\": ...}); labels are integers from 0, or names, which become classes in "
    "sorted order";
constexpr std::string_view kExtensionsDoc =
    "which files to read, as in jpg,png; not with labels=FILE; "
    "default: jpg jpeg png ppm bmp pgm tif tiff webp";
constexpr std::string_view kIndexDoc =
    "stores the list of files in FILE and uses it while no directory has changed, so that a large folder "
    "opens fast; created if missing; not with labels=FILE; default: none";
constexpr KeySpec kFolderKeys[] = {{"labels", "folder|none|FILE", "folder", kLabelsDoc},
                                   kAllowEmpty,
                                   {"extensions", "LIST", "", kExtensionsDoc},
                                   kLabelDtypeKey,
                                   {"index", "FILE", "", kIndexDoc}};

Status read_labels_key(const Uri& uri, FolderOptions& options) {
  const UriKey* key = uri.find("labels");
  if (key == nullptr || key->value == "folder") return Status::ok();
  options.labels = key->value == "none" ? FolderLabels::kNone : FolderLabels::kFile;
  if (options.labels == FolderLabels::kNone) return Status::ok();
  options.label_file = key->value;
  constexpr std::string_view kLists[] = {".csv", ".jsonl"};
  if (!has_suffix(key->value, kLists)) {
    return uri_error(key->value_column, "labels=", key->value,
                     ": expected folder, none, or a .csv or .jsonl file");
  }
  if (uri.paths.size() == 1) return Status::ok();
  return uri_error(key->value_column, "labels=", key->value, " supports only one folder, got ",
                   uri.paths.size());
}

Status read_extensions_key(const Uri& uri, FolderOptions& options) {
  const UriKey* key = uri.find("extensions");
  if (key == nullptr) return Status::ok();
  options.extensions.clear();
  for (std::string_view part : split(key->value, ',')) {
    const std::string extension = lower_case(part.starts_with('.') ? part.substr(1) : part);
    if (extension.empty() || extension.find('/') != std::string::npos) {
      return uri_error(key->value_column, "extensions=", key->value, ": expected a list such as jpg,png");
    }
    options.extensions.push_back(concat(".", extension));
  }
  return Status::ok();
}

// Refuses keys that would have no effect: the user meant something else.
Status refuse_unused_keys(const Uri& uri, const FolderOptions& options) {
  for (std::string_view name : {"index", "extensions"}) {
    const UriKey* key = uri.find(name);
    if (key == nullptr || options.labels != FolderLabels::kFile) continue;
    return uri_error(key->column, name, " is not supported with labels=", options.label_file,
                     ", which names the files");
  }
  const UriKey* dtype = uri.find("label_dtype");
  if (dtype == nullptr || options.labels != FolderLabels::kNone) return Status::ok();
  return uri_error(dtype->column, "label_dtype: there are no labels with labels=none");
}

Result<OpenOne> configure_folder(const Uri& uri) {
  FolderOptions options;
  DL_RETURN_IF_ERROR(read_labels_key(uri, options));
  DL_RETURN_IF_ERROR(read_extensions_key(uri, options));
  DL_RETURN_IF_ERROR(refuse_unused_keys(uri, options));
  DL_ASSIGN_OR_RETURN(options.allow_empty, uri_is(uri, kAllowEmpty, "true"));
  DL_ASSIGN_OR_RETURN(options.label_u8, uri_is(uri, kLabelDtypeKey, "u8"));
  if (const UriKey* index = uri.find("index"); index != nullptr) {
    if (index->value.empty()) return uri_error(index->value_column, "index=: expected a file");
    if (uri.paths.size() > 1) {
      return uri_error(index->column, "index supports only one folder, got ", uri.paths.size());
    }
    options.index_file = index->value;
  }
  return OpenOne(std::bind_front(open_folder, options));
}

// Detection looks at the first few files only.
constexpr size_t kMaxFilesNamed = 64;
constexpr size_t kMaxFoldersSniffed = 16;

bool has_images(const std::vector<std::string>& names) {
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMaxFilesNamed));
  return std::any_of(names.begin(), end,
                     [](std::string_view name) { return has_suffix(name, kImageExtensions); });
}

// Images in the directory itself or in one of its first subdirectories.
bool is_tree(const std::string& directory, const DirectoryNames& names) {
  const std::vector<std::string>& folders = names.directories;
  for (size_t i = 0; i < folders.size() && i < kMaxFoldersSniffed; ++i) {
    const Result<DirectoryNames> inside = list_directory(join_path(directory, folders[i]));
    if (inside.is_ok() && has_images(inside.value().files)) return true;
  }
  return has_images(names.files);
}

}  // namespace

constinit const Format kFolderFormat{
    .name = "folder",
    .doc =
        "one file per sample: class folders as torchvision's ImageFolder, a list of files, or any tree. "
        "Fields: image (encoded), label",
    .keys = kFolderKeys,
    .configure = configure_folder,
    .is_tree = is_tree,
};

}  // namespace dataline
