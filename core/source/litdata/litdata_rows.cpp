// SPDX-License-Identifier: Apache-2.0
#include "core/source/litdata/litdata_rows.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/base/bytes.h"

namespace dataline {
namespace {

constexpr std::string_view kRowsMagic("LDARW01\0", 8);
constexpr int64_t kWordBytes = 4, kRowsTailBytes = kWordBytes + 8;

Result<uint32_t> word_at(const MappedFile& file, int64_t offset) {
  std::array<std::byte, kWordBytes> bytes;
  DL_RETURN_IF_ERROR(file.read(offset, kWordBytes, bytes.data()));
  return load_little<uint32_t>(bytes.data());
}

}  // namespace

Result<std::optional<FileExtent>> find_litdata_rows(const MappedFile& file, int64_t samples) {
  const std::optional<FileExtent> none;
  // What is wrong with so short a file the readers of its table say.
  if (samples > UINT32_MAX || file.bytes() < kWordBytes * (samples + 2) + kRowsTailBytes) return none;
  const int64_t tail = file.bytes() - kRowsTailBytes;
  std::array<std::byte, kRowsTailBytes> bytes;
  DL_RETURN_IF_ERROR(file.read(tail, kRowsTailBytes, bytes.data()));
  if (std::string_view(reinterpret_cast<const char*>(bytes.data()) + kWordBytes, kRowsMagic.size()) !=
      kRowsMagic)
    return none;
  DL_ASSIGN_OR_RETURN(const int64_t items_end, word_at(file, kWordBytes * (samples + 1)));
  if (items_end == file.bytes()) return none;  // the last item ends so
  const int64_t length = load_little<uint32_t>(bytes.data()), room = std::max<int64_t>(tail - items_end, 0);
  if (length > room) {
    return error(Code::kCorrupt, file.path(), ": offset ", tail, ": an Arrow file of ", length,
                 " bytes, but ", room, " follow the items, which end at ", items_end);
  }
  return std::optional(FileExtent{tail - length, length});
}

Result<SourceRef> open_litdata_rows(const std::string& directory, const ShardEntry& entry,
                                    const ArrowOptions& options, const OpenContext& context) {
  DL_ASSIGN_OR_RETURN(MappedFile file, open_shard_file(directory, entry, context));
  const std::string path = file.path();
  DL_ASSIGN_OR_RETURN(const std::optional<FileExtent> rows, find_litdata_rows(file, entry.samples));
  if (!rows) {
    return error(Code::kCorrupt, path, ": offset ", file.bytes(),
                 ": expected the chunk to end with an Arrow file, as in the first chunk of the set");
  }
  DL_ASSIGN_OR_RETURN(SourceRef source,
                      open_arrow_within(std::move(file), *rows, "litdata", options, context));
  if (source->count() == entry.samples) return source;
  return error(Code::kCorrupt, path, ": offset ", rows->offset, ": an Arrow file of ", source->count(),
               " rows, the index states ", entry.samples);
}

}  // namespace dataline
