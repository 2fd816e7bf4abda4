// Reads values of a batch by its slots: where the bytes lie, or, where they are not delivered as they are stored, into room
// that the caller gives. The slots have been checked (batches.h); what lies in the buffers is checked here.
// Threads: any. Lifetime: of pointers into the file as the file's, of others as the room's.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <span>

#include "core/base/cancel.h"
#include "core/memory/mapped_file.h"
#include "core/source/arrow/bitmaps.h"
#include "core/source/arrow/columns.h"
#include "core/source/source.h"

namespace dataline {

// Bytes of the table during one call. Slots are offsets in a file, or addresses in the host's memory.
class ArrowAccess {
 public:
  // `populate`: pages may be missing.
  ArrowAccess(const MappedFile& file, bool populate, const CancelFlag* cancelled)
      : file_(&file),
        base_(file.addressable() ? reinterpret_cast<uintptr_t>(file.at(0)) : 0),
        addressable_(file.addressable()),
        populate_(populate && file.addressable()),
        cancelled_(cancelled) {}
  // Of memory.
  ArrowAccess() = default;

  // Whether at() can be used without view(), which is for one value after another.
  bool direct() const { return addressable_ && !populate_; }
  // An integer is added, because there may be no object that `base_` points to.
  const std::byte* at(int64_t offset) const {
    return reinterpret_cast<const std::byte*>(base_ + static_cast<uintptr_t>(offset));
  }

  // Into the table, or a copy in `room`.
  Result<const std::byte*> view(int64_t offset, int64_t bytes, std::byte* room) const {
    if (!addressable_) {
      DL_RETURN_IF_ERROR(file_->read(offset, bytes, room, cancelled_));
      return static_cast<const std::byte*>(room);
    }
    if (populate_ && bytes > 0) DL_RETURN_IF_ERROR(file_->populate(offset, bytes));
    return at(offset);
  }

  // Calls use(bits, first, count, done) for the bits [first, first + count) of the bitmap at `offset`, piece by piece; `done`
  // bits were in the pieces before. It says whether to go on.
  template <typename Use>
  Status each_bits(int64_t offset, int64_t first, int64_t count, const Use& use) const {
    constexpr int64_t kPieceBits = 4096;
    std::byte room[kPieceBits / 8 + 1];
    for (int64_t done = 0; done < count;) {
      const int64_t at = first + done, some = std::min(count - done, addressable_ ? count : kPieceBits);
      const int64_t begin = at / 8, end = (at + some + 7) / 8;
      DL_ASSIGN_OR_RETURN(const std::byte* bits, view(offset + begin, end - begin, room));
      if (!use(bits, at % 8, some, done)) break;
      done += some;
    }
    return Status::ok();
  }

 private:
  const MappedFile* file_ = nullptr;
  uintptr_t base_ = 0;
  bool addressable_ = true, populate_ = false;
  const CancelFlag* cancelled_ = nullptr;
};

// Marks the nulls among rows [row, row + count), count <= kMaxRunRecords.
Status find_nulls(const ArrowAccess& access, const int64_t* slots, std::span<const int32_t> bitmaps,
                  int64_t row, int64_t count, RowSet& nulls);

// An element that stands for nulls.
struct ArrowFill {
  std::array<std::byte, 8> bytes{};
};

struct ArrowUnits {
  int64_t first = 0, count = 0;
};

// A null inside a value: which bit of which bitmap; -1: none.
struct ArrowNullItem {
  int64_t item = -1;
};

// The bytes of these units, one after another. `room`: for count * unit_bytes, where `copies`; else null. `fill`: in place of
// null items; null: they are told in `null` and the result is null.
Result<const std::byte*> read_units(const ArrowAccess& access, const int64_t* slots,
                                    const ArrowValues& values, const ArrowUnits& units, const ArrowFill* fill,
                                    int64_t element_bytes, std::byte* room, ArrowNullItem& null);

// Where a value is that a view tells of: in the buffers, or in the view itself.
struct ArrowView {
  int64_t at = 0, bytes = 0;
  const char* wrong = nullptr;  // what is wrong with it
};
Result<ArrowView> read_view(const ArrowAccess& access, const int64_t* slots, const ArrowValues& values,
                            int64_t row);

// Numbers of a buffer, of `bytes` each, as i64; u64 beyond 2^63 are negative. `out` has room for count, at most
// kMaxRunRecords + 1.
Status read_numbers(const ArrowAccess& access, int64_t offset, int64_t first, int64_t count, int64_t bytes,
                    bool is_signed, int64_t* out);

}  // namespace dataline
