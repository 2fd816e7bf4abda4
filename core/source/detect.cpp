// SPDX-License-Identifier: Apache-2.0
#include "core/source/detect.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "core/base/bytes.h"
#include "core/source/directory.h"
#include "core/source/first_bytes.h"
#include "core/source/folder.h"
#include "core/source/gzip.h"
#include "core/source/peek.h"
#include "core/source/token_header.h"
#include "core/source/usual_files.h"

namespace dataline {
namespace {

constexpr size_t kMaxFilesLookedAt = 64;    // of a directory, for its first recognised file
constexpr size_t kMaxFoldersLookedAt = 16;  // for the images of class folders

bool is_llmc(const Peek& file) {
  if (file.count < 8) return false;
  auto magic = load_little<uint32_t>(file.buffer.data());
  return magic == kLlmcMagicU16 || magic == kLlmcMagicU32 || magic == kLlmcMagicEval;
}

// By content alone; empty when it says nothing. An IDX header of the wrong size may still be two zero tokens
// of a .bin file.
std::string_view by_content(const Peek& file) {
  if (file.text().starts_with("\x93NUMPY")) return "npy";
  if (file.text().size() >= 262 && file.text().substr(257, 5) == "ustar") return "tar";
  if (is_llmc(file)) return "tokens";
  std::optional<int64_t> idx_bytes = idx_file_bytes(file);
  if (idx_bytes && (*idx_bytes == file.file_bytes || !file.path.ends_with(".bin"))) return "idx";
  bool gzip = is_gzip(file.bytes());
  std::string_view packed = file.path;
  if (gzip && packed.ends_with(".gz")) packed.remove_suffix(3);
  bool other = packed.ends_with(".npy") || packed.ends_with(".bin") || packed.ends_with(".tar") ||
               packed.ends_with(".tgz");
  return gzip && !other ? "idx" : "";
}

std::string_view by_suffix(std::string_view path) {
  if (path.ends_with(".npy")) return "npy";
  if (path.ends_with(".bin")) return "tokens";
  if (path.ends_with("-ubyte") || path.ends_with(".idx")) return "idx";
  if (path.ends_with(".tar")) return "tar";
  return {};
}

// A file of a known kind that is not read, or that is no data at all; ok when neither is known.
Status refuse_strangers(const Peek& file) {
  DL_RETURN_IF_ERROR(refuse_stand_ins(file));
  std::string what = describe_first_bytes(file.bytes());
  if (what.starts_with("bytes ") || file.count == 0) return Status::ok();
  const bool archive = file.path.find(".tar.") != std::string::npos || file.path.ends_with(".tgz");
  return error(Code::kUnsupported, file.path, ": offset 0: this is ", what, ", which is not read",
               archive ? "; a compressed archive has no random access: unpack it first" : "");
}

Status not_recognised(const std::string& path, std::string_view what) {
  return error(Code::kBadUri, path, ": ", what, "; name the format, as in tokens:", path,
               "?dtype=u16 or raw:", path, "?dtype=u8&shape=28x28");
}

// The format of a file, or empty.
Result<std::string_view> format_of_file(const Peek& file) {
  if (std::string_view format = by_content(file); !format.empty()) return format;
  DL_RETURN_IF_ERROR(refuse_strangers(file));
  return by_suffix(file.path);
}

// train.bin and test.bin are also what token sets are called: cifar100 needs its names, or records that come
// out even.
bool is_cifar100(const std::string& directory, const OpenContext& context) {
  if (path_exists(join_path(directory, "fine_label_names.txt"))) return true;
  constexpr int64_t kRecordBytes = 3074;
  for (std::string_view name : {"train.bin", "test.bin"}) {
    Result<Peek> file = peek(join_path(directory, name), context);
    if (!file.is_ok() || file.value().file_bytes == 0 || file.value().file_bytes % kRecordBytes != 0)
      return false;
    if (is_llmc(file.value())) return false;
  }
  return true;
}

// Data sets known by the names of their files, in the directory itself.
std::string_view by_usual_names(const std::string& directory, const OpenContext& context) {
  struct Known {
    std::string_view format;
    std::string_view file;
  };
  constexpr Known kKnown[] = {
      {"mnist", "train-images-idx3-ubyte"},
      {"mnist", "train-images-idx3-ubyte.gz"},
      {"mnist", "train-images.idx3-ubyte"},
      {"mnist", "train-images.idx3-ubyte.gz"},
      {"mnist", "MNIST/raw"},
      {"cifar10", "data_batch_1.bin"},
      {"cifar10", "data_batch_1.bin.gz"},
      {"cifar10", "cifar-10-batches-bin"},
      {"cifar100", "cifar-100-binary"},
  };
  for (const Known& known : kKnown) {
    if (path_exists(join_path(directory, known.file))) return known.format;
  }
  return is_cifar100(directory, context) ? "cifar100" : "";
}

bool is_image(std::string_view name) {
  return std::any_of(std::begin(kImageExtensions), std::end(kImageExtensions),
                     [&](std::string_view extension) { return has_extension(name, extension); });
}

bool any_image(const std::vector<std::string>& names) {
  return std::any_of(names.begin(),
                     names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMaxFilesLookedAt)),
                     is_image);
}

// Class folders: directories, of which one of the first holds images.
Result<bool> holds_class_folders(const std::string& path) {
  DL_ASSIGN_OR_RETURN(std::vector<std::string> folders, list_directories(path));
  for (size_t i = 0; i < folders.size() && i < kMaxFoldersLookedAt; ++i) {
    Result<std::vector<std::string>> names = list_files(join_path(path, folders[i]));
    if (names.is_ok() && any_image(names.value())) return true;
  }
  return false;
}

Result<std::string_view> format_of_directory(const std::string& path, const OpenContext& context) {
  if (std::string_view format = by_usual_names(path, context); !format.empty()) return format;
  DL_ASSIGN_OR_RETURN(std::vector<std::string> names, list_files(path));
  for (size_t i = 0; i < names.size() && i < kMaxFilesLookedAt; ++i) {
    DL_ASSIGN_OR_RETURN(Peek file, peek(join_path(path, names[i]), context));
    std::string_view format = by_content(file);
    if (format.empty()) format = by_suffix(file.path);
    if (!format.empty()) return format;
  }
  DL_ASSIGN_OR_RETURN(bool class_folders, holds_class_folders(path));
  if (class_folders || any_image(names)) return std::string_view("folder");
  if (names.empty()) return error(Code::kEmpty, path, ": no files in this directory");
  return not_recognised(path, "no known format among its files");
}

}  // namespace

Result<std::string_view> detect_format(const std::string& path, const OpenContext& context) {
  Result<bool> directory = is_directory(path);
  if (!directory.is_ok()) {
    if (path.find('?') == std::string::npos) return directory.take_status();
    return error(directory.status().code(), directory.status().message(),
                 " (a path without a scheme takes no keys: write npy:... or another scheme before it)");
  }
  if (directory.value()) return format_of_directory(path, context);
  DL_ASSIGN_OR_RETURN(Peek file, peek(path, context));
  DL_ASSIGN_OR_RETURN(std::string_view format, format_of_file(file));
  if (!format.empty()) return format;
  return not_recognised(path, file.count == 0 ? "an empty file" : "its format is not recognised");
}

}  // namespace dataline
