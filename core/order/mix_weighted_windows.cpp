// A mix by weights with shuffle=window: how far parts have come at a step, their tables, and the blocks that are read ahead
// (mix_windows.h).
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "core/base/checked.h"
#include "core/order/mix_weights.h"

namespace dataline {
namespace {

// Of so many parts a sweep over their blocks takes a millisecond; of more, records are requested one by one.
constexpr int64_t kMostSweptParts = 1024;

}  // namespace

// How much each part was drawn from before a unit.
class WeightedMix::Moment {
 public:
  Moment(const WeightedMix& mix, int64_t unit) : mix_(mix), period_(mix.period_of(unit)) {
    std::array<int64_t, kMostMixUnits> points;
    const int64_t count = unit - period_.first;
    if (count > 0) mix.permute(period_, count, points.data());
    for (int64_t i = 0; i < count; ++i) seen_.see(points[static_cast<size_t>(i)]);
  }
  int64_t samples(int64_t part) const {
    const int64_t from = part == 0 ? 0 : mix_.points_to(period_, part - 1);
    const int64_t to = mix_.points_to(period_, part);
    const int64_t here = from == to ? 0 : seen_.count(from, to);
    return (mix_.units_before(period_, part) + here) * mix_.unit_slots_;
  }

 private:
  const WeightedMix& mix_;
  Period period_;
  MixSeenPoints seen_;
};

// From a part an epoch draws at most its largest share of all units, and in each stage: what the two periods at whose middle the epoch
// or the stage begins and ends have too much there, a period each; and what the offsets of whole periods round up, less than one for
// each of two blocks of periods a bit (mix_carries), which is less than a period too.
Status WeightedMix::make_windows(const MixOrderSpec& spec) {
  std::vector<uint64_t> shares(static_cast<size_t>(parts_.size()), 0);
  std::vector<int64_t> most;
  for (int64_t k = 0; k < parts_.size(); ++k) {
    uint64_t& share = shares[static_cast<size_t>(k)];
    for (const Stage& stage : stages_) share = std::max(share, end_of(stage, k) - end_of(stage, k - 1));
    const u128 units = static_cast<u128>(units_per_epoch()) * share >> kMixShareBits;
    const u128 more = static_cast<u128>(stages_.size()) * 3 << period_bits_;
    const u128 all = static_cast<u128>(units_per_epoch());
    most.push_back(share == 0 ? 0 : static_cast<int64_t>(std::min(units + more, all)) * unit_slots_);
  }
  open_blocks_ = spec.open_blocks;
  DL_ASSIGN_OR_RETURN(windows_, MixWindows::create(spec, unit_slots_, shares, most));
  return Status::ok();
}

void WeightedMix::advance_table(EpochTable& table, int64_t steps) const {
  if (!windows_) return;
  if (table.done == 0) {
    const Moment begin(*this, table.epoch * units_per_epoch());
    const Moment end(*this, (table.epoch + 1) * units_per_epoch());
    for (int64_t k = 0; k < parts_.size(); ++k)
      windows_->set_passes(table, k, begin.samples(k), end.samples(k));
  }
  windows_->advance(table, steps);
}

// Those in which as many samples are drawn as all open blocks have.
int64_t WeightedMix::lead_steps() const {
  const int64_t blocks = std::min(open_blocks_, windows_->blocks());
  const int64_t most = std::max<int64_t>(steps_per_epoch(), 1);
  const std::optional<int64_t> records = checked_multiply(blocks, records_per_block());
  return records ? std::clamp<int64_t>(*records / step_slots_, 1, most) : most;
}

// Two steps more, since a step goes on to the next window, and in a pass begins within a step of it.
int64_t WeightedMix::steps_per_block() const {
  return windows_ && parts_.size() <= kMostSweptParts ? lead_steps() + 2 : 0;
}

void WeightedMix::find_blocks(const EpochTable& table, const Sweep& sweep, RecordRanges& found) const {
  if (sweep.rows == 0) return;
  const int64_t lead = lead_steps(), steps = steps_per_epoch(), last = std::max<int64_t>(steps - lead, 0);
  const auto at = [&](int64_t step) {
    const int64_t units = unit_slots_ > 1 ? step : step < steps ? step * step_slots_ : slots_;
    return Moment(*this, table.epoch * units_per_epoch() + units);
  };
  const auto before = [&](int64_t step) { return at(std::max<int64_t>(step - lead, 0)); };
  const Moment epoch_first = at(0), epoch_last = at(last), epoch_end = at(steps), now = at(sweep.now);
  const Moment from = at(sweep.from), from_before = before(sweep.from);
  const Moment to = at(sweep.to), to_before = before(sweep.to);
  const auto reach_at = [&](int64_t step, const Moment& here, const Moment& earlier, int64_t part) {
    return MixReach::At{here.samples(part), earlier.samples(part), std::min(step, lead),
                        std::max<int64_t>(step - last, 0)};
  };
  for (int64_t k = 0; k < parts_.size(); ++k) {
    const MixReach reach{.first = epoch_first.samples(k),
                         .end = epoch_end.samples(k),
                         .last = epoch_last.samples(k),
                         .now = now.samples(k),
                         .from = reach_at(sweep.from, from, from_before, k),
                         .to = reach_at(sweep.to, to, to_before, k),
                         .lead = lead,
                         .last_steps = std::max<int64_t>(steps - last, 1)};
    windows_->find_blocks(table, k, reach, sweep, found);
  }
}

}  // namespace dataline
