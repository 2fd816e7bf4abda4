// Over 300 lines: one class, whose calls, answers and blocks share a table.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/host/host.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/base/checked.h"
#include "core/base/message_text.h"
#include "core/source/host/host_files.h"
#include "core/source/identity.h"
#include "core/source/leaf_source.h"

namespace dataline {
namespace {

constexpr size_t kMaxRecordsPerCall = 64;  // promised to the host in dataline.h
constexpr size_t kMaxCells = 512;          // of one call
static_assert(kMaxCells >= kMaxHostFields, "a call reads at least one record");
static_assert(sizeof(Atomic<int32_t>) == sizeof(int32_t) || kThreadsScheduled,
              "the host reads the flag itself");

constexpr std::array<int64_t, kMaxRecordsPerCall> kNoSlots = [] {
  std::array<int64_t, kMaxRecordsPerCall> slots{};
  slots.fill(-1);
  return slots;
}();

// What one call is given, on the stack of the thread that reads: 48 KiB, of which it touches what its records need.
struct CallMemory {
  std::array<ReaderCell, kMaxCells> cells;
  std::array<char, kMaxRecordsPerCall * kReaderMessageBytes> messages;
};

// The host's message as one line, up to the first NUL.
std::string host_text(const char* message) {
  return message_text(without_cut_character({message, strnlen(message, kReaderMessageBytes)}));
}

class Reader final : public LeafSource {
 public:
  Reader(Schema schema, ReaderTable table, Block block_ends)
      : schema_(std::move(schema)), table_(std::move(table)), block_ends_(std::move(block_ends)) {
    facts_.host_calls = table_.prompt ? HostCalls::kPrompt : HostCalls::kMayBlock;
    facts_.opens_blocks = table_.advise != nullptr && table_.block_ends != nullptr;
    if (table_.held_blocks != 0) facts_.held_blocks = table_.held_blocks;
    for (const Column& column : schema_.columns) {
      row_bytes_.push_back(column.row_bytes);
      dense_ = dense_ && column.row_bytes >= 0;
    }
  }

  void own_context() noexcept { loan_.take({table_.context, table_.destroy}); }

  int64_t count() const override { return table_.record_count; }
  const Schema& schema() const override { return schema_; }
  SourceInfo info() const override { return {"reader", "", {}}; }
  const SourceFacts& facts() const override { return facts_; }

  void locate(Run& run) const override {
    place_cells(run);
    const auto rows_per_call = static_cast<int64_t>(std::min(kMaxRecordsPerCall, kMaxCells / field_count()));
    bool borrowed = false;
    for (int64_t first = 0; first < run.count; first += rows_per_call) {
      borrowed = read_rows(run, first, std::min(rows_per_call, run.count - first)) || borrowed;
    }
    if (borrowed) find_contiguous(run);
  }

  int64_t scratch_bytes(int64_t max_bytes_per_sample) const override {
    int64_t bytes = 0;
    for (const Field& field : schema_.fields) bytes += cell_stride(field, max_bytes_per_sample);
    return bytes;
  }
  void identify(IdentityBuilder& identity) const override {
    identity.add_schema(*this);
    identity.add("reader");
    identity.add(table_.fingerprint);
    if (table_.files != nullptr) return identity.add_files(table_.files);
    if (table_.fingerprint.empty()) identity.add_unknown("a reader without files or a fingerprint");
  }
  // A reader that names no data may deliver other records at any time.
  std::optional<uint64_t> stamp(int64_t index) const override {
    if (table_.files == nullptr && table_.fingerprint.empty()) return std::nullopt;
    Digest digest;
    digest.add(table_.fingerprint);
    if (table_.files != nullptr) {
      const std::optional<uint64_t> stamp = table_.files->stamp(index);
      if (!stamp) return std::nullopt;
      digest.add(*stamp);
    }
    return digest.value();
  }
  Place place_of(int64_t index, size_t) const override { return {"", concat("reader: record ", index)}; }
  void append_blocks(int64_t block_bytes, BlockEnds& ends) const override {
    if (table_.block_ends == nullptr) return LeafSource::append_blocks(block_bytes, ends);
    const int64_t begin = ends.empty() ? 0 : ends.back();
    for (int64_t i = 0; i < table_.block_count; ++i) ends.push_back(begin + table_.block_ends[i]);
  }
  void advise_block(int64_t first, int64_t count) const override {
    if (!facts_.opens_blocks) return;
    const int64_t* const ends = table_.block_ends;
    for (int64_t block = std::upper_bound(ends, ends + table_.block_count, first) - ends, begin = first;
         begin < first + count; begin = ends[block++]) {
      table_.advise(table_.context, block);
    }
  }

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

  static const CancelFlag& flag_of(const Run& run) {
    return run.cancelled != nullptr ? *run.cancelled : kNeverCancelled;
  }

  // Returns whether a row lies in the host's memory.
  bool read_rows(Run& run, int64_t first, int64_t count) const {
    const auto cancelled = [&] { return flag_of(run).load(std::memory_order_relaxed) != 0; };
    if (cancelled()) return cancel_rows(run, first, count), false;
    run.call->loans->make_room();
    CallMemory memory;
    ReaderRequest request = ask(run, first, count, memory);
    const int32_t code = table_.read(table_.context, &request);
    if (request.release != nullptr) run.call->loans->add({request.release_context, request.release});
    if (code != 0 && cancelled()) return cancel_rows(run, first, count), false;
    if (code == kReaderInterrupted) return interrupt_rows(run, first, count), false;
    bool borrowed = false;
    for (int64_t row = first; row < first + count; ++row) {
      const auto record = static_cast<size_t>(row - first);
      const ReaderCell* const cells = &memory.cells[record * field_count()];
      const char* text = memory.messages.data() + record * kReaderMessageBytes;
      if (code != 0) {
        fail_row(run, row, code, *text != 0 ? text : memory.messages.data());
      } else if (!dense_ || !as_asked(cells)) {
        borrowed = take_row(run, row, cells, text) || borrowed;
      }
    }
    return borrowed;
  }

  // Of dense fields: that nothing has to be looked at, as in nearly all rows; the values are where the cells said.
  bool as_asked(const ReaderCell* cells) const {
    const int64_t* const row_bytes = row_bytes_.data();
    uint64_t other = 0;
    for (size_t f = 0, fields = row_bytes_.size(); f < fields; ++f) {
      other |= static_cast<uint32_t>(cells[f].status) | static_cast<uint64_t>(cells[f].bytes ^ row_bytes[f]) |
               reinterpret_cast<uintptr_t>(cells[f].borrowed);
    }
    return other == 0;
  }

  ReaderRequest ask(const Run& run, int64_t first, int64_t count, CallMemory& memory) const {
    const size_t fields = field_count();
    for (size_t f = 0; f < fields; ++f) {
      const int64_t row_bytes = row_bytes_[f];
      const int64_t room = row_bytes >= 0 ? row_bytes : capacity(schema_.fields[f], run.max_bytes_per_sample);
      const std::byte* const* const data = run.columns[f].data + first;
      ReaderCell* cell = memory.cells.data() + f;
      for (int64_t record = 0; record < count; ++record, cell += fields) {
        *cell = {.data = const_cast<std::byte*>(data[record]),
                 .capacity = room,
                 .bytes = std::max<int64_t>(row_bytes, 0),
                 .borrowed = nullptr,
                 .status = 0,
                 .reserved32 = 0,
                 .reserved = {}};
      }
    }
    std::memset(memory.messages.data(), 0, static_cast<size_t>(count) * kReaderMessageBytes);
    return {.struct_size = sizeof(ReaderRequest),
            .record_count = static_cast<int32_t>(count),
            .field_count = static_cast<int32_t>(field_count()),
            .cell_bytes = sizeof(ReaderCell),
            .indices = run.indices + first,
            .slots = run.slots != nullptr ? run.slots + first : kNoSlots.data(),
            .epoch = run.call->epoch,
            .seed = run.call->seed,
            .cancelled = word_of(flag_of(run)),
            .cells = memory.cells.data(),
            .messages = memory.messages.data(),
            .message_bytes = kReaderMessageBytes};
  }

  bool take_row(Run& run, int64_t row, const ReaderCell* cells, const char* message) const {
    for (size_t f = 0; f < field_count(); ++f) {
      if (cells[f].status != 0) return fail_row(run, row, cells[f].status, message), false;
    }
    bool borrowed = false;
    for (size_t f = 0; f < field_count(); ++f) {
      const int64_t row_bytes = schema_.columns[f].row_bytes;
      if (row_bytes < 0 || cells[f].bytes != row_bytes) {  // ragged, or wrong
        Status status = check_cell(schema_.fields[f], cells[f], run.indices[row], run.max_bytes_per_sample);
        if (!status.is_ok()) return run.fail(row, field_count(), std::move(status)), false;
      }
      if (schema_.fields[f].kind == FieldKind::kRagged) run.columns[f].bytes[row] = cells[f].bytes;
      if (cells[f].borrowed == nullptr) continue;
      run.columns[f].data[row] = static_cast<const std::byte*>(cells[f].borrowed);
      borrowed = true;
    }
    return borrowed;
  }

  // What the host lends may lie in one piece, or not where the scratch would have been.
  void find_contiguous(Run& run) const {
    for (size_t f = 0; f < field_count(); ++f) {
      Run::ColumnRows& column = run.columns[f];
      column.contiguous = schema_.columns[f].row_bytes >= 0 && column.data[0] != nullptr;
      for (int64_t i = 1; column.contiguous && i < run.count; ++i) {
        column.contiguous =
            column.data[i] != nullptr && column.data[i] == column.data[i - 1] + schema_.columns[f].row_bytes;
      }
    }
  }

  void cancel_rows(Run& run, int64_t first, int64_t count) const {
    end_rows(run, first, count, Code::kCancelled, "cancelled");
  }
  void interrupt_rows(Run& run, int64_t first, int64_t count) const {
    end_rows(run, first, count, Code::kInterrupted, "interrupted");
  }
  void end_rows(Run& run, int64_t first, int64_t count, Code code, const char* how) const {
    for (int64_t row = first; row < first + count; ++row) {
      run.fail(row, field_count(),
               error(code, "reader: record ", run.indices[row], ": ", how, " while it was read"));
    }
  }

  Status check_cell(const Field& field, const ReaderCell& cell, int64_t index,
                    int64_t max_bytes_per_sample) const {
    auto refuse = [&](Code code, const auto&... parts) {
      return error(code, "reader: record ", index, ": field '", field.name, "': ", cell.bytes, " bytes",
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
    const std::string text = host_text(message);
    Status status = error(Code::kReader, "reader: record ", run.indices[row], ": failed with code ",
                          host_code, text.empty() ? "" : ": ", text);
    run.fail(row, field_count(), std::move(status));
  }

  Schema schema_;
  std::vector<int64_t> row_bytes_;  // of each column; -1: ragged
  bool dense_ = true;               // none is
  ReaderTable table_;               // block_ends: those of block_ends_
  SourceFacts facts_;
  Block block_ends_;
  HostLoan loan_;
};

Status check_blocks(const ReaderTable& table) {
  const auto refuse = [](const auto&... parts) {
    return error(Code::kInvalidArgument, "reader: ", parts...);
  };
  if (table.block_count < 0) return refuse("block_count is ", table.block_count);
  if (table.held_blocks < 0) return refuse("held_blocks is ", table.held_blocks);
  if (table.block_ends == nullptr)
    return table.block_count == 0 ? Status::ok()
                                  : refuse("block_ends is null, block_count is ", table.block_count);
  int64_t last = 0;
  for (int64_t i = 0; i < table.block_count; ++i) {
    const int64_t end = table.block_ends[i];
    if (end <= last || end > table.record_count) {
      return refuse("block_ends[", i, "] is ", end, ", expected ", last + 1, " to ", table.record_count,
                    " (they must ascend to record_count)");
    }
    last = end;
  }
  if (last == table.record_count) return Status::ok();
  return refuse("the ", table.block_count, " block_ends end at ", last, ", record_count is ",
                table.record_count);
}

// Points the table to the copy.
Result<Block> copy_block_ends(ReaderTable& table, HostMemory& memory) {
  if (table.block_count == 0) return Block();
  const auto bytes = table.block_count * static_cast<int64_t>(sizeof(int64_t));
  DL_ASSIGN_OR_RETURN(Block copy, memory.allocate(bytes, 64, MemoryKind::kTable, "the blocks of a reader"));
  std::memcpy(copy.data(), table.block_ends, static_cast<size_t>(bytes));
  table.block_ends = reinterpret_cast<const int64_t*>(copy.data());
  return copy;
}

}  // namespace

Result<SourceRef> reader_source(std::vector<Field> fields, ReaderTable table, HostMemory& memory) {
  if (table.read == nullptr) return error(Code::kInvalidArgument, "reader: read is null");
  if (table.record_count < 0)
    return error(Code::kInvalidArgument, "reader: record_count is ", table.record_count);
  DL_RETURN_IF_ERROR(check_host_fields(fields, "reader"));
  DL_RETURN_IF_ERROR(check_blocks(table));
  DL_ASSIGN_OR_RETURN(Block block_ends, copy_block_ends(table, memory));
  auto reader =
      std::make_shared<Reader>(column_per_field(std::move(fields)), std::move(table), std::move(block_ends));
  reader->own_context();
  return SourceRef(std::move(reader));
}

}  // namespace dataline
