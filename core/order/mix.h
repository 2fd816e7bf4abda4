// The order of a mix of datasets (parts): which part each slot belongs to, and which of its samples comes there. A pure function
// of (seed, epoch, slot), as every order, with random access in O(log parts).
//
// Samples are numbered through the parts: those of part k are [starts[k], starts[k + 1]).
//
// Weights. The slots of all epochs form one line, cut into periods of 1,024 slots. In each period a part has its exact share, rounded
// down or up; which of the two is chosen so that over the periods the share is exact: parts lie on a line of length 2^60 one
// after another, each as long as its share, and the period takes the parts under 1,024 points at equal distances, whose offset
// runs through the bit-reversed period number (a van der Corput sequence). A keyed bijection says which slot of the period is
// which point. So the samples of a part are counted: its j-th slot of the job is sample j % n of the part's pass j / n, and each
// pass is in file order or a permutation of its own. Where a stage of the schedule begins, a new line begins, and
// the counts go on. With homogeneous steps the same is done with steps in place of slots, in periods of 256.
//
// Repeats. An epoch holds each sample of a part floor(repeat) times, and round(frac(repeat) n) of them, drawn anew for each
// epoch, once more. With a shuffle it is one permutation of all that; without, the parts follow one another in file order.
// With homogeneous steps the same samples are cut into steps part by part, and the steps of all parts are mixed (mix_steps.cpp).
//
// shuffle=window. By weights each pass through a part is a window order of the part's blocks (mix_windows.h). By repeats all blocks,
// each as often as its part comes, are the blocks of one window order (mix_blocks.cpp).
//
// docs/pages/reference/order.md has the algorithm in Python; golden vectors pin it.
//
// Threads: immutable.
// Cost: per slot two bijections and a search, and per call the bijection of the slots before it in its period; 16 bytes a part and
// stage. With windows tables too: 12 bytes for each block of the passes that an epoch touches.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/status.h"
#include "core/memory/host_memory.h"
#include "core/order/buckets.h"
#include "core/order/order.h"

namespace dataline {

constexpr int32_t kMixSlotBits = 10;   // slots of a period, as a power of two
constexpr int32_t kMixStepBits = 8;    // steps of a period where steps are homogeneous
constexpr int32_t kMixShareBits = 60;  // the sum of all shares

// The weights from a step of the job on.
struct MixOrderStage {
  int64_t first_step = 0;
  std::span<const double> weights;  // one a part: finite, >= 0, at least one > 0
};

// Spans are read during create() only, but for `starts`, which must outlive the order.
struct MixOrderSpec {
  std::span<const int64_t> starts;  // one a part, and the end; each part has samples
  Shuffle shuffle = Shuffle::kNone;
  uint64_t seed = 0;
  // kWindow only, as in OrderSpec: the blocks of the parts, one part after the other; no block lies in two parts.
  std::span<const int64_t> block_ends = {};
  int64_t open_blocks = 512;
  // One of these two.
  std::span<const double> repeats = {};        // one a part: finite, > 0
  std::span<const MixOrderStage> stages = {};  // the first from step 0, then ascending
  int64_t global_batch = 1;
  // Of weights; -1: as many as the parts have; with homogeneous steps, the whole steps of these.
  int64_t samples_per_epoch = -1;
  bool drops_last = false;  // an epoch has whole steps only (steps of the schedule are counted so)
  bool homogeneous = false;
  std::shared_ptr<HostMemory> memory;  // never null
};

class MixOrder : public Order {
 public:
  // kBadOption: what contradicts each other; kUnsupported: windows of homogeneous steps by repeats; kTooLarge.
  static Result<std::unique_ptr<const MixOrder>> create(const MixOrderSpec& spec);

  // At a slot of an epoch: how many passes over the part all ranks have made (an estimate within a period), and the part's
  // share of the current slots.
  virtual double passes(int64_t part, int64_t epoch, int64_t slot) const = 0;
  virtual double share(int64_t part, int64_t epoch, int64_t slot) const = 0;

  // Which slots the steps are, where they do not follow one another; else null.
  virtual std::shared_ptr<const StepOrder> steps() const { return nullptr; }
};

// --- For tests ---

// Shares of 2^kMixShareBits by weight: rounded down, the rest to the first of the largest; summed up in out[k].
void mix_shares(std::span<const double> weights, std::span<uint64_t> ends);
// How many of the periods [0, period) have an offset that carries `fraction`, in units of 2^-bits, over a whole: offset(p) + fraction
// >= 2^bits, where offset(p) is the number of bits `bits` that is p reversed.
uint64_t mix_carries(uint64_t period, uint64_t fraction, int32_t bits);

}  // namespace dataline
