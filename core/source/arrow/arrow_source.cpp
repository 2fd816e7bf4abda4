// Over 300 lines: one class, of which every function goes by the plan and the tables.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/arrow/arrow_source.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "core/base/checked.h"
#include "core/base/thread.h"
#include "core/source/flat_file.h"

namespace dataline {
namespace {

constexpr int64_t kCheckEveryNs = 1'000'000;  // record_items() looks at the file's length so often

}  // namespace

ArrowSource::ArrowSource(MappedFile file, Schema schema, SourceInfo info, ArrowPlan plan, ArrowTables tables,
                         std::vector<ArrowDelivery> deliveries, std::optional<NullFill> fill)
    : FileSource(std::move(file), std::move(schema), std::move(info)),
      plan_(std::move(plan)),
      tables_(std::move(tables)),
      deliveries_(std::move(deliveries)),
      fill_(fill) {
  for (size_t c = 0; c < plan_.columns.size() && items_column_ < 0; ++c) {
    if (plan_.columns[c].values.ragged() && plan_.columns[c].dictionary < 0)
      items_column_ = static_cast<int32_t>(c);
  }
  double bytes = 0;
  for (int64_t b = 0; b < tables_.batches.count(); ++b)
    bytes += static_cast<double>(tables_.batches.slots(b)[kArrowBatchBytesSlot]);
  stored_bytes_ = mean_bytes(bytes, count());
}

// Of a row in the column's part of the scratch; rows of a dense column lie one after another.
int64_t ArrowSource::capacity(size_t column, int64_t max_bytes_per_sample) const {
  if (!deliveries_[column].copies) return 0;
  const Field& field = schema_.fields[column];
  const int64_t bytes =
      field.kind == FieldKind::kDense ? field.bytes() : std::min(field.max_bytes, max_bytes_per_sample);
  return round_up(bytes, kScratchAlignment);
}

int64_t ArrowSource::scratch_bytes(int64_t max_bytes_per_sample) const {
  int64_t total = 0;
  for (size_t c = 0; c < deliveries_.size(); ++c) total += capacity(c, max_bytes_per_sample);
  return total;
}

ArrowSource::Stretch ArrowSource::row_of(int64_t index) const {
  const int64_t batch = tables_.batches.batch_of(index);
  return {tables_.batches.slots(batch), batch, index - tables_.batches.start(batch), 1, 0};
}

void ArrowSource::find_rows(const Run& run, RunRows& rows) const {
  const ArrowBatches& batches = tables_.batches;
  int64_t batch = 0, begin = 0, end = 0;
  for (int64_t i = 0; i < run.count; ++i) {
    const int64_t index = run.indices[i];
    if (index < begin || index >= end) {
      batch = batches.batch_of(index);
      begin = batches.start(batch);
      end = batches.start(batch + 1);
    }
    const auto k = static_cast<size_t>(i);
    rows.slots[k] = batches.slots(batch);
    rows.batches[k] = batch;
    rows.rows[k] = index - begin;
  }
}

void ArrowSource::locate(Run& run) const {
  if (run.count == 0) return;
  const bool populate = !check_before(run.opened_ns) || run.cold;
  const ArrowAccess access(file_, populate, run.cancelled);
  RunRows rows;
  find_rows(run, rows);
  RowSet failed;
  std::byte* room = run.scratch;
  for (size_t c = 0; c < plan_.columns.size(); ++c) {
    const int64_t row_capacity = capacity(c, run.max_bytes_per_sample);
    if (deliveries_[c].plain && file_.addressable() && !populate) {
      locate_plain(run, rows, c);
    } else {
      locate_column(Job{access, run, c, room, row_capacity}, rows, failed);
    }
    room += run.count * row_capacity;
  }
  if (failed.none()) return;
  for (size_t c = 0; c < plan_.columns.size(); ++c) {
    run.columns[c].contiguous = false;
    for (int64_t i = 0; i < run.count; ++i) {
      if (failed[static_cast<size_t>(i)]) run.columns[c].data[i] = nullptr;
    }
  }
}

void ArrowSource::locate_plain(Run& run, const RunRows& rows, size_t column) const {
  const ArrowValues& values = plan_.columns[column].values;
  const std::byte* base = file_.at(0);
  const std::byte** data = run.columns[column].data;
  const auto slot = static_cast<size_t>(values.data);
  for (int64_t i = 0; i < run.count; ++i) {
    const auto k = static_cast<size_t>(i);
    data[i] = base + rows.slots[k][slot] + rows.rows[k] * values.unit_bytes;
  }
  const auto last = static_cast<size_t>(run.count - 1);
  run.columns[column].contiguous =
      run.count == 1 || (run.contiguous && rows.batches[0] == rows.batches[last]);
}

void ArrowSource::locate_column(const Job& job, const RunRows& rows, RowSet& failed) const {
  Run& run = job.run;
  for (int64_t at = 0; at < run.count;) {
    const auto k = static_cast<size_t>(at);
    Stretch stretch{rows.slots[k], rows.batches[k], rows.rows[k], 1, at};
    while (at + stretch.count < run.count) {
      const auto next = static_cast<size_t>(at + stretch.count);
      if (rows.batches[next] != stretch.number || rows.rows[next] != stretch.row + stretch.count) break;
      ++stretch.count;
    }
    Status status = place(job, stretch);
    if (!status.is_ok()) {
      for (int64_t i = 0; i < stretch.count; ++i) {
        if (stretch.count > 1)
          status = place(job, {stretch.slots, stretch.number, stretch.row + i, 1, at + i});
        if (status.is_ok()) continue;
        if (Status changed =
                status.code() == Code::kCorrupt ? check_unchanged(run.indices[at + i]) : Status();
            !changed.is_ok())
          status = std::move(changed);
        failed.set(static_cast<size_t>(at + i));
        run.errors->fail(at + i, std::move(status).with_sample(run.indices[at + i]));
      }
    }
    at += stretch.count;
  }
  Run::ColumnRows& out = run.columns[job.column];
  out.contiguous = schema_.fields[job.column].kind == FieldKind::kDense && failed.none();
  for (int64_t i = 1; i < run.count && out.contiguous; ++i)
    out.contiguous = out.data[i] == out.data[i - 1] + schema_.columns[job.column].row_bytes;
}

Status ArrowSource::place(const Job& job, const Stretch& stretch) const {
  const ArrowColumn& column = plan_.columns[job.column];
  RowSet nulls;
  if (deliveries_[job.column].nulls)
    DL_RETURN_IF_ERROR(
        find_nulls(job.access, stretch.slots, column.row_nulls, stretch.row, stretch.count, nulls));
  if (column.dictionary >= 0) return place_decoded(job, stretch, nulls);
  return place_values(job, stretch, nulls);
}

Status ArrowSource::place_values(const Job& job, const Stretch& stretch, const RowSet& nulls) const {
  if (nulls.any() && !fill_) {
    int64_t k = 0;
    while (!nulls[static_cast<size_t>(k)]) ++k;
    const ArrowColumn& column = plan_.columns[job.column];
    const int32_t slot = column.values.ragged() ? column.values.offsets : column.values.data;
    return bad_row(Code::kCorrupt, job.column, stretch, k, std::max<int64_t>(stretch.slots[slot], 0),
                   "a null (nulls=fill(0) delivers 0, or an empty row of a ragged field, in its place)");
  }
  if (plan_.columns[job.column].values.ragged()) return place_ragged(job, stretch, nulls);
  if (nulls.none()) return place_dense(job, stretch);
  for (int64_t k = 0; k < stretch.count; ++k) {
    if (nulls[static_cast<size_t>(k)]) {
      place_null(job, stretch.at + k);
    } else {
      DL_RETURN_IF_ERROR(
          place_dense(job, {stretch.slots, stretch.number, stretch.row + k, 1, stretch.at + k}));
    }
  }
  return Status::ok();
}

void ArrowSource::place_null(const Job& job, int64_t at) const {
  static constexpr std::byte kEmptyRow{};
  const bool ragged = plan_.columns[job.column].values.ragged();
  job.run.columns[job.column].data[at] = ragged ? &kEmptyRow : deliveries_[job.column].fill_row.data();
  if (ragged) job.run.columns[job.column].bytes[at] = 0;
}

Result<const std::byte*> ArrowSource::units_of(const ArrowAccess& access, size_t column,
                                               const Stretch& stretch, const ArrowUnits& units,
                                               std::byte* room) const {
  const ArrowDelivery& delivery = deliveries_[column];
  const ArrowValues& values = plan_.columns[column].values;
  ArrowNullItem null;
  DL_ASSIGN_OR_RETURN(const std::byte* found,
                      read_units(access, stretch.slots, values, units, fill_ ? &delivery.fill : nullptr,
                                 delivery.element_bytes, room, null));
  if (found != nullptr) return found;
  return bad_row(Code::kCorrupt, column, stretch, 0, stretch.slots[values.data], "its value ", null.item,
                 " is null (nulls=fill(0) delivers 0 in its place)");
}

Status ArrowSource::place_dense(const Job& job, const Stretch& stretch) const {
  const int64_t row_bytes = plan_.columns[job.column].values.unit_bytes;
  std::byte* room = deliveries_[job.column].copies ? job.room + stretch.at * row_bytes : nullptr;
  DL_ASSIGN_OR_RETURN(const std::byte* found,
                      units_of(job.access, job.column, stretch, {stretch.row, stretch.count}, room));
  for (int64_t k = 0; k < stretch.count; ++k)
    job.run.columns[job.column].data[stretch.at + k] = found + k * row_bytes;
  return Status::ok();
}

// The offsets of the rows and the one after them: ascending, within what is there.
Status ArrowSource::read_offsets(const ArrowAccess& access, size_t column, const Stretch& stretch,
                                 int64_t* offsets) const {
  const ArrowValues& values = plan_.columns[column].values;
  const int64_t limit = stretch.slots[values.limit];
  DL_RETURN_IF_ERROR(read_numbers(access, stretch.slots[values.offsets], stretch.row, stretch.count + 1,
                                  values.offset_bytes, true, offsets));
  for (int64_t k = 0; k < stretch.count; ++k) {
    if (offsets[k] >= 0 && offsets[k] <= offsets[k + 1] && offsets[k + 1] <= limit) continue;
    return bad_row(Code::kCorrupt, column, stretch, k,
                   stretch.slots[values.offsets] + (stretch.row + k) * values.offset_bytes,
                   "its offsets are ", offsets[k], " and ", offsets[k + 1],
                   ", expected ascending ones from 0 to ", limit);
  }
  return Status::ok();
}

Status ArrowSource::place_ragged(const Job& job, const Stretch& stretch, const RowSet& nulls) const {
  const ArrowValues& values = plan_.columns[job.column].values;
  const bool copies = deliveries_[job.column].copies;
  std::array<int64_t, kMaxRunRecords + 1> offsets;
  DL_RETURN_IF_ERROR(read_offsets(job.access, job.column, stretch, offsets.data()));
  Run::ColumnRows& rows = job.run.columns[job.column];
  for (int64_t k = 0; k < stretch.count; ++k) {
    const auto i = static_cast<size_t>(k);
    const int64_t at = stretch.at + k;
    if (nulls[i]) {
      place_null(job, at);
      continue;
    }
    ArrowUnits units{offsets[i], offsets[i + 1] - offsets[i]};
    if (copies && values.unit_bytes == 1 && job.run.head_bytes > 0)
      units.count = std::min(units.count, job.run.head_bytes);
    rows.bytes[at] = units.count * values.unit_bytes;
    const Stretch row{stretch.slots, stretch.number, stretch.row + k, 1, at};
    if (copies && rows.bytes[at] > job.row_capacity) {
      return bad_row(Code::kTooLarge, job.column, row, 0, stretch.slots[values.data], rows.bytes[at],
                     " bytes, max_bytes_per_sample is ", job.run.max_bytes_per_sample);
    }
    DL_ASSIGN_OR_RETURN(rows.data[at], units_of(job.access, job.column, row, units,
                                                copies ? job.room + at * job.row_capacity : nullptr));
  }
  return Status::ok();
}

Result<ArrowSource::Stretch> ArrowSource::decoded(size_t column, const Stretch& stretch, int64_t k,
                                                  int64_t index) const {
  const ArrowColumn& from = plan_.columns[column];
  const int64_t count = stretch.slots[from.first + 1];
  if (index < 0 || index >= count) {
    return bad_row(Code::kCorrupt, column, stretch, k,
                   stretch.slots[from.indices] + (stretch.row + k) * from.index_bytes, "index ", index,
                   " of a dictionary of ", count, " values");
  }
  const ArrowBatches& values = tables_.dictionaries[static_cast<size_t>(from.dictionary)];
  const int64_t row = stretch.slots[from.first] + index, batch = values.batch_of(row);
  return Stretch{values.slots(batch), stretch.number, row - values.start(batch), 1, stretch.at + k};
}

Status ArrowSource::place_decoded(const Job& job, const Stretch& stretch, RowSet& nulls) const {
  const ArrowColumn& column = plan_.columns[job.column];
  if (nulls.any() && !fill_) return place_values(job, stretch, nulls);
  std::array<int64_t, kMaxRunRecords> indices;
  DL_RETURN_IF_ERROR(read_numbers(job.access, stretch.slots[column.indices], stretch.row, stretch.count,
                                  column.index_bytes, column.index_signed, indices.data()));
  for (int64_t k = 0; k < stretch.count; ++k) {
    if (nulls[static_cast<size_t>(k)]) {
      place_null(job, stretch.at + k);
      continue;
    }
    DL_ASSIGN_OR_RETURN(const Stretch value,
                        decoded(job.column, stretch, k, indices[static_cast<size_t>(k)]));
    RowSet null;
    DL_RETURN_IF_ERROR(find_nulls(job.access, value.slots, {&column.value_nulls, 1}, value.row, 1, null));
    DL_RETURN_IF_ERROR(place_values(job, value, null));
  }
  return Status::ok();
}

// A row that is bad counts as one item, so that whoever reads it is told.
int64_t ArrowSource::record_items(int64_t index) const {
  if (items_column_ < 0) return -1;
  const auto column = static_cast<size_t>(items_column_);
  const bool populate = !check_before(monotonic_ns() - kCheckEveryNs);
  const ArrowAccess access(file_, populate, nullptr);
  const Stretch row = row_of(index);
  RowSet nulls;
  if (deliveries_[column].nulls &&
      !find_nulls(access, row.slots, plan_.columns[column].row_nulls, row.row, 1, nulls).is_ok())
    return 1;
  if (nulls.any()) return fill_ ? 0 : 1;
  std::array<int64_t, 2> offsets;
  return read_offsets(access, column, row, offsets.data()).is_ok() ? offsets[1] - offsets[0] : 1;
}

Result<const std::byte*> ArrowSource::locate_items(const Run& run, const ItemRange& range,
                                                   std::byte* room) const {
  if (items_column_ < 0 || plan_.columns.size() != 1) return Source::locate_items(run, range, room);
  const bool populate = !check_before(run.opened_ns) || run.cold;
  const ArrowAccess access(file_, populate, run.cancelled);
  const Stretch row = row_of(range.index);
  RowSet nulls;
  DL_RETURN_IF_ERROR(find_nulls(access, row.slots, plan_.columns[0].row_nulls, row.row, 1, nulls));
  const int64_t offsets_at = row.slots[plan_.columns[0].values.offsets];
  if (nulls.any())
    return bad_row(Code::kCorrupt, 0, row, 0, offsets_at, "a null (nulls=fill(0): an empty row)");
  std::array<int64_t, 2> offsets;
  DL_RETURN_IF_ERROR(read_offsets(access, 0, row, offsets.data()));
  if (!extent_fits(range.first, range.count, offsets[1] - offsets[0])) {
    return bad_row(Code::kCorrupt, 0, row, 0, offsets_at, "its length has changed");
  }
  return units_of(access, 0, row, {offsets[0] + range.first, range.count}, room);
}

void ArrowSource::advise_items(const ItemRange& range) const { advise({&range.index, 1}); }

void ArrowSource::fingerprint(Digest& digest) const {
  fingerprint_schema(*this, digest);
  digest.add("arrow");
  digest.add(static_cast<uint64_t>(file_.file_bytes()));
  digest.add(fill_ ? std::bit_cast<uint64_t>(fill_->number) : 0);
  digest.add(fill_ ? "fill" : "error");
  for (int64_t b = 0; b < tables_.batches.count(); ++b)
    digest.add(static_cast<uint64_t>(tables_.batches.rows_of(b)));
}

}  // namespace dataline
