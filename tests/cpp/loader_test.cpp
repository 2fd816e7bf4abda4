// The batch of a loop, next with and without a time-out, position, state, cancel, wait handle, order (loops: epoch_test.cpp).
// SPDX-License-Identifier: Apache-2.0
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <limits>
#include <thread>

#include "tests/cpp/support.h"

namespace dataline::cpp_tests::loader_test {
namespace {

using std::chrono::milliseconds;

TEST(CppLoader, TheLoopHoldsOneBatchAtATime) {
  Loader loader(counting(64),
                {{"batch_size", 1}, {"max_leases", 1}, {"lease_overflow", "error"}, {"epochs", 1}});
  EXPECT_EQ(loop(loader).size(), 64u);
  loader.seek(0, 0);
  int64_t count = 0;
  for (Batch batch : loader) {  // NOLINT(performance-for-range-copy): a copy is a reference
    ++count;
    EXPECT_EQ(loader.stats().leases_held, 1);
    Batch mine = std::move(batch);
  }
  EXPECT_EQ(count, 64);
}

TEST(CppLoader, NextTellsWhyThereIsNone) {
  Loader loader(counting(2), {{"epochs", 1}});
  EXPECT_EQ(loader.next()->samples(), 2);
  EXPECT_EQ(loader.next().status(), DL_END_OF_EPOCH);
  const Result<Batch> end = loader.next();
  EXPECT_FALSE(end);
  EXPECT_EQ(end.status(), DL_END);
  EXPECT_STREQ(end.error().message(), "DL_END");
}

TEST(CppLoader, NextThrowsErrors) {
  Loader loader(counting(8), {{"batch_size", 1}, {"max_leases", 1}, {"lease_overflow", "error"}});
  const Batch held = loader.next().value();
  EXPECT_EQ(thrown_by([&] { static_cast<void>(loader.next()); }).code(), DL_ERR_LEASES_HELD);
  EXPECT_EQ(loader.try_next().status(), DL_ERR_LEASES_HELD);
}

// Reads stop at a gate that the test opens.
struct Gate {
  std::promise<void> opened;
  std::shared_future<void> open = opened.get_future().share();
  Dataset dataset(int64_t count) {
    return Dataset::from_reader({Field::dense<uint64_t>("data")}, count,
                                [gate = open](int64_t index, Record& record) {
                                  gate.wait();
                                  record.put(0, static_cast<uint64_t>(index));
                                });
  }
};

TEST(CppLoader, ATimeOutLosesNothing) {
  Gate gate;
  Loader loader(gate.dataset(4), {{"batch_size", 4}, {"num_workers", 1}});
  EXPECT_EQ(loader.next(milliseconds(1)).status(), DL_TIMEOUT);
  EXPECT_EQ(loader.next(milliseconds(0)).status(), DL_TIMEOUT);
  EXPECT_EQ(loader.next(milliseconds(-5)).status(), DL_TIMEOUT) << "negative polls";
  EXPECT_EQ(loader.next(std::chrono::duration<double, std::micro>(1.5)).status(), DL_TIMEOUT);
  EXPECT_EQ(loader.position(), (Position{0, 0}));
  gate.opened.set_value();
  EXPECT_EQ(values_of(loader.next(std::chrono::hours(1000000)).value()), count_to(4));
  EXPECT_EQ(loader.next(std::chrono::duration<double>(1e300)).status(), DL_END_OF_EPOCH);
}

TEST(CppLoader, CancelEndsAWaitAndTheLoopSaysSo) {
  Gate gate;
  Loader loader(gate.dataset(4), {{"num_workers", 1}});
  std::future<dl_status> waiting = std::async(std::launch::async, [&] { return loader.next().status(); });
  loader.cancel();
  EXPECT_EQ(waiting.get(), DL_CANCELLED);
  EXPECT_EQ(thrown_by([&] { loop(loader); }).code(), DL_CANCELLED) << "no whole epoch";
  Epoch epoch = loader.epoch();
  for (const Batch& batch : epoch) ADD_FAILURE() << batch.step();
  EXPECT_EQ(epoch.status(), DL_CANCELLED);
  EXPECT_FALSE(epoch.complete());
  gate.opened.set_value();
  loader.seek(0, 0);
  EXPECT_EQ(loop(loader), count_to(4)) << "a seek ends it";
}

TEST(CppLoader, AStateGoesOnInAnotherLoader) {
  const Dataset dataset = counting(50);
  const Options options{{"batch_size", 8}, {"shuffle", "full"}, {"seed", 3}, {"epochs", 2}};
  Loader whole(dataset, options), before(dataset, options), after(dataset, options);
  std::vector<uint64_t> expected = loop(whole), got;
  const std::vector<uint64_t> second = loop(whole);
  expected.insert(expected.end(), second.begin(), second.end());
  for (int step = 0; step < 4; ++step) {
    const std::vector<uint64_t> values = values_of(before.next().value());
    got.insert(got.end(), values.begin(), values.end());
  }
  const std::string state = before.save_state();
  EXPECT_LT(state.size(), size_t{4096});
  after.load_state(state);
  EXPECT_EQ(after.position(), (Position{0, 4}));
  while (after.position().epoch < 2) {
    const std::vector<uint64_t> values = loop(after);
    got.insert(got.end(), values.begin(), values.end());
  }
  EXPECT_EQ(got, expected);
  Loader other(counting(51), options);
  EXPECT_EQ(other.try_load_state(state).status(), DL_ERR_STATE_REFUSED);
}

TEST(CppLoader, TheWaitHandleIsReadableWhenABatchIsReady) {
  Gate gate;
  Loader loader(gate.dataset(4), {{"num_workers", 1}});
  pollfd handle = {static_cast<int>(loader.wait_handle()), POLLIN, 0};
  EXPECT_EQ(poll(&handle, 1, 0), 0);
  gate.opened.set_value();
  EXPECT_EQ(poll(&handle, 1, 60000), 1);
  EXPECT_TRUE(loader.next(milliseconds(0)));
}

TEST(CppLoader, SeveralThreadsShareTheEpoch) {
  Loader loader(counting(600), {{"batch_size", 3}, {"epochs", 1}});
  std::vector<std::future<std::vector<uint64_t>>> takers;
  for (int i = 0; i < 4; ++i) {
    takers.push_back(std::async(std::launch::async, [&] {
      std::vector<uint64_t> mine;
      while (Result<Batch> batch = loader.next()) {
        for (uint64_t value : values_of(*batch)) mine.push_back(value);
      }
      return mine;
    }));
  }
  std::vector<uint64_t> all;
  for (auto& taker : takers) {
    const std::vector<uint64_t> mine = taker.get();
    all.insert(all.end(), mine.begin(), mine.end());
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, count_to(600));
}

TEST(CppLoader, TheOrderOfTheNextEpochMayBeGiven) {
  std::atomic<int> returned{0}, alive{0};
  Loader loader(counting(3), Options().set_indices(std::vector<int64_t>{0, 1}));
  const std::vector<int64_t> order = {2, 0};
  loader.borrow_indices(order, Loan(&returned, &alive));
  EXPECT_EQ(loader.try_borrow_indices(std::vector<int64_t>{1}, Loan(&returned, &alive)).status() < 0, true);
  EXPECT_EQ(alive, 1);
  loop(loader);
  EXPECT_EQ(loop(loader), (std::vector<uint64_t>{2, 0}));
  EXPECT_EQ(returned, 0);
  loader = Loader();
  EXPECT_EQ(returned, 1);
  EXPECT_EQ(alive, 0);
}

TEST(CppLoader, StatsCountWhatWasDelivered) {
  Loader loader(counting(10), {{"batch_size", 4}, {"last_batch", "drop"}, {"epochs", 1}});
  EXPECT_EQ(loader.steps(), 2);
  EXPECT_EQ(loop(loader).size(), 8u);
  const dl_stats stats = loader.stats();
  EXPECT_EQ(stats.batches, 2);
  EXPECT_EQ(stats.samples, 8);
  EXPECT_EQ(stats.dropped, 2);
  EXPECT_EQ(stats.bytes, 64);
}

TEST(CppLoader, TunedIsTheStructOfTheLibrary) {
  Loader loader(counting(10), {{"batch_size", 4}, {"num_workers", 3}, {"prefetch_depth", 2}, {"epochs", 1}});
  const dl_tuned tuned = loader.tuned();
  EXPECT_EQ(tuned.num_workers, 3);
  EXPECT_EQ(tuned.most_workers, 3);
  EXPECT_EQ(tuned.prefetch_depth, 2);
  EXPECT_STREQ(tuned.text, "not tuned: num_workers is set");
  EXPECT_EQ(loop(loader), count_to(10));
}

TEST(CppLoader, AFrameLoopLoadsABatchInPieces) {
  Loader loader(counting(4000), {{"num_workers", 0}, {"batch_size", 4000}, {"epochs", 1}});
  int frames = 1;
  while (!loader.work(std::chrono::nanoseconds(1))) ++frames;
  EXPECT_GT(frames, 1);
  EXPECT_EQ(values_of(*loader.next()), count_to(4000));
  loader.cancel();
  EXPECT_EQ(loader.try_work(std::chrono::seconds(1)).status(), DL_CANCELLED);
}

TEST(CppDataset, ReadsOneSampleThroughATransform) {
  const Dataset dataset = counting(10);
  const Batch seven = dataset.read(7, {{"transform", "data: cast(f32)"}});
  EXPECT_EQ(seven["data"].as<float>()[0], 7.0F);
  EXPECT_EQ(dataset.try_read(10).status(), DL_ERR_OUT_OF_RANGE);
}

}  // namespace
}  // namespace dataline::cpp_tests::loader_test
