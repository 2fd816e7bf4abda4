// SPDX-License-Identifier: Apache-2.0
#include "core/source/host/host.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/base/checked.h"

namespace dataline {
namespace {

constexpr int64_t kMaxRecordsPerCall = 64;  // promised to the host in dataline.h
constexpr int64_t kMaxCells = 512;          // of one call, on the worker's stack: 16 KiB
static_assert(kMaxCells >= static_cast<int64_t>(kMaxHostFields), "a call reads at least one record");

// The host's message as one line: up to the first NUL, control characters as spaces.
std::string host_text(const char* message) {
  std::string text(message, strnlen(message, kReaderMessageBytes));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return text;
}

class Reader final : public Source {
 public:
  Reader(Schema schema, ReaderTable table) : schema_(std::move(schema)), table_(std::move(table)) {}

  void own_context() noexcept { loan_.take({table_.context, table_.destroy}); }

  int64_t count() const override { return table_.record_count; }
  const Schema& schema() const override { return schema_; }
  SourceInfo info() const override { return {"reader", "", {}}; }

  void locate(Run& run) const override {
    place_cells(run);
    const int64_t rows_per_call =
        std::min({run.count, kMaxRecordsPerCall, kMaxCells / static_cast<int64_t>(field_count())});
    for (int64_t first = 0; first < run.count; first += rows_per_call) {
      read_rows(run, first, std::min(rows_per_call, run.count - first));
    }
  }

  int64_t scratch_bytes(int64_t max_bytes_per_sample) const override {
    int64_t bytes = 0;
    for (const Field& field : schema_.fields) bytes += cell_stride(field, max_bytes_per_sample);
    return bytes;
  }
  void fingerprint(Digest& digest) const override {
    fingerprint_schema(*this, digest);
    digest.add("reader");
    digest.add(table_.fingerprint);
  }
  Place place_of(int64_t index, size_t) const override { return {"", concat("reader: sample ", index)}; }
  bool calls_host() const override { return true; }

 private:
  static int64_t capacity(const Field& field, int64_t max_bytes_per_sample) {
    if (field.kind == FieldKind::kDense) return field.bytes();
    return field.max_bytes >= 0 ? std::min(field.max_bytes, max_bytes_per_sample) : max_bytes_per_sample;
  }
  // At least 64, so that each cell has its own address.
  static int64_t cell_stride(const Field& field, int64_t max_bytes_per_sample) {
    return std::max<int64_t>(round_up(capacity(field, max_bytes_per_sample), 64), 64);
  }

  size_t field_count() const { return schema_.fields.size(); }

  // Scratch holds one block of rows per field, so that rows of multiples of 64 bytes are contiguous.
  void place_cells(Run& run) const {
    std::byte* block = run.scratch;
    for (size_t f = 0; f < field_count(); ++f) {
      int64_t stride = cell_stride(schema_.fields[f], run.max_bytes_per_sample);
      for (int64_t i = 0; i < run.count; ++i) run.columns[f].data[i] = block + i * stride;
      run.columns[f].contiguous = stride == schema_.columns[f].row_bytes;
      block += run.count * stride;
    }
  }

  void read_rows(Run& run, int64_t first, int64_t count) const {
    std::array<ReaderCell, kMaxCells> cells;
    ReaderCell* cell = cells.data();
    for (int64_t row = first; row < first + count; ++row) {
      for (size_t f = 0; f < field_count(); ++f) {
        const Field& field = schema_.fields[f];
        int64_t room = capacity(field, run.max_bytes_per_sample);
        bool dense = field.kind == FieldKind::kDense;
        *cell++ = {const_cast<std::byte*>(run.columns[f].data[row]), room, dense ? room : 0, 0, 0};
      }
    }
    std::array<char, kReaderMessageBytes> message{};
    int32_t code =
        table_.read(table_.context, run.indices + first, count, cells.data(), message.data(), message.size());
    for (int64_t row = first; row < first + count; ++row) {
      if (code != 0) {
        fail_row(run, row, code, message.data());
      } else {
        take_row(run, row, &cells[static_cast<size_t>(row - first) * field_count()], message.data());
      }
    }
  }

  void take_row(Run& run, int64_t row, const ReaderCell* cells, const char* message) const {
    for (size_t f = 0; f < field_count(); ++f) {
      if (cells[f].status != 0) return fail_row(run, row, cells[f].status, message);
    }
    for (size_t f = 0; f < field_count(); ++f) {
      Status status = check_cell(schema_.fields[f], cells[f], run.indices[row], run.max_bytes_per_sample);
      if (!status.is_ok()) return run.fail(row, field_count(), std::move(status));
      if (schema_.fields[f].kind == FieldKind::kRagged) run.columns[f].bytes[row] = cells[f].bytes;
    }
  }

  Status check_cell(const Field& field, const ReaderCell& cell, int64_t index,
                    int64_t max_bytes_per_sample) const {
    auto refuse = [&](Code code, const auto&... parts) {
      return error(code, "reader: sample ", index, ": field '", field.name, "': ", cell.bytes, " bytes",
                   parts...);
    };
    if (field.kind == FieldKind::kDense) {
      if (cell.bytes == field.bytes()) return Status::ok();
      return refuse(Code::kReader, " reported, expected ", field.bytes());
    }
    const int64_t room = capacity(field, max_bytes_per_sample);
    if (cell.bytes < 0) return refuse(Code::kReader, " reported");
    if (cell.bytes > room && room < max_bytes_per_sample) {
      return refuse(Code::kTooLarge, ", at most ", room, " by the field's own max_bytes");
    }
    if (cell.bytes > room)
      return refuse(Code::kTooLarge, ", at most ", room, " by the option max_bytes_per_sample");
    if (cell.bytes % field.item_bytes() == 0) return Status::ok();
    return refuse(Code::kReader, " reported, expected a multiple of ", field.item_bytes());
  }

  void fail_row(Run& run, int64_t row, int64_t host_code, const char* message) const {
    std::string text = host_text(message);
    Status status = error(Code::kReader, "reader: sample ", run.indices[row], ": failed with code ",
                          host_code, text.empty() ? "" : ": ", text);
    run.fail(row, field_count(), std::move(status));
  }

  Schema schema_;
  ReaderTable table_;
  HostLoan loan_;
};

}  // namespace

Result<SourceRef> reader_source(std::vector<Field> fields, ReaderTable table) {
  if (table.read == nullptr) return error(Code::kInvalidArgument, "reader: read is null");
  if (table.record_count < 0)
    return error(Code::kInvalidArgument, "reader: record_count is ", table.record_count);
  DL_RETURN_IF_ERROR(check_host_fields(fields, "reader"));
  auto reader = std::make_shared<Reader>(column_per_field(std::move(fields)), std::move(table));
  reader->own_context();
  return SourceRef(std::move(reader));
}

}  // namespace dataline
