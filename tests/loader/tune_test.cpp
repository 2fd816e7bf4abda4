// tune=on and tune=watch in real loaders: what is planned, what is told, the hint in a state, and the same bytes. How
// it decides: tuner_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <chrono>
#include <mutex>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "core/memory/machine_limits.h"
#include "tests/support/job.h"
#include "tests/support/resident_bytes.h"

namespace dataline::tests::tune_test {
namespace {

using ::testing::HasSubstr;

// A reader that blocks for 2 ms a call, as a network does.
struct SlowReader : TestReader {
  SlowReader() {
    // Time in which no CPU is taken has to pass: that is what slow storage is.
    before = [](const int64_t*, int64_t) { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
  }
};

const Settings kSlowJob = {{"batch_size", "4"}, {"shuffle", "full"}, {"seed", "3"}};

TEST(Tune, AutomaticWorkersAreTunedUnlessOffIsGiven) {
  const Dataset dataset = counting_dataset(1000);
  const auto tuned = [&](const Settings& settings) {
    return tuned_of(make_loader(dataset, with({{"batch_size", "10"}}, settings)));
  };
  if (tuned({}).num_workers == 0) GTEST_SKIP() << "skipped: one CPU";
  for (const Settings& settings : {Settings{}, Settings{{"num_workers", "auto"}}, Settings{{"tune", "auto"}},
                                   Settings{{"tune", "on"}}}) {
    const dl_tuned automatic = tuned(settings);
    EXPECT_EQ(automatic.mode, DL_TUNE_ON);
    EXPECT_EQ(automatic.num_workers, available_cpus());
    EXPECT_EQ(automatic.most_workers, std::max(available_cpus(), 8));
    EXPECT_EQ(automatic.prefetch_depth, 4);
    EXPECT_EQ(automatic.most_depth, 16);
  }
  const dl_tuned off = tuned({{"tune", "off"}});
  EXPECT_EQ(off.mode, DL_TUNE_OFF);
  EXPECT_EQ(off.most_workers, available_cpus());
  EXPECT_EQ(off.most_depth, 4);
  const dl_tuned number = tuned({{"num_workers", "3"}});
  EXPECT_EQ(number.mode, DL_TUNE_OFF);
  EXPECT_EQ(number.most_workers, 3);
  const dl_tuned depth = tuned({{"prefetch_depth", "5"}});
  EXPECT_EQ(depth.mode, DL_TUNE_ON);
  EXPECT_EQ(depth.most_depth, 5);
}

// The smallest budget of one worker opens the default as well, with one worker.
TEST(Tune, AutomaticWorkersShrinkToTheBudget) {
  const Dataset dataset = counting_dataset(100'000);
  const auto opens = [&](int64_t budget, const Settings& more) {
    const Settings job = {{"batch_size", "1000"}, {"memory_budget", std::to_string(budget)}};
    dl_loader* loader = nullptr;
    const dl_status status =
        dl_loader_create(dataset.get(), make_options(with(job, more)).get(), &loader, nullptr);
    dl_loader_destroy(loader);
    return status == DL_OK;
  };
  int64_t refused = 0, enough = int64_t{1} << 30;
  while (enough - refused > 1) {
    const int64_t middle = refused + (enough - refused) / 2;
    (opens(middle, {{"num_workers", "1"}}) ? enough : refused) = middle;
  }
  if (tuned_of(make_loader(dataset)).num_workers == 0) GTEST_SKIP() << "skipped: one CPU";
  for (const Settings& settings : {Settings{}, Settings{{"tune", "on"}}, Settings{{"tune", "off"}}}) {
    EXPECT_TRUE(opens(enough, settings));
    EXPECT_FALSE(opens(enough - 1, settings));
  }
  EXPECT_FALSE(opens(enough, {{"num_workers", "2"}})) << "a number is not reduced";
}

// How much memory such rows will take is not known.
TEST(Tune, WithRowsOfNoFixedSizeTheDepthDoesNotGrow) {
  const std::vector<uint8_t> values(1000);
  std::vector<int64_t> offsets;
  for (int64_t i = 0; i <= 100; ++i) offsets.push_back(10 * i);
  const Dataset dataset = array_dataset(ragged_array_of("data", DL_DTYPE_U8, {1000}, values.data(), offsets));
  const dl_tuned tuned = tuned_of(make_loader(dataset, {{"batch_size", "1"}}));
  if (tuned.num_workers == 0) GTEST_SKIP() << "skipped: one CPU";
  EXPECT_EQ(tuned.mode, DL_TUNE_ON);
  EXPECT_EQ(tuned.most_depth, tuned.prefetch_depth);
}

// What tuning might use later takes no memory until then: a row takes 24 bytes of a slot, so a slot takes 2.4 MB, and twelve
// of the twenty slots are beyond what the loader begins with.
TEST(Tune, SlotsThatOnlyTuningWouldUseAreNotTouched) {
  const Dataset dataset = counting_dataset(2'000'000);
  const auto resident = [&](const char* tune) {
    const int64_t before = resident_bytes();
    const Loader loader =
        make_loader(dataset, {{"batch_size", "100000"}, {"tune", tune}, {"num_workers", "auto"}});
    return resident_bytes() - before;
  };
  resident("off");  // what the first loader of a process takes
  const int64_t off = resident("off"), on = resident("on");
  EXPECT_LT(on, off + 8 * 2'400'000) << off << " bytes without tuning";
}

TEST(Tune, NumbersAreTheMost) {
  const Loader loader =
      make_loader(counting_dataset(1000),
                  {{"batch_size", "10"}, {"tune", "on"}, {"num_workers", "3"}, {"prefetch_depth", "5"}});
  const dl_tuned tuned = tuned_of(loader);
  EXPECT_EQ(tuned.mode, DL_TUNE_ON);
  EXPECT_EQ(tuned.most_workers, 3);
  EXPECT_EQ(tuned.most_depth, 5);
  EXPECT_EQ(tuned.num_workers, 3);
  EXPECT_EQ(tuned.prefetch_depth, 5);
  EXPECT_EQ(tuned.frozen, 0);
  EXPECT_STREQ(tuned.text, "measuring 3 workers, depth 5");
}

TEST(Tune, DepthAutoWithoutTuningIsFour) {
  const Loader loader =
      make_loader(counting_dataset(1000), {{"num_workers", "1"}, {"prefetch_depth", "auto"}});
  EXPECT_EQ(tuned_of(loader).prefetch_depth, 4);
  EXPECT_EQ(tuned_of(loader).most_depth, 4);
}

TEST(Tune, WhatTheBudgetDoesNotAllowIsLeftOutOfTheMost) {
  const Dataset dataset = counting_dataset(1'000'000);
  const Settings job = {{"batch_size", "100000"}, {"tune", "on"}};
  const int64_t needed =
      stats_of(make_loader(dataset, {{"batch_size", "100000"}, {"num_workers", "1"}})).held_bytes;
  const std::string budget = std::to_string(needed + (1 << 20));
  const Loader loader = make_loader(dataset, with(job, {{"memory_budget", budget}}));
  const dl_tuned tuned = tuned_of(loader);
  EXPECT_EQ(tuned.most_depth, 4);
  EXPECT_GE(tuned.most_workers, 1);
  EXPECT_LE(stats_of(loader).held_bytes, needed + (1 << 20));
  EXPECT_EQ(next(loader).status, DL_OK);
}

TEST(Tune, SlotsOfAnAutomaticDepthTakeAQuarterOfAGiBAtMost) {
  // A row takes 24 bytes of a slot, its numbers among them: twenty slots of 12.0 MB fit, of 16.8 MB they do not.
  const Dataset dataset = counting_dataset(11'200'000);
  const auto most_depth = [&](const char* batch) {
    return tuned_of(make_loader(dataset, {{"batch_size", batch}, {"tune", "on"}, {"num_workers", "1"}}))
        .most_depth;
  };
  EXPECT_EQ(most_depth("500000"), 16);
  EXPECT_EQ(most_depth("700000"), 8);
}

TEST(Tune, NeedsWorkers) {
  for (const char* tune : {"on", "watch"}) {
    Error error;
    dl_loader* loader = nullptr;
    const Dataset dataset = counting_dataset(10);
    EXPECT_EQ(dl_loader_create(dataset.get(), make_options({{"num_workers", "0"}, {"tune", tune}}).get(),
                               &loader, &error),
              DL_ERR_BAD_OPTION);
    EXPECT_EQ(std::string(error.message), "options num_workers and tune: tune=" + std::string(tune) +
                                              " needs workers, got num_workers=0");
  }
}

// The slow reader blocks its worker, so that workers beyond the CPUs help; each is a change that the log tells.
TEST(Tune, OnSlowStorageItTakesMoreWorkersAndTellsTheLog) {
  std::vector<std::string> lines;  // by the consumer, which is this thread
  dl_log log = {};
  log.struct_size = sizeof log;
  log.context = &lines;
  log.write = [](void* context, int32_t, const char* message, size_t length) {
    static_cast<std::vector<std::string>*>(context)->emplace_back(message, length);
  };
  SlowReader reader;
  const Dataset dataset = reader.dataset(100'000);
  auto options = make_options(with(kSlowJob, {{"tune", "on"}}));
  ASSERT_EQ(dl_options_set_log(options.get(), &log, nullptr), DL_OK);
  dl_loader* made = nullptr;
  ASSERT_EQ(dl_loader_create(dataset.get(), options.get(), &made, nullptr), DL_OK);
  const Loader loader(made);
  const dl_tuned before = tuned_of(loader);
  dl_tuned after = before;
  for (int batch = 0; batch < 20'000 && after.wanted_workers < 2 * before.num_workers; ++batch) {
    ASSERT_EQ(next(loader).status, DL_OK);
    after = tuned_of(loader);
  }
  EXPECT_GE(after.wanted_workers, 2 * before.num_workers);
  EXPECT_GE(after.changes, 1);
  EXPECT_GT(after.batches_per_s, 0);
  EXPECT_GT(after.wait_share, 0.5) << "a consumer without work";
  EXPECT_EQ(stats_of(loader).num_workers, after.num_workers);
  EXPECT_THAT(::testing::PrintToString(lines), HasSubstr("tune: took "));
}

TEST(Tune, WatchingSaysWhatItWouldTryAndChangesNothing) {
  SlowReader reader;
  const Dataset dataset = reader.dataset(100'000);
  const Loader loader = make_loader(dataset, with(kSlowJob, {{"tune", "watch"}, {"num_workers", "1"}}));
  for (int batch = 0; batch < 2'000 && tuned_of(loader).wanted_workers == 1; ++batch)
    ASSERT_EQ(next(loader).status, DL_OK);
  const dl_tuned tuned = tuned_of(loader);
  EXPECT_EQ(tuned.mode, DL_TUNE_WATCH);
  EXPECT_EQ(tuned.num_workers, 1);
  EXPECT_EQ(tuned.most_workers, 1);
  EXPECT_EQ(tuned.wanted_workers, 2);
  EXPECT_EQ(tuned.changes, 0);
  EXPECT_THAT(tuned.text, HasSubstr("would try 2 workers"));
}

TEST(Tune, TheSameBytesWhateverItTries) {
  const Settings job = with(kSlowJob, {{"epochs", "2"}});
  SlowReader slow;
  const Loader plain = make_loader(counting_dataset(2000), with(job, {{"num_workers", "0"}}));
  const Loader tuned = make_loader(slow.dataset(2000), with(job, {{"tune", "on"}}));
  for (int epoch = 0; epoch < 2; ++epoch) EXPECT_EQ(epoch_batches(tuned), epoch_batches(plain));
  EXPECT_GE(tuned_of(tuned).changes, 1) << "nothing was tried: the test proves nothing";
}

// --- In a state ---

std::string tuned_line(const std::string& state) {
  std::smatch found;
  return std::regex_search(state, found, std::regex("\ntuned: ([^\n]*)\n")) ? found[1].str() : "";
}

// Two loaders at the same position have the same state, whatever tuning has found in each.
TEST(TuneState, TuningThatWasNotAskedForLeavesNoHint) {
  const Dataset dataset = counting_dataset(1000);
  const Loader tuned = make_loader(dataset, {{"batch_size", "10"}});
  const Loader plain = make_loader(dataset, {{"batch_size", "10"}, {"tune", "off"}});
  EXPECT_EQ(save_state(tuned), save_state(plain));
}

TEST(TuneState, AHintOfALargerMachineIsCutAndOneForAnUntunedLoaderIgnored) {
  const Dataset dataset = counting_dataset(1000);
  const Settings job = {{"batch_size", "10"}};
  const Loader large =
      make_loader(dataset, with(job, {{"tune", "on"}, {"num_workers", "6"}, {"prefetch_depth", "9"}}));
  const std::string state = save_state(large);
  const Loader small =
      make_loader(dataset, with(job, {{"tune", "on"}, {"num_workers", "2"}, {"prefetch_depth", "3"}}));
  ASSERT_EQ(dl_loader_state_load(small.get(), state.c_str(), nullptr), DL_OK);
  EXPECT_EQ(tuned_of(small).num_workers, 2);
  EXPECT_EQ(tuned_of(small).prefetch_depth, 3);
  for (const char* workers : {"0", "3"}) {
    const Loader untuned = make_loader(dataset, with(job, {{"num_workers", workers}}));
    ASSERT_EQ(dl_loader_state_load(untuned.get(), state.c_str(), nullptr), DL_OK);
    EXPECT_EQ(std::to_string(tuned_of(untuned).num_workers), workers);
    EXPECT_EQ(tuned_line(save_state(untuned)), "") << "nothing was tuned";
  }
}

}  // namespace
}  // namespace dataline::tests::tune_test
