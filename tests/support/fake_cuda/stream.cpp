// Streams: each is a thread that runs its operations in order, after delays drawn from the seed. Operations run under the
// world's mutex, so what they do to memory is seen by whoever enters the driver afterwards.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <thread>

#include "tests/support/fake_cuda/world.h"

namespace fake_cuda {
namespace {

thread_local Operation* running = nullptr;
thread_local Stream* running_in = nullptr;

bool is_lost(const World& w, const Stream& stream) {
  return w.shut_down || w.devices[static_cast<size_t>(stream.device)].lost != kSuccess;
}

bool is_over(const World& w, const Stream& stream) {
  return w.ending || (stream.destroyed && (stream.queue.empty() || is_lost(w, stream)));
}

bool can_start(const World& w, const Stream& stream) {
  if (stream.queue.empty() || is_lost(w, stream) || (w.paused && w.steps <= 0)) return false;
  const auto& wait_for = stream.queue.front().wait_for;
  return std::all_of(wait_for.begin(), wait_for.end(), [](const auto& mark) { return mark->done; });
}

void run_first(World& w, Stream& stream) {
  if (w.paused) --w.steps;
  if (w.operation_fault_in >= 0 && w.operation_fault_in-- == 0) {
    w.lose(stream.device, w.operation_fault);
    return;
  }
  Operation& operation = stream.queue.front();
  operation.told.begin_ns = now_ns();
  running = &operation;
  running_in = &stream;
  try {
    if (operation.run) operation.run(operation);
  } catch (const IllegalAddress&) {
    w.lose(stream.device, kIllegalAddress);
    return;  // the queue is empty
  } catch (const MisalignedAddress&) {
    w.lose(stream.device, kMisalignedAddress);
    return;
  }
  operation.told.end_ns = now_ns();
  w.trace.push_back(operation.told);
  if (operation.mark != nullptr) {
    operation.mark->done = true;
    operation.mark->end_ns = operation.told.end_ns;
  }
  stream.queue.pop_front();
}

void run_stream(World& w, const std::shared_ptr<Stream>& stream) {
  std::unique_lock lock(w.mutex);
  for (uint64_t turn = 0;; ++turn) {
    w.changed.wait(lock, [&] { return is_over(w, *stream) || can_start(w, *stream); });
    if (is_over(w, *stream)) break;
    if (w.seed != 0) {
      uint64_t yields = draw(w.seed, stream->id, turn) % 4;  // a yield on a busy machine may last long
      yields *= yields;
      lock.unlock();
      for (; yields > 0; --yields) std::this_thread::yield();
      lock.lock();
      if (w.ending || !can_start(w, *stream)) continue;
    }
    run_first(w, *stream);
    w.changed.notify_all();
  }
  --w.threads;
  w.changed.notify_all();
}

}  // namespace

std::shared_ptr<Stream> make_stream(World& w, int32_t device, bool blocking) {
  auto stream = std::make_shared<Stream>();
  stream->id = w.next_id++;
  stream->device = device;
  stream->blocking = blocking;
  stream->handle = kStreamBase + uint64_t{stream->id} * 16;
  ++w.threads;
  std::thread([&w, stream] { run_stream(w, stream); }).detach();
  return stream;
}

bool is_legacy(const Stream& stream) { return stream.handle == kLegacy; }

uint64_t default_stream(uint64_t handle, int32_t device) {
  thread_local const uint64_t thread = [] {
    static std::atomic<uint64_t> threads{0};
    return ++threads;
  }();
  return uint64_t{static_cast<uint32_t>(device)} << 32 | (handle == kPerThread ? thread : 0);
}

// The legacy stream comes after all that blocking streams were given, and what they are given later after it (cuda.h,
// "Stream synchronization behavior"). Streams of threads block.
void order_by_legacy(World& w, Stream& stream, Operation& operation) {
  if (!stream.blocking) return;
  for (const auto& [key, other] : w.streams) {
    if (other.get() == &stream || other->device != stream.device || !other->blocking ||
        other->last == nullptr)
      continue;
    if (!is_legacy(stream) && !is_legacy(*other)) continue;
    operation.wait_for.push_back(other->last);
    stream.clock.join(other->clock);
  }
}

void queue_operation(World& w, Stream& stream, Operation operation) {
  if (stream.capture != nullptr) return;  // a node of a graph
  order_by_legacy(w, stream, operation);
  operation.sequence = ++stream.issued;
  stream.clock.join(w.host_clock);
  stream.clock.set(stream.id, operation.sequence);
  operation.clock = stream.clock;
  operation.told.device = stream.device;
  operation.told.stream = is_legacy(stream) ? 0 : stream.handle;
  operation.told.queued_ns = now_ns();
  if (operation.mark == nullptr) operation.mark = std::make_shared<Mark>();
  stream.last = operation.mark;
  operation.mark->clock = operation.clock;
  operation.mark->hidden =
      w.seed == 0 ? 0
                  : static_cast<int32_t>(
                        draw(w.seed, stream.id + 1000, static_cast<uint64_t>(operation.sequence)) % 3);
  stream.queue.push_back(std::move(operation));
  w.changed.notify_all();
}

void end_streams(World& w, std::unique_lock<std::mutex>& lock) {
  w.ending = true;
  w.changed.notify_all();
  w.changed.wait(lock, [&] { return w.threads == 0; });
  w.ending = false;
}

std::byte* use_range(World& w, const Operation& operation, uint64_t stream_id, uint64_t address,
                     uint64_t bytes, bool write, const char* what) {
  Allocation* allocation = w.memory.find(address, bytes);
  if (allocation == nullptr) {
    w.misuse(std::string(w.memory.was_freed(address) ? "use-after-free: " : "illegal-address: ") + what +
             " of " + std::to_string(bytes) + " bytes");
    throw IllegalAddress{};
  }
  if (allocation->device != operation.told.device)
    w.misuse(std::string("wrong-context: ") + what + " in a stream of another device");
  const Access access{
      static_cast<uint32_t>(stream_id), operation.sequence, address, address + bytes, write, what};
  std::string fault = use(*allocation, access, operation.clock);
  if (!fault.empty()) w.misuse(std::move(fault));
  return allocation->memory.get() + (address - allocation->address);
}

void check_aligned(const void* at, uint64_t bytes) {
  if (reinterpret_cast<uintptr_t>(at) % bytes == 0) return;
  world().misuse("misaligned-access: a kernel's access of " + std::to_string(bytes) + " bytes");
  throw MisalignedAddress{};
}

const std::byte* device_read(uint64_t address, uint64_t bytes) {
  return use_range(world(), *running, running_in->id, address, bytes, false, "a kernel's read");
}

std::byte* device_write(uint64_t address, uint64_t bytes) {
  return use_range(world(), *running, running_in->id, address, bytes, true, "a kernel's write");
}

}  // namespace fake_cuda
