// SPDX-License-Identifier: Apache-2.0
#include "core/device/cuda_slot.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

namespace dataline {
namespace {

// Handles of the default streams (null, legacy, per-thread) of the current context.
bool is_default_stream(CudaStream stream) { return reinterpret_cast<uintptr_t>(stream) <= 2; }

std::string name_of(CudaStream stream) {
  if (is_default_stream(stream)) return "the default stream";
  char text[32];
  std::snprintf(text, sizeof text, "stream %p", static_cast<void*>(stream));
  return text;
}

}  // namespace

CudaSlot::CudaSlot(std::shared_ptr<CudaContext> context, std::shared_ptr<const KernelSet> kernels,
                   std::shared_ptr<CudaMemory> allocation, std::byte* memory, int64_t index, CudaEvent ready)
    : context_(std::move(context)),
      kernels_(std::move(kernels)),
      allocation_(std::move(allocation)),
      memory_(memory),
      index_(index),
      ready_(ready) {
  users_.reserve(4);
  done_.reserve(4);
  owed_.reserve(4);
}

CudaSlot::~CudaSlot() {
  if (!context_->usable()) return;
  done();
  if (!drain().is_ok()) {
    allocation_->leak();
    return;
  }
  context_->give_event(ready_);
  for (const Done& done : done_) context_->give_event(done.event);
}

// Waits in stream order where the memory is freed in a stream, else on the host.
Status CudaSlot::drain() {
  const CurrentContext current(*context_);
  DL_RETURN_IF_ERROR(current.status());
  if (!settle()) return held();  // nobody is there to ask later: the memory is leaked
  const CudaDriver& driver = context_->driver();
  if (allocation_->in_stream()) {
    const std::lock_guard lock(side().mutex);
    return wait_done();
  }
  if (done_unknown_) DL_RETURN_IF_ERROR(context_->call(driver.cuCtxSynchronize));
  if (in_flight_.load()) DL_RETURN_IF_ERROR(context_->call(driver.cuEventSynchronize, ready_));
  for (const Done& done : done_) DL_RETURN_IF_ERROR(context_->call(driver.cuEventSynchronize, done.event));
  return Status::ok();
}

Status CudaSlot::wait_done() {
  const std::lock_guard lock(users_mutex_);
  const CudaDriver& driver = context_->driver();
  // A DONE could not be recorded (a consumer destroyed a stream without releasing it): only the host can wait.
  if (done_unknown_) DL_RETURN_IF_ERROR(context_->call(driver.cuCtxSynchronize));
  done_unknown_ = false;
  while (!done_.empty()) {
    const CudaEvent event = done_.back().event;
    DL_RETURN_IF_ERROR(context_->call(driver.cuStreamWaitEvent, side().stream, event, 0));
    done_.pop_back();
    context_->give_event(event);  // the wait refers to the recorded state; recording again does not change it
  }
  return Status::ok();
}

Status CudaSlot::record_ready() {
  DL_RETURN_IF_ERROR(context_->call(context_->driver().cuEventRecord, ready_, side().stream));
  in_flight_.store(true);
  return Status::ok();
}

Status CudaSlot::send(const std::byte* host, std::span<const CopyRange> copies,
                      std::span<const TailCall> calls) {
  const CurrentContext current(*context_);
  if (!settle()) return held();
  const std::lock_guard lock(side().mutex);
  const auto enqueue = [&] {
    DL_RETURN_IF_ERROR(current.status());
    DL_RETURN_IF_ERROR(wait_done());
    for (const CopyRange& range : copies) {
      if (range.bytes == 0) continue;
      DL_RETURN_IF_ERROR(context_->call(context_->driver().cuMemcpyHtoDAsync,
                                        cuda_address(memory_ + range.offset), host + range.offset,
                                        static_cast<size_t>(range.bytes), side().stream));
    }
    for (const TailCall& call : calls) {
      if (call.rows > 0) DL_RETURN_IF_ERROR(kernels_->launch(*context_, side().stream, memory_, call));
    }
    return record_ready();
  };
  Status status = enqueue();
  return status.is_ok() || status.code() == Code::kForked ? std::move(status)
                                                          : context_->abandon(side(), std::move(status));
}

Status CudaSlot::copy_from(CudaSlot& from, int64_t bytes) {
  // The context is current, and the side stream is that of `from`, so this runs after its READY and before its next send.
  if (bytes > 0) {
    DL_RETURN_IF_ERROR(context_->call(context_->driver().cuMemcpyDtoDAsync, cuda_address(memory_),
                                      cuda_address(from.memory_), static_cast<size_t>(bytes), side().stream));
    // As a user like any other, for the case that the memory of `from` goes next.
    const std::lock_guard lock(from.users_mutex_);
    DL_RETURN_IF_ERROR(from.record_done(side().stream));
  }
  return record_ready();
}

bool CudaSlot::copies_done() {
  if (!in_flight_.load() || !context_->usable()) return true;
  const CurrentContext current(*context_);
  if (!current.status().is_ok()) return !context_->usable();  // else unknown for now
  const CudaCode code = context_->ask(context_->driver().cuEventQuery, ready_);
  if (code == kCudaNotReady || cuda_code_is_of_capture(code)) return false;
  if (code != kCudaSuccess) static_cast<void>(context_->lose(context_->failed("cuEventQuery", code)));
  in_flight_.store(false);
  return true;
}

Status CudaSlot::wait_for_copies() {
  if (!context_->usable()) return context_->unusable();
  if (!in_flight_.load()) return Status::ok();
  const CurrentContext current(*context_);
  DL_RETURN_IF_ERROR(current.status());
  Status status = context_->call(context_->driver().cuEventSynchronize, ready_);
  if (CudaContext::not_now(status)) return status;
  if (!status.is_ok()) return context_->lose(std::move(status));
  in_flight_.store(false);
  return status;
}

// Events can only be recorded in streams of their own context: reported before anything depends on it.
Status CudaSlot::check_stream(CudaStream user) {
  if (is_default_stream(user)) return Status::ok();
  CudaContextHandle owner = nullptr;
  DL_RETURN_IF_ERROR(context_->call(context_->driver().cuStreamGetCtx, user, &owner));
  if (owner == context_->handle()) return Status::ok();
  return error(Code::kInvalidArgument, "the batch is on cuda:", context_->ordinal(),
               ", the stream is not (or not of the device's primary context)");
}

// Whether the stream takes no work that runs now: it is being captured, also where the capture is broken, or it is the
// legacy stream and some blocking stream is (906). To ask breaks no capture.
Result<bool> CudaSlot::is_captured(CudaStream user) {
  int32_t status = 0;
  const CudaCode code = context_->ask(context_->driver().cuStreamIsCapturing, user, &status);
  if (code == kCudaSuccess) return status != 0;
  if (cuda_code_is_of_capture(code)) return true;
  return context_->failed("cuStreamIsCapturing", code);
}

Status CudaSlot::held() const {
  return error(Code::kWrongState, "cuda:", context_->ordinal(),
               ": the batch was released in a stream that is being captured into a CUDA graph: its memory is "
               "written again when the capture is over");
}

Status CudaSlot::wait(void* stream) {
  const auto user = static_cast<CudaStream>(stream);
  const CurrentContext current(*context_);
  DL_RETURN_IF_ERROR(current.status());
  DL_RETURN_IF_ERROR(check_stream(user));
  DL_ASSIGN_OR_RETURN(const bool captured, is_captured(user));
  if (captured) {
    return error(Code::kWrongState, "cuda:", context_->ordinal(), ": ", name_of(user),
                 is_default_stream(user)
                     ? " cannot be used while a blocking stream is being captured into a CUDA "
                       "graph: wait before the capture begins, or in another stream"
                     : " is being captured into a CUDA graph, and a batch's memory holds another "
                       "batch when the graph runs: wait before the capture begins, copy the "
                       "batch into memory of your own, and capture what reads that");
  }
  const CudaDriver& driver = context_->driver();
  const std::lock_guard lock(users_mutex_);
  if (in_flight_.load()) {
    DL_RETURN_IF_ERROR(context_->call(driver.cuStreamWaitEvent, user, ready_, 0));
  }
  if (std::find(users_.begin(), users_.end(), user) == users_.end()) users_.push_back(user);
  return Status::ok();
}

Status CudaSlot::record_done(CudaStream stream) {
  const CudaDriver& driver = context_->driver();
  for (const Done& done : done_) {
    if (done.stream == stream) return context_->call(driver.cuEventRecord, done.event, stream);
  }
  done_.reserve(done_.size() + 1);
  DL_ASSIGN_OR_RETURN(const CudaEvent event, context_->take_event());
  Status status = context_->call(driver.cuEventRecord, event, stream);
  if (status.is_ok()) {
    done_.push_back({stream, event});
  } else {
    context_->give_event(event);
  }
  return status;
}

Status CudaSlot::finish(CudaStream user) {
  DL_ASSIGN_OR_RETURN(const bool captured, is_captured(user));
  if (!captured) return record_done(user);
  if (std::find(owed_.begin(), owed_.end(), user) == owed_.end()) owed_.push_back(user);
  owes_.store(true);
  return Status::ok();
}

// What a stream is given until its DONE is recorded, at the earliest now, is waited for too: more than need be, never less.
bool CudaSlot::settle() {
  if (!owes_.load() || !context_->usable()) return true;
  const CurrentContext current(*context_);
  if (!current.status().is_ok()) return !context_->usable();
  const std::lock_guard lock(users_mutex_);
  std::erase_if(owed_, [this](CudaStream user) {
    const Result<bool> captured = is_captured(user);
    if (captured.is_ok() && captured.value()) return false;
    if (!captured.is_ok() || !record_done(user).is_ok()) done_unknown_ = true;
    return true;
  });
  owes_.store(!owed_.empty());
  return owed_.empty();
}

Status CudaSlot::release(void* stream) {
  const auto user = static_cast<CudaStream>(stream);
  const CurrentContext current(*context_);
  DL_RETURN_IF_ERROR(current.status());
  const std::lock_guard lock(users_mutex_);
  // A stream that waited was checked then.
  if (std::find(users_.begin(), users_.end(), user) == users_.end()) DL_RETURN_IF_ERROR(check_stream(user));
  DL_RETURN_IF_ERROR(finish(user));
  std::erase(users_, user);
  return Status::ok();
}

void CudaSlot::done() noexcept {
  const std::lock_guard lock(users_mutex_);
  if (users_.empty()) return;
  if (context_->usable()) {
    const CurrentContext current(*context_);
    for (CudaStream user : users_) {
      if (!current.status().is_ok() || !finish(user).is_ok()) done_unknown_ = true;
    }
  }
  users_.clear();
}

}  // namespace dataline
