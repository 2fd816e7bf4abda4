// The epochs of a job: their orders, and the tables of orders that need one.
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
#include "core/order/order.h"
#include "core/source/host/host_array.h"

namespace dataline {

// (epoch, step) with 0 <= step <= steps; step == steps: END_OF_EPOCH is still due.
struct Position {
  int64_t epoch = 0;
  int64_t step = 0;
  bool operator==(const Position&) const = default;
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
