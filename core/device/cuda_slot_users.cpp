// The consumers of a slot: their streams wait for READY and are remembered, and DONE is recorded in each.
//
// A handle is no name for a stream: drivers give the handle of a destroyed one out again at once, while it still works
// (rmm#649, rmm#2251). What cuStreamGetId tells is unique in the process. Nor is a dead handle's 709 ("context is destroyed")
// said of the device: calls on a consumer's stream are made by call_on_stream().
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include "core/device/cuda_slot.h"

namespace dataline {
namespace {

// The default streams of the current context: the legacy one, and the one of the thread that calls.
constexpr CudaStream kLegacyStream = nullptr;  // 1 too
const auto kPerThreadStream = reinterpret_cast<CudaStream>(uintptr_t{2});
bool is_default_stream(CudaStream stream) { return stream == kLegacyStream || stream == kPerThreadStream; }

CudaStream stream_of(void* stream) {
  return reinterpret_cast<uintptr_t>(stream) == 1 ? kLegacyStream : static_cast<CudaStream>(stream);
}

// Where DONE comes after what `stream` was given, whichever thread records it. That of a thread is another one in another
// thread, and has no other handle; but the legacy stream comes after all blocking streams, of which they are (cuda.h, "Stream
// synchronization behavior").
CudaStream ends_in(CudaStream stream) { return stream == kPerThreadStream ? kLegacyStream : stream; }

std::string name_of(CudaStream stream) {
  if (stream == kLegacyStream) return "the legacy default stream";
  if (stream == kPerThreadStream) return "this thread's default stream";
  char text[32];
  std::snprintf(text, sizeof text, "stream %p", static_cast<void*>(stream));
  return text;
}

}  // namespace

// Events can only be recorded in streams of their own context: reported before anything depends on it. Asked once for each
// stream whose id is known.
Result<bool> CudaSlot::is_ours(CudaStream stream, uint64_t id) {
  if (is_default_stream(stream) || (id != kNoId && context_->knows_stream(id))) return true;
  CudaContextHandle owner = nullptr;
  DL_RETURN_IF_ERROR(context_->call_on_stream(context_->driver().cuStreamGetCtx, stream, &owner));
  if (owner == context_->handle() && id != kNoId) context_->note_stream(id);
  return owner == context_->handle();
}

Status CudaSlot::not_ours() const {
  return error(Code::kInvalidArgument, "the batch is on cuda:", context_->ordinal(),
               ", but the stream is not, or not in the device's primary context");
}

// Whether the stream takes no work that runs now: it is being captured, also where the capture is broken, or it is the
// legacy stream and some blocking stream is (906). To ask breaks no capture.
Result<bool> CudaSlot::is_captured(CudaStream stream) {
  int32_t status = 0;
  Status asked = context_->call_on_stream(context_->driver().cuStreamIsCapturing, stream, &status);
  if (CudaContext::not_now(asked)) return true;
  if (!asked.is_ok()) return asked;
  return status != 0;
}

// Not for a stream that is being captured: that the driver refuses, and breaks the capture.
Result<uint64_t> CudaSlot::id_of(CudaStream stream) {
  unsigned long long id = kNoId;
  if (is_default_stream(stream)) return kNoId;  // they are never destroyed
  DL_RETURN_IF_ERROR(context_->call_on_stream(context_->driver().cuStreamGetId, stream, &id));
  return uint64_t{id};
}

Status CudaSlot::wait(void* stream) {
  const CudaStream user = stream_of(stream);
  const PushedContext current(*context_);
  DL_RETURN_IF_ERROR(current.status());
  DL_ASSIGN_OR_RETURN(const bool captured, is_captured(user));
  if (captured) {
    return error(Code::kWrongState, "cuda:", context_->ordinal(), ": ", name_of(user),
                 user == kLegacyStream
                     ? " cannot be used while a blocking stream is being captured into a CUDA "
                       "graph: wait before the capture begins, or in another stream"
                     : " is being captured into a CUDA graph, and the batch's memory will hold another batch "
                       "when the graph runs: wait before the capture begins, copy the batch into your own "
                       "memory, and capture the work that reads the copy");
  }
  DL_ASSIGN_OR_RETURN(const uint64_t id, id_of(user));
  DL_ASSIGN_OR_RETURN(const bool ours, is_ours(user, id));
  if (!ours) return not_ours();
  const std::lock_guard lock(users_mutex_);
  if (in_flight_.load()) {
    DL_RETURN_IF_ERROR(context_->call_on_stream(context_->driver().cuStreamWaitEvent, user, ready_, 0));
  }
  unnamed_ = false;
  const auto known = find_user(ends_in(user));
  if (known == users_.end()) {
    users_.push_back({ends_in(user), id});
  } else if (known->id != id) {
    done_unknown_ = true;  // the one that waited was destroyed before its release
    known->id = id;
  }
  return Status::ok();
}

std::vector<CudaSlot::User>::iterator CudaSlot::find_user(CudaStream stream) {
  return std::find_if(users_.begin(), users_.end(),
                      [stream](const User& user) { return user.stream == stream; });
}

// Each time in an event of its own: what an earlier one of the same handle was recorded in may be another stream.
Status CudaSlot::record_done(CudaStream stream) {
  done_.reserve(done_.size() + 1);
  DL_ASSIGN_OR_RETURN(const CudaEvent event, context_->take_event());
  Status status = context_->call_on_stream(context_->driver().cuEventRecord, event, stream);
  if (status.is_ok()) {
    done_.push_back(event);
  } else {
    context_->give_event(event);
  }
  return status;
}

Status CudaSlot::finish(const User& user) {
  Status status = try_finish(user);
  if (!status.is_ok()) done_unknown_ = true;
  return status;
}

Status CudaSlot::try_finish(const User& user) {
  DL_ASSIGN_OR_RETURN(const bool captured, is_captured(user.stream));
  if (captured) {
    owed_.push_back(user);
    owes_.store(true);
    return Status::ok();
  }
  if (user.id != kNoId) {
    DL_ASSIGN_OR_RETURN(const uint64_t id, id_of(user.stream));
    if (id != user.id) {
      return error(Code::kInvalidArgument, "cuda:", context_->ordinal(), ": ", name_of(user.stream),
                   " was destroyed before its batch was released");
    }
  }
  return record_done(user.stream);
}

// What a stream is given until its DONE is recorded, at the earliest now, is waited for too: more than need be, never less.
bool CudaSlot::settle() {
  if (!owes_.load() || !context_->usable()) return true;
  const std::lock_guard lock(users_mutex_);
  for (const User& user : std::exchange(owed_, {})) static_cast<void>(finish(user));
  owes_.store(!owed_.empty());
  return owed_.empty();
}

Status CudaSlot::release(void* stream) {
  const PushedContext current(*context_);
  DL_RETURN_IF_ERROR(current.status());
  const std::lock_guard lock(users_mutex_);
  unnamed_ = false;
  User user{ends_in(stream_of(stream)), kNoId};
  const auto known = find_user(user.stream);
  if (known != users_.end()) {  // it was checked when it waited
    user = *known;
    users_.erase(known);
  } else {
    const Result<bool> ours = is_ours(user.stream);
    if (!ours.is_ok()) done_unknown_ = true;
    if (!ours.is_ok()) return ours.status();
    if (!ours.value()) return not_ours();
  }
  return finish(user);
}

void CudaSlot::passed_on() noexcept {
  const std::lock_guard lock(users_mutex_);
  unnamed_ = users_.empty();
}

void CudaSlot::done() noexcept {
  const std::lock_guard lock(users_mutex_);
  if (std::exchange(unnamed_, false)) users_.push_back({kLegacyStream, kNoId});  // room for it was reserved
  if (users_.empty()) return;
  if (context_->usable()) {
    const PushedContext current(*context_);
    if (!current.status().is_ok()) done_unknown_ = true;
    for (const User& user : users_) {
      if (current.status().is_ok()) static_cast<void>(finish(user));
    }
  }
  users_.clear();
}

}  // namespace dataline
