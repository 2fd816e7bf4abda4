// SPDX-License-Identifier: Apache-2.0
#include "core/source/flat_file.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/checked.h"
#include "core/source/identity.h"

namespace dataline {
namespace {

constexpr int64_t kBlock = 16;  // a fixed inner loop, which compilers vectorize even at -O2

// Reverses each element of sizeof(Word) bytes within eight bytes.
template <typename Word>
uint64_t swap_eight(uint64_t eight) {
  if constexpr (sizeof(Word) == 2) {
    constexpr uint64_t kLowBytes = 0x00ff00ff00ff00ffu;
    return ((eight & kLowBytes) << 8) | ((eight >> 8) & kLowBytes);
  }
  // Reversing all eight bytes also exchanges the two halves.
  if constexpr (sizeof(Word) == 4) return std::rotl(swap_bytes(eight), 32);
  if constexpr (sizeof(Word) == 8) return swap_bytes(eight);
}

template <typename Word>
void swap_elements(const std::byte* from, int64_t bytes, std::byte* to) {
  int64_t at = 0;
  for (; at + 8 <= bytes; at += 8) {
    uint64_t eight = swap_eight<Word>(load_native<uint64_t>(from + at));
    std::memcpy(to + at, &eight, sizeof eight);
  }
  for (; at < bytes; at += static_cast<int64_t>(sizeof(Word))) {
    Word word = swap_bytes(load_native<Word>(from + at));
    std::memcpy(to + at, &word, sizeof word);
  }
}

void widen_labels(const std::byte* from, int64_t count, std::byte* to) {
  for (int64_t i = 0; i < count; ++i) {
    auto label = std::to_integer<int64_t>(from[i]);
    std::memcpy(to + i * int64_t{sizeof label}, &label, sizeof label);
  }
}

// Formats compute layouts with checked arithmetic and report their own errors; this is the last line of defense.
Status check_layout(const MappedFile& file, const Schema& schema, const FlatLayout& layout) {
  bool sound = layout.data_offset >= 0 && layout.record_stride > 0 && layout.record_bytes > 0 &&
               layout.record_count >= 0 && layout.columns.size() == schema.columns.size() &&
               schema.places.size() == schema.fields.size();
  for (size_t c = 0; sound && c < layout.columns.size(); ++c) {
    const FlatColumn& column = layout.columns[c];
    sound = extent_fits(column.offset, column.stored_bytes, layout.record_bytes) &&
            converted_bytes(column.conversion, column.stored_bytes) == schema.columns[c].row_bytes &&
            column.stored_bytes % conversion_element_bytes(column.conversion) == 0;
  }
  if (!sound) return error(Code::kInternal, file.path(), ": schema and layout of the records do not match");
  if (layout.record_bytes > kMaxRecordBytes) {
    return error(Code::kTooLarge, file.path(), ": offset ", layout.data_offset, ": records of ",
                 layout.record_bytes, " bytes, at most ", kMaxRecordBytes);
  }
  if (layout.record_count == 0) return Status::ok();
  std::optional<int64_t> span = checked_multiply(layout.record_count - 1, layout.record_stride);
  if (span) span = checked_add(*span, layout.record_bytes);
  if (span && extent_fits(layout.data_offset, *span, file.bytes())) return Status::ok();
  return error(Code::kTruncated, file.path(), ": offset ", layout.data_offset, ": ", layout.record_count,
               " records need ", span ? std::to_string(*span) : "more than 2^63", " bytes, the file has ",
               std::max<int64_t>(file.bytes() - layout.data_offset, 0));
}

}  // namespace

FlatConversion swap_conversion(DType dtype) {
  const bool pairs = dtype == DType::kC64 || dtype == DType::kC128;
  const int64_t bytes = dtype_bytes(dtype) / (pairs ? 2 : 1);
  return bytes == 1 ? FlatConversion::kNone : static_cast<FlatConversion>(bytes);
}

int64_t conversion_element_bytes(FlatConversion conversion) {
  return conversion == FlatConversion::kNone ? 1 : static_cast<int64_t>(conversion);
}

int64_t converted_bytes(FlatConversion conversion, int64_t stored_bytes) {
  return conversion == FlatConversion::kU8ToI64 ? stored_bytes * int64_t{sizeof(int64_t)} : stored_bytes;
}

void convert_bytes(FlatConversion conversion, const std::byte* from, int64_t stored_bytes, std::byte* to) {
  switch (conversion) {
    case FlatConversion::kNone:
      break;
    case FlatConversion::kSwap2:
      return swap_elements<uint16_t>(from, stored_bytes, to);
    case FlatConversion::kSwap4:
      return swap_elements<uint32_t>(from, stored_bytes, to);
    case FlatConversion::kSwap8:
      return swap_elements<uint64_t>(from, stored_bytes, to);
    case FlatConversion::kU8ToI64:
      return widen_labels(from, stored_bytes, to);
  }
}

Result<ArraySize> size_of_array(std::string_view array, DType dtype, std::span<const int64_t> shape,
                                int64_t header_bytes) {
  const std::span<const int64_t> sample = shape.subspan(1);
  if (std::find(sample.begin(), sample.end(), 0) != sample.end()) {
    return error(Code::kUnsupported, array, ": its samples hold no bytes");
  }
  const std::optional<int64_t> items = checked_product(sample);
  const std::optional<int64_t> record = items ? checked_multiply(*items, dtype_bytes(dtype)) : std::nullopt;
  const std::optional<int64_t> data = record ? checked_multiply(*record, shape[0]) : std::nullopt;
  const std::optional<int64_t> total = data ? checked_add(*data, header_bytes) : std::nullopt;
  if (!total) return error(Code::kCorrupt, array, " has more than 2^63 bytes");
  return ArraySize{*record, *total};
}

Status check_data_bytes(const MappedFile& file, int64_t offset, int64_t bytes, std::string_view array,
                        std::string_view advice) {
  const int64_t present = file.bytes() - offset;
  if (bytes > present) {
    return error(Code::kTruncated, file.path(), ": offset ", offset, ": ", array, " needs ", bytes,
                 " bytes, the file has ", present);
  }
  if (bytes == present) return Status::ok();
  return error(Code::kCorrupt, file.path(), ": offset ", offset + bytes, ": ", present - bytes,
               " bytes after the ", array, " of ", bytes, " bytes", advice);
}

Result<int64_t> whole_records(const MappedFile& file, int64_t offset, const ArraySize& size, int64_t count,
                              std::string_view array, std::vector<std::string>& notes) {
  const int64_t present = file.bytes() - offset;
  if (present == size.total_bytes) return count;
  const int64_t whole = std::min(count, present / size.record_bytes);
  if (whole == 0) return check_data_bytes(file, offset, size.total_bytes, array, "");
  const int64_t end = offset + whole * size.record_bytes;  // in the file: no overflow
  notes.push_back(concat(kDamaged, file.path(), ": ", present < size.total_bytes ? "cut: " : "",
                         file.bytes() - end, " bytes from offset ", end, " on are left out: ", array, " has ",
                         size.total_bytes, " bytes, the file has ", present));
  return whole;
}

template <typename File>
FlatFile::FlatFile(File file, Schema schema, FlatLayout layout, SourceInfo info)
    : FileSource(std::move(file), std::move(schema), std::move(info)), layout_(std::move(layout)) {
  if (!file_.addressable()) read_scratch_bytes_ = round_up(layout_.record_bytes, kScratchAlignment);
  for (const FlatColumn& column : layout_.columns) {
    bool converted = column.conversion != FlatConversion::kNone;
    converted_scratch_bytes_.push_back(
        converted ? round_up(converted_bytes(column.conversion, column.stored_bytes), kScratchAlignment) : 0);
  }
}

Result<SourceRef> FlatFile::create(MappedFile file, Schema schema, FlatLayout layout, SourceInfo info) {
  DL_RETURN_IF_ERROR(check_layout(file, schema, layout));
  return SourceRef(new FlatFile(std::move(file), std::move(schema), std::move(layout), std::move(info)));
}

Result<SourceRef> FlatFile::create(WatchedFileRef file, Schema schema, FlatLayout layout, SourceInfo info) {
  DL_RETURN_IF_ERROR(check_layout(file->file(), schema, layout));
  return SourceRef(new FlatFile(std::move(file), std::move(schema), std::move(layout), std::move(info)));
}

int64_t FlatFile::scratch_bytes(int64_t) const {
  int64_t total = read_scratch_bytes_;
  for (int64_t bytes : converted_scratch_bytes_) total += bytes;
  return total;
}

void FlatFile::locate(Run& run) const {
  if (run.count == 0) return;
  const bool whole = check_before(run.opened_ns);
  if (!file_.addressable()) {
    read_rows(run);
  } else {
    point_into(run, file_.at(layout_.data_offset));
    // Takes back the pointers of rows that turn out to be missing.
    if (!whole || run.cold) populate_rows(run);
  }
  convert_columns(run);
}

void FlatFile::point_into(Run& run, const std::byte* base) const {
  const int64_t stride = layout_.record_stride;
  const int64_t count = run.count;
  const int64_t* indices = run.indices;
  for (size_t c = 0; c < layout_.columns.size(); ++c) {
    const std::byte* column = base + layout_.columns[c].offset;
    const std::byte** data = run.columns[c].data;
    if (run.contiguous) {
      column += indices[0] * stride;
      int64_t i = 0;
      for (; i + kBlock <= count; i += kBlock) {
        for (int64_t k = 0; k < kBlock; ++k) data[i + k] = column + (i + k) * stride;
      }
      for (; i < count; ++i) data[i] = column + i * stride;
    } else {
      for (int64_t i = 0; i < count; ++i) data[i] = column + indices[i] * stride;
    }
    run.columns[c].contiguous = count <= 1 || (run.contiguous && stride == layout_.columns[c].stored_bytes);
  }
}

// Rows that cannot be faulted in fail separately. Consecutive records are tried together first.
void FlatFile::populate_rows(Run& run) const {
  bool together = run.contiguous && run.count > 1;
  if (together && file_.populate(record_offset(run.indices[0]), span_bytes(run.count)).is_ok()) return;
  for (int64_t i = 0; i < run.count; ++i) {
    Status status = file_.populate(record_offset(run.indices[i]), layout_.record_bytes);
    if (!status.is_ok()) run.fail(i, layout_.columns.size(), std::move(status));
  }
}

// One pread for consecutive records, unless there are gaps between them. False if that failed.
bool FlatFile::read_together(Run& run) const {
  if (!run.contiguous || run.count < 2 || layout_.record_stride > layout_.record_bytes) return false;
  return file_.read(record_offset(run.indices[0]), span_bytes(run.count), run.scratch, run.cancelled).is_ok();
}

void FlatFile::read_rows(Run& run) const {
  bool together = read_together(run);
  int64_t step = together ? layout_.record_stride : layout_.record_bytes;
  for (size_t c = 0; c < layout_.columns.size(); ++c) {
    run.columns[c].contiguous = run.count <= 1 || step == layout_.columns[c].stored_bytes;
    const std::byte* column = run.scratch + layout_.columns[c].offset;
    for (int64_t i = 0; i < run.count; ++i) run.columns[c].data[i] = column + i * step;
  }
  for (int64_t i = 0; i < run.count && !together; ++i) {
    Status status = file_.read(record_offset(run.indices[i]), layout_.record_bytes, run.scratch + i * step,
                               run.cancelled);
    if (!status.is_ok()) run.fail(i, layout_.columns.size(), std::move(status));
  }
}

void FlatFile::convert_columns(Run& run) const {
  std::byte* target = run.scratch + run.count * read_scratch_bytes_;
  for (size_t c = 0; c < layout_.columns.size(); ++c) {
    const FlatColumn& column = layout_.columns[c];
    if (column.conversion == FlatConversion::kNone) continue;
    int64_t row_bytes = converted_bytes(column.conversion, column.stored_bytes);
    bool complete = true;
    for (int64_t i = 0; i < run.count; ++i) {
      const std::byte*& data = run.columns[c].data[i];
      if (data == nullptr) {
        complete = false;
        continue;
      }
      convert_bytes(column.conversion, data, column.stored_bytes, target + i * row_bytes);
      data = target + i * row_bytes;
    }
    run.columns[c].contiguous = complete;
    target += run.count * converted_scratch_bytes_[c];
  }
}

Place FlatFile::place_of(int64_t index, size_t column) const {
  return {file_.path(),
          concat("record ", index, ", offset ", record_offset(index) + layout_.columns[column].offset,
                 file_.inflated() ? " after decompression" : "")};
}

void FlatFile::identify(IdentityBuilder& identity) const {
  identity.add_schema(*this);
  identity.add_file(file_);
  identity.add(static_cast<uint64_t>(layout_.data_offset));
  identity.add(static_cast<uint64_t>(layout_.record_stride));
}

}  // namespace dataline
