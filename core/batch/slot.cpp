// SPDX-License-Identifier: Apache-2.0
#include "core/batch/slot.h"

#include <algorithm>
#include <cstring>

namespace dataline {

Slot::Slot(const Layout& layout, const std::vector<OutputField>& outputs, const SlotPlace& place)
    : Batch(outputs), layout_(&layout), outputs_(&outputs), memory_(place.host) {
  sample_indices = words(layout.indices_offset);
  sample_sources = words(layout.sources_offset);
  on_device = place.device != nullptr;
  std::byte* const base = on_device ? place.device : place.host;
  for (size_t f = 0; f < outputs.size(); ++f) {
    if (outputs[f].region >= 0) {
      views.place(f, base + layout.regions[static_cast<size_t>(outputs[f].region)].offset, nullptr);
      continue;
    }
    const size_t storage = static_cast<size_t>(outputs[f].storage);
    const bool ragged = layout.storages[storage].kind == FieldKind::kRagged;
    views.place(f, base + layout.storages[storage].offset, ragged ? offsets(storage) : nullptr);
  }
  views.set_device(place.device_type, place.device_index,
                   place.pinned && !on_device ? kViewPinned : uint64_t{0});
}

void Slot::open(int64_t new_epoch, int64_t new_step, int64_t new_first_slot, int64_t row_count,
                int64_t valid_count) {
  epoch = new_epoch;
  step = new_step;
  first_slot = new_first_slot;
  samples = row_count;
  valid = valid_count;
  abandoned.store(false);
  lost.store(false);
  if (!failed.is_ok()) failed = Status::ok();
  loaded = row_count;
  skipped = 0;
  accounted = false;
  too_many_bad = false;
  raised = false;
  bad_.clear();
}

void Slot::finish() {
  for (size_t s = 0; s < layout_->storages.size(); ++s) {
    const Storage& storage = layout_->storages[s];
    if (storage.kind != FieldKind::kRagged) continue;
    int64_t* ends = offsets(s);
    const int64_t* written = row_bytes(s);
    std::byte* base = rows(s);
    int64_t packed_bytes = 0;
    ends[0] = 0;
    for (int64_t row = 0; row < samples; ++row) {
      // Packing only moves rows down: what is packed so far never exceeds the shares passed.
      std::byte* from = base + row * storage.row_bytes;
      if (base + packed_bytes != from)
        std::memmove(base + packed_bytes, from, static_cast<size_t>(written[row]));
      packed_bytes += written[row];
      ends[row + 1] = packed_bytes / storage.item_bytes;
    }
  }
  views.set_samples(samples);
}

void Slot::add_bad(BadRow bad) {
  std::lock_guard lock(bad_mutex_);
  bad_.push_back(std::move(bad));
}

void Slot::drop_bad_rows() {
  if (bad_.empty()) return;
  std::vector<bool> gone(static_cast<size_t>(samples), false);
  int64_t real_count = 0, pad_count = 0;
  for (const BadRow& bad : bad_) {
    if (bad.replacement >= 0) continue;
    gone[static_cast<size_t>(bad.row)] = true;
    ++(bad.pad ? pad_count : real_count);
  }
  if (real_count + pad_count == 0) return;

  int64_t kept = 0;
  for (int64_t row = 0; row < samples; ++row) {
    if (gone[static_cast<size_t>(row)]) continue;
    sample_indices[kept] = sample_indices[row];
    sample_sources[kept] = sample_sources[row];
    for (size_t s = 0; s < layout_->storages.size(); ++s) {
      const Storage& storage = layout_->storages[s];
      if (storage.kind == FieldKind::kRagged) {
        offsets(s)[kept + 1] = offsets(s)[row + 1];  // a bad row wrote nothing, so the data is packed already
      } else if (kept != row) {
        std::memcpy(rows(s) + kept * storage.row_bytes, rows(s) + row * storage.row_bytes,
                    static_cast<size_t>(storage.row_bytes));
      }
    }
    ++kept;
  }
  samples = kept;
  valid -= real_count;
  skipped = real_count;
  views.set_samples(samples);
}

int64_t Slot::used_bytes(size_t storage) const {
  const Storage& rows = layout_->storages[storage];
  return rows.kind == FieldKind::kRagged ? offsets(storage)[samples] * rows.item_bytes
                                         : samples * rows.row_bytes;
}

int64_t Slot::delivered_bytes() const {
  int64_t total = 0;
  for (const BatchView& view : views.views()) total += view.bytes;
  return total;
}

}  // namespace dataline
