// SPDX-License-Identifier: Apache-2.0
#include "tests/interleave/scheduler.h"

#include <cxxabi.h>
#include <sys/mman.h>
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <algorithm>
#include <utility>

#include "tests/interleave/world.h"

namespace dataline::interleave {

uint64_t steps = 0, next_event = UINT64_MAX;
Counts counts;
World world;

namespace {

constexpr size_t kStackBytes = size_t{256} << 10;
constexpr uint64_t kMaxSteps = 400'000;  // beyond it a schedule does not end
constexpr uint64_t kFairSteps = 3'000;   // a thread that runs alone for so long may be waiting for another
constexpr int64_t kStepNs = 10;
constexpr int64_t kStartNs = 1'000'000'000;

Exceptions& exceptions_now() { return *reinterpret_cast<Exceptions*>(abi::__cxa_get_globals()); }

// `from` and `to` are told apart by world.current alone: nothing of this frame survives.
__attribute__((noinline)) void switch_to(Fiber& to) {
  ++counts.switches;
  me().exceptions = exceptions_now();
  Fiber* const from = world.current;
  world.current = &to;
  exceptions_now() = to.exceptions;
  if (_setjmp(from->context) != 0) return;
  if (to.started) _longjmp(to.context, 1);
  to.started = true;
  setcontext(&to.start);
}

std::string state_text(const Fiber& fiber) {
  char text[160] = "can run";
  const void* object = fiber.object;
  if (fiber.state == State::kLocking) std::snprintf(text, sizeof text, "waits for mutex %p", object);
  if (fiber.state == State::kSleeping)
    std::snprintf(text, sizeof text, "sleeps at %p%s", object,
                  fiber.deadline_ns < 0 ? " for ever" : " until a deadline");
  if (fiber.state == State::kJoining)
    std::snprintf(text, sizeof text, "joins %s", static_cast<const Fiber*>(object)->name.c_str());
  if (fiber.state == State::kDone) return "is done";
  return text;
}

bool can_run(Fiber& fiber) {
  if (fiber.state == State::kSleeping && fiber.deadline_ns >= 0 && fiber.deadline_ns <= now_ns()) {
    fiber.state = State::kRunnable;
    fiber.expired = true;
  }
  return fiber.state == State::kRunnable;
}

[[noreturn]] void fail_stuck() {
  std::string text = "nobody can go on:";
  for (int f = 0; f < world.fiber_count; ++f) {
    const Fiber& fiber = world.fibers[static_cast<size_t>(f)];
    text += "\n    " + fiber.name + " " + state_text(fiber) +
            (*fiber.doing ? std::string(" in ") + fiber.doing : "");
  }
  fail(text);
}

// The earliest deadline comes. False: nobody has one within `limit_ns`.
bool jump(int64_t limit_ns) {
  int64_t earliest = INT64_MAX;
  for (int f = 0; f < world.fiber_count; ++f) {
    const Fiber& fiber = world.fibers[static_cast<size_t>(f)];
    if (fiber.state == State::kSleeping && fiber.deadline_ns >= 0)
      earliest = std::min(earliest, fiber.deadline_ns);
  }
  if (earliest == INT64_MAX || earliest - now_ns() > limit_ns) return false;
  if (earliest > now_ns()) world.skipped_ns += earliest - now_ns();
  ++counts.jumps;
  return true;
}

void plan_next() {
  uint64_t next = world.quantum_end;
  if (world.mode == Mode::kWalk) next = std::min(next, steps + 1 + world.draws.below(2 * world.mean_run));
  if (!world.changes.empty()) next = std::min(next, std::max(world.changes.back(), steps + 1));
  for (int f = 0; f < world.fiber_count; ++f) {
    for (const KeptStore& store : world.fibers[static_cast<size_t>(f)].kept)
      next = std::min(next, std::max(store.due, steps + 1));
  }
  next_event = next;
}

}  // namespace

int64_t now_ns() { return kStartNs + static_cast<int64_t>(steps) * kStepNs + world.skipped_ns; }

void check_length() {
  if (steps > kMaxSteps) fail_stuck();
}

Fiber* choose(bool anyone_else) {
  Fiber* able[kMaxThreads];
  uint64_t count = 0;
  Fiber* best = nullptr;
  for (int f = 0; f < world.fiber_count; ++f) {
    Fiber& fiber = world.fibers[static_cast<size_t>(f)];
    if (!can_run(fiber) || (anyone_else && &fiber == world.current)) continue;
    able[count++] = &fiber;
    if (best == nullptr || fiber.priority > best->priority) best = &fiber;
  }
  if (count == 0) return nullptr;
  return world.mode == Mode::kPct ? best : able[world.draws.below(count)];
}

void go_to(Fiber& to) {
  if (&to != world.current) world.quantum_end = steps + kFairSteps / 2 + world.draws.below(kFairSteps);
  plan_next();
  if (&to != world.current) switch_to(to);
}

// This thread cannot go on.
void leave() {
  Buffer::flush_all(me());
  for (;;) {
    if (Fiber* next = choose(false); next != nullptr) return go_to(*next);
    if (!jump(INT64_MAX)) fail_stuck();
  }
}

void wake_all(State state, const void* object) {
  bool higher = false;
  for (int f = 0; f < world.fiber_count; ++f) {
    Fiber& fiber = world.fibers[static_cast<size_t>(f)];
    if (fiber.state != state || fiber.object != object) continue;
    fiber.state = State::kRunnable;
    higher = higher || fiber.priority > me().priority;
  }
  if (world.mode == Mode::kPct && higher) next_event = 0;
}

void lower_priority(Fiber& fiber) { fiber.priority = --world.lowest; }

namespace {
void body_of(int) {
  Fiber& fiber = me();
  fiber.body();
  Fiber& done = me();
  Buffer::flush_all(done);
  done.state = State::kDone;
  done.body = nullptr;
  wake_all(State::kJoining, &done);
  for (int f = 0; f < world.fiber_count; ++f) {
    if (world.fibers[static_cast<size_t>(f)].state != State::kDone) leave();  // never comes back
  }
  exceptions_now() = world.outside_exceptions;
  _longjmp(world.outside, 1);
}
}  // namespace

Fiber& add_fiber(std::string name, std::function<void()> body) {
  if (world.fiber_count == kMaxThreads) fail("too many threads");
  Fiber& fiber = world.fibers[static_cast<size_t>(world.fiber_count)];
  if (fiber.stack == nullptr) {
    void* memory = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fail("no memory for a stack");
    fiber.stack = static_cast<std::byte*>(memory);
    mprotect(memory, 4096, PROT_NONE);
  }
  fiber.number = world.fiber_count++;
  fiber.name = std::move(name);
  fiber.doing = "";
  fiber.body = std::move(body);
  fiber.state = State::kRunnable;
  fiber.started = false;
  fiber.expired = false;
  fiber.kept.clear();
  fiber.exceptions = {};
  fiber.priority = static_cast<int64_t>(world.draws.below(1u << 30));
  fiber.clock = inside() ? me().clock : VectorClock();
  fiber.clock.at[fiber.number] = 1;
  getcontext(&fiber.start);
  fiber.start.uc_stack.ss_sp = fiber.stack;
  fiber.start.uc_stack.ss_size = kStackBytes;
  fiber.start.uc_link = nullptr;
  makecontext(&fiber.start, reinterpret_cast<void (*)()>(body_of), 1, 0);
  return fiber;
}

void decide() {
  if (!inside()) {
    next_event = UINT64_MAX;
    return;
  }
  check_length();
  for (int f = 0; f < world.fiber_count; ++f) {
    Fiber& fiber = world.fibers[static_cast<size_t>(f)];
    if (!fiber.kept.empty()) Buffer::flush(fiber, [](const KeptStore& store) { return store.due <= steps; });
  }
  if (world.draws.one_in(64)) jump(1'000'000'000);
  bool move = world.mode == Mode::kWalk;
  while (!world.changes.empty() && world.changes.back() <= steps) {
    world.changes.pop_back();
    lower_priority(me());
    move = true;
  }
  if (steps >= world.quantum_end) {
    lower_priority(me());
    world.quantum_end = steps + kFairSteps;
    move = true;
  }
  if (world.mode == Mode::kPct) move = true;  // a thread of a higher priority may have been woken
  Fiber* next = move ? choose(world.mode == Mode::kBounded) : nullptr;
  go_to(next == nullptr ? me() : *next);
}

int spawn(const std::string& name, std::function<void()> body) {
  Buffer::flush_all(me());
  Fiber& fiber = add_fiber(name, std::move(body));
  ++me().clock.at[me().number];
  return fiber.number;
}

void join(int thread) {
  point();
  Fiber& fiber = world.fibers[static_cast<size_t>(thread)];
  while (fiber.state != State::kDone) {
    me().state = State::kJoining;
    me().object = &fiber;
    leave();
  }
  me().clock.join(fiber.clock);
}

void doing(const char* what) { me().doing = what; }
uint64_t draw(uint64_t count) { return world.scenario.below(count); }

const char* mode_name(Mode mode) {
  switch (mode) {
    case Mode::kPct:
      return "pct";
    case Mode::kWalk:
      return "walk";
    case Mode::kBounded:
      return "bounded";
    case Mode::kAny:
      break;
  }
  return "any";
}

void fail(const std::string& what) {
  std::string text = "FOUND after " + std::to_string(steps) + " steps (" + mode_name(world.mode) +
                     "): " + what + "\n  again: " + world.replay + "\n";
  static_cast<void>(!write(STDOUT_FILENO, text.data(), text.size()));
  _exit(kFailed);
}

namespace {
void crashed(int signal) {
  fail(std::string("signal: ") + strsignal(signal) + " in " + (inside() ? me().name : "nobody"));
}
}  // namespace

void handle_crashes() {
  static std::byte stack[64 << 10];
  stack_t alternative = {};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof stack;
  sigaltstack(&alternative, nullptr);
  for (int signal : {SIGSEGV, SIGILL, SIGABRT, SIGBUS, SIGTRAP}) {
    struct sigaction action = {};
    action.sa_handler = crashed;
    action.sa_flags = SA_ONSTACK | SA_RESETHAND;
    sigaction(signal, &action, nullptr);
  }
}

void run(uint64_t seed, Mode mode, int32_t cpus, const std::string& replay,
         const std::function<void()>& body) {
  ++counts.schedules;
  world.draws.state = seed * 0x9e3779b97f4a7c15 + 1;
  world.scenario.state = seed ^ 0x7363656e6172696f;
  world.scenario.next();
  world.replay = replay;
  world.cpus = cpus;
  const uint64_t which = world.draws.below(8);
  world.mode = mode != Mode::kAny ? mode : which < 2 ? Mode::kPct : which < 7 ? Mode::kWalk : Mode::kBounded;
  world.keeps_stores = world.draws.one_in(2);
  world.mean_run = uint64_t{1} << world.draws.below(8);
  world.lowest = 0;
  world.skipped_ns = 0;
  world.fiber_count = 0;
  world.plain.clear();
  // The length of a run is not known before: changes lie in a first part of a random length.
  world.changes.clear();
  if (world.mode != Mode::kWalk) {
    const uint64_t span = uint64_t{64} << world.draws.below(8);
    const uint64_t changes = world.draws.below(6);
    for (uint64_t c = 0; c < changes; ++c) world.changes.push_back(world.draws.below(span));
    std::sort(world.changes.rbegin(), world.changes.rend());
  }
  steps = 0;
  world.quantum_end = kFairSteps;
  Fiber& first = add_fiber("main", body);
  world.outside_exceptions = exceptions_now();
  world.current = &first;
  plan_next();
  if (_setjmp(world.outside) == 0) {
    first.started = true;
    setcontext(&first.start);
  }
  world.current = nullptr;
  next_event = UINT64_MAX;
  counts.steps += steps;
}

}  // namespace dataline::interleave
