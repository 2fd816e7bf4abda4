// How the parts of a mix by weights are gone through with shuffle=window: pass p of a part is epoch p of a window order (window.h) of
// the part's own blocks, seeded by the part. Its steps are the units of the mix: single samples, so that it has one lane, or
// homogeneous steps.
//
// The open blocks of the job are shared among the parts by weight: a part with share s, its largest in the schedule, may have
// floor(s open_blocks) of them open, at least one. A part all of whose blocks may be open is permuted whole, as with
// shuffle=full.
//
// An epoch's table holds the lines of all passes that the epoch touches (window_line.h), in a place for the most that any epoch can
// touch; and, of each part in windows, which ones these are.
//
// Cost: 8 bytes a block and about 150 bytes and 32 a lane of each part in windows for the lifetime; a table has 12 bytes a block and
// pass.
// Threads: immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/order/block_table.h"
#include "core/order/mix_parts.h"
#include "core/order/window.h"
#include "core/order/window_line.h"

namespace dataline {

// How far a part has been drawn from, in samples since the job began.
struct MixReach {
  int64_t first = 0, end = 0;  // where the epoch begins and ends
  int64_t last = 0;            // `last_steps` before its end
  int64_t now = 0;             // at Order::Sweep::now
  // At a step of a sweep, and `lead` steps before it or where the epoch begins. How many of the epoch's first `lead` and of its last
  // `last_steps` steps have passed.
  struct At {
    int64_t here = 0, before = 0, passed = 0, last_passed = 0;
  };
  At from, to;
  int64_t lead = 1, last_steps = 1;
};

class MixWindows {
 public:
  // unit_slots: samples of a unit. `shares`: of each part its largest, in units of 2^-kMixShareBits. `most`: samples that an
  // epoch draws from it, at most. kTooLarge: more passes than any memory has room for.
  static Result<MixWindows> create(const MixOrderSpec& spec, int64_t unit_slots,
                                   std::span<const uint64_t> shares, std::span<const int64_t> most);

  int64_t table_bytes() const { return table_bytes_; }
  int64_t table_steps() const { return table_steps_; }
  // A table is made by set_passes() for each part, then advance().
  void set_passes(const EpochTable& table, int64_t part, int64_t first, int64_t end) const;
  void advance(EpochTable& table, int64_t steps) const;

  // As MixParts::sample().
  int64_t sample(const EpochTable& table, int64_t part, int64_t number, int64_t index,
                 MixParts::Pass& pass) const {
    const int32_t window = window_of_[static_cast<size_t>(part)];
    if (window < 0) return parts_.sample(part, number, index, pass);
    return draw(table, windowed_[static_cast<size_t>(window)], number, index, pass);
  }

  // Blocks of a part that a sweep finds; rows of a unit, where units are steps.
  void find_blocks(const EpochTable& table, int64_t part, const MixReach& reach, const Order::Sweep& sweep,
                   RecordRanges& found) const;

  int64_t blocks() const { return table_.count(); }
  int64_t allocated_bytes() const;
  std::string parameters() const;

 private:
  struct Windowed {
    int64_t part = 0, first_block = 0, blocks = 0;
    uint64_t seed = 0;
    WindowLanes lanes;
    int64_t offset = 0;      // of its lines in a table's memory
    int64_t first_step = 0;  // of its lines among a table's steps
    int64_t most_passes = 0;
    double blocks_per_place = 0;
  };
  struct Passes {  // the beginning of a table, one a part in windows
    int64_t first = 0, count = 0;
  };
  class LanePlaces;

  MixWindows(const MixOrderSpec& spec, int64_t unit_slots, BlockTable table,
             std::vector<int64_t> first_blocks);
  Passes& passes_in(const EpochTable& table, const Windowed& part) const {
    return reinterpret_cast<Passes*>(table.memory)[&part - windowed_.data()];
  }
  WindowLine line_of(const EpochTable& table, const Windowed& part, int64_t pass) const {
    return {table.memory + part.offset + pass * line_stride(part.blocks), part.blocks, part.blocks_per_place};
  }
  static int64_t line_stride(int64_t blocks) { return (WindowLine::bytes_for(blocks) + 7) / 8 * 8; }
  int64_t draw(const EpochTable& table, const Windowed& part, int64_t number, int64_t index,
               MixParts::Pass& pass) const;
  void find_in_lane(const EpochTable& table, const Windowed& part, int64_t lane, const MixReach& reach,
                    const Order::Sweep& sweep, RecordRanges& found) const;
  void find_in_whole(int64_t part, const MixReach& reach, const Order::Sweep& sweep,
                     RecordRanges& found) const;
  bool rank_has(const Windowed& part, int64_t lane, int64_t pass, const Order::Sweep& sweep) const;

  MixParts parts_;
  int64_t unit_slots_;
  BlockTable table_;
  std::vector<int64_t> first_blocks_;  // of each part, and the end
  std::vector<int32_t> window_of_;     // of each part, its place in windowed_; -1: permuted whole
  std::vector<Windowed> windowed_;
  FeistelFunction permute_;
  int64_t table_bytes_ = 64, table_steps_ = 1;  // the first step is set_passes()
};

}  // namespace dataline
