// interleave_loader [--schedules N] [--seed S] [--scenario NAME] [--mode pct|walk|bounded] [--jobs J] [--expect]
// Runs schedules S, S + 1, ... and stops at the first that fails: 3. --expect: one has to fail, or it is 1.
// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/interleave/fake_device.h"
#include "tests/interleave/scenarios.h"

namespace dataline {

// In place of core/device's: no driver, and copies that the scheduler completes.
Result<std::shared_ptr<Device>> open_device(const DeviceRequest& request) {
  return std::shared_ptr<Device>(std::make_shared<interleave::FakeDevice>(request.name == "cpu" ? 1 : 2));
}

namespace interleave {
namespace {

struct Arguments {
  uint64_t schedules = 1000, seed = 1, jobs = 1;
  std::string scenario, mode;
  bool expect = false;
};

Mode mode_of(const std::string& name) {
  for (Mode mode : {Mode::kPct, Mode::kWalk, Mode::kBounded}) {
    if (name == mode_name(mode)) return mode;
  }
  return Mode::kAny;
}

const Scenario& scenario_of(const Arguments& arguments, uint64_t seed) {
  uint64_t shares = 0;
  for (const Scenario& scenario : scenarios()) {
    if (arguments.scenario == scenario.name) return scenario;
    shares += scenario.share;
  }
  uint64_t at = seed % shares;
  for (const Scenario& scenario : scenarios()) {
    if (at < scenario.share) return scenario;
    at -= scenario.share;
  }
  std::abort();
}

void one(const Arguments& arguments, uint64_t seed) {
  const Scenario& scenario = scenario_of(arguments, seed);
  Draws draws{seed * 31 + 7};
  Job job(scenario.config(draws));
  const Mode mode = mode_of(arguments.mode);
  const std::string replay = std::string("--scenario ") + scenario.name + " --seed " + std::to_string(seed) +
                             (mode == Mode::kAny ? "" : " --mode " + arguments.mode) + " --schedules 1";
  waits_fail = job.config().waits_fail;
  device_dies = job.config().device_dies;
  if (arguments.schedules == 1) printf("%s\n", config_text(job.config()).c_str()), fflush(stdout);
  job.prepare();
  run(seed, mode, job.config().cpus, replay, [&job, &scenario] { scenario.body(job); });
}

struct Total {
  Counts counts;
};

void add(Counts& sum, const Counts& more) {
  sum.schedules += more.schedules, sum.steps += more.steps, sum.switches += more.switches;
  sum.delayed_stores += more.delayed_stores, sum.jumps += more.jumps;
}

// Its share of schedules first to end, in a process of its own.
[[noreturn]] void work(const Arguments& arguments, uint64_t first, uint64_t end, uint64_t job, Total& total) {
  handle_crashes();
  const Counts before = total.counts;
  for (uint64_t i = first + job; i < end; i += arguments.jobs) {
    one(arguments, arguments.seed + i);
    total.counts = before;
    add(total.counts, counts);
  }
  _exit(0);
}

// True: a schedule failed.
bool search(const Arguments& arguments, uint64_t first, uint64_t end, Total* totals) {
  std::vector<pid_t> children;
  for (uint64_t job = 0; job < arguments.jobs; ++job) {
    const pid_t child = fork();
    if (child == 0) work(arguments, first, end, job, totals[job]);
    children.push_back(child);
  }
  bool found = false;
  for (size_t left = children.size(); left > 0; --left) {
    int status = 0;
    const pid_t child = wait(&status);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    found = true;
    for (pid_t other : children) {
      if (other != child) kill(other, SIGTERM);
    }
  }
  return found;
}

// New processes now and then: a loader whose device is lost never unmaps its slots, and a process has 65,530 maps at most.
constexpr uint64_t kSchedulesOfProcess = 60'000;

int search(const Arguments& arguments) {
  const auto begin = std::chrono::steady_clock::now();
  void* memory = mmap(nullptr, sizeof(Total) * arguments.jobs, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 2;
  auto* totals = new (memory) Total[arguments.jobs];
  const uint64_t round = kSchedulesOfProcess * arguments.jobs;
  bool found = false;
  for (uint64_t first = 0; first < arguments.schedules && !found; first += round)
    found = search(arguments, first, std::min(first + round, arguments.schedules), totals);
  Counts all;
  for (uint64_t job = 0; job < arguments.jobs; ++job) add(all, totals[job].counts);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf(
      "seeds from %llu on: %llu schedules, %llu steps, %llu switches, %llu delayed stores, %llu jumps of the "
      "clock, "
      "%.1f s: %s\n",
      static_cast<unsigned long long>(arguments.seed), static_cast<unsigned long long>(all.schedules),
      static_cast<unsigned long long>(all.steps), static_cast<unsigned long long>(all.switches),
      static_cast<unsigned long long>(all.delayed_stores), static_cast<unsigned long long>(all.jumps),
      took.count(), found ? "one failed" : "none failed");
  if (arguments.expect) return found ? 0 : 1;
  return found ? kFailed : 0;
}

int usage() {
  std::printf(
      "[--schedules N] [--seed S] [--scenario NAME] [--mode pct|walk|bounded] [--jobs J] [--expect]\n");
  for (const Scenario& scenario : scenarios()) std::printf("  %-11s %s\n", scenario.name, scenario.what);
  return 2;
}

int run_main(int count, char** words) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--expect") {
      arguments.expect = true;
      continue;
    }
    if (i + 1 == count) return usage();
    const char* value = words[++i];
    if (word == "--schedules")
      arguments.schedules = std::strtoull(value, nullptr, 0);
    else if (word == "--seed")
      arguments.seed = std::strtoull(value, nullptr, 0);
    else if (word == "--jobs")
      arguments.jobs = std::strtoull(value, nullptr, 0);
    else if (word == "--scenario")
      arguments.scenario = value;
    else if (word == "--mode")
      arguments.mode = value;
    else
      return usage();
  }
  return search(arguments);
}

}  // namespace
}  // namespace interleave
}  // namespace dataline

int main(int count, char** words) { return dataline::interleave::run_main(count, words); }
