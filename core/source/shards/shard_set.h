// A set of shards: a directory with index.json, which names them. MDS and LitData share this.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/memory/mapped_file.h"
#include "core/source/composed/composed.h"
#include "core/source/damage.h"
#include "core/source/files.h"
#include "core/source/shards/column_shard.h"

namespace dataline {

constexpr std::string_view kShardIndexName = "index.json";
constexpr int64_t kMaxShardIndexBytes = int64_t{1} << 30;

// A name of a file below the index: neither absolute nor above it.
bool stays_below(std::string_view name);

// Whether the directory has an index that begins with this text, spelled as JSON.
bool has_shard_index(const std::string& directory, std::string_view text, const OpenContext& context);

// The text of an index, counted while it is there. kCorrupt (a stand-in), kTooLarge.
struct ShardIndexText {
  Block block;
  std::string_view text;
};
Result<ShardIndexText> read_shard_index(const std::string& path, const OpenContext& context);

// That the index states all of an entry, the number of which is `number`: each is called `word`, its values `names`. kCorrupt.
struct ShardEntryNames {
  const char *word, *name, *bytes, *samples;
};
Status check_shard_entry(const std::string& index, size_t number, const ShardEntry& entry,
                         const ShardEntryNames& names);

// `path` of a URI: the directory, or its index.
struct ShardSetPlace {
  std::string index, directory;  // the directory as messages name it
};
ShardSetPlace shard_set_place(const std::string& path);

// The columns to deliver: the named ones, or all. What is not read is refused, unless it is left out. kNoSuchField.
Status choose_columns(const std::string& index, const std::vector<std::string>& wanted, ShardPlan& plan);

// All shards, one after another, each opened by open(directory, shard). Those that cannot be opened: by the option bad_files. A
// shard without samples, as the index states it, is not opened where another one has some.
template <typename Open>
Result<SourceRef> open_shards(const ShardSetPlace& place, const std::vector<ShardEntry>& shards,
                              std::string_view format, const OpenContext& context, const Open& open) {
  context.progress->expect_files(static_cast<int64_t>(shards.size()));
  std::vector<Part> parts;
  Losses losses(context);
  const bool some =
      std::any_of(shards.begin(), shards.end(), [](const ShardEntry& s) { return s.samples > 0; });
  for (const ShardEntry& shard : shards) {
    if (context.cancelled())
      return error(Code::kCancelled, place.index, ": cancelled after ", parts.size(), " of ", shards.size(),
                   " shards");
    if (some && shard.samples == 0 && shard.wrong.is_ok()) continue;
    context.report("opening ", place.directory);
    Result<SourceRef> opened = shard.wrong.is_ok()
                                   ? open(place.directory.empty() ? "." : place.directory, shard)
                                   : Result<SourceRef>(shard.wrong);
    if (opened.is_ok()) {
      parts.push_back({"", opened.take(), join_path(place.directory, shard.name)});
      continue;
    }
    const bool placed = context.bad_files != BadFiles::kKeep || shard.samples >= 0;
    if (context.bad_files == BadFiles::kError || shards.size() == 1 || !placed || !is_damage(opened.status()))
      return opened.take_status();
    if (context.bad_files == BadFiles::kSkip) {
      losses.leave_out(opened.take_status());
    } else {
      losses.keep_place(parts.size(), join_path(place.directory, shard.name), shard.samples,
                        opened.take_status());
    }
  }
  if (parts.empty() && !losses.first().is_ok())
    return Status(losses.first())
        .in(concat("none of ", shards.size(), " shards can be opened, the first because of"));
  losses.fill_places(parts);
  DL_ASSIGN_OR_RETURN(SourceRef all, concat_sources(std::move(parts), std::string(format)));
  return with_notes(std::move(all), losses.notes());
}

}  // namespace dataline
