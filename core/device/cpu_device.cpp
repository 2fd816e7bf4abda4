// SPDX-License-Identifier: Apache-2.0
#include "core/device/cpu_device.h"

#include <string>
#include <utility>

#include "core/device/cuda_driver.h"
#include "core/device/pinned_slots.h"

namespace dataline {
namespace {

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(const DeviceRequest& request)
      : pin_(request.pin_memory), library_(request.cuda_library), log_(request.log) {
    info_.name = "cpu";
    info_.why_not = "the cpu needs none";
  }
  ~CpuDevice() override { unpin(); }

  int32_t type() const override { return 1; }
  int32_t index() const override { return 0; }
  const DeviceInfo& info() const override { return info_; }

  int64_t pin(std::byte* first, int64_t stride, int64_t count) override {
    if (!pin_) return 0;
    auto context = open_context();
    if (!context.is_ok()) {
      log_(LogLevel::kWarning, concat("pin_memory: slots are not page-locked: ", context.status().message()));
      return 0;
    }
    context_ = context.take();
    pinned_ = std::make_unique<PinnedSlots>(context_, log_);
    return pinned_->lock(first, stride, count);
  }
  void unpin() noexcept override { pinned_.reset(); }

  bool runs(const Tail&) const override { return false; }
  Result<std::vector<std::unique_ptr<DeviceSlot>>> make_slots(int64_t, int64_t) override {
    return std::vector<std::unique_ptr<DeviceSlot>>();
  }
  Result<std::unique_ptr<DeviceSlot>> copy_slot(DeviceSlot&, int64_t) override {
    return error(Code::kUnsupported, "the cpu has no device memory");
  }
  Result<std::unique_ptr<DeviceBlock>> make_block(int64_t) override {
    return error(Code::kUnsupported, "the cpu has no device memory");
  }
  int64_t device_bytes() const override { return 0; }
  // Page-locking is all that the driver does here: batches do not need it.
  bool lost() const override { return false; }

 private:
  Result<std::shared_ptr<CudaContext>> open_context() {
    DL_ASSIGN_OR_RETURN(auto driver, open_cuda_driver(library_));
    return CudaContext::open(std::move(driver), 0, 0);
  }

  const bool pin_;
  const std::string library_;
  const Log log_;
  DeviceInfo info_;
  std::shared_ptr<CudaContext> context_;
  std::unique_ptr<PinnedSlots> pinned_;
};

}  // namespace

std::shared_ptr<Device> make_cpu_device(const DeviceRequest& request) {
  return std::make_shared<CpuDevice>(request);
}

}  // namespace dataline
