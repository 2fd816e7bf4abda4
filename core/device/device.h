// Where batches end up. Only the cpu device exists in this release: a batch is ready when it is filled, and there
// is nothing to wait for.
// Threads: immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "core/base/status.h"

namespace dataline {

class Device {
 public:
  virtual ~Device() = default;
  virtual int32_t type() const = 0;  // as DLPack: 1 cpu
  virtual int32_t index() const = 0;
  // Makes work queued later in the consumer's stream wait until a batch is ready.
  virtual Status wait(void* stream) const = 0;
};

// "cpu", or "cuda:N": kUnsupported in this release.
Result<std::shared_ptr<const Device>> open_device(std::string_view name);

}  // namespace dataline
