// What a path leads to, as detection and error messages see it: directories, and the first bytes of files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/message_text.h"
#include "core/base/status.h"
#include "core/memory/mapped_file.h"

namespace dataline {

bool path_exists(const std::string& path);

// Whether the path is a directory; kNotFound, kPermission, ... where that is unknown.
Result<bool> is_directory(const std::string& path);

// The names in a directory by the rule of names.h, each list in natural order: part-2 before part-10.
struct DirectoryNames {
  // Everything but subdirectories. Includes what is not a regular file: opening it is an error, while skipping it would
  // silently lose a shard. Without the manifest of a written set.
  std::vector<std::string> files;
  std::vector<std::string> directories;
  std::vector<std::string> hidden;  // files and subdirectories

  // All of them, for the error that none is of the wanted kind: "it has 1 file (README)".
  std::string text() const;
};
Result<DirectoryNames> list_directory(const std::string& directory);

std::string join_path(std::string_view directory, std::string_view name);

constexpr int64_t kFirstBytes = 512;     // past tar's magic at 257
constexpr int64_t kDescribedBytes = 48;  // enough to recognize a git-LFS pointer

struct FirstBytes {
  std::string path;
  int64_t file_bytes = 0;
  std::array<std::byte, kFirstBytes> buffer{};
  int64_t count = 0;  // valid bytes of the buffer: fewer in short files

  Bytes bytes() const { return Bytes(buffer).first(static_cast<size_t>(count)); }
  std::string_view text() const {
    return {reinterpret_cast<const char*>(buffer.data()), static_cast<size_t>(count)};
  }
};

// One open and one small pread, whatever io mode the context asks for.
Result<FirstBytes> read_first_bytes(const std::string& path, const OpenContext& context);

// "a git-LFS pointer, not the data (git lfs pull fetches it)", "a zip archive", "an empty file", ...; "bytes 89 50 4e 47"
// for unknown content.
std::string describe_first_bytes(Bytes first);
std::string describe_first_bytes(const MappedFile& file);

// Refuses files that are there in place of the data by accident: a git-LFS pointer, the HTML or XML page of a failed
// download. kCorrupt says which.
Status refuse_stand_ins(const FirstBytes& file);

// "; this is xz data" for what describe_first_bytes() recognized, or "": the end of a message about the content.
std::string kind_note(std::string_view described);

// For formats that are text: refuses, besides those, every file of a kind that describe_first_bytes() knows, unless its first
// bytes are text. kCorrupt: "expected `expected`, this is xz data".
Status refuse_other_kinds(const MappedFile& file, std::string_view expected);

// Names from a file, for messages: "a, b, c, d, e, f, ... (12 in all)".
std::string some_names(std::span<const std::string_view> names, std::string_view separator);
// kNoSuchField: a file, or what else `place` begins the message with, has no `what` of this name; with the nearest, and some of `names`.
Status no_such_field(std::string_view place, std::string_view what, std::string_view wanted,
                     std::span<const std::string_view> names);

}  // namespace dataline
