// Jobs that a Tuner is tried on: each a model (tuner_model.h), what it begins with, and how soon it has to be near the best.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>

#include "tests/loader/tuner_model.h"

namespace dataline::tests {

inline std::function<double(int64_t)> each(double ms) {
  return [ms](int64_t) { return ms; };
}
inline std::function<double(double)> always(double ms) {
  return [ms](double) { return ms; };
}
inline std::function<int32_t(double)> cpus(int32_t count) {
  return [count](double) { return count; };
}

inline constexpr TuneSetting kMost{8, 16};

inline double rate_of(const Model& model, TuneSetting setting) {
  ModelJob job(model, setting, setting, /*seed=*/7, Tune::kWatch);
  job.run(1);
  return job.run(4);
}
// The best of the grid that a user would try.
inline double best_rate(const Model& model) {
  double best = 0;
  for (int64_t workers = 1; workers <= kMost.workers; ++workers) {
    for (int64_t depth = 2; depth <= kMost.depth; depth *= 2)
      best = std::max(best, rate_of(model, {workers, depth}));
  }
  return best;
}

struct Scenario {
  const char* name;
  Model model;
  TuneSetting start;
  double within_s = 5;
};
inline void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.name; }

inline const Scenario kScenarios[] = {
    {"WorkersThatCompute", {.work = each(10), .step = always(2)}, {1, 4}},
    {"WorkersThatComputeWithNoise", {.work = each(10), .step = always(2), .noise = 0.1}, {1, 4}},
    {"ALoopWithoutAStep", {.work = each(10), .cpus = cpus(2)}, {1, 4}},
    {"RowsOfMicroseconds", {.work = each(0.2), .cpus = cpus(2), .noise = 0.1}, {1, 4}},
    {"SlowConsumer", {.work = each(1), .step = always(20)}, {7, 4}},
    {"SlowConsumerWithNoise", {.work = each(1), .step = always(20), .noise = 0.1}, {7, 4}},
    {"SlowStorage", {.work = each(0.2), .storage = each(40), .step = always(1), .cpus = cpus(2)}, {1, 4}},
    {"SlowStorageWithNoise",
     {.work = each(0.2), .storage = each(40), .step = always(1), .cpus = cpus(2), .noise = 0.1},
     {1, 4}},
    {"StorageThatServesThreeAtOnce",
     {.work = each(0.2), .storage = each(40), .step = always(1), .cpus = cpus(2), .reads_at_once = 3},
     {1, 4}},
    {"StorageSlowerThanTheStep", {.work = each(1), .storage = each(30), .step = always(10)}, {1, 4}},
    {"OneSlowSampleInTen",
     {.work = [](int64_t batch) { return batch % 10 == 0 ? 60.0 : 4.0; }, .step = always(6)},
     {3, 4},
     /*within_s=*/10},
    {"AConsumerThatNeedsTheCpus",
     {.work = each(6), .step = always(4), .step_cpus = 2, .cpus = cpus(2)},
     {4, 4}},
    {"AConsumerThatNeedsAllCpus", {.work = each(1), .step = always(4), .step_cpus = 8}, {7, 4}},
    {"MoreWorkersThanTheBest", {.work = each(3), .step = always(10), .cpus = cpus(4)}, {8, 16}},
    {"BalancedAlready", {.work = each(9), .step = always(10), .cpus = cpus(2)}, {1, 4}},
    {"DepthOfOne", {.work = each(10), .step = always(5), .cpus = cpus(4)}, {3, 1}},
    {"OneCpu", {.work = each(4), .step = always(4), .cpus = cpus(1)}, {1, 4}},
    {"StepsOfTwoLengths",
     {.work = each(5),
      .step = [](double now) { return static_cast<int64_t>(now / 100) % 2 == 0 ? 2.0 : 12.0; }},
     {1, 4},
     /*within_s=*/10},
};

}  // namespace dataline::tests
