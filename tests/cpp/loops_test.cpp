// Several loops over one loader, one after the other, inside each other, and in several threads.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <future>
#include <thread>

#include "tests/cpp/support.h"

namespace dataline::cpp_tests::loops_test {
namespace {

constexpr const char* kEnded =
    "this loop's epoch was ended by another loop over the same loader (begin_epoch, seek or load_state)";

void expect_ended(const Error& error) {
  EXPECT_EQ(error.code(), DL_ERR_WRONG_STATE);
  EXPECT_STREQ(error.message(), kEnded);
}

// A loop that should end is left after so many steps.
constexpr int64_t kFar = 100;

TEST(CppLoops, ALoopInsideALoopEndsTheOuterOne) {
  Loader loader(counting(8), {{"batch_size", 2}});
  int64_t outer = 0, inner = 0;
  const Error error = thrown_by([&] {
    for (const Batch& batch : loader) {
      EXPECT_EQ(batch.step(), 0);
      if (++outer > kFar) break;
      for (const Batch& other : loader) inner += other.samples();
    }
  });
  expect_ended(error);
  EXPECT_EQ(outer, 1);
  EXPECT_EQ(inner, 8) << "the inner loop has an epoch to itself";
}

TEST(CppLoops, ASeekOrALoadedStateEndsTheLoopAndOneThatFailsDoesNot) {
  Loader loader(counting(8), {{"batch_size", 2}, {"epochs", 9}});
  const std::string state = loader.save_state();
  for (bool by_seek : {true, false}) {
    int64_t steps = 0;
    expect_ended(thrown_by([&] {
      for (Batch& batch : loader) {
        static_cast<void>(batch);
        if (++steps > kFar) break;
        EXPECT_EQ(loader.try_seek({0, 99}).status(), DL_ERR_OUT_OF_RANGE);
        EXPECT_EQ(loader.try_load_state("nonsense").status(), DL_ERR_BAD_STATE);
        if (steps < 3) continue;
        by_seek ? loader.seek(0, 3) : loader.load_state(state);
      }
    }));
    EXPECT_EQ(steps, 3);
    EXPECT_EQ(loop(loader).size(), by_seek ? 2u : 8u) << "the next loop goes on there";
  }
}

TEST(CppLoops, AnEpochTellsThatAnotherLoopEndedIt) {
  Loader loader(counting(8), {{"batch_size", 2}});
  Epoch older = loader.epoch();
  Epoch newer = loader.epoch();
  for (const Batch& batch : older) ADD_FAILURE() << batch.step();
  expect_ended(older.error());
  int64_t samples = 0;
  for (const Batch& batch : newer) samples += batch.samples();
  EXPECT_EQ(samples, 8);
  EXPECT_TRUE(newer.complete());
}

TEST(CppLoops, CallsOfNextInTheBodyTakePartInTheEpoch) {
  for (int64_t steps : {4, 5}) {  // the end is told to the loop, or to next
    Loader loader(counting(steps * 2), {{"batch_size", 2}});
    std::vector<int64_t> seen;
    for (const Batch& batch : loader) {
      seen.push_back(batch.epoch() * 1000 + batch.step());
      if (seen.size() > kFar) break;
      const Result<Batch> more = loader.next();
      if (more) seen.push_back(more->epoch() * 1000 + more->step());
    }
    std::vector<int64_t> expected(static_cast<size_t>(steps));
    std::iota(expected.begin(), expected.end(), int64_t{0});
    EXPECT_EQ(seen, expected);
    EXPECT_EQ(loader.position(), (Position{1, 0}));
  }
}

struct Taken {
  std::vector<uint64_t> samples;
  Error error;
};

void take_all(const Batch& batch, Taken& to) {
  const std::vector<uint64_t> values = values_of(batch);
  to.samples.insert(to.samples.end(), values.begin(), values.end());
}

template <typename Body>
std::vector<Taken> in_threads(int count, Body&& body) {
  std::vector<Taken> taken(static_cast<size_t>(count));
  std::vector<std::thread> threads;
  for (Taken& mine : taken) threads.emplace_back([&] { mine.error = thrown_by([&] { body(mine); }); });
  for (std::thread& thread : threads) thread.join();
  return taken;
}

constexpr int64_t kSamples = 20'000;

TEST(CppLoops, ThreadsThatShareAnEpochGetEachBatchOnceAndNothingOfTheNextEpoch) {
  for (int workers : {0, 2}) {
    Loader loader(counting(kSamples), {{"batch_size", 16}, {"shuffle", "full"}, {"num_workers", workers}});
    for (int64_t round = 0; round < 3; ++round) {
      Epoch epoch = loader.epoch();
      std::vector<uint64_t> all;
      for (const Taken& one : in_threads(4, [&](Taken& mine) {
             for (const Batch& batch : epoch) take_all(batch, mine);
           })) {
        EXPECT_EQ(one.error.code(), DL_OK) << one.error.message();
        all.insert(all.end(), one.samples.begin(), one.samples.end());
      }
      std::sort(all.begin(), all.end());
      EXPECT_EQ(all, count_to(kSamples));
      EXPECT_TRUE(epoch.complete());
      EXPECT_EQ(loader.position(), (Position{round + 1, 0}));
    }
  }
}

TEST(CppLoops, OfLoopsInSeveralThreadsEachHasItsEpochWholeOrIsTold) {
  for (int workers : {0, 2}) {
    Loader loader(counting(kSamples), {{"batch_size", 64}, {"shuffle", "full"}, {"num_workers", workers}});
    for (int round = 0; round < 10; ++round) {
      int whole = 0;
      for (Taken& one : in_threads(3, [&](Taken& mine) {
             for (const Batch& batch : loader) take_all(batch, mine);
           })) {
        if (one.error.code() != DL_OK) {
          expect_ended(one.error);
          continue;
        }
        ++whole;
        std::sort(one.samples.begin(), one.samples.end());
        EXPECT_EQ(one.samples, count_to(kSamples));
      }
      EXPECT_GE(whole, 1) << "nothing ended the last one to begin";
    }
  }
}

TEST(CppLoops, ALoopThatWaitsIsEndedByASeekAndCallsOfNextWaitOn) {
  std::promise<void> opened;
  const std::shared_future<void> open = opened.get_future().share();
  const Dataset dataset =
      Dataset::from_reader({Field::dense<uint64_t>("data")}, 4, [open](int64_t index, Record& record) {
        open.wait();
        record.put(0, static_cast<uint64_t>(index));
      });
  Loader loader(dataset, {{"num_workers", 1}, {"batch_size", 4}});
  std::future<Error> waiting =
      std::async(std::launch::async, [&] { return thrown_by([&] { loop(loader); }); });
  std::future<dl_status> another =
      std::async(std::launch::async, [&] { return loader.next(std::chrono::hours(1)).status(); });
  // Again and again: one that comes before the loop has begun ends nothing.
  while (waiting.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) loader.seek(0, 0);
  expect_ended(waiting.get());
  opened.set_value();
  EXPECT_EQ(another.get(), DL_OK) << "it was not this call's wait that had to end";
}

}  // namespace
}  // namespace dataline::cpp_tests::loops_test
