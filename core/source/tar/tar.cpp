// Over 300 lines: one class, of which every function goes by the index and the columns.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/tar/tar.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "core/base/checked.h"
#include "core/base/text.h"
#include "core/source/file_source.h"
#include "core/source/files.h"
#include "core/source/identity.h"
#include "core/source/tar/tar_members.h"

namespace dataline {
namespace {

constexpr int64_t kTarAlignment = 64;
constexpr int64_t kMaxLabelBytes = 64;  // of the decimal text

// Where a field of the schema comes from.
struct TarColumn {
  enum class Kind { kMember, kLabel, kKey };
  Kind kind = Kind::kMember;
  size_t field = 0;  // of the index
  int64_t max_bytes = 0;
};

// As Python's int(), with which WebDataset reads them: 2, +2, -1, 0002. A fraction or an exponent is not a whole number.
std::optional<int64_t> whole_number(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return std::nullopt;
  text = text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  return parse_i64(text);
}

class TarSource final : public FileSource {
 public:
  TarSource(MappedFile file, Schema schema, SourceInfo info, TarIndex index, std::vector<TarColumn> columns,
            bool label_u8)
      : FileSource(std::move(file), std::move(schema), std::move(info)),
        index_(std::move(index)),
        columns_(std::move(columns)),
        label_u8_(label_u8) {}

  int64_t count() const override { return index_.count(); }
  void locate(Run& run) const override;
  int64_t scratch_bytes(int64_t max_bytes_per_sample) const override;
  void append_blocks(int64_t block_bytes, BlockEnds& ends) const override;
  int64_t record_items(int64_t index) const override;
  int64_t stored_bytes() const override {
    return std::max<int64_t>(file_.bytes() / std::max<int64_t>(count(), 1), 1);
  }
  Place place_of(int64_t index, size_t column) const override;
  void identify(IdentityBuilder& identity) const override {
    identity.add_schema(*this);
    identity.add("tar");
    for (const TarIndex::FieldOf& field : index_.fields()) {
      identity.add(field.name);
      identity.add(field.extension);
    }
    identity.add_file(file_);
  }

 private:
  Status locate_row(Run& run, int64_t row, std::byte* scratch) const;
  Status locate_member(Run& run, int64_t row, size_t column, std::byte* scratch) const;
  Status read_label(const Run& run, int64_t sample, const TarColumn& column, std::byte* out) const;
  Status check_present(int64_t sample, size_t field) const;
  std::string member_name(int64_t sample, size_t field) const;
  FileExtent extent_of(int64_t sample) const override;
  int64_t capacity(const TarColumn& column, int64_t max_bytes_per_sample) const {
    return round_up(std::min(column.max_bytes, max_bytes_per_sample), kTarAlignment);
  }

  TarIndex index_;
  std::vector<TarColumn> columns_;
  bool label_u8_;
};

// Per record: its label, and its members if they are read by pread.
int64_t TarSource::scratch_bytes(int64_t max_bytes_per_sample) const {
  int64_t total = 0;
  for (const TarColumn& column : columns_) {
    if (column.kind == TarColumn::Kind::kLabel) total += kTarAlignment;
    if (column.kind == TarColumn::Kind::kMember && !file_.addressable())
      total += capacity(column, max_bytes_per_sample);
  }
  return total;
}

// From a sample's first member to its last; they are adjacent.
FileExtent TarSource::extent_of(int64_t sample) const {
  int64_t begin = 0, end = 0;
  for (size_t f = 0; f < index_.fields().size(); ++f) {
    const TarExtent& member = index_.extent(sample, f);
    if (!member.present()) continue;
    begin = end == 0 ? member.offset() : std::min(begin, member.offset());
    end = std::max(end, member.offset() + member.bytes());
  }
  return {begin, end - begin};
}

// A sample takes what lies up to the next one's first member, headers included.
void TarSource::append_blocks(int64_t block_bytes, BlockEnds& ends) const {
  BlockCutter cutter(block_bytes, ends);
  for (int64_t i = 0, begin = 0; i < count(); ++i) {
    const FileExtent extent = extent_of(i);
    const int64_t end = std::max(extent.offset + extent.bytes, begin);  // samples without members lie nowhere
    cutter.add(end - begin);
    begin = end;
  }
  cutter.finish();
}

void TarSource::locate(Run& run) const {
  if (run.count == 0) return;
  for (size_t c = 0; c < columns_.size(); ++c) run.columns[c].contiguous = false;
  const bool whole = check_before(run.opened_ns);
  const bool populate = file_.addressable() && (!whole || run.cold);
  const int64_t stride = scratch_bytes(run.max_bytes_per_sample);
  for (int64_t i = 0; i < run.count; ++i) {
    const int64_t sample = run.indices[i];
    Status status = Status::ok();
    if (const FileExtent extent = extent_of(sample); populate) {
      status = file_.populate(extent.offset, extent.bytes);
    }
    if (status.is_ok()) status = locate_row(run, i, run.scratch + i * stride);
    if (!status.is_ok()) run.fail(i, columns_.size(), std::move(status));
  }
}

Status TarSource::locate_row(Run& run, int64_t row, std::byte* scratch) const {
  const int64_t sample = run.indices[row];
  for (size_t c = 0; c < columns_.size(); ++c) {
    const TarColumn& column = columns_[c];
    Run::ColumnRows& rows = run.columns[c];
    if (column.kind == TarColumn::Kind::kKey) {
      const std::string_view key = index_.key(sample);
      rows.data[row] = reinterpret_cast<const std::byte*>(key.data());
      rows.bytes[row] = static_cast<int64_t>(key.size());
      continue;
    }
    DL_RETURN_IF_ERROR(check_present(sample, column.field));
    if (column.kind == TarColumn::Kind::kMember) {
      DL_RETURN_IF_ERROR(locate_member(run, row, c, scratch));
      if (!file_.addressable()) scratch += capacity(column, run.max_bytes_per_sample);
    } else {
      DL_RETURN_IF_ERROR(read_label(run, sample, column, scratch));
      rows.data[row] = scratch;
      scratch += kTarAlignment;
    }
  }
  return Status::ok();
}

Status TarSource::locate_member(Run& run, int64_t row, size_t column, std::byte* scratch) const {
  const TarExtent& extent = index_.extent(run.indices[row], columns_[column].field);
  run.columns[column].bytes[row] = extent.bytes();
  if (file_.addressable()) {
    run.columns[column].data[row] = file_.at(extent.offset());
    return Status::ok();
  }
  run.columns[column].data[row] = scratch;
  if (extent.bytes() <= capacity(columns_[column], run.max_bytes_per_sample)) {
    const int64_t bytes = run.head_bytes > 0 ? std::min(run.head_bytes, extent.bytes()) : extent.bytes();
    run.columns[column].bytes[row] = bytes;
    return file_.read(extent.offset(), bytes, scratch, run.cancelled);
  }
  return error(Code::kTooLarge, file_.path(), ": offset ", extent.offset(), ": field '",
               schema_.fields[column].name, "': ", extent.bytes(), " bytes, max_bytes_per_sample is ",
               run.max_bytes_per_sample);
}

Status TarSource::check_present(int64_t sample, size_t field) const {
  if (index_.extent(sample, field).present()) return Status::ok();
  return error(Code::kCorrupt, file_.path(), ": offset ", extent_of(sample).offset, ": the sample ",
               printable(index_.key(sample)), " has no member for the field '", index_.fields()[field].name,
               "'; if the archive has one elsewhere: a sample's members must be adjacent (tar --sort=name)");
}

// Decimal text that may have blanks around it, as np.savetxt and shells write it.
Status TarSource::read_label(const Run& run, int64_t sample, const TarColumn& column, std::byte* out) const {
  const TarExtent& extent = index_.extent(sample, column.field);
  std::array<char, kMaxLabelBytes> text;
  const int64_t bytes = std::min(extent.bytes(), kMaxLabelBytes);
  if (file_.addressable()) {
    std::memcpy(text.data(), file_.at(extent.offset()), static_cast<size_t>(bytes));
  } else {
    DL_RETURN_IF_ERROR(
        file_.read(extent.offset(), bytes, reinterpret_cast<std::byte*>(text.data()), run.cancelled));
  }
  const std::string_view shown(text.data(), static_cast<size_t>(bytes));
  const std::optional<int64_t> label = bytes < extent.bytes() ? std::nullopt : whole_number(shown);
  if (label && (!label_u8_ || (*label >= 0 && *label <= UINT8_MAX))) {
    const auto small = static_cast<uint8_t>(*label);
    std::memcpy(out, label_u8_ ? static_cast<const void*>(&small) : &*label, label_u8_ ? 1 : sizeof *label);
    return Status::ok();
  }
  return error(label ? Code::kOutOfRange : Code::kCorrupt, file_.path(), ": offset ", extent.offset(),
               ": member ", printable(concat(index_.key(sample), ".cls")), ": label ", printable(shown),
               label ? " is not in 0 .. 255 (label_dtype=u8)" : ", expected a whole number");
}

// Bytes of the first member that is a field; a sample that lacks it is bad, whatever its length.
int64_t TarSource::record_items(int64_t index) const {
  for (const TarColumn& column : columns_) {
    if (column.kind != TarColumn::Kind::kMember) continue;
    const TarExtent& extent = index_.extent(index, column.field);
    return extent.present() ? extent.bytes() : 0;
  }
  return -1;
}

// The name in the archive. One that is too long for its header is rebuilt from the index.
std::string TarSource::member_name(int64_t sample, size_t field) const {
  const std::string_view key = index_.key(sample);
  const int64_t header_offset = index_.extent(sample, field).offset() - kTarBlockBytes;
  std::array<std::byte, kTarBlockBytes> block;
  if (file_.read(header_offset, kTarBlockBytes, block.data()).is_ok()) {
    const Result<TarHeader> header = parse_tar_header(file_.path(), header_offset, block.data());
    if (header.is_ok()) {
      const TarHeader& read = header.value();
      std::string name = concat(read.prefix, read.prefix.empty() ? "" : "/", read.name);
      if (name.starts_with(concat(key, "."))) return name;
    }
  }
  return concat(key, ".", index_.fields()[field].extension);
}

Place TarSource::place_of(int64_t index, size_t column) const {
  constexpr size_t kMaxNameBytes = 80;
  const bool key = columns_[column].kind == TarColumn::Kind::kKey;
  const size_t field = columns_[column].field;
  if (key || !index_.extent(index, field).present()) {
    return {file_.path(), concat("sample ", tail_of(index_.key(index), kMaxNameBytes), ", offset ",
                                 extent_of(index).offset)};
  }
  return {file_.path(), concat("member ", tail_of(member_name(index, field), kMaxNameBytes), ", offset ",
                               index_.extent(index, field).offset())};
}

// The named fields, or else all fields of the index, then the key.
std::vector<TarColumn> columns_of(const TarIndex& index, const TarOptions& options) {
  std::vector<TarColumn> columns;
  auto add = [&](size_t f) {
    const bool label = index.fields()[f].name == "label";
    columns.push_back(
        {label ? TarColumn::Kind::kLabel : TarColumn::Kind::kMember, f, index.fields()[f].max_bytes});
  };
  const TarColumn key{TarColumn::Kind::kKey, 0, index.longest_key()};
  size_t next = 0;
  for (const std::string& wanted : options.fields) {
    if (wanted == "key") {
      columns.push_back(key);
    } else {
      add(next++);
    }
  }
  if (!options.fields.empty()) return columns;
  for (size_t f = 0; f < index.fields().size(); ++f) add(f);
  columns.push_back(key);
  return columns;
}

Schema schema_of(const TarIndex& index, const std::vector<TarColumn>& columns, bool label_u8) {
  std::vector<Field> fields;
  for (const TarColumn& column : columns) {
    if (column.kind == TarColumn::Kind::kLabel) {
      fields.push_back({"label", FieldKind::kDense, label_u8 ? DType::kU8 : DType::kI64, {}, "", -1});
    } else {
      const bool key = column.kind == TarColumn::Kind::kKey;
      fields.push_back({key ? "key" : index.fields()[column.field].name,
                        FieldKind::kRagged,
                        DType::kU8,
                        {-1},
                        "",
                        column.max_bytes});
    }
  }
  return column_per_field(std::move(fields));
}

// Says what the file is if its first block is not a tar header.
Status explain_start(const MappedFile& file, Status status) {
  const std::string what = describe_first_bytes(file);
  if (what.starts_with("bytes ") || file.bytes() == 0) return status;
  if (what.find("gzip") == 0 || what.find("zstd") == 0 || what.find("xz") == 0 || what.find("bzip2") == 0) {
    return error(
        Code::kUnsupported, file.path(), ": offset 0: this is ", what,
        ": a compressed archive has no random access; decompress it first (gunzip, unzstd, xz -d, bunzip2)");
  }
  return error(Code::kCorrupt, file.path(), ": offset 0: expected a tar archive, got ", what);
}

Status check_start(const MappedFile& file) {
  if (file.bytes() < kTarBlockBytes) {
    return explain_start(file,
                         error(Code::kTruncated, file.path(), ": offset 0: a tar archive needs at least ",
                               kTarBlockBytes, " bytes, the file has ", file.bytes()));
  }
  std::array<std::byte, kTarBlockBytes> block;
  DL_RETURN_IF_ERROR(file.read(0, kTarBlockBytes, block.data()));
  if (is_zero_block(block.data())) return Status::ok();
  Result<TarHeader> header = parse_tar_header(file.path(), 0, block.data());
  return header.is_ok() ? Status::ok() : explain_start(file, header.take_status());
}

}  // namespace

Result<SourceRef> open_tar(MappedFile file, const TarOptions& options, const OpenContext& context) {
  if (Status start = check_start(file);
      !start.is_ok() && !(options.skip_damage && start.code() == Code::kCorrupt))
    return start;
  DL_RETURN_IF_ERROR(file.load(context));
  DL_ASSIGN_OR_RETURN(TarIndex index, TarIndex::read(file, options, context));
  std::vector<TarColumn> columns = columns_of(index, options);
  Schema schema = schema_of(index, columns, options.label_u8);
  SourceInfo info{"tar", file.path(), index.notes()};
  return SourceRef(std::make_shared<TarSource>(std::move(file), std::move(schema), std::move(info),
                                               std::move(index), std::move(columns), options.label_u8));
}

Result<SourceRef> open_tar(const std::string& path, const TarOptions& options, const OpenContext& context) {
  DL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open_unloaded(path, context));
  return open_tar(std::move(file), options, context);
}

}  // namespace dataline
