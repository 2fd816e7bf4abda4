// The controls. SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "tests/support/fake_cuda/world.h"

using namespace fake_cuda;

namespace {

std::unique_lock<std::mutex> hold() { return std::unique_lock(world().mutex); }

int64_t pending(const World& w) {
  int64_t sum = 0;
  for (const auto& [handle, stream] : w.streams) sum += static_cast<int64_t>(stream->queue.size());
  for (const auto& stream : w.dying) sum += static_cast<int64_t>(stream->queue.size());
  return sum;
}

// All that device 0 was given, as its driver waits for it: nothing that a test says of it then depends on the time.
void drain_real_driver() {
  CUcontext context = nullptr;
  if (cuDevicePrimaryCtxRetain(&context, 0) != kSuccess) return;
  if (cuCtxPushCurrent_v2(context) == kSuccess) {
    cuCtxSynchronize();
    cuCtxPopCurrent_v2(&context);
  }
  cuDevicePrimaryCtxRelease_v2(0);
}

}  // namespace

void fake_cuda_reset() {
  World& w = world();
  auto lock = hold();
  end_streams(w, lock);
  static_cast<State&>(w) = State();
  w.process = getpid();
  context_stack().clear();
  hot_path() = false;
  capture_mode() = 0;
}

void fake_cuda_seed(uint64_t seed) {
  const auto lock = hold();
  world().seed = seed;
}

void fake_cuda_devices(int32_t count, int64_t bytes_each) {
  need_fake(__func__);
  const auto lock = hold();
  world().devices.assign(static_cast<size_t>(count), Device{static_cast<uint64_t>(bytes_each), 0, kSuccess});
}

void fake_cuda_version(int32_t version) {
  need_fake(__func__);
  const auto lock = hold();
  world().version = version;
}

void fake_cuda_capability(int32_t capability) {
  need_fake(__func__);
  const auto lock = hold();
  world().capability = capability;
}

void fake_cuda_hide(const char* entry_point) {
  need_fake(__func__);
  const auto lock = hold();
  world().hidden.insert(entry_point);
}

void fake_cuda_memory_pools(int32_t supported) {
  need_fake(__func__);
  const auto lock = hold();
  world().memory_pools = supported != 0;
}

void fake_cuda_integrated(int32_t host_register) {
  need_fake(__func__);
  const auto lock = hold();
  world().integrated = true;
  world().memory_pools = false;
  world().host_register = host_register != 0;
}

void fake_cuda_register_pages(int32_t whole) {
  need_fake(__func__);
  const auto lock = hold();
  world().host.by_pages(whole != 0);
}

void fake_cuda_dead_streams(int32_t code) {
  need_fake(__func__);
  const auto lock = hold();
  world().dead_stream_code = code;
}

void fake_cuda_reuse_streams(int32_t on) {
  need_fake(__func__);
  const auto lock = hold();
  world().reuse_streams = on != 0;
}

void fake_cuda_limit_pinned(int64_t bytes) {
  need_fake(__func__);
  const auto lock = hold();
  world().pinned_limit = bytes;
}

void fake_cuda_pause() {
  need_fake(__func__);
  const auto lock = hold();
  world().paused = true;
  world().steps = 0;
}

void fake_cuda_resume() {
  const auto lock = hold();
  world().paused = false;
  world().changed.notify_all();
}

void fake_cuda_step(int64_t operations) {
  need_fake(__func__);
  auto lock = hold();
  World& w = world();
  w.steps += operations;
  w.changed.notify_all();
  w.changed.wait(lock, [&] { return w.steps <= 0 || pending(w) == 0; });
  w.steps = 0;
}

void fake_cuda_drain() {
  if (std::getenv("DATALINE_CUDA_LIBRARY") != nullptr) return drain_real_driver();
  auto lock = hold();
  World& w = world();
  w.changed.wait(lock, [&] { return pending(w) == 0; });
}

void fake_cuda_fail_call(int64_t index, int32_t code, int64_t times) {
  need_fake(__func__);
  fake_cuda_fail_name("", index, code, times);
}

void fake_cuda_fail_name(const char* name, int64_t nth, int32_t code, int64_t times) {
  need_fake(__func__);
  const auto lock = hold();
  world().faults.push_back({name, nth, code, times});
}

void fake_cuda_fail_operation(int64_t nth, int32_t code) {
  need_fake(__func__);
  const auto lock = hold();
  world().operation_fault_in = nth;
  world().operation_fault = code;
}

void fake_cuda_shut_down() {
  need_fake(__func__);
  const auto lock = hold();
  world().lose(-1, kDeinitialized);
}

void fake_cuda_clear_faults() {
  const auto lock = hold();
  world().faults.clear();
  world().operation_fault_in = -1;
}

void fake_cuda_hot_path(int32_t on) { hot_path() = on != 0; }

void fake_cuda_require_pinned(int32_t on) {
  const auto lock = hold();
  world().require_pinned = on != 0;
}

int64_t fake_cuda_calls(const char* name) {
  need_fake(__func__);
  const auto lock = hold();
  if (name == nullptr) return world().calls_total;
  const auto found = world().calls.find(name);
  return found == world().calls.end() ? 0 : found->second;
}

int64_t fake_cuda_calls_here() {
  need_fake(__func__);
  return calls_here();
}

int64_t fake_cuda_calls_after_loss() {
  const auto lock = hold();
  return world().calls_after_loss;
}

int64_t fake_cuda_calls_in_child() {
  need_fake(__func__);
  return calls_in_child.load();
}

int64_t fake_cuda_misuses() {
  const auto lock = hold();
  return static_cast<int64_t>(world().misuses.size());
}

const char* fake_cuda_misuse(int64_t index) {
  const auto lock = hold();
  const auto& all = world().misuses;
  return index >= 0 && index < static_cast<int64_t>(all.size()) ? all[static_cast<size_t>(index)].c_str()
                                                                : nullptr;
}

int64_t fake_cuda_live(const char* kind) {
  const auto lock = hold();
  const World& w = world();
  const std::string name = kind;
  int64_t retained = 0;
  for (const Device& device : w.devices) retained += device.retained;
  const auto made = std::count_if(w.streams.begin(), w.streams.end(),
                                  [](const auto& stream) { return stream.first >= kStreamBase; });
  return name == "contexts"        ? retained
         : name == "streams"       ? static_cast<int64_t>(made)
         : name == "events"        ? static_cast<int64_t>(w.events.size())
         : name == "modules"       ? static_cast<int64_t>(w.modules.size())
         : name == "allocations"   ? static_cast<int64_t>(w.memory.count())
         : name == "registrations" ? static_cast<int64_t>(w.host.count(0))
                                   : -1;
}

int64_t fake_cuda_live_with(const char* kind, uint32_t flags) {
  need_fake(__func__);
  constexpr uint32_t kNonBlocking = 1;
  const auto lock = hold();
  const World& w = world();
  const std::string name = kind;
  if (name == "registrations") return static_cast<int64_t>(w.host.count(flags));
  if (name == "events") {
    return std::count_if(w.events.begin(), w.events.end(),
                         [&](const auto& event) { return (event.second.flags & flags) == flags; });
  }
  return std::count_if(w.streams.begin(), w.streams.end(), [&](const auto& stream) {
    const uint32_t made_with = stream.second->blocking ? 0 : kNonBlocking;
    return stream.first >= kStreamBase && (made_with & flags) == flags;
  });
}

int64_t fake_cuda_used_bytes(int32_t device) {
  need_fake(__func__);
  const auto lock = hold();
  return static_cast<int64_t>(world().memory.used(device));
}

int64_t fake_cuda_pinned_bytes() {
  need_fake(__func__);
  const auto lock = hold();
  return static_cast<int64_t>(world().host.bytes());
}

int64_t fake_cuda_pending() {
  need_fake(__func__);
  const auto lock = hold();
  return pending(world());
}

int64_t fake_cuda_trace(fake_cuda_operation* out, int64_t capacity) {
  need_fake(__func__);
  const auto lock = hold();
  const auto& trace = world().trace;
  const int64_t count = static_cast<int64_t>(trace.size());
  if (out != nullptr) std::copy_n(trace.begin(), std::min(count, capacity), out);
  return count;
}
