// A slot: reusable memory of one batch and its state.
//
//   Free -> Filling -> Staged -> Copying -> Ready -> Leased -> Draining -> Free
//                        \_________(cpu)_____/ \ \_(no copy)/ /
//                                               \_(abandoned)/
//
// On the cpu device Staged goes straight to Ready; a seek abandons Ready slots straight to Draining; a consumer that
// takes a batch beyond max_leases leases its slot for as long as it copies it, and puts it back when there is no memory
// for a copy. No other edge. With a device, Copying is the time it takes to queue the copies (to complete them, with
// device_sync=host), and Draining lasts until the copies have left the slot's host memory.
//
// A slot is reused, a batch is not: whoever acts on a slot that is not its own at that moment names the batch it means
// by its sequence, under the loader's lock. What is decided about a batch is never kept in a flag of the slot that
// others than its owner set.
//
// Threads: filled by many workers (disjoint rows); each other state has one owner (the table in core/README.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/atomic.h"
#include "core/base/status.h"
#include "core/base/thread_mutex.h"
#include "core/batch/batch.h"
#include "core/batch/layout.h"
#include "core/memory/host_memory.h"

namespace dataline {

enum class SlotState : uint8_t { kFree, kFilling, kStaged, kCopying, kReady, kLeased, kDraining };

constexpr bool slot_edge(SlotState from, SlotState to) {
  switch (from) {
    case SlotState::kFree:
      return to == SlotState::kFilling;
    case SlotState::kFilling:
      return to == SlotState::kStaged;
    case SlotState::kStaged:
      return to == SlotState::kCopying || to == SlotState::kReady;
    case SlotState::kCopying:
      return to == SlotState::kReady;
    case SlotState::kReady:
      return to == SlotState::kLeased || to == SlotState::kDraining;
    case SlotState::kLeased:
      return to == SlotState::kDraining || to == SlotState::kReady;
    case SlotState::kDraining:
      return to == SlotState::kFree;
  }
  return false;
}

// A row whose own sample could not be delivered.
struct BadRow {
  int64_t row = 0;
  int64_t slot = 0;          // in the epoch's order
  int64_t record = 0;        // the bad one
  int64_t replacement = -1;  // the record that stands in, or -1: nothing does
  bool pad = false;
  int32_t misfit_storage = -1;  // the storage in which only its size is wrong; -1: bad by itself
  Status cause;
};

// Where a slot's bytes lie.
struct SlotPlace {
  std::byte* host =
      nullptr;  // aligned to kTensorAlignment, zeroed: layout.fixed_bytes, or slot_bytes without `shares`
  Block* shares = nullptr;      // address space that shares lie in; what is touched of it is counted there
  int64_t shares_offset = 0;    // of this slot's in it
  std::byte* device = nullptr;  // layout.device_bytes; null on the cpu device
  int32_t device_type = 1, device_index = 0;
  bool pinned = false;  // `host` is page-locked
};

class Slot : public Batch {
 public:
  Slot(const Layout& layout, const std::vector<OutputField>& outputs, const SlotPlace& place);

  SlotState state() const { return state_.load(); }
  // Takes an edge. Only the state's owner calls it, so that a slot which is not in `from` is a defect (base/status.h):
  // false, and the slot must be left alone. Sequentially consistent: the state is one half of handshakes with the
  // consumer (Ready against its wait) and with a seek (Ready against what it leaves behind).
  [[nodiscard]] bool go(SlotState from, SlotState to) {
    return check_or_trap(slot_edge(from, to) && state_.compare_exchange_strong(from, to));
  }

  std::byte* rows(size_t storage) const { return rows_[storage]; }
  int64_t* offsets(size_t storage) const { return words(layout_->storages[storage].offsets_offset); }
  int64_t* row_bytes(size_t storage) const { return words(layout_->storages[storage].row_bytes_offset); }
  // Height and width, row after row, of a storage that varies.
  int64_t* extents(size_t storage) const { return words(layout_->storages[storage].extents_offset); }

  // To be told of each row of a storage with shares once it is written, by who wrote it: counts what of its share is
  // memory now. False when memory_budget has no room for it.
  bool hold_row(size_t storage, int64_t row, int64_t bytes);
  // The row was given up: pages that it may have touched beyond those counted go back to the system.
  void forget_row(int64_t row);
  // Empties the slot for a batch of `row_count` samples, all of slots of one group (Layout::buckets).
  void open(int64_t new_epoch, int64_t new_step, int64_t new_first_slot, int64_t row_count,
            int64_t valid_count, int32_t new_group = 0);
  // Of the batch's rows; null without buckets.
  const BucketShape* bucket() const {
    return layout_->buckets.empty() ? nullptr : &layout_->buckets[static_cast<size_t>(group)];
  }
  // From row to row of a storage while it is filled.
  int64_t row_stride(size_t storage) const {
    const Storage& rows = layout_->storages[storage];
    return rows.to_bucket ? packed_bytes_[storage] : rows.row_bytes;
  }
  // Packs ragged and varying rows and sets the views; a row of another size than the batch's first good one becomes
  // bad. False when memory_budget has no room for the packed rows. By the last worker, before Staged.
  bool finish();
  // Removes rows that have no sample, so that a shorter batch is left; skipped tells how many of them were not pads.
  // By the last worker, after finish().
  void drop_bad_rows();
  // From row to row of a dense storage, once packed.
  int64_t packed_bytes(size_t storage) const { return packed_bytes_[storage]; }
  // Bytes of a storage that hold rows, once packed.
  int64_t used_bytes(size_t storage) const;
  // Bytes delivered in all fields.
  int64_t delivered_bytes() const;
  const Layout& layout() const { return *layout_; }
  std::byte* memory() const { return memory_; }

  void add_bad(BadRow bad);       // any worker
  BadRow* find_bad(int64_t row);  // null: it is good. By the last worker, before Staged
  // The batch must be filled again, because the machine fell short, not the data; the first cause stays. Any worker.
  void lose(Status cause);
  std::vector<BadRow>& bad_rows() { return bad_; }  // once Staged

  int32_t number = 0;      // in the loader's ring
  int32_t filled_by = -1;  // the thread that opened its last batch; under the loader's lock
  // Of the batch in it. Changes under the loader's lock when the slot is opened; stable for those who fill it.
  int64_t sequence = 0;
  int64_t first_slot = 0;
  int32_t group = 0;  // of its slots
  // [samples]: the record of each row in the loader's source. Batch::sample_indices are the same words, unless the source
  // is a mix: there they count in each part.
  int64_t* records = nullptr;
  // Images delivered though their decoder warned (on_warning).
  Atomic<int64_t> warned{0};
  Atomic<bool> lost{false};  // it must be filled again; see lose()
  Status lost_cause;         // once Ready; ok: memory ran out, even for words
  int64_t opened_ns = 0;     // monotonic
  Status failed;             // it could not be sent to the device; by the last worker, before Ready
  int64_t loaded = 0;        // rows before bad ones were dropped
  int64_t skipped = 0;       // samples that drop_bad_rows() took out

 private:
  int64_t* touched(size_t storage) const { return words(layout_->storages[storage].touched_offset); }
  bool hold_packed(size_t storage);
  int64_t* words(int64_t offset) const { return reinterpret_cast<int64_t*>(memory_ + offset); }
  std::vector<bool> undelivered_rows() const;
  void pack_ragged(size_t storage);
  void pack_varying(size_t storage);
  void set_bucket(const BucketShape& bucket);
  void set_size(size_t field, int64_t height, int64_t width);
  void refuse_size(size_t storage, int64_t row, int64_t first);

  const Layout* layout_;
  const std::vector<OutputField>* outputs_;
  std::byte* memory_;
  Block* shares_;
  std::vector<std::byte*> rows_;       // of each storage
  std::vector<int64_t> packed_bytes_;  // of each storage
  Atomic<SlotState> state_{SlotState::kFree};
  ThreadMutex bad_mutex_;
  std::vector<BadRow> bad_;  // guarded by bad_mutex_ while Filling
};

}  // namespace dataline
