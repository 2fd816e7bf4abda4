// Epoch and the iterators over it, beyond tests/languages/loops: the result of a loop, lifetimes, threads that loop.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <future>
#include <iterator>
#include <optional>
#include <ranges>
#include <thread>

#include "tests/cpp/support.h"

namespace dataline::cpp_tests::epoch_test {
namespace {

static_assert(std::input_iterator<BatchIterator> && std::copyable<BatchIterator>);
static_assert(std::sentinel_for<BatchIterator::End, BatchIterator>);
static_assert(std::ranges::input_range<Loader&> && std::ranges::input_range<Epoch&>);
static_assert(
    std::is_same_v<std::iterator_traits<BatchIterator>::iterator_category, std::input_iterator_tag>);

// A loop that should end is left after so many steps.
constexpr int64_t kFar = 100;

// The message is the library's, as after dl_epoch_next.
void expect_ended(const Error& error) {
  EXPECT_EQ(error.code(), DL_ERR_WRONG_STATE);
  EXPECT_TRUE(says(error, {"this epoch was ended", "a newer one"}));
}

int64_t count_batches(Epoch& epoch) {
  int64_t count = 0;
  for (const Batch& batch : epoch) count += batch ? 1 : 0;
  return count;
}

TEST(CppEpoch, TellsAfterwardsHowItEnded) {
  Loader loader(counting(4), {{"batch_size", 2}, {"epochs", 1}});
  Epoch epoch = loader.epoch();
  EXPECT_EQ(epoch.status(), DL_OK);
  for (const Batch& batch : epoch) {
    if (batch.step() == 0) break;
  }
  EXPECT_EQ(epoch.status(), DL_OK) << "a break is no end";
  EXPECT_FALSE(epoch.complete());
  EXPECT_EQ(count_batches(epoch), 1) << "a second loop over it goes on";
  EXPECT_TRUE(epoch.complete());
  EXPECT_EQ(count_batches(epoch), 0);
  EXPECT_TRUE(epoch.complete());
}

TEST(CppEpoch, AfterTheLastOneThereIsNone) {
  Loader loader(counting(4), {{"epochs", 1}});
  EXPECT_EQ(loop(loader).size(), 4u);
  Epoch none = loader.epoch();
  EXPECT_EQ(none.status(), DL_END);
  EXPECT_EQ(none.get(), nullptr);
  EXPECT_EQ(count_batches(none), 0);
  EXPECT_EQ(none.next().status(), DL_END);
  none.interrupt();
  EXPECT_EQ(none.try_next(std::chrono::seconds(0)).status(), DL_END);
  EXPECT_FALSE(none.complete());
}

TEST(CppEpoch, TellsThatAnotherLoopEndedIt) {
  Loader loader(counting(8), {{"batch_size", 2}});
  Epoch older = loader.epoch();
  Epoch newer = loader.epoch();
  EXPECT_EQ(count_batches(older), 0);
  expect_ended(older.error());
  EXPECT_FALSE(older.complete());
  EXPECT_EQ(thrown_by([&] { static_cast<void>(older.next()); }).code(), DL_ERR_WRONG_STATE)
      << "next throws errors";
  EXPECT_EQ(count_batches(newer), 4);
  EXPECT_TRUE(newer.complete());
  EXPECT_EQ(newer.next().status(), DL_END_OF_EPOCH) << "which is no error";
}

TEST(CppEpoch, AnErrorThatALoopMetIsNotReplacedByTheEndThatAnotherMeets) {
  const Dataset dataset =
      Dataset::from_reader({Field::dense<uint64_t>("data")}, 4, [](int64_t index, Record& record) {
        if (index == 3) return record.fail("torn");
        record.put(0, static_cast<uint64_t>(index));
      });
  Loader loader(dataset, {{"batch_size", 2}});
  Epoch epoch = loader.epoch();
  BatchIterator failing = epoch.begin(), other = failing;
  EXPECT_TRUE(++failing == epoch.end());
  EXPECT_EQ(values_of(*++other), (std::vector<uint64_t>{2}));
  EXPECT_EQ(count_batches(epoch), 0) << "a loop over an epoch that failed is empty";
  EXPECT_TRUE(++other == epoch.end());
  EXPECT_EQ(epoch.next().status(), DL_END_OF_EPOCH);
  EXPECT_EQ(epoch.status(), DL_ERR_BAD_SAMPLE);
  EXPECT_TRUE(says(epoch.error(), {"torn"}));
}

TEST(CppEpoch, AnInterruptEndsALoopAndTheNextOneGoesOn) {
  Loader loader(counting(8), {{"batch_size", 2}});
  Epoch epoch = loader.epoch();
  int64_t steps = 0;
  for (const Batch& batch : epoch) {
    EXPECT_EQ(batch.step(), steps++);
    if (steps > kFar) break;
    if (steps == 2) epoch.interrupt();
  }
  EXPECT_EQ(steps, 2);
  EXPECT_EQ(epoch.status(), DL_INTERRUPTED);
  EXPECT_STREQ(epoch.error().message(), "DL_INTERRUPTED");
  EXPECT_EQ(epoch.begin()->step(), 2);
  EXPECT_EQ(epoch.status(), DL_OK) << "it goes on";
  EXPECT_EQ(count_batches(epoch), 1);
  EXPECT_TRUE(epoch.complete());
}

TEST(CppEpoch, ALoopOverTheLoaderThrowsWhatEndsItEarly) {
  Loader loader(counting(8), {{"batch_size", 2}});
  int64_t outer = 0, inner = 0;
  expect_ended(thrown_by([&] {
    for (const Batch& batch : loader) {
      EXPECT_EQ(batch.step(), 0);
      if (++outer > kFar) break;
      for (const Batch& other : loader) inner += other.samples();
    }
  }));
  EXPECT_EQ(outer, 1);
  EXPECT_EQ(inner, 8);
  int64_t steps = 0;
  const Error interrupted = thrown_by([&] {
    for (const Batch& batch : loader) {
      if (++steps > kFar || batch.step() == 3) break;
      if (batch.step() == 1) loader.interrupt();
    }
  });
  EXPECT_EQ(interrupted.code(), DL_INTERRUPTED);
  EXPECT_EQ(steps, 2);
}

TEST(CppEpoch, ACopyOfAnIteratorHasItsBatchAndSharesItsLoop) {
  Loader loader(counting(6), {{"batch_size", 2}, {"max_leases", 2}, {"lease_overflow", "error"}});
  BatchIterator one = loader.begin();
  BatchIterator other = one;
  EXPECT_EQ(one->get(), other->get());
  ++one;
  EXPECT_EQ(values_of(*one), (std::vector<uint64_t>{2, 3}));
  EXPECT_EQ(values_of(*other), (std::vector<uint64_t>{0, 1}));
  ++other;
  EXPECT_EQ(values_of(*other), (std::vector<uint64_t>{4, 5}));
  ++one;
  ++other;
  EXPECT_TRUE(one == loader.end());
  EXPECT_TRUE(other == loader.end()) << "both see the end";
  EXPECT_EQ(loader.position(), (Position{1, 0}));
}

TEST(CppEpoch, ALoopGoesOnWhenItsLoaderMoves) {
  Loader first(counting(8), {{"batch_size", 2}});
  Epoch epoch = first.epoch();
  BatchIterator at = epoch.begin();
  Loader second = std::move(first);
  EXPECT_EQ((++at)->step(), 1);
  EXPECT_EQ(second.next()->step(), 2);
  Epoch moved = std::move(epoch);
  EXPECT_EQ(moved.next()->step(), 3);
  EXPECT_EQ(epoch.try_next().status(),
            DL_ERR_INVALID_ARGUMENT);  // NOLINT(bugprone-use-after-move): the claim
  epoch.interrupt();
  EXPECT_EQ(moved.next().status(), DL_END_OF_EPOCH);
}

TEST(CppEpoch, OutlivesItsLoaderWhichEndsIt) {
  std::optional<Loader> loader(std::in_place, counting(8), Options{{"batch_size", 2}});
  Epoch finished = loader->epoch();
  EXPECT_EQ(count_batches(finished), 4);
  Epoch epoch = loader->epoch();
  BatchIterator at = epoch.begin();
  const Batch held = *at;
  loader.reset();
  expect_ended(epoch.try_next().error());
  ++at;
  EXPECT_TRUE(at == epoch.end());
  expect_ended(epoch.error());
  EXPECT_EQ(finished.next().status(), DL_END_OF_EPOCH);
  EXPECT_EQ(values_of(held), (std::vector<uint64_t>{0, 1}));
}

TEST(CppEpoch, AnIteratorOutlivesItsLoaderToo) {
  std::optional<Loader> loader(std::in_place, counting(8), Options{{"batch_size", 2}});
  BatchIterator at = loader->begin();
  loader.reset();
  expect_ended(thrown_by([&] { ++at; }));
}

TEST(CppEpoch, NextHasATimeOut) {
  std::promise<void> opened;
  const Dataset dataset =
      Dataset::from_reader({Field::dense<uint64_t>("data")}, 4,
                           [open = opened.get_future().share()](int64_t index, Record& record) {
                             open.wait();
                             record.put(0, static_cast<uint64_t>(index));
                           });
  Loader loader(dataset, {{"num_workers", 1}, {"batch_size", 4}});
  Epoch epoch = loader.epoch();
  EXPECT_EQ(epoch.next(std::chrono::milliseconds(1)).status(), DL_TIMEOUT);
  EXPECT_EQ(epoch.try_next(std::chrono::milliseconds(-1)).status(), DL_TIMEOUT) << "negative polls";
  opened.set_value();
  EXPECT_EQ(values_of(epoch.next(std::chrono::hours(1)).value()), count_to(4));
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

TEST(CppEpoch, ThreadsThatLoopOverOneGetEachBatchOnceAndNothingOfTheNext) {
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

TEST(CppEpoch, OfLoopsInSeveralThreadsEachHasItsEpochWholeOrIsTold) {
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

}  // namespace
}  // namespace dataline::cpp_tests::epoch_test
