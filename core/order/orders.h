// The orders that Order::create() makes, whose sources say how they work, and what tests look at in them.
// Threads: immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/base/simd.h"
#include "core/memory/host_memory.h"
#include "core/order/feistel.h"
#include "core/order/order.h"

namespace dataline {

// Full shuffle of [2, kFisherYatesEnd) samples: fisher_yates.cpp, with a table. `target` must run on this machine; tests choose
// it, here and below.
constexpr int64_t kFisherYatesEnd = 65536;
std::unique_ptr<const Order> fisher_yates_order(int64_t sample_count, uint64_t seed, SimdTarget target);

// Writes words first, first + 1, ... of splitmix64 from `key`: mix64(key + (i + 1) * kGolden64).
using WordsFunction = void (*)(uint64_t key, int64_t first, int64_t count, uint64_t* out);
WordsFunction words_function(SimdTarget target);

// Writes the samples of slots [first, first + count); first + count <= n.
using FeistelFunction = void (*)(const Feistel& feistel, uint64_t first, int64_t count, int64_t* out);
FeistelFunction feistel_function(SimdTarget target);

// The same for a few slots of each of several bijections of n places, n a power of two, whose keys differ: one after the
// other in `out`, as fast as so many slots of one.
struct FeistelRun {
  uint64_t key = 0;  // of make_feistel()
  uint64_t first = 0;
  int64_t count = 0;
};
using FeistelRunsFunction = void (*)(int64_t n, const FeistelRun* runs, int64_t run_count, int64_t* out);
FeistelRunsFunction feistel_runs_function(SimdTarget target);

// Full shuffle of at least 2 samples without a table: feistel.h.
std::unique_ptr<const Order> feistel_order(int64_t sample_count, uint64_t seed, SimdTarget target);

// Shuffled inside windows of permuted blocks: window.h. `block_ends` ascend and end with sample_count, which is at least 2.
Result<std::unique_ptr<const Order>> window_order(const OrderSpec& spec, SimdTarget target);

// Weighted draws with replacement: alias.cpp. The weights are finite, >= 0 and at least one is > 0; they are not kept.
Result<std::unique_ptr<const Order>> alias_order(std::span<const double> weights, int64_t samples_per_epoch,
                                                 uint64_t seed, HostMemory& memory);
struct AliasColumn {
  uint64_t keep;  // below this height: the column's own sample
  int64_t alias;
};
void fill_alias_columns(std::span<const double> weights, AliasColumn* columns);  // one a weight

// Weighted draws without replacement: race.cpp. `weights`: as above, but borrowed, and must not change; `finishers` of them can
// be drawn, at least samples_per_epoch.
std::unique_ptr<const Order> race_order(std::span<const double> weights, int64_t finishers,
                                        int64_t samples_per_epoch, uint64_t seed);
// -log(1 - U) for the uniform U in (0, 1) given by the bits, with full relative precision at both ends.
double exponential_draw(uint64_t bits);
// A word that compares as time / weight does, without overflow or underflow, for time > 0 and every weight that can be
// drawn.
uint64_t race_key(double time, double weight);

}  // namespace dataline
