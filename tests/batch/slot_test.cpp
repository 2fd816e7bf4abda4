// The states of a slot, and what it does with the rows of a batch: packing ragged ones, taking out bad ones.
// SPDX-License-Identifier: Apache-2.0
#include "core/batch/slot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/memory/pages.h"
#include "tests/batch/slot_memory.h"

namespace dataline::slot_test {
namespace {

using enum SlotState;
// In an order in which one follows the other.
constexpr SlotState kStates[] = {kFree, kFilling, kStaged, kCopying, kReady, kLeased, kDraining};

// The drawing at the top of slot.h, read off by hand.
const std::set<std::pair<SlotState, SlotState>> kDrawn = {
    {kFree, kFilling}, {kFilling, kStaged}, {kStaged, kCopying}, {kStaged, kReady},    {kCopying, kReady},
    {kReady, kLeased}, {kReady, kDraining}, {kLeased, kReady},   {kLeased, kDraining}, {kDraining, kFree}};

// A new slot taken to a state along drawn edges.
void bring(Slot& slot, SlotState to) {
  for (size_t i = 0; slot.state() != to; ++i) ASSERT_TRUE(slot.go(kStates[i], kStates[i + 1]));
}

TEST(SlotStates, EveryDrawnEdgeIsTakenAndEveryOtherRefused) {
  if (kStopsAtDefects) GTEST_SKIP() << "this build stops at a refused edge";
  for (SlotState now : kStates) {
    for (SlotState from : kStates) {
      for (SlotState to : kStates) {
        SlotMemory memory(1);
        bring(memory.slot(), now);
        const bool taken = now == from && kDrawn.contains({from, to});
        EXPECT_EQ(memory.slot().go(from, to), taken)
            << "in " << int(now) << ": " << int(from) << " to " << int(to);
        EXPECT_EQ(memory.slot().state(), taken ? to : now);
        EXPECT_EQ(slot_edge(from, to), kDrawn.contains({from, to}));
      }
    }
  }
  EXPECT_FALSE(slot_edge(static_cast<SlotState>(7), kFree)) << "no state of this enum";
}

TEST(SlotStates, ARefusedEdgeStopsTheBuildsThatLookForDefects) {
  if (!kStopsAtDefects) GTEST_SKIP() << "a release build tells of it: loader_defect";
  SlotMemory memory(1);
  bring(memory.slot(), kReady);
  EXPECT_DEATH(static_cast<void>(memory.slot().go(kStaged, kReady)), "") << "another state";
  EXPECT_DEATH(static_cast<void>(memory.slot().go(kReady, kFree)), "") << "no edge";
  EXPECT_TRUE(memory.slot().go(kReady, kLeased));
}

TEST(SlotStates, AnEdgeIsTakenByOneOfManyWhoTry) {
  if (kStopsAtDefects) GTEST_SKIP() << "this build stops at a refused edge";
  for (int round = 0; round < 300; ++round) {
    SlotMemory memory(1);
    bring(memory.slot(), kReady);
    std::atomic<int> leased{0}, drained{0};
    std::thread consumer([&] { leased += memory.slot().go(kReady, kLeased) ? 1 : 0; });
    std::thread seeker([&] { drained += memory.slot().go(kReady, kDraining) ? 1 : 0; });
    consumer.join();
    seeker.join();
    EXPECT_EQ(leased.load() + drained.load(), 1);
    EXPECT_EQ(memory.slot().state(), leased.load() == 1 ? kLeased : kDraining);
  }
}

TEST(Slot, FinishPacksRaggedRowsWhateverTheirLengths) {
  SlotMemory memory(32);
  for (uint64_t seed = 0; seed < 50; ++seed) {
    std::vector<int64_t> samples;
    const uint64_t count = random_below(random_bits(1, seed), 33);
    for (uint64_t i = 0; i < count; ++i)
      samples.push_back(static_cast<int64_t>(random_below(random_bits(2, seed, i), 1000)));
    memory.fill(samples, static_cast<int64_t>(count), std::vector<bool>(count));
    memory.slot().finish();
    SCOPED_TRACE(seed);
    memory.expect_samples(samples);
  }
}

TEST(Slot, RowsThatFillTheirShareAndRowsOfNothingPackToo) {
  SlotMemory memory(8);
  std::vector<int64_t> full, empty;  // of samples with 5 items, and with none
  for (int64_t sample = 0; full.size() < 8 || empty.size() < 8; ++sample) {
    if (item_count(sample) == kMostItems && full.size() < 8) full.push_back(sample);
    if (item_count(sample) == 0 && empty.size() < 8) empty.push_back(sample);
  }
  for (const std::vector<int64_t>& samples :
       {full, empty, std::vector<int64_t>{empty[0], full[0], empty[1]}}) {
    memory.fill(samples, static_cast<int64_t>(samples.size()), std::vector<bool>(samples.size()));
    memory.slot().finish();
    memory.expect_samples(samples);
  }
}

BadRow bad_row(int64_t row, int64_t replacement, bool pad) {
  BadRow bad;
  bad.row = row;
  bad.replacement = replacement;
  bad.pad = pad;
  return bad;
}

// Against a model: rows that have no sample go, those with a stand-in stay, pads are not counted.
TEST(Slot, DropBadRowsLeavesTheOthersInOrder) {
  SlotMemory memory(24);
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const int64_t rows = 1 + static_cast<int64_t>(random_below(random_bits(3, seed), 24));
    const int64_t valid =
        static_cast<int64_t>(random_below(random_bits(4, seed), static_cast<uint64_t>(rows) + 1));
    std::vector<int64_t> samples, kept;
    std::vector<bool> failed;
    std::vector<BadRow> bad;
    int64_t dropped = 0;
    for (int64_t row = 0; row < rows; ++row) {
      const uint64_t draw = random_below(random_bits(5, seed, static_cast<uint64_t>(row)), 4);
      samples.push_back(row * 3 + static_cast<int64_t>(seed));
      failed.push_back(draw == 0);
      if (draw == 0) bad.push_back(bad_row(row, -1, row >= valid));
      if (draw == 1) bad.push_back(bad_row(row, samples.back(), row >= valid));
      if (draw != 0) kept.push_back(samples.back());
      dropped += draw == 0 && row < valid ? 1 : 0;
    }
    memory.fill(samples, valid, failed);
    for (auto one = bad.rbegin(); one != bad.rend(); ++one)
      memory.slot().add_bad(*one);  // workers end in any order
    memory.slot().finish();
    memory.slot().drop_bad_rows();
    EXPECT_EQ(memory.slot().skipped, dropped);
    EXPECT_EQ(memory.slot().loaded, rows);
    EXPECT_EQ(memory.slot().valid, valid - dropped);
    memory.expect_samples(kept);
  }
}

TEST(Slot, WithoutBadRowsNothingIsDroppedAndWithOnlyBadOnesNothingIsLeft) {
  SlotMemory memory(4);
  memory.fill({7, 8, 9}, 3, {false, false, false});
  memory.slot().finish();
  memory.slot().drop_bad_rows();
  EXPECT_EQ(memory.slot().skipped, 0);
  memory.expect_samples({7, 8, 9});
  memory.fill({7, 8, 9}, 2, {true, true, true});
  for (int64_t row = 0; row < 3; ++row) memory.slot().add_bad(bad_row(row, -1, row == 2));
  memory.slot().finish();
  memory.slot().drop_bad_rows();
  EXPECT_EQ(memory.slot().skipped, 2);
  EXPECT_EQ(memory.slot().valid, 0);
  memory.expect_samples({});
}

TEST(Slot, OpenStartsAfresh) {
  SlotMemory memory(4);
  Slot& slot = memory.slot();
  memory.fill({1, 2}, 2, {false, true});
  slot.add_bad(bad_row(1, -1, false));
  slot.lost.store(true);
  slot.failed = error(Code::kNoMemory, "lost");
  slot.skipped = 1;
  slot.open(9, 8, 700, 3, 1);
  EXPECT_EQ(slot.epoch, 9);
  EXPECT_EQ(slot.step, 8);
  EXPECT_EQ(slot.first_slot, 700);
  EXPECT_EQ(slot.samples, 3);
  EXPECT_EQ(slot.valid, 1);
  EXPECT_TRUE(slot.bad_rows().empty());
  EXPECT_FALSE(slot.lost.load());
  EXPECT_TRUE(slot.failed.is_ok()) << slot.failed.message();
  EXPECT_EQ(slot.skipped, 0);
  EXPECT_EQ(slot.loaded, 3);
}

TEST(Slot, ARowThatIsGivenUpGivesBackThePagesThatWereNotCounted) {
  const int64_t page = page_bytes(), share = 4 * page;
  Storage text;
  text.kind = FieldKind::kRagged;
  text.row_bytes = share;
  const std::vector<OutputField> outputs = {
      OutputField{.field = {"text", FieldKind::kRagged, DType::kU8, {-1}, "", -1}}};
  const Layout layout = plan_layout({text}, {}, 2).take();
  const std::shared_ptr<HostMemory> memory = HostMemory::create({}, page);
  Block shares = memory->allocate_address_space(2 * share, "the test").take();
  std::vector<std::max_align_t> fixed(static_cast<size_t>(layout.fixed_bytes) / sizeof(std::max_align_t) + 1);
  Slot slot(layout, outputs, {.host = reinterpret_cast<std::byte*>(fixed.data()), .shares = &shares});
  slot.open(0, 0, 0, 2, 2);
  std::memset(shares.data(), 1, static_cast<size_t>(2 * share));
  EXPECT_TRUE(slot.hold_row(0, 0, 100)) << "as far as the limit goes";
  EXPECT_FALSE(slot.hold_row(0, 0, share));
  slot.forget_row(0);
  const auto bytes_left = [&](int64_t begin, int64_t end) {
    return std::count(shares.data() + begin, shares.data() + end, std::byte{1});
  };
  EXPECT_EQ(bytes_left(0, page), page) << "what is counted is kept for the next row";
  EXPECT_EQ(bytes_left(page, share), 0);
  EXPECT_EQ(bytes_left(share, 2 * share), share) << "the other row's";
}

TEST(Slot, ManyWorkersBookBadRowsAtOnce) {
  SlotMemory memory(4);
  memory.slot().open(0, 0, 0, 4, 4);
  std::vector<std::thread> workers;
  for (int64_t worker = 0; worker < 4; ++worker) {
    workers.emplace_back([&, worker] {
      for (int64_t i = 0; i < 500; ++i) memory.slot().add_bad(bad_row(worker * 500 + i, -1, false));
    });
  }
  for (std::thread& worker : workers) worker.join();
  std::set<int64_t> rows;
  for (const BadRow& bad : memory.slot().bad_rows()) rows.insert(bad.row);
  EXPECT_EQ(rows.size(), 2000u);
}

}  // namespace
}  // namespace dataline::slot_test
