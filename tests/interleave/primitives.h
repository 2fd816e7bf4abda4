// What core/base/atomic.h takes in place of the standard's types where interleavings are searched: atomics and mutexes
// that are plain memory, because one thread runs at a time, and that ask a scheduler at each access who goes on.
//
// Beside the value each keeps a vector clock, so that it can be told whether a plain access to memory happened before
// another (wrote(), reads()). Stores that are relaxed or release may be kept back in a buffer of the thread's own, past
// its later operations, as processors and compilers do: relaxed ones in any order, release ones after all before them.
// Loads are never of old values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <cstring>

namespace dataline::interleave {

constexpr int kMaxThreads = 8;

struct VectorClock {
  uint32_t at[kMaxThreads] = {};
  void join(const VectorClock& other) {
    for (int t = 0; t < kMaxThreads; ++t) at[t] = at[t] > other.at[t] ? at[t] : other.at[t];
  }
};

// Scheduling points are counted; at `next_event` somebody decides something.
extern uint64_t steps, next_event;
void decide();
inline void point() {
  if (++steps >= next_event) decide();
}

// An atomic's memory, whatever its type.
class Word {
 public:
  explicit Word(uint64_t bits) : bits_(bits) {}
  ~Word() {
    if (pending_ > 0) drop();
  }
  Word(const Word&) = delete;
  Word& operator=(const Word&) = delete;

  uint64_t load(std::memory_order order);
  void store(uint64_t bits, std::memory_order order);
  // The old value; the caller stores the new one by write() before anything else happens.
  uint64_t begin_change(std::memory_order order, std::memory_order fail_order);
  void write(uint64_t bits, std::memory_order order);
  uint64_t now() const { return bits_; }  // no access: what memory holds
  static bool fails_spuriously();

 private:
  friend struct Buffer;
  void drop();
  uint64_t bits_;
  int32_t pending_ = 0;  // stores of it that are kept back
  VectorClock released_;
};

template <typename T>
class Atomic {
  static_assert(sizeof(T) <= sizeof(uint64_t));
  static constexpr std::memory_order kStrong = std::memory_order_seq_cst;

 public:
  Atomic() : word_(0) {}
  Atomic(T value) : word_(bits_of(value)) {}  // NOLINT: as the standard's
  T load(std::memory_order order = kStrong) const { return value_of(word_.load(order)); }
  void store(T value, std::memory_order order = kStrong) { word_.store(bits_of(value), order); }
  T exchange(T value, std::memory_order order = kStrong) {
    return change(order, [&](T) { return value; });
  }
  T fetch_add(T by, std::memory_order order = kStrong) {
    return change(order, [&](T old) { return static_cast<T>(old + by); });
  }
  T fetch_or(T by, std::memory_order order = kStrong) {
    return change(order, [&](T old) { return static_cast<T>(old | by); });
  }
  T fetch_and(T by, std::memory_order order = kStrong) {
    return change(order, [&](T old) { return static_cast<T>(old & by); });
  }
  T fetch_sub(T by, std::memory_order order = kStrong) {
    return change(order, [&](T old) { return static_cast<T>(old - by); });
  }
  bool compare_exchange_strong(T& expected, T wanted, std::memory_order order, std::memory_order fail_order) {
    const T old = value_of(word_.begin_change(order, fail_order));
    if (old == expected) return word_.write(bits_of(wanted), order), true;
    return expected = old, false;
  }
  bool compare_exchange_strong(T& expected, T wanted, std::memory_order order = kStrong) {
    return compare_exchange_strong(expected, wanted, order, order);
  }
  bool compare_exchange_weak(T& expected, T wanted, std::memory_order order, std::memory_order fail_order) {
    if (!Word::fails_spuriously()) return compare_exchange_strong(expected, wanted, order, fail_order);
    return expected = load(fail_order), false;
  }
  bool compare_exchange_weak(T& expected, T wanted, std::memory_order order = kStrong) {
    return compare_exchange_weak(expected, wanted, order,
                                 order == std::memory_order_acq_rel ? std::memory_order_acquire : order);
  }
  const Word& word() const { return word_; }

 private:
  static uint64_t bits_of(T value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
  }
  static T value_of(uint64_t bits) {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  template <typename Make>
  T change(std::memory_order order, Make make) {
    const T old = value_of(word_.begin_change(order, order));
    word_.write(bits_of(make(old)), order);
    return old;
  }
  mutable Word word_;
};

class Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  void lock();
  bool try_lock();
  void unlock();

 private:
  int32_t owner_ = -1;
  VectorClock released_;
};

void pause();  // a spinning thread lets others go on

// As the system's calls. futex_wait(): false when the deadline (-1: none) passed.
bool futex_wait(const Word& word, uint64_t seen, int64_t deadline_ns);
void futex_wake(const Word& word);
int create_thread(pthread_t* handle, const char* name, void* (*body)(void*), void* argument);
void join_thread(pthread_t handle);
void detach_thread(pthread_t handle);
pthread_t this_thread();
int64_t clock_ns();
int32_t cpus();

}  // namespace dataline::interleave
