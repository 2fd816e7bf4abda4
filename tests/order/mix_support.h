// Orders of mixes, as tests look at them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/memory/host_memory.h"
#include "core/order/mix.h"

namespace dataline {

struct TestStage {
  int64_t step;
  std::vector<double> weights;
};

// A mix, and what its order borrows.
struct TestMix {
  std::vector<int64_t> counts;
  std::vector<double> repeats = {};    // or:
  std::vector<TestStage> stages = {};  // the first from step 0
  Shuffle shuffle = Shuffle::kFull;
  uint64_t seed = 1;
  int64_t samples_per_epoch = -1;
  int64_t global_batch = 1;
  bool drops_last = false, homogeneous = false;
  std::vector<int64_t> starts = {};

  Result<std::unique_ptr<const MixOrder>> create() {
    starts = {0};
    for (const int64_t count : counts) starts.push_back(starts.back() + count);
    std::vector<MixOrderStage> order_stages;
    for (const TestStage& stage : stages) order_stages.push_back({stage.step, stage.weights});
    return MixOrder::create({.starts = starts,
                             .shuffle = shuffle,
                             .seed = seed,
                             .repeats = repeats,
                             .stages = order_stages,
                             .samples_per_epoch = samples_per_epoch,
                             .global_batch = global_batch,
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
  for (int64_t done = 0; done < count;) {
    const int64_t slot = (first + done) % order.slots();
    const int64_t take = std::min({piece, count - done, order.slots() - slot});
    order.samples((first + done) / order.slots(), nullptr, slot, take, out.data() + done);
    done += take;
  }
  return out;
}

}  // namespace dataline
