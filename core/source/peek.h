// The first bytes of a file, before it is opened as a dataset.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/memory/mapped_file.h"

namespace dataline {

constexpr int64_t kPeekBytes = 512;  // past tar's magic at 257

struct Peek {
  std::string path;
  int64_t file_bytes = 0;
  std::array<std::byte, kPeekBytes> buffer{};
  int64_t count = 0;  // bytes of the buffer that the file has

  Bytes bytes() const { return Bytes(buffer).first(static_cast<size_t>(count)); }
  std::string_view text() const {
    return {reinterpret_cast<const char*>(buffer.data()), static_cast<size_t>(count)};
  }
};

// One open and one small read, whatever io mode the context asks for.
Result<Peek> peek(const std::string& path, const OpenContext& context);

// The size that an IDX header gives the whole file; nothing where the first bytes are no IDX header.
std::optional<int64_t> idx_file_bytes(const Peek& file);

// What stands in place of data by accident: a git-LFS pointer, the HTML or XML page of a failed download.
// kCorrupt names it; ok for anything else.
Status refuse_stand_ins(const Peek& file);

}  // namespace dataline
