// A batch beyond max_leases: the slot's batch again, in memory of its own, so that the slot is free at once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/batch/slot.h"
#include "core/device/device.h"
#include "core/loader/pipeline.h"
#include "core/memory/host_memory.h"

namespace dataline {

struct OverflowBatch final : Batch {
  OverflowBatch(const std::vector<OutputField>& outputs, Block block)
      : Batch(outputs), memory(std::move(block)) {}
  Block memory;                        // on a device: offsets and sample indices alone
  std::unique_ptr<DeviceSlot> device;  // null on the cpu device
};

// `device`: the slot's half there, copied already; null on the cpu device. kOverBudget, kNoMemory.
Result<std::unique_ptr<OverflowBatch>> copy_batch(Slot& slot, const Pipeline& pipeline, HostMemory& memory,
                                                  std::unique_ptr<DeviceSlot> device);

}  // namespace dataline
