// SPDX-License-Identifier: Apache-2.0
#include "core/device/cuda_context.h"

#include <algorithm>
#include <utility>

namespace dataline {
Result<std::shared_ptr<CudaContext>> CudaContext::open(std::string_view library, int32_t ordinal,
                                                       int side_streams) {
  DL_ASSIGN_OR_RETURN(auto driver, open_cuda_driver(library));
  auto context = std::make_shared<CudaContext>(std::move(driver), ordinal);
  Status status = context->start(side_streams);
  if (status.is_ok()) return context;
  return no_device(std::move(status));
}

Result<std::shared_ptr<CudaContext>> CudaContext::open_current(std::string_view library) {
  DL_ASSIGN_OR_RETURN(auto driver, open_cuda_driver(library));
  CudaContextHandle current = nullptr;
  CudaOrdinal device = 0;
  // Without cuInit, which takes its time and is the program's to call: before it no context is current (code 3).
  if (driver->cuCtxGetCurrent(&current) != kCudaSuccess || current == nullptr ||
      driver->cuCtxGetDevice(&device) != kCudaSuccess)
    return std::shared_ptr<CudaContext>();
  int32_t count = 0;
  static_cast<void>(driver->cuDeviceGetCount(&count));
  for (int32_t ordinal = 0; ordinal < count; ++ordinal) {
    uint32_t flags = 0;
    int32_t active = 0;
    CudaOrdinal other = 0;
    if (driver->cuDeviceGet(&other, ordinal) != kCudaSuccess || other != device) continue;
    // Of a program that made a context of its own the primary one may not be there; it would have to be made.
    if (driver->cuDevicePrimaryCtxGetState(device, &flags, &active) != kCudaSuccess || active == 0) break;
    auto context = std::make_shared<CudaContext>(std::move(driver), ordinal);
    Status status = context->start(0);
    if (status.is_ok()) return context;
    return no_device(std::move(status));
  }
  return std::shared_ptr<CudaContext>();
}

Status CudaContext::no_device(Status why) {
  if (why.code() == Code::kNoMemory || why.code() == Code::kNoDevice) return why;
  return Status(Code::kNoDevice, why.message());
}

Status CudaContext::start(int side_streams) {
  const CudaDriver& d = *driver_;
  const CudaCode initialized = ask(d.cuInit, 0U);
  int32_t count = 0;
  if (initialized != kCudaSuccess && initialized != kCudaNoDevice) {
    const char* stub = initialized == kCudaStubLibrary ? "; this is the toolkit's stub, not a driver" : "";
    return error(Code::kNoDevice, "the CUDA driver failed to start: ", code_text(initialized), stub);
  }
  if (initialized == kCudaSuccess) DL_RETURN_IF_ERROR(call(d.cuDeviceGetCount, &count));
  if (ordinal_ >= count) {
    return error(Code::kNoDevice, "cuda:", ordinal_, ": there ", count == 1 ? "is " : "are ", count,
                 " CUDA device", count == 1 ? "" : "s", count > 0 ? ", counted from 0" : "");
  }
  const RelaxedCapture relaxed(*this);  // the driver has started: before, it would refuse this too
  DL_RETURN_IF_ERROR(call(d.cuDeviceGet, &device_, ordinal_));
  char name[256] = {};
  DL_RETURN_IF_ERROR(call(d.cuDeviceGetName, name, int32_t{sizeof(name) - 1}, device_));
  name_ = name;
  int32_t pools = 0;
  DL_RETURN_IF_ERROR(call(d.cuDeviceGetAttribute, &pools, kCudaAttributeMemoryPools, device_));
  memory_pools_ = pools != 0;
  CudaContextHandle handle = nullptr;
  DL_RETURN_IF_ERROR(call(d.cuDevicePrimaryCtxRetain, &handle, device_));
  handle_ = handle;
  CurrentContext current(*this);
  DL_RETURN_IF_ERROR(current.status());
  for (int i = 0; i < side_streams && i < kSideStreams; ++i) {
    DL_RETURN_IF_ERROR(call(d.cuStreamCreate, &side(i).stream, kCudaStreamNonBlocking));
  }
  return Status::ok();
}

CudaContext::~CudaContext() {
  if (handle_ == nullptr || !usable()) return;  // objects of a lost device are leaked
  const RelaxedCapture relaxed(*this);
  if (!wait_side_streams().is_ok()) return;
  {
    CurrentContext current(*this);
    if (!current.status().is_ok()) return;
    for (CudaEvent event : events_) static_cast<void>(call(driver_->cuEventDestroy, event));
    clock_.destroy(*this);
    for (SideStream& side : side_) {
      if (side.stream != nullptr) static_cast<void>(call(driver_->cuStreamDestroy, side.stream));
    }
  }
  static_cast<void>(call(driver_->cuDevicePrimaryCtxRelease, device_));
}

std::string CudaContext::cause() const {
  const std::lock_guard lock(cause_mutex_);
  return cause_;
}

Status CudaContext::unusable() const {
  if (!lost()) return error(Code::kForked, "cuda:", ordinal_, " belongs to the parent process");
  return error(Code::kDeviceLost, "cuda:", ordinal_, " is lost: ", cause());
}

Status CudaContext::lose(Status cause) {
  if (!lost()) {
    const std::lock_guard lock(cause_mutex_);
    if (cause_.empty()) cause_ = cause.message();
    lost_.store(true, std::memory_order_release);
  }
  return cause.code() == Code::kDeviceLost ? std::move(cause) : unusable();
}

Status CudaContext::abandon(SideStream& side, Status cause) {
  if (not_now(cause) && call(driver_->cuStreamSynchronize, side.stream).is_ok()) return cause;
  return lose(std::move(cause));
}

Status CudaContext::failed(const char* name, CudaCode code) {
  const std::string what = concat(name, ": ", code_text(code));
  if (cuda_code_is_sticky(code)) {
    static_cast<void>(lose(Status(Code::kDeviceLost, what)));
    return unusable();
  }
  if (cuda_code_is_of_capture(code)) {
    return error(Code::kWrongState, "cuda:", ordinal_, ": ", what,
                 ": not allowed while a CUDA graph is captured; retry after the capture");
  }
  const Code meaning =
      code == kCudaOutOfMemory ? Code::kNoMemory
      : code == kCudaInvalidValue || code == kCudaInvalidContext || code == kCudaInvalidHandle
          ? Code::kInvalidArgument
          : Code::kInternal;
  return error(meaning, "cuda:", ordinal_, ": ", what);
}

Status CudaContext::dead_stream(const char* name, CudaCode code) {
  return error(Code::kInvalidArgument, "cuda:", ordinal_, ": ", name, ": ", code_text(code),
               ": the stream was destroyed, or belongs to another device");
}

std::string CudaContext::code_text(CudaCode code) {
  const char* name = cuda_sticky_name(code);
  if (name == nullptr && ask(driver_->cuGetErrorName, code, &name) != kCudaSuccess) name = nullptr;
  return name == nullptr ? concat("CUDA error ", code) : concat(name, " (", code, ")");
}

Status CudaContext::create_event(CudaEvent* event) {
  return call(driver_->cuEventCreate, event, kCudaEventDisableTiming | kCudaEventBlockingSync);
}

Status CudaContext::reserve_events(int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    CudaEvent event = nullptr;
    DL_RETURN_IF_ERROR(create_event(&event));
    const std::lock_guard lock(events_mutex_);
    events_.reserve(static_cast<size_t>(++events_created_));
    events_.push_back(event);
  }
  return Status::ok();
}

bool CudaContext::knows_stream(uint64_t id) const {
  return std::any_of(streams_.begin(), streams_.end(),
                     [id](const auto& known) { return known.load(std::memory_order_relaxed) == id + 1; });
}

void CudaContext::note_stream(uint64_t id) {
  const uint32_t at = streams_noted_.fetch_add(1, std::memory_order_relaxed);
  streams_.at(at % streams_.size()).store(id + 1, std::memory_order_relaxed);  // 0: none
}

Result<CudaEvent> CudaContext::take_event() {
  {
    const std::lock_guard lock(events_mutex_);
    if (!events_.empty()) {
      CudaEvent event = events_.back();
      events_.pop_back();
      return event;
    }
    events_.reserve(static_cast<size_t>(++events_created_));  // so that give_event() does not allocate
  }
  const RelaxedCapture relaxed(*this);
  CudaEvent event = nullptr;
  DL_RETURN_IF_ERROR(create_event(&event));
  return event;
}

void CudaContext::give_event(CudaEvent event) noexcept {
  const std::lock_guard lock(events_mutex_);
  events_.push_back(event);
}

Status CudaContext::wait_side_streams() {
  CurrentContext current(*this);
  DL_RETURN_IF_ERROR(current.status());
  for (SideStream& side : side_) {
    if (side.stream != nullptr) DL_RETURN_IF_ERROR(call(driver_->cuStreamSynchronize, side.stream));
  }
  return Status::ok();
}

Status CudaContext::no_memory(const char* what, int64_t bytes) {
  size_t free = 0;
  size_t total = 0;
  std::string have = "free memory is unknown";
  if (ask(driver_->cuMemGetInfo, &free, &total) == kCudaSuccess)
    have = concat(free, " of ", total, " bytes are free");
  return error(Code::kNoMemory, "cuda:", ordinal_, " has no memory for ", what, ": ", bytes,
               " bytes needed, ", have);
}

int32_t RelaxedCapture::enter(CudaContext& context) {
  int32_t mode = kCudaCaptureRelaxed;
  const CudaCode code = context.ask(context.driver().cuThreadExchangeStreamCaptureMode, &mode);
  return code == kCudaSuccess ? mode : kCudaCaptureRelaxed;
}

void RelaxedCapture::leave(CudaContext& context, int32_t before) {
  if (before == kCudaCaptureRelaxed) return;
  // Also after a loss: the thread may capture on another device.
  const CudaCode code = context.driver().cuThreadExchangeStreamCaptureMode(&before);
  if (cuda_code_is_sticky(code)) static_cast<void>(context.failed("cuThreadExchangeStreamCaptureMode", code));
}

Status PushedContext::enter(CudaContext& context) {
  return context.call(context.driver().cuCtxPushCurrent, context.handle());
}

void PushedContext::leave(CudaContext& context) {
  CudaContextHandle popped = nullptr;
  // Also after a loss: the thread's previous context may be of another device.
  const CudaCode code = context.driver().cuCtxPopCurrent(&popped);
  if (cuda_code_is_sticky(code)) static_cast<void>(context.failed("cuCtxPopCurrent", code));
}

PushedContext::PushedContext(CudaContext& context) : context_(context) {
  // A consumer that uses the CUDA runtime already has this context current.
  CudaContextHandle now = nullptr;
  status_ = context_.call(context_.driver().cuCtxGetCurrent, &now);
  if (!status_.is_ok() || now == context_.handle()) return;
  status_ = enter(context_);
  pushed_ = status_.is_ok();
}

PushedContext::~PushedContext() {
  if (pushed_) leave(context_);
}

Result<std::shared_ptr<CudaMemory>> CudaMemory::make(std::shared_ptr<CudaContext> context, const char* what,
                                                     int64_t bytes, CudaStream side) {
  const CudaDriver& driver = context->driver();
  const auto wanted = static_cast<size_t>(std::max<int64_t>(bytes, 1));  // the driver refuses 0 bytes
  CudaAddress address = 0;
  if (!context->memory_pools()) side = nullptr;
  Status status = side != nullptr ? context->call(driver.cuMemAllocAsync, &address, wanted, side)
                                  : context->call(driver.cuMemAlloc, &address, wanted);
  if (status.code() == Code::kNoMemory) return context->no_memory(what, bytes);
  if (!status.is_ok()) return status;
  return std::make_shared<CudaMemory>(std::move(context), address, bytes, side);
}

CudaMemory::CudaMemory(std::shared_ptr<CudaContext> context, CudaAddress address, int64_t bytes,
                       CudaStream freed_in)
    : context_(std::move(context)), address_(address), bytes_(bytes), freed_in_(freed_in) {
  context_->count_bytes(bytes_);
}

CudaMemory::~CudaMemory() {
  context_->count_bytes(-bytes_);
  if (leaked_.load() || !context_->usable()) return;
  CurrentContext current(*context_);
  if (!current.status().is_ok()) return;
  const CudaDriver& driver = context_->driver();
  // An error here leaks the memory; it cannot be reported.
  if (freed_in_ != nullptr) {
    static_cast<void>(context_->call(driver.cuMemFreeAsync, address_, freed_in_));
  } else {
    static_cast<void>(context_->call(driver.cuMemFree, address_));
  }
}

}  // namespace dataline
