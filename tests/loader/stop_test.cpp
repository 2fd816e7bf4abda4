// Ending things: cancel, interrupt, tokens, time-outs, destroy in every state, fork, abandoned loaders.
// SPDX-License-Identifier: Apache-2.0
#include <poll.h>

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "tests/support/in_child.h"
#include "tests/support/job.h"
#include "tests/support/resident_bytes.h"

namespace dataline::tests::stop_test {
namespace {

// ThreadSanitizer ends a forked child that starts a thread.
#if defined(__SANITIZE_THREAD__)
constexpr const char* kChildWorkers = "0";
#else
constexpr const char* kChildWorkers = "1";
#endif

// Lets a reader callback stop until it is told to go on.
class Gate {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
  }
  void open() {
    std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void until_someone_waits() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ > 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int waiting_ = 0;
};

size_t count_entries(const char* folder) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) count += entry.exists() || true;
  return count;
}

struct StuckLoader {
  Gate gate;
  TestReader reader;
  Dataset dataset;
  explicit StuckLoader() {
    reader.before = [this](const int64_t*, int64_t) { gate.pass(); };
    dataset = reader.dataset(100);
  }
  // Nobody may be inside the reader when it goes.
  ~StuckLoader() {
    gate.open();
    dataset.reset();
    while (reader.destroyed.load() == 0) std::this_thread::yield();
  }
};

TEST(Stop, ATimeoutLosesNothingAndAPollNeverWaits) {
  StuckLoader stuck;
  Loader loader = make_loader(stuck.dataset, {{"batch_size", "10"}, {"num_workers", "1"}});
  EXPECT_EQ(next(loader, 0).status, DL_TIMEOUT);
  EXPECT_EQ(next(loader, 2'000'000).status, DL_TIMEOUT);
  stuck.gate.open();
  EXPECT_EQ(next(loader).values.front(), 0u);
}

TEST(Stop, CancelEndsAWaitAndIsStickyUntilASeek) {
  StuckLoader stuck;
  Loader loader = make_loader(stuck.dataset, {{"batch_size", "10"}, {"num_workers", "1"}});
  stuck.gate.until_someone_waits();
  std::thread other([&] { dl_loader_cancel(loader.get()); });
  EXPECT_EQ(next(loader).status, DL_CANCELLED);
  other.join();
  EXPECT_EQ(next(loader).status, DL_CANCELLED);
  stuck.gate.open();
  Error error;
  ASSERT_EQ(dl_loader_seek(loader.get(), 0, 0, &error), DL_OK);
  EXPECT_EQ(next(loader).status, DL_OK);
}

TEST(Stop, AnInterruptEndsAWaitOrTheNextCallAndNoOther) {
  StuckLoader stuck;
  Loader loader = make_loader(stuck.dataset, {{"batch_size", "10"}, {"num_workers", "1"}});
  for (const int64_t timeout_ns : {int64_t{0}, int64_t{1'000'000}, int64_t{-1}}) {
    dl_loader_interrupt(loader.get());
    dl_loader_interrupt(loader.get());  // before anybody looks, two are one
    EXPECT_EQ(next(loader, timeout_ns).status, DL_INTERRUPTED);
    EXPECT_EQ(next(loader, 0).status, DL_TIMEOUT);
    EXPECT_EQ(next(loader, 1'000'000).status, DL_TIMEOUT);
  }
  for (int i = 0; i < 100; ++i) {
    std::thread other([&] { dl_loader_interrupt(loader.get()); });
    EXPECT_EQ(next(loader).status, DL_INTERRUPTED) << "whether it came before this call or while it waits";
    other.join();
  }
  EXPECT_EQ(next(loader, 1'000'000).status, DL_TIMEOUT);
  stuck.gate.open();
  EXPECT_EQ(next(loader).values.front(), 0u);
}

TEST(Stop, AnInterruptEndsACallOfWorkAndASeekClearsIt) {
  const Dataset dataset = counting_dataset(100);
  Loader loader = make_loader(dataset, {{"batch_size", "10"}, {"num_workers", "0"}});
  dl_loader_interrupt(loader.get());
  EXPECT_EQ(dl_loader_work(loader.get(), 1'000'000'000, nullptr), DL_INTERRUPTED);
  EXPECT_EQ(dl_loader_work(loader.get(), 1'000'000'000, nullptr), DL_OK);
  dl_loader_interrupt(loader.get());
  EXPECT_EQ(dl_loader_seek(loader.get(), 0, 5, nullptr), DL_OK);
  EXPECT_EQ(next(loader).values.front(), 50u);
  const std::string state = save_state(loader);
  dl_loader_interrupt(loader.get());
  EXPECT_EQ(dl_loader_state_load(loader.get(), state.c_str(), nullptr), DL_OK);
  EXPECT_EQ(next(loader).values.front(), 60u);
}

TEST(Stop, ATokenEndsWaitsOfEveryLoaderMadeWithIt) {
  StuckLoader stuck;
  Error error;
  dl_cancel_token* handle = nullptr;
  ASSERT_EQ(dl_cancel_token_create(&handle, &error), DL_OK);
  CancelToken token(handle);
  Options options = make_options({{"num_workers", "1"}});
  ASSERT_EQ(dl_options_set_cancel_token(options.get(), token.get(), &error), DL_OK);
  dl_loader* made = nullptr;
  ASSERT_EQ(dl_loader_create(stuck.dataset.get(), options.get(), &made, &error), DL_OK);
  Loader loader(made);
  std::thread other([&] { dl_cancel_token_cancel(token.get()); });
  EXPECT_EQ(next(loader).status, DL_CANCELLED);
  other.join();
  EXPECT_EQ(dl_loader_seek(loader.get(), 0, 0, &error), DL_OK);
  EXPECT_EQ(next(loader).status, DL_CANCELLED) << "a token is for good";
  stuck.gate.open();
}

TEST(Stop, DestroyLeavesAStuckReaderBehindAfterASecond) {
  auto stuck = std::make_unique<StuckLoader>();
  Loader loader = make_loader(stuck->dataset, {{"batch_size", "10"}, {"num_workers", "2"}});
  stuck->gate.until_someone_waits();
  const auto begin = std::chrono::steady_clock::now();
  loader.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  stuck->dataset.reset();
  EXPECT_EQ(stuck->reader.destroyed.load(), 0) << "somebody is still inside";
  stuck.reset();
}

TEST(Stop, TheWaitHandleIsReadableExactlyWhenNextWouldNotWait) {
  StuckLoader stuck;
  Loader loader = make_loader(stuck.dataset, {{"batch_size", "50"}, {"num_workers", "1"}, {"epochs", "1"}});
  Error error;
  intptr_t handle = -1;
  ASSERT_EQ(dl_loader_wait_handle(loader.get(), &handle, &error), DL_OK);
  pollfd poll_for = {static_cast<int>(handle), POLLIN, 0};
  EXPECT_EQ(poll(&poll_for, 1, 0), 0);
  stuck.gate.open();
  for (int status = DL_OK; status != DL_END;) {
    ASSERT_EQ(poll(&poll_for, 1, 10'000), 1);
    status = next(loader, 0).status;
    EXPECT_NE(status, DL_TIMEOUT);
  }
  dl_loader_cancel(loader.get());
  EXPECT_EQ(poll(&poll_for, 1, 0), 1);
}

TEST(Stop, TheWaitHandleFallsWhenWhatWasReadyIsTaken) {
  Gate gate;
  TestReader reader;
  reader.before = [&](const int64_t* indices, int64_t) {
    if (indices[0] >= 50) gate.pass();
  };
  Dataset dataset = reader.dataset(100);
  Loader loader = make_loader(dataset, {{"batch_size", "50"}, {"num_workers", "1"}, {"epochs", "1"}});
  Error error;
  intptr_t handle = -1;
  ASSERT_EQ(dl_loader_wait_handle(loader.get(), &handle, &error), DL_OK);
  pollfd poll_for = {static_cast<int>(handle), POLLIN, 0};
  gate.until_someone_waits();  // over the second batch: the first is ready
  EXPECT_EQ(poll(&poll_for, 1, 10'000), 1);
  EXPECT_EQ(next(loader, 0).status, DL_OK);
  EXPECT_EQ(poll(&poll_for, 1, 0), 0) << "next would wait now";
  EXPECT_EQ(next(loader, 0).status, DL_TIMEOUT);
  gate.open();
  EXPECT_EQ(poll(&poll_for, 1, 10'000), 1);
  EXPECT_EQ(next(loader, 0).status, DL_OK);
}

// Without workers too: an event loop that looked at the handle all the time would take a core.
TEST(Stop, TheWaitHandleFallsWhileNextWouldWaitForARelease) {
  for (const char* workers : {"0", "1"}) {
    const Loader loader = make_loader(
        counting_dataset(100),
        {{"batch_size", "10"}, {"num_workers", workers}, {"max_leases", "2"}, {"lease_overflow", "wait"}});
    Error error;
    intptr_t handle = -1;
    ASSERT_EQ(dl_loader_wait_handle(loader.get(), &handle, &error), DL_OK);
    pollfd poll_for = {static_cast<int>(handle), POLLIN, 0};
    EXPECT_EQ(poll(&poll_for, 1, 10'000), 1);
    Delivered first = next(loader), second = next(loader);
    EXPECT_EQ(poll(&poll_for, 1, 0), 0) << workers << " workers, all leases held";
    EXPECT_EQ(next(loader, 0).status, DL_TIMEOUT);
    first.batch.reset();
    EXPECT_EQ(poll(&poll_for, 1, 10'000), 1) << "released";
    EXPECT_EQ(next(loader, 0).step, 2);
    EXPECT_EQ(poll(&poll_for, 1, 10'000), 1) << "the one that was taken is released already";
    Delivered third = next(loader);
    EXPECT_EQ(poll(&poll_for, 1, 0), 0);
    dl_loader_interrupt(loader.get());
    EXPECT_EQ(poll(&poll_for, 1, 0), 1) << "next returns DL_INTERRUPTED";
    EXPECT_EQ(next(loader, 0).status, DL_INTERRUPTED);
    EXPECT_EQ(poll(&poll_for, 1, 0), 0);
  }
}

TEST(Stop, AForkedChildIsToldAndTheParentGoesOn) {
  Dataset dataset = counting_dataset(1000);
  for (const char* workers : {"0", "2"}) {
    Loader loader = make_loader(dataset, {{"batch_size", "10"}, {"num_workers", workers}});
    Delivered held = next(loader);
    const int result = in_child([&] {
      Error error;
      dl_batch* batch = nullptr;
      bool good = dl_loader_next(loader.get(), -1, &batch, &error) == DL_ERR_FORKED;
      good = good && dl_loader_seek(loader.get(), 0, 0, &error) == DL_ERR_FORKED;
      dl_stats stats = {};
      stats.struct_size = sizeof stats;
      good = good && dl_loader_stats(loader.get(), &stats, &error) == DL_ERR_FORKED;
      dl_loader_cancel(loader.get());
      held.batch.reset();
      loader.reset();
      // The dataset stays usable.
      const Loader own = make_loader(dataset, {{"batch_size", "10"}, {"num_workers", kChildWorkers}});
      return good && next(own).values.size() == 10 ? 0 : 1;
    });
    EXPECT_EQ(result, 0);
    EXPECT_EQ(next(loader).values.front(), 10u);
  }
}

TEST(Stop, AThousandAbandonedLoadersLeaveNothing) {
  Dataset dataset = counting_dataset(1000);
  auto one = [&](int i) {
    Loader loader = make_loader(
        dataset, {{"batch_size", "10"}, {"num_workers", std::to_string(i % 3)}, {"shuffle", "full"}});
    for (int b = 0; b < i % 5; ++b) next(loader);
  };
  for (int i = 0; i < 100; ++i) one(i);
  const size_t threads = count_entries("/proc/self/task"), files = count_entries("/proc/self/fd");
  const int64_t before = resident_bytes();
  for (int i = 0; i < 1000; ++i) one(i);
  EXPECT_EQ(count_entries("/proc/self/task"), threads);
  EXPECT_EQ(count_entries("/proc/self/fd"), files);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(resident_bytes() - before, 1 << 20);
#else
  static_cast<void>(before);  // sanitizers keep freed memory
#endif
}

TEST(Stop, DestroyWithBatchesInEveryState) {
  Dataset dataset = counting_dataset(10'000);
  for (int taken = 0; taken < 12; ++taken) {
    std::vector<Delivered> held;
    Loader loader =
        make_loader(dataset, {{"batch_size", "10"}, {"num_workers", "3"}, {"prefetch_depth", "6"}});
    for (int b = 0; b < taken; ++b) held.push_back(next(loader));
    if (taken % 2 == 0) loader.reset();
    held.clear();
  }
  dl_loader_destroy(nullptr);
  dl_batch_release(nullptr);
  dl_dataset_destroy(nullptr);
  dl_options_destroy(nullptr);
  dl_cancel_token_destroy(nullptr);
}

}  // namespace
}  // namespace dataline::tests::stop_test
