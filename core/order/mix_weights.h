// A mix by weights: periods in which each part has its share (mix.h says how). Units are slots, or steps where they are
// homogeneous; the units of all epochs are numbered through.
// Threads: immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/checked.h"
#include "core/base/simd.h"
#include "core/order/mix_parts.h"
#include "core/order/mix_windows.h"
#include "core/order/orders.h"

namespace dataline {

constexpr int64_t kMostMixUnits = int64_t{1} << std::max(kMixSlotBits, kMixStepBits);  // of a period

// Points of a period that were seen.
class MixSeenPoints {
 public:
  void see(int64_t point) { seen_[static_cast<size_t>(point >> 6)] |= uint64_t{1} << (point & 63); }
  // In [from, to), which is not empty.
  int64_t count(int64_t from, int64_t to) const {
    const auto first = static_cast<size_t>(from >> 6), last = static_cast<size_t>((to - 1) >> 6);
    int64_t count = 0;
    for (size_t w = first; w <= last; ++w) {
      uint64_t word = seen_[w];
      if (w == first) word &= ~uint64_t{0} << (from & 63);
      if (w == last) word &= ~uint64_t{0} >> (63 - ((to - 1) & 63));
      count += std::popcount(word);
    }
    return count;
  }

 private:
  std::array<uint64_t, kMostMixUnits / 64> seen_{};
};

class WeightedMix final : public MixOrder {
 public:
  struct Stage {
    int64_t first = 0;                // unit
    std::span<const uint64_t> ends;   // of the parts on the line of shares
    std::span<const int64_t> counts;  // units of each part in the stages before
  };

  WeightedMix(const MixOrderSpec& spec, int64_t slots, std::vector<Stage> stages, Block memory)
      : parts_(spec),
        slots_(slots),
        step_slots_(spec.global_batch),
        unit_slots_(spec.homogeneous ? spec.global_batch : 1),
        drops_last_(spec.drops_last),
        period_bits_(spec.homogeneous ? kMixStepBits : kMixSlotBits),
        stages_(std::move(stages)),
        memory_(std::move(memory)),
        seed_(random_key(spec.seed, 0, Domain::kMixPeriod)),
        whole_period_(feistel_order(int64_t{1} << period_bits_, seed_, best_simd_target())) {}

  int64_t slots() const override { return slots_; }
  int64_t allocated_bytes() const override {
    return memory_.bytes() + (windows_ ? windows_->allocated_bytes() : 0);
  }
  bool samples(int64_t epoch, const EpochTable* table, int64_t first, int64_t count,
               int64_t* out) const override;

  // With windows.
  Status make_windows(const MixOrderSpec& spec);
  int64_t table_bytes() const override { return windows_ ? windows_->table_bytes() : 0; }
  int64_t table_steps() const override { return windows_ ? windows_->table_steps() : 0; }
  void advance_table(EpochTable& table, int64_t steps) const override;
  std::string parameters() const override { return windows_ ? windows_->parameters() : std::string(); }
  int64_t steps_per_block() const override;
  int64_t records_per_block() const override { return windows_ ? parts_.total() / windows_->blocks() : 0; }
  bool ranks_share_blocks() const override { return windows_ && unit_slots_ == 1; }
  void find_blocks(const EpochTable& table, const Sweep& sweep, RecordRanges& found) const override;

  double passes(int64_t part, int64_t epoch, int64_t slot) const override;
  double share(int64_t part, int64_t epoch, int64_t slot) const override {
    const Stage& stage = *period_of(unit_of(epoch, slot)).stage;
    return static_cast<double>(end_of(stage, part) - end_of(stage, part - 1)) /
           static_cast<double>(uint64_t{1} << kMixShareBits);
  }

  // The counts of the next stage, which begins `units` after this one.
  void count_stage(const Stage& stage, int64_t units, int64_t* out) const;

 private:
  // A period, or as much of it as there is before the next stage.
  struct Period {
    const Stage* stage = nullptr;
    uint64_t number = 0;  // in the stage
    int64_t first = 0;    // unit
    int64_t units = 0;
    uint64_t offset = 0;
  };
  struct Counter;
  class Moment;

  int64_t units_per_epoch() const { return slots_ / unit_slots_; }
  // With a short last step, which last_batch=drop leaves out: sweeps end before it then.
  int64_t steps_per_epoch() const {
    return slots_ / step_slots_ + (slots_ % step_slots_ != 0 && !drops_last_ ? 1 : 0);
  }
  int64_t lead_steps() const;
  int32_t fraction_bits() const { return kMixShareBits - period_bits_; }
  int64_t unit_of(int64_t epoch, int64_t slot) const {
    return epoch * units_per_epoch() + slot / unit_slots_;
  }
  Period period_of(int64_t unit) const;
  static uint64_t end_of(const Stage& stage, int64_t part) {
    return part < 0 ? 0 : stage.ends[static_cast<size_t>(part)];
  }
  // The end of a part on the line of a period, which has `units` points at distances of 2^fraction_bits.
  uint64_t end_in(const Period& period, int64_t part) const {
    const uint64_t end = end_of(*period.stage, part);
    if (period.units == int64_t{1} << period_bits_) return end;
    return static_cast<uint64_t>((static_cast<u128>(end) * static_cast<u128>(period.units)) >> period_bits_);
  }
  // Points of the parts up to this one in the period.
  int64_t points_to(const Period& period, int64_t part) const {
    return static_cast<int64_t>((end_in(period, part) + period.offset) >> fraction_bits());
  }
  // The same in all whole periods of the stage before this one.
  int64_t points_before(const Stage& stage, uint64_t periods, int64_t part) const {
    const uint64_t end = end_of(stage, part);
    const uint64_t fraction = end & ((uint64_t{1} << fraction_bits()) - 1);
    return static_cast<int64_t>(periods * (end >> fraction_bits()) +
                                mix_carries(periods, fraction, fraction_bits()));
  }
  int64_t units_before(const Period& period, int64_t part) const {
    const Stage& stage = *period.stage;
    return stage.counts[static_cast<size_t>(part)] + points_before(stage, period.number, part) -
           points_before(stage, period.number, part - 1);
  }
  void permute(const Period& period, int64_t count, int64_t* out) const;

  MixParts parts_;
  int64_t slots_, step_slots_, unit_slots_;
  bool drops_last_;
  int32_t period_bits_;
  std::vector<Stage> stages_;
  Block memory_;
  uint64_t seed_;
  std::unique_ptr<const Order> whole_period_;
  std::optional<MixWindows> windows_;  // shuffle=window
  int64_t open_blocks_ = 0;
};

}  // namespace dataline
