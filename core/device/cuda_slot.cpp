// SPDX-License-Identifier: Apache-2.0
#include "core/device/cuda_slot.h"

#include <utility>

namespace dataline {

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
  for (CudaEvent done : done_) context_->give_event(done);
  const CurrentContext current(*context_);
  if (current.status().is_ok()) timer_.destroy(*context_);
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
  for (CudaEvent done : done_) DL_RETURN_IF_ERROR(context_->call(driver.cuEventSynchronize, done));
  return Status::ok();
}

Status CudaSlot::held() const {
  return error(Code::kWrongState, "cuda:", context_->ordinal(),
               ": the batch was released in a stream that is being captured into a CUDA graph: its memory "
               "cannot be reused until the capture ends");
}

Status CudaSlot::wait_done() {
  const std::lock_guard lock(users_mutex_);
  const CudaDriver& driver = context_->driver();
  // A DONE could not be recorded (a consumer destroyed a stream without releasing it): only the host can wait. No API tells
  // whether some stream is being captured, which this breaks: the one case, and the consumer's mistake came first.
  if (done_unknown_) DL_RETURN_IF_ERROR(context_->call(driver.cuCtxSynchronize));
  done_unknown_ = false;
  while (!done_.empty()) {
    const CudaEvent event = done_.back();
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
                      std::span<const TailCall> calls, const DeviceTiming& timing) {
  if (!settle()) return held();
  const std::lock_guard lock(side().mutex);
  const auto enqueue = [&] {
    DL_RETURN_IF_ERROR(wait_done());
    timer_.begin(*context_, side().stream, timing);
    int64_t bytes = 0;
    for (const CopyRange& range : copies) {
      if (range.bytes == 0) continue;
      bytes += range.bytes;
      DL_RETURN_IF_ERROR(context_->call(context_->driver().cuMemcpyHtoDAsync,
                                        cuda_address(memory_ + range.offset), host + range.offset,
                                        static_cast<size_t>(range.bytes), side().stream));
    }
    timer_.copied(*context_, side().stream, bytes);
    for (const TailCall& call : calls) {
      if (call.rows > 0) DL_RETURN_IF_ERROR(kernels_->launch(*context_, side().stream, memory_, call));
    }
    timer_.end(*context_, side().stream);
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
  const CudaCode code = context_->ask(context_->driver().cuEventQuery, ready_);
  if (code == kCudaNotReady || cuda_code_is_of_capture(code)) return false;
  if (code != kCudaSuccess) static_cast<void>(context_->lose(context_->failed("cuEventQuery", code)));
  note_ready();
  return true;
}

void CudaSlot::note_ready() {
  if (in_flight_.exchange(false)) timer_.report(*context_);
}

Status CudaSlot::wait_for_copies() {
  if (!context_->usable()) return context_->unusable();
  if (!in_flight_.load()) return Status::ok();
  Status status = context_->call(context_->driver().cuEventSynchronize, ready_);
  if (CudaContext::not_now(status)) return status;
  if (!status.is_ok()) return context_->lose(std::move(status));
  note_ready();
  return status;
}

}  // namespace dataline
