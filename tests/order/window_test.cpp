// shuffle=window: every sample once, the geometry of lanes and windows, and which blocks are read ahead.
// SPDX-License-Identifier: Apache-2.0
#include "core/order/window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/order/orders.h"
#include "tests/order/window_support.h"

namespace dataline::window_test {
namespace {

int64_t block_of(const std::vector<int64_t>& ends, int64_t sample) {
  return std::upper_bound(ends.begin(), ends.end(), sample) - ends.begin();
}

TEST(WindowOrder, TakesEachSampleOnceWhateverTheBlocksStepsAndLanes) {
  for (const auto& ends :
       {uneven_ends(1, 5), uneven_ends(2, 5), uneven_ends(50, 1), uneven_ends(37, 90), uneven_ends(3, 5000),
        even_ends(64, 64), even_ends(1, 3000), uneven_ends(300, 37)}) {
    if (ends.back() < 2) continue;
    for (const int64_t step : {1, 2, 7, 32, 77, 256, 1000, 100'000}) {
      for (const int64_t open : {1, 2, 7, 512, 1'000'000}) {
        const auto order = make_window_order(ends, open, step);
        ASSERT_TRUE(is_permutation(whole_epoch(*order, 3)))
            << ends.size() << " blocks of " << ends.back() << " records, step " << step << ", open " << open;
      }
    }
  }
}

TEST(WindowOrder, EachEpochAndSeedHasItsOwnOrder) {
  const std::vector<int64_t> ends = uneven_ends(100, 60);
  std::set<std::vector<int64_t>> seen;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    const auto order = make_window_order(ends, 16, 32, seed);
    for (int64_t epoch = 0; epoch < 4; ++epoch) seen.insert(whole_epoch(*order, epoch));
  }
  EXPECT_EQ(seen.size(), 16u);
}

TEST(WindowOrder, IsTheSameOnEveryTarget) {
  for (const auto& ends : {uneven_ends(400, 700), even_ends(128, 512)}) {
    for (const int64_t open : {1, 16, 64}) {
      const OrderSpec spec = window_spec(ends, open, 300, 9);
      const auto plain = window_order(spec, SimdTarget::kPlain).take();
      for (const SimdTarget target : runnable_targets()) {
        const auto order = window_order(spec, target).take();
        ASSERT_EQ(whole_epoch(*order, 5), whole_epoch(*plain, 5)) << simd_target_name(target) << ", " << open;
      }
    }
  }
}

TEST(WindowOrder, ARankReadsTheSameFewLanesInEveryStep) {
  constexpr int64_t kStep = 512, kRanks = 8;
  const std::vector<int64_t> ends = even_ends(20'000, 100);
  const WindowSize size = make_window(ends.back(), 20'000, 512, kStep);
  EXPECT_EQ(size.lanes, 512);
  const WindowLanes lanes(ends.back(), kStep, size);
  for (int64_t rank = 0; rank < kRanks; ++rank) {
    std::set<int64_t> met;
    for (int64_t step = 0; step < ends.back() / kStep; ++step) {
      const SlotRange mine = rank_slots(step * kStep, kStep, rank, kRanks);
      for (int64_t slot = mine.begin; slot < mine.end;) {
        const WindowPiece piece = lanes.piece(slot, mine.end - slot);
        met.insert(piece.lane);
        slot += piece.count;
      }
    }
    EXPECT_EQ(static_cast<int64_t>(met.size()), size.lanes / kRanks) << "rank " << rank;
  }
}

TEST(WindowOrder, LanesAndWindowsFollowFromWhatMayBeOpen) {
  struct Case {
    int64_t samples, blocks, open, step, lanes, window;
  };
  const Case cases[] = {
      {1'000'000, 10'000, 512, 512, 512, 128},      // 100 records a block: a lane a slot, a window a block
      {1'000'000, 10'000, 512, 32, 32, 2048},       // few slots: windows of 16 blocks
      {1'000'000, 10'000, 512, 100'000, 512, 128},  // no more lanes than open blocks
      {10'000'000, 1'000, 512, 256, 16, 262'144},   // 10,000 records a block: 16 slots a lane
      {1'000'000, 10'000, 1, 256, 1, 128},          // one block after the other
      {1'000, 1'000, 512, 256, 256, 2},             // a record a block
      {1'000, 1'000, 1, 256, 1, 1},
      {1'000'000, 10, 512, 256, 16, 65'536},  // everything is open
      {5, 2, 512, 1'000, 5, 1},               // a step beyond the set
      {int64_t{1} << 62, 4'000'000, 512, 1'024, 64, int64_t{1} << 43},
  };
  for (const Case& want : cases) {
    const WindowSize size = make_window(want.samples, want.blocks, want.open, want.step);
    EXPECT_EQ(size.lanes, want.lanes) << want.samples << " " << want.step;
    EXPECT_EQ(size.places(), want.window) << want.samples << " " << want.step;
  }
}

TEST(WindowOrder, OneSlotIsThePieceOfOneSlotWhateverTheLanes) {
  for (const int64_t samples : {1, 63, 64, 1000, 4097}) {
    for (const int64_t step : {1, 7, 100}) {
      for (const int64_t most : {1, 3}) {
        const WindowLanes lanes(samples, step, {.lanes = std::min({most, step, samples}), .bits = 6});
        for (int64_t slot = 0; slot < samples; ++slot) {
          const WindowPiece one = lanes.piece_of_one(slot), piece = lanes.piece(slot, 1);
          ASSERT_EQ(one.lane, piece.lane);
          ASSERT_EQ(one.window, piece.window);
          ASSERT_EQ(one.begin, piece.begin);
          ASSERT_EQ(one.length, piece.length);
          ASSERT_EQ(one.offset, piece.offset);
          ASSERT_EQ(one.count, 1);
        }
      }
    }
  }
}

TEST(WindowOrder, OpensAboutAsManyBlocksAsWereAskedFor) {
  const std::vector<int64_t> ends = even_ends(4'000, 100);
  for (const int64_t open : {32, 128, 512}) {
    const auto order = make_window_order(ends, open, 64);
    const std::vector<int64_t> epoch = whole_epoch(*order, 0);
    std::map<int64_t, std::pair<int64_t, int64_t>> lives;  // block: first and last slot
    for (int64_t slot = 0; slot < order->slots(); ++slot) {
      const int64_t block = block_of(ends, epoch[static_cast<size_t>(slot)]);
      lives.try_emplace(block, slot, slot).first->second.second = slot;
    }
    double open_slots = 0;
    for (const auto& [block, life] : lives)
      open_slots += static_cast<double>(life.second - life.first) / static_cast<double>(order->slots());
    EXPECT_GT(open_slots, 0.5 * static_cast<double>(open)) << open;
    EXPECT_LT(open_slots, 2.5 * static_cast<double>(open)) << open;
  }
}

TEST(WindowOrder, AHugeSetNeedsTheEpochsTableAndNothingElse) {
  const std::vector<int64_t> ends = even_ends(1000, int64_t{1} << 50);
  const auto order = make_window_order(ends, 512, 4096);
  EXPECT_EQ(order->table_steps(), 1000);
  EXPECT_LE(order->table_bytes(), 12 * 1000 + 128);
  for (const int64_t at : {int64_t{0}, order->slots() / 3, order->slots() - 64}) {
    const std::vector<int64_t> some = slots_of(*order, 1, at, 64);
    std::set<int64_t> different(some.begin(), some.end());
    EXPECT_EQ(different.size(), 64u);
    EXPECT_GE(*different.begin(), 0);
    EXPECT_LT(*different.rbegin(), order->slots());
  }
}

TEST(WindowOrder, RefusesBlocksThatAreNotACutOfTheSet) {
  const auto code_of = [](std::vector<int64_t> ends, int64_t samples) {
    OrderSpec spec = order_spec(samples, Shuffle::kWindow);
    spec.block_ends = ends;
    return Order::create(spec).status().code();
  };
  EXPECT_EQ(code_of({5, 10}, 11), Code::kInternal);
  EXPECT_EQ(code_of({5, 10}, 9), Code::kInternal);
  EXPECT_EQ(code_of({5, 5, 10}, 10), Code::kInternal);
  EXPECT_EQ(code_of({0, 10}, 10), Code::kInternal);
  EXPECT_EQ(code_of({}, 10), Code::kInternal);
}

// --- Reading ahead ---

class Found final : public RecordRanges {
 public:
  void add(RecordRange range) override { ++blocks[range.first]; }
  std::map<int64_t, int64_t> blocks;  // by first record: how often found
};

// What a loader does from step `begin` on: before each step, blocks are found steps_per_block() ahead.
void expect_blocks_before_samples(const std::vector<int64_t>& ends, int64_t open, int64_t step_slots,
                                  int64_t rank, int64_t world, int64_t begin) {
  const auto order = make_window_order(ends, open, step_slots, 3);
  TestTable table(*order);
  table.build(*order, 2);
  const int64_t steps = (order->slots() + step_slots - 1) / step_slots;
  const SlotRange rows = rank_slots(0, step_slots, rank, world);
  Order::Sweep sweep{.row = rows.begin, .rows = rows.count(), .now = begin, .begins = true};
  sweep.from = std::max<int64_t>(begin - order->steps_per_block(), 0);
  Found found;
  std::set<int64_t> used;
  for (int64_t step = begin; step < steps; ++step) {
    sweep.to = std::min(step + 1 + order->steps_per_block(), steps);
    if (sweep.to > sweep.from) {
      order->find_blocks(table.get(), sweep, found);
      sweep.begins = false;
      sweep.from = sweep.to;
    }
    const int64_t slots = std::min(step_slots, order->slots() - step * step_slots);
    const SlotRange mine = rank_slots(step * step_slots, slots, rank, world);
    for (const int64_t sample : slots_of(*order, 2, mine.begin, mine.count())) {
      const int64_t block = block_of(ends, sample);
      const int64_t first = block == 0 ? 0 : ends[static_cast<size_t>(block) - 1];
      if (slots < step_slots) continue;  // the short step's shares are cut elsewhere
      ASSERT_TRUE(found.blocks.count(first)) << "step " << step << " from " << begin << ", block " << block;
      used.insert(first);
    }
  }
  if (world > 1 || begin > 0) return;
  EXPECT_EQ(found.blocks.size(), ends.size());
  // Blocks at the borders of lanes belong to two.
  int64_t again = 0;
  for (const auto& [first, times] : found.blocks) again += times - 1;
  EXPECT_LT(again, make_window(ends.back(), static_cast<int64_t>(ends.size()), open, step_slots).lanes);
}

TEST(WindowReadAhead, FindsEveryBlockBeforeItsFirstSample) {
  for (const auto& ends :
       {uneven_ends(300, 40), even_ends(256, 64), uneven_ends(3, 2000), uneven_ends(500, 1)}) {
    for (const int64_t open : {4, 32}) {
      for (const int64_t step : {7, 64}) {
        for (const int64_t begin : {0, 1, 5}) {
          expect_blocks_before_samples(ends, open, step, 0, 1, begin);
          for (int64_t rank = 0; rank < 3; ++rank)
            expect_blocks_before_samples(ends, open, step, rank, 3, begin);
        }
      }
    }
  }
}

TEST(WindowReadAhead, OrdersWithoutBlocksAskForNone) {
  EXPECT_EQ(make_order(order_spec(1000))->steps_per_block(), 0);
  EXPECT_EQ(make_order(order_spec(1'000'000))->steps_per_block(), 0);
  EXPECT_EQ(make_order(order_spec(1000, Shuffle::kNone))->steps_per_block(), 0);
}

}  // namespace
}  // namespace dataline::window_test
