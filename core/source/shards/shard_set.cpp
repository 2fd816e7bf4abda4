// SPDX-License-Identifier: Apache-2.0
#include "core/source/shards/shard_set.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"
#include "core/source/files.h"
#include "core/source/text_encoding.h"

namespace dataline {

bool stays_below(std::string_view name) {
  if (name.empty() || name.starts_with('/') || name.find('\\') != std::string_view::npos ||
      name.find('\0') != std::string_view::npos)
    return false;
  const std::vector<std::string_view> parts = split(name, '/');
  return std::none_of(parts.begin(), parts.end(),
                      [](std::string_view part) { return part == ".." || part.empty(); });
}

Status check_shard_entry(const std::string& index, size_t number, const ShardEntry& entry,
                         const ShardEntryNames& names) {
  const char* const missing = entry.name.empty()  ? names.name
                              : entry.bytes < 0   ? names.bytes
                              : entry.samples < 0 ? names.samples
                                                  : nullptr;
  if (missing != nullptr)
    return error(Code::kCorrupt, index, ": ", names.word, " ", number, ": ", missing, " is missing");
  for (const std::string& name : {entry.name, entry.compressed}) {
    if (!name.empty() && !stays_below(name))
      return error(Code::kCorrupt, index, ": ", names.word, " ", number, ": ", printable(name),
                   " is not the name of a file below the index");
  }
  return Status::ok();
}

bool has_shard_index(const std::string& directory, std::string_view text, const OpenContext& context) {
  const std::string path = join_path(directory, kShardIndexName);
  if (!path_exists(path)) return false;
  const Result<FirstBytes> start = read_first_bytes(path, context);
  return start.is_ok() && start.value().text().find(text) != std::string_view::npos;
}

Result<ShardIndexText> read_shard_index(const std::string& path, const OpenContext& context) {
  DL_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open_unloaded(path, context));
  DL_RETURN_IF_ERROR(refuse_other_kinds(file, "an index in JSON"));
  if (file.bytes() > kMaxShardIndexBytes)
    return error(Code::kTooLarge, path, ": ", file.bytes(), " bytes, at most ", kMaxShardIndexBytes);
  DL_ASSIGN_OR_RETURN(Block block, context.memory->allocate(std::max<int64_t>(file.bytes(), 1), 1,
                                                            MemoryKind::kMetadata, path.c_str()));
  DL_RETURN_IF_ERROR(file.read(0, file.bytes(), block.data()));
  const std::string_view all(reinterpret_cast<const char*>(block.data()), static_cast<size_t>(file.bytes()));
  DL_ASSIGN_OR_RETURN(const std::string_view text, utf8_text(path, all));
  return ShardIndexText{std::move(block), text};
}

ShardSetPlace shard_set_place(const std::string& path) {
  const Result<bool> folder = is_directory(path);
  const bool named = folder.is_ok() ? !folder.value() : path.ends_with(kShardIndexName);
  return {named ? path : join_path(path, kShardIndexName),
          named ? path.substr(0, path.rfind('/') + 1) : path};
}

Status choose_columns(const std::string& index, const std::vector<std::string>& wanted, ShardPlan& plan) {
  std::vector<std::string_view> names;
  for (const ShardColumn& column : plan.columns) names.push_back(column.name);
  for (const std::string& name : wanted) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return no_such_field(concat(index, ": "), "column", name, names);
    plan.delivered.push_back(static_cast<size_t>(found - names.begin()));
  }
  for (size_t c = 0; c < plan.columns.size() && wanted.empty(); ++c) plan.delivered.push_back(c);
  for (const size_t c : plan.delivered) {
    if (!plan.columns[c].field) return plan.columns[c].why_not;
  }
  return Status::ok();
}

}  // namespace dataline
