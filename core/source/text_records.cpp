// SPDX-License-Identifier: Apache-2.0
#include "core/source/text_records.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "core/base/checked.h"
#include "core/source/flat_file.h"
#include "core/source/identity.h"

namespace dataline {
namespace {

// A record holds more than the value that is wanted of it: names, other values, escapes of six bytes for one.
constexpr int64_t kRecordToValue = 8;

uint64_t digest_of(const RecordEnds& records) {
  Digest digest;
  for (int64_t i = 0; i < records.count(); ++i) digest.add(static_cast<uint64_t>(records.ends[i]));
  return digest.value();
}

}  // namespace

std::string cut_note(const MappedFile& file, int64_t offset) {
  return concat(kDamaged, file.path(), ": cut: ", file.bytes() - offset, " bytes from offset ", offset,
                " on are left out");
}

Status drop_cut_record(const MappedFile& file, RecordEnds& records, SourceInfo& info) {
  if (records.count() == 0 || records.ends.back() != file.bytes()) return Status::ok();
  std::byte last{};
  DL_RETURN_IF_ERROR(file.read(file.bytes() - 1, 1, &last));
  if (last == std::byte{'\n'}) return Status::ok();
  info.notes.push_back(cut_note(file, records.extent(records.count() - 1).offset));
  records.drop_last();
  return Status::ok();
}

TextRecords::TextRecords(MappedFile file, Schema schema, SourceInfo info, RecordEnds records, int64_t longest,
                         std::span<const TextField> fields)
    : AdjacentRecords(std::move(file), std::move(schema), std::move(info), std::move(records)),
      longest_(longest),
      ends_digest_(digest_of(records_)) {
  for (const TextField& each : fields)
    most_.push_back({most_text_bytes(each, longest), each.field.kind == FieldKind::kRagged});
}

int64_t TextRecords::record_room(int64_t max_bytes_per_sample) const {
  if (file_.addressable()) return 0;
  // No overflow: a longest record is no longer than a file.
  const bool bounded = max_bytes_per_sample < longest_ / kRecordToValue;
  return round_up(bounded ? max_bytes_per_sample * kRecordToValue : longest_, kScratchAlignment);
}

int64_t TextRecords::value_room(const Most& most, int64_t max_bytes_per_sample) const {
  return most.bounded ? std::min(most.bytes, max_bytes_per_sample) : most.bytes;
}

int64_t TextRecords::scratch_bytes(int64_t max_bytes_per_sample) const {
  int64_t bytes = record_room(max_bytes_per_sample);
  for (const Most& most : most_) bytes += round_up(value_room(most, max_bytes_per_sample), kScratchAlignment);
  return bytes;
}

void TextRecords::locate(Run& run) const {
  if (run.count == 0) return;
  const bool populate = !check_before(run.opened_ns) || run.cold;
  const int64_t stride = scratch_bytes(run.max_bytes_per_sample);
  for (size_t c = 0; c < most_.size(); ++c) run.columns[c].contiguous = false;
  for (int64_t i = 0; i < run.count; ++i) {
    Status status = read_record(run, i, populate, run.scratch + i * stride);
    if (!status.is_ok()) run.fail(i, most_.size(), std::move(status));
  }
}

Status TextRecords::read_record(Run& run, int64_t row, bool populate, std::byte* scratch) const {
  const int64_t index = run.indices[row];
  const FileExtent extent = extent_of(index);
  const char* text = nullptr;
  if (file_.addressable()) {
    if (populate) DL_RETURN_IF_ERROR(file_.populate(extent.offset, extent.bytes));
    text = reinterpret_cast<const char*>(file_.at(extent.offset));
  } else {
    const int64_t room = record_room(run.max_bytes_per_sample);
    if (extent.bytes > room) {
      const Place place = place_of(index, 0);
      return error(Code::kTooLarge, place.path, ": ", place.within, ": has ", extent.bytes,
                   " bytes, at most ", kRecordToValue, " times max_bytes_per_sample, which is ",
                   run.max_bytes_per_sample);
    }
    DL_RETURN_IF_ERROR(file_.read(extent.offset, extent.bytes, scratch, run.cancelled));
    text = reinterpret_cast<const char*>(scratch);
    scratch += room;
  }
  std::array<ValueRoom, kMaxTextFields> rooms;
  std::array<ValueCell, kMaxTextFields> cells;
  const size_t count = most_.size();
  for (size_t f = 0; f < count; ++f) {
    const int64_t bytes = value_room(most_[f], run.max_bytes_per_sample);
    rooms[f] = {scratch, bytes};
    scratch += round_up(bytes, kScratchAlignment);
  }
  Status status = read_values(index, {text, static_cast<size_t>(extent.bytes)}, std::span(rooms).first(count),
                              std::span(cells).first(count));
  if (!status.is_ok()) {
    DL_RETURN_IF_ERROR(check_unchanged(index));
    return status;
  }
  for (size_t f = 0; f < count; ++f) {
    run.columns[f].data[row] = cells[f].data;
    run.columns[f].bytes[row] = cells[f].bytes;
    if (cells[f].null) run.mark_null(f, row);
  }
  return Status::ok();
}

void TextRecords::add_records(const std::optional<NullFill>& fill, IdentityBuilder& identity) const {
  identity.add_file(file_);
  identity.add(ends_digest_);
  identity.add(static_cast<uint64_t>(fill.has_value()));
  if (!fill) return;
  identity.add(std::bit_cast<uint64_t>(fill->number));
  identity.add(static_cast<uint64_t>(fill->whole.value_or(0)));
}

}  // namespace dataline
