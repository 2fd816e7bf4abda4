// A CUDA device as the target of a loader.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/device/cuda_context.h"
#include "core/device/device.h"
#include "core/device/kernel_set.h"
#include "core/device/pinned_slots.h"

namespace dataline {

class CudaDevice final : public Device {
 public:
  static Result<std::shared_ptr<Device>> open(const DeviceRequest& request, int32_t ordinal);
  CudaDevice(std::shared_ptr<CudaContext> context, Log log);
  ~CudaDevice() override;

  int32_t type() const override { return 2; }
  int32_t index() const override { return context_->ordinal(); }
  const DeviceInfo& info() const override { return info_; }
  int64_t pin(std::byte* first, int64_t stride, int64_t count) override {
    return pinned_.lock(first, stride, count);
  }
  void unpin() noexcept override { pinned_.release(); }
  bool runs(const Tail& tail) const override { return kernels_->runs(tail); }
  Result<std::vector<std::unique_ptr<DeviceSlot>>> make_slots(int64_t count, int64_t bytes) override;
  Result<std::unique_ptr<DeviceSlot>> copy_slot(DeviceSlot& from, int64_t bytes) override;
  Result<std::unique_ptr<DeviceBlock>> make_block(int64_t bytes) override;
  void enter_thread() noexcept override;
  int64_t device_bytes() const override { return context_->device_bytes(); }
  bool lost() const override { return context_->lost(); }

 private:
  Status load_kernels();

  std::shared_ptr<CudaContext> context_;
  std::shared_ptr<KernelSet> kernels_;
  PinnedSlots pinned_;
  DeviceInfo info_;
};

}  // namespace dataline
