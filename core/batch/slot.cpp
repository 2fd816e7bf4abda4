// SPDX-License-Identifier: Apache-2.0
#include "core/batch/slot.h"

#include <algorithm>
#include <cstring>

namespace dataline {

Slot::Slot(const Layout& layout, const std::vector<OutputField>& outputs, std::byte* memory)
    : Batch(outputs), layout_(&layout), outputs_(&outputs), memory_(memory) {
  sample_indices = words(layout.indices_offset);
  sample_sources = words(layout.sources_offset);
  for (size_t f = 0; f < outputs.size(); ++f) {
    const size_t storage = static_cast<size_t>(outputs[f].storage);
    const bool ragged = layout.storages[storage].kind == FieldKind::kRagged;
    views.place(f, rows(storage), ragged ? offsets(storage) : nullptr);
  }
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

int64_t Slot::drop_bad_rows() {
  std::vector<bool> gone(static_cast<size_t>(samples), false);
  int64_t real_count = 0, pad_count = 0;
  for (const BadRow& bad : bad_) {
    if (bad.replacement >= 0) continue;
    gone[static_cast<size_t>(bad.row)] = true;
    ++(bad.pad ? pad_count : real_count);
  }
  if (real_count + pad_count == 0) return 0;

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
  views.set_samples(samples);
  return real_count;
}

int64_t Slot::delivered_bytes() const {
  int64_t total = 0;
  for (const BatchView& view : views.views()) total += view.bytes;
  return total;
}

}  // namespace dataline
