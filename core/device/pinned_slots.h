// Page-locks a loader's slots, once, so that the device reads them at full speed: all as one range, else slot by slot as
// far as the driver goes. The driver's own refusal is what counts; limits of the system do not predict it.
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
  // page_bytes(). What the host has registered already counts, and stays the host's.
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
