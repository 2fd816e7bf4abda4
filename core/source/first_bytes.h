// The first bytes of a file: what detection sees of it, and what error messages say it is.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/memory/mapped_file.h"

namespace dataline {

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

// Text from a file, quoted, for a one-line message: at most 40 bytes, '?' for anything but printable ASCII.
std::string printable(std::string_view text);

}  // namespace dataline
