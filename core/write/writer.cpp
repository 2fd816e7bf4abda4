// SPDX-License-Identifier: Apache-2.0
#include "core/write/writer.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "core/base/checked.h"
#include "core/base/name_text.h"
#include "core/base/text.h"
#include "core/source/files.h"
#include "core/source/names.h"
#include "core/source/uri.h"
#include "core/write/resume.h"

namespace dataline {
namespace {

constexpr int64_t kMaxShardBytes = int64_t{1} << 46;
constexpr int64_t kMaxShards = 100'000'000;

struct Target {
  const WriteFormat* format = nullptr;
  std::string path;
  int64_t shard_bytes = kDefaultShardBytes;
  WriteCodec codec = WriteCodec::kNone;
};

Status read_key(const UriKey& key, Target& out) {
  if (key.key == "shard_bytes") {
    const std::optional<int64_t> bytes = parse_size(key.value);
    if (bytes && *bytes >= 1 && *bytes <= kMaxShardBytes) {
      out.shard_bytes = *bytes;
      return Status::ok();
    }
    return uri_error(key.value_column, "shard_bytes: expected a size from 1 to ", kMaxShardBytes,
                     ", such as 256MiB, got '", key.value, "'");
  }
  if (key.key != "codec" || !out.format->takes_codec) {
    return uri_error(key.column, "unknown key '", key.key, "'; a set of ", out.format->name,
                     " accepts shard_bytes", out.format->takes_codec ? ", codec" : "");
  }
  const std::optional<WriteCodec> codec = find_write_codec(key.value);
  if (!codec) return uri_error(key.value_column, "codec: expected none, lz4 or zstd, got '", key.value, "'");
  out.codec = *codec;
  return check_write_codec(*codec);
}

// Of a target without a format that is written: the form that is meant. A set is a directory of shards, so a suffix of files
// states the format, and is left off.
std::string target_to_write(const Uri& uri) {
  constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
      {".feather", "arrow"},      {".ipc", "arrow"},  {".arrows", "arrow"},
      {".tfrecords", "tfrecord"}, {".pq", "parquet"}, {".bin", "tokens"}};
  const std::string& path = uri.paths.front().path;
  const auto form = [&](std::string_view format, size_t suffix_bytes) {
    const std::string_view name = std::string_view(path).substr(0, path.size() - suffix_bytes);
    const bool bare = name.empty() || name.ends_with('/');
    return concat(": write ", format, ":", bare ? std::string_view(path) : name,
                  ", a directory of shards and a manifest");
  };
  std::vector<std::string_view> names;
  for (const WriteFormat* format : write_formats()) names.push_back(format->name);
  if (const std::string_view close = nearest(uri.scheme, names); !close.empty()) return form(close, 0);
  for (const std::string_view name : names) {
    if (const std::string suffix = concat(".", name); has_suffix(path, suffix))
      return form(name, suffix.size());
  }
  for (const auto& [suffix, format] : kOthers) {
    if (has_suffix(path, suffix)) return form(format, suffix.size());
  }
  return form("arrow", 0);
}

Result<Target> read_target(std::string_view text) {
  DL_ASSIGN_OR_RETURN(const Uri uri, parse_uri(text));
  Target out;
  out.format = find_write_format(uri.scheme);
  if (out.format == nullptr) {
    const std::string named =
        uri.scheme.empty() ? "a format is needed before the path" : "'" + uri.scheme + "' cannot be written";
    return uri_error(1, named, ", expected one of ", write_format_names(), target_to_write(uri));
  }
  if (uri.paths.size() != 1 || uri.named())
    return uri_error(uri.paths.back().column, "expected exactly one path: the directory to create");
  out.path = uri.paths.front().path;
  if (out.path.empty() || out.path.find('\0') != std::string::npos)
    return uri_error(uri.paths.front().column, "expected the path of the directory to create");
  for (const UriKey& key : uri.keys) DL_RETURN_IF_ERROR(read_key(key, out));
  return out;
}

// What every format stores, and every reader of it takes for a name.
Status check_names(const std::vector<Field>& fields) {
  constexpr size_t kMaxNameBytes = 255;
  for (const Field& field : fields) {
    if (!field.name.empty() && field.name.size() <= kMaxNameBytes && is_name_text(field.name)) continue;
    return error(Code::kInvalidArgument, "writer: field ", printable(field.name), ": its name has ",
                 field.name.size(), " bytes, expected 1 to ", kMaxNameBytes, " bytes of ", kNameText);
  }
  return Status::ok();
}

bool same_type(const Field& a, const Field& b) {
  return a.name == b.name && a.kind == b.kind && a.dtype == b.dtype && a.shape == b.shape;
}

}  // namespace

Writer::Writer(OutputDirectory directory, ManifestHead head, const WriteFormat& format,
               std::unique_ptr<ShardEncoder> encoder)
    : head_(std::make_unique<const ManifestHead>(std::move(head))),
      format_(format),
      directory_(std::move(directory)),
      encoder_(std::move(encoder)) {}

Result<std::unique_ptr<Writer>> Writer::create(std::string_view uri, std::vector<Field> fields,
                                               std::string job) {
  DL_ASSIGN_OR_RETURN(const Target target, read_target(uri));
  for (const Field& field : fields) {
    if (!field.varies()) continue;
    return error(Code::kUnsupported, "field '", field.name, "' is ", field_type_text(field),
                 ": all rows of a dense field must have one shape: resize them, or write the encoded bytes");
  }
  DL_RETURN_IF_ERROR(check_names(fields));
  DL_RETURN_IF_ERROR(check_host_fields(fields, "writer"));
  ManifestHead head{std::string(target.format->name), target.shard_bytes, target.codec, std::move(fields),
                    std::move(job)};
  // Before anything is made on the disk.
  if (const auto made = target.format->make(head.fields, head.codec); !made.is_ok()) return made.status();
  DL_ASSIGN_OR_RETURN(OutputDirectory directory, OutputDirectory::open(target.path));
  std::unique_ptr<Writer> writer(new Writer(std::move(directory), std::move(head), *target.format, nullptr));
  DL_RETURN_IF_ERROR(writer->resume());
  return writer;
}

Status Writer::resume() {
  ThreadLock lock(mutex_);
  DL_ASSIGN_OR_RETURN(encoder_, format_.make(head_->fields, head_->codec));
  DL_ASSIGN_OR_RETURN(const WrittenShards written, find_written_shards(directory_, *head_, format_.suffix));
  const std::string path = directory_.path_of(kManifestName);
  DL_ASSIGN_OR_RETURN(AppendFile manifest, AppendFile::open(path, written.manifest_bytes));
  if (written.manifest_bytes == 0) {
    const std::string line = head_line(*head_);
    DL_RETURN_IF_ERROR(manifest.append(std::as_bytes(std::span(line))));
    DL_RETURN_IF_ERROR(directory_.sync());
  }
  manifest_.emplace(std::move(manifest));
  for (const ManifestShard& shard : written.shards) {
    const std::optional<int64_t> samples = checked_add(counts_.samples, shard.samples);
    const std::optional<int64_t> bytes = checked_add(counts_.bytes, shard.bytes);
    if (!samples || !bytes)
      return error(Code::kCorrupt, path, ": its shards add up to more than 2^63 - 1 samples or bytes");
    counts_.samples = *samples;
    counts_.bytes = *bytes;
    position_ = shard.position;
  }
  counts_.shards = static_cast<int64_t>(written.shards.size());
  counts_.resumed_samples = counts_.samples;
  return Status::ok();
}

Status Writer::append(std::vector<ArrayField> arrays, int64_t count, std::string_view position) {
  DL_RETURN_IF_ERROR(check_arrays(arrays, count));
  ThreadLock lock(mutex_);
  DL_RETURN_IF_ERROR(check_usable());
  if (count == 0) return Status::ok();
  const HostRows rows{arrays, count};
  DL_RETURN_IF_ERROR(encoder_->check(rows));
  Status status = write_rows(rows, position);
  return status.is_ok() ? Status::ok() : fail(std::move(status));
}

Status Writer::check_arrays(std::vector<ArrayField>& arrays, int64_t count) const {
  const std::vector<Field>& fields = head_->fields;
  if (count < 0) return error(Code::kInvalidArgument, "rows: expected 0 or more, got ", count);
  if (arrays.size() != fields.size()) {
    return error(Code::kMismatch, "arrays: expected ", fields.size(), ", one per field of the writer, got ",
                 arrays.size());
  }
  for (size_t f = 0; f < fields.size(); ++f) {
    if (same_type(arrays[f].field, fields[f])) continue;
    return error(Code::kMismatch, "array ", f, ": expected field '", fields[f].name, "' (",
                 field_type_text(fields[f]), "), got '", arrays[f].field.name, "' (",
                 field_type_text(arrays[f].field), ")");
  }
  return check_host_arrays(arrays, count);
}

Status Writer::check_usable() const {
  if (!failure_.is_ok()) return failure_;
  if (!finished_) return Status::ok();
  return error(Code::kWrongState, directory_.path(), ": the set is finished");
}

Status Writer::fail(Status status) {
  file_.reset();
  failure_ = std::move(status);
  return failure_;
}

Status Writer::write_rows(const HostRows& rows, std::string_view position) {
  if (!file_) DL_RETURN_IF_ERROR(begin_shard());
  DL_RETURN_IF_ERROR(encoder_->add(rows, counts_.samples, *file_));
  shard_.samples += rows.count;
  shard_.position = position;
  counts_.samples += rows.count;
  return file_->bytes() + encoder_->pending_bytes() < head_->shard_bytes ? Status::ok() : end_shard();
}

Status Writer::begin_shard() {
  if (counts_.shards == kMaxShards)
    return error(Code::kTooLarge, directory_.path(), ": more than ", kMaxShards,
                 " shards: raise shard_bytes");
  shard_ = {};
  shard_.name = shard_name(counts_.shards, format_.suffix);
  DL_ASSIGN_OR_RETURN(ShardFile file, ShardFile::create(directory_.path_of(shard_.name)));
  file_.emplace(std::move(file));
  return encoder_->begin(*file_);
}

// The file is durable before its line is.
Status Writer::end_shard() {
  DL_RETURN_IF_ERROR(encoder_->end(*file_));
  DL_RETURN_IF_ERROR(file_->commit());
  shard_.bytes = file_->bytes();
  shard_.crc32c = file_->crc32c();
  file_.reset();
  const std::string line = shard_line(shard_);
  DL_RETURN_IF_ERROR(manifest_->append(std::as_bytes(std::span(line))));
  counts_.bytes += shard_.bytes;
  ++counts_.shards;
  return Status::ok();
}

Status Writer::finish() {
  ThreadLock lock(mutex_);
  DL_RETURN_IF_ERROR(check_usable());
  if (counts_.samples == 0)
    return error(Code::kEmpty, directory_.path(),
                 ": no row was appended, and a set without rows cannot be read");
  const auto all = [&]() DL_REQUIRES(mutex_) -> Status {
    if (file_) DL_RETURN_IF_ERROR(end_shard());
    const std::string line = end_line(counts_.samples, counts_.bytes, counts_.shards);
    DL_RETURN_IF_ERROR(manifest_->append(std::as_bytes(std::span(line))));
    return directory_.publish();
  };
  Status status = all();
  if (!status.is_ok()) return fail(std::move(status));
  finished_ = true;
  return Status::ok();
}

WriterCounts Writer::counts() const {
  ThreadLock lock(mutex_);
  return counts_;
}

}  // namespace dataline
