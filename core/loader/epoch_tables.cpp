// SPDX-License-Identifier: Apache-2.0
#include "core/loader/epoch_tables.h"

#include <algorithm>

namespace dataline {

int64_t EpochTables::count_for(int64_t depth, int64_t steps_per_epoch) {
  return depth / std::max<int64_t>(steps_per_epoch, 1) + 3;
}

void EpochTables::plan(const Order& order, std::byte* memory, int64_t count, int64_t stride,
                       int64_t runs_per_epoch) {
  order_ = &order;
  entries_ = std::vector<Entry>(static_cast<size_t>(count));
  for (Entry& entry : entries_) {
    entry.table.memory = memory;
    memory += stride;
  }
  // A quarter more than an even share, so that the table is ready before the epoch's end.
  slice_steps_ = order.table_steps() * 5 / 4 / std::max<int64_t>(runs_per_epoch, 1) + 1;
  max_slices_due_ = runs_per_epoch / 16;
}

bool EpochTables::begin(Entry& entry, int64_t epoch) {
  if (entry.table.epoch == epoch) return true;
  if (entry.users > 0) return false;
  ThreadLock lock(entry.build);
  entry.ready.store(false);
  order_->begin_table(entry.table, epoch);
  return true;
}

EpochTables::Entry* EpochTables::reserve(int64_t epoch, bool another_follows) {
  Entry& entry = place(epoch);
  if (!begin(entry, epoch)) return nullptr;
  ++entry.users;
  if (another_follows && begin(place(epoch + 1), epoch + 1)) ahead_.store(&place(epoch + 1));
  return &entry;
}

void EpochTables::ensure_ready(Entry& entry) {
  // Acquire: pairs with the release below; the table's words are visible to whoever sees ready.
  if (entry.ready.load(std::memory_order_acquire)) return;
  ThreadLock lock(entry.build);
  while (entry.table.done < order_->table_steps()) order_->advance_table(entry.table, order_->table_steps());
  entry.ready.store(true, std::memory_order_release);
}

void EpochTables::work_ahead(int32_t thread) {
  Entry* entry = ahead_.load(std::memory_order_acquire);
  if (entry == nullptr || entry->ready.load(std::memory_order_acquire)) return;
  if (builder_.load(std::memory_order_relaxed) != thread) {
    if (slices_due_.fetch_add(1, std::memory_order_relaxed) < max_slices_due_) return;
    builder_.store(thread, std::memory_order_relaxed);
  }
  // Another thread at it is enough.
  if (!entry->build.try_lock()) return;
  const ThreadLock lock(entry->build, std::adopt_lock);
  if (entry->ready.load(std::memory_order_relaxed)) return;
  const int64_t slices = slices_due_.exchange(0, std::memory_order_relaxed) + 1;
  order_->advance_table(entry->table, slice_steps_ * slices);
  if (entry->table.done >= order_->table_steps()) entry->ready.store(true, std::memory_order_release);
}

}  // namespace dataline
