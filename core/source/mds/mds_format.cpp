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
#include "core/source/composed/composed.h"
#include "core/source/files.h"
#include "core/source/format.h"
#include "core/source/mds/mds_shard.h"

namespace dataline {
namespace {

using Names = std::vector<std::string>;

// The columns to deliver: the named ones, or all. What is not read is refused, unless it is left out.
Result<std::shared_ptr<const MdsPlan>> mds_plan(MdsIndex& index, const Names& wanted) {
  MdsPlan plan{std::move(index.columns), {}};
  std::vector<std::string_view> names;
  for (const MdsColumn& column : plan.columns) names.push_back(column.spec.name);
  for (const std::string& name : wanted) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return no_such_field(concat(index.path, ": "), "column", name, names);
    plan.delivered.push_back(static_cast<size_t>(found - names.begin()));
  }
  for (size_t c = 0; c < plan.columns.size() && wanted.empty(); ++c) plan.delivered.push_back(c);
  for (const size_t c : plan.delivered) {
    if (!plan.columns[c].field) return plan.columns[c].why_not;
  }
  return std::make_shared<const MdsPlan>(std::move(plan));
}

Result<SourceRef> open_mds(const Names& fields, const std::string& path, const OpenContext& context) {
  const Result<bool> folder = is_directory(path);
  const bool named = folder.is_ok() ? !folder.value() : path.ends_with(kMdsIndexName);
  const std::string file = named ? path : join_path(path, kMdsIndexName);
  const std::string directory = named ? path.substr(0, path.rfind('/') + 1) : path;
  DL_ASSIGN_OR_RETURN(MdsIndex index, read_mds_index(file, context));
  DL_ASSIGN_OR_RETURN(const std::shared_ptr<const MdsPlan> plan, mds_plan(index, fields));
  context.progress->expect_files(static_cast<int64_t>(index.shards.size()));
  std::vector<Part> parts;
  for (const MdsShardEntry& shard : index.shards) {
    if (context.cancelled())
      return error(Code::kCancelled, file, ": cancelled after ", parts.size(), " of ", index.shards.size(),
                   " shards");
    context.report("opening ", path);
    DL_ASSIGN_OR_RETURN(SourceRef source,
                        MdsShard::open(directory.empty() ? "." : directory, shard, plan, context));
    parts.push_back({"", std::move(source), join_path(directory, shard.name)});
  }
  return concat_sources(std::move(parts), "mds");
}

// An index of shards, not of LitData's chunks, which has the same name.
bool is_mds_directory(const std::string& directory, const OpenContext& context) {
  const std::string path = join_path(directory, kMdsIndexName);
  if (!path_exists(path)) return false;
  const Result<FirstBytes> start = read_first_bytes(path, context);
  return start.is_ok() && start.value().text().find("\"shards\"") != std::string_view::npos;
}

constexpr KeySpec kMdsKeys[] = {
    {"fields", "NAMES", "", "the columns to deliver, as in image,label; default: all"}, kAxesKey};

}  // namespace

constinit const Format kMdsFormat{
    .name = "mds",
    .doc =
        "datasets of MosaicML Streaming: a directory with index.json and shards, not compressed. Fields: its "
        "columns",
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
