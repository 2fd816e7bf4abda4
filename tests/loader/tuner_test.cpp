// What a Tuner decides, on models of jobs (tuner_model.h): it comes near the best setting, stays there, and never
// goes to and fro.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/loader/tuner_scenarios.h"
#include "tests/support/sweep_stride.h"

namespace dataline::tests::tuner_test {
namespace {

using ::testing::HasSubstr;

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
  EXPECT_THAT(::testing::PrintToString(job.said()), HasSubstr("again: the rate fell"));
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
