// SPDX-License-Identifier: Apache-2.0
#include "core/source/format.h"

#include <algorithm>

#include "core/source/files.h"
#include "core/source/plugin_formats.h"

namespace dataline {
namespace {

constexpr const Format* kFormats[] = {
#define FORMAT(name) &k##name##Format,
#include "core/source/formats.def"
#undef FORMAT
};

constexpr size_t kMaxFilesSniffed = 64;  // of a directory
constexpr int kMaxFolderDepth = 8;       // of the subdirectories searched for files of plug-ins

Sniff sniff(const Format& format, const FirstBytes& file) {
  if (format.host != nullptr) return format.host->sniff(file);
  return format.sniff == nullptr ? Sniff::kNo : format.sniff(file);
}

// Null when no format claims the content.
const Format* by_content(const FirstBytes& file, FormatSpan known) {
  const Format* best = nullptr;
  Sniff best_sniff = Sniff::kNo;
  for (const Format* format : known) {
    const Sniff found = sniff(*format, file);
    if (found <= best_sniff) continue;
    best = format;
    best_sniff = found;
  }
  return best;
}

const Format* by_suffix(std::string_view path, FormatSpan known) {
  for (const Format* format : known) {
    if (has_suffix(path, format->suffixes)) return format;
  }
  return nullptr;
}

// kUnsupported for a known kind of file that is not read, kCorrupt for what is no data at all; otherwise ok.
Status refuse_unreadable(const FirstBytes& file) {
  DL_RETURN_IF_ERROR(refuse_stand_ins(file));
  std::string what = describe_first_bytes(file.bytes());
  if (what.starts_with("bytes ") || file.count == 0) return Status::ok();
  constexpr std::string_view kArchives[] = {".tgz", ".tar.gz", ".tar.bz2", ".tar.xz", ".tar.zst"};
  const bool archive = has_suffix(file.path, kArchives);
  return error(Code::kUnsupported, file.path, ": offset 0: this is ", what, ", which is not supported",
               archive ? "; a compressed archive has no random access: decompress it first" : "");
}

Status not_recognized(const std::string& path, std::string_view what) {
  return error(Code::kBadUri, path, ": ", what, "; name the format, as in tokens:", path,
               "?dtype=u16 or raw:", path, "?dtype=u8&shape=28x28");
}

// kUnsupported for a file of a format whose plug-in is not loaded.
Status refuse_apart(const FirstBytes& file, FormatSpan known) {
  const PluginFormat* const apart = plugin_format_of_file(file.path, file.bytes());
  if (apart == nullptr || find_format(apart->name, known) != nullptr) return Status::ok();
  return error(Code::kUnsupported, file.path, ": ", apart->what, ": ", plugin_advice(*apart));
}

Result<const Format*> format_of_file(const std::string& path, const OpenContext& context, FormatSpan known) {
  DL_ASSIGN_OR_RETURN(FirstBytes file, read_first_bytes(path, context));
  if (const Format* format = by_content(file, known)) return format;
  DL_RETURN_IF_ERROR(refuse_stand_ins(file));
  DL_RETURN_IF_ERROR(refuse_apart(file, known));
  DL_RETURN_IF_ERROR(refuse_unreadable(file));
  if (const Format* format = by_suffix(path, known)) return format;
  return not_recognized(path, file.count == 0 ? "an empty file" : "its format is not recognised");
}

bool all_are_members(const std::string& directory, const std::vector<std::string>& names,
                     const Format& format, const OpenContext& context) {
  return std::all_of(names.begin(), names.end(),
                     [&](const std::string& name) { return format.is_member(directory, name, context); });
}

// A directory in which no format was found, for formats of plug-ins, which may enter subdirectories (hive layouts): the first
// file below it that is one of theirs. Null: none. kUnsupported: the plug-in of such a file is not loaded.
Result<const Format*> format_below(const std::string& path, const DirectoryNames& listed, int depth,
                                   const OpenContext& context, FormatSpan known) {
  for (size_t i = 0; i < listed.files.size() && i < kMaxFilesSniffed; ++i) {
    DL_ASSIGN_OR_RETURN(FirstBytes file, read_first_bytes(join_path(path, listed.files[i]), context));
    const Format* format = by_content(file, known);
    if (format == nullptr) format = by_suffix(file.path, known);
    if (format != nullptr && format->host != nullptr) return format;
    if (format == nullptr) DL_RETURN_IF_ERROR(refuse_apart(file, known));
  }
  for (size_t i = 0; i < listed.directories.size() && i < kMaxFilesSniffed && depth < kMaxFolderDepth; ++i) {
    const std::string below = join_path(path, listed.directories[i]);
    DL_ASSIGN_OR_RETURN(const DirectoryNames names, list_directory(below));
    DL_ASSIGN_OR_RETURN(const Format* format, format_below(below, names, depth + 1, context, known));
    if (format != nullptr) return format;
  }
  return static_cast<const Format*>(nullptr);
}

Result<const Format*> format_of_directory(const std::string& path, const OpenContext& context,
                                          FormatSpan known) {
  for (const Format* format : known) {
    if (format->is_set != nullptr && format->is_set(path, context)) return format;
  }
  DL_ASSIGN_OR_RETURN(const DirectoryNames listed_names, list_directory(path));
  const std::vector<std::string>& names = listed_names.files;
  const Format* listed = nullptr;  // its files may be lists of the pictures in a tree
  for (size_t i = 0; i < names.size() && i < kMaxFilesSniffed && listed == nullptr; ++i) {
    DL_ASSIGN_OR_RETURN(FirstBytes file, read_first_bytes(join_path(path, names[i]), context));
    const Format* format = by_content(file, known);
    if (format == nullptr) format = by_suffix(file.path, known);
    if (format == nullptr) continue;
    if (!format->lists) return format;
    if (all_are_members(path, names, *format, context)) listed = format;
  }
  for (const Format* format : known) {
    if (format->is_tree != nullptr && format->is_tree(path, listed_names)) return format;
  }
  if (listed != nullptr) return listed;
  DL_ASSIGN_OR_RETURN(const Format* below, format_below(path, listed_names, 0, context, known));
  if (below != nullptr) return below;
  if (names.empty()) {
    return error(Code::kEmpty, path, ": no files in this directory; ", listed_names.text());
  }
  return not_recognized(path, concat("no known format among its files; ", listed_names.text()));
}

}  // namespace

FormatSpan formats() { return kFormats; }

const Format* find_format(std::string_view name, FormatSpan known) {
  for (const Format* format : known) {
    if (format->name == name) return format;
  }
  return nullptr;
}

std::vector<std::string_view> format_names(FormatSpan known) {
  std::vector<std::string_view> names;
  for (const Format* format : known) names.push_back(format->name);
  return names;
}

Result<OpenOne> configure(const Format& format, const Uri& uri) {
  if (format.host == nullptr) return format.configure(uri);
  HostFormat::Values values;
  for (const KeySpec& key : format.keys) {
    const UriKey* given = uri.find(key.name);
    std::optional<std::string> value;
    if (given != nullptr) {
      DL_RETURN_IF_ERROR(check_word(*given, key));
      value = given->value;
    } else if (key.fallback.data() != nullptr) {
      value = std::string(key.fallback);
    }
    values.push_back(std::move(value));
  }
  return OpenOne([host = format.host, values = std::move(values)](
                     const std::string& path, const OpenContext& context) -> Result<SourceRef> {
    // The host may have the format's context in what it opened, which goes first.
    struct Opened {
      std::shared_ptr<const HostFormat> format;
      SourceRef source;
    };
    DL_ASSIGN_OR_RETURN(SourceRef source, host->open(path, values, context));
    auto opened = std::make_shared<Opened>(Opened{host->shared_from_this(), std::move(source)});
    const Source* found = opened->source.get();
    return SourceRef(std::move(opened), found);
  });
}

Result<const Format*> detect_format(const std::string& path, const OpenContext& context, FormatSpan known) {
  if (storage_of(path, context.storages) != nullptr) return format_of_file(path, context, known);
  Result<bool> directory = is_directory(path);
  if (directory.is_ok()) {
    return directory.value() ? format_of_directory(path, context, known)
                             : format_of_file(path, context, known);
  }
  if (path.find('?') == std::string::npos) return directory.take_status();
  return error(directory.status().code(), directory.status().message(),
               " (a path without a scheme does not accept keys: write npy:... or another scheme before it)");
}

}  // namespace dataline
