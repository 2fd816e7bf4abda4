// The format `litdata`: a directory with index.json and the chunks that it names, as Lightning's LitData writes them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/source/files.h"
#include "core/source/format.h"
#include "core/source/litdata/litdata_chunks.h"
#include "core/source/litdata/litdata_rows.h"
#include "core/source/nulls.h"
#include "core/source/packing/packing.h"
#include "core/source/shards/shard_set.h"

namespace dataline {
namespace {

Result<bool> chunk_has_rows(const std::string& directory, const ShardEntry& chunk,
                            const OpenContext& context) {
  DL_RETURN_IF_ERROR(chunk.wrong);
  DL_ASSIGN_OR_RETURN(const MappedFile file, open_shard_file(directory, chunk, context));
  DL_ASSIGN_OR_RETURN(const std::optional<FileExtent> rows, find_litdata_rows(file, chunk.samples));
  return rows.has_value();
}

// Whether its first chunk has the rows of an Arrow file, and so all. Where damaged chunks may be left out: whether one has.
Result<bool> has_rows(const std::string& directory, const LitdataIndex& index, const OpenContext& context) {
  const bool strict = context.bad_files == BadFiles::kError;
  for (const ShardEntry& chunk : index.chunks) {
    // Only items are compressed so.
    if (chunk.unpack != nullptr || !chunk.compressed.empty()) return false;
    if (chunk.samples == 0) continue;
    Result<bool> rows = chunk_has_rows(directory, chunk, context);
    if (strict || (rows.is_ok() && rows.value())) return rows;
    if (!rows.is_ok() && !is_damage(rows.status())) return rows;
  }
  return false;
}

Result<SourceRef> open_tokens_set(const std::vector<std::string>& fields, const ShardSetPlace& place,
                                  const LitdataIndex& index, const OpenContext& context) {
  if (index.fields.size() != 1)
    return error(Code::kCorrupt, index.path, ": TokensLoader with ", index.fields.size(),
                 " fields, expected 1");
  const std::string& format = index.fields[0].format;
  const std::optional<DType> dtype = litdata_token_dtype(format);
  if (!dtype || !dtype_is_integer(*dtype))
    return error(Code::kUnsupported, index.path, ": TokensLoader with data_format ", printable(format),
                 ", expected whole numbers as no_header_tensor:N or no_header_numpy:N");
  constexpr std::string_view kNames[] = {"tokens"};
  for (const std::string& name : fields) {
    if (name != kNames[0]) return no_such_field(concat(index.path, ": "), "column", name, kNames);
  }
  return open_shards(place, index.chunks, "litdata", context,
                     [&](const std::string& directory, const ShardEntry& chunk) {
                       const auto number = static_cast<size_t>(&chunk - index.chunks.data());
                       return open_token_chunk(directory, chunk, *dtype, index.tokens[number], context);
                     });
}

Result<SourceRef> open_items_set(const std::vector<std::string>& fields, const ShardSetPlace& place,
                                 const std::string& directory, const LitdataIndex& index,
                                 const OpenContext& context) {
  ShardPlan chosen = litdata_plan();
  std::vector<bool> by_header;
  for (const LitdataField& field : index.fields) {
    LitdataColumn column = litdata_column(index.path, field);
    // Those that are not wanted are not looked at.
    const bool wanted = fields.empty() || std::find(fields.begin(), fields.end(), field.name) != fields.end();
    by_header.push_back(column.by_header && wanted);
    chosen.columns.push_back(std::move(column.stored));
  }
  DL_RETURN_IF_ERROR(read_first_item(directory, index, by_header, chosen, context));
  DL_RETURN_IF_ERROR(choose_columns(index.path, fields, chosen));
  const auto plan = std::make_shared<const ShardPlan>(std::move(chosen));
  return open_shards(place, index.chunks, "litdata", context,
                     [&](const std::string& folder, const ShardEntry& chunk) {
                       return ColumnShard::open(folder, chunk, plan, context);
                     });
}

Result<SourceRef> open_litdata(const ArrowOptions& options, const std::string& path,
                               const OpenContext& context) {
  const ShardSetPlace place = shard_set_place(path);
  DL_ASSIGN_OR_RETURN(const LitdataIndex index, read_litdata_index(place.index, context));
  if (index.is_tokens) return open_tokens_set(options.fields, place, index, context);
  const std::string directory = place.directory.empty() ? "." : place.directory;
  DL_ASSIGN_OR_RETURN(const bool rows, has_rows(directory, index, context));
  if (!rows) return open_items_set(options.fields, place, directory, index, context);
  return open_shards(place, index.chunks, "litdata", context,
                     [&](const std::string& folder, const ShardEntry& chunk) {
                       return open_litdata_rows(folder, chunk, options, context);
                     });
}

// An index of chunks, not of the shards of MDS, which has the same name.
bool is_litdata_directory(const std::string& directory, const OpenContext& context) {
  return has_shard_index(directory, "\"chunks\"", context);
}

constexpr KeySpec kLitdataKeys[] = {
    {"fields", "NAMES", "", "the fields to deliver, as in image,label; default: all"},
    kNullsKey,
    kAxesKey,
    kPackLengthKey,
    kPackMethodKey,
    kPackWindowKey,
    kPackSplitKey};

}  // namespace

constinit const Format kLitdataFormat{
    .name = "litdata",
    .doc =
        "LitData datasets: a directory with index.json and chunks; chunks compressed with zstd are "
        "decompressed into memory. Fields: the values of the items, or tokens",
    .keys = kLitdataKeys,
    .configure = [](const Uri& uri) -> Result<OpenOne> {
      DL_RETURN_IF_ERROR(check_packing_words(uri));
      ArrowOptions options;
      DL_ASSIGN_OR_RETURN(options.fields, uri_names(uri, "fields"));
      DL_ASSIGN_OR_RETURN(options.fill, read_nulls(uri));
      return OpenOne([options = std::move(options)](const std::string& path, const OpenContext& context) {
        return open_litdata(options, path, context);
      });
    },
    .is_set = is_litdata_directory,
};

}  // namespace dataline
