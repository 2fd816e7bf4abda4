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
#include "core/device/pinned_slots.h"

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

  Status load_image() {
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
  Result<int64_t> pin(std::byte* first, int64_t stride, int64_t count) override {
    return pinned_.lock(first, stride, count);
  }
  void unpin() noexcept override { pinned_.release(); }
  bool runs(const Tail& tail) const override { return kernels_->runs(tail); }
  int64_t device_bytes() const override { return context_->device_bytes(); }
  bool lost() const override { return context_->lost(); }
  std::string loss() const override { return context_->cause(); }

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

  Status load_kernels(const DeviceSlot& slot, std::span<const TailCall> calls) override {
    const CurrentContext current(*context_);
    DL_RETURN_IF_ERROR(current.status());
    return kernels_->prepare(*context_, slot.memory(), calls);
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
  ThreadBefore enter_thread() noexcept override {
    ThreadBefore before{.capture_mode = RelaxedCapture::enter(*context_)};
    Status entered = PushedContext::enter(*context_);
    before.entered = entered.is_ok();
    // Nothing could be queued from this thread.
    if (!before.entered && context_->usable()) static_cast<void>(context_->lose(std::move(entered)));
    return before;
  }
  void leave_thread(ThreadBefore before) noexcept override {
    if (before.entered) PushedContext::leave(*context_);
    RelaxedCapture::leave(*context_, before.capture_mode);
  }

  const std::shared_ptr<CudaContext> context_;
  const std::shared_ptr<KernelSet> kernels_;
  PinnedSlots pinned_;
  DeviceInfo info_;
};

// The number N of "cuda:N", or of "cuda".
std::optional<int32_t> ordinal_of(std::string_view name) {
  constexpr std::string_view kPrefix = "cuda:";
  if (name == "cuda") return 0;
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const std::optional<int64_t> ordinal = parse_i64(name.substr(kPrefix.size()));
  if (!ordinal.has_value() || *ordinal < 0 || *ordinal > INT32_MAX) return std::nullopt;
  return static_cast<int32_t>(*ordinal);
}

// Slots are delivered where they were filled. With pin_memory they are page-locked, for consumers that copy themselves:
// through the driver's context that the creating thread has, or that of a device that is named. No other is opened: it
// would take hundreds of megabytes of a device that the process may have nothing to do with.
class CpuDevice final : public Device {
 public:
  explicit CpuDevice(const DeviceRequest& request)
      : pin_(request.pin_memory),
        pin_ordinal_(ordinal_of(request.pin_device)),
        library_(request.cuda_library),
        log_(request.log) {
    info_.name = "cpu";
    info_.why_not = "the cpu needs none";
  }

  int32_t type() const override { return 1; }
  int32_t index() const override { return 0; }
  const DeviceInfo& info() const override { return info_; }

  Result<int64_t> pin(std::byte* first, int64_t stride, int64_t count) override {
    if (!pin_) return int64_t{0};
    auto context = pin_ordinal_.has_value() ? CudaContext::open(library_, *pin_ordinal_, 0)
                                            : CudaContext::open_current(library_);
    if (!context.is_ok() || context.value() == nullptr) {
      log_(LogLevel::kWarning,
           concat("pin_memory: slots are not page-locked: ",
                  !context.is_ok() ? context.status().message()
                                   : "the thread that creates the loader has no current primary CUDA "
                                     "context; make one current first, or set pin_memory_device=cuda:N (the "
                                     "context uses memory of that device)"));
      return int64_t{0};
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
  const std::optional<int32_t> pin_ordinal_;
  const std::string library_;
  const Log log_;
  DeviceInfo info_;
  std::optional<PinnedSlots> pinned_;
};

Result<std::shared_ptr<Device>> open_cuda(const DeviceRequest& request, int32_t ordinal) {
  DL_ASSIGN_OR_RETURN(auto context, CudaContext::open(request.cuda_library, ordinal, kSideStreams));
  auto device = std::make_shared<CudaDevice>(std::move(context), request.log);
  Status loaded = device->load_image();
  if (!loaded.is_ok()) return CudaContext::no_device(std::move(loaded));
  return std::shared_ptr<Device>(std::move(device));
}

}  // namespace

Result<std::shared_ptr<Device>> open_device(const DeviceRequest& request) {
  if (!request.pin_device.empty() && !ordinal_of(request.pin_device).has_value()) {
    return error(Code::kBadOption, "option pin_memory_device: expected cuda or cuda:N, got '",
                 request.pin_device, "'");
  }
  if (request.name == "cpu") return std::shared_ptr<Device>(std::make_shared<CpuDevice>(request));
  const std::optional<int32_t> ordinal = ordinal_of(request.name);
  if (ordinal.has_value()) return open_cuda(request, *ordinal);
  return error(Code::kBadOption, "option device: expected cpu, cuda or cuda:N, got '", request.name, "'");
}

}  // namespace dataline
