// What a Tuner decides, on models of jobs (tuner_model.h): it comes near the best setting, stays there, and never
// goes to and fro.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <ostream>

#include "tests/loader/tuner_model.h"
#include "tests/support/sweep_stride.h"

namespace dataline::tests::tuner_test {
namespace {

using ::testing::HasSubstr;

std::function<double(int64_t)> each(double ms) {
  return [ms](int64_t) { return ms; };
}
std::function<double(double)> always(double ms) {
  return [ms](double) { return ms; };
}
std::function<int32_t(double)> cpus(int32_t count) {
  return [count](double) { return count; };
}

constexpr TuneSetting kMost{8, 16};

double rate_of(const Model& model, TuneSetting setting) {
  ModelJob job(model, setting, setting, /*seed=*/7, Tune::kWatch);
  job.run(1);
  return job.run(4);
}
// The best of the grid that a user would try.
double best_rate(const Model& model) {
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
void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.name; }

class TunerScenarios : public ::testing::TestWithParam<Scenario> {};

// A minute at rest may have what one new beginning tries, and no more.
constexpr int64_t kChangesOfOneSearch = 12;

TEST_P(TunerScenarios, GetsNearTheBestOfTheGridAndStaysThere) {
  const Scenario& scenario = GetParam();
  const double best = best_rate(scenario.model);
  for (uint64_t seed = 1; seed <= 3; seed += static_cast<uint64_t>(sweep_stride())) {
    ModelJob job(scenario.model, scenario.start, kMost, seed);
    job.run(scenario.within_s);
    const TuneSetting found = job.tuner().chosen();
    EXPECT_GE(rate_of(scenario.model, found), 0.95 * best)
        << "seed " << seed << ": " << found.workers << " workers, depth " << found.depth;
    job.run(15);  // it may still look for more
    EXPECT_GE(job.run(20), 0.95 * best) << "seed " << seed << ": " << job.tuner().text();
    EXPECT_TRUE(job.tuner().frozen()) << "seed " << seed << ": " << job.tuner().text();
    EXPECT_LE(job.tuner().changes(), 2 * kChangesOfOneSearch);
    const int64_t before = job.tuner().changes();
    job.run(120);
    EXPECT_LE(job.tuner().changes() - before, kChangesOfOneSearch)
        << "seed " << seed << ": " << ::testing::PrintToString(job.said());
  }
}

const Scenario kScenarios[] = {
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
INSTANTIATE_TEST_SUITE_P(All, TunerScenarios, ::testing::ValuesIn(kScenarios),
                         [](const auto& scenario) { return scenario.param.name; });

TEST(Tuner, AfterTheQuotaIsCutItParksTheWorkersBeyondIt) {
  Model model{.work = each(10), .step = always(2)};
  model.cpus = [](double now) { return now < 12e3 ? 8 : 2; };
  ModelJob job(model, {7, 4}, kMost);
  job.run(11);
  EXPECT_GE(job.tuner().chosen().workers, 5);
  job.run(10);
  EXPECT_LE(job.tuner().chosen().workers, 2) << ::testing::PrintToString(job.said());
  EXPECT_THAT(::testing::PrintToString(job.said()), HasSubstr("8 -> 2 CPUs"));
  model.cpus = cpus(2);
  EXPECT_GE(job.run(10), 0.95 * best_rate(model));
}

TEST(Tuner, AfterTheQuotaIsRaisedItTakesMoreWorkers) {
  Model model{.work = each(10), .step = always(2)};
  model.cpus = [](double now) { return now < 10e3 ? 1 : 8; };
  ModelJob job(model, {1, 4}, kMost);
  job.run(20);
  model.cpus = cpus(8);
  EXPECT_GE(job.run(5), 0.95 * best_rate(model)) << ::testing::PrintToString(job.said());
}

TEST(Tuner, WhenTheConsumerBecomesFasterItTakesMoreWorkers) {
  Model model{.work = each(10), .step = [](double now) { return now < 20e3 ? 40.0 : 2.0; }};
  ModelJob job(model, {1, 4}, kMost);
  job.run(20);
  EXPECT_EQ(job.tuner().chosen().workers, 1);
  job.run(10);
  model.step = always(2);
  EXPECT_GE(job.run(5), 0.95 * best_rate(model)) << ::testing::PrintToString(job.said());
}

TEST(Tuner, WhenStorageBecomesSlowItBeginsAnewAndSaysWhy) {
  Model model{.work = each(1), .step = always(5)};
  model.storage = [](int64_t batch) { return batch < 2000 ? 1.0 : 30.0; };
  ModelJob job(model, {1, 4}, kMost);
  job.run(9);
  EXPECT_EQ(job.tuner().chosen().workers, 1);
  job.run(15);
  EXPECT_GE(job.tuner().chosen().workers, 6) << ::testing::PrintToString(job.said());
  EXPECT_THAT(::testing::PrintToString(job.said()), HasSubstr("anew: the rate fell"));
}

TEST(Tuner, APauseOfTheConsumerIsNoFallOfTheRate) {
  ModelJob job({.work = each(10), .step = always(2)}, {1, 4}, kMost);
  job.run(10);
  ASSERT_TRUE(job.tuner().frozen());
  const int64_t changes = job.tuner().changes();
  for (int evaluation = 0; evaluation < 10; ++evaluation) {
    job.pause(30);
    job.run(31);
  }
  EXPECT_EQ(job.tuner().changes(), changes) << ::testing::PrintToString(job.said());
  EXPECT_TRUE(job.tuner().frozen());
}

// A job that is fast and slow by turns for an hour: each new beginning waits longer than the last one.
TEST(Tuner, ATideOfTwentySecondsIsNotFollowedForEver) {
  Model model{.work = each(10)};
  model.step = [](double now) { return static_cast<int64_t>(now / 20e3) % 2 == 0 ? 2.0 : 40.0; };
  ModelJob job(model, {1, 4}, kMost);
  job.run(600);
  const int64_t changes = job.tuner().changes();
  job.run(3000);
  EXPECT_LE(job.tuner().changes() - changes, 3000 / 60 * kChangesOfOneSearch);
  EXPECT_GE(job.tuner().chosen().workers, 1);
}

TEST(Tuner, WatchingChangesNothingAndSaysWhatItWouldTry) {
  ModelJob job({.work = each(10), .step = always(2)}, {1, 4}, kMost, 1, Tune::kWatch);
  job.run(30);
  EXPECT_EQ(job.tuner().changes(), 0);
  EXPECT_EQ(job.tuner().force(), (TuneSetting{1, 4}));
  EXPECT_EQ(job.tuner().chosen(), (TuneSetting{2, 4}));
  EXPECT_EQ(
      job.tuner().text(),
      "would try 2 workers, depth 4 instead of 1 worker, depth 4: the consumer waits 80.0 % of the time");
  EXPECT_EQ(job.said().size(), 1u) << ::testing::PrintToString(job.said());
}

TEST(Tuner, TheHostsChoiceEndsIt) {
  ModelJob job({.work = each(10), .step = always(2)}, {1, 4}, kMost);
  job.run(1);
  job.tuner().fix(3);
  job.run(60);
  EXPECT_EQ(job.tuner().force().workers, 3);
  EXPECT_TRUE(job.tuner().frozen());
  EXPECT_GT(job.tuner().rate(), 0) << "it still measures";
  EXPECT_THAT(job.tuner().text(), HasSubstr("the host has set the workers"));
}

TEST(Tuner, AHintBeyondWhatIsPlannedIsCutToThat) {
  ModelJob job({.work = each(10), .step = always(2)}, {1, 4}, kMost);
  job.tuner().start_from({1'000, std::numeric_limits<int64_t>::max()});
  EXPECT_EQ(job.tuner().force(), kMost);
  job.tuner().start_from({-1, 0});
  EXPECT_EQ(job.tuner().force(), (TuneSetting{1, 1}));
}

TEST(Tuner, EveryTextFitsTheStructThatTellsIt) {
  const Model slow{.work = each(0.001), .storage = each(1000), .step = always(0.001)};
  ModelJob job(slow, {1000, 100'000}, {4096, 1'000'000});
  job.run(60);
  for (const std::string& text : job.said()) EXPECT_LT(text.size(), 160u) << text;
}

}  // namespace
}  // namespace dataline::tests::tuner_test
