// Runs a program of threads one at a time, on stacks of its own in one thread of the system, and decides by a seed who
// goes on at each access to an atomic, lock, unlock, wait, wake, start and join. The same seed gives the same run.
//
// Ways to decide, drawn by the seed:
//   pct      the thread of the highest priority runs; priorities are random and d - 1 of them fall at random steps
//            (Burckhardt, Kothari, Musuvathi, Nagarakatte: A Randomized Scheduler with Probabilistic Guarantees of
//            Finding Bugs, ASPLOS 2010)
//   walk     somebody else goes on after a random number of steps
//   bounded  a thread runs until it waits, but for a few preemptions at random steps
// Time is virtual: it passes with steps, and jumps to the next deadline when all threads sleep, now and then before that.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tests/interleave/primitives.h"

namespace dataline::interleave {

// A generator that is as good as needed and costs a nanosecond (splitmix64).
struct Draws {
  uint64_t state = 0;
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  uint64_t below(uint64_t count) { return next() % count; }
  int64_t from(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(below(static_cast<uint64_t>(high - low + 1)));
  }
  bool one_in(uint64_t count) { return below(count) == 0; }
};

enum class Mode { kPct, kWalk, kBounded, kAny };
const char* mode_name(Mode mode);

struct Counts {
  uint64_t schedules = 0, steps = 0, switches = 0, delayed_stores = 0, jumps = 0;
};
extern Counts counts;

constexpr int64_t kHourNs = 3'600'000'000'000;  // time never jumps this far while anybody can run

// One schedule. A failure prints what happened and how to repeat it, and ends the process with kFailed.
constexpr int kFailed = 3;
void run(uint64_t seed, Mode mode, int32_t cpus, const std::string& replay,
         const std::function<void()>& body);
[[noreturn]] void fail(const std::string& what);
void handle_crashes();  // SIGSEGV, SIGILL, SIGABRT are failures of the schedule

// Within a schedule.
uint64_t draw(uint64_t count);                                   // [0, count), of the scenario's own draws
int spawn(const std::string& name, std::function<void()> body);  // a thread of the test's
void join(int thread);
void doing(const char* what);  // told where this thread waits for ever
// Plain accesses: a failure when they are not ordered.
void wrote(const void* place);
void reads(const void* place);

}  // namespace dataline::interleave
