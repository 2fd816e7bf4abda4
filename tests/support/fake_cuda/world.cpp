// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_cuda/world.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string_view>

namespace fake_cuda {

std::atomic<int64_t> calls_in_child{0};

bool is_sticky(CUresult code) {
  static const std::set<CUresult> kSticky{4,   46,  214, 220, 226, 700, 702, 709, 710, 714,
                                          715, 716, 717, 718, 719, 721, 810, 911, 999};
  return kSticky.count(code) != 0;
}

World& world() {
  static World* const w = [] {
    auto* made = new World;
    made->process = getpid();
    return made;
  }();
  return *w;
}

ContextStack& context_stack() {
  thread_local ContextStack stack;
  return stack;
}

int& capture_mode() {
  thread_local int mode = 0;
  return mode;
}

bool& hot_path() {
  thread_local bool hot = false;
  return hot;
}

int64_t& calls_here() {
  thread_local int64_t calls = 0;
  return calls;
}

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

uint64_t draw(uint64_t seed, uint64_t a, uint64_t b) {
  uint64_t x = seed * 0x9E3779B97F4A7C15U + a * 0xBF58476D1CE4E5B9U + b * 0x94D049BB133111EBU;
  for (int i = 0; i < 3; ++i) {
    x ^= x >> 31;
    x *= 0xD6E8FEB86659FD93U;
  }
  return x ^ (x >> 32);
}

void World::lose(int32_t device, CUresult code) {
  // Held by the caller, the mutex says that no operation is running: what is queued never will.
  if (code == kDeinitialized) shut_down = true;
  if (device >= 0 && device < static_cast<int32_t>(devices.size()))
    devices[static_cast<size_t>(device)].lost = code;
  for (auto& [handle, stream] : streams) {
    if (shut_down || stream->device == device) stream->queue.clear();
  }
  for (auto& stream : dying) {
    if (shut_down || stream->device == device) stream->queue.clear();
  }
  changed.notify_all();
}

Call::Call(const char* name, Needs needs) : w(world()), name_(name), needs_(needs) {
  // A child has copies of mutexes that nobody will unlock.
  if (w.process != getpid()) {
    calls_in_child.fetch_add(1);
    code = kNotInitialized;
    return;
  }
  lock_ = std::unique_lock(w.mutex);
  code = judge();
}

CUresult Call::lost() const {
  if (w.shut_down) return kDeinitialized;
  return device >= 0 ? w.devices[static_cast<size_t>(device)].lost : CUresult{kSuccess};
}

// Gives the thread back what is its own: to be made all the same.
bool Call::gives_back() const {
  const std::string name = name_;
  return name == "cuCtxPopCurrent" || name == "cuThreadExchangeStreamCaptureMode";
}

CUresult Call::tell(int32_t lost_device) {
  bool& told = w.shut_down ? w.shut_down_told : w.devices[static_cast<size_t>(lost_device)].told;
  if (told && !gives_back()) ++w.calls_after_loss;
  told = true;
  return w.shut_down ? CUresult{kDeinitialized} : w.devices[static_cast<size_t>(lost_device)].lost;
}

CUresult Call::judge() {
  ++w.calls_total;
  ++calls_here();
  ++w.calls[name_];
  if (!context_stack().empty()) device = context_stack().back();
  const bool of_device = device >= 0 && needs_ == Needs::kContext;
  if (w.shut_down || (of_device && lost() != kSuccess)) return tell(device);
  // Such a call cannot be told; with every device lost, and told, it should not be made either.
  const auto is_lost = [](const Device& d) { return d.lost != kSuccess && d.told; };
  if (!of_device && !gives_back() && !w.devices.empty() &&
      std::all_of(w.devices.begin(), w.devices.end(), is_lost))
    ++w.calls_after_loss;
  const CUresult fault = faulty();
  if (fault != kSuccess) return fault;
  if (!w.initialized && needs_ != Needs::kNothing) {
    // Whether a thread has a context is a thing to ask at any time.
    if (std::string_view(name_) != "cuCtxGetCurrent") wrong("not-initialized", "before cuInit");
    return kNotInitialized;
  }
  if (needs_ != Needs::kContext) return kSuccess;
  if (device < 0) {
    wrong("wrong-context", "no context is current");
    return kInvalidContext;
  }
  if (w.devices[static_cast<size_t>(device)].retained == 0) {
    wrong("wrong-context", "the current context was released");
    return kInvalidContext;
  }
  return kSuccess;
}

CUresult Call::faulty() {
  for (Fault& fault : w.faults) {
    if (!fault.name.empty() && fault.name != name_) continue;
    if (fault.skip-- > 0 || fault.times == 0) continue;
    if (fault.times > 0) --fault.times;
    if (is_sticky(fault.code)) {
      const int32_t lost_device = std::max(device, 0);
      w.lose(lost_device, fault.code);
      return tell(lost_device);
    }
    return fault.code;
  }
  return kSuccess;
}

void Call::wrong(const char* kind, const std::string& what) {
  w.misuse(std::string(kind) + ": " + name_ + ": " + what);
}

void Call::blocks() {
  if (code == kSuccess && hot_path()) wrong("host-sync", "on the hot path");
  unsafe();
}

Stream* Call::stream(CUstream handle) {
  if (code != kSuccess) return nullptr;
  uint64_t value = value_of(handle);
  const bool is_default = value <= kPerThread;
  if (is_default) value = default_stream(value, device);
  auto found = w.streams.find(value);
  if (found == w.streams.end() && is_default) {
    auto made = make_stream(w, device, true);
    made->handle = value_of(handle) == kPerThread ? kPerThread : kLegacy;
    found = w.streams.emplace(value, std::move(made)).first;
  }
  if (found != w.streams.end()) return found->second.get();
  wrong("unknown-stream", "destroyed, or never made");
  code = w.dead_streams.count(value) != 0 ? w.dead_stream_code : CUresult{kInvalidHandle};
  return nullptr;
}

Event* Call::event(CUevent handle) {
  if (code != kSuccess) return nullptr;
  const auto found = w.events.find(value_of(handle));
  if (found != w.events.end()) return &found->second;
  wrong("unknown-event", "destroyed, or never made");
  code = kInvalidHandle;
  return nullptr;
}

void Call::wait(const std::function<bool()>& condition) {
  if (code != kSuccess) return;
  w.changed.wait(lock_, [&] { return condition() || lost() != kSuccess; });
  if (lost() != kSuccess) code = tell(device);
}

}  // namespace fake_cuda
