// What the aliases of core/base/atomic.h do in a schedule.
// SPDX-License-Identifier: Apache-2.0
#include "tests/interleave/primitives.h"

#include <algorithm>
#include <utility>

#include "tests/interleave/world.h"

namespace dataline::interleave {
namespace {

constexpr int64_t kReadClockNs = 60, kPauseNs = 700;

bool is_acquire(std::memory_order order) {
  return order == std::memory_order_acquire || order == std::memory_order_consume ||
         order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}
bool is_release(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

// What this thread did is in the clock that it hands on; what it does from now on is not.
void hand_on(VectorClock& to) {
  to.join(me().clock);
  ++me().clock.at[me().number];
}

}  // namespace

uint64_t Word::load(std::memory_order order) {
  if (!inside()) return bits_;
  point();
  if (is_acquire(order)) me().clock.join(released_);
  if (pending_ > 0) {
    for (auto store = me().kept.rbegin(); store != me().kept.rend(); ++store) {
      if (store->word == this) return store->bits;
    }
  }
  return bits_;
}

void Word::store(uint64_t bits, std::memory_order order) {
  if (!inside()) return void(bits_ = bits);
  point();
  const bool release = is_release(order);
  if (world.keeps_stores && order != std::memory_order_seq_cst && world.draws.one_in(2)) {
    KeptStore kept{this, bits, release, {}, steps + 1 + world.draws.below(60)};
    if (release) hand_on(kept.clock);
    me().kept.push_back(kept);
    ++pending_;
    ++counts.delayed_stores;
    next_event = std::min(next_event, kept.due);
    return;
  }
  if (!me().kept.empty()) {
    if (release) {
      Buffer::flush_all(me());
    } else {
      Buffer::flush(me(), [this](const KeptStore& store) { return store.word == this; });
    }
  }
  bits_ = bits;
  released_ = VectorClock();
  if (release) hand_on(released_);
}

uint64_t Word::begin_change(std::memory_order order, std::memory_order fail_order) {
  if (!inside()) return bits_;
  point();
  if (!me().kept.empty()) {
    if (is_release(order)) {
      Buffer::flush_all(me());
    } else {
      Buffer::flush(me(), [this](const KeptStore& store) { return store.word == this; });
    }
  }
  if (is_acquire(order) || is_acquire(fail_order)) me().clock.join(released_);
  return bits_;
}

void Word::write(uint64_t bits, std::memory_order order) {
  bits_ = bits;
  if (inside() && is_release(order)) hand_on(released_);  // on top of the sequence that it goes on with
}

bool Word::fails_spuriously() { return inside() && world.draws.one_in(16); }

void Word::drop() {
  for (Fiber& fiber : world.fibers)
    std::erase_if(fiber.kept, [this](const KeptStore& store) { return store.word == this; });
}

void Mutex::lock() {
  if (!inside()) return;
  point();
  while (owner_ >= 0) {
    if (owner_ == me().number) fail(me().name + " locks a mutex that it holds");
    me().state = State::kLocking;
    me().object = this;
    leave();
  }
  owner_ = me().number;
  me().clock.join(released_);
}

bool Mutex::try_lock() {
  if (!inside()) return true;
  point();
  if (owner_ >= 0) return false;
  owner_ = me().number;
  me().clock.join(released_);
  return true;
}

void Mutex::unlock() {
  if (!inside()) return;
  if (owner_ != me().number) fail(me().name + " unlocks a mutex that it does not hold");
  Buffer::flush_all(me());
  hand_on(released_);
  owner_ = -1;
  wake_all(State::kLocking, this);
  point();
}

void pause() {
  if (!inside()) return;
  world.skipped_ns += kPauseNs;
  lower_priority(me());
  ++steps;
  check_length();
  Buffer::flush_all(me());
  Fiber* next = choose(true);
  go_to(next == nullptr ? me() : *next);
}

bool futex_wait(const Word& word, uint64_t seen, int64_t deadline_ns) {
  point();
  Buffer::flush_all(me());
  if (word.now() != seen) return true;
  if (world.draws.one_in(32)) return true;  // as a signal does
  me().state = State::kSleeping;
  me().object = &word;
  me().deadline_ns = deadline_ns;
  me().expired = false;
  leave();
  return !me().expired;
}

void futex_wake(const Word& word) {
  point();
  wake_all(State::kSleeping, &word);
  point();
}

int create_thread(pthread_t* handle, const char* name, void* (*body)(void*), void* argument) {
  Buffer::flush_all(me());
  Fiber& fiber = add_fiber(name, [body, argument] { body(argument); });
  ++me().clock.at[me().number];
  *handle = static_cast<pthread_t>(fiber.number);
  next_event = std::min(next_event, world.mode == Mode::kPct ? 0 : next_event);
  point();
  return 0;
}

void join_thread(pthread_t handle) { join(static_cast<int>(handle)); }
void detach_thread(pthread_t) {}
// 0: what prepares a job, which is none of the threads.
pthread_t this_thread() { return inside() ? static_cast<pthread_t>(me().number) + 1 : 0; }

int64_t clock_ns() {
  world.skipped_ns += kReadClockNs;
  return now_ns();
}
int32_t cpus() { return world.cpus; }

void wrote(const void* place) {
  if (!inside()) return;
  World::Access& access = world.plain[place];
  const VectorClock& clock = me().clock;
  bool ordered = access.writer < 0 || access.written <= clock.at[access.writer];
  for (int t = 0; t < kMaxThreads; ++t) ordered = ordered && access.readers.at[t] <= clock.at[t];
  if (!ordered) fail(me().name + " writes a row that others' last access is not ordered before");
  access.writer = me().number;
  access.written = clock.at[me().number];
  access.readers = VectorClock();
}

void reads(const void* place) {
  if (!inside()) return;
  World::Access& access = world.plain[place];
  const VectorClock& clock = me().clock;
  if (access.writer >= 0 && access.written > clock.at[access.writer]) {
    fail(me().name + " reads a row that " + world.fibers[static_cast<size_t>(access.writer)].name +
         " wrote, and the write is not ordered before");
  }
  access.readers.at[me().number] = clock.at[me().number];
}

}  // namespace dataline::interleave
