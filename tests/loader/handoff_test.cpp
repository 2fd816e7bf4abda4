// The hand-off between workers and consumers under changing pace: nothing is lost, nobody sleeps for ever, and the
// host's reader is called by workers only unless it is prompt.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "core/loader/batch_window.h"
#include "core/loader/pipeline.h"
#include "tests/support/job.h"

namespace dataline::tests::handoff_test {
namespace {

constexpr int64_t kAMinuteNs = 60'000'000'000;

void spin_for(std::chrono::nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

struct Pace {
  int64_t batch_size;
  int workers, depth;
  int longest_pause_us;  // of the consumer, drawn anew for each batch
  bool reader = false;   // whose records a consumer never helps with,
  bool prompt = false;   // unless it is this
};

class Handoff : public ::testing::TestWithParam<Pace> {};

// Slots of 64 KiB are opened one by one as workers need them, small ones ahead: both ways of opening meet consumers
// that are faster and slower than the workers.
TEST_P(Handoff, NoBatchIsLateForEverWhateverThePace) {
  const Pace& pace = GetParam();
  const int64_t steps = 3;
  TestReader reader;
  reader.prompt = pace.prompt ? 1 : 0;
  const int64_t samples = pace.batch_size * steps;
  const Loader loader = make_loader(pace.reader ? reader.dataset(samples) : counting_dataset(samples),
                                    {{"batch_size", std::to_string(pace.batch_size)},
                                     {"num_workers", std::to_string(pace.workers)},
                                     {"prefetch_depth", std::to_string(pace.depth)},
                                     {"shuffle", "full"}});
  std::mt19937 random(7);
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(400);
  for (int64_t epoch = 0; std::chrono::steady_clock::now() < end; ++epoch) {
    for (int64_t step = 0; step < steps; ++step) {
      const Delivered got = next(loader, kAMinuteNs);
      ASSERT_EQ(got.status, DL_OK) << got.message << " at epoch " << epoch << ", step " << step;
      ASSERT_EQ(got.epoch, epoch);
      ASSERT_EQ(got.step, step);
      if (pace.longest_pause_us > 0)
        spin_for(std::chrono::microseconds(random() % static_cast<unsigned>(pace.longest_pause_us)));
    }
    ASSERT_EQ(next(loader, kAMinuteNs).status, DL_END_OF_EPOCH);
  }
}

INSTANTIATE_TEST_SUITE_P(Paces, Handoff,
                         ::testing::Values(Pace{8192, 1, 4, 0}, Pace{8192, 1, 4, 30}, Pace{8192, 1, 1, 10},
                                           Pace{8192, 2, 4, 20}, Pace{8192, 3, 2, 0}, Pace{64, 1, 4, 0},
                                           Pace{64, 1, 4, 200}, Pace{64, 2, 1, 5}, Pace{64, 4, 8, 100},
                                           Pace{8192, 1, 4, 0, true}, Pace{8192, 1, 4, 60, true},
                                           Pace{8192, 2, 2, 40, true}, Pace{64, 2, 4, 10, true},
                                           Pace{8192, 1, 4, 0, true, true}, Pace{64, 2, 2, 20, true, true}),
                         [](const auto& name) {
                           const Pace& p = name.param;
                           return "batch" + std::to_string(p.batch_size) + "_workers" +
                                  std::to_string(p.workers) + "_depth" + std::to_string(p.depth) + "_pause" +
                                  std::to_string(p.longest_pause_us) +
                                  (p.prompt   ? "_prompt_reader"
                                   : p.reader ? "_reader"
                                              : "");
                         });

TEST(HandoffToMany, ConsumersShareTheEpochAndEachBatchGoesToOne) {
  for (const char* workers : {"0", "1", "3"}) {
    const Loader loader = make_loader(counting_dataset(6000), {{"batch_size", "7"},
                                                               {"num_workers", workers},
                                                               {"max_leases", "8"},
                                                               {"epochs", "4"},
                                                               {"shuffle", "full"}});
    std::mutex mutex;
    std::vector<int> seen(6000);
    const auto consume = [&] {
      for (;;) {
        const Delivered got = next(loader, kAMinuteNs);
        if (got.status == DL_END) return;
        if (got.status == DL_END_OF_EPOCH) continue;
        ASSERT_EQ(got.status, DL_OK) << got.message;
        std::lock_guard lock(mutex);
        for (const uint64_t value : got.values) ++seen[value];
      }
    };
    std::vector<std::thread> consumers;
    for (int i = 0; i < 3; ++i) consumers.emplace_back(consume);
    for (std::thread& consumer : consumers) consumer.join();
    EXPECT_EQ(std::set<int>(seen.begin(), seen.end()), std::set<int>{4}) << workers << " workers";
  }
}

TEST(HandoffOfAReader, IsCalledByWorkersOnlyUnlessThereAreNone) {
  for (const char* workers : {"1", "2", "0"}) {
    TestReader reader;
    std::mutex mutex;
    std::set<std::thread::id> callers;
    reader.before = [&](const int64_t*, int64_t) {
      std::lock_guard lock(mutex);
      callers.insert(std::this_thread::get_id());
    };
    {
      const Loader loader =
          make_loader(reader.dataset(2000), {{"batch_size", "2"}, {"num_workers", workers}});
      EXPECT_EQ(epoch_samples(loader).size(), 2000u);
    }
    EXPECT_EQ(callers.count(std::this_thread::get_id()), *workers == '0' ? 1u : 0u) << workers;
  }
}

// Once calls have been seen to be short, it waits often enough, since it does nothing else.
TEST(HandoffOfAReader, ThatIsPromptIsCalledByAWaitingConsumerToo) {
  TestReader reader;
  reader.prompt = 1;
  const std::thread::id consumer = std::this_thread::get_id();
  std::atomic<bool> consumer_called{false};
  reader.before = [&](const int64_t*, int64_t) {
    if (std::this_thread::get_id() == consumer) consumer_called = true;
  };
  const Loader loader = make_loader(reader.dataset(4000), {{"batch_size", "4"}, {"num_workers", "1"}});
  for (int epoch = 0; epoch < 1000 && !consumer_called; ++epoch) {
    ASSERT_EQ(epoch_samples(loader).size(), 4000u);
  }
  EXPECT_TRUE(consumer_called);
}

// The reader may be slow: the batch that the consumer waits for is read by all workers at once, and not the next one by
// those who find no run of their own.
std::set<int64_t> first_two_calls() {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<int64_t> first_of_calls;
  TestReader reader;
  reader.before = [&](const int64_t* indices, int64_t) {
    std::unique_lock lock(mutex);
    first_of_calls.push_back(indices[0]);
    changed.notify_all();
    changed.wait_for(lock, std::chrono::seconds(20), [&] { return first_of_calls.size() >= 2; });
  };
  const Dataset dataset = reader.dataset(64);
  const Loader loader =
      make_loader(dataset, {{"batch_size", "8"}, {"num_workers", "2"}, {"prefetch_depth", "2"}});
  EXPECT_EQ(next(loader, kAMinuteNs).status, DL_OK);
  std::lock_guard lock(mutex);
  return {first_of_calls.begin(), first_of_calls.begin() + 2};
}

// A worker that looks before the consumer waits begins the next batch: then once more.
TEST(HandoffOfAReader, SharesABatchAmongTheWorkers) {
  std::set<int64_t> calls;
  for (int tries = 0; tries < 200 && !calls.contains(4); ++tries) calls = first_two_calls();
  EXPECT_THAT(calls, ::testing::ElementsAre(0, 4));
}

TEST(RunClaims, GivesEveryRunOnceFromBothEnds) {
  RunClaims claims;
  EXPECT_EQ(claims.claim(RunClaims::End::kFront), -1) << "nothing is open";
  claims.open(5, 0);
  EXPECT_EQ(claims.claim(RunClaims::End::kFront), 0);
  EXPECT_EQ(claims.claim(RunClaims::End::kBack), 4);
  EXPECT_EQ(claims.claim(RunClaims::End::kBack), 3);
  EXPECT_EQ(claims.claim(RunClaims::End::kFront), 1);
  EXPECT_EQ(claims.claim(RunClaims::End::kFront), 2);
  EXPECT_EQ(claims.claim(RunClaims::End::kFront), -1);
  EXPECT_EQ(claims.claim(RunClaims::End::kBack), -1);
  claims.open(5, 0);
  EXPECT_EQ(claims.claim(RunClaims::End::kBack), 4);
}

TEST(RunClaims, ThreadsNeverGetTheSameRun) {
  constexpr int64_t kRuns = 20'000;
  RunClaims claims;
  claims.open(kRuns, 0);
  std::vector<std::atomic<int>> taken(kRuns);
  const auto take = [&](RunClaims::End end) {
    for (int64_t run; (run = claims.claim(end)) >= 0;) taken[static_cast<size_t>(run)].fetch_add(1);
  };
  std::thread back(take, RunClaims::End::kBack), front(take, RunClaims::End::kFront);
  take(RunClaims::End::kFront);
  back.join();
  front.join();
  for (const std::atomic<int>& count : taken) ASSERT_EQ(count.load(), 1);
}

TEST(Runs, AreWholeBatchesUnlessThereAreMoreThreadsThanBatchesInTheWindow) {
  EXPECT_EQ(copied_records_of_run(256, 784, 2, 4), 256);
  EXPECT_EQ(copied_records_of_run(256, 784, 3, 4), 256);
  EXPECT_EQ(copied_records_of_run(256, 784, 2, 1), 86) << "three runs for two threads";
  EXPECT_EQ(copied_records_of_run(1024, 4, 8, 1), 114);
  for (int64_t threads = 1; threads <= 64; ++threads) {
    for (int64_t depth = 1; depth <= 8; ++depth) {
      const int64_t records = copied_records_of_run(100'000, 1, threads, depth);
      EXPECT_GT((100'000 + records - 1) / records * depth, threads) << threads << " threads, depth " << depth;
    }
  }
}

TEST(Runs, OfLargeRowsAreShorterSoThatNobodyWaitsLongForTheirEnd) {
  EXPECT_EQ(copied_records_of_run(4096, 1024, 1, 4), 256);
  EXPECT_EQ(copied_records_of_run(4096, 150'000, 1, 4), 64) << "but not shorter than pays";
}

}  // namespace
}  // namespace dataline::tests::handoff_test
