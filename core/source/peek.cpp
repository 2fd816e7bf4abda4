// SPDX-License-Identifier: Apache-2.0
#include "core/source/peek.h"

#include <algorithm>

#include "core/base/checked.h"
#include "core/base/field.h"
#include "core/source/first_bytes.h"

namespace dataline {
namespace {

// 0 for what is no IDX type.
int64_t idx_item_bytes(std::byte type) {
  switch (std::to_integer<int>(type)) {
    case 0x08:
    case 0x09:
      return 1;
    case 0x0b:
      return 2;
    case 0x0c:
    case 0x0d:
      return 4;
    case 0x0e:
      return 8;
    default:
      return 0;
  }
}

}  // namespace

Result<Peek> peek(const std::string& path, const OpenContext& context) {
  OpenContext by_reading = context;
  by_reading.io = IoMode::kPread;
  DL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(path, by_reading));
  Peek out;
  out.path = path;
  out.file_bytes = file.bytes();
  out.count = std::min(kPeekBytes, file.bytes());
  DL_RETURN_IF_ERROR(file.read(0, out.count, out.buffer.data()));
  return out;
}

std::optional<int64_t> idx_file_bytes(const Peek& file) {
  if (file.count < 8 || load_big<uint16_t>(file.buffer.data()) != 0) return std::nullopt;
  int64_t item_bytes = idx_item_bytes(file.buffer[2]);
  auto rank = std::to_integer<int64_t>(file.buffer[3]);
  int64_t header_bytes = 4 + 4 * rank;
  if (item_bytes == 0 || rank == 0 || rank > kMaxRank || header_bytes > file.count) return std::nullopt;
  std::optional<int64_t> total = item_bytes;
  for (int64_t d = 0; d < rank && total; ++d) {
    total = checked_multiply(*total, load_big<uint32_t>(file.buffer.data() + 4 + 4 * d));
  }
  return total ? checked_add(*total, header_bytes) : std::nullopt;
}

Status refuse_stand_ins(const Peek& file) {
  std::string what = describe_first_bytes(file.bytes());
  bool stands_in = what.find("git-LFS") != std::string::npos || what.find("error page") != std::string::npos;
  if (!stands_in) return Status::ok();
  return error(Code::kCorrupt, file.path, ": offset 0: this is ", what);
}

}  // namespace dataline
