// SPDX-License-Identifier: Apache-2.0
#include "core/source/format.h"

#include "core/source/files.h"

namespace dataline {
namespace {

constexpr const Format* kFormats[] = {
#define FORMAT(name) &k##name##Format,
#include "core/source/formats.def"
#undef FORMAT
};

constexpr size_t kMaxFilesSniffed = 64;  // of a directory

// Null when no format claims the content.
const Format* by_content(const FirstBytes& file) {
  const Format* best = nullptr;
  Sniff best_sniff = Sniff::kNo;
  for (const Format* format : kFormats) {
    const Sniff sniff = format->sniff == nullptr ? Sniff::kNo : format->sniff(file);
    if (sniff <= best_sniff) continue;
    best = format;
    best_sniff = sniff;
  }
  return best;
}

const Format* by_suffix(std::string_view path) {
  for (const Format* format : kFormats) {
    if (has_suffix(format->suffixes, path)) return format;
  }
  return nullptr;
}

// kUnsupported for a known kind of file that is not read, kCorrupt for what is no data at all; otherwise ok.
Status refuse_unreadable(const FirstBytes& file) {
  DL_RETURN_IF_ERROR(refuse_stand_ins(file));
  std::string what = describe_first_bytes(file.bytes());
  if (what.starts_with("bytes ") || file.count == 0) return Status::ok();
  const bool archive = file.path.find(".tar.") != std::string::npos || file.path.ends_with(".tgz");
  return error(Code::kUnsupported, file.path, ": offset 0: this is ", what, ", which is not read",
               archive ? "; a compressed archive has no random access: unpack it first" : "");
}

Status not_recognized(const std::string& path, std::string_view what) {
  return error(Code::kBadUri, path, ": ", what, "; name the format, as in tokens:", path,
               "?dtype=u16 or raw:", path, "?dtype=u8&shape=28x28");
}

Result<const Format*> format_of_file(const std::string& path, const OpenContext& context) {
  DL_ASSIGN_OR_RETURN(FirstBytes file, read_first_bytes(path, context));
  if (const Format* format = by_content(file)) return format;
  DL_RETURN_IF_ERROR(refuse_unreadable(file));
  if (const Format* format = by_suffix(path)) return format;
  return not_recognized(path, file.count == 0 ? "an empty file" : "its format is not recognised");
}

Result<const Format*> format_of_directory(const std::string& path, const OpenContext& context) {
  for (const Format* format : kFormats) {
    if (format->is_set != nullptr && format->is_set(path, context)) return format;
  }
  DL_ASSIGN_OR_RETURN(const std::vector<std::string> names, list_files(path));
  for (size_t i = 0; i < names.size() && i < kMaxFilesSniffed; ++i) {
    DL_ASSIGN_OR_RETURN(FirstBytes file, read_first_bytes(join_path(path, names[i]), context));
    if (const Format* format = by_content(file)) return format;
    if (const Format* format = by_suffix(file.path)) return format;
  }
  for (const Format* format : kFormats) {
    if (format->is_tree == nullptr) continue;
    DL_ASSIGN_OR_RETURN(const bool tree, format->is_tree(path, names));
    if (tree) return format;
  }
  if (names.empty()) return error(Code::kEmpty, path, ": no files in this directory");
  return not_recognized(path, "no known format among its files");
}

}  // namespace

std::span<const Format* const> formats() { return kFormats; }

const Format* find_format(std::string_view name) {
  for (const Format* format : kFormats) {
    if (format->name == name) return format;
  }
  return nullptr;
}

std::vector<std::string_view> format_names() {
  std::vector<std::string_view> names;
  for (const Format* format : kFormats) names.push_back(format->name);
  return names;
}

Result<const Format*> detect_format(const std::string& path, const OpenContext& context) {
  Result<bool> directory = is_directory(path);
  if (directory.is_ok()) {
    return directory.value() ? format_of_directory(path, context) : format_of_file(path, context);
  }
  if (path.find('?') == std::string::npos) return directory.take_status();
  return error(directory.status().code(), directory.status().message(),
               " (a path without a scheme takes no keys: write npy:... or another scheme before it)");
}

}  // namespace dataline
