// Delivery to a device: sending a full slot, the time until its copies are done, slots that wait for that before they
// can be filled again, and the events that order all this with the consumer's streams. Nobody waits on the host but
// workers that have nothing else to do, and what next() does itself with num_workers=0.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/atomic.h"
#include "core/base/thread_mutex.h"
#include "core/base/thread_wait.h"
#include "core/loader/config/delivery.h"
#include "core/loader/config/workers.h"
#include "core/loader/delivery.h"
#include "core/loader/metrics/metrics.h"

namespace dataline {
namespace {

// How long next() waits for slots that only the end of a graph capture can give back, before it says so: its own thread
// may be the one that captures. And how often a worker looks: nothing tells of the end.
constexpr int64_t kCapturePatienceNs = 1'000'000'000;
constexpr int64_t kCapturePollNs = 1'000'000;

// A gap below this is copied along: cheaper than another copy.
constexpr int64_t kMergedGapBytes = int64_t{64} << 10;

class DeviceDelivery final : public Delivery {
 public:
  DeviceDelivery(Device& device, const Pipeline& pipeline, const DeliveryConfig& config,
                 const WorkerConfig& workers)
      : Delivery(device, pipeline, config), workers_(workers) {}
  ~DeviceDelivery() override {
    held_copies_.clear();
    halves_.clear();
    resident_.reset();
  }

  // --- At create ---

  Status prepare(std::span<std::byte> memory, int64_t stride) override {
    DL_RETURN_IF_ERROR(Delivery::prepare(memory, stride));
    if (pipeline_.resident) {
      DL_ASSIGN_OR_RETURN(resident_, device_.make_block(pipeline_.resident->bytes));
    }
    const int64_t count = static_cast<int64_t>(memory.size()) / stride;
    DL_ASSIGN_OR_RETURN(auto slots, device_.make_slots(count, pipeline_.layout.device_bytes));
    for (std::unique_ptr<DeviceSlot>& slot : slots) {
      Half half{.slot = std::move(slot), .ranges = {}, .calls = {}};
      half.ranges.reserve(pipeline_.layout.storages.size() + 1);
      for (const DeviceTail& tail : pipeline_.tails) half.calls.push_back(call_for(tail));
      halves_.push_back(std::move(half));
    }
    if (!halves_.empty()) DL_RETURN_IF_ERROR(device_.load_kernels(*halves_[0].slot, halves_[0].calls));
    ThreadLock lock(mutex_);
    copying_.reserve(slots.size());
    draining_.reserve(slots.size());
    return Status::ok();
  }

  void place(int64_t slot, SlotPlace& place) override {
    Delivery::place(slot, place);
    place.device = halves_[static_cast<size_t>(slot)].slot->memory();
    place.device_type = device_.type();
    place.device_index = device_.index();
  }

  void time_for(Metrics& metrics) override { metrics_ = &metrics; }

  Status upload(const CancelToken* token, std::span<std::byte> staging, WorkerScratch& scratch,
                HostMemory& memory) override {
    if (resident_ == nullptr) return Status::ok();
    DL_RETURN_IF_ERROR(upload_resident(pipeline_, token, staging, scratch, memory, *resident_));
    copied_bytes_.fetch_add(pipeline_.source->count() * pipeline_.resident->row_bytes,
                            std::memory_order_relaxed);
    std::fill(staging.begin(), staging.end(), std::byte{0});
    return Status::ok();
  }

  // --- Sending ---

  bool needs_worker() const override { return copy_wanted_.load() || drain_wanted_.load(); }
  bool copy_wanted() const override { return copy_wanted_.load(std::memory_order_relaxed); }  // a hint

  bool send(Slot& slot, int64_t sequence) override {
    if (!slot.go(SlotState::kStaged, SlotState::kCopying)) return true;  // which ready() then reports
    slot.failed = queue(slot);
    if (config_.device_sync == DeviceSync::kStream || !slot.failed.is_ok()) return true;
    if (workers_.num_workers == 0) {
      slot.failed = half(slot).wait_for_copies();
      return true;
    }
    ThreadLock lock(mutex_);
    copying_.push_back({sequence, &slot});
    if (sequence == wanted_) copy_wanted_.store(true);
    return false;
  }

  bool take_copying(int64_t sequence) override {
    ThreadLock lock(mutex_);
    const auto found = find(sequence);
    if (found == copying_.end()) return false;
    copying_.erase(found);
    return true;
  }

  // Asks, where the copies are not done yet, for a worker that waits for them: see needs_worker().
  bool take_complete(Slot& slot, int64_t sequence) override {
    ThreadLock lock(mutex_);
    const auto found = find(sequence);
    if (found == copying_.end()) return false;
    const DeviceThread here(device_);
    if (!half(slot).copies_done()) {
      copy_wanted_.store(true);
      return false;
    }
    copying_.erase(found);
    if (device_.lost()) slot.failed = lost_error();
    return true;
  }

  bool want(int64_t sequence) override {
    ThreadLock lock(mutex_);
    wanted_ = sequence;
    if (find(sequence) == copying_.end()) return false;
    copy_wanted_.store(true);
    return true;
  }

  // What the consumer waits for comes first: its next batch, else the oldest slot that drains if nothing else is left to
  // be filled. Off its list a slot is this thread's, whatever a seek does.
  Finished finish_copies() override {
    ThreadLock lock(mutex_);
    copy_wanted_.store(false);
    const auto head = find(wanted_);
    if (head != copying_.end()) {
      const Copying taken = *head;
      copying_.erase(head);
      lock.unlock();
      taken.slot->failed = half(*taken.slot).wait_for_copies();
      return {.any = true, .batch = taken.slot, .sequence = taken.sequence};
    }
    if (!drain_wanted_.exchange(false) || draining_.empty()) return {};
    lock.unlock();
    return wait_for_drained();
  }

  // --- Slots that come back ---

  bool release(Slot& slot) override {
    ThreadLock lock(mutex_);
    draining_.push_back(&slot);
    return false;
  }

  Slot* take_drained() override {
    ThreadLock lock(mutex_);
    free_held_copies();
    const auto found =
        std::find_if(draining_.begin(), draining_.end(), [this](Slot* slot) { return is_free(*slot); });
    if (found == draining_.end()) {
      if (!draining_.empty() && drain_error_.is_ok()) drain_wanted_.store(true);
      return nullptr;
    }
    Slot* slot = *found;
    draining_.erase(found);
    held_since_ns_.store(0);
    return slot;
  }

  Finished wait_for_drained() override {
    ThreadLock lock(mutex_);
    if (draining_.empty()) return {};
    const auto found =
        std::find_if(draining_.begin(), draining_.end(), [this](Slot* slot) { return half(*slot).settle(); });
    if (found == draining_.end()) {
      lock.unlock();
      return wait_for_capture();
    }
    Slot* const slot = *found;
    draining_.erase(found);
    held_since_ns_.store(0);
    lock.unlock();
    Status status = half(*slot).wait_for_copies();
    if (status.is_ok() || device_.lost()) return {.any = true, .drained = slot};
    // Nobody can tell whether its copies are done. next() says why, and it is tried again.
    lock.lock();
    draining_.push_back(slot);
    drain_error_ = std::move(status);
    has_drain_error_.store(true);
    return {.any = true};
  }

  Status held() override {
    const int64_t since_ns = held_since_ns_.load();
    if (since_ns == 0 || monotonic_ns() - since_ns < kCapturePatienceNs) return Status::ok();
    held_since_ns_.store(0);  // the next call waits anew
    return error(Code::kWrongState,
                 "no batch can be filled: all free batches were released in streams that are being captured "
                 "into a CUDA graph, and their memory cannot be reused until the capture ends; end it, or "
                 "take batches before it begins");
  }

  // --- Consumers ---

  Status wait(Batch& batch, void* stream) override { return half_of(batch).wait(stream); }
  Status done(Batch& batch, void* stream) override { return half_of(batch).release(stream); }
  void passed_on(Batch& batch) noexcept override { half_of(batch).passed_on(); }
  void last_release(Batch& batch) noexcept override { half_of(batch).done(); }

  Status failure() override {
    if (device_.lost()) return lost_error();
    if (!has_drain_error_.load()) return Status::ok();
    ThreadLock lock(mutex_);
    has_drain_error_.store(false);
    // It is tried again: nobody who opens a batch may be there to ask for it.
    if (!draining_.empty()) drain_wanted_.store(true);
    return std::exchange(drain_error_, Status::ok());
  }

  // The memory of a copy that was released in a stream that is being captured cannot be freed before the capture is over:
  // it is kept until somebody looks for free memory after that. Where even the list has no memory it is leaked.
  void give_up(std::unique_ptr<OverflowBatch> batch) noexcept override {
    const DeviceThread here(device_);
    if (batch->device->settle()) return;
    ThreadLock lock(mutex_);
    try {
      held_copies_.push_back(std::move(batch->device));
    } catch (...) {
    }
  }

  Result<std::unique_ptr<OverflowBatch>> copy(Slot& slot, HostMemory& memory) override {
    {
      const DeviceThread here(device_);
      ThreadLock lock(mutex_);
      free_held_copies();
    }
    DL_ASSIGN_OR_RETURN(auto copy, device_.copy_slot(half(slot), pipeline_.layout.device_bytes));
    return copy_batch(slot, memory, std::move(copy));
  }

 private:
  // A slot's half on the device, and what sending it takes: filled anew for each batch, without allocating.
  struct Half {
    std::unique_ptr<DeviceSlot> slot;
    std::vector<CopyRange> ranges;
    std::vector<TailCall> calls;
  };
  struct Copying {
    int64_t sequence;
    Slot* slot;
  };

  void free_held_copies() DL_REQUIRES(mutex_) {
    std::erase_if(held_copies_, [](const auto& copy) { return copy->settle(); });
  }

  bool is_free(Slot& slot) { return half(slot).settle() && half(slot).copies_done(); }

  // Every slot that drains is held by a capture.
  Finished wait_for_capture() {
    int64_t none = 0;
    held_since_ns_.compare_exchange_strong(none, monotonic_ns());
    static_cast<void>(capture_over_.wait(monotonic_ns() + kCapturePollNs, [] { return false; }));
    drain_wanted_.store(true);
    return {.any = true};
  }

  DeviceSlot& half(const Slot& slot) { return *halves_[static_cast<size_t>(slot.number)].slot; }
  DeviceSlot& half_of(Batch& batch) {
    return batch.in_slot ? half(static_cast<Slot&>(batch)) : *static_cast<OverflowBatch&>(batch).device;
  }

  // The parts of a call that are the same for every batch.
  TailCall call_for(const DeviceTail& tail) const {
    const Layout& layout = pipeline_.layout;
    const auto storage = static_cast<size_t>(tail.storage);
    TailCall call;
    call.tail = &tail.tail;
    if (resident_ != nullptr) {
      const ResidentRows& source = pipeline_.resident->storages[storage];
      call.resident = resident_->memory();
      call.source_offset = source.offset + tail.storage_offset;
      call.source_stride = source.row_bytes;
      call.index_offset = layout.records_offset;
    } else {
      const Storage& source = layout.storages[storage];
      call.source_offset = source.offset + tail.storage_offset;
      call.source_stride = source.row_bytes;
    }
    if (tail.geometry_storage >= 0) {
      call.geometry_offset = layout.storages[static_cast<size_t>(tail.geometry_storage)].offset;
    }
    call.target_offset = layout.regions[static_cast<size_t>(tail.region)].offset;
    return call;
  }

  // The used bytes of every storage, and the indices where rows are gathered by them, neighbours together: a full batch is
  // one copy.
  void find_ranges(const Slot& slot, std::vector<CopyRange>& ranges) const {
    const std::vector<Storage>& storages = pipeline_.layout.storages;
    ranges.clear();
    const auto add = [&ranges](int64_t offset, int64_t bytes) {
      if (bytes == 0) return;
      if (!ranges.empty() && offset - (ranges.back().offset + ranges.back().bytes) < kMergedGapBytes) {
        ranges.back().bytes = offset + bytes - ranges.back().offset;
      } else {
        ranges.push_back({offset, bytes});
      }
    };
    // As they lie in the slot.
    const auto add_storages = [&](bool shares) {
      for (size_t s = 0; s < storages.size(); ++s) {
        if (storages[s].has_shares() == shares) add(storages[s].offset, slot.used_bytes(s));
      }
    };
    add_storages(false);
    if (resident_ != nullptr)
      add(pipeline_.layout.records_offset, slot.samples * static_cast<int64_t>(sizeof(int64_t)));
    add_storages(true);
  }

  // Queues the copies and kernels of a slot on its side stream.
  Status queue(Slot& slot) {
    Half& half = halves_[static_cast<size_t>(slot.number)];
    find_ranges(slot, half.ranges);
    for (TailCall& call : half.calls) call.rows = slot.samples;
    DL_RETURN_IF_ERROR(half.slot->send(slot.memory(), half.ranges, half.calls,
                                       {metrics_->device_times(), slot.epoch, slot.step}));
    int64_t bytes = 0;
    for (const CopyRange& range : half.ranges) bytes += range.bytes;
    copied_bytes_.fetch_add(bytes, std::memory_order_relaxed);
    return Status::ok();
  }

  std::vector<Copying>::iterator find(int64_t sequence) DL_REQUIRES(mutex_) {
    return std::find_if(copying_.begin(), copying_.end(),
                        [&](const Copying& copying) { return copying.sequence == sequence; });
  }

  const WorkerConfig& workers_;
  std::unique_ptr<DeviceBlock> resident_;  // io=device: the set
  std::vector<Half> halves_;               // by the slot's number
  Metrics* metrics_ = nullptr;             // from create on

  mutable ThreadMutex mutex_;                           // room in the lists was reserved at create
  std::vector<Copying> copying_ DL_GUARDED_BY(mutex_);  // device_sync=host; oldest first
  std::vector<Slot*> draining_ DL_GUARDED_BY(mutex_);   // oldest first
  std::vector<std::unique_ptr<DeviceSlot>> held_copies_
      DL_GUARDED_BY(mutex_);                  // of batches given up in a capture
  Status drain_error_ DL_GUARDED_BY(mutex_);  // why a slot did not come back, until next() reports it
  int64_t wanted_ DL_GUARDED_BY(mutex_) = 0;  // sequence of the consumer's next batch
  Atomic<bool> has_drain_error_{false};
  WaitPoint capture_over_;            // nobody tells of it: for the pause between two looks
  Atomic<int64_t> held_since_ns_{0};  // since when nothing but the end of a capture frees a slot; 0: not so
  Atomic<bool> copy_wanted_{false};   // the consumer's next batch is complete but for its copies
  Atomic<bool> drain_wanted_{false};  // nothing can be filled until a draining slot's copies are done
};

}  // namespace

std::unique_ptr<Delivery> make_device_delivery(Device& device, const Pipeline& pipeline,
                                               const DeliveryConfig& config, const WorkerConfig& workers) {
  return std::make_unique<DeviceDelivery>(device, pipeline, config, workers);
}

}  // namespace dataline
