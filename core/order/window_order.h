// An order of shuffle=window: core/order/window.h says which window a slot draws from; here are the blocks and the draws. The blocks
// are those of a set (window_order.cpp), or those of a mix, each as often as it comes (mix_blocks.cpp).
//
// Blocks: block i of the epoch is block permute(i) of all, by a bijection over the number of blocks, keyed by
// (seed, epoch, kBlocks, number of blocks). The epoch's table is its line (window_line.h): it holds, for each i, that number and the sum
// of the records of the blocks before it, so a place of the line is found by a short search.
// Samples: slot `offset` of a window of `length` places is place permute(offset) of it, by a bijection over the length, keyed by
// (seed, epoch, kWindow, lane, window).
//
// Costs: 8 bytes a block for the lifetime, 12 a block and open epoch; 5 to 10 ns a block to build, in the background; a few ns
// a slot to read (bench/micro/order_bench.cpp). Seeking needs the epoch's table, nothing else.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "core/base/checked.h"
#include "core/base/digest.h"
#include "core/base/text.h"
#include "core/order/window.h"
#include "core/order/window_line.h"

namespace dataline {

struct WindowSpec {
  uint64_t seed = 0;
  int64_t open_blocks = 1;
  int64_t step_slots = 1;
  SimdTarget target{};
};

// Blocks has
//   int64_t count(), places()                            of all, in an epoch
//   LineBlock take(epoch, number)                        what the line holds of block `number` of all
//   int64_t sample(epoch, number, places, at)            the sample at place `at` of a block of the line
//   RecordRange records(number)                          what is read for it
//   int64_t allocated_bytes(), void add_to(Digest&)
template <typename Blocks>
class WindowOrder final : public Order {
 public:
  WindowOrder(const WindowSpec& spec, Blocks blocks)
      : blocks_(std::move(blocks)),
        samples_(blocks_.places()),
        count_(blocks_.count()),
        seed_(spec.seed),
        lanes_(samples_, spec.step_slots, make_window(samples_, count_, spec.open_blocks, spec.step_slots)),
        blocks_per_place_(static_cast<double>(count_) / static_cast<double>(samples_)),
        permute_(feistel_function(spec.target)),
        permute_runs_(feistel_runs_function(spec.target)) {}

  int64_t slots() const override { return samples_; }
  int64_t table_bytes() const override { return round_up(WindowLine::bytes_for(count_), 64); }
  int64_t table_steps() const override { return count_; }
  void advance_table(EpochTable& table, int64_t steps) const override {
    const int64_t end = table.done + std::clamp<int64_t>(steps, 0, count_ - table.done);
    line_in(table).build(permute_, blocks_key(seed_, table.epoch, count_), table.done, end,
                         [&](int64_t number) { return blocks_.take(table.epoch, number); });
    table.done = end;
  }
  bool samples(int64_t epoch, const EpochTable* table, int64_t first, int64_t count,
               int64_t* out) const override;
  int64_t allocated_bytes() const override { return blocks_.allocated_bytes() + lanes_.allocated_bytes(); }
  std::string parameters() const override {
    Digest digest;
    blocks_.add_to(digest);
    return concat(" blocks=", count_, " lanes=", lanes_.size().lanes, " window=", lanes_.size().places(),
                  " cut=", digest.hex());
  }

  int64_t steps_per_block() const override;
  int64_t records_per_block() const override { return std::max<int64_t>(samples_ / count_, 1); }
  void find_blocks(const EpochTable& table, const Sweep& sweep, RecordRanges& found) const override {
    if (sweep.rows == 0) return;
    const WindowLine line = line_in(table);
    const int64_t last = lanes_.lane_of_row(sweep.row + sweep.rows - 1);
    for (int64_t c = lanes_.lane_of_row(sweep.row); c <= last; ++c) find_in_lane(line, c, sweep, found);
  }

 private:
  static constexpr int64_t kRunsAtOnce = 64;  // pieces of windows, permuted at once; 5 KiB of stack

  // Pieces of whole windows, to be permuted together: by itself each is too short for the vectors.
  struct Pieces {
    std::array<WindowPiece, kRunsAtOnce> pieces;
    std::array<FeistelRun, kRunsAtOnce> runs;
    size_t count = 0;
  };

  WindowLine line_in(const EpochTable& table) const { return {table.memory, count_, blocks_per_place_}; }
  int64_t* draw(int64_t epoch, const WindowLine& line, Pieces& pieces, int64_t* out) const;
  void to_samples(int64_t epoch, const WindowLine& line, const WindowPiece& piece, int64_t* places) const {
    line.to_samples(piece.begin, piece.count, places, [&](int64_t block, int64_t at) {
      return blocks_.sample(epoch, line.number(block), line.end(block) - line.begin(block), at);
    });
  }
  void find_in_lane(const WindowLine& line, int64_t lane, const Sweep& sweep, RecordRanges& found) const;

  Blocks blocks_;
  int64_t samples_, count_;
  uint64_t seed_;
  WindowLanes lanes_;
  double blocks_per_place_;
  FeistelFunction permute_;
  FeistelRunsFunction permute_runs_;
};

template <typename Blocks>
bool WindowOrder<Blocks>::samples(int64_t epoch, const EpochTable* table, int64_t first, int64_t count,
                                  int64_t* out) const {
  const WindowLine line = line_in(*table);
  const uint64_t key = random_key(seed_, static_cast<uint64_t>(epoch), Domain::kWindow);
  Pieces pieces;
  for (const int64_t end = first + count; first < end;) {
    const WindowPiece piece = lanes_.piece(first, end - first);
    const uint64_t window_key =
        random_bits(key, static_cast<uint64_t>(piece.lane), static_cast<uint64_t>(piece.window));
    first += piece.count;
    if (piece.length == lanes_.size().places() && piece.length > kFewPlaces) {
      pieces.pieces[pieces.count] = piece;
      pieces.runs[pieces.count] = {window_key, static_cast<uint64_t>(piece.offset), piece.count};
      if (++pieces.count == pieces.runs.size()) out = draw(epoch, line, pieces, out);
      continue;
    }
    out = draw(epoch, line, pieces, out);
    permute_places(permute_, piece.length, window_key, piece.offset, piece.count, out);
    to_samples(epoch, line, piece, out);
    out += piece.count;
  }
  draw(epoch, line, pieces, out);
  return false;
}

// Writes the samples of the pieces and empties them; returns where the next ones go.
template <typename Blocks>
int64_t* WindowOrder<Blocks>::draw(int64_t epoch, const WindowLine& line, Pieces& pieces,
                                   int64_t* out) const {
  permute_runs_(lanes_.size().places(), pieces.runs.data(), static_cast<int64_t>(pieces.count), out);
  for (size_t p = 0; p < pieces.count; ++p) {
    to_samples(epoch, line, pieces.pieces[p], out);
    out += pieces.pieces[p].count;
  }
  pieces.count = 0;
  return out;
}

// --- Reading ahead ---

template <typename Blocks>
int64_t WindowOrder<Blocks>::steps_per_block() const {
  int64_t steps = 1;
  for (int64_t c = 0; c < lanes_.size().lanes; ++c) {
    const int64_t slots = std::max<int64_t>(lanes_.given(c, 1), 1);
    steps = std::max(steps, std::min(lanes_.size().places(), lanes_.length(c)) / slots + 1);
  }
  return std::min(steps, lanes_.whole_steps() + 1);
}

template <typename Blocks>
void WindowOrder<Blocks>::find_in_lane(const WindowLine& line, int64_t lane, const Sweep& sweep,
                                       RecordRanges& found) const {
  const int64_t begin = lanes_.begin(lane);
  const int64_t needed = begin + lanes_.window_begin(lane, lanes_.given(lane, sweep.now));
  // The last window reaches into the places of the short last step, which may be dropped.
  const auto found_by = [&](int64_t step) {
    return begin + (step < lanes_.whole_steps() ? lanes_.given(lane, step) : lanes_.length(lane));
  };
  const int64_t from = found_by(sweep.from), to = found_by(sweep.to);
  if (from >= to) return;
  int64_t i = line.block_at(from);
  if (!sweep.begins && line.begin(i) < from) ++i;
  for (; i < count_ && line.begin(i) < to; ++i) {
    if (line.end(i) > needed && line.end(i) > line.begin(i)) found.add(blocks_.records(line.number(i)));
  }
}

}  // namespace dataline
