// Jobs as a host runs them: order under any completion, prefetch, threads, exits, restores. Case numbers are those of
// the black-box cases that other loaders are measured by; what tests/loader proves is not repeated.
// SPDX-License-Identifier: Apache-2.0
#include <sys/syscall.h>
#include <unistd.h>

#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include "tests/conformance/files.h"

namespace dataline::tests::jobs_test {
namespace {

std::vector<uint64_t> range(uint64_t begin, uint64_t end) {
  std::vector<uint64_t> values(end - begin);
  std::iota(values.begin(), values.end(), begin);
  return values;
}

size_t thread_count() {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    count += entry.exists() || true;
  return count;
}

// Threads that have just been joined leave /proc a moment later.
void expect_threads(size_t expected) {
  for (int i = 0; i < 1'000'000 && thread_count() != expected; ++i) std::this_thread::yield();
  EXPECT_EQ(thread_count(), expected);
}

TEST(Conformance, Case03BatchesThatCompleteBackwardsComeOutInOrder) {
  constexpr int64_t kCount = 100, kWorkers = 10;
  std::vector<std::atomic<bool>> done(kCount);
  TestReader reader;
  // Of each ten records the last one completes first.
  reader.before = [&](const int64_t* indices, int64_t) {
    const size_t at = static_cast<size_t>(indices[0]);
    if (at % kWorkers != kWorkers - 1) done[at + 1].wait(false);
    done[at].store(true);
    done[at].notify_all();
  };
  Dataset dataset = reader.dataset(kCount);
  Loader loader = make_loader(
      dataset, {{"batch_size", "1"}, {"num_workers", "10"}, {"prefetch_depth", "10"}, {"epochs", "1"}});
  EXPECT_EQ(epoch_samples(loader), range(0, kCount));
}

// Workers may sleep while most of the window is ready, so that the depth is reached for certain only at the start.
TEST(Conformance, Case11PrefetchReachesTheConfiguredDepthAndNeverExceedsIt) {
  constexpr int64_t kBatch = 10, kBatches = 30;
  for (int64_t depth : {1, 2, 5}) {
    std::atomic<int64_t> allowed{depth * kBatch}, begun{0}, most_over{INT64_MIN};
    TestReader reader;
    reader.before = [&](const int64_t*, int64_t count) {
      const int64_t over = begun.fetch_add(count) + count - allowed.load();
      for (int64_t seen = most_over.load(); over > seen && !most_over.compare_exchange_weak(seen, over);) {
      }
    };
    Dataset dataset = reader.dataset(kBatch * kBatches);
    Loader loader = make_loader(dataset, {{"batch_size", std::to_string(kBatch)},
                                          {"num_workers", "3"},
                                          {"epochs", "1"},
                                          {"prefetch_depth", std::to_string(depth)}});
    while (stats_of(loader).ready_batches < depth) std::this_thread::yield();
    EXPECT_EQ(reader.records_read.load(), depth * kBatch) << "nothing was taken yet";
    for (int64_t taken = 0; taken < kBatches; ++taken) {
      allowed.store((taken + 1 + depth) * kBatch);
      ASSERT_EQ(next(loader).status, DL_OK);
    }
    EXPECT_LE(most_over.load(), 0) << "depth " << depth;
    EXPECT_EQ(reader.records_read.load(), kBatch * kBatches);
  }
}

TEST(Conformance, Case11HeldBatchesDoNotLetTheLoaderRunFurtherAhead) {
  TestReader reader;
  Dataset dataset = reader.dataset(1000);
  Loader loader = make_loader(dataset, {{"batch_size", "10"},
                                        {"num_workers", "2"},
                                        {"prefetch_depth", "3"},
                                        {"max_leases", "2"},
                                        {"lease_overflow", "error"}});
  Delivered a = next(loader), b = next(loader);
  ASSERT_EQ(b.status, DL_OK);
  EXPECT_EQ(next(loader).status, DL_ERR_LEASES_HELD);
  loader.reset();
  EXPECT_LE(reader.records_read.load(), 50) << "two held, three ahead";
}

TEST(Conformance, Case12AfterABreakTheThreadsAreGoneAndReadsStop) {
  const size_t threads = thread_count();
  for (int taken : {0, 1, 7}) {
    TestReader reader;
    Dataset dataset = reader.dataset(100'000);
    Loader loader = make_loader(dataset, {{"batch_size", "10"}, {"num_workers", "4"}});
    for (int b = 0; b < taken; ++b) ASSERT_EQ(next(loader).status, DL_OK);
    loader.reset();
    expect_threads(threads);
    const int64_t read = reader.records_read.load();
    EXPECT_LE(read, (taken + 4) * 10);
    dataset.reset();
    EXPECT_EQ(reader.records_read.load(), read);
    EXPECT_EQ(reader.destroyed.load(), 1);
  }
}

TEST(Conformance, Case14TheSameWorkersServeEveryEpoch) {
  std::mutex mutex;
  std::set<long> ids;
  TestReader reader;
  reader.before = [&](const int64_t*, int64_t) {
    std::lock_guard lock(mutex);
    ids.insert(syscall(SYS_gettid));
  };
  Dataset dataset = reader.dataset(1000);
  Loader loader = make_loader(dataset, {{"batch_size", "10"}, {"num_workers", "3"}, {"shuffle", "full"}});
  const size_t threads = thread_count();
  for (int epoch = 0; epoch < 20; ++epoch) EXPECT_EQ(epoch_samples(loader).size(), 1000u);
  EXPECT_EQ(thread_count(), threads);
  std::lock_guard lock(mutex);
  EXPECT_LE(ids.size(), 3u);
  EXPECT_FALSE(ids.contains(syscall(SYS_gettid))) << "with workers the caller reads nothing";
}

TEST(Conformance, Case17LoadersOfOneDatasetRunNestedAndSideBySide) {
  Dataset dataset = counting_dataset(60);
  Loader outer = make_loader(dataset, {{"batch_size", "7"}, {"num_workers", "2"}, {"epochs", "1"}});
  Loader inner =
      make_loader(dataset, {{"batch_size", "9"}, {"num_workers", "2"}, {"shuffle", "full"}, {"seed", "3"}});
  std::vector<uint64_t> seen;
  for (Delivered got = next(outer); got.status == DL_OK; got = next(outer)) {
    seen.insert(seen.end(), got.values.begin(), got.values.end());
    std::vector<uint64_t> all = epoch_samples(inner);
    EXPECT_EQ(std::set<uint64_t>(all.begin(), all.end()).size(), 60u);
  }
  EXPECT_EQ(seen, range(0, 60));
}

TEST(Conformance, Case17CallerThreadsWithLoadersOfTheirOwnDoNotDisturbEachOther) {
  Dataset dataset = counting_dataset(500);
  std::vector<std::vector<uint64_t>> orders(4);
  std::vector<std::thread> callers;
  for (size_t t = 0; t < orders.size(); ++t) {
    callers.emplace_back([&, t] {
      const std::string workers = std::to_string(t % 3);
      Loader loader =
          make_loader(dataset, {{"batch_size", "16"}, {"shuffle", "full"}, {"num_workers", workers}});
      for (int epoch = 0; epoch < 3; ++epoch) {
        const std::vector<uint64_t> order = epoch_samples(loader);
        orders[t].insert(orders[t].end(), order.begin(), order.end());
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const auto& order : orders) EXPECT_EQ(order, orders[0]);
  EXPECT_EQ(orders[0].size(), 1500u);
}

// How a job may end. Each leaves no thread behind, and what the reader needs is given back.
enum class End { kEpoch, kConsumerThrows, kReaderFails, kNeverStarted };

TEST(Conformance, Case20EveryWayOutLeavesNothing) {
  const size_t threads = thread_count();
  for (bool from_reader : {true, false}) {
    for (const char* workers : {"0", "1", "4"}) {
      for (bool held : {false, true}) {
        for (End end : {End::kEpoch, End::kConsumerThrows, End::kReaderFails, End::kNeverStarted}) {
          TestReader reader;
          if (end == End::kReaderFails) reader.fails = [](int64_t index) { return index >= 20; };
          Dataset dataset = from_reader ? reader.dataset(60) : counting_dataset(60);
          std::vector<Delivered> kept;
          try {
            Loader loader =
                make_loader(dataset, {{"batch_size", "10"}, {"num_workers", workers}, {"epochs", "1"}});
            for (int step = 0; end != End::kNeverStarted; ++step) {
              if (step == 3 && end == End::kConsumerThrows) throw std::runtime_error("the consumer");
              Delivered got = next(loader);
              if (got.status != DL_OK) {
                EXPECT_EQ(got.status,
                          end == End::kReaderFails && from_reader ? DL_ERR_BAD_SAMPLE : DL_END_OF_EPOCH);
                break;
              }
              if (held) kept.push_back(std::move(got));
            }
          } catch (const std::runtime_error&) {
            EXPECT_EQ(end, End::kConsumerThrows);
          }
          dataset.reset();
          EXPECT_EQ(reader.destroyed.load(), from_reader ? 1 : 0) << "batches held need no reader";
          for (size_t b = 0; b < kept.size(); ++b) {
            int32_t count = 0;
            const dl_view* views = dl_batch_views(kept[b].batch.get(), &count);
            EXPECT_EQ(*static_cast<const uint64_t*>(views[0].data), b * 10);
          }
        }
      }
    }
  }
  expect_threads(threads);
}

TEST(Conformance, Case20AStuckReaderKeepsNoConsumerWaiting) {
  for (bool held : {false, true}) {
    Latch latch;
    TestReader reader;
    reader.before = [&](const int64_t* indices, int64_t) {
      if (indices[0] >= 10) latch.wait();
    };
    Dataset dataset = reader.dataset(60);
    Loader loader = make_loader(dataset, {{"batch_size", "10"}, {"num_workers", "2"}});
    Delivered first = next(loader);
    EXPECT_EQ(first.values, range(0, 10));
    if (!held) first.batch.reset();
    EXPECT_EQ(next(loader, 1'000'000).status, DL_TIMEOUT);
    EXPECT_EQ(next(loader, 0).status, DL_TIMEOUT) << "Case 21: and a time-out loses nothing";
    loader.reset();
    EXPECT_EQ(reader.destroyed.load(), 0);
    dataset.reset();
    latch.open();
    first.batch.reset();  // a loader left behind keeps its reader until its batches are back, too
    while (reader.destroyed.load() == 0) std::this_thread::yield();
  }
}

TEST(Conformance, Case25AStateIsCompleteRightAfterARestoreAndBeforeTheStart) {
  TestReader reader;
  Dataset dataset = reader.dataset(100);
  const Settings job = {{"batch_size", "7"}, {"shuffle", "full"}, {"num_workers", "0"}};
  Loader first = make_loader(dataset, job);
  const std::string fresh = save_state(first);
  EXPECT_EQ(reader.records_read.load(), 0) << "asking for a state reads nothing";
  for (int step = 0; step < 5; ++step) next(first);
  const std::string saved = save_state(first);
  const std::vector<uint64_t> rest = epoch_samples(first);

  Loader second = make_loader(dataset, job);
  EXPECT_EQ(save_state(second), fresh);
  Error error;
  ASSERT_EQ(dl_loader_state_load(second.get(), saved.c_str(), &error), DL_OK) << error.message;
  EXPECT_EQ(save_state(second), saved);
  const std::vector<uint64_t> one = next(second).values;
  const std::string one_later = save_state(second);
  Loader third = make_loader(dataset, job);
  ASSERT_EQ(dl_loader_state_load(third.get(), one_later.c_str(), &error), DL_OK) << error.message;
  std::vector<uint64_t> again = one;
  for (uint64_t value : epoch_samples(third)) again.push_back(value);
  EXPECT_EQ(again, rest);
}

TEST(Conformance, Case28ARestoreReadsOnlyWhatIsNeeded) {
  constexpr int64_t kBatch = 10, kDepth = 2;
  for (const char* shuffle : {"none", "full"}) {
    for (int64_t workers : {0, 2}) {
      TestReader reader;
      Dataset dataset = reader.dataset(10'000);
      const Settings job = {{"batch_size", "10"},
                            {"shuffle", shuffle},
                            {"num_workers", std::to_string(workers)},
                            {"prefetch_depth", std::to_string(kDepth)},
                            {"epochs", "1"}};
      Loader saver = make_loader(dataset, job);
      Error error;
      ASSERT_EQ(dl_loader_seek(saver.get(), 0, 900, &error), DL_OK) << error.message;
      const std::string state = save_state(saver);
      const std::vector<uint64_t> expected = next(saver).values;
      saver.reset();

      reader.records_read.store(0);
      Loader loader = make_loader(dataset, job);
      ASSERT_EQ(dl_loader_state_load(loader.get(), state.c_str(), &error), DL_OK) << error.message;
      ASSERT_EQ(dl_loader_state_load(loader.get(), state.c_str(), &error), DL_OK)
          << "twice: " << error.message;
      EXPECT_EQ(next(loader).values, expected);
      // Workers may have begun with step 0, and again after the first load.
      const int64_t most = workers == 0 ? kBatch : (3 * kDepth + 1) * kBatch;
      EXPECT_LE(reader.records_read.load(), most) << shuffle;
      EXPECT_EQ(epoch_samples(loader).size(), 990u);
      EXPECT_EQ(next(loader).status, DL_END);
      ASSERT_EQ(dl_loader_state_load(loader.get(), state.c_str(), &error), DL_OK) << error.message;
      EXPECT_EQ(next(loader).values, expected) << "also after the end";
    }
  }
}

}  // namespace
}  // namespace dataline::tests::jobs_test
