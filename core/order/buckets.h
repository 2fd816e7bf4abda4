// Batches by length or shape: samples lie in buckets, a step takes its rows from one bucket, and the steps of all buckets are
// mixed.
//
//   bucket b     by length, the samples with edge[b - 1] < length <= edge[b]; by aspect (shapes.h), those nearest to shape b
//   slots        one bucket after another; each begins at the sum of the earlier ones' sizes, rounded up to whole steps, so
//                that the pads of last_batch=pad have slots that are nobody else's
//   pieces       each bucket's slots, cut into steps of rows[b]; numbered from bucket to bucket
//
// An epoch permutes the samples of each bucket (keyed by seed, bucket and epoch), cuts them, and permutes the pieces (keyed by
// seed and epoch): step t is piece(epoch, t). Every epoch has the same pieces, since a bucket never changes its size. With
// shuffle=none a bucket keeps file order, and pieces come in the order of their first sample.
//
// Cost: 4 bytes a sample (8 beyond 2^32), made once; with shuffle=none 4 bytes a step more. Nothing an epoch. A slot is one
// Feistel network and one read of that table, a step one network and a search among the buckets.
// Threads: immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/base/status.h"
#include "core/memory/host_memory.h"
#include "core/order/order.h"

namespace dataline {

struct BucketSpec {
  int64_t samples = 0;
  // The bucket of a sample, below rows.size(). Called by bucket_order() alone, twice a sample.
  std::function<size_t(int64_t sample)> bucket_of;
  std::span<const int64_t> rows;     // of a full step over all ranks, one a bucket, > 0; at least one
  bool drop_short_steps = false;     // last_batch=drop: a bucket's last, short step is no piece
  Shuffle shuffle = Shuffle::kNone;  // kNone or kFull
  uint64_t seed = 0;
  HostMemory* memory = nullptr;
};

// Slots of which each step takes its rows: no step has rows of two groups.
struct SlotGroup {
  int64_t first_slot = 0;
  int64_t slots = 0;
  int64_t rows = 1;  // of a full step, over all ranks
};

// Which slots the steps of an epoch are.
class StepOrder {
 public:
  virtual ~StepOrder() = default;
  virtual const std::vector<SlotGroup>& groups() const = 0;
  // The piece that is step `step` of the epoch; pieces are the groups' steps, group after group.
  virtual int64_t piece(int64_t epoch, int64_t step) const = 0;
};

struct BucketOrder {
  std::unique_ptr<const Order> order;
  std::shared_ptr<const StepOrder> steps;
};

// kOverBudget, kNoMemory.
Result<BucketOrder> bucket_order(const BucketSpec& spec);

// By length. `edges`: > 0, increasing, at least one.
// kOutOfRange names a sample whose length is negative or beyond the last edge.
Status check_lengths(std::span<const int64_t> lengths, std::span<const int64_t> edges);
inline size_t bucket_of_length(std::span<const int64_t> edges, int64_t length) {
  return static_cast<size_t>(std::lower_bound(edges.begin(), edges.end(), length) - edges.begin());
}

}  // namespace dataline
