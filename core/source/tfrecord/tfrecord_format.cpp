// The format `tfrecord`: its keys, how it is detected, and what a file's records are.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/source/compressed_file.h"
#include "core/source/files.h"
#include "core/source/format.h"
#include "core/source/gzip.h"
#include "core/source/null_masks.h"
#include "core/source/tfrecord/example_source.h"

namespace dataline {
namespace {

struct TfRecordOptions {
  enum class Records { kAuto, kExample, kBytes };
  Records records = Records::kAuto;
  bool ignore_checksums = false;
  RecordDamage damage = RecordDamage::kError;
  std::vector<FeatureField> fields = {};  // empty: inferred
  std::optional<NullFill> fill = {};
};

constexpr KeySpec kRecords{"records", "auto|example|bytes", "auto",
                           "what a record is; auto: an example or bytes, by the first record"};
constexpr KeySpec kChecksums{"crc", "check|ignore", "check",
                             "whether the checksum of each record is verified"};
constexpr KeySpec kPartialRecord{"partial", "error|ignore", "error",
                                 "what to do with an incomplete last record"};
constexpr KeySpec kDamagedRecord{"damage", "error|skip", "error",
                                 "what to do with bytes that are not a record; skip: leaves them out, up to "
                                 "the next record with valid checksums"};
constexpr KeySpec kTfRecordKeys[] = {
    kRecords,
    {"fields", "FIELDS", "",
     "the features to read, as in image:bytes,label:i64,box:f32[4],ids:i64[]; default: the features of the "
     "first record"},
    kNullsKey,
    kChecksums,
    kPartialRecord,
    kDamagedRecord,
    kAxesKey};
constexpr std::string_view kTfRecordSuffixes[] = {".tfrecord", ".tfrecords"};

constexpr int64_t kMaxFirstRecords = 1000;  // are read to find what fields are: see FieldInference

// What comes after "name.tfrecord" in names of shards: "-00003-of-00010".
std::string_view without_shard(std::string_view name) {
  const auto digits = [&name] {
    const size_t last = name.find_last_not_of("0123456789");
    const bool some = last != std::string_view::npos && last + 1 < name.size();
    if (some) name = name.substr(0, last + 1);
    return some;
  };
  const std::string_view whole = name;
  if (!digits() || !has_suffix(name, "-of-")) return whole;
  name.remove_suffix(4);
  if (!digits() || !name.ends_with('-')) return whole;
  return name.substr(0, name.size() - 1);
}

// "a.tfrecord", "a.tfrecord-00003-of-00010", either with ".gz".
bool is_tfrecord_name(std::string_view name) {
  return has_suffix(without_shard(without_suffix(name, ".gz")), kTfRecordSuffixes);
}

Sniff sniff_tfrecord(const FirstBytes& file) {
  if (starts_with_record(file.bytes())) return Sniff::kCertain;
  const bool plausible = file.count == 0 || is_gzip(file.bytes());
  return plausible && is_tfrecord_name(file.path) ? Sniff::kLikely : Sniff::kNo;
}

bool is_tfrecord_member(const std::string& directory, std::string_view name, const OpenContext& context) {
  if (is_tfrecord_name(name)) return true;
  const Result<FirstBytes> start = read_first_bytes(join_path(directory, name), context);
  if (!start.is_ok()) return true;  // unknown: opening it reports why
  return starts_with_record(start.value().bytes());
}

// Says what the file is, where its first bytes are no record.
Status check_first_record(const MappedFile& file) {
  std::array<std::byte, kDescribedBytes> buffer;
  const int64_t count = std::min(kDescribedBytes, file.bytes());
  DL_RETURN_IF_ERROR(file.read(0, count, buffer.data()));
  const Bytes first = Bytes(buffer).first(static_cast<size_t>(count));
  if (count == 0 || starts_with_record(first)) return Status::ok();
  // RFC 1950: method 8, and a multiple of 31.
  if (count >= 2 && byte_at(first, 0) == 0x78 && (byte_at(first, 0) * 256 + byte_at(first, 1)) % 31 == 0) {
    return error(
        Code::kUnsupported, file.path(),
        ": offset 0: this is zlib data, perhaps records of TensorFlow's compression ZLIB, which have no "
        "random access: write them again without compression");
  }
  const std::string what = describe_first_bytes(first);
  if (what.starts_with("bytes ")) return Status::ok();  // the walk says what is wrong
  return error(Code::kCorrupt, file.path(), ": offset 0: expected a TFRecord file, got ", what);
}

// A record's data, whole and checked.
Result<Block> read_record(const RecordFile& records, int64_t record, const OpenContext& context) {
  const auto [begin, bytes] = data_of(records.index.records, record);
  DL_ASSIGN_OR_RETURN(Block block, context.memory->allocate(bytes + kRecordFooterBytes, 1,
                                                            MemoryKind::kMetadata, "the first record"));
  DL_RETURN_IF_ERROR(records.file.read(begin, bytes + kRecordFooterBytes, block.data()));
  const uint32_t expected = mask_crc32c(Crc32c(best_simd_target()).extend(0, block.data(), bytes));
  const auto got = load_little<uint32_t>(block.data() + bytes);
  if (!records.check_data || got == expected) return block;
  return error(Code::kCorrupt, records.file.path(), ": offset ", begin - kRecordHeaderBytes, ": record ",
               record, ": the checksum of its data is ", checksum_text(got), ", expected ",
               checksum_text(expected), "; fields are inferred from it (fields= declares them)");
}

// Reads records from the first one on, for as long as they do not decide what the fields are.
class FieldInference {
 public:
  FieldInference(const TfRecordOptions& options, const RecordFile& records, const OpenContext& context)
      : options_(options), records_(records), context_(context) {}

  // Sets the fields that records decide; leaves them empty where records are bytes.
  Status run(std::vector<FeatureField>& fields, SourceInfo& info) {
    const std::string& path = records_.file.path();
    if (records_.index.count() == 0) {
      return error(without_records(info.notes), path,
                   ": no records to infer fields from; declare fields=, or records=bytes");
    }
    DL_ASSIGN_OR_RETURN(bool some, next_record());
    // Records that may be Examples, and do not show it.
    int64_t begin = -1;  // the first of them that has features
    while (some && fields.empty()) {
      const std::optional<int64_t> features = features_without_lists(data_);
      if (!features) break;
      if (*features > 0 && begin < 0) begin = next_ - 1;
      DL_ASSIGN_OR_RETURN(some, next_record());
    }
    if (!some || (begin >= 0 && is_plain_example(data_))) {
      next_ = std::max<int64_t>(begin, 0);
      found_ = false;
      const bool is_example = some;
      DL_RETURN_IF_ERROR(next_record().status());
      if (is_example) return infer(fields, info);
    }
    if (options_.records == TfRecordOptions::Records::kAuto && fields.empty() && !is_plain_example(data_)) {
      if (is_sequence_example(data_)) return error(Code::kUnsupported, place_, kNoSequences);
      info.notes.push_back("the first record is not a tf.train.Example: records are delivered as bytes");
      return Status::ok();
    }
    return infer(fields, info);
  }

 private:
  // From the current record on.
  Status infer(std::vector<FeatureField>& fields, SourceInfo& info) {
    const int64_t first = next_ - 1;
    DL_ASSIGN_OR_RETURN(fields, infer_feature_fields(place_, data_, fields));
    DL_RETURN_IF_ERROR(read_on(fields));
    info.notes.push_back(concat("fields inferred from the first record",
                                next_ - 1 > first ? " and from those after it" : "", ": ",
                                feature_list_text(fields)));
    return Status::ok();
  }

  // Until each field has a type.
  Status read_on(std::vector<FeatureField>& fields) {
    const std::string place = place_;
    const auto undecided = [&] {
      return std::find_if(fields.begin(), fields.end(),
                          [](const FeatureField& field) { return field.kind == FeatureKind::kNone; });
    };
    while (undecided() != fields.end()) {
      DL_ASSIGN_OR_RETURN(const bool some, next_record());
      if (!some) {
        const std::string& name = undecided()->name;
        return error(Code::kUnsupported, place, "feature ", printable(name), " is empty, as it is in ",
                     "the records after it, its type cannot be inferred: declare it in fields=, as in ",
                     printable(concat(name, ":i64[]")));
      }
      // A record that is not an Example is a bad sample, and decides nothing.
      Status status = infer_from_later_record(place_, data_, fields);
      if (!status.is_ok() && status.code() != Code::kCorrupt) return status;
    }
    return Status::ok();
  }

  // False at the end of those that are looked at. A damaged record after the first is a bad sample, and decides nothing.
  Result<bool> next_record() {
    const int64_t end = std::min(records_.index.count(), kMaxFirstRecords);
    for (;;) {
      if (next_ >= end) return false;
      Result<Block> read = read_record(records_, next_, context_);
      const bool skips = found_ || (options_.damage == RecordDamage::kSkip && next_ + 1 < end);
      if (!read.is_ok() && (read.status().code() != Code::kCorrupt || !skips)) return read.take_status();
      const int64_t record = next_++;
      if (!read.is_ok()) continue;
      found_ = true;
      block_ = read.take();
      const FileExtent extent = data_of(records_.index.records, record);
      data_ = Bytes(block_.data(), static_cast<size_t>(extent.bytes));
      place_ = concat(records_.file.path(), ": offset ", extent.offset - kRecordHeaderBytes, ": record ",
                      record, ": ");
      return true;
    }
  }

  const TfRecordOptions& options_;
  const RecordFile& records_;
  const OpenContext& context_;
  int64_t next_ = 0;    // record
  bool found_ = false;  // one that is not damaged
  Block block_;         // of the last record
  Bytes data_;          // in the block
  std::string place_;   // begins messages about it
};

Result<RecordFile> open_records(const TfRecordOptions& options, const std::string& path,
                                const OpenContext& context, SourceInfo& info) {
  DL_ASSIGN_OR_RETURN(MappedFile file, open_maybe_compressed(path, nullptr, context));
  if (file.inflated())
    info.notes.push_back("gzip: decompressed into memory; without compression files are mapped");
  DL_RETURN_IF_ERROR(check_first_record(file));
  DL_RETURN_IF_ERROR(file.load(context));
  DL_ASSIGN_OR_RETURN(RecordIndex index, read_record_index(file, options.damage, context));
  std::move(index.losses.begin(), index.losses.end(), std::back_inserter(info.notes));
  return RecordFile{std::move(file), std::move(index), !options.ignore_checksums};
}

Result<SourceRef> open_tfrecord(const TfRecordOptions& options, const std::string& path,
                                const OpenContext& context) {
  SourceInfo info{"tfrecord", path, {}};
  DL_ASSIGN_OR_RETURN(RecordFile records, open_records(options, path, context, info));
  if (options.records == TfRecordOptions::Records::kBytes)
    return plain_records(std::move(records), std::move(info));
  std::vector<FeatureField> fields = options.fields;
  if (!all_declared(fields)) DL_RETURN_IF_ERROR(FieldInference(options, records, context).run(fields, info));
  if (fields.empty()) return plain_records(std::move(records), std::move(info));
  for (const FeatureField& field : fields) {
    if (options.fill) DL_RETURN_IF_ERROR(check_fill(*options.fill, field.field()));
  }
  return with_null_masks(
      example_records(std::move(records), std::move(fields), options.fill, std::move(info)), options.fill);
}

bool checks_records(const Uri& uri) {
  const Result<bool> ignored = uri_is(uri, kChecksums, "ignore");
  return ignored.is_ok() && !ignored.value();
}

Result<OpenOne> configure_tfrecord(const Uri& uri) {
  TfRecordOptions options;
  DL_ASSIGN_OR_RETURN(const bool bytes, uri_is(uri, kRecords, "bytes"));
  DL_ASSIGN_OR_RETURN(const bool example, uri_is(uri, kRecords, "example"));
  using Records = TfRecordOptions::Records;
  options.records = bytes ? Records::kBytes : example ? Records::kExample : Records::kAuto;
  DL_ASSIGN_OR_RETURN(options.ignore_checksums, uri_is(uri, kChecksums, "ignore"));
  DL_ASSIGN_OR_RETURN(const bool partial, uri_is(uri, kPartialRecord, "ignore"));
  DL_ASSIGN_OR_RETURN(const bool skip, uri_is(uri, kDamagedRecord, "skip"));
  options.damage = skip ? RecordDamage::kSkip : partial ? RecordDamage::kPartial : RecordDamage::kError;
  const UriKey *fields = uri.find("fields"), *nulls = uri.find("nulls");
  const UriKey* const example_only = fields != nullptr ? fields : nulls;
  if (bytes && example_only != nullptr)
    return uri_error(example_only->column, example_only->key, " is for records=example");
  if (fields != nullptr) {
    DL_ASSIGN_OR_RETURN(options.fields, parse_feature_fields(*fields));
  }
  DL_ASSIGN_OR_RETURN(options.fill, read_nulls(uri));
  return OpenOne([options = std::move(options)](const std::string& path, const OpenContext& context) {
    return open_tfrecord(options, path, context);
  });
}

}  // namespace

constinit const Format kTfrecordFormat{
    .name = "tfrecord",
    .doc =
        "TensorFlow record files, with random access. Fields: the features of tf.train.Example records, or "
        "data",
    .keys = kTfRecordKeys,
    .configure = configure_tfrecord,
    .ranges = true,
    .proves_records = checks_records,
    .infers = true,
    .is_member = is_tfrecord_member,
    .members = "*.tfrecord, *.tfrecord-00000-of-00010, or by content",
    .sniff = sniff_tfrecord,
    .suffixes = kTfRecordSuffixes,
};

}  // namespace dataline
