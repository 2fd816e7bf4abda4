// SPDX-License-Identifier: Apache-2.0
#include "core/device/device.h"

#include <mutex>
#include <optional>
#include <utility>

#include "core/base/checked.h"
#include "core/base/text.h"
#include "core/device/cuda_context.h"
#include "core/device/cuda_slot.h"
#include "core/device/kernel_set.h"
#include "core/memory/pages.h"

namespace dataline {
namespace {

// Alignment of slots, for fast copies and kernels.
constexpr int64_t kSlotAlignment = 512;

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
  int64_t lock(std::byte* first, int64_t stride, int64_t count) {
    if (count <= 0 || !context_->usable()) return 0;
    const CurrentContext current(*context_);
    int64_t locked = 0;
    if (!current.status().is_ok()) {
      refusal_ = current.status().message();
    } else {
      ranges_.reserve(static_cast<size_t>(count));
      // The driver returns the same code for a partly and a fully registered range, so a registration by the host is
      // accepted only slot by slot.
      if (lock_range(first, stride * count, count == 1)) return count;
      const int64_t page = page_bytes();
      const bool apart =
          stride % page == 0 && static_cast<int64_t>(reinterpret_cast<uintptr_t>(first)) % page == 0;
      if (count > 1 && apart) {
        while (locked < count && lock_range(first + locked * stride, stride, true)) ++locked;
      }
    }
    if (locked < count) {
      log_(LogLevel::kWarning, concat("page-locked ", locked, " of ", count, " slots of ", stride, " bytes (",
                                      refusal_, "): copies from the rest are slower"));
    }
    return locked;
  }

  // Waits for copies that still read the slots, then unlocks what lock() locked.
  void release() noexcept {
    if (!context_->usable()) return;  // leaked: the pages stay locked while the driver lives
    Status waited = context_->wait_side_streams();
    if (!waited.is_ok()) {  // copies may still read the slots
      static_cast<void>(context_->lose(std::move(waited)));
      return;
    }
    if (ranges_.empty()) return;
    const CurrentContext current(*context_);
    for (std::byte* memory : ranges_) {
      if (!current.status().is_ok()) break;
      static_cast<void>(context_->call(context_->driver().cuMemHostUnregister, memory));
    }
    ranges_.clear();
  }

 private:
  bool lock_range(std::byte* memory, int64_t bytes, bool count_foreign) {
    const CudaCode code = context_->ask(context_->driver().cuMemHostRegister, memory,
                                        static_cast<size_t>(bytes), kCudaHostRegisterPortable);
    if (code == kCudaSuccess) {
      ranges_.push_back(memory);
      return true;
    }
    if (code == kCudaAlreadyRegistered && count_foreign) return true;
    refusal_ = concat("cuMemHostRegister: ", context_->code_text(code));
    return false;
  }

  const std::shared_ptr<CudaContext> context_;
  const Log log_;
  std::string refusal_;  // of the last range
  std::vector<std::byte*> ranges_;
};

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

class CudaDevice final : public Device {
 public:
  CudaDevice(std::shared_ptr<CudaContext> context, const Log& log)
      : context_(std::move(context)), kernels_(std::make_shared<KernelSet>()), pinned_(context_, log) {
    info_.name = context_->name();
    info_.driver = cuda_version_text(context_->driver().version);
  }
  ~CudaDevice() override {
    pinned_.release();  // waits, so no kernel is running; slots still leased launch none
    const CurrentContext current(*context_);
    if (current.status().is_ok()) kernels_->unload(*context_);
  }

  Status load_kernels() {
    const CurrentContext current(*context_);
    DL_RETURN_IF_ERROR(current.status());
    DL_RETURN_IF_ERROR(kernels_->load(*context_, kernel_image()));
    info_.why_not = kernels_->why_not();
    info_.kernels = info_.why_not.empty();
    return Status::ok();
  }

  int32_t type() const override { return 2; }
  int32_t index() const override { return context_->ordinal(); }
  const DeviceInfo& info() const override { return info_; }
  int64_t pin(std::byte* first, int64_t stride, int64_t count) override {
    return pinned_.lock(first, stride, count);
  }
  void unpin() noexcept override { pinned_.release(); }
  bool runs(const Tail& tail) const override { return kernels_->runs(tail); }
  int64_t device_bytes() const override { return context_->device_bytes(); }
  bool lost() const override { return context_->lost(); }

  int32_t enter_thread() noexcept override { return RelaxedCapture::enter(*context_); }
  void leave_thread(int32_t before) noexcept override { RelaxedCapture::leave(*context_, before); }

  Result<std::vector<std::unique_ptr<DeviceSlot>>> make_slots(int64_t count, int64_t bytes) override {
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

  Result<std::unique_ptr<DeviceSlot>> copy_slot(DeviceSlot& from, int64_t bytes) override {
    auto& original = static_cast<CudaSlot&>(from);
    const CurrentContext current(*context_);
    DL_RETURN_IF_ERROR(current.status());
    DL_ASSIGN_OR_RETURN(const CudaEvent ready, context_->take_event());
    SideStream& side = context_->side(original.index());
    std::unique_ptr<CudaSlot> copy;
    {
      const std::lock_guard lock(side.mutex);
      auto allocation = CudaMemory::make(context_, "a batch beyond max_leases", bytes, side.stream);
      if (!allocation.is_ok()) {
        context_->give_event(ready);
        return allocation.take_status();
      }
      std::byte* memory = cuda_pointer(allocation.value()->address());
      copy =
          std::make_unique<CudaSlot>(context_, kernels_, allocation.take(), memory, original.index(), ready);
      Status status = copy->copy_from(original, bytes);
      if (!status.is_ok()) return context_->abandon(side, std::move(status));
    }
    return std::unique_ptr<DeviceSlot>(std::move(copy));
  }

  Result<std::unique_ptr<DeviceBlock>> make_block(int64_t bytes) override {
    const CurrentContext current(*context_);
    DL_RETURN_IF_ERROR(current.status());
    const int64_t rounded = round_up(bytes, kSlotAlignment);  // kernels read words
    DL_ASSIGN_OR_RETURN(auto allocation, CudaMemory::make(context_, "the dataset in device memory", rounded));
    return std::unique_ptr<DeviceBlock>(std::make_unique<CudaBlock>(context_, std::move(allocation)));
  }

 private:
  const std::shared_ptr<CudaContext> context_;
  const std::shared_ptr<KernelSet> kernels_;
  PinnedSlots pinned_;
  DeviceInfo info_;
};

// Slots are delivered where they were filled. With pin_memory they are page-locked through the first CUDA device, for
// consumers that copy themselves.
class CpuDevice final : public Device {
 public:
  explicit CpuDevice(const DeviceRequest& request)
      : pin_(request.pin_memory), library_(request.cuda_library), log_(request.log) {
    info_.name = "cpu";
    info_.why_not = "the cpu needs none";
  }

  int32_t type() const override { return 1; }
  int32_t index() const override { return 0; }
  const DeviceInfo& info() const override { return info_; }

  int64_t pin(std::byte* first, int64_t stride, int64_t count) override {
    if (!pin_) return 0;
    auto context = CudaContext::open(library_, 0, 0);
    if (!context.is_ok()) {
      log_(LogLevel::kWarning, concat("pin_memory: slots are not page-locked: ", context.status().message()));
      return 0;
    }
    pinned_.emplace(context.take(), log_);
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

  const bool pin_;
  const std::string library_;
  const Log log_;
  DeviceInfo info_;
  std::optional<PinnedSlots> pinned_;
};

Result<std::shared_ptr<Device>> open_cuda(const DeviceRequest& request, int32_t ordinal) {
  DL_ASSIGN_OR_RETURN(auto context, CudaContext::open(request.cuda_library, ordinal, kSideStreams));
  auto device = std::make_shared<CudaDevice>(std::move(context), request.log);
  Status loaded = device->load_kernels();
  if (!loaded.is_ok()) return CudaContext::no_device(std::move(loaded));
  return std::shared_ptr<Device>(std::move(device));
}

}  // namespace

Result<std::shared_ptr<Device>> open_device(const DeviceRequest& request) {
  const std::string_view name = request.name;
  if (name == "cpu") return std::shared_ptr<Device>(std::make_shared<CpuDevice>(request));
  if (name == "cuda") return open_cuda(request, 0);
  constexpr std::string_view kPrefix = "cuda:";
  if (name.starts_with(kPrefix)) {
    const std::optional<int64_t> ordinal = parse_i64(name.substr(kPrefix.size()));
    if (ordinal.has_value() && *ordinal >= 0 && *ordinal <= INT32_MAX)
      return open_cuda(request, static_cast<int32_t>(*ordinal));
  }
  return error(Code::kBadOption, "option device: expected cpu, cuda or cuda:N, got '", name, "'");
}

}  // namespace dataline
