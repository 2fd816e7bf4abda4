// The threads of a schedule and what decides over them; scheduler.cpp and primitives.cpp alone use it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ucontext.h>

#include <array>
#include <csetjmp>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/interleave/scheduler.h"

namespace dataline::interleave {

struct KeptStore {
  Word* word;
  uint64_t bits;
  bool release;
  VectorClock clock;  // released with it
  uint64_t due;
};

enum class State { kRunnable, kLocking, kSleeping, kJoining, kDone };

// What the compiler keeps of exceptions for each thread of the system.
struct Exceptions {
  void* caught = nullptr;
  unsigned int uncaught = 0;
};

struct Fiber {
  int number = 0;
  std::string name;
  const char* doing = "";
  std::function<void()> body;
  State state = State::kDone;
  bool started = false;
  const void* object = nullptr;  // that it waits for
  int64_t deadline_ns = -1;
  bool expired = false;
  int64_t priority = 0;
  VectorClock clock;
  std::vector<KeptStore> kept;  // oldest first
  Exceptions exceptions;
  std::jmp_buf context;
  ucontext_t start;
  std::byte* stack = nullptr;
};

struct World {
  std::array<Fiber, kMaxThreads> fibers;
  int fiber_count = 0;
  Fiber* current = nullptr;
  Draws draws, scenario;
  Mode mode = Mode::kPct;
  int64_t lowest = 0;
  uint64_t mean_run = 1, quantum_end = 0;
  std::vector<uint64_t> changes;  // steps at which a priority falls or a thread is preempted; last first
  bool keeps_stores = false;
  int64_t skipped_ns = 0;  // by jumps, pauses and reads of the clock
  int32_t cpus = 2;
  std::string replay;
  std::jmp_buf outside;
  Exceptions outside_exceptions;
  struct Access {
    int writer = -1;
    uint32_t written = 0;
    VectorClock readers;
  };
  std::unordered_map<const void*, Access> plain;
};
extern World world;

inline bool inside() { return world.current != nullptr; }
inline Fiber& me() { return *world.current; }
int64_t now_ns();
Fiber& add_fiber(std::string name, std::function<void()> body);
Fiber* choose(bool anyone_else);
void go_to(Fiber& to);
void leave();  // this thread cannot go on: somebody else does, or nobody can, which is a failure
void wake_all(State state, const void* object);
void lower_priority(Fiber& fiber);  // below all others
void check_length();                // of the schedule: one that does not end is a failure

// The stores that a thread keeps back.
struct Buffer {
  static void put(const KeptStore& kept) {
    kept.word->bits_ = kept.bits;
    --kept.word->pending_;
    kept.word->released_ = kept.release ? kept.clock : VectorClock();
  }
  // Those that may go: all, those of one word, or those whose time has come; and what has to go before them.
  template <typename Wanted>
  static void flush(Fiber& fiber, Wanted wanted) {
    std::vector<KeptStore>& kept = fiber.kept;
    for (size_t i = 0; i < kept.size();) {
      if (!wanted(kept[i])) {
        ++i;
        continue;
      }
      const KeptStore store = kept[i];
      size_t left = 0;
      for (size_t j = 0; j < i; ++j) {
        if (store.release || kept[j].word == store.word) {
          put(kept[j]);
        } else {
          kept[left++] = kept[j];
        }
      }
      put(store);
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(left),
                 kept.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      i = left;
    }
  }
  static void flush_all(Fiber& fiber) {
    for (const KeptStore& store : fiber.kept) put(store);
    fiber.kept.clear();
  }
};

}  // namespace dataline::interleave
