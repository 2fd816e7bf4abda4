// The order tables of the epochs that are open in the window, and of the one after: built in slices beside the
// loading, so that no batch waits for a table except the first after a seek.
//
// Threads: reserve, release: under the loader's lock. ensure_ready, work_ahead: any worker.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/atomic.h"
#include "core/base/thread_mutex.h"
#include "core/order/order.h"

namespace dataline {

class EpochTables {
 public:
  struct Entry {
    EpochTable table;  // guarded by build until ready
    Atomic<bool> ready{false};
    ThreadMutex build;
    int64_t users = 0;  // batches that read it; under the loader's lock
  };

  // How many tables a window of `depth` batches can need at once: those open, and one ahead.
  static int64_t count_for(int64_t depth, int64_t steps_per_epoch);

  // `memory`: count tables, `stride` bytes apart, 64-byte aligned; count may be 0. `runs_per_epoch`: how often
  // work_ahead() is called in an epoch.
  void plan(const Order& order, std::byte* memory, int64_t count, int64_t stride, int64_t runs_per_epoch);
  bool used() const { return !entries_.empty(); }

  // The epoch's table, with one user more; begins the next epoch's table too. Null: its place is still in use by
  // another epoch's batches; try again when one of them is done.
  Entry* reserve(int64_t epoch, bool another_follows);
  void release(Entry* entry) { --entry->users; }

  void ensure_ready(Entry& entry);
  // To be called with each run. One thread builds, so that the table stays in its core's cache (two that take turns spend
  // as long on fetching it from each other as on copying rows of 784 bytes); the others leave their slices to it, unless
  // it falls behind: then whoever notices goes on in its place.
  void work_ahead(int32_t thread);

 private:
  Entry& place(int64_t epoch) { return entries_[static_cast<size_t>(epoch) % entries_.size()]; }
  bool begin(Entry& entry, int64_t epoch);

  const Order* order_ = nullptr;
  std::vector<Entry> entries_;
  int64_t slice_steps_ = 0;
  Atomic<Entry*> ahead_{nullptr};  // the table that work_ahead() builds
  // Relaxed throughout: who builds, and how much, decides when it is ready and never what is in it.
  Atomic<int32_t> builder_{-1};
  Atomic<int64_t> slices_due_{0};
  int64_t most_slices_due_ = 1;
};

// The order of a batch: which one, and its epoch's table.
struct BatchOrder {
  std::shared_ptr<const Order> order;
  EpochTables::Entry* table = nullptr;
  const EpochTable* epoch_table() const { return table != nullptr ? &table->table : nullptr; }
};

}  // namespace dataline
