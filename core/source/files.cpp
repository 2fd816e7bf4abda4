// SPDX-License-Identifier: Apache-2.0
#include "core/source/files.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "core/base/text.h"
#include "core/memory/directory_listing.h"
#include "core/memory/file.h"
#include "core/source/names.h"

namespace dataline {
namespace {

bool leads_to_directory(const DirectoryListing& listing, const DirectoryEntry& entry) {
  if (entry.kind != DirectoryEntry::Kind::kLink) return entry.kind == DirectoryEntry::Kind::kDirectory;
  FileFacts facts;
  return facts_of_entry(listing.descriptor(), entry.name.c_str(), facts) == 0 && facts.is_directory;
}

struct Known {
  std::string_view start;
  std::string_view what;
};

constexpr Known kKnown[] = {
    Known{"version https://git-lfs", "a git-LFS pointer, not the data (git lfs pull fetches it)"},
    Known{"\x93NUMPY", "an npy file"},
    Known{"PK\x03\x04", "a zip archive (npz: reads those of .npy files)"},
    Known{"\x1f\x8b", "gzip data"},
    Known{"\x28\xb5\x2f\xfd", "zstd data"},
    Known{"\xfd"
          "7zXZ",
          "xz data"},
    Known{"BZh", "bzip2 data"},
    Known{"\x89HDF", "an HDF5 file"},
    Known{"ARROW1", "an Arrow file"},
    Known{"FEA1", "a Feather 1 file"},
    Known{"PAR1", "a Parquet file (the plug-in libdataline-parquet.so reads it)"},
    Known{"PARE", "an encrypted Parquet file"},
    Known{"\x89PNG", "a PNG image"},
    Known{"\xff\xd8\xff", "a JPEG image"},
    Known{"<!DOCTYPE", "an HTML page, perhaps the error page of a download"},
    Known{"<!doctype", "an HTML page, perhaps the error page of a download"},
    Known{"<html", "an HTML page, perhaps the error page of a download"},
    Known{"<HTML", "an HTML page, perhaps the error page of a download"},
    Known{"<?xml", "an XML document, perhaps the error page of a download"},
};

constexpr size_t kShownBytes = 8;

const Known* known_kind(std::string_view first) {
  const auto* const found = std::find_if(std::begin(kKnown), std::end(kKnown),
                                         [&](const Known& known) { return first.starts_with(known.start); });
  return found == std::end(kKnown) ? nullptr : found;
}

// What stands in place of the data by accident is text too.
bool stands_in(std::string_view what) {
  return what.find("git-LFS") != std::string_view::npos || what.find("error page") != std::string_view::npos;
}

// Bytes that text does not contain: control characters, and what is not UTF-8 unless the end cuts a character.
bool is_binary(std::string_view first) {
  constexpr std::string_view kInText = "\t\n\v\f\r";
  constexpr size_t kMaxCharacterBytes = 4;
  const auto control = [&](char c) {
    return (c >= 0 && c < 0x20 && kInText.find(c) == std::string_view::npos) || c == 0x7f;
  };
  const std::optional<size_t> bad = find_no_utf8(first);
  return std::any_of(first.begin(), first.end(), control) ||
         (bad && *bad + kMaxCharacterBytes <= first.size());
}

}  // namespace

std::string join_path(std::string_view directory, std::string_view name) {
  return concat(directory, directory.ends_with('/') ? "" : "/", name);
}

bool path_exists(const std::string& path) {
  FileFacts facts;
  return facts_of_path(path, facts) == 0;
}

Result<bool> is_directory(const std::string& path) {
  FileFacts facts;
  const int number = facts_of_path(path, facts);
  if (number != 0) return file_error(path, number);
  return facts.is_directory;
}

Result<DirectoryNames> list_directory(const std::string& directory) {
  DL_ASSIGN_OR_RETURN(DirectoryListing listing, DirectoryListing::open(directory));
  DirectoryNames names;
  for (DirectoryEntry entry; listing.next(entry);) {
    if (entry.name == kManifestName) continue;
    const bool hidden = is_hidden_name(entry.name);
    const bool inner = !hidden && leads_to_directory(listing, entry);
    (hidden ? names.hidden : inner ? names.directories : names.files).push_back(entry.name);
  }
  if (listing.failure() != 0) return file_error(directory, listing.failure());
  for (std::vector<std::string>* list : {&names.files, &names.directories, &names.hidden})
    std::sort(list->begin(), list->end(), natural_less);
  return names;
}

std::string DirectoryNames::text() const {
  LeftOut all;
  for (const std::string& name : files) all.add(LeftOut::Kind::kFile, name);
  for (const std::string& name : hidden) all.add(LeftOut::Kind::kHidden, name);
  for (const std::string& name : directories) all.add(LeftOut::Kind::kDirectory, name);
  return all.count() == 0 ? "the directory is empty" : concat("it has ", all.text());
}

std::string describe_first_bytes(Bytes first) {
  if (first.empty()) return "an empty file";
  std::string_view text(reinterpret_cast<const char*>(first.data()), first.size());
  if (const Known* const known = known_kind(text)) return std::string(known->what);
  std::string out = "bytes";
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (size_t i = 0; i < first.size() && i < kShownBytes; ++i) {
    auto value = std::to_integer<size_t>(first[i]);
    out += concat(' ', kDigits[value >> 4], kDigits[value & 15]);
  }
  return out;
}

std::string describe_first_bytes(const MappedFile& file) {
  std::array<std::byte, kDescribedBytes> first;
  int64_t count = std::min(kDescribedBytes, file.bytes());
  Status status = file.read(0, count, first.data());
  if (!status.is_ok()) return "bytes that cannot be read";
  return describe_first_bytes(Bytes(first).first(static_cast<size_t>(count)));
}

Result<FirstBytes> read_first_bytes(const std::string& path, const OpenContext& context) {
  OpenContext by_reading = context;
  by_reading.io = IoMode::kPread;
  DL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(path, by_reading));
  FirstBytes out;
  out.path = path;
  out.file_bytes = file.bytes();
  out.count = std::min(kFirstBytes, file.bytes());
  DL_RETURN_IF_ERROR(file.read(0, out.count, out.buffer.data()));
  return out;
}

Status refuse_stand_ins(const FirstBytes& file) {
  std::string what = describe_first_bytes(file.bytes());
  if (!stands_in(what)) return Status::ok();
  return error(Code::kCorrupt, file.path, ": offset 0: this is ", what);
}

std::string kind_note(std::string_view described) {
  return described.starts_with("bytes ") ? "" : concat("; this is ", described);
}

Status refuse_other_kinds(const MappedFile& file, std::string_view expected) {
  std::array<char, kFirstBytes> buffer;
  const int64_t count = std::min(kFirstBytes, file.bytes());
  DL_RETURN_IF_ERROR(file.read(0, count, reinterpret_cast<std::byte*>(buffer.data())));
  const std::string_view first(buffer.data(), static_cast<size_t>(count));
  const Known* const known = known_kind(first);
  if (known == nullptr || !(stands_in(known->what) || is_binary(first))) return Status::ok();
  return error(
      Code::kCorrupt, file.path(), ": offset 0", file.inflated() ? " after decompression" : "", ": expected ",
      expected, ", this is ", known->what,
      known->what.ends_with(" data") ? "; decompress it first (gunzip, unzstd, xz -d, bunzip2)" : "");
}

std::string some_names(std::span<const std::string_view> names, std::string_view separator) {
  constexpr size_t kMaxShown = 6;
  std::string out;
  for (size_t i = 0; i < names.size() && i < kMaxShown; ++i) {
    const std::string quoted = printable(names[i]);
    out += concat(i == 0 ? "" : separator, std::string_view(quoted).substr(1, quoted.size() - 2));
  }
  if (names.size() > kMaxShown) out += concat(separator, "... (", names.size(), " in all)");
  return out;
}

Status no_such_field(std::string_view place, std::string_view what, std::string_view wanted,
                     std::span<const std::string_view> names) {
  const std::string nearest = did_you_mean(wanted, names);
  return error(Code::kNoSuchField, place, "no ", what, " ", printable(wanted), nearest,
               nearest.empty() ? ";" : "", " it has ", names.empty() ? "none" : some_names(names, ", "));
}

}  // namespace dataline
