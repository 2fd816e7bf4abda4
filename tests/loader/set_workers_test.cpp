// dl_loader_set_workers: workers are added and parked while the job runs, and the bytes are the same.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "tests/support/job.h"

namespace dataline::tests::set_workers_test {
namespace {

const Settings kJob = {{"batch_size", "7"}, {"shuffle", "full"}, {"seed", "3"}, {"epochs", "3"}};

std::vector<std::vector<uint64_t>> all_batches(const Loader& loader) {
  std::vector<std::vector<uint64_t>> all;
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (auto& batch : epoch_batches(loader)) all.push_back(std::move(batch));
  }
  return all;
}

TEST(SetWorkers, AnyNumberAtAnyStepGivesTheSameBatches) {
  const Dataset dataset = counting_dataset(300);
  const Loader plain = make_loader(dataset, with(kJob, {{"num_workers", "0"}}));
  const auto expected = all_batches(plain);
  for (const bool reader : {false, true}) {
    TestReader host;
    const Dataset set = reader ? host.dataset(300) : counting_dataset(300);
    const Loader loader = make_loader(set, with(kJob, {{"num_workers", "5"}, {"prefetch_depth", "3"}}));
    uint64_t draw = 1;
    size_t at = 0;
    for (;;) {
      draw = draw * 6364136223846793005u + 1442695040888963407u;
      Error error;
      ASSERT_EQ(dl_loader_set_workers(loader.get(), static_cast<int64_t>(draw >> 33) % 5 + 1, &error), DL_OK)
          << error.message;
      Delivered got = next(loader);
      if (got.status == DL_END) break;
      if (got.status == DL_END_OF_EPOCH) continue;
      ASSERT_EQ(got.status, DL_OK) << got.message;
      ASSERT_LT(at, expected.size());
      EXPECT_EQ(got.values, expected[at++]);
    }
    EXPECT_EQ(at, expected.size());
  }
}

TEST(SetWorkers, FromAnotherThreadWhileTheJobRuns) {
  const Dataset dataset = counting_dataset(300);
  const auto expected = all_batches(make_loader(dataset, with(kJob, {{"num_workers", "0"}})));
  for (int round = 0; round < 20; ++round) {
    const Loader loader = make_loader(dataset, with(kJob, {{"num_workers", "4"}, {"prefetch_depth", "2"}}));
    std::atomic<bool> done{false};
    std::thread other([&] {
      for (int64_t count = 1; !done; count = count % 4 + 1)
        EXPECT_EQ(dl_loader_set_workers(loader.get(), count, nullptr), DL_OK);
    });
    EXPECT_EQ(all_batches(loader), expected);
    done = true;
    other.join();
  }
}

TEST(SetWorkers, ParkedWorkersReadNothing) {
  std::mutex mutex;
  std::set<std::thread::id> readers;
  TestReader reader;
  reader.before = [&](const int64_t*, int64_t) {
    const std::lock_guard<std::mutex> lock(mutex);
    readers.insert(std::this_thread::get_id());
  };
  const Dataset dataset = reader.dataset(10'000);
  const Loader loader = make_loader(dataset, {{"num_workers", "4"}, {"batch_size", "4"}, {"epochs", "1"}});
  ASSERT_EQ(dl_loader_set_workers(loader.get(), 1, nullptr), DL_OK);
  EXPECT_EQ(stats_of(loader).num_workers, 1);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(next(loader).status, DL_OK);  // those that held a run have ended it
  {
    const std::lock_guard<std::mutex> lock(mutex);
    readers.clear();
  }
  for (int i = 0; i < 500; ++i) ASSERT_EQ(next(loader).status, DL_OK);
  const std::lock_guard<std::mutex> lock(mutex);
  EXPECT_EQ(readers.size(), 1u);
}

TEST(SetWorkers, OutOfRangeIsAnErrorThatNamesTheRange) {
  const Loader loader = make_loader(counting_dataset(100), {{"num_workers", "3"}});
  for (const int64_t count : {INT64_MIN, int64_t{-1}, int64_t{0}, int64_t{4}, INT64_MAX}) {
    Error error;
    EXPECT_EQ(dl_loader_set_workers(loader.get(), count, &error), DL_ERR_OUT_OF_RANGE);
    EXPECT_EQ(
        std::string(error.message),
        "workers: expected 1 to 3, the num_workers that memory is planned for, got " + std::to_string(count));
  }
  EXPECT_EQ(stats_of(loader).num_workers, 3);
}

TEST(SetWorkers, WithoutWorkersItIsRefused) {
  const Loader loader = make_loader(counting_dataset(100), {{"num_workers", "0"}});
  Error error;
  EXPECT_EQ(dl_loader_set_workers(loader.get(), 1, &error), DL_ERR_WRONG_STATE);
  EXPECT_EQ(std::string(error.message), "workers: this loader was created with num_workers=0 and has none");
}

TEST(SetWorkers, IsToldByTuned) {
  const Loader loader = make_loader(counting_dataset(100), {{"num_workers", "3"}, {"prefetch_depth", "2"}});
  ASSERT_EQ(dl_loader_set_workers(loader.get(), 2, nullptr), DL_OK);
  const dl_tuned tuned = tuned_of(loader);
  EXPECT_EQ(tuned.mode, DL_TUNE_OFF);
  EXPECT_EQ(tuned.num_workers, 2);
  EXPECT_EQ(tuned.wanted_workers, 2);
  EXPECT_EQ(tuned.most_workers, 3);
  EXPECT_EQ(tuned.prefetch_depth, 2);
  EXPECT_EQ(tuned.changes, 1);
  EXPECT_STREQ(tuned.text, "not tuned: num_workers is set");
}

TEST(SetWorkers, EndsTuning) {
  const Loader loader =
      make_loader(counting_dataset(1000), {{"batch_size", "10"}, {"tune", "on"}, {"num_workers", "3"}});
  ASSERT_EQ(dl_loader_set_workers(loader.get(), 2, nullptr), DL_OK);
  const dl_tuned tuned = tuned_of(loader);
  EXPECT_EQ(tuned.num_workers, 2);
  EXPECT_EQ(tuned.frozen, 1);
  EXPECT_NE(std::string(tuned.text).find("the host has set the workers"), std::string::npos) << tuned.text;
}

TEST(SetWorkers, WithTuningTheStateHasTheNumberAndTheNextStartBeginsWithIt) {
  const Settings job = {{"batch_size", "10"}, {"tune", "on"}, {"num_workers", "6"}, {"prefetch_depth", "9"}};
  const Dataset dataset = counting_dataset(1000);
  const Loader first = make_loader(dataset, job);
  ASSERT_EQ(dl_loader_set_workers(first.get(), 2, nullptr), DL_OK);
  const std::string state = save_state(first);
  EXPECT_NE(state.find("\ntuned: 2 workers, depth 9\n"), std::string::npos) << state;
  const Loader second = make_loader(dataset, job);
  ASSERT_EQ(dl_loader_state_load(second.get(), state.c_str(), nullptr), DL_OK);
  EXPECT_EQ(tuned_of(second).num_workers, 2);
  EXPECT_STREQ(tuned_of(second).text, "measuring 2 workers, depth 9, from the saved state");
}

TEST(SetWorkers, EndsWhileWorkersAreParked) {
  for (int round = 0; round < 50; ++round) {
    const Loader loader = make_loader(counting_dataset(1000), {{"num_workers", "4"}});
    ASSERT_EQ(dl_loader_set_workers(loader.get(), 1, nullptr), DL_OK);
    ASSERT_EQ(next(loader).status, DL_OK);
  }
}

}  // namespace
}  // namespace dataline::tests::set_workers_test
