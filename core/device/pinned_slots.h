// Page-locks a loader's slots so that the device reads them at full speed: all as one range, else slot by slot until the
// driver refuses. System limits do not predict what it refuses.
// Threads: lock() and release() by the loader's thread at create and destroy.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "core/device/cuda_context.h"

namespace dataline {

class PinnedSlots {
 public:
  PinnedSlots(std::shared_ptr<CudaContext> context, Log log);
  ~PinnedSlots();
  PinnedSlots(const PinnedSlots&) = delete;
  PinnedSlots& operator=(const PinnedSlots&) = delete;

  // As Device::pin(). Slots are locked one by one only if they share no page: first and stride are multiples of
  // page_bytes(). Slots that the host has registered already count as locked, and are left to the host.
  int64_t lock(std::byte* first, int64_t stride, int64_t count);
  // Waits for copies that still read the slots, then unlocks what lock() locked.
  void release() noexcept;

 private:
  bool lock_range(std::byte* memory, int64_t bytes, bool count_foreign);

  std::shared_ptr<CudaContext> context_;
  Log log_;
  std::string refusal_;  // of the last range
  std::vector<std::byte*> ranges_;
};

}  // namespace dataline
