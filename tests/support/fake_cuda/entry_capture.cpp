// Graph capture: states, modes and codes, as the driver's documentation has them (cuda.h at cuStreamBeginCapture and
// cuThreadExchangeStreamCaptureMode; the programming guide's "Prohibited and Unhandled Operations"). What is captured is
// dropped: graphs are not run. NVIDIA has no list of the calls that are unsafe in a capture: here they are all that wait,
// query, allocate, make or end something. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "tests/support/fake_cuda/world.h"

using namespace fake_cuda;

namespace {

enum Mode { kGlobal = 0, kThreadLocal = 1, kRelaxed = 2 };
constexpr uint64_t kGraphBase = 0x6000000000;

// Captures of blocking streams, which the legacy stream encompasses.
std::vector<std::shared_ptr<Capture>> under_legacy(const World& w, int32_t device) {
  std::vector<std::shared_ptr<Capture>> found;
  for (const auto& [handle, stream] : w.streams) {
    if (stream->device == device && stream->blocking && stream->capture != nullptr)
      found.push_back(stream->capture);
  }
  return found;
}

CUresult end(World& w, const std::shared_ptr<Capture>& capture) {
  capture->over = true;
  std::erase(w.captures, capture);
  for (auto& [handle, stream] : w.streams) {
    if (stream->capture == capture) stream->capture = nullptr;
  }
  return capture->invalid ? kCaptureInvalidated : !capture->unjoined.empty() ? kCaptureUnjoined : kSuccess;
}

}  // namespace

namespace fake_cuda {

void Call::refuse(CUresult why, const std::shared_ptr<Capture>& capture) {
  code = why;
  capture->invalid = true;
}

void Call::unsafe() {
  if (code != kSuccess || capture_mode() == kRelaxed) return;
  const auto captures = w.captures;
  for (const auto& capture : captures) {
    const bool mine = capture->thread == std::this_thread::get_id();
    const bool prohibits =
        mine ? capture->mode != kRelaxed : capture->mode == kGlobal && capture_mode() == kGlobal;
    if (prohibits) refuse(kCaptureUnsupported, capture);
  }
}

Stream* Call::to_queue(CUstream handle) {
  Stream* found = stream(handle);
  if (found == nullptr) return nullptr;
  if (is_legacy(*found)) {
    for (const auto& capture : under_legacy(w, device)) refuse(kCaptureImplicit, capture);
  } else if (found->capture != nullptr && found->capture->invalid) {
    code = kCaptureInvalidated;
  }
  return code == kSuccess ? found : nullptr;
}

Stream* Call::to_ask(CUstream handle) {
  Stream* found = stream(handle);
  if (found == nullptr) return nullptr;
  if (is_legacy(*found)) {
    for (const auto& capture : under_legacy(w, device)) refuse(kCaptureImplicit, capture);
  } else if (found->capture != nullptr) {
    refuse(kCaptureUnsupported, found->capture);
  }
  return code == kSuccess ? found : nullptr;
}

bool capture_wait(Call& call, Stream& stream, const Event& event) {
  if (event.capture == nullptr) {
    if (stream.capture == nullptr) return false;
    // Only what is in the capture may come before what is in it.
    call.refuse(kCaptureIsolation, stream.capture);
  } else if (event.capture->over) {
    call.code = kCapturedEvent;
  } else if (stream.capture == nullptr) {
    stream.capture = event.capture;  // the fork: the stream is drawn in
    event.capture->unjoined.insert(stream.id);
  } else if (stream.capture != event.capture) {
    call.refuse(kCaptureMerge, stream.capture);
    call.refuse(kCaptureMerge, event.capture);
  } else {
    event.capture->unjoined.erase(event.captured_in);
  }
  return true;
}

}  // namespace fake_cuda

CUresult cuThreadExchangeStreamCaptureMode(int* mode) {
  Call call("cuThreadExchangeStreamCaptureMode", Needs::kDriver);
  if (call.in_child()) return call.code;
  if (*mode < kGlobal || *mode > kRelaxed) return kInvalidValue;
  // Also of a lost device: it only changes the thread.
  if (call.code == kSuccess || is_sticky(call.code)) std::swap(capture_mode(), *mode);
  return call.code;
}

CUresult cuStreamBeginCapture_v2(CUstream handle, int mode) {
  Call call("cuStreamBeginCapture");
  Stream* stream = call.stream(handle);
  if (stream == nullptr) return call.code;
  if (is_legacy(*stream)) return kCaptureUnsupported;
  if (stream->capture != nullptr) return kIllegalState;
  auto capture = std::make_shared<Capture>();
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->origin = stream->id;
  call.w.captures.push_back(capture);
  stream->capture = std::move(capture);
  return kSuccess;
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph* graph) {
  Call call("cuStreamEndCapture");
  const Stream* stream = call.stream(handle);
  if (stream == nullptr) return call.code;
  *graph = nullptr;
  if (stream->capture == nullptr) return kIllegalState;
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture->mode != kRelaxed && capture->thread != std::this_thread::get_id()) return kCaptureWrongThread;
  if (capture->origin != stream->id) return kCaptureUnmatched;
  const CUresult code = end(call.w, capture);
  if (code == kSuccess) *graph = handle_of<CUgraph>(kGraphBase + uint64_t{call.w.next_id++} * 16);
  return code;
}

CUresult cuGraphDestroy(CUgraph) { return Call("cuGraphDestroy", Needs::kDriver).code; }

CUresult cuStreamIsCapturing(CUstream handle, int* status) {
  enum { kNone = 0, kActive = 1, kInvalidated = 2 };
  Call call("cuStreamIsCapturing");
  const Stream* stream = call.stream(handle);
  if (stream == nullptr) return call.code;
  // Asking harms no capture.
  if (is_legacy(*stream) && !under_legacy(call.w, call.device).empty()) return kCaptureImplicit;
  *status = stream->capture == nullptr ? kNone : stream->capture->invalid ? kInvalidated : kActive;
  return kSuccess;
}
