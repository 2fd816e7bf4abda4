// Which sample comes next: a pure function (seed, epoch, slot) -> sample index. Nothing here depends on
// threads, ranks, batch size or timing.
//
// A slot is a position in the epoch's order, 0 <= slot < slots(). Orders that need a table (Fisher-Yates, weights without
// replacement) build it an epoch ahead, in slices, in memory that the loader planned.
//
// Threads: an Order is immutable; EpochTable is externally synchronized until ready, immutable after.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/base/status.h"
#include "core/memory/host_memory.h"

namespace dataline {

enum class Shuffle : int32_t { kNone = 0, kFull = 1, kWindow = 2 };

struct OrderSpec {
  int64_t sample_count = 0;
  Shuffle shuffle = Shuffle::kNone;
  uint64_t seed = 0;
  // kWindow only: where the runs of neighbouring records end that are read together (ascending, the last is sample_count;
  // copied), how many of them may be open at once, and the slots of a step, over all ranks.
  std::span<const int64_t> block_ends = {};
  int64_t open_blocks = 512;
  int64_t step_slots = 1;
  // At most one of these; borrowed, must outlive the Order.
  std::span<const int64_t> indices;  // the caller's own order
  std::span<const double> weights;   // one per sample
  bool has_indices = false;
  bool replacement = true;             // weights only
  int64_t samples_per_epoch = -1;      // weights only; -1: sample_count
  std::shared_ptr<HostMemory> memory;  // for tables made at create (alias table); never null
};

// The table of one epoch, in table_bytes() of memory that is reused from epoch to epoch.
struct EpochTable {
  std::byte* memory = nullptr;  // 64-byte aligned
  int64_t epoch = -1;
  int64_t done = 0;  // steps done of Order::table_steps()
};

// Records [first, first + count) of a source.
struct RecordRange {
  int64_t first = 0, count = 0;
};
class RecordRanges {
 public:
  virtual ~RecordRanges() = default;
  virtual void add(RecordRange range) = 0;
};

class Order {
 public:
  // kOutOfRange names the position and value of a bad index or weight; kBadOption: conflicting options.
  static Result<std::unique_ptr<const Order>> create(const OrderSpec& spec);
  virtual ~Order() = default;

  virtual int64_t slots() const = 0;  // per epoch

  // Bytes and build steps of an epoch's table; both 0 for orders without one.
  virtual int64_t table_bytes() const { return 0; }
  virtual int64_t table_steps() const { return 0; }
  virtual void begin_table(EpochTable& table, int64_t epoch) const { table.epoch = epoch, table.done = 0; }
  // Does up to `steps` more steps; the table is ready when done == table_steps().
  virtual void advance_table(EpochTable& table, int64_t steps) const {
    static_cast<void>(table), static_cast<void>(steps);
  }

  // Writes the samples of slots [first, first + count). `table` is the epoch's complete table, or null when
  // table_bytes() is 0. Returns true when the samples are consecutive (file order).
  virtual bool samples(int64_t epoch, const EpochTable* table, int64_t first, int64_t count,
                       int64_t* out) const = 0;

  // Bytes that create() allocated for the lifetime of the order (alias tables, blocks), for the memory plan.
  virtual int64_t allocated_bytes() const { return 0; }
  // What a saved state of this order depends on beside seed, epoch and samples, as " name=value" each.
  virtual std::string parameters() const { return {}; }

  // Orders that draw a step's samples from blocks of neighbouring records: in how many steps at most a block's samples are
  // drawn, 0 for other orders, and the records of a block on average.
  virtual int64_t steps_per_block() const { return 0; }
  virtual int64_t records_per_block() const { return 0; }
  // Every rank needs the blocks of all rows of a step, because its rows fall anywhere.
  virtual bool ranks_share_blocks() const { return false; }
  // The blocks that will be needed by rows [row, row + rows) of each step. `from` and `to` are steps of a sweep over the
  // epoch which takes blocks in the order in which they lie in the epoch's order: no block is needed more than
  // steps_per_block() steps before the sweep finds it. Each is found once, unless a sweep begins at it (`begins`), rows of
  // other ranks need it too, or the epoch takes it again. Those that are not needed any more at step `now` are left out.
  struct Sweep {
    int64_t row = 0, rows = 0;
    int64_t now = 0, from = 0, to = 0;
    bool begins = false;
  };
  virtual void find_blocks(const EpochTable& table, const Sweep& sweep, RecordRanges& found) const {
    static_cast<void>(table), static_cast<void>(sweep), static_cast<void>(found);
  }
};

// Whether a sample of this weight, finite and not negative, can be drawn. Denormal weights (below 2^-1022) count as 0;
// decided by the bits, so that hosts that flush denormals to zero get the same order.
inline bool can_be_drawn(double weight) { return (std::bit_cast<uint64_t>(weight) << 1 >> 53) != 0; }

// Rank r of R takes slots [step_begin + floor(L r / R), step_begin + floor(L (r + 1) / R)) of a step of L
// slots.
struct SlotRange {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t count() const { return end - begin; }
};
SlotRange rank_slots(int64_t step_begin, int64_t step_slots, int64_t rank, int64_t world_size);

}  // namespace dataline
