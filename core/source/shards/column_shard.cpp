// SPDX-License-Identifier: Apache-2.0
#include "core/source/shards/column_shard.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/checked.h"
#include "core/source/files.h"
#include "core/source/flat_file.h"
#include "core/source/identity.h"
#include "core/source/number_reader.h"

namespace dataline {
namespace {

constexpr int64_t kWord = 4;
constexpr std::byte kEmptyValue{};  // null means that the row failed
// A sample holds more than the value that is wanted of it.
constexpr int64_t kSampleToValue = 8;
// A size that the sample says, and the dtype and the dims of an array.
constexpr int64_t kMostBeforeItems = kWord * (3 + kMaxRank);
// So many samples before one says its sizes it is asked for: in a shuffled order none of its bytes is in a cache.
constexpr int64_t kSamplesAhead = 16;

Schema shard_schema(const ShardPlan& plan, int64_t longest) {
  std::vector<Field> fields;
  for (const size_t c : plan.delivered) {
    fields.push_back(*plan.columns[c].field);
    if (fields.back().kind == FieldKind::kRagged) fields.back().max_bytes = longest;
  }
  return column_per_field(std::move(fields));
}

Result<ShardTable> read_table(const MappedFile& file, int64_t samples, bool gap, const OpenContext& context) {
  const std::string& path = file.path();
  if (samples > UINT32_MAX || kWord * (samples + 2) > file.bytes()) {
    return error(Code::kTruncated, path, ": offset 0: ", samples,
                 " samples need a table of 4 bytes each, plus 8 bytes, the file has ", file.bytes());
  }
  const int64_t head = kWord * (samples + 2);
  NumberReader<uint32_t> words(file, 0, samples + 2);
  DL_ASSIGN_OR_RETURN(const uint32_t count, words.next());
  if (int64_t{count} != samples)
    return error(Code::kCorrupt, path, ": offset 0: ", count, " samples, the index states ", samples);
  ShardTable table{{SortedTable(context.memory)}};
  table.samples.ends.reserve(samples);
  int64_t before = head;
  for (int64_t i = 0; i <= samples; ++i) {
    DL_ASSIGN_OR_RETURN(const uint32_t word, words.next());
    const int64_t offset = word;
    if (i == 0 && !gap && offset != head) {
      return error(Code::kCorrupt, path, ": offset 4: offsets[0] is ", offset, ", expected ", head,
                   ", where the table ends");
    }
    if (offset < before || offset > file.bytes()) {
      return error(offset < before ? Code::kCorrupt : Code::kTruncated, path, ": offset ", kWord * (i + 1),
                   ": offsets[", i, "] is ", offset, ", expected ", before, " to ", file.bytes());
    }
    if (i == 0) table.samples.begin = offset;
    if (i > 0) table.samples.ends.add(offset), table.longest = std::max(table.longest, offset - before);
    before = offset;
  }
  if (before == file.bytes()) return table;
  return error(Code::kCorrupt, path, ": offset ", before, ": ", file.bytes() - before,
               " bytes after the last sample");
}

}  // namespace

Result<ShardTable> read_shard_table(const MappedFile& file, int64_t samples, const ShardPlan& plan,
                                    const OpenContext& context) {
  Result<ShardTable> table = read_table(file, samples, plan.gap, context);
  if (!table.is_ok() && plan.explain != nullptr) DL_RETURN_IF_ERROR(plan.explain(file, samples));
  return table;
}

ColumnShard::ColumnShard(MappedFile file, Schema schema, SourceInfo info,
                         std::shared_ptr<const ShardPlan> plan, RecordEnds samples, int64_t longest)
    : AdjacentRecords(std::move(file), std::move(schema), std::move(info), std::move(samples)),
      plan_(std::move(plan)),
      longest_(longest) {}

Result<SourceRef> ColumnShard::open(const std::string& directory, const ShardEntry& entry,
                                    std::shared_ptr<const ShardPlan> plan, const OpenContext& context) {
  DL_ASSIGN_OR_RETURN(MappedFile file, open_shard_file(directory, entry, context));
  DL_ASSIGN_OR_RETURN(ShardTable table, read_shard_table(file, entry.samples, *plan, context));
  DL_RETURN_IF_ERROR(file.load(context));
  Schema schema = shard_schema(*plan, table.longest);
  SourceInfo info{plan->format, file.path(), {}};
  if (file.inflated()) info.notes.push_back(kInflatedShards);
  return SourceRef(new ColumnShard(std::move(file), std::move(schema), std::move(info), std::move(plan),
                                   std::move(table.samples), table.longest));
}

int64_t ColumnShard::sample_room(int64_t max_bytes_per_sample) const {
  int64_t fixed = 0;  // no overflow: the index was checked, and all of it lies in the longest sample
  for (const ShardColumn& column : plan_->columns) {
    const int64_t dense = column.field ? column.field->bytes() : -1;
    const int64_t least = std::max({column.stored_bytes, column.expected_bytes, dense, int64_t{0}});
    fixed += std::min(least + (column.stored_bytes < 0 ? kMostBeforeItems : 0), longest_);
  }
  const bool bounded = max_bytes_per_sample < longest_ / kSampleToValue;
  return std::min(longest_, bounded ? fixed + max_bytes_per_sample * kSampleToValue : longest_);
}

int64_t ColumnShard::scratch_bytes(int64_t max_bytes_per_sample) const {
  return file_.addressable() ? 0 : round_up(sample_room(max_bytes_per_sample), kScratchAlignment);
}

void ColumnShard::locate(Run& run) const {
  if (run.count == 0) return;
  const bool populate = !check_before(run.opened_ns) || run.cold;
  const int64_t stride = scratch_bytes(run.max_bytes_per_sample);
  for (size_t c = 0; c < plan_->delivered.size(); ++c) run.columns[c].contiguous = false;
  const bool ahead =
      file_.addressable() && std::any_of(plan_->columns.begin(), plan_->columns.end(),
                                         [](const ShardColumn& column) { return column.stored_bytes < 0; });
  for (int64_t i = 0; i < run.count; ++i) {
    if (ahead && i + kSamplesAhead < run.count)
      __builtin_prefetch(file_.at(extent_of(run.indices[i + kSamplesAhead]).offset));
    Result<const std::byte*> sample = sample_bytes(run, i, populate, run.scratch + i * stride);
    Status status = sample.is_ok() ? locate_row(run, i, sample.value()) : sample.take_status();
    if (status.code() == Code::kCorrupt) {
      Status changed = check_unchanged(run.indices[i]);
      if (!changed.is_ok()) status = std::move(changed);
    }
    if (!status.is_ok()) run.fail(i, plan_->delivered.size(), std::move(status));
  }
}

Result<const std::byte*> ColumnShard::sample_bytes(Run& run, int64_t row, bool populate,
                                                   std::byte* scratch) const {
  const FileExtent extent = extent_of(run.indices[row]);
  if (file_.addressable()) {
    if (populate) DL_RETURN_IF_ERROR(file_.populate(extent.offset, extent.bytes));
    return file_.at(extent.offset);
  }
  const int64_t room = sample_room(run.max_bytes_per_sample);
  if (extent.bytes > room) {
    return error(Code::kTooLarge, file_.path(), ": sample ", run.indices[row], ", offset ", extent.offset,
                 ": ", extent.bytes, " bytes, at most ", room, " by max_bytes_per_sample, which is ",
                 run.max_bytes_per_sample);
  }
  DL_RETURN_IF_ERROR(file_.read(extent.offset, extent.bytes, scratch, run.cancelled));
  return static_cast<const std::byte*>(scratch);
}

Status ColumnShard::wrong(int64_t index, std::string_view what, int64_t expected, int64_t got) const {
  return error(Code::kCorrupt, file_.path(), ": sample ", index, ", offset ", extent_of(index).offset, ": ",
               what, expected, " bytes, the sample has ", got);
}

// The sizes come first, so that the value of each column is known to lie in the sample before it is handed out.
Status ColumnShard::divide(int64_t index, const std::byte* sample, std::span<FileExtent> values) const {
  const int64_t bytes = extent_of(index).bytes;
  int64_t end = 0;
  for (size_t c = 0; c < values.size(); ++c) {
    values[c].bytes = plan_->columns[c].stored_bytes;
    if (values[c].bytes >= 0) continue;
    if (bytes - end < kWord) return wrong(index, "its sizes need more than ", end, bytes);
    values[c].bytes = load_little<uint32_t>(sample + end);
    const int64_t expected = plan_->columns[c].expected_bytes;
    if (expected >= 0 && values[c].bytes != expected) {
      return column_wrong(index, plan_->columns[c], end,
                          concat("its size is ", values[c].bytes, ", expected ", expected));
    }
    end += kWord;
  }
  for (FileExtent& value : values) {
    value.offset = end;
    if (value.bytes > bytes - end) return wrong(index, "its columns need more than ", end, bytes);
    end += value.bytes;
  }
  return end == bytes ? Status::ok() : wrong(index, "its columns have ", end, bytes);
}

// `at`: in the sample.
Status ColumnShard::column_wrong(int64_t index, const ShardColumn& column, int64_t at,
                                 std::string_view what) const {
  return error(Code::kCorrupt, file_.path(), ": sample ", index, ", offset ", extent_of(index).offset + at,
               ": column ", printable(column.name), ": ", what);
}

Status ColumnShard::locate_row(Run& run, int64_t row, const std::byte* sample) const {
  std::array<FileExtent, kMaxShardColumns> room;
  const std::span<FileExtent> values = std::span(room).first(plan_->columns.size());
  DL_RETURN_IF_ERROR(divide(run.indices[row], sample, values));
  for (size_t f = 0; f < plan_->delivered.size(); ++f) {
    const ShardColumn& column = plan_->columns[plan_->delivered[f]];
    FileExtent& value = values[plan_->delivered[f]];
    if (column.take_items != nullptr) {
      const int64_t at = value.offset;
      const std::string what = column.take_items(column, sample, value);
      if (!what.empty()) return column_wrong(run.indices[row], column, at, what);
    }
    run.columns[f].data[row] = value.bytes == 0 ? &kEmptyValue : sample + value.offset;
    run.columns[f].bytes[row] = value.bytes;
  }
  return Status::ok();
}

Place ColumnShard::place_of(int64_t index, size_t) const {
  return {file_.path(), concat("sample ", index, ", offset ", extent_of(index).offset)};
}

void ColumnShard::identify(IdentityBuilder& identity) const {
  identity.add_schema(*this);
  identity.add(plan_->format);
  // The index of the set states these, not the shard.
  for (const ShardColumn& column : plan_->columns) {
    identity.add(column.name);
    identity.add(static_cast<uint64_t>(column.stored_bytes));
    identity.add(static_cast<uint64_t>(column.expected_bytes));
  }
  for (const size_t column : plan_->delivered) identity.add(static_cast<uint64_t>(column));
  identity.add_file(file_);
}

}  // namespace dataline
