// The format `mds`: a directory with index.json and the shards that it names.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/source/format.h"
#include "core/source/mds/mds_index.h"
#include "core/source/shards/shard_set.h"

namespace dataline {
namespace {

using Names = std::vector<std::string>;

Result<SourceRef> open_mds(const Names& fields, const std::string& path, const OpenContext& context) {
  const ShardSetPlace place = shard_set_place(path);
  DL_ASSIGN_OR_RETURN(MdsIndex index, read_mds_index(place.index, context));
  ShardPlan chosen{"mds", {}, {}, true, nullptr};
  for (MdsColumn& column : index.columns) chosen.columns.push_back(std::move(column.stored));
  DL_RETURN_IF_ERROR(choose_columns(place.index, fields, chosen));
  const auto plan = std::make_shared<const ShardPlan>(std::move(chosen));
  return open_shards(place, index.shards, "mds", context,
                     [&](const std::string& directory, const ShardEntry& shard) {
                       return ColumnShard::open(directory, shard, plan, context);
                     });
}

// An index of shards, not of LitData's chunks, which has the same name.
bool is_mds_directory(const std::string& directory, const OpenContext& context) {
  return has_shard_index(directory, "\"shards\"", context);
}

constexpr KeySpec kMdsKeys[] = {
    {"fields", "NAMES", "", "the columns to deliver, as in image,label; default: all"}, kAxesKey};

}  // namespace

constinit const Format kMdsFormat{
    .name = "mds",
    .doc =
        "MosaicML Streaming datasets: a directory with index.json and shards; shards compressed with zstd or "
        "gzip are decompressed into memory. Fields: the columns",
    .keys = kMdsKeys,
    .configure = [](const Uri& uri) -> Result<OpenOne> {
      DL_ASSIGN_OR_RETURN(Names fields, uri_names(uri, "fields"));
      return OpenOne([fields = std::move(fields)](const std::string& path, const OpenContext& context) {
        return open_mds(fields, path, context);
      });
    },
    .is_set = is_mds_directory,
};

}  // namespace dataline
