// Finds the shards of a run's samples and passes each shard its rows in one call, without allocating.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/composed/composed.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/source/composed/mix.h"
#include "core/source/composed/parts.h"
#include "core/source/composed/shard_index.h"

namespace dataline {
namespace {

// Up to this many shards the rows of a run are sorted by shard, since several rows then share one. Beyond it only
// adjacent rows of the same shard are passed on together.
constexpr int64_t kMaxSortedShards = 32;

class Concat final : public Composed {
 public:
  Concat(std::vector<Part> parts, Schema schema, ShardIndex index)
      : Composed("concat", std::move(parts), std::move(schema)), index_(std::move(index)) {
    for (const Part& part : parts_) {
      sources_.push_back(part.source.get());
      PartScratch scratch(*part.source);
      fixed_scratch_ = std::max(fixed_scratch_, scratch.bytes(0));
      if (scratch.varies()) varying_scratch_.push_back(scratch);
    }
  }

  int64_t count() const override { return index_.total(); }
  void locate(Run& run) const override;
  // A batch touches few of many shards; confirm() finds them.
  bool unchanged(const ReadSpan& span) const override {
    return index_.shard_count() <= kMaxSortedShards &&
           std::all_of(sources_.begin(), sources_.end(), [&](const Source* s) { return s->unchanged(span); });
  }
  void confirm(Run& run, const ReadSpan& span) const override {
    for (int64_t i = 0; i < run.count; ++i) {
      const int64_t shard = index_.shard_of(run.indices[i]);
      confirm_record(source(shard), run.indices[i] - index_.start(shard), run, i, span);
    }
  }
  int64_t scratch_bytes(int64_t max_bytes_per_sample) const override;
  void advise(std::span<const int64_t> indices) const override;
  bool cached(int64_t index) const override {
    int64_t shard = index_.shard_of(index);
    return source(shard).cached(index - index_.start(shard));
  }
  void advise_block(int64_t first, int64_t count) const override;
  void append_blocks(int64_t block_bytes, BlockEnds& ends) const override {
    for (const Source* part : sources_) part->append_blocks(block_bytes, ends);
  }
  int64_t record_items(int64_t index) const override {
    const int64_t shard = index_.shard_of(index);
    return source(shard).record_items(index - index_.start(shard));
  }
  Result<const std::byte*> locate_items(const Run& run, const ItemRange& range,
                                        std::byte* room) const override {
    const int64_t shard = index_.shard_of(range.index);
    return source(shard).locate_items(run, {range.index - index_.start(shard), range.first, range.count},
                                      room);
  }
  void advise_items(const ItemRange& range) const override {
    const int64_t shard = index_.shard_of(range.index);
    source(shard).advise_items({range.index - index_.start(shard), range.first, range.count});
  }
  int64_t stored_bytes() const override {
    double bytes = 0;
    for (const Source* part : sources_)
      bytes += static_cast<double>(part->stored_bytes()) * static_cast<double>(part->count());
    return mean_bytes(bytes, count());
  }
  std::optional<uint64_t> stamp(int64_t index) const override {
    const int64_t shard = index_.shard_of(index);
    return source(shard).stamp(index - index_.start(shard));
  }
  Place place_of(int64_t index, size_t column) const override {
    const int64_t shard = index_.shard_of(index);
    return place_in_part(static_cast<size_t>(shard), index - index_.start(shard), column);
  }

 private:
  struct Located;  // shard and index in the shard, per row of a run
  struct Piece {   // rows of a run, or positions in its sorted order, that are in one shard
    int64_t first;
    int64_t count;
    int64_t shard;
    const int64_t* local;
  };

  const Source& source(int64_t shard) const { return *sources_[static_cast<size_t>(shard)]; }
  void find(const Run& run, Located& rows) const;
  void locate_sorted(Run& run) const;
  void locate_piece(Run& run, const Piece& piece, const uint8_t* order) const;
  static const int64_t* slots_of(const Run& run, const Piece& piece, const uint8_t* order,
                                 std::span<int64_t> sorted);
  void unsort(Run& run, std::span<const uint8_t> order) const;

  std::vector<const Source*>
      sources_;  // of parts_, packed densely: a run over many shards touches many of them
  ShardIndex index_;
  int64_t fixed_scratch_ = 0;                 // maximum of the parts with a fixed size
  std::vector<PartScratch> varying_scratch_;  // of parts whose size depends on max_bytes_per_sample
};

struct Concat::Located {
  std::array<int64_t, kMaxRunRecords> local;
  std::array<int32_t, kMaxRunRecords> shard;
  int64_t first_shard;
  bool one_shard;  // all in first_shard
};

int64_t Concat::scratch_bytes(int64_t max_bytes_per_sample) const {
  int64_t bytes = fixed_scratch_;
  for (const PartScratch& part : varying_scratch_) bytes = std::max(bytes, part.bytes(max_bytes_per_sample));
  return bytes;
}

void Concat::find(const Run& run, Located& rows) const {
  rows.first_shard = index_.shard_of(run.indices[0]);
  if (run.contiguous) {
    int64_t shard = rows.first_shard;
    for (int64_t i = 0; i < run.count; ++i) {
      int64_t index = run.indices[0] + i;
      while (index >= index_.end(shard)) ++shard;
      rows.shard[i] = static_cast<int32_t>(shard);
      rows.local[i] = index - index_.start(shard);
    }
    rows.one_shard = rows.first_shard == shard;
    return;
  }
  bool one_shard = true;
  for (int64_t i = 0; i < run.count; ++i) {
    int64_t shard = index_.shard_of(run.indices[i]);
    __builtin_prefetch(sources_[static_cast<size_t>(shard)]);
    rows.shard[i] = static_cast<int32_t>(shard);
    rows.local[i] = run.indices[i] - index_.start(shard);
    one_shard &= shard == rows.first_shard;
  }
  rows.one_shard = one_shard;
}

void Concat::locate(Run& run) const {
  if (run.count == 0) return;
  if (!run.contiguous && index_.shard_count() <= kMaxSortedShards) return locate_sorted(run);
  Located rows;
  find(run, rows);
  if (rows.one_shard) return locate_piece(run, {0, run.count, rows.first_shard, rows.local.data()}, nullptr);
  for (int64_t first = 0; first < run.count;) {
    int64_t end = first + 1;
    while (end < run.count && rows.shard[end] == rows.shard[first]) ++end;
    locate_piece(run, {first, end - first, rows.shard[first], &rows.local[first]}, nullptr);
    first = end;
  }
  for (size_t c = 0; c < schema_.columns.size(); ++c) run.columns[c].contiguous = false;
}

// A counting sort by shard, then one piece per shard. Until unsort(), position k holds row order[k] of the run.
void Concat::locate_sorted(Run& run) const {
  std::array<uint8_t, kMaxRunRecords> shard, order;
  std::array<uint16_t, kMaxSortedShards + 1> begin{};
  for (int64_t i = 0; i < run.count; ++i) {
    shard[i] = static_cast<uint8_t>(index_.shard_of(run.indices[i]));
    ++begin[shard[i] + 1];
  }
  for (size_t s = 1; s < begin.size(); ++s) begin[s] = static_cast<uint16_t>(begin[s] + begin[s - 1]);
  std::array<uint16_t, kMaxSortedShards + 1> next = begin;
  std::array<int64_t, kMaxRunRecords> local;
  for (int64_t i = 0; i < run.count; ++i) {
    uint16_t k = next[shard[i]]++;
    local[k] = run.indices[i] - index_.start(shard[i]);
    order[k] = static_cast<uint8_t>(i);
  }
  for (int64_t s = 0; s < index_.shard_count(); ++s) {
    int64_t first = begin[s], count = begin[s + 1] - first;
    if (count > 0) locate_piece(run, {first, count, s, &local[first]}, order.data());
  }
  unsort(run, order);
}

void Concat::locate_piece(Run& run, const Piece& piece, const uint8_t* order) const {
  RowErrors errors;
  Run part = run;
  part.count = piece.count;
  part.indices = piece.local;
  part.contiguous = piece.count == 1 || run.contiguous;
  part.scratch = run.scratch + piece.first * scratch_bytes(run.max_bytes_per_sample);
  part.errors = &errors;
  std::array<int64_t, kMaxRunRecords> sorted;
  if (run.slots != nullptr) part.slots = slots_of(run, piece, order, sorted);
  {
    ColumnShift shift(run.columns, schema_.columns.size(), piece.first);
    source(piece.shard).locate(part);
  }
  if (!errors.empty())
    merge_errors(errors, run, piece.first, order == nullptr ? nullptr : order + piece.first);
}

// The slots of a piece's rows; `sorted` has room for them.
const int64_t* Concat::slots_of(const Run& run, const Piece& piece, const uint8_t* order,
                                std::span<int64_t> sorted) {
  if (order == nullptr) return run.slots + piece.first;
  for (int64_t k = 0; k < piece.count; ++k)
    sorted[static_cast<size_t>(k)] = run.slots[order[piece.first + k]];
  return sorted.data();
}

void Concat::unsort(Run& run, std::span<const uint8_t> order) const {
  for (size_t c = 0; c < schema_.columns.size(); ++c) {
    Run::ColumnRows& column = run.columns[c];
    column.contiguous = false;
    std::array<const std::byte*, kMaxRunRecords> data;
    std::copy_n(column.data, run.count, data.begin());
    for (int64_t k = 0; k < run.count; ++k)
      column.data[order[static_cast<size_t>(k)]] = data[static_cast<size_t>(k)];
    if (schema_.columns[c].row_bytes >= 0) continue;
    std::array<int64_t, kMaxRunRecords> bytes;
    std::copy_n(column.bytes, run.count, bytes.begin());
    for (int64_t k = 0; k < run.count; ++k)
      column.bytes[order[static_cast<size_t>(k)]] = bytes[static_cast<size_t>(k)];
  }
}

void Concat::advise(std::span<const int64_t> indices) const {
  std::array<int64_t, kMaxRunRecords> local;
  for (size_t first = 0; first < indices.size();) {
    int64_t shard = index_.shard_of(indices[first]);
    size_t count = 0;
    while (count < local.size() && first + count < indices.size()) {
      int64_t index = indices[first + count];
      if (index < index_.start(shard) || index >= index_.end(shard)) break;
      local[count++] = index - index_.start(shard);
    }
    source(shard).advise({local.data(), count});
    first += count;
  }
}

void Concat::advise_block(int64_t first, int64_t count) const {
  while (count > 0) {
    const int64_t shard = index_.shard_of(first);
    const int64_t some = std::min(count, index_.end(shard) - first);
    source(shard).advise_block(first - index_.start(shard), some);
    first += some;
    count -= some;
  }
}

// Keeps what holds for all parts: axes that all agree on, and max_bytes only if every part knows its own.
void merge_field(const Field& other, Field& field) {
  if (field.axes != other.axes) field.axes.clear();
  merge_max_bytes(other, field);
}

Status to_column_per_field(std::vector<Part>& parts) {
  for (Part& part : parts) {
    DL_ASSIGN_OR_RETURN(part.source, with_column_per_field(part.source));
  }
  return Status::ok();
}

Status unify_layouts(std::vector<Part>& parts) {
  bool same = std::all_of(parts.begin(), parts.end(), [&](const Part& part) {
    return same_layout(part.source->schema(), parts.front().source->schema());
  });
  return same ? Status::ok() : to_column_per_field(parts);
}

Result<SourceRef> make_concat(std::vector<Part> parts, Schema schema) {
  std::vector<int64_t> counts;
  for (const Part& part : parts) counts.push_back(part.source->count());
  DL_ASSIGN_OR_RETURN(ShardIndex index, ShardIndex::create(counts));
  return SourceRef(std::make_shared<Concat>(std::move(parts), std::move(schema), std::move(index)));
}

}  // namespace

Result<SourceRef> concat_sources(std::vector<Part> parts, std::string_view what) {
  DL_RETURN_IF_ERROR(check_parts(parts, what));
  if (parts.size() == 1) return parts.front().source;
  for (const Part& part : parts) DL_RETURN_IF_ERROR(refuse_grouped(*part.source, what));
  DL_RETURN_IF_ERROR(check_fields(parts, what));
  DL_RETURN_IF_ERROR(check_classes(parts, what));
  DL_RETURN_IF_ERROR(unify_layouts(parts));
  Schema schema = parts.front().source->schema();
  for (const Part& part : parts) {
    for (size_t f = 0; f < schema.fields.size(); ++f)
      merge_field(part.source->schema().fields[f], schema.fields[f]);
  }
  return make_concat(std::move(parts), std::move(schema));
}

Result<SourceRef> concat_records(std::vector<Part> parts, std::string_view what) {
  DL_RETURN_IF_ERROR(check_parts(parts, what));
  DL_RETURN_IF_ERROR(check_same_names(parts, what));
  DL_RETURN_IF_ERROR(check_classes(parts, what));
  DL_RETURN_IF_ERROR(to_column_per_field(parts));
  Schema schema = parts.front().source->schema();
  for (const Part& part : parts) {
    const Schema& other = part.source->schema();
    for (size_t f = 0; f < schema.fields.size(); ++f) {
      merge_max_bytes(other.fields[f], schema.fields[f]);
      if (other.columns[f].row_bytes != schema.columns[f].row_bytes) schema.columns[f].row_bytes = -1;
    }
  }
  return make_concat(std::move(parts), std::move(schema));
}

}  // namespace dataline
