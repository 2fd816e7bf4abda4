// Which parts of the file rows lie in: for read-ahead, for the look whether they have changed, for blocks and messages.
//
// The bytes of a ragged value lie where its offsets say. Read-ahead must not wait for those: while they are not in memory
// themselves, they are requested, and the value is assumed at the row's share of the buffer.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>

#include "core/source/arrow/arrow_source.h"

namespace dataline {

namespace {

// Where units lie that have `per_unit` bits each.
FileExtent bits_extent(int64_t bitmap, int64_t per_unit, const ArrowUnits& units) {
  const int64_t begin = units.first * per_unit / 8, end = ((units.first + units.count) * per_unit + 7) / 8;
  return {bitmap + begin, end - begin};
}

void append_units(const int64_t* slots, const ArrowValues& values, const ArrowUnits& units,
                  std::vector<FileExtent>& out) {
  if (units.count == 0) return;
  for (const ArrowItemNulls& nulls : values.item_nulls) {
    if (slots[nulls.slot] >= 0) out.push_back(bits_extent(slots[nulls.slot], nulls.per_unit, units));
  }
  if (values.bits) {
    out.push_back(bits_extent(slots[values.data], values.unit_values, units));
  } else {
    out.push_back({slots[values.data] + units.first * values.unit_bytes, units.count * values.unit_bytes});
  }
}

}  // namespace

void ArrowSource::append_column(const int64_t* slots, const ArrowValues& values, int64_t rows, int64_t row,
                                int64_t count, bool whole, std::vector<FileExtent>& out) const {
  if (!values.ragged()) return append_units(slots, values, {row, count}, out);
  if (values.views >= 0) return append_views(slots, values, row, count, whole, out);
  const int64_t at = slots[values.offsets] + row * values.offset_bytes, limit = slots[values.limit];
  const FileExtent offsets{at, (count + 1) * values.offset_bytes};
  out.push_back(offsets);
  int64_t begin = 0, end = limit;
  if (row > 0 || count < rows) {
    const ArrowAccess access(file_, false, nullptr);
    std::array<std::byte, 16> room;
    const auto number = [&](int64_t from, int64_t fallback) {
      if (!whole && !file_.cached(from, values.offset_bytes)) return fallback;
      if (!file_.read(from, values.offset_bytes, room.data()).is_ok()) return fallback;
      return values.offset_bytes == 4 ? int64_t{load_native<int32_t>(room.data())}
                                      : load_native<int64_t>(room.data());
    };
    const double share = static_cast<double>(limit) / static_cast<double>(std::max<int64_t>(rows, 1));
    begin = number(at, static_cast<int64_t>(share * static_cast<double>(row)));
    end = number(at + count * values.offset_bytes,
                 static_cast<int64_t>(share * static_cast<double>(row + count)));
  }
  begin = std::clamp<int64_t>(begin, 0, limit);
  end = std::clamp<int64_t>(end, begin, limit);
  append_units(slots, values, {begin, end - begin}, out);
}

void ArrowSource::append_views(const int64_t* slots, const ArrowValues& values, int64_t row, int64_t count,
                               bool whole, std::vector<FileExtent>& out) const {
  const FileExtent views{slots[values.views] + row * kArrowViewBytes, count * kArrowViewBytes};
  out.push_back(views);
  if (!whole && !file_.cached(views.offset, views.bytes)) return;
  const ArrowAccess access(file_, false, nullptr);
  for (int64_t k = 0; k < count; ++k) {
    Result<ArrowView> found = read_view(access, slots, values, row + k);
    if (!found.is_ok()) return;
    const ArrowView view = found.take();
    if (view.wrong == nullptr && view.bytes > kArrowInlineBytes) out.push_back({view.at, view.bytes});
  }
}

void ArrowSource::append_extents(int64_t first, int64_t count, bool whole,
                                 std::vector<FileExtent>& out) const {
  const ArrowBatches& batches = rows_.tables().batches;
  for (int64_t at = first; at < first + count;) {
    const int64_t batch = batches.batch_of(at), rows = batches.rows_of(batch),
                  row = at - batches.start(batch);
    const int64_t some = std::min(first + count - at, rows - row);
    const int64_t* slots = batches.slots(batch);
    for (const ArrowColumn& column : rows_.plan().columns) {
      for (const int32_t slot : column.row_nulls) {
        if (slots[slot] >= 0) out.push_back({slots[slot] + row / 8, (row + some + 7) / 8 - row / 8});
      }
      if (column.dictionary < 0) {
        append_column(slots, column.values, rows, row, some, whole, out);
        continue;
      }
      out.push_back({slots[column.indices] + row * column.index_bytes, some * column.index_bytes});
      if (whole) append_decoded(column, {slots, batch, row, some, 0}, out);
    }
    at += some;
  }
}

// Of one row.
void ArrowSource::append_decoded(const ArrowColumn& column, const ArrowStretch& stretch,
                                 std::vector<FileExtent>& out) const {
  // Numbers are in the machine's order; what is out of range makes the row bad anyway.
  std::array<std::byte, 8> index{};
  const int64_t bytes = column.index_bytes, skipped = std::endian::native == std::endian::big ? 8 - bytes : 0;
  if (!file_.read(stretch.slots[column.indices] + stretch.row * bytes, bytes, index.data() + skipped).is_ok())
    return;
  const auto number = load_native<int64_t>(index.data());
  if (number < 0 || number >= stretch.slots[column.first + 1]) return;
  const ArrowBatches& values = rows_.tables().dictionaries[static_cast<size_t>(column.dictionary)];
  const int64_t row = stretch.slots[column.first] + number, batch = values.batch_of(row);
  append_column(values.slots(batch), column.values, values.rows_of(batch), row - values.start(batch), 1, true,
                out);
}

void ArrowSource::append_extents(int64_t index, std::vector<FileExtent>& out) const {
  append_extents(index, 1, true, out);
}

// From the first to the last of its parts. Those that others lie between are told by append_extents().
FileExtent ArrowSource::extent_of(int64_t index) const {
  std::vector<FileExtent> parts;
  append_extents(index, 1, true, parts);
  int64_t begin = parts[0].offset, end = begin;
  for (const FileExtent& part : parts) {
    begin = std::min(begin, part.offset);
    end = std::max(end, part.offset + part.bytes);
  }
  return {begin, end - begin};
}

void ArrowSource::advise(std::span<const int64_t> indices) const {
  for (size_t first = 0; first < indices.size();) {
    size_t end = first + 1;
    while (end < indices.size() && indices[end] == indices[end - 1] + 1) ++end;
    advise_block(indices[first], static_cast<int64_t>(end - first));
    first = end;
  }
}

void ArrowSource::advise_block(int64_t first, int64_t count) const {
  std::vector<FileExtent> extents;
  append_extents(first, count, false, extents);
  for (const FileExtent& extent : extents) file_.advise(extent.offset, extent.bytes);
}

bool ArrowSource::cached(int64_t index) const {
  std::vector<FileExtent> extents;
  append_extents(index, 1, false, extents);
  return std::all_of(extents.begin(), extents.end(),
                     [&](const FileExtent& extent) { return file_.cached(extent.offset, extent.bytes); });
}

Place ArrowSource::place_of(int64_t index, size_t column) const {
  const ArrowStretch row = rows_.row_of(index);
  std::vector<FileExtent> parts;
  const ArrowColumn& from = rows_.plan().columns[column];
  if (from.dictionary >= 0) {
    parts.push_back({row.slots[from.indices] + row.row * from.index_bytes, from.index_bytes});
  } else {
    append_column(row.slots, from.values, rows_.tables().batches.rows_of(row.number), row.row, 1, true,
                  parts);
  }
  const std::string place = concat("record batch ", row.number, ", row ", row.row);
  // Inflated bytes have no place in the file.
  return {file_.path(), file_.inflated() ? place : concat(place, ", offset ", parts.back().offset)};
}

}  // namespace dataline
