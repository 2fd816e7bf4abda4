// Page-locking a loader's slots.
// Threads: one, at create and at the end.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/log.h"
#include "core/base/status.h"
#include "core/device/cuda_context.h"

namespace dataline {

// Page-locks a loader's slots so that the device reads them at full speed: all as one range, else slot by slot until the
// driver refuses. System limits do not predict what it refuses.
class PinnedSlots {
 public:
  PinnedSlots(std::shared_ptr<CudaContext> context, const Log& log)
      : context_(std::move(context)), log_(log) {}
  ~PinnedSlots() { release(); }
  PinnedSlots(const PinnedSlots&) = delete;
  PinnedSlots& operator=(const PinnedSlots&) = delete;

  // As Device::pin(). Slots are locked one by one only if they share no page: first and stride are multiples of
  // page_bytes(). Slots that the host has registered already count as locked, and are left to the host.
  Result<int64_t> lock(std::byte* first, int64_t stride, int64_t count);

  // Waits for copies that still read the slots, then unlocks what lock() locked.
  void release() noexcept;

 private:
  CudaCode lock_range(std::byte* memory, int64_t bytes);
  Status check_foreign(std::byte* slot, int64_t bytes, int64_t number, CudaCode& code);

  const std::shared_ptr<CudaContext> context_;
  const Log log_;
  std::string refusal_;  // of the last range
  std::vector<std::byte*> ranges_;
};

}  // namespace dataline
