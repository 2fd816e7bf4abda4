// The epochs of a job: their steps, their orders, and the tables of orders that need one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/atomic.h"
#include "core/base/thread_mutex.h"
#include "core/loader/options.h"
#include "core/order/buckets.h"
#include "core/order/order.h"

namespace dataline {

// (epoch, step) with 0 <= step <= steps; step == steps: END_OF_EPOCH is still due.
struct Position {
  int64_t epoch = 0;
  int64_t step = 0;
  bool operator==(const Position&) const = default;
};

struct StepRange {
  int64_t first_slot = 0;  // of this rank's rows; pads have slots beyond their group's
  int64_t rows = 0;        // pads included
  int64_t valid = 0;
  int32_t group = 0;  // Steps::group()
};

// Which slots each step of an epoch is, and which part of them is this rank's. Most orders are one group of slots whose pieces
// follow each other; with buckets (order/buckets.h), and in homogeneous steps by repeats (order/mix.h), the order says which piece a
// step is. Every epoch has the same pieces, so that counts hold for all of them.
class Steps {
 public:
  Steps() = default;
  Steps(int64_t slots, const LoaderConfig& config);
  Steps(std::shared_ptr<const StepOrder> order, const LoaderConfig& config);

  int64_t slots() const { return slots_; }  // of an epoch, over all ranks
  int64_t count() const { return steps_; }  // batches in an epoch, the same on every rank
  // Of the largest batch. Padding counts: with last_batch=pad a short epoch still has full steps.
  int64_t max_rows() const { return max_rows_; }
  // Slots of this rank that last_batch=drop drops in each epoch.
  int64_t dropped() const { return dropped_; }

  // Slots that a batch may take pads and replacements from: those of its group.
  const SlotGroup& group(int32_t group) const { return groups_[static_cast<size_t>(group)].slots; }
  int32_t group_count() const { return static_cast<int32_t>(groups_.size()); }
  int64_t max_rows(int32_t group) const { return groups_[static_cast<size_t>(group)].max_rows; }

  StepRange step(int64_t epoch, int64_t index) const {
    const int64_t piece = order_ == nullptr ? index : order_->piece(epoch, index);
    const auto found = std::upper_bound(groups_.begin(), groups_.end(), piece,
                                        [](int64_t at, const Group& group) { return at < group.end_piece; });
    const Group& group = *found;
    const int64_t begin = (piece - group.first_piece) * group.slots.rows;
    const int64_t width =
        last_ == LastBatch::kPad ? group.slots.rows : std::min(group.slots.rows, group.slots.slots - begin);
    const SlotRange mine = rank_slots(begin, width, rank_, world_);
    return {group.slots.first_slot + mine.begin, mine.count(),
            std::clamp<int64_t>(group.slots.slots - mine.begin, 0, mine.count()),
            static_cast<int32_t>(found - groups_.begin())};
  }

 private:
  struct Group {
    SlotGroup slots;
    int64_t first_piece = 0, end_piece = 0;
    int64_t max_rows = 0;
  };
  void add(const SlotGroup& slots);

  std::shared_ptr<const StepOrder> order_;  // null: step t is piece t
  std::vector<Group> groups_;
  int64_t slots_ = 0, steps_ = 0, max_rows_ = 0, dropped_ = 0;
  LastBatch last_ = LastBatch::kKeep;
  int64_t rank_ = 0, world_ = 1;
};

struct OrderVersion {
  int64_t from_epoch = 0;
  std::shared_ptr<const Order> order;
  std::string indices_digest;  // "none" without sample_indices
};

// Of an order from epoch 0 on, together with the caller's indices, which it reads.
OrderVersion make_version(std::unique_ptr<const Order> order, HostArray<int64_t> indices);

// There is one order, unless the caller sets its own again and again (dl_loader_set_indices): then each holds from an epoch on.
// The one before the current epoch's is kept as well, so that a state which was saved before the new order took effect can
// still be loaded.
// Threads: immutable; a change makes a new list, because batches in flight read the old one.
class OrderVersions {
 public:
  explicit OrderVersions(OrderVersion first) { versions_.push_back(std::move(first)); }

  // Of those set for the same epoch the last one holds; before the first one's epoch, the first.
  const OrderVersion& of(int64_t epoch) const;
  // The order that a state of this epoch was saved under, if it is held, else the epoch's own.
  const OrderVersion& saved_under(int64_t epoch, std::string_view indices_digest) const;

  // With an order for the epochs after `current`, or from it on if none of its steps has gone out.
  OrderVersions with(OrderVersion version, int64_t current) const;
  // With `version` as the order of `epoch` again. What was set for that epoch holds from the next one on.
  OrderVersions restored(const OrderVersion& version, int64_t epoch) const;

 private:
  explicit OrderVersions(std::vector<OrderVersion> versions) : versions_(std::move(versions)) {}
  std::vector<OrderVersion> versions_;  // by from_epoch, never empty
};

// The order tables of the epochs that are open in the window, and of the next one, which is built in slices while batches
// are loaded. Only the first batch after a seek waits for a table.
// Threads: reserve, release: under the window's lock. ensure_ready, work_ahead: any worker.
class EpochTables {
 public:
  struct Entry {
    EpochTable table;  // guarded by `build` until ready
    Atomic<bool> ready{false};
    ThreadMutex build;
    int64_t users = 0;  // batches that read it; under the window's lock
  };

  // Tables that a window of `depth` batches can need at once: those of open epochs, and the next.
  static int64_t count_for(int64_t depth, int64_t steps_per_epoch);

  // `memory`: count tables, `stride` bytes apart, 64-byte aligned; count may be 0. `runs_per_epoch`: how often
  // work_ahead() is called in an epoch.
  void plan(const Order& order, std::byte* memory, int64_t count, int64_t stride, int64_t runs_per_epoch);
  bool used() const { return !entries_.empty(); }

  // The epoch's table, with one more user; also begins the next epoch's table. Null: its memory is still used by batches of
  // another epoch; try again when one of them is done.
  Entry* reserve(int64_t epoch, bool another_follows);
  void release(Entry* entry) { --entry->users; }

  void ensure_ready(Entry& entry);
  // Call once per run. One thread builds, so that the table stays in its core's cache (two threads that take turns spend as
  // much time moving its cache lines as copying rows of 784 bytes). The others leave their slices to it; if it falls
  // behind, the thread that notices takes over.
  void work_ahead(int32_t thread);

 private:
  Entry& place(int64_t epoch) { return entries_[static_cast<size_t>(epoch) % entries_.size()]; }
  bool begin(Entry& entry, int64_t epoch);

  const Order* order_ = nullptr;
  std::vector<Entry> entries_;
  int64_t slice_steps_ = 0;
  Atomic<Entry*> ahead_{nullptr};  // the table that work_ahead() builds
  // Relaxed throughout: they decide who builds and when the table is ready, never what is in it.
  Atomic<int32_t> builder_{-1};
  Atomic<int64_t> slices_due_{0};
  int64_t max_slices_due_ = 1;
};

// The order of a batch: which one, and its epoch's table.
struct BatchOrder {
  std::shared_ptr<const Order> order;
  EpochTables::Entry* table = nullptr;
  const EpochTable* epoch_table() const { return table != nullptr ? &table->table : nullptr; }
};

}  // namespace dataline
