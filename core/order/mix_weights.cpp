// How the units of a mix by weights are counted and drawn (mix_weights.h).
// SPDX-License-Identifier: Apache-2.0
#include "core/order/mix_weights.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/checked.h"

namespace dataline {
namespace {

constexpr int64_t kFewParts = 32;  // for so many the counts before a period are worked out once a call

}  // namespace

// Says of the units of one period, in order, which part each belongs to and which unit of that part it is.
struct WeightedMix::Counter {
  // `before`: the points of the units before. `next`: how many units are asked for.
  Counter(const WeightedMix& mix, const Period& period, std::span<const int64_t> before, int64_t next)
      : mix_(mix), period_(period) {
    const int64_t parts = mix.parts_.size();
    few_ = parts <= kFewParts && parts <= next;
    for (int64_t k = 0; few_ && k < parts; ++k) {
      to_[static_cast<size_t>(k) + 1] = mix.points_to(period, k);
      before_[static_cast<size_t>(k)] = mix.units_before(period, k);
    }
    for (const int64_t point : before) seen_.see(point);
  }

  // The part of the next unit; in `unit`, which of its units that is.
  int64_t next(int64_t point, int64_t& unit) {
    int64_t part = 0, from = 0, to = 0;
    if (few_) {
      while (to_[static_cast<size_t>(part) + 1] <= point) ++part;
      from = to_[static_cast<size_t>(part)], to = to_[static_cast<size_t>(part) + 1];
      unit = before_[static_cast<size_t>(part)];
    } else {
      int64_t high = mix_.parts_.size() - 1;
      while (part < high) {
        const int64_t middle = part + (high - part) / 2;
        if (mix_.points_to(period_, middle) > point) {
          high = middle;
        } else {
          part = middle + 1;
        }
      }
      from = part == 0 ? 0 : mix_.points_to(period_, part - 1), to = mix_.points_to(period_, part);
      unit = mix_.units_before(period_, part);
    }
    unit += seen_.count(from, to);
    seen_.see(point);
    return part;
  }

 private:
  const WeightedMix& mix_;
  const Period& period_;
  bool few_;
  std::array<int64_t, kFewParts + 1> to_{};
  std::array<int64_t, kFewParts> before_{};
  MixSeenPoints seen_;
};

WeightedMix::Period WeightedMix::period_of(int64_t unit) const {
  const auto after = std::upper_bound(stages_.begin(), stages_.end(), unit,
                                      [](int64_t at, const Stage& stage) { return at < stage.first; });
  Period period;
  period.stage = &*std::prev(after);
  const int64_t length = int64_t{1} << period_bits_;
  const int64_t number = (unit - period.stage->first) >> period_bits_;
  period.number = static_cast<uint64_t>(number);
  period.first = period.stage->first + number * length;
  period.units = after == stages_.end() ? length : std::min(length, after->first - period.first);
  for (int32_t bit = 0; bit < fraction_bits(); ++bit) {
    period.offset |= (period.number >> bit & 1) << (fraction_bits() - 1 - bit);
  }
  return period;
}

// The points of the first `count` units of the period.
void WeightedMix::permute(const Period& period, int64_t count, int64_t* out) const {
  if (period.units == int64_t{1} << period_bits_) {
    whole_period_->samples(period.first, nullptr, 0, count, out);
    return;
  }
  if (period.units < 2) {
    std::fill_n(out, count, int64_t{0});
    return;
  }
  const Feistel feistel = make_feistel(period.units, permutation_key(seed_, period.first, period.units));
  for (int64_t i = 0; i < count; ++i)
    out[i] = static_cast<int64_t>(feistel_permute(feistel, static_cast<uint64_t>(i)));
}

bool WeightedMix::samples(int64_t epoch, const EpochTable* table, int64_t first, int64_t count,
                          int64_t* out) const {
  int64_t* const begin = out;
  std::array<int64_t, kMostMixUnits> points;
  std::array<MixParts::Pass, kFewParts> passes;  // of the first parts
  MixParts::Pass other;
  for (int64_t slot = first, left = count; left > 0;) {
    const Period period = period_of(unit_of(epoch, slot));
    const int64_t at = unit_of(epoch, slot) - period.first, within = slot % unit_slots_;
    const int64_t units = std::min((within + left - 1) / unit_slots_ + 1, period.units - at);  // begun here
    const int64_t taken = std::min(left, units * unit_slots_ - within);
    permute(period, at + units, points.data());
    Counter counter(*this, period, {points.data(), static_cast<size_t>(at)}, units);
    int64_t offset = within;
    for (int64_t u = 0, done = 0; done < taken; ++u, offset = 0) {
      int64_t unit = 0;
      const int64_t part = counter.next(points[static_cast<size_t>(at + u)], unit), n = parts_.count(part);
      if (part >= kFewParts) other.number = -1;  // of another part
      MixParts::Pass& pass = part < kFewParts ? passes[static_cast<size_t>(part)] : other;
      for (; offset < unit_slots_ && done < taken; ++offset, ++done) {
        const int64_t drawn = unit * unit_slots_ + offset;
        *out++ = windows_ ? windows_->sample(*table, part, drawn / n, drawn % n, pass)
                          : parts_.sample(part, drawn / n, drawn % n, pass);
      }
    }
    slot += taken, left -= taken;
  }
  for (int64_t i = 1; i < count; ++i) {
    if (begin[i] != begin[i - 1] + 1) return false;
  }
  return true;
}

double WeightedMix::passes(int64_t part, int64_t epoch, int64_t slot) const {
  const Period period = period_of(unit_of(epoch, slot));
  const int64_t begun = unit_of(epoch, slot) - period.first;
  const int64_t here = points_to(period, part) - (part == 0 ? 0 : points_to(period, part - 1));
  const double units =
      static_cast<double>(units_before(period, part)) +
      static_cast<double>(here) * static_cast<double>(begun) / static_cast<double>(period.units);
  return units * static_cast<double>(unit_slots_) / static_cast<double>(parts_.count(part));
}

void WeightedMix::count_stage(const Stage& stage, int64_t units, int64_t* out) const {
  // The period that the next stage cuts, which may be empty.
  Period cut;
  cut.stage = &stage;
  cut.number = static_cast<uint64_t>(units >> period_bits_);
  cut.units = units & ((int64_t{1} << period_bits_) - 1);
  for (int32_t bit = 0; bit < fraction_bits(); ++bit) {
    cut.offset |= (cut.number >> bit & 1) << (fraction_bits() - 1 - bit);
  }
  int64_t before = 0;
  for (int64_t k = 0; k < parts_.size(); ++k) {
    const int64_t to = cut.units == 0 ? 0 : points_to(cut, k);
    out[k] = units_before(cut, k) + to - before;
    before = to;
  }
}

namespace {

// The slots of an epoch.
Result<int64_t> slots_of(const MixOrderSpec& spec) {
  const int64_t total = spec.starts.back(), batch = spec.global_batch;
  const int64_t slots = spec.samples_per_epoch < 0 ? total : spec.samples_per_epoch;
  if (!spec.homogeneous || slots % batch == 0) return slots;
  if (spec.samples_per_epoch < 0) return std::max(slots / batch, int64_t{1}) * batch;
  return error(Code::kBadOption, "option homogeneous: samples_per_epoch of the mix is ", slots,
               ", expected whole steps of ", batch, " samples (batch_size x world_size)");
}

// The unit with which a step of the job begins; nothing where that is beyond any job.
std::optional<int64_t> first_unit(const MixOrderSpec& spec, int64_t slots, int64_t step) {
  if (spec.homogeneous) return step;
  const int64_t batch = spec.global_batch;
  const int64_t steps =
      std::max<int64_t>(slots / batch + (!spec.drops_last && slots % batch != 0 ? 1 : 0), 1);
  const std::optional<int64_t> before = checked_multiply(step / steps, slots);
  return before ? checked_add(*before, step % steps * batch) : std::nullopt;
}

}  // namespace

MixOrderResult weighted_mix(const MixOrderSpec& spec) {
  const size_t parts = spec.starts.size() - 1;
  DL_ASSIGN_OR_RETURN(const int64_t slots, slots_of(spec));
  if (slots > kFeistelMaxSamples)
    return error(Code::kTooLarge, "an epoch of a mix: expected at most 2^62 samples, got ", slots);
  const std::optional<int64_t> bytes = checked_multiply(static_cast<int64_t>(spec.stages.size()),
                                                        static_cast<int64_t>(2 * parts * sizeof(int64_t)));
  if (!bytes)
    return error(Code::kTooLarge, "the schedule of a mix: too many stages for this number of parts");
  DL_ASSIGN_OR_RETURN(Block block,
                      spec.memory->allocate(*bytes, 64, MemoryKind::kTable, "the parts of a mix"));
  auto* words = reinterpret_cast<int64_t*>(block.data());
  std::fill_n(words, *bytes / static_cast<int64_t>(sizeof(int64_t)), int64_t{0});

  std::vector<WeightedMix::Stage> stages;
  std::vector<int64_t*> counts;
  for (const MixOrderStage& given : spec.stages) {
    const std::optional<int64_t> first = first_unit(spec, slots, given.first_step);
    if (!first) break;  // no job comes there
    auto* ends = reinterpret_cast<uint64_t*>(words);
    mix_shares(given.weights, {ends, parts});
    counts.push_back(words + parts);
    stages.push_back({*first, {ends, parts}, {counts.back(), parts}});
    words += 2 * parts;
  }
  auto order = std::make_unique<WeightedMix>(spec, slots, stages, std::move(block));
  for (size_t s = 1; s < stages.size(); ++s) {
    order->count_stage(stages[s - 1], stages[s].first - stages[s - 1].first, counts[s]);
  }
  if (spec.shuffle == Shuffle::kWindow) DL_RETURN_IF_ERROR(order->make_windows(spec));
  return MixOrderResult(std::unique_ptr<const MixOrder>(std::move(order)));
}

}  // namespace dataline
