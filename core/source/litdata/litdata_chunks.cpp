// SPDX-License-Identifier: Apache-2.0
#include "core/source/litdata/litdata_chunks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>

#include "core/base/text.h"
#include "core/source/damage.h"
#include "core/source/documents/documents.h"
#include "core/source/files.h"
#include "core/source/litdata/litdata_rows.h"

namespace dataline {
namespace {

constexpr int64_t kLitdataWord = 4;

Status first_item_wrong(const MappedFile& file, int64_t offset, const std::string& name,
                        std::string_view what) {
  return error(Code::kCorrupt, file.path(), ": sample 0, offset ", offset, ": column ", printable(name), ": ",
               what);
}

// `item`: of the file; it lies in it.
Status read_headers(const MappedFile& file, const FileExtent& item, const std::vector<bool>& by_header,
                    ShardPlan& plan) {
  const int64_t sizes_bytes = kLitdataWord * static_cast<int64_t>(plan.columns.size());
  if (item.bytes < sizes_bytes)
    return error(Code::kCorrupt, file.path(), ": sample 0, offset ", item.offset, ": its sizes need ",
                 sizes_bytes, " bytes, the sample has ", item.bytes);
  std::array<std::byte, kLitdataWord* static_cast<int64_t>(kMaxShardColumns)> sizes;
  DL_RETURN_IF_ERROR(file.read(item.offset, sizes_bytes, sizes.data()));
  const int64_t end = item.offset + item.bytes;
  int64_t at = item.offset + sizes_bytes;
  for (size_t c = 0; c < plan.columns.size(); ++c) {
    const int64_t bytes = load_little<uint32_t>(sizes.data() + kLitdataWord * static_cast<int64_t>(c));
    ShardColumn& column = plan.columns[c];
    if (bytes > end - at)
      return first_item_wrong(file, item.offset, column.name,
                              concat("its size is ", bytes, ", expected at most ", end - at));
    if (by_header[c]) {
      std::array<std::byte, kMaxLitdataHeaderBytes> header;
      const int64_t head = std::min(bytes, kMaxLitdataHeaderBytes);
      DL_RETURN_IF_ERROR(file.read(at, head, header.data()));
      const std::string what =
          take_litdata_header(Bytes(header).first(static_cast<size_t>(head)), bytes, column);
      if (!what.empty()) column.why_not = first_item_wrong(file, at, column.name, what);
    }
    at += bytes;
  }
  return Status::ok();
}

// LitData's other forms of chunks: items compressed in batches, of which the index says so, and rows of an Arrow file, which all
// chunks of a set have or none.
Status explain_chunk(const MappedFile& file, int64_t samples) {
  constexpr std::string_view kFramed("LDFZ01\0\0", 8);
  std::array<char, 8> text{};
  const int64_t bytes = std::ssize(text);
  if (file.bytes() < bytes) return Status::ok();
  DL_RETURN_IF_ERROR(file.read(0, bytes, reinterpret_cast<std::byte*>(text.data())));
  if (std::string_view(text.data(), text.size()) == kFramed)
    return error(Code::kCorrupt, file.path(),
                 ": items compressed in batches, but the index has no compression_level batch");
  DL_ASSIGN_OR_RETURN(const std::optional<FileExtent> rows, find_litdata_rows(file, samples));
  if (!rows) return Status::ok();
  return error(Code::kUnsupported, file.path(), ": offset ", rows->offset,
               ": the rows of an Arrow file, but the set's first chunk has items (LitData writes such a "
               "chunk if Arrow cannot store one of its values: use one type for all values of a key)");
}

Status read_chunk_headers(const std::string& directory, const ShardEntry& chunk,
                          const std::vector<bool>& by_header, ShardPlan& plan, const OpenContext& context) {
  DL_RETURN_IF_ERROR(chunk.wrong);
  DL_ASSIGN_OR_RETURN(const MappedFile file, open_shard_file(directory, chunk, context));
  DL_ASSIGN_OR_RETURN(const ShardTable table, read_shard_table(file, chunk.samples, plan, context));
  return read_headers(file, table.samples.extent(0), by_header, plan);
}

}  // namespace

ShardPlan litdata_plan() { return {"litdata", {}, {}, false, explain_chunk}; }

Status read_first_item(const std::string& directory, const LitdataIndex& index,
                       const std::vector<bool>& by_header, ShardPlan& plan, const OpenContext& context) {
  if (std::find(by_header.begin(), by_header.end(), true) == by_header.end()) return Status::ok();
  Status first;  // why the first chunk cannot be read, where damaged ones may be left out
  for (const ShardEntry& chunk : index.chunks) {
    if (chunk.samples == 0) continue;
    ShardPlan tried = plan;
    Status status = read_chunk_headers(directory, chunk, by_header, tried, context);
    for (size_t c = 0; c < by_header.size() && status.is_ok(); ++c) {
      if (by_header[c] && !tried.columns[c].field) status = tried.columns[c].why_not;
    }
    if (status.is_ok()) return plan = std::move(tried), status;
    if (context.bad_files == BadFiles::kError || !is_damage(status)) return status;
    if (first.is_ok()) first = std::move(status);
  }
  if (!first.is_ok()) return first;
  return error(Code::kEmpty, index.path, ": no items; the first one sets the dtype and the shape of arrays");
}

Result<SourceRef> open_token_chunk(const std::string& directory, const ShardEntry& entry, DType dtype,
                                   int64_t tokens, const OpenContext& context) {
  const ShardPlan plan = litdata_plan();
  DL_ASSIGN_OR_RETURN(MappedFile file, open_shard_file(directory, entry, context));
  DL_ASSIGN_OR_RETURN(const ShardTable table, read_shard_table(file, entry.samples, plan, context));
  const int64_t item = dtype_bytes(dtype), begin = table.samples.begin;
  SortedTable ends(context.memory);
  ends.reserve(entry.samples);
  for (int64_t i = 0; i < entry.samples; ++i) {
    const FileExtent extent = table.samples.extent(i);
    if (extent.bytes % item != 0)
      return error(Code::kCorrupt, file.path(), ": sample ", i, ", offset ", extent.offset, ": ",
                   extent.bytes, " bytes are not a multiple of the token size ", item);
    ends.add((extent.offset + extent.bytes - begin) / item);
  }
  const int64_t count = (file.bytes() - begin) / item;
  if (tokens >= 0 && tokens != count)
    return error(Code::kCorrupt, file.path(), ": ", count, " tokens, the index states ", tokens);
  DL_RETURN_IF_ERROR(file.load(context));
  const TokenSpan span{dtype, std::endian::native == std::endian::big, begin, count, {}};
  SourceInfo info{"litdata", file.path(), {}};
  if (file.inflated()) info.notes.push_back(kInflatedShards);
  return DocumentFile::create(std::move(file), span, std::move(ends), std::move(info));
}

}  // namespace dataline
