// SPDX-License-Identifier: Apache-2.0
#include "core/source/tfrecord/example_source.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>

#include "core/source/files.h"
#include "core/source/identity.h"

namespace dataline {
namespace {

// A record that is read may be larger than the fields that it is read for.
constexpr int64_t kSpareRecordBytes = int64_t{64} << 10;
constexpr std::byte kEmptyRow[1] = {};

using Found = std::array<Feature, kMaxFeatures>;  // those of the fields, in their order

class ExampleRecords final : public RecordSource {
 public:
  ExampleRecords(RecordFile records, Schema schema, std::vector<FeatureField> fields,
                 std::optional<NullFill> fill, SourceInfo info)
      : RecordSource(std::move(records), std::move(schema), std::move(info)),
        fields_(std::move(fields)),
        fill_(fill),
        by_name_(fields_.size()) {
    std::iota(by_name_.begin(), by_name_.end(), size_t{0});
    std::sort(by_name_.begin(), by_name_.end(),
              [&](size_t a, size_t b) { return fields_[a].name < fields_[b].name; });
    for (const FeatureField& field : fields_) {
      ragged_fields_ += static_cast<int64_t>(field.ragged);
      if (!field.ragged) dense_bytes_ += field.values * dtype_bytes(field.dtype());
    }
  }

  void locate(Run& run) const override;
  int64_t scratch_bytes(int64_t max_bytes_per_sample) const override;
  void identify(IdentityBuilder& identity) const override;

 private:
  Status locate_row(Run& run, int64_t row, bool populate, std::byte* scratch) const;
  Status find_features(int64_t record, Bytes data, Found& found) const;
  size_t field_of(std::string_view name) const;  // fields_.size(): none
  Status place_bytes(Run& run, int64_t row, size_t f, const Feature& feature, const std::byte* data,
                     std::byte* room) const;
  Status place_floats(Run& run, int64_t row, size_t f, const Feature& feature, const std::byte* data,
                      std::byte* room) const;
  Status place_ints(Run& run, int64_t row, size_t f, const Feature& feature, const std::byte* data,
                    std::byte* room) const;
  Status place_missing(Run& run, int64_t row, size_t f, const Feature& feature, std::byte* room) const;
  Status check_values(const Run& run, int64_t row, size_t f, int64_t values) const;
  Status malformed(int64_t record, const WireFault& fault, const std::byte* data) const;

  // Of a record that is read whole.
  int64_t most_record_bytes(int64_t max_bytes_per_sample) const {
    // An i64 takes up to ten bytes in a record, and eight in a row.
    return ragged_fields_ * max_bytes_per_sample + 2 * dense_bytes_ + kSpareRecordBytes;
  }
  // For the values of a field that do not lie in the record as they are delivered.
  int64_t value_room(size_t f, int64_t max_bytes_per_sample) const {
    const FeatureField& field = fields_[f];
    if (!field.ragged) return round_up(schema_.fields[f].bytes(), kScratchAlignment);
    if (field.kind == FeatureKind::kBytes) return 0;
    return round_up(std::min(schema_.fields[f].max_bytes, max_bytes_per_sample), kScratchAlignment);
  }

  std::vector<FeatureField> fields_;
  std::optional<NullFill> fill_;
  std::vector<size_t> by_name_;  // indices of fields_
  int64_t ragged_fields_ = 0, dense_bytes_ = 0;
};

int64_t ExampleRecords::scratch_bytes(int64_t max_bytes_per_sample) const {
  int64_t total = room_bytes(most_record_bytes(max_bytes_per_sample));
  for (size_t f = 0; f < fields_.size(); ++f) total += value_room(f, max_bytes_per_sample);
  return total;
}

void ExampleRecords::identify(IdentityBuilder& identity) const {
  RecordSource::identify(identity);
  identity.add(static_cast<uint64_t>(fill_.has_value()));
  if (!fill_) return;
  identity.add(std::bit_cast<uint64_t>(fill_->number));
  identity.add(static_cast<uint64_t>(fill_->whole.value_or(0)));
}

void ExampleRecords::locate(Run& run) const {
  if (run.count == 0) return;
  const bool populate = begin_run(run);
  const int64_t stride = scratch_bytes(run.max_bytes_per_sample);
  for (int64_t i = 0; i < run.count; ++i) {
    Status status = locate_row(run, i, populate, stride == 0 ? nullptr : run.scratch + i * stride);
    if (!status.is_ok()) run.fail(i, fields_.size(), std::move(status));
  }
}

Status ExampleRecords::locate_row(Run& run, int64_t row, bool populate, std::byte* scratch) const {
  const int64_t record = run.indices[row], most = most_record_bytes(run.max_bytes_per_sample);
  DL_ASSIGN_OR_RETURN(const Bytes data, read_data(run, record, populate, scratch, most));
  std::byte* room = scratch == nullptr ? nullptr : scratch + room_bytes(most);
  Found found;
  DL_RETURN_IF_ERROR(find_features(record, data, found));
  for (size_t f = 0; f < fields_.size(); ++f) {
    const Feature& feature = found[f];
    if (feature.kind == FeatureKind::kNone) {
      DL_RETURN_IF_ERROR(place_missing(run, row, f, feature, room));
    } else if (feature.kind != fields_[f].kind) {
      return error(Code::kCorrupt, place_of_record(record), "feature ", printable(fields_[f].name), " is of ",
                   list_name(feature.kind), ", expected ", list_name(fields_[f].kind), " (",
                   fields_[f].type_text(), ")");
    } else if (feature.kind == FeatureKind::kBytes) {
      DL_RETURN_IF_ERROR(place_bytes(run, row, f, feature, data.data(), room));
    } else if (feature.kind == FeatureKind::kFloats) {
      DL_RETURN_IF_ERROR(place_floats(run, row, f, feature, data.data(), room));
    } else {
      DL_RETURN_IF_ERROR(place_ints(run, row, f, feature, data.data(), room));
    }
    if (const int64_t bytes = value_room(f, run.max_bytes_per_sample); bytes > 0) room += bytes;
  }
  return Status::ok();
}

Status ExampleRecords::find_features(int64_t record, Bytes data, Found& found) const {
  for (size_t f = 0; f < fields_.size(); ++f) found[f] = {FeatureKind::kNone, nullptr, 0};
  ExampleReader reader(data);
  std::string_view name;
  for (Feature feature; reader.next(name, feature);) {
    if (const size_t f = field_of(name); f < fields_.size()) found[f] = feature;
  }
  if (reader.fault().what != nullptr) return malformed(record, reader.fault(), data.data());
  if (reader.is_sequence() && is_sequence_example(data))
    return error(Code::kUnsupported, place_of_record(record), kNoSequences);
  return Status::ok();
}

size_t ExampleRecords::field_of(std::string_view name) const {
  const auto at =
      std::lower_bound(by_name_.begin(), by_name_.end(), name,
                       [&](size_t f, std::string_view wanted) { return fields_[f].name < wanted; });
  return at != by_name_.end() && fields_[*at].name == name ? *at : fields_.size();
}

Status ExampleRecords::malformed(int64_t record, const WireFault& fault, const std::byte* data) const {
  DL_RETURN_IF_ERROR(check_unchanged(record));
  return error(Code::kCorrupt, file_.path(), ": offset ",
               data_of(records_, record).offset + (fault.at - data), ": record ", record,
               ": not a tf.train.Example: ", fault.what);
}

// A feature that is not there, or has no values. The latter is an empty row of a list of any length.
Status ExampleRecords::place_missing(Run& run, int64_t row, size_t f, const Feature& feature,
                                     std::byte* room) const {
  const FeatureField& field = fields_[f];
  const bool is_there = feature.data != nullptr;
  if (!fill_ && field.ragged && field.kind != FeatureKind::kBytes && is_there) {
    run.columns[f].data[row] = kEmptyRow;
    run.columns[f].bytes[row] = 0;
    return Status::ok();
  }
  if (!fill_) {
    return error(Code::kCorrupt, place_of_record(run.indices[row]),
                 is_there ? "no value in feature " : "no feature ", printable(field.name), ", expected ",
                 field.type_text(),
                 field.ragged ? " (nulls=fill(0) makes it an empty row)" : " (nulls=fill(0) makes it 0)");
  }
  run.mark_null(f, row);
  run.columns[f].data[row] = field.ragged ? kEmptyRow : room;
  if (field.ragged) {
    run.columns[f].bytes[row] = 0;
  } else {
    write_fill(*fill_, schema_.fields[f], room);
  }
  return Status::ok();
}

// That a feature has as many values as its field takes.
Status ExampleRecords::check_values(const Run& run, int64_t row, size_t f, int64_t values) const {
  const FeatureField& field = fields_[f];
  const int64_t bytes = values * dtype_bytes(field.dtype());
  if (field.ragged ? bytes <= run.max_bytes_per_sample : values == field.values) return Status::ok();
  const std::string what = concat(place_of_record(run.indices[row]), "feature ", printable(field.name));
  if (field.ragged) {
    return error(Code::kTooLarge, what, ": ", bytes, " bytes, max_bytes_per_sample is ",
                 run.max_bytes_per_sample);
  }
  if (field.kind == FeatureKind::kBytes) {
    return error(Code::kCorrupt, what, " has ", values, " bytes, expected ", field.values, " (",
                 field.type_text(), "; declared as bytes, any number is read)");
  }
  return error(Code::kCorrupt, what, " has ", values, values == 1 ? " value" : " values", ", expected ",
               field.values, " (", field.type_text(), "; declared as ", dtype_name(field.dtype()),
               "[], any number is read)");
}

Status ExampleRecords::place_bytes(Run& run, int64_t row, size_t f, const Feature& feature,
                                   const std::byte* data, std::byte* room) const {
  WireFault fault;
  const BytesValues values = read_bytes_values(feature, fault);
  if (values.count < 0) return malformed(run.indices[row], fault, data);
  if (values.count == 0) return place_missing(run, row, f, feature, room);
  if (values.count != 1) {
    return error(Code::kCorrupt, place_of_record(run.indices[row]), "feature ", printable(fields_[f].name),
                 " has ", values.count, " byte strings, expected 1");
  }
  const auto bytes = static_cast<int64_t>(values.first.size());
  // Ragged bytes are not copied here; the batch checks their length.
  if (!fields_[f].ragged) DL_RETURN_IF_ERROR(check_values(run, row, f, bytes));
  run.columns[f].data[row] = values.first.data();
  if (fields_[f].ragged) run.columns[f].bytes[row] = bytes;
  return Status::ok();
}

Status ExampleRecords::place_floats(Run& run, int64_t row, size_t f, const Feature& feature,
                                    const std::byte* data, std::byte* room) const {
  WireFault fault;
  const FloatValues values = find_float_values(feature, fault);
  if (values.count < 0) return malformed(run.indices[row], fault, data);
  if (values.count == 0 && !fields_[f].ragged) return place_missing(run, row, f, feature, room);
  DL_RETURN_IF_ERROR(check_values(run, row, f, values.count));
  if (fields_[f].ragged) run.columns[f].bytes[row] = values.count * 4;
  const bool as_they_are = values.packed != nullptr && std::endian::native == std::endian::little;
  run.columns[f].data[row] = values.count == 0 ? kEmptyRow : as_they_are ? values.packed : room;
  if (!as_they_are) copy_float_values(feature, room);
  return Status::ok();
}

Status ExampleRecords::place_ints(Run& run, int64_t row, size_t f, const Feature& feature,
                                  const std::byte* data, std::byte* room) const {
  WireFault fault;
  const int64_t capacity = value_room(f, run.max_bytes_per_sample) / 8;
  const int64_t count = read_int_values(feature, room, capacity, fault);
  if (count < 0) return malformed(run.indices[row], fault, data);
  if (count == 0 && !fields_[f].ragged) return place_missing(run, row, f, feature, room);
  DL_RETURN_IF_ERROR(check_values(run, row, f, count));
  run.columns[f].data[row] = count == 0 ? kEmptyRow : room;
  if (fields_[f].ragged) run.columns[f].bytes[row] = count * 8;
  return Status::ok();
}

}  // namespace

SourceRef example_records(RecordFile records, std::vector<FeatureField> fields, std::optional<NullFill> fill,
                          SourceInfo info) {
  const int64_t most = records.index.most_data_bytes;
  std::vector<Field> schema;
  for (const FeatureField& field : fields) {
    // A varint of one byte becomes eight.
    const int64_t most_bytes = field.kind == FeatureKind::kInts ? most * 8 : most;
    schema.push_back({field.name, field.ragged ? FieldKind::kRagged : FieldKind::kDense, field.dtype(),
                      field.ragged ? std::vector<int64_t>{-1} : field.shape, "",
                      field.ragged ? most_bytes : -1});
  }
  return std::make_shared<ExampleRecords>(std::move(records), column_per_field(std::move(schema)),
                                          std::move(fields), fill, std::move(info));
}

}  // namespace dataline
