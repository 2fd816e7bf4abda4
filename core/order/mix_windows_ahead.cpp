// Which blocks of a part are read ahead (mix_windows.h).
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "core/base/checked.h"
#include "core/order/mix_windows.h"

namespace dataline {

// How far a lane has come: places of the lane, counted through all passes. A part that is permuted whole is one lane with one
// window a pass.
//
// A block must be found before the window that it lies in is entered. So a sweep has found all places that lie less than a window
// beyond where the lane stood `lead` steps before; and those that the lane reaches at the sweep's own step, so that a part that
// draws as fast as its windows were made for asks for its blocks one after another. Within the first `lead` steps of an epoch, before
// which nothing lies, the first window is found little by little; so is, at the end, the rest of the last one.
class MixWindows::LanePlaces {
 public:
  LanePlaces(const WindowLanes* lanes, int64_t lane, int64_t samples, int64_t unit_slots)
      : lanes_(lanes),
        lane_(lane),
        samples_(samples),
        unit_slots_(unit_slots),
        length_(lanes == nullptr ? samples : lanes->length(lane)),
        window_(lanes == nullptr ? samples : lanes->size().places()) {}

  int64_t length() const { return length_; }
  int64_t window_begin(int64_t drawn) const {
    const int64_t pass = drawn / samples_, units = drawn % samples_ / unit_slots_;
    return pass * length_ + (lanes_ == nullptr ? 0 : lanes_->window_begin(lane_, given(units)));
  }
  // Places whose blocks are found. A sweep that begins finds what is open, and the block at which it begins.
  std::pair<int64_t, int64_t> range(const MixReach& reach, bool begins) const {
    int64_t low = found(reach, reach.from), high = found(reach, reach.to);
    if (begins) {
      low = std::min(low, window_begin(reach.now));
      high = std::max(high, std::min(low + 1, limit(reach.end)));
    }
    return {low, high};
  }

 private:
  int64_t found(const MixReach& reach, const MixReach::At& at) const {
    const int64_t end = limit(reach.end), begin = window_begin(reach.first), last = place(reach.last);
    const int64_t ahead = at.passed < reach.lead
                              ? begin + part_of(place(reach.first) + window_ - begin, at.passed, reach.lead)
                              : place(at.before) + window_;
    const int64_t at_end =
        at.last_passed == 0 ? 0 : last + part_of(end - last, at.last_passed, reach.last_steps);
    return std::min(std::max({place(at.here), ahead, at_end}), end);
  }
  // The end of the windows that an epoch enters which ends here.
  int64_t limit(int64_t end) const {
    const int64_t pass = (end - 1) / samples_, at = (end - 1) % samples_;
    if (lanes_ == nullptr) return (pass + 1) * length_;
    const int64_t places = given(at / unit_slots_ + 1);
    return pass * length_ + (places == 0 ? 0 : lanes_->window_end(lane_, places - 1));
  }
  // What a pass gave before `drawn`; of a unit that is cut there, all.
  int64_t place(int64_t drawn) const {
    const int64_t pass = drawn / samples_, at = drawn % samples_;
    return pass * length_ + (lanes_ == nullptr ? at : given((at + unit_slots_ - 1) / unit_slots_));
  }
  int64_t given(int64_t units) const { return std::min(lanes_->given(lane_, units), length_); }
  static int64_t part_of(int64_t places, int64_t passed, int64_t all) {
    return static_cast<int64_t>(static_cast<u128>(places) * static_cast<u128>(passed) /
                                static_cast<u128>(all));
  }

  const WindowLanes* lanes_;
  int64_t lane_, samples_, unit_slots_, length_, window_;
};

void MixWindows::find_blocks(const EpochTable& table, int64_t part, const MixReach& reach,
                             const Order::Sweep& sweep, RecordRanges& found) const {
  if (reach.first == reach.end) return;
  const int32_t window = window_of_[static_cast<size_t>(part)];
  if (window < 0) return find_in_whole(part, reach, sweep, found);
  const Windowed& windowed = windowed_[static_cast<size_t>(window)];
  for (int64_t c = 0; c < windowed.lanes.size().lanes; ++c)
    find_in_lane(table, windowed, c, reach, sweep, found);
}

// Rows of a unit begin at another place in each pass, which begins within a unit. In the last unit of a pass, which is short, a
// few rows come from other lanes; their records are requested one by one.
bool MixWindows::rank_has(const Windowed& part, int64_t lane, int64_t pass, const Order::Sweep& sweep) const {
  if (unit_slots_ == 1) return true;
  const int64_t shift = pass * parts_.count(part.part) % unit_slots_;
  const int64_t first = (sweep.row + unit_slots_ - shift) % unit_slots_;
  const int64_t last = (first + sweep.rows - 1) % unit_slots_;
  const int64_t low = part.lanes.lane_of_row(first), high = part.lanes.lane_of_row(last);
  return first <= last ? low <= lane && lane <= high : low <= lane || lane <= high;
}

void MixWindows::find_in_lane(const EpochTable& table, const Windowed& part, int64_t lane,
                              const MixReach& reach, const Order::Sweep& sweep, RecordRanges& found) const {
  const LanePlaces places(&part.lanes, lane, parts_.count(part.part), unit_slots_);
  const int64_t needed = places.window_begin(reach.now), length = places.length();
  const auto [low, high] = places.range(reach, sweep.begins);
  for (int64_t at = low; at < high;) {
    const int64_t pass = at / length, base = pass * length - part.lanes.begin(lane);
    const int64_t end = std::min(high, (pass + 1) * length);
    const WindowLine line = line_of(table, part, pass - passes_in(table, part).first);
    int64_t i = line.block_at(at - base);
    // A block before the lane's begin was found for the lane before it alone.
    if (!sweep.begins && at > pass * length && line.begin(i) < at - base) ++i;
    const bool mine = rank_has(part, lane, pass, sweep);
    for (; mine && i < part.blocks && line.begin(i) < end - base; ++i) {
      if (line.end(i) > needed - base) found.add(table_.records(line.number(i)));
    }
    at = end;
  }
}

void MixWindows::find_in_whole(int64_t part, const MixReach& reach, const Order::Sweep& sweep,
                               RecordRanges& found) const {
  const int64_t n = parts_.count(part), start = parts_.start(part);
  const LanePlaces places(nullptr, 0, n, unit_slots_);
  const auto [low, high] = places.range(reach, sweep.begins);
  for (int64_t at = low; at < high;) {
    const int64_t first = at % n, end = std::min(first + (high - at), n);
    int64_t block = table_.block_of(start + first);
    if (!sweep.begins && table_.first(block) < start + first) ++block;
    for (; block < table_.count() && table_.first(block) < start + end; ++block)
      found.add(table_.records(block));
    at += end - first;
  }
}

}  // namespace dataline
