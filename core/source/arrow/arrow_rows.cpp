// Over 300 lines: one class, of which every function goes by the plan and the tables.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/arrow/arrow_rows.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/base/checked.h"
#include "core/source/flat_file.h"
#include "core/source/identity.h"

namespace dataline {

ArrowRows::ArrowRows(std::string name, bool in_memory, ArrowPlan plan, ArrowTables tables,
                     std::vector<ArrowDelivery> deliveries, std::optional<NullFill> fill)
    : name_(std::move(name)),
      in_memory_(in_memory),
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
int64_t ArrowRows::capacity(size_t column, int64_t max_bytes_per_sample) const {
  if (!deliveries_[column].copies) return 0;
  const Field& field = plan_.columns[column].field;
  const int64_t bytes =
      field.kind == FieldKind::kDense ? field.bytes() : std::min(field.max_bytes, max_bytes_per_sample);
  return round_up(bytes, kScratchAlignment);
}

int64_t ArrowRows::scratch_bytes(int64_t max_bytes_per_sample) const {
  int64_t total = 0;
  for (size_t c = 0; c < deliveries_.size(); ++c) total += capacity(c, max_bytes_per_sample);
  return total;
}

ArrowStretch ArrowRows::row_of(int64_t index) const {
  const int64_t batch = tables_.batches.batch_of(index);
  return {tables_.batches.slots(batch), batch, index - tables_.batches.start(batch), 1, 0};
}

void ArrowRows::find_rows(const Run& run, RunRows& rows) const {
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

void ArrowRows::locate(Run& run, const ArrowAccess& access, const Recheck& recheck) const {
  if (run.count == 0) return;
  RunRows rows;
  find_rows(run, rows);
  RowSet failed;
  std::byte* room = run.scratch;
  for (size_t c = 0; c < plan_.columns.size(); ++c) {
    const int64_t row_capacity = capacity(c, run.max_bytes_per_sample);
    const Job job{access, recheck, run, c, room, row_capacity};
    if (deliveries_[c].plain && access.direct()) {
      plan_.columns[c].values.ragged() ? locate_plain_ragged(job, rows, failed) : locate_plain(job, rows);
    } else {
      locate_column(job, rows, failed);
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

void ArrowRows::locate_plain(const Job& job, const RunRows& rows) const {
  const ArrowValues& values = plan_.columns[job.column].values;
  Run& run = job.run;
  const std::byte** data = run.columns[job.column].data;
  const auto slot = static_cast<size_t>(values.data);
  for (int64_t i = 0; i < run.count; ++i) {
    const auto k = static_cast<size_t>(i);
    data[i] = job.access.at(rows.slots[k][slot] + rows.rows[k] * values.unit_bytes);
  }
  const auto last = static_cast<size_t>(run.count - 1);
  run.columns[job.column].contiguous =
      run.count == 1 || (run.contiguous && rows.batches[0] == rows.batches[last]);
}

// Offsets lie far from each other: all are asked for before the first is read.
void ArrowRows::locate_plain_ragged(const Job& job, const RunRows& rows, RowSet& failed) const {
  const ArrowValues& values = plan_.columns[job.column].values;
  Run::ColumnRows& out = job.run.columns[job.column];
  out.contiguous = false;
  std::array<const std::byte*, kMaxRunRecords> places;
  for (size_t i = 0; i < static_cast<size_t>(job.run.count); ++i) {
    places[i] = job.access.at(rows.slots[i][values.offsets] + rows.rows[i] * values.offset_bytes);
    __builtin_prefetch(places[i]);
  }
  for (size_t i = 0; i < static_cast<size_t>(job.run.count); ++i) {
    const bool wide = values.offset_bytes == 8;
    const int64_t begin = wide ? load_native<int64_t>(places[i]) : load_native<int32_t>(places[i]);
    const int64_t end = wide ? load_native<int64_t>(places[i] + 8) : load_native<int32_t>(places[i] + 4);
    if (begin >= 0 && begin < end && end <= rows.slots[i][values.limit]) {
      out.data[i] = job.access.at(rows.slots[i][values.data] + begin * values.unit_bytes);
      out.bytes[i] = (end - begin) * values.unit_bytes;
    } else {  // empty, or bad
      place_or_fail(job, {rows.slots[i], rows.batches[i], rows.rows[i], 1, static_cast<int64_t>(i)}, failed);
    }
  }
}

void ArrowRows::place_or_fail(const Job& job, const ArrowStretch& row, RowSet& failed) const {
  Status status = place(job, row);
  if (status.is_ok()) return;
  const int64_t index = job.run.indices[row.at];
  if (status.code() == Code::kCorrupt && job.recheck) {
    Status changed = job.recheck(index);
    if (!changed.is_ok()) status = std::move(changed);
  }
  failed.set(static_cast<size_t>(row.at));
  job.run.errors->fail(row.at, std::move(status).with_sample(index));
}

void ArrowRows::locate_column(const Job& job, const RunRows& rows, RowSet& failed) const {
  Run& run = job.run;
  for (int64_t at = 0; at < run.count;) {
    const auto k = static_cast<size_t>(at);
    ArrowStretch stretch{rows.slots[k], rows.batches[k], rows.rows[k], 1, at};
    while (at + stretch.count < run.count) {
      const auto next = static_cast<size_t>(at + stretch.count);
      if (rows.batches[next] != stretch.number || rows.rows[next] != stretch.row + stretch.count) break;
      ++stretch.count;
    }
    if (stretch.count == 1) {
      place_or_fail(job, stretch, failed);
    } else if (!place(job, stretch).is_ok()) {
      for (int64_t i = 0; i < stretch.count; ++i)
        place_or_fail(job, {stretch.slots, stretch.number, stretch.row + i, 1, at + i}, failed);
    }
    at += stretch.count;
  }
  Run::ColumnRows& out = run.columns[job.column];
  out.contiguous = plan_.columns[job.column].field.kind == FieldKind::kDense && failed.none();
  for (int64_t i = 1; i < run.count && out.contiguous; ++i)
    out.contiguous = out.data[i] == out.data[i - 1] + plan_.columns[job.column].values.unit_bytes;
}

Status ArrowRows::place(const Job& job, const ArrowStretch& stretch) const {
  const ArrowColumn& column = plan_.columns[job.column];
  RowSet nulls;
  if (deliveries_[job.column].nulls)
    DL_RETURN_IF_ERROR(
        find_nulls(job.access, stretch.slots, column.row_nulls, stretch.row, stretch.count, nulls));
  if (column.dictionary >= 0) return place_decoded(job, stretch, nulls);
  return place_values(job, stretch, nulls);
}

Status ArrowRows::place_values(const Job& job, const ArrowStretch& stretch, const RowSet& nulls) const {
  if (nulls.any() && !fill_) {
    int64_t k = 0;
    while (!nulls[static_cast<size_t>(k)]) ++k;
    const ArrowColumn& column = plan_.columns[job.column];
    const int32_t slot = column.values.views >= 0     ? column.values.views
                         : column.values.offsets >= 0 ? column.values.offsets
                                                      : column.values.data;
    return bad_row(Code::kCorrupt, job.column, stretch, k, std::max<int64_t>(stretch.slots[slot], 0),
                   "a null (nulls=fill(0) delivers 0, or an empty row of a ragged field, instead)");
  }
  if (plan_.columns[job.column].values.views >= 0) return place_views(job, stretch, nulls);
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

void ArrowRows::place_null(const Job& job, int64_t at) const {
  static constexpr std::byte kEmptyRow{};
  job.run.mark_null(job.column, at);
  const bool ragged = plan_.columns[job.column].values.ragged();
  job.run.columns[job.column].data[at] = ragged ? &kEmptyRow : deliveries_[job.column].fill_row.data();
  if (ragged) job.run.columns[job.column].bytes[at] = 0;
}

Result<const std::byte*> ArrowRows::units_of(const ArrowAccess& access, size_t column,
                                             const ArrowStretch& stretch, const ArrowUnits& units,
                                             std::byte* room) const {
  const ArrowDelivery& delivery = deliveries_[column];
  const ArrowValues& values = plan_.columns[column].values;
  ArrowNullItem null;
  DL_ASSIGN_OR_RETURN(const std::byte* found, read_units(access, stretch.slots, values, units,
                                                         fill_ && !fill_->mask ? &delivery.fill : nullptr,
                                                         delivery.element_bytes, room, null));
  if (found != nullptr) return found;
  return bad_row(Code::kCorrupt, column, stretch, 0, stretch.slots[values.data], "its value ", null.item,
                 " is null (nulls=fill(0) delivers 0 instead)");
}

Status ArrowRows::place_dense(const Job& job, const ArrowStretch& stretch) const {
  const int64_t row_bytes = plan_.columns[job.column].values.unit_bytes;
  std::byte* room = deliveries_[job.column].copies ? job.room + stretch.at * row_bytes : nullptr;
  DL_ASSIGN_OR_RETURN(const std::byte* found,
                      units_of(job.access, job.column, stretch, {stretch.row, stretch.count}, room));
  for (int64_t k = 0; k < stretch.count; ++k)
    job.run.columns[job.column].data[stretch.at + k] = found + k * row_bytes;
  return Status::ok();
}

// The offsets of the rows and the one after them: ascending, within what is there.
Status ArrowRows::read_offsets(const ArrowAccess& access, size_t column, const ArrowStretch& stretch,
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
                   ", expected ascending offsets from 0 to ", limit);
  }
  return Status::ok();
}

Status ArrowRows::place_ragged(const Job& job, const ArrowStretch& stretch, const RowSet& nulls) const {
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
    const ArrowStretch row{stretch.slots, stretch.number, stretch.row + k, 1, at};
    if (copies && rows.bytes[at] > job.row_capacity) {
      return bad_row(Code::kTooLarge, job.column, row, 0, stretch.slots[values.data], rows.bytes[at],
                     " bytes, max_bytes_per_sample is ", job.run.max_bytes_per_sample);
    }
    DL_ASSIGN_OR_RETURN(rows.data[at], units_of(job.access, job.column, row, units,
                                                copies ? job.room + at * job.row_capacity : nullptr));
  }
  return Status::ok();
}

Result<ArrowView> ArrowRows::view_of(const ArrowAccess& access, size_t column, const ArrowStretch& stretch,
                                     int64_t k) const {
  const ArrowValues& values = plan_.columns[column].values;
  DL_ASSIGN_OR_RETURN(const ArrowView view, read_view(access, stretch.slots, values, stretch.row + k));
  if (view.wrong == nullptr) return view;
  return bad_row(Code::kCorrupt, column, stretch, k, view.at, "its view of ", view.bytes, " bytes has ",
                 view.wrong);
}

Status ArrowRows::place_views(const Job& job, const ArrowStretch& stretch, const RowSet& nulls) const {
  const bool copies = deliveries_[job.column].copies;
  Run::ColumnRows& rows = job.run.columns[job.column];
  for (int64_t k = 0; k < stretch.count; ++k) {
    const int64_t at = stretch.at + k;
    if (nulls[static_cast<size_t>(k)]) {
      place_null(job, at);
      continue;
    }
    DL_ASSIGN_OR_RETURN(ArrowView view, view_of(job.access, job.column, stretch, k));
    if (copies && job.run.head_bytes > 0) view.bytes = std::min(view.bytes, job.run.head_bytes);
    rows.bytes[at] = view.bytes;
    if (copies && view.bytes > job.row_capacity) {
      return bad_row(Code::kTooLarge, job.column, stretch, k, view.at, view.bytes,
                     " bytes, max_bytes_per_sample is ", job.run.max_bytes_per_sample);
    }
    if (view.bytes == 0) {
      static constexpr std::byte kEmptyText{};
      rows.data[at] = &kEmptyText;
      continue;
    }
    DL_ASSIGN_OR_RETURN(rows.data[at], job.access.view(view.at, view.bytes,
                                                       copies ? job.room + at * job.row_capacity : nullptr));
  }
  return Status::ok();
}

Result<ArrowStretch> ArrowRows::decoded(size_t column, const ArrowStretch& stretch, int64_t k,
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
  return ArrowStretch{values.slots(batch), stretch.number, row - values.start(batch), 1, stretch.at + k};
}

Status ArrowRows::place_decoded(const Job& job, const ArrowStretch& stretch, RowSet& nulls) const {
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
    DL_ASSIGN_OR_RETURN(const ArrowStretch value,
                        decoded(job.column, stretch, k, indices[static_cast<size_t>(k)]));
    RowSet null;
    DL_RETURN_IF_ERROR(find_nulls(job.access, value.slots, {&column.value_nulls, 1}, value.row, 1, null));
    DL_RETURN_IF_ERROR(place_values(job, value, null));
  }
  return Status::ok();
}

// A row that is bad counts as one item, so that whoever reads it is told.
int64_t ArrowRows::record_items(int64_t index, const ArrowAccess& access) const {
  const auto column = static_cast<size_t>(items_column_);
  const ArrowStretch row = row_of(index);
  RowSet nulls;
  if (deliveries_[column].nulls &&
      !find_nulls(access, row.slots, plan_.columns[column].row_nulls, row.row, 1, nulls).is_ok())
    return 1;
  if (nulls.any()) return fill_ ? 0 : 1;
  if (plan_.columns[column].values.views >= 0) {
    Result<ArrowView> view = view_of(access, column, row, 0);
    return view.is_ok() ? view.take().bytes : 1;
  }
  std::array<int64_t, 2> offsets;
  return read_offsets(access, column, row, offsets.data()).is_ok() ? offsets[1] - offsets[0] : 1;
}

Result<const std::byte*> ArrowRows::locate_items(const ItemRange& range, const ArrowAccess& access,
                                                 std::byte* room) const {
  const ArrowStretch row = row_of(range.index);
  RowSet nulls;
  DL_RETURN_IF_ERROR(find_nulls(access, row.slots, plan_.columns[0].row_nulls, row.row, 1, nulls));
  const ArrowValues& values = plan_.columns[0].values;
  const int64_t offsets_at = row.slots[values.views >= 0 ? values.views : values.offsets];
  if (nulls.any())
    return bad_row(Code::kCorrupt, 0, row, 0, offsets_at, "a null (nulls=fill(0): an empty row)");
  if (values.views >= 0) {
    DL_ASSIGN_OR_RETURN(const ArrowView view, view_of(access, 0, row, 0));
    if (!extent_fits(range.first, range.count, view.bytes))
      return bad_row(Code::kCorrupt, 0, row, 0, view.at, "its length has changed");
    return access.view(view.at + range.first, range.count, room);
  }
  std::array<int64_t, 2> offsets;
  DL_RETURN_IF_ERROR(read_offsets(access, 0, row, offsets.data()));
  if (!extent_fits(range.first, range.count, offsets[1] - offsets[0])) {
    return bad_row(Code::kCorrupt, 0, row, 0, offsets_at, "its length has changed");
  }
  return units_of(access, 0, row, {offsets[0] + range.first, range.count}, room);
}

// Record batches are put together until the next one would make a block too long; one that is longer by itself is cut evenly.
void ArrowRows::append_blocks(int64_t block_bytes, BlockEnds& ends) const {
  int64_t end = ends.empty() ? 0 : ends.back(), bytes = 0, rows = 0;
  const auto finish = [&] {
    if (rows > 0) ends.push_back(end += rows);
    rows = bytes = 0;
  };
  for (int64_t b = 0; b < tables_.batches.count(); ++b) {
    const int64_t batch_rows = tables_.batches.rows_of(b);
    if (batch_rows == 0) continue;
    const int64_t batch_bytes = std::max<int64_t>(tables_.batches.slots(b)[kArrowBatchBytesSlot], 1);
    if (batch_bytes > block_bytes) {
      finish();
      cut_evenly(batch_rows, std::max<int64_t>(batch_bytes / batch_rows, 1), block_bytes, ends);
      end = ends.back();
      continue;
    }
    if (batch_bytes > block_bytes - bytes) finish();
    bytes += batch_bytes;
    rows += batch_rows;
  }
  finish();
}

void ArrowRows::identify(IdentityBuilder& identity) const {
  identity.add(fill_ ? std::bit_cast<uint64_t>(fill_->number) : 0);
  identity.add(fill_ ? "fill" : "error");
  if (fill_) identity.add(static_cast<uint64_t>(fill_->whole.value_or(0)));
  for (int64_t b = 0; b < tables_.batches.count(); ++b)
    identity.add(static_cast<uint64_t>(tables_.batches.rows_of(b)));
}

}  // namespace dataline
