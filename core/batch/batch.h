// A batch as the consumer holds it: a counted lease on a slot, or on memory of its own.
//
// Threads: retain and release from any thread; everything else is immutable while a lease is held.
// Lifetime: the owner lives until the last lease on any of its batches is gone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "core/base/atomic.h"
#include "core/base/status.h"
#include "core/batch/view.h"

namespace dataline {

class Batch;

// Takes a batch back when its last reference is gone, and orders the work that a consumer queues on a device.
class BatchOwner {
 public:
  virtual ~BatchOwner() = default;
  virtual void recycle(Batch& batch) noexcept = 0;
  // Of batches on a device. Later work in `stream` begins when the batch is complete / the batch's memory is written
  // again only after the work now in `stream`.
  virtual Status wait(Batch& batch, void* stream) = 0;
  virtual Status done(Batch& batch, void* stream) = 0;
  // Passed on to a consumer that did not say in which stream it reads.
  virtual void passed_on(Batch& batch) noexcept = 0;
};

class Batch {
 public:
  explicit Batch(const std::vector<OutputField>& outputs) : views(outputs, /*with_batch=*/true) {}
  virtual ~Batch() = default;

  // Hands out the first reference.
  void lend(std::shared_ptr<BatchOwner> to) {
    owner_ = std::move(to);
    // Relaxed: the consumer gets the pointer through a call that orders everything before it.
    references_.store(1, std::memory_order_relaxed);
  }
  // Relaxed: whoever retains already holds a reference.
  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    // Acquire-release: the last releaser sees every other holder's reads done before the slot is refilled.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    std::shared_ptr<BatchOwner> owner = std::move(owner_);
    owner->recycle(*this);
  }

  // On the cpu a batch is lent when its bytes are in place, and nothing can be queued.
  Status wait(void* stream) { return on_device ? owner_->wait(*this, stream) : Status::ok(); }
  // Gives up one reference, whatever it returns.
  Status release_on(void* stream) {
    Status status = on_device ? owner_->done(*this, stream) : Status::ok();
    release();
    return status;
  }

  void passed_on() noexcept {
    if (on_device) owner_->passed_on(*this);
  }

  ViewSet views;
  bool on_device = false;
  bool in_slot = true;  // false: memory of its own
  int64_t epoch = 0;
  int64_t step = 0;
  int64_t samples = 0;
  int64_t valid = 0;
  int64_t* sample_sources = nullptr;
  int64_t* sample_indices = nullptr;

 private:
  Atomic<int32_t> references_{0};
  std::shared_ptr<BatchOwner> owner_;
};

}  // namespace dataline
