// Orders of mixes, as tests look at them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/memory/host_memory.h"
#include "core/order/mix.h"
#include "tests/order/order_support.h"

namespace dataline {

struct TestStage {
  int64_t step;
  std::vector<double> weights;
};

// A mix, and what its order borrows.
struct TestMix {
  std::vector<int64_t> counts = {};
  std::vector<double> repeats = {};    // or:
  std::vector<TestStage> stages = {};  // the first from step 0
  Shuffle shuffle = Shuffle::kFull;
  uint64_t seed = 1;
  int64_t samples_per_epoch = -1;
  int64_t global_batch = 1;
  bool drops_last = false, homogeneous = false;
  std::vector<std::vector<int64_t>> cuts = {};  // of each part; counts follow from them
  int64_t open_blocks = 512;
  std::vector<int64_t> starts = {}, block_ends = {};

  Result<std::unique_ptr<const MixOrder>> create() {
    starts = {0}, block_ends.clear();
    if (!cuts.empty()) counts.clear();
    for (const std::vector<int64_t>& cut : cuts) {
      const int64_t start = std::accumulate(counts.begin(), counts.end(), int64_t{0});
      for (const int64_t end : cut) block_ends.push_back(start + end);
      counts.push_back(cut.back());
    }
    for (const int64_t count : counts) starts.push_back(starts.back() + count);
    std::vector<MixOrderStage> order_stages;
    for (const TestStage& stage : stages) order_stages.push_back({stage.step, stage.weights});
    return MixOrder::create({.starts = starts,
                             .shuffle = shuffle,
                             .seed = seed,
                             .block_ends = block_ends,
                             .open_blocks = open_blocks,
                             .repeats = repeats,
                             .stages = order_stages,
                             .global_batch = global_batch,
                             .samples_per_epoch = samples_per_epoch,
                             .drops_last = drops_last,
                             .homogeneous = homogeneous,
                             .memory = HostMemory::create({})});
  }
  std::unique_ptr<const MixOrder> make() {
    auto order = create();
    EXPECT_TRUE(order.is_ok()) << (order.is_ok() ? "" : order.status().message());
    return order.take();
  }
  // The part of a sample, and its number there.
  std::pair<int64_t, int64_t> name(int64_t sample) const {
    size_t part = 0;
    while (sample >= starts[part + 1]) ++part;
    return {static_cast<int64_t>(part), sample - starts[part]};
  }
};

// Slots [first, first + count) of the job, across epochs, asked for in calls of `piece`.
inline std::vector<int64_t> job_samples(const Order& order, int64_t first, int64_t count,
                                        int64_t piece = 256) {
  std::vector<int64_t> out(static_cast<size_t>(count));
  TestTable table(order);
  for (int64_t done = 0; done < count;) {
    const int64_t epoch = (first + done) / order.slots(), slot = (first + done) % order.slots();
    const int64_t take = std::min({piece, count - done, order.slots() - slot});
    if (table.get().epoch != epoch) table.build(order, epoch);
    order.samples(epoch, &table.get(), slot, take, out.data() + done);
    done += take;
  }
  return out;
}

// The steps of an epoch of an order that says which slots they are; short ones are kept.
inline std::vector<std::vector<int64_t>> epoch_steps(const MixOrder& order, int64_t epoch) {
  std::vector<std::pair<int64_t, int64_t>> pieces;  // slots
  for (const SlotGroup& group : order.steps()->groups()) {
    for (int64_t at = 0; at < group.slots; at += group.rows)
      pieces.emplace_back(group.first_slot + at, std::min(group.rows, group.slots - at));
  }
  std::vector<std::vector<int64_t>> steps;
  for (int64_t step = 0; step < static_cast<int64_t>(pieces.size()); ++step) {
    const auto [first, count] = pieces[static_cast<size_t>(order.steps()->piece(epoch, step))];
    steps.emplace_back(static_cast<size_t>(count));
    order.samples(epoch, nullptr, first, count, steps.back().data());
  }
  return steps;
}

}  // namespace dataline
