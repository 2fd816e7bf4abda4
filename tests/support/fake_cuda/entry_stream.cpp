// Streams and events. SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_cuda/world.h"

using namespace fake_cuda;

namespace {

// The host has seen that it happened.
void learn(World& w, const Mark& mark) { w.host_clock.join(mark.clock); }

std::shared_ptr<Mark> mark_end(World& w, Stream& stream, int32_t kind, uint64_t event) {
  Operation operation;
  operation.told.kind = kind;
  operation.told.event = event;
  operation.mark = std::make_shared<Mark>();
  auto mark = operation.mark;
  queue_operation(w, stream, std::move(operation));
  return mark;
}

void wait_idle(Call& call, const std::shared_ptr<Stream>& stream) {
  call.wait([&] { return stream->queue.empty(); });
  if (call.code == kSuccess) call.w.host_clock.join(stream->clock);
}

uint64_t give_out(World& w, const std::shared_ptr<Stream>& stream) {
  if (w.reuse_streams && !w.reusable.empty()) {
    stream->handle = w.reusable.back();
    w.reusable.pop_back();
    w.dead_streams.erase(stream->handle);
  }
  w.streams[stream->handle] = stream;
  return stream->handle;
}

CUresult unknown_flags(Call& call, unsigned flags) {
  call.wrong("unknown-flags", std::to_string(flags));
  return call.code = kInvalidValue;
}

// The stream, and all others that it stands for: those that the legacy stream comes after.
std::vector<std::shared_ptr<Stream>> with_others(const World& w, Stream& stream) {
  std::vector<std::shared_ptr<Stream>> all{stream.shared_from_this()};
  for (const auto& [key, other] : w.streams) {
    if (is_legacy(stream) && other.get() != &stream && other->blocking && other->device == stream.device)
      all.push_back(other);
  }
  return all;
}

}  // namespace

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  constexpr unsigned kNonBlocking = 1;
  Call call("cuStreamCreate");
  call.blocks();
  if (call.code == kSuccess && (flags & ~kNonBlocking) != 0) return unknown_flags(call, flags);
  if (call.code == kSuccess)
    *stream =
        handle_of<CUstream>(give_out(call.w, make_stream(call.w, call.device, (flags & kNonBlocking) == 0)));
  return call.code;
}

CUresult cuStreamDestroy_v2(CUstream handle) {
  Call call("cuStreamDestroy");
  call.blocks();
  Stream* stream = call.stream(handle);
  if (stream == nullptr) return call.code;
  if (stream->capture != nullptr) stream->capture->invalid = true;
  stream->destroyed = true;  // what is queued still runs
  call.w.changed.notify_all();
  call.w.dead_streams.insert(stream->handle);
  call.w.reusable.push_back(stream->handle);
  call.w.dying.push_back(stream->shared_from_this());
  call.w.streams.erase(stream->handle);
  return call.code;
}

CUresult cuStreamQuery(CUstream handle) {
  Call call("cuStreamQuery");
  call.unsafe();
  Stream* stream = call.to_ask(handle);
  if (stream == nullptr) return call.code;
  for (const auto& each : with_others(call.w, *stream)) {
    if (!each->queue.empty()) return kNotReady;
    call.w.host_clock.join(each->clock);
  }
  return kSuccess;
}

CUresult cuStreamSynchronize(CUstream handle) {
  Call call("cuStreamSynchronize");
  call.blocks();
  Stream* stream = call.to_ask(handle);
  if (stream == nullptr) return call.code;
  for (const auto& each : with_others(call.w, *stream)) wait_idle(call, each);
  return call.code;
}

CUresult cuCtxSynchronize() {
  Call call("cuCtxSynchronize");
  call.blocks();
  if (call.code != kSuccess) return call.code;
  const auto all = call.w.streams;  // those there are now
  for (const auto& [handle, stream] : all) {
    if (stream->device == call.device && stream->capture != nullptr)
      call.refuse(kCaptureUnsupported, stream->capture);
  }
  for (const auto& [handle, stream] : all) {
    if (stream->device == call.device) wait_idle(call, stream);
  }
  const auto dying = call.w.dying;
  for (const auto& stream : dying) {
    if (stream->device == call.device) wait_idle(call, stream);
  }
  return call.code;
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext* context) {
  Call call("cuStreamGetCtx");
  const Stream* stream = call.stream(handle);
  if (stream != nullptr) *context = context_of(stream->device);
  return call.code;
}

CUresult cuStreamGetId(CUstream handle, unsigned long long* id) {
  Call call("cuStreamGetId");
  const Stream* stream = call.stream(handle);
  if (stream == nullptr) return call.code;
  // As CUDA's own C++ library found (cccl, places::get_stream_id); its documentation does not say so.
  if (stream->capture != nullptr) call.refuse(kCaptureUnsupported, stream->capture);
  *id = stream->id;
  return call.code;
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event_handle, unsigned flags) {
  Call call("cuStreamWaitEvent");
  if (call.code == kSuccess && flags != 0)
    return unknown_flags(call, flags);  // those of captures are not known here
  Stream* stream = call.to_queue(handle);
  const Event* event = call.event(event_handle);
  if (stream == nullptr || event == nullptr) return call.code;
  if (capture_wait(call, *stream, *event)) return call.code;
  if (event->latest == nullptr) {
    call.wrong("event-misuse", "the event was never recorded");
    return kSuccess;  // as the driver: nothing to wait for
  }
  Operation operation;
  operation.told.kind = FAKE_CUDA_WAIT;
  operation.told.event = value_of(event_handle);
  operation.wait_for.push_back(event->latest);
  stream->clock.join(event->latest->clock);
  queue_operation(call.w, *stream, std::move(operation));
  return kSuccess;
}

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  constexpr unsigned kDisableTiming = 2, kInterprocess = 4, kKnown = 7;
  Call call("cuEventCreate");
  call.blocks();
  if (call.code != kSuccess) return call.code;
  const bool shared = (flags & kInterprocess) != 0;
  if ((flags & ~kKnown) != 0 || (shared && (flags & kDisableTiming) == 0)) return unknown_flags(call, flags);
  const uint64_t handle = kEventBase + uint64_t{call.w.next_id++} * 16;
  call.w.events[handle].device = call.device;
  call.w.events[handle].flags = flags;
  *event = handle_of<CUevent>(handle);
  return kSuccess;
}

CUresult cuEventDestroy_v2(CUevent handle) {
  Call call("cuEventDestroy");
  call.blocks();
  if (call.event(handle) != nullptr) call.w.events.erase(value_of(handle));
  return call.code;
}

CUresult cuEventRecord(CUevent handle, CUstream stream_handle) {
  Call call("cuEventRecord");
  Event* event = call.event(handle);
  Stream* stream = call.to_queue(stream_handle);
  if (stream == nullptr || event == nullptr) return call.code;
  if (event->device != stream->device) {
    call.wrong("event-misuse", "the event and the stream are of different devices");
    return kInvalidHandle;
  }
  event->capture = stream->capture;
  event->captured_in = stream->id;
  event->latest =
      stream->capture != nullptr ? nullptr : mark_end(call.w, *stream, FAKE_CUDA_RECORD, value_of(handle));
  return kSuccess;
}

CUresult cuEventQuery(CUevent handle) {
  Call call("cuEventQuery");
  call.unsafe();
  const Event* event = call.event(handle);
  if (event != nullptr && event->capture != nullptr) call.refuse(kCapturedEvent, event->capture);
  if (event == nullptr || event->latest == nullptr) return call.code;
  Mark& mark = *event->latest;
  if (!mark.done || mark.hidden-- > 0) return kNotReady;
  mark.hidden = 0;
  learn(call.w, mark);
  return kSuccess;
}

CUresult cuEventSynchronize(CUevent handle) {
  Call call("cuEventSynchronize");
  call.blocks();
  const Event* event = call.event(handle);
  if (event != nullptr && event->capture != nullptr) call.refuse(kCapturedEvent, event->capture);
  if (event == nullptr || event->latest == nullptr) return call.code;
  const std::shared_ptr<Mark> mark = event->latest;
  call.wait([&] { return mark->done; });
  if (call.code == kSuccess) learn(call.w, *mark);
  return call.code;
}
