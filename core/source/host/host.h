// Datasets of the host: arrays in its memory, and records from its own code.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/atomic.h"
#include "core/base/field.h"
#include "core/base/status.h"
#include "core/memory/host_memory.h"
#include "core/source/source.h"

namespace dataline {

class HostFiles;

// Memory or state lent by the host, which `release` returns once nothing needs it. Without `release`, nothing is lent.
struct HostOwner {
  void* context = nullptr;
  void (*release)(void* context) = nullptr;

  bool lends() const { return release != nullptr; }
};

// Holds a loan from take() on. A call that fails does not take the loan: it stays with the host.
class HostLoan {
 public:
  HostLoan() = default;
  HostLoan(const HostLoan&) = delete;
  HostLoan& operator=(const HostLoan&) = delete;
  ~HostLoan() {
    if (owner_.lends()) owner_.release(owner_.context);
  }
  void take(HostOwner owner) noexcept { owner_ = owner; }

 private:
  HostOwner owner_;
};

// What readers lent for the rows of a run, each loan until release_all() or the end of this object. Calls no allocator
// unless more is lent at once than ever before.
class HostLoans {
 public:
  HostLoans() = default;
  HostLoans(const HostLoans&) = delete;
  HostLoans& operator=(const HostLoans&) = delete;
  ~HostLoans() { release_all(); }

  // Room for one more, so that add() cannot fail once the host has lent something. May throw bad_alloc.
  void make_room() {
    if (owners_.size() == owners_.capacity()) owners_.reserve(owners_.size() * 2 + 8);
  }
  void add(HostOwner owner) noexcept { owners_.push_back(owner); }
  void release_all() noexcept {
    for (const HostOwner& owner : owners_) owner.release(owner.context);
    owners_.clear();
  }

 private:
  std::vector<HostOwner> owners_;
};

// Returns the loans of a run when its rows have been converted, or failed, on whatever way out.
class ReturnLoans {
 public:
  explicit ReturnLoans(HostLoans& loans) : loans_(loans) {}
  ReturnLoans(const ReturnLoans&) = delete;
  ReturnLoans& operator=(const ReturnLoans&) = delete;
  ~ReturnLoans() { loans_.release_all(); }

 private:
  HostLoans& loans_;
};

// What a reader is told of the loader that reads, and what it lends. Of a thread that reads; Run::call.
struct HostCall {
  explicit HostCall(HostLoans& lent) : loans(&lent) {}

  int64_t epoch = -1;  // -1: not for a place in an epoch
  uint64_t seed = 0;
  HostLoans* loans;
};

constexpr size_t kMaxHostFields = 256;  // so that the cells of a reader's call fit on a worker's stack
// Of one field of one sample. With the limit above, the total of a run fits 63 bits.
constexpr int64_t kMaxHostFieldBytes = int64_t{1} << 48;

// Checks fields described by the host (arrays, readers): at least one, distinct non-empty names, known kinds and dtypes,
// shapes within kMaxRank whose bytes fit, matching axes. kInvalidArgument, kTooLarge; messages begin with `what`.
Status check_host_fields(const std::vector<Field>& fields, std::string_view what);

// One field of all samples, in arrays that the host lends or that are copied.
struct ArrayField {
  Field field;                      // of one sample; max_bytes is computed
  const std::byte* data = nullptr;  // dense: the first row, rows in C order; ragged: packed items
  // Dense: bytes from one row to the next. Less than a row: rows overlap; 0: every sample is the same row; negative: rows
  // go down from data. None: packed.
  std::optional<int64_t> row_stride;
  const int64_t* offsets = nullptr;  // ragged: [samples + 1]; sample i is items [offsets[i], offsets[i + 1])
  int64_t item_count = 0;            // ragged: items in data
};

// What array_source() checks of each array: kInvalidArgument, kTooLarge, kOutOfRange. Sets max_bytes of ragged fields.
Status check_host_arrays(std::vector<ArrayField>& arrays, int64_t sample_count);

// Borrowed with `owner`, else copied into `memory` (kData, one block). kInvalidArgument: a null pointer, a negative count,
// fields that check_host_fields() refuses. kTooLarge: beyond 2^63 bytes. kOutOfRange: offsets that decrease or leave
// the data, with position and value. Offsets that the host changes later fail their rows; they never lead out of the data.
Result<SourceRef> array_source(std::vector<ArrayField> fields, int64_t sample_count, HostOwner owner,
                               HostMemory& memory);

// One field of one record, to be filled by the host. Same layout as dl_reader_cell.
struct ReaderCell {
  void* data;        // at most `capacity` bytes may be written; 64-byte aligned
  int64_t capacity;  // dense: the field's bytes; ragged: max_bytes_per_sample, or the field's own maximum
  int64_t
      bytes;  // in: the field's bytes (dense) or 0; out, ragged: of the record, too large if above capacity
  const void* borrowed;  // out: null, or the bytes in the host's memory
  int32_t status;        // out: not 0 if this record is bad
  int32_t reserved32;
  uint64_t reserved[3];
};

// What a call of the host's `read` is asked for. Same layout as dl_reader_request.
struct ReaderRequest {
  uint32_t struct_size;
  int32_t record_count;
  int32_t field_count;
  int32_t cell_bytes;
  const int64_t* indices;
  const int64_t* slots;
  int64_t epoch;
  uint64_t seed;
  const int32_t* cancelled;
  ReaderCell* cells;  // [record_count * field_count]
  char* messages;     // [record_count * message_bytes], zeroed
  int64_t message_bytes;
  void (*release)(void* release_context) = nullptr;  // out, as release_context
  void* release_context = nullptr;
  uint64_t reserved[4] = {};
};

constexpr size_t kReaderMessageBytes = 256;  // of one record

// Callbacks that are called from worker threads.
//
// Threads: `read` and `advise` are called from several threads at once; `destroy` once, when nothing can call them any more. What a
// call lends goes back from the thread that called.
// Failure: a bad record fails its own row with kReader, the host's code and the record's message; a call that fails as a
// whole fails all its rows, with kCancelled if they were cancelled. What the host reports is checked before it is used.
constexpr int32_t kReaderInterrupted =
    -1000000005;  // what `read` returns: no record is bad, read again later
struct ReaderTable {
  void* context = nullptr;
  int64_t record_count = 0;
  // Returns 0, or another value if all records of the call are bad.
  int32_t (*read)(void* context, ReaderRequest* request) = nullptr;
  void (*destroy)(void* context) = nullptr;     // may be null
  std::string fingerprint;                      // identifies the data in a saved state; may be empty
  std::shared_ptr<const HostFiles> files = {};  // that the records are read from; null: none
  // Where its blocks end, for append_blocks(): block_count numbers that rise to record_count; null: none. Lent for the call
  // that takes the table.
  int64_t block_count = 0;
  const int64_t* block_ends = nullptr;
  int64_t held_blocks = 0;  // SourceFacts::held_blocks; 0: any number
  bool prompt = false;      // HostCalls::kPrompt
  // A block is read soon; returns at once. May be null, and is not called without block_ends.
  void (*advise)(void* context, int64_t block) = nullptr;
};

// The files that a reader states, and the record after the last one of each; no ends: a record may be in any file.
struct ReaderFiles {
  std::vector<std::string> paths;
  std::vector<int64_t> ends;
};

// kInvalidArgument for a null `read`, a negative count, blocks that do not cover the records, or fields that check_host_fields()
// refuses; `destroy` is then not called. A ragged field may have max_bytes; -1: unknown. block_ends are copied into `memory`
// (kTable).
Result<SourceRef> reader_source(std::vector<Field> fields, ReaderTable table, HostMemory& memory);

}  // namespace dataline
