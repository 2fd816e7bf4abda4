// SPDX-License-Identifier: Apache-2.0
#include "core/batch/slot.h"

#include <algorithm>
#include <cstring>

#include "core/base/checked.h"
#include "core/base/text.h"
#include "core/memory/pages.h"

namespace dataline {
namespace {

constexpr int64_t kPageBytes = 4096;  // what is counted; a system's larger pages take up to that much more

}  // namespace

Slot::Slot(const Layout& layout, const std::vector<OutputField>& outputs, const SlotPlace& place)
    : Batch(outputs), layout_(&layout), outputs_(&outputs), memory_(place.host), shares_(place.shares) {
  // Offsets of shares count from the fixed part's begin wherever they lie.
  std::byte* const shares =
      shares_ != nullptr ? shares_->data() + place.shares_offset : memory_ + layout.fixed_bytes;
  for (const Storage& storage : layout.storages) {
    packed_bytes_.push_back(storage.row_bytes);
    rows_.push_back(storage.has_shares() ? shares + (storage.offset - layout.fixed_bytes)
                                         : memory_ + storage.offset);
  }
  records = words(layout.records_offset);
  sample_indices = words(layout.indices_offset);
  sample_sources = words(layout.sources_offset);
  on_device = place.device != nullptr;
  for (size_t f = 0; f < outputs.size(); ++f) {
    if (outputs[f].region >= 0) {
      views.set_data(f, place.device + layout.regions[static_cast<size_t>(outputs[f].region)].offset,
                     nullptr);
      continue;
    }
    const size_t storage = static_cast<size_t>(outputs[f].storage);
    const bool ragged = layout.storages[storage].kind == FieldKind::kRagged;
    std::byte* const data = on_device ? place.device + layout.storages[storage].offset : rows(storage);
    views.set_data(f, data, ragged ? offsets(storage) : nullptr);
  }
  views.set_device(place.device_type, place.device_index,
                   place.pinned && !on_device ? kViewPinned : uint64_t{0});
}

void Slot::open(int64_t new_epoch, int64_t new_step, int64_t new_first_slot, int64_t row_count,
                int64_t valid_count, int32_t new_group) {
  epoch = new_epoch;
  step = new_step;
  first_slot = new_first_slot;
  group = new_group;
  if (!layout_->buckets.empty()) set_bucket(layout_->buckets[static_cast<size_t>(group)]);
  samples = row_count;
  valid = valid_count;
  lost.store(false);
  if (!lost_cause.is_ok()) lost_cause = Status::ok();
  warned.store(0);
  if (!failed.is_ok()) failed = Status::ok();
  loaded = row_count;
  skipped = 0;
  bad_.clear();
}

void Slot::set_bucket(const BucketShape& bucket) {
  for (size_t s = 0; s < layout_->storages.size(); ++s) {
    const Storage& storage = layout_->storages[s];
    if (storage.to_bucket) packed_bytes_[s] = bucket.edge * storage.item_bytes;
  }
  for (size_t f = 0; f < outputs_->size(); ++f) {
    if (!(*outputs_)[f].field.to_bucket) continue;
    if (bucket.height > 0)
      views.set_extent(f, bucket.height, bucket.width);
    else
      views.set_length(f, bucket.edge);
  }
}

bool Slot::hold_row(size_t storage, int64_t row, int64_t bytes) {
  if (shares_ == nullptr) return true;
  int64_t& held = touched(storage)[row];
  const int64_t wanted =
      std::min(round_up(bytes, kPageBytes), round_up(layout_->storages[storage].row_bytes, kPageBytes));
  if (wanted <= held) return true;
  if (!shares_->count(wanted - held)) return false;
  held = wanted;
  return true;
}

void Slot::forget_row(int64_t row) {
  if (shares_ == nullptr) return;
  for (size_t s = 0; s < layout_->storages.size(); ++s) {
    const Storage& storage = layout_->storages[s];
    if (!storage.has_shares()) continue;
    const int64_t held = std::min(touched(s)[row], storage.row_bytes);
    discard_pages(rows(s) + row * storage.row_bytes + held, storage.row_bytes - held);
  }
}

// Packed rows lie in the first rows' shares.
bool Slot::hold_packed(size_t storage) {
  const int64_t share = layout_->storages[storage].row_bytes;
  int64_t left = used_bytes(storage);
  for (int64_t row = 0; left > 0; ++row, left -= share) {
    if (!hold_row(storage, row, std::min(left, share))) return false;
  }
  return true;
}

bool Slot::finish() {
  for (size_t s = 0; s < layout_->storages.size(); ++s) {
    if (layout_->storages[s].varies) pack_varying(s);
  }
  bool held = true;
  for (size_t s = 0; s < layout_->storages.size(); ++s) {
    if (layout_->storages[s].kind == FieldKind::kRagged) pack_ragged(s);
    if (layout_->storages[s].has_shares()) held = hold_packed(s) && held;
  }
  views.set_samples(samples);
  return held;
}

// Packing only moves rows down: what is packed so far never exceeds the shares passed. So it is below, too.
void Slot::pack_ragged(size_t storage) {
  const Storage& shares = layout_->storages[storage];
  int64_t* ends = offsets(storage);
  const int64_t* written = row_bytes(storage);
  std::byte* base = rows(storage);
  int64_t packed = 0;
  ends[0] = 0;
  for (int64_t row = 0; row < samples; ++row) {
    std::byte* from = base + row * shares.row_bytes;
    if (base + packed != from) std::memmove(base + packed, from, static_cast<size_t>(written[row]));
    packed += written[row];
    ends[row + 1] = packed / shares.item_bytes;
  }
}

// Bad rows keep a place, which drop_bad_rows() takes from them.
void Slot::pack_varying(size_t storage) {
  const std::vector<bool> gone = undelivered_rows();
  const auto is_gone = [&gone](int64_t row) { return !gone.empty() && gone[static_cast<size_t>(row)]; };
  const int64_t* size = extents(storage);
  const int64_t first = gone.empty() ? 0 : std::find(gone.begin(), gone.end(), false) - gone.begin();
  const bool any = first < samples;
  const int64_t bytes = packed_bytes_[storage] = any ? row_bytes(storage)[first] : 0;
  for (int64_t row = first; row < samples; ++row) {
    if (is_gone(row)) continue;
    const bool same = size[2 * row] == size[2 * first] && size[2 * row + 1] == size[2 * first + 1];
    if (!same) {
      refuse_size(storage, row, first);
      continue;
    }
    std::byte* from = rows(storage) + row * layout_->storages[storage].row_bytes;
    std::byte* to = rows(storage) + row * bytes;
    if (from != to) std::memmove(to, from, static_cast<size_t>(bytes));
  }
  for (size_t f = 0; f < outputs_->size(); ++f) {
    if ((*outputs_)[f].storage != static_cast<int32_t>(storage)) continue;
    set_size(f, any ? size[2 * first] : 0, any ? size[2 * first + 1] : 0);
  }
}

// What the extents of a varying field say of the batch. An empty one by part has the shape of the first group.
void Slot::set_size(size_t field, int64_t height, int64_t width) {
  if ((*outputs_)[field].field.by_part)
    views.set_shape(field, layout_->part_shapes[static_cast<size_t>(height)][field]);
  else
    views.set_extent(field, height, width);
}

// No other sample can stand in for it: it is not bad by itself.
void Slot::refuse_size(size_t storage, int64_t row, int64_t first) {
  for (size_t s = 0; s < layout_->storages.size(); ++s) {
    if (layout_->storages[s].kind == FieldKind::kRagged) row_bytes(s)[row] = 0;  // as all bad rows'
  }
  const int64_t* size = extents(storage);
  std::string_view field;
  for (const OutputField& output : *outputs_) {
    if (output.storage == static_cast<int32_t>(storage)) field = output.field.name;
  }
  Status cause =
      error(Code::kMismatch, "field '", field, "': sample ", records[row], " is ",
            picture_size(size[2 * row], size[2 * row + 1]), ", sample ", records[first],
            " of the same batch is ", picture_size(size[2 * first], size[2 * first + 1]),
            ": all images of a batch must have one size; add resize([h, w]) or random_resized_crop(size), or "
            "resize(bucket) with bucket_by=aspect");
  if (BadRow* known = find_bad(row); known != nullptr) {
    known->replacement = -1;
    known->cause =
        error(known->cause.code(), known->cause.message(), "; its replacement failed too: ", cause.message());
    records[row] = known->record;
    return;
  }
  BadRow bad;
  bad.row = row;
  bad.slot = first_slot + row;
  bad.record = records[row];
  bad.pad = row >= valid;
  bad.misfit_storage = static_cast<int32_t>(storage);
  bad.cause = std::move(cause);
  bad_.push_back(std::move(bad));
}

// By row; empty when all are delivered.
std::vector<bool> Slot::undelivered_rows() const {
  std::vector<bool> gone;
  for (const BadRow& bad : bad_) {
    if (bad.replacement >= 0) continue;
    gone.resize(static_cast<size_t>(samples), false);
    gone[static_cast<size_t>(bad.row)] = true;
  }
  return gone;
}

void Slot::add_bad(BadRow bad) {
  ThreadLock lock(bad_mutex_);
  bad_.push_back(std::move(bad));
}

BadRow* Slot::find_bad(int64_t row) {
  const auto known = std::find_if(bad_.begin(), bad_.end(), [row](const BadRow& b) { return b.row == row; });
  return known == bad_.end() ? nullptr : &*known;
}

void Slot::lose(Status cause) {
  ThreadLock lock(bad_mutex_);
  if (!lost.load()) lost_cause = std::move(cause);
  lost.store(true);
}

void Slot::drop_bad_rows() {
  const std::vector<bool> gone = undelivered_rows();
  if (gone.empty()) return;
  const auto real_count = std::count(gone.begin(), gone.begin() + valid, true);

  int64_t kept = 0;
  for (int64_t row = 0; row < samples; ++row) {
    if (gone[static_cast<size_t>(row)]) continue;
    records[kept] = records[row];
    sample_sources[kept] = sample_sources[row];
    for (size_t s = 0; s < layout_->storages.size(); ++s) {
      const Storage& storage = layout_->storages[s];
      if (storage.kind == FieldKind::kRagged) {
        offsets(s)[kept + 1] = offsets(s)[row + 1];  // a bad row wrote nothing, so the data is packed already
      } else if (kept != row) {
        std::memcpy(rows(s) + kept * packed_bytes_[s], rows(s) + row * packed_bytes_[s],
                    static_cast<size_t>(packed_bytes_[s]));
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
                                         : samples * packed_bytes_[storage];
}

int64_t Slot::delivered_bytes() const {
  int64_t total = 0;
  for (const BatchView& view : views.views()) total += view.bytes;
  return total;
}

}  // namespace dataline
