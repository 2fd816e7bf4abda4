// SPDX-License-Identifier: Apache-2.0
#include "core/device/cuda_device.h"

#include <utility>

#include "core/base/checked.h"
#include "core/device/cuda_slot.h"
#include "core/device/kernels/kernel_call.h"

namespace dataline {
namespace {

// Alignment of slots, for fast copies and kernels.
constexpr int64_t kSlotAlignment = 512;

class CudaBlock final : public DeviceBlock {
 public:
  CudaBlock(std::shared_ptr<CudaContext> context, std::shared_ptr<CudaMemory> allocation)
      : context_(std::move(context)), allocation_(std::move(allocation)) {}

  std::byte* memory() const override { return cuda_pointer(allocation_->address()); }

  Status upload(int64_t offset, const std::byte* from, int64_t bytes) override {
    if (bytes == 0) return Status::ok();
    const CurrentContext current(*context_);
    DL_RETURN_IF_ERROR(current.status());
    SideStream& side = context_->side(0);
    const std::lock_guard lock(side.mutex);
    const CudaDriver& driver = context_->driver();
    DL_RETURN_IF_ERROR(context_->call(driver.cuMemcpyHtoDAsync,
                                      allocation_->address() + static_cast<CudaAddress>(offset), from,
                                      static_cast<size_t>(bytes), side.stream));
    Status status = context_->call(driver.cuStreamSynchronize, side.stream);
    // The copy may still be running while both its buffers are about to be freed.
    return status.is_ok() ? status : context_->lose(std::move(status));
  }

 private:
  std::shared_ptr<CudaContext> context_;
  std::shared_ptr<CudaMemory> allocation_;
};

}  // namespace

Result<std::shared_ptr<Device>> CudaDevice::open(const DeviceRequest& request, int32_t ordinal) {
  DL_ASSIGN_OR_RETURN(auto driver, open_cuda_driver(request.cuda_library));
  DL_ASSIGN_OR_RETURN(auto context, CudaContext::open(std::move(driver), ordinal, kSideStreams));
  auto device = std::make_shared<CudaDevice>(std::move(context), request.log);
  Status loaded = device->load_kernels();
  if (!loaded.is_ok()) return CudaContext::no_device(std::move(loaded));
  return std::shared_ptr<Device>(std::move(device));
}

CudaDevice::CudaDevice(std::shared_ptr<CudaContext> context, Log log)
    : context_(std::move(context)), kernels_(std::make_shared<KernelSet>()), pinned_(context_, log) {
  info_.name = context_->name();
  info_.driver = cuda_version_text(context_->driver().version);
}

CudaDevice::~CudaDevice() {
  pinned_.release();  // waits, so no kernel is running; slots still leased launch none
  const CurrentContext current(*context_);
  if (current.status().is_ok()) kernels_->unload(*context_);
}

Status CudaDevice::load_kernels() {
  const CurrentContext current(*context_);
  DL_RETURN_IF_ERROR(current.status());
  DL_RETURN_IF_ERROR(kernels_->load(*context_, kernel_image()));
  info_.why_not = kernels_->why_not();
  info_.kernels = info_.why_not.empty();
  return Status::ok();
}

// Frameworks capture graphs in global mode: an event query in any thread would then fail and invalidate the capture,
// unless that thread is in relaxed mode.
void CudaDevice::enter_thread() noexcept {
  int32_t mode = kCudaCaptureRelaxed;
  static_cast<void>(context_->ask(context_->driver().cuThreadExchangeStreamCaptureMode, &mode));
}

Result<std::vector<std::unique_ptr<DeviceSlot>>> CudaDevice::make_slots(int64_t count, int64_t bytes) {
  std::vector<std::unique_ptr<DeviceSlot>> slots;
  const CurrentContext current(*context_);
  DL_RETURN_IF_ERROR(current.status());
  const int64_t stride = round_up(bytes, kSlotAlignment);
  DL_ASSIGN_OR_RETURN(auto allocation, CudaMemory::make(context_, "the batch slots", stride * count));
  // Per slot: READY, one DONE in steady state, and one for the first copies beyond max_leases.
  DL_RETURN_IF_ERROR(context_->reserve_events(3 * count));
  slots.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    DL_ASSIGN_OR_RETURN(const CudaEvent ready, context_->take_event());
    std::byte* memory = cuda_pointer(allocation->address()) + i * stride;
    slots.push_back(std::make_unique<CudaSlot>(context_, kernels_, allocation, memory, i, ready));
  }
  return slots;
}

Result<std::unique_ptr<DeviceSlot>> CudaDevice::copy_slot(DeviceSlot& from, int64_t bytes) {
  auto& original = static_cast<CudaSlot&>(from);
  const CurrentContext current(*context_);
  DL_RETURN_IF_ERROR(current.status());
  DL_ASSIGN_OR_RETURN(const CudaEvent ready, context_->take_event());
  SideStream& side = context_->side(original.index());
  std::unique_ptr<CudaSlot> copy;
  {
    const std::lock_guard lock(side.mutex);
    auto allocation = CudaMemory::make_in_stream(context_, "a batch beyond max_leases", bytes, side.stream);
    if (!allocation.is_ok()) {
      context_->give_event(ready);
      return allocation.take_status();
    }
    std::byte* memory = cuda_pointer(allocation.value()->address());
    copy = std::make_unique<CudaSlot>(context_, kernels_, allocation.take(), memory, original.index(), ready);
    Status status = copy->copy_from(original, bytes);
    if (!status.is_ok()) return context_->lose(std::move(status));
  }
  return std::unique_ptr<DeviceSlot>(std::move(copy));
}

Result<std::unique_ptr<DeviceBlock>> CudaDevice::make_block(int64_t bytes) {
  const CurrentContext current(*context_);
  DL_RETURN_IF_ERROR(current.status());
  const int64_t rounded = round_up(bytes, kSlotAlignment);  // kernels read words
  DL_ASSIGN_OR_RETURN(auto allocation, CudaMemory::make(context_, "the dataset in device memory", rounded));
  return std::unique_ptr<DeviceBlock>(std::make_unique<CudaBlock>(context_, std::move(allocation)));
}

}  // namespace dataline
