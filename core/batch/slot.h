// A slot: reusable memory of one batch and its state.
//
//   Free -> Filling -> Staged -> Copying -> Ready -> Leased -> Draining -> Free
//                        \_________(cpu)_____/ \________(abandoned)__/
//
// On the cpu device Staged goes straight to Ready; a seek abandons Ready slots straight to Draining. No other edge.
// With a device, Copying is the time it takes to queue the copies (to complete them, with device_sync=host), and
// Draining lasts until the copies have left the slot's host memory.
//
// Threads: filled by many workers (disjoint rows); each other state has one owner: the loader's lock (Free, Ready),
// the last worker (Staged), the consumer (Leased).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/base/status.h"
#include "core/batch/batch.h"
#include "core/batch/layout.h"

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
      return to == SlotState::kDraining;
    case SlotState::kDraining:
      return to == SlotState::kFree;
  }
  return false;
}

// A row whose own sample could not be delivered.
struct BadRow {
  int64_t row = 0;
  int64_t slot = 0;          // in the epoch's order
  int64_t sample_index = 0;  // the bad one
  int64_t replacement = -1;  // the sample that stands in, or -1: nothing does
  bool pad = false;
  Status cause;
};

// Where a slot's bytes lie.
struct SlotPlace {
  std::byte* host = nullptr;    // layout.slot_bytes, aligned to kTensorAlignment, zeroed
  std::byte* device = nullptr;  // layout.device_bytes; null on the cpu device
  int32_t device_type = 1, device_index = 0;
  bool pinned = false;  // `host` is page-locked
};

class Slot : public Batch {
 public:
  Slot(const Layout& layout, const std::vector<OutputField>& outputs, const SlotPlace& place);

  SlotState state() const { return state_.load(); }
  // Takes an edge; false when the slot is not in `from`. Sequentially consistent: the state is one half of
  // handshakes with the consumer (Ready against its wait) and with a seek (Ready against abandoned).
  bool go(SlotState from, SlotState to) {
    return slot_edge(from, to) && state_.compare_exchange_strong(from, to);
  }

  std::byte* rows(size_t storage) const { return memory_ + layout_->storages[storage].offset; }
  int64_t* offsets(size_t storage) const { return words(layout_->storages[storage].offsets_offset); }
  int64_t* row_bytes(size_t storage) const { return words(layout_->storages[storage].row_bytes_offset); }
  // Height and width, row after row, of a storage that varies.
  int64_t* extents(size_t storage) const { return words(layout_->storages[storage].extents_offset); }

  // Empties the slot for a batch of `rows` samples.
  void open(int64_t new_epoch, int64_t new_step, int64_t new_first_slot, int64_t row_count,
            int64_t valid_count);
  // Packs ragged and varying rows and sets the views; a row of another size than the batch's first good one becomes
  // bad. By the last worker, before Staged.
  void finish();
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

  void add_bad(BadRow bad);                         // any worker
  std::vector<BadRow>& bad_rows() { return bad_; }  // once Staged

  int32_t number = 0;  // in the loader's ring
  int64_t sequence = 0;
  int64_t first_slot = 0;
  std::atomic<bool> abandoned{
      false};                     // a seek left it behind: fill no more, recycle when the workers are out
  std::atomic<bool> lost{false};  // memory ran out while filling: it must be filled again
  Status failed;                  // it could not be sent to the device; by the last worker, before Ready
  int64_t loaded = 0;             // rows before bad ones were dropped
  int64_t skipped = 0;            // samples that drop_bad_rows() took out
  bool accounted = false;         // bad rows are in the books
  bool too_many_bad = false;      // max_bad was exceeded with this batch
  bool raised = false;            // its error was returned once

 private:
  int64_t* words(int64_t offset) const { return reinterpret_cast<int64_t*>(memory_ + offset); }
  std::vector<bool> undelivered_rows() const;
  void pack_ragged(size_t storage);
  void pack_varying(size_t storage);
  void refuse_size(size_t storage, int64_t row, int64_t first);

  const Layout* layout_;
  const std::vector<OutputField>* outputs_;
  std::byte* memory_;
  std::vector<int64_t> packed_bytes_;  // of each storage
  std::atomic<SlotState> state_{SlotState::kFree};
  std::mutex bad_mutex_;
  std::vector<BadRow> bad_;  // guarded by bad_mutex_ while Filling
};

}  // namespace dataline
