// The memory plan.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "core/base/checked.h"
#include "core/loader/batch_window.h"
#include "core/loader/config.h"
#include "core/loader/epochs.h"
#include "core/loader/filler.h"
#include "core/loader/pipeline.h"
#include "core/order/steps.h"

namespace dataline {
namespace {

constexpr int64_t kPageBytes = 4096;
constexpr int64_t kLimitBytes = int64_t{1} << 50;
// prefetch_depth=auto takes no more memory for slots than this: what is far ahead of the consumer seldom helps it.
constexpr int64_t kMostAutoSlotBytes = int64_t{256} << 20;

// More than kLimitBytes where it does not fit an integer.
int64_t bytes_of(int64_t count, int64_t stride) {
  return checked_multiply(count, stride).value_or(std::numeric_limits<int64_t>::max());
}

// Of what the heap holds for one slot: itself, its place in the window, its views and their tables, by their sizes.
int64_t slot_object_bytes(const Pipeline& pipeline) {
  constexpr int64_t kHeapOverhead = 64,
                    kShapeOverhead = 128;  // of a slot; of the shape and the strides of a field
  constexpr int64_t kOutputBytes =
      sizeof(BatchView) + sizeof(std::string) + 2 * sizeof(std::vector<int64_t>) + kShapeOverhead;
  const auto outputs = std::ssize(pipeline.outputs), storages = std::ssize(pipeline.layout.storages);
  return int64_t{sizeof(Slot)} + int64_t{sizeof(BatchInFlight)} + outputs * kOutputBytes +
         storages * int64_t{sizeof(std::byte*) + sizeof(int64_t)} + kHeapOverhead;
}

// Appends count * stride bytes to the arena; false when that is beyond any machine.
bool append(MemoryPlan& plan, int64_t count, int64_t stride, int64_t& offset) {
  offset = plan.arena_bytes;
  const int64_t bytes = bytes_of(count, stride);
  if (bytes > kLimitBytes) return false;
  plan.arena_bytes = round_up(plan.arena_bytes + bytes, kPageBytes);
  return plan.arena_bytes <= kLimitBytes;
}

// Less of what nobody asked for by a number. False: there is no more of that.
bool shrink(LoaderConfig& config) {
  if (config.window.prefetch_depth > config.window.start_depth) {
    config.window.prefetch_depth = std::max(config.window.prefetch_depth / 2, config.window.start_depth);
  } else if (config.workers.num_workers > config.workers.start_workers) {
    config.workers.num_workers = std::max(config.workers.num_workers / 2, config.workers.start_workers);
  } else if (config.workers.workers_are_auto && config.workers.num_workers > 1) {
    config.workers.num_workers = config.workers.start_workers = config.workers.num_workers / 2;
  } else {
    return false;
  }
  return true;
}

// Slots that leases can have: consumers that hold more are rare, and a copy costs them less than idle slots cost the others.
// kLeaseSlots of any size, more while they are small; fewer where the budget is small, down to kFewLeaseSlots.
constexpr int64_t kMaxLeaseSlots = 1024, kLeaseSlots = 16;
constexpr int64_t kLeaseSlotBytes = int64_t{64} << 20;

// More than the batches of the job are never held, except by a consumer that seeks back with all of them held.
int64_t lease_slots_for(const LoaderConfig& config, const Steps& steps, int64_t slot_bytes) {
  const int64_t small =
      std::clamp(kLeaseSlotBytes / std::max<int64_t>(slot_bytes, 1), kLeaseSlots, kMaxLeaseSlots);
  const int64_t wanted = std::min(config.window.max_leases, small);
  if (config.job.epochs == 0) return wanted;
  return std::clamp<int64_t>(bytes_of(steps.count(), config.job.epochs), 1, wanted);
}

// What decides the size of the order's tables.
const char* name_of_order(const LoaderConfig& config) {
  if (!config.buckets.edges.empty()) return "bucket_edges";
  if (config.order.weights.given)
    return config.order.replacement ? "weights" : "weights with replacement=false";
  if (config.order.shuffle == Shuffle::kFull) return "shuffle=full";
  return config.order.shuffle == Shuffle::kWindow ? "shuffle=window" : "the mix";
}

MemoryPlan plan_with(const LoaderConfig& config, const Pipeline& pipeline, const Order& order,
                     const Steps& steps, bool pinned, int64_t max_lease_slots) {
  MemoryPlan plan;
  const int64_t workers = config.workers.num_workers;
  // In the caller's thread one batch is loaded at a time, when it is asked for.
  const int64_t depth = workers > 0 ? config.window.prefetch_depth : 1;
  const Layout& layout = pipeline.layout;
  const bool of_pages = pinned || pipeline.resident || layout.fixed_bytes >= kPageBytes;
  plan.slot_stride =
      round_up(pinned ? layout.slot_bytes : layout.fixed_bytes, of_pages ? kPageBytes : kTensorAlignment);
  plan.shares_stride = pinned ? 0 : round_up(layout.slot_bytes - layout.fixed_bytes, kPageBytes);
  plan.lease_slots =
      std::min(max_lease_slots, lease_slots_for(config, steps, plan.slot_stride + plan.shares_stride));
  plan.slot_count = depth + plan.lease_slots;
  if (pipeline.resident) {  // the slots together are what the set is sent from
    const int64_t share = (pipeline.resident->staging_bytes + plan.slot_count - 1) / plan.slot_count;
    plan.slot_stride = std::max(plan.slot_stride, round_up(share, kPageBytes));
  }
  plan.table_count = order.table_bytes() > 0 ? EpochTables::count_for(depth, steps.count()) : 0;
  plan.table_stride = round_up(order.table_bytes(), 64);
  plan.scratch_count = workers + 1;  // the last one is the consumer's, see WorkerPool::wait_for()
  plan.scratch_stride = round_up(WorkerScratch::bytes_for(pipeline), kPageBytes);

  bool fits = append(plan, plan.slot_count, plan.slot_stride, plan.slots_offset);
  fits = fits && append(plan, plan.table_count, plan.table_stride, plan.tables_offset);
  fits = fits && append(plan, plan.scratch_count, plan.scratch_stride, plan.scratch_offset);
  plan.state_bytes = pipeline.state_bytes;
  plan.state_count = workers + (pipeline.consumer_fills(workers) ? 1 : 0);
  const int64_t states = bytes_of(plan.state_count, plan.state_bytes);
  fits = fits && states <= kLimitBytes && bytes_of(plan.slot_count, plan.shares_stride) <= kLimitBytes;
  plan.slot_objects_bytes = plan.slot_count * slot_object_bytes(pipeline);
  plan.order_bytes =
      plan.table_count * plan.table_stride + order.allocated_bytes() + config.memory.bucket_table_bytes;
  plan.held_bytes = plan.arena_bytes + plan.slot_objects_bytes + order.allocated_bytes() +
                    config.memory.bucket_table_bytes + (fits ? states : 0);
  if (pipeline.resident) plan.held_bytes += pipeline.resident->state_bytes;

  plan.fits = fits;
  return plan;
}

Status over_budget(const LoaderConfig& config, const MemoryPlan& plan) {
  const bool fits = plan.fits;
  const char* limit = config.memory.budget_is_auto ? "half of what this process may use" : "memory_budget";
  const std::string needed =
      fits ? concat("needs ", plan.held_bytes, " bytes") : std::string("does not fit in any memory");
  const bool decodes = plan.state_bytes > 0;
  const std::string states_text =
      decodes ? concat(", decoders of ", plan.state_count, " threads with ", plan.state_bytes, " each")
              : std::string();
  // Where the order takes most of it, other options than its own hardly help.
  const std::string advice =
      fits && plan.order_bytes > plan.held_bytes / 2
          ? concat("; the tables of ", name_of_order(config), " take ", plan.order_bytes,
                   " bytes of it: raise memory_budget to at least ", plan.held_bytes,
                   ", or choose another order")
          : concat("; ",
                   fits ? concat("raise memory_budget to at least ", plan.held_bytes, " or ") : std::string(),
                   "lower batch_size, prefetch_depth, max_leases",
                   decodes ? ", max_bytes_per_sample, num_workers or max_decoded_bytes"
                           : " or max_bytes_per_sample");
  return error(Code::kOverBudget, "the plan ", needed, " (", plan.slot_count, " slots of ", plan.slot_stride,
               " and ", plan.slot_objects_bytes / plan.slot_count, ", ", plan.table_count,
               " order tables of ", plan.table_stride, ", ", plan.scratch_count, " scratches of ",
               plan.scratch_stride, states_text, "), but ", limit, " is ", config.memory.budget_bytes,
               advice);
}

Result<MemoryPlan> plan_memory(const LoaderConfig& config, const Pipeline& pipeline, const Order& order,
                               const Steps& steps, bool pinned) {
  for (int64_t leases = kMaxLeaseSlots;;) {
    const MemoryPlan plan = plan_with(config, pipeline, order, steps, pinned, leases);
    if (plan.fits && plan.held_bytes <= config.memory.budget_bytes) return plan;
    if (plan.lease_slots <= kFewLeaseSlots) return over_budget(config, plan);
    leases = std::max(plan.lease_slots / 2, kFewLeaseSlots);
  }
}

}  // namespace

Result<MemoryPlan> fit_plan(LoaderConfig& config, const Pipeline& pipeline, const Order& order,
                            const Steps& steps, bool pinned) {
  // Memory of a device, and page-locked memory, is taken from others: only for tuning that was requested.
  if (config.workers.tune_is_auto && pinned) config.window.prefetch_depth = config.window.start_depth;
  for (;;) {
    Result<MemoryPlan> plan = plan_memory(config, pipeline, order, steps, pinned);
    if (!plan.is_ok() && plan.status().code() != Code::kOverBudget) return plan;
    bool large = !plan.is_ok();
    if (plan.is_ok()) {
      const bool unknown = plan.value().shares_stride > 0;
      const int64_t slots = plan.value().slot_count * plan.value().slot_stride;
      large = (config.window.prefetch_depth > config.window.start_depth &&
               (unknown || slots > kMostAutoSlotBytes)) ||
              (unknown && plan.value().held_bytes > config.memory.budget_bytes / 2);
    }
    if (!large || !shrink(config)) return plan;
  }
}

}  // namespace dataline
