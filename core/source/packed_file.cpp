// SPDX-License-Identifier: Apache-2.0
#include "core/source/packed_file.h"

#include <array>
#include <span>
#include <utility>

#include "core/base/bytes.h"
#include "core/source/gzip.h"

namespace dataline {
namespace {

constexpr int64_t kLeastGzipBytes = 18;  // header and trailer of an empty member

// The last four bytes of a member: its inflated size modulo 2^32.
Result<int64_t> size_in_trailer(const std::string& path, Bytes packed) {
  auto bytes = static_cast<int64_t>(packed.size());
  if (bytes < kLeastGzipBytes) {
    return error(Code::kTruncated, path, ": offset 0: gzip data needs ", kLeastGzipBytes, " bytes, file has ",
                 bytes);
  }
  int64_t size = load_little<uint32_t>(packed.data() + bytes - 4);
  int64_t most = most_inflated_bytes(bytes);
  if (size <= most) return size;
  return error(Code::kCorrupt, path, ": offset ", bytes - 4, ": the gzip trailer says ", size, " bytes, ",
               bytes, " compressed bytes hold at most ", most);
}

}  // namespace

Result<MappedFile> open_maybe_packed(const std::string& path, const OpenContext& context) {
  DL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(path, context));
  std::array<std::byte, 2> first{};
  if (file.bytes() < 2) return file;
  DL_RETURN_IF_ERROR(file.read(0, first.size(), first.data()));
  if (!is_gzip(first)) return file;
  // A copy, because a decoder that reads a map dies with it.
  HostMemory& memory = *context.memory;
  DL_ASSIGN_OR_RETURN(Block packed, memory.allocate(file.bytes(), 64, MemoryKind::kData, path.c_str()));
  DL_RETURN_IF_ERROR(file.read(0, file.bytes(), packed.data()));
  Bytes compressed(packed.data(), static_cast<size_t>(file.bytes()));
  DL_ASSIGN_OR_RETURN(int64_t size, size_in_trailer(path, compressed));
  DL_ASSIGN_OR_RETURN(Block plain, memory.allocate(size, 64, MemoryKind::kData, path.c_str()));
  std::span<std::byte> out(plain.data(), static_cast<size_t>(size));
  DL_RETURN_IF_ERROR(inflate_exactly(path, compressed, out, context.cancel));
  return MappedFile::from_block(path, std::move(plain), size, file.file_bytes());
}

}  // namespace dataline
