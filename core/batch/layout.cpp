// SPDX-License-Identifier: Apache-2.0
#include "core/batch/layout.h"

#include <algorithm>

#include "core/base/checked.h"

namespace dataline {
namespace {

constexpr int64_t kMaxSlotBytes = int64_t{1} << 46;  // far beyond any machine, far below overflow

// Appends rows * row_bytes to the slot; false when it becomes too large.
bool reserve(int64_t& total, int64_t rows, int64_t row_bytes, int64_t& offset) {
  offset = total;
  std::optional<int64_t> bytes = checked_multiply(rows, row_bytes);
  if (!bytes || *bytes > kMaxSlotBytes - total) return false;
  total = round_up(total + *bytes, kTensorAlignment);
  return true;
}

}  // namespace

Result<Layout> plan_layout(std::vector<Storage> storages, std::vector<Region> regions, int64_t rows,
                           std::vector<BucketShape> buckets, bool mixed) {
  Layout layout;
  layout.rows = rows;
  bool fits = rows <= kMaxSlotBytes / 16;
  int64_t most_items = 0;  // of a batch, in rows padded to the bucket
  for (const BucketShape& bucket : buckets) {
    const std::optional<int64_t> items = checked_multiply(bucket.rows, bucket.edge);
    fits = fits && items.has_value();
    most_items = std::max(most_items, items.value_or(0));
  }
  const auto add_rows = [&](Storage& storage) {
    const int64_t count = storage.to_bucket ? most_items : rows;
    const int64_t bytes = storage.to_bucket ? storage.item_bytes : storage.row_bytes;
    fits = fits && reserve(layout.slot_bytes, count, bytes, storage.offset);
  };
  for (Storage& storage : storages) {
    if (!storage.has_shares()) add_rows(storage);
  }
  for (Storage& storage : storages) {
    if (!storage.has_shares()) continue;
    const bool ragged = storage.kind == FieldKind::kRagged;
    if (ragged) fits = fits && reserve(layout.slot_bytes, rows + 1, 8, storage.offsets_offset);
    if (storage.varies) fits = fits && reserve(layout.slot_bytes, rows, 16, storage.extents_offset);
    fits = fits && reserve(layout.slot_bytes, rows, 8, storage.row_bytes_offset) &&
           reserve(layout.slot_bytes, rows, 8, storage.touched_offset);
  }
  fits = fits && reserve(layout.slot_bytes, rows, 8, layout.records_offset) &&
         reserve(layout.slot_bytes, rows, 8, layout.sources_offset);
  layout.indices_offset = layout.records_offset;
  if (mixed) fits = fits && reserve(layout.slot_bytes, rows, 8, layout.indices_offset);
  layout.fixed_bytes = layout.slot_bytes;
  for (Storage& storage : storages) {
    if (storage.has_shares()) add_rows(storage);
  }
  layout.device_bytes = layout.slot_bytes;
  for (Region& region : regions) {
    fits = fits && reserve(layout.device_bytes, rows, region.row_bytes, region.offset);
  }
  if (!fits) {
    return error(Code::kOverBudget, "a batch of ", rows,
                 " samples does not fit in memory; lower batch_size or max_bytes_per_sample");
  }
  layout.storages = std::move(storages);
  layout.buckets = std::move(buckets);
  layout.regions = std::move(regions);
  return layout;
}

}  // namespace dataline
