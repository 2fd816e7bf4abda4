// Opens a device by name, and the cpu as a device: slots are delivered where they were filled. With pin_memory they are
// page-locked through the first CUDA device, for consumers that copy themselves.
// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <utility>

#include "core/base/text.h"
#include "core/device/cuda_device.h"
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
  Result<std::unique_ptr<DeviceSlot>> copy_slot(DeviceSlot&, int64_t) override { return no_memory(); }
  Result<std::unique_ptr<DeviceBlock>> make_block(int64_t) override { return no_memory(); }
  int64_t device_bytes() const override { return 0; }
  // The driver only page-locks here; batches do not depend on it.
  bool lost() const override { return false; }

 private:
  static Status no_memory() { return error(Code::kUnsupported, "the cpu has no device memory"); }
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

Result<std::shared_ptr<Device>> open_device(const DeviceRequest& request) {
  const std::string_view name = request.name;
  if (name == "cpu") return std::shared_ptr<Device>(std::make_shared<CpuDevice>(request));
  if (name == "cuda") return CudaDevice::open(request, 0);
  constexpr std::string_view kPrefix = "cuda:";
  if (name.starts_with(kPrefix)) {
    const std::optional<int64_t> ordinal = parse_i64(name.substr(kPrefix.size()));
    if (ordinal.has_value() && *ordinal >= 0 && *ordinal <= INT32_MAX)
      return CudaDevice::open(request, static_cast<int32_t>(*ordinal));
  }
  return error(Code::kBadOption, "option device: expected cpu, cuda or cuda:N, got '", name, "'");
}

}  // namespace dataline
