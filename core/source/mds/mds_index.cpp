// SPDX-License-Identifier: Apache-2.0
#include "core/source/mds/mds_index.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"
#include "core/source/files.h"
#include "core/source/json.h"
#include "core/source/shards/shard_set.h"

namespace dataline {
namespace {

constexpr size_t kShardsPerLook = 1024;  // at the cancel token

class MdsIndexParser {
 public:
  MdsIndexParser(const std::string& path, std::string_view text, const OpenContext& context)
      : json_(path, 1, text, "its end"), context_(context), index_{path, {}, {}} {}

  Result<MdsIndex> parse() {
    bool shards = false, version = false, chunks = false;
    DL_RETURN_IF_ERROR(json_.each_member([&](const std::string& key) -> Status {
      if (key == "version") return version = true, read_version();
      if (key == "shards") return shards = true, json_.each_item([&] { return read_shard(); });
      chunks = chunks || key == "chunks";
      return json_.skip_value();
    }));
    if (!json_.at_end()) return json_.expected("nothing but spaces");
    if (!shards || !version)
      return error(Code::kCorrupt, index_.path,
                   ": expected the keys version and shards, as MDSWriter writes them, ",
                   shards ? "version" : "shards", " is missing",
                   chunks ? " (this is a LitData set: litdata:DIRECTORY)" : "");
    if (index_.shards.empty()) return error(Code::kEmpty, index_.path, ": no shards");
    DL_RETURN_IF_ERROR(choose_columns_of_set());
    return std::move(index_);
  }

 private:
  Status read_version() {
    constexpr int64_t kVersion = 2;
    int64_t version = 0;
    DL_RETURN_IF_ERROR(json_.read_count(version));
    if (version == kVersion) return Status::ok();
    return error(Code::kUnsupported, index_.path, ": version ", version, " of MDS, expected ", kVersion);
  }

  struct Columns {
    std::vector<std::string> names, encodings;
    std::vector<int64_t> sizes;
  };

  Status read_shard() {
    if (index_.shards.size() % kShardsPerLook == 0) {
      if (context_.cancelled())
        return error(Code::kCancelled, index_.path, ": cancelled after ", index_.shards.size(), " shards");
      context_.report("reading ", index_.path);
    }
    ShardEntry shard;
    Columns columns;
    std::string format;
    shard.bytes = shard.samples = -1;
    DL_RETURN_IF_ERROR(json_.each_member([&](const std::string& key) -> Status {
      if (key == "format") return json_.read_string(format);
      if (key == "version") return read_version();
      if (key == "samples") return json_.read_count(shard.samples);
      if (key == "column_names") return read_texts(columns.names);
      if (key == "column_encodings") return read_texts(columns.encodings);
      if (key == "column_sizes") return json_.each_item([&] { return read_size(columns.sizes); });
      if (key == "raw_data") return read_file(shard.name, shard.bytes);
      if ((key == "zip_data" || key == "compression") && json_.take_word("null")) return Status::ok();
      if (key == "zip_data") return read_file(shard.compressed, shard.compressed_bytes);
      return key == "compression" ? json_.read_string(shard.codec) : json_.skip_value();
    }));
    shard.wrong = check_shard(shard, format, columns);
    if (context_.bad_files == BadFiles::kError) DL_RETURN_IF_ERROR(shard.wrong);
    index_.shards.push_back(std::move(shard));
    return Status::ok();
  }

  Status check_shard(const ShardEntry& shard, const std::string& format, Columns& columns) {
    if (format != "mds") {
      return error(Code::kUnsupported, index_.path, ": shard ", index_.shards.size(), " has the format ",
                   printable(format), ", expected mds");
    }
    DL_RETURN_IF_ERROR(check_shard_entry(index_.path, index_.shards.size(), shard,
                                         {"shard", "raw_data.basename", "raw_data.bytes", "samples"}));
    return take_columns(columns);
  }

  Status read_texts(std::vector<std::string>& out) {
    return json_.each_item([&]() -> Status {
      if (out.size() == kMaxShardColumns)
        return error(Code::kUnsupported, index_.path, ": more than ", kMaxShardColumns, " columns");
      return json_.read_string(out.emplace_back());
    });
  }

  Status read_size(std::vector<int64_t>& out) {
    if (out.size() == kMaxShardColumns)
      return error(Code::kUnsupported, index_.path, ": more than ", kMaxShardColumns, " columns");
    out.push_back(-1);
    return json_.take_word("null") ? Status::ok() : json_.read_count(out.back());
  }

  Status read_file(std::string& name, int64_t& bytes) {
    return json_.each_member([&](const std::string& key) -> Status {
      if (key == "basename") return json_.read_string(name);
      if (key == "bytes") return json_.read_count(bytes);
      return json_.skip_value();
    });
  }

  using Specs = std::vector<MdsColumnSpec>;

  // Adds the shard to the group of those with the same columns.
  Status take_columns(Columns& columns) {
    const size_t count = columns.names.size();
    if (count == 0 || columns.encodings.size() != count || columns.sizes.size() != count) {
      return error(Code::kCorrupt, index_.path, ": shard ", index_.shards.size(), ": ", count,
                   " column_names, ", columns.encodings.size(), " column_encodings, ", columns.sizes.size(),
                   " column_sizes");
    }
    Specs specs;
    for (size_t c = 0; c < count; ++c) {
      MdsColumnSpec spec{std::move(columns.names[c]), std::move(columns.encodings[c]), columns.sizes[c]};
      for (const MdsColumnSpec& other : specs) {
        if (other.name == spec.name)
          return error(Code::kCorrupt, index_.path, ": two columns are called ", printable(spec.name));
      }
      if (spec.name.empty()) return error(Code::kCorrupt, index_.path, ": a column without a name");
      specs.push_back(std::move(spec));
    }
    const auto same = std::find_if(groups_.begin(), groups_.end(),
                                   [&](const Group& group) { return group.specs == specs; });
    if (same == groups_.end()) {
      groups_.push_back({std::move(specs), {index_.shards.size()}});
    } else {
      same->shards.push_back(index_.shards.size());
    }
    return Status::ok();
  }

  // The set has the columns of its first shard; where shards may be left out, those that most shards have.
  Status choose_columns_of_set() {
    if (groups_.empty()) return index_.shards.front().wrong;
    auto chosen = groups_.begin();
    if (context_.bad_files == BadFiles::kSkip)
      chosen = std::max_element(groups_.begin(), groups_.end(), [](const Group& a, const Group& b) {
        return a.shards.size() < b.shards.size();
      });
    for (const Group& group : groups_) {
      if (&group == &*chosen) continue;
      for (const size_t shard : group.shards) {
        Status differs = error(Code::kMismatch, index_.path, ": the columns of shard ", shard,
                               " differ from those of shard ", chosen->shards.front());
        if (context_.bad_files == BadFiles::kError) return differs;
        index_.shards[shard].wrong = std::move(differs);
      }
    }
    for (MdsColumnSpec& spec : chosen->specs) {
      DL_ASSIGN_OR_RETURN(MdsColumn column, mds_column(index_.path, std::move(spec)));
      index_.columns.push_back(std::move(column));
    }
    return Status::ok();
  }

  struct Group {
    Specs specs;
    std::vector<size_t> shards;
  };

  JsonReader json_;
  const OpenContext& context_;
  MdsIndex index_;
  std::vector<Group> groups_;  // of shards with the same columns, by their first shard
};

}  // namespace

Result<MdsIndex> read_mds_index(const std::string& path, const OpenContext& context) {
  DL_ASSIGN_OR_RETURN(const ShardIndexText index, read_shard_index(path, context));
  return MdsIndexParser(path, index.text, context).parse();
}

}  // namespace dataline
