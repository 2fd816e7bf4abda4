// SPDX-License-Identifier: Apache-2.0
#include "core/loader/epochs.h"

#include "core/base/digest.h"

namespace dataline {

// --- Orders ---

OrderVersion make_version(std::unique_ptr<const Order> order, HostArray<int64_t> indices) {
  std::string digest_text = "none";
  if (indices.given) {
    Digest digest;
    digest.add(std::as_bytes(indices.span()));
    digest_text = digest.hex();
  }
  using Owned = std::pair<HostArray<int64_t>, std::unique_ptr<const Order>>;
  auto owned = std::make_shared<Owned>(std::move(indices), std::move(order));
  return {0, std::shared_ptr<const Order>(owned, owned->second.get()), std::move(digest_text)};
}

const OrderVersion& OrderVersions::of(int64_t epoch) const {
  return *std::find_if(versions_.rbegin(), versions_.rend() - 1,
                       [&](const OrderVersion& version) { return version.from_epoch <= epoch; });
}

const OrderVersion& OrderVersions::saved_under(int64_t epoch, std::string_view indices_digest) const {
  const OrderVersion& own = of(epoch);
  if (own.indices_digest == indices_digest) return own;
  const auto found = std::find_if(versions_.rbegin(), versions_.rend(), [&](const OrderVersion& version) {
    return version.indices_digest == indices_digest;
  });
  return found != versions_.rend() ? *found : own;
}

// Later ones are replaced. Of those that no epoch from the current one on needs, one is kept.
OrderVersions OrderVersions::with(OrderVersion version, int64_t current) const {
  std::vector<OrderVersion> versions;
  for (const OrderVersion& earlier : versions_) {
    if (earlier.from_epoch <= current) versions.push_back(earlier);
  }
  if (versions.empty()) versions.push_back({0, versions_.front().order, versions_.front().indices_digest});
  versions.push_back(std::move(version));
  while (versions.size() > 2 && versions[2].from_epoch <= current) versions.erase(versions.begin());
  return OrderVersions(std::move(versions));
}

OrderVersions OrderVersions::restored(const OrderVersion& version, int64_t epoch) const {
  if (&of(epoch) == &version) return *this;
  std::vector<OrderVersion> versions;
  for (const OrderVersion& other : versions_) {
    const bool same = other.from_epoch == epoch && other.indices_digest == version.indices_digest;
    if (other.from_epoch <= epoch && !same) versions.push_back(other);
  }
  versions.push_back({epoch, version.order, version.indices_digest});
  const OrderVersion& next = of(epoch + 1);
  if (next.from_epoch == epoch) versions.push_back({epoch + 1, next.order, next.indices_digest});
  for (const OrderVersion& other : versions_) {
    if (other.from_epoch > epoch) versions.push_back(other);
  }
  return OrderVersions(std::move(versions));
}

// --- Tables ---

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
