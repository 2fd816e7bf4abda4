// SPDX-License-Identifier: Apache-2.0
#include "core/source/tfrecord/record_source.h"

#include <algorithm>
#include <array>

#include "core/source/identity.h"

namespace dataline {

Place RecordSource::place_of(int64_t index, size_t) const {
  return {file_.path(), concat("record ", index, ", offset ", extent_of(index).offset)};
}

void RecordSource::identify(IdentityBuilder& identity) const {
  identity.add_schema(*this);
  identity.add("tfrecord");
  identity.add_file(file_);
  identity.add_local(check_data_ ? "crc=check" : "crc=ignore");
}

std::string RecordSource::place_of_record(int64_t record) const {
  return concat(file_.path(), ": offset ", extent_of(record).offset, ": record ", record, ": ");
}

bool RecordSource::begin_run(Run& run) const {
  for (size_t c = 0; c < schema_.columns.size(); ++c) run.columns[c].contiguous = false;
  const bool whole = check_before(run.opened_ns);
  return file_.addressable() && (!whole || run.cold);
}

Status RecordSource::check_checksum(int64_t record, uint32_t crc, const std::byte* stored) const {
  const uint32_t expected = mask_crc32c(crc), got = load_little<uint32_t>(stored);
  if (got == expected) return Status::ok();
  DL_RETURN_IF_ERROR(check_unchanged(record));
  return error(Code::kCorrupt, place_of_record(record), "the checksum of its data is ", checksum_text(got),
               ", expected ", checksum_text(expected), " (crc=ignore reads it anyway)");
}

Result<Bytes> RecordSource::read_data(const Run& run, int64_t record, bool populate, std::byte* room,
                                      int64_t most_bytes) const {
  const auto [begin, bytes] = data_of(records_, record);
  const std::byte* data = room;
  if (file_.addressable()) {
    if (populate) DL_RETURN_IF_ERROR(file_.populate(begin, bytes + kRecordFooterBytes));
    data = file_.at(begin);
  } else if (bytes > most_bytes) {
    return error(Code::kTooLarge, place_of_record(record), bytes, " bytes, with io=pread at most ",
                 most_bytes, " are read, max_bytes_per_sample is ", run.max_bytes_per_sample);
  } else {
    DL_RETURN_IF_ERROR(file_.read(begin, bytes + kRecordFooterBytes, room, run.cancelled));
  }
  if (check_data_) DL_RETURN_IF_ERROR(check_checksum(record, crc_.extend(0, data, bytes), data + bytes));
  return Bytes(data, static_cast<size_t>(bytes));
}

namespace {

class PlainRecords final : public RecordSource {
 public:
  PlainRecords(RecordFile records, Schema schema, SourceInfo info)
      : RecordSource(std::move(records), std::move(schema), std::move(info)) {}

  void locate(Run& run) const override {
    if (run.count == 0) return;
    const bool populate = begin_run(run);
    const int64_t room = room_bytes(run.max_bytes_per_sample);
    for (int64_t i = 0; i < run.count; ++i) {
      Result<Bytes> data = read_data(run, run.indices[i], populate,
                                     room == 0 ? nullptr : run.scratch + i * room, run.max_bytes_per_sample);
      if (!data.is_ok()) {
        run.fail(i, 1, data.take_status());
        continue;
      }
      run.columns[0].data[i] = data.value().data();
      run.columns[0].bytes[i] = static_cast<int64_t>(data.value().size());
    }
  }
  int64_t scratch_bytes(int64_t max_bytes_per_sample) const override {
    return room_bytes(max_bytes_per_sample);
  }
  int64_t record_items(int64_t index) const override { return data_of(records_, index).bytes; }
  Result<const std::byte*> locate_items(const Run& run, const ItemRange& range,
                                        std::byte* room) const override;
  void advise_items(const ItemRange& range) const override {
    file_.advise(data_of(records_, range.index).offset + range.first, range.count);
  }

 private:
  Status check_whole(const Run& run, int64_t record) const;
};

// A part is as good as the whole record: its checksum is of all of it.
Result<const std::byte*> PlainRecords::locate_items(const Run& run, const ItemRange& range,
                                                    std::byte* room) const {
  const bool whole = check_before(run.opened_ns);
  const int64_t begin = data_of(records_, range.index).offset + range.first;
  if (file_.addressable()) {
    DL_ASSIGN_OR_RETURN(const Bytes data, read_data(run, range.index, run.cold || !whole, nullptr, 0));
    return data.data() + range.first;
  }
  if (check_data_) DL_RETURN_IF_ERROR(check_whole(run, range.index));
  DL_RETURN_IF_ERROR(file_.read(begin, range.count, room, run.cancelled));
  return room;
}

Status PlainRecords::check_whole(const Run& run, int64_t record) const {
  std::array<std::byte, 8192> piece;
  uint32_t crc = 0;
  const FileExtent data = data_of(records_, record);
  const int64_t end = data.offset + data.bytes;
  for (int64_t at = data.offset; at < end;) {
    const int64_t bytes = std::min<int64_t>(end - at, piece.size());
    DL_RETURN_IF_ERROR(file_.read(at, bytes, piece.data(), run.cancelled));
    crc = crc_.extend(crc, piece.data(), bytes);
    at += bytes;
  }
  DL_RETURN_IF_ERROR(file_.read(end, kRecordFooterBytes, piece.data(), run.cancelled));
  return check_checksum(record, crc, piece.data());
}

}  // namespace

SourceRef plain_records(RecordFile records, SourceInfo info) {
  const int64_t most = records.index.most_data_bytes;
  Schema schema = column_per_field({{"data", FieldKind::kRagged, DType::kU8, {-1}, "", most}});
  return std::make_shared<PlainRecords>(std::move(records), std::move(schema), std::move(info));
}

}  // namespace dataline
