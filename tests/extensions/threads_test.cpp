// Workers on threads of the host's.
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/extensions/extensions_support.h"

namespace dataline::tests::threads_test {
namespace {

struct Pool {
  std::mutex mutex;
  std::vector<std::thread> threads;
  std::vector<std::string> names;
  std::atomic<int> started{0}, ended{0};
  int refuse_from = 1000;
  bool never_runs = false;
};

class Threads : public Extensions {
 protected:
  Threads() {
    threads_.struct_size = sizeof threads_;
    threads_.context = &pool_;
    threads_.start = [](void* context, int32_t, const char* name) {
      auto& pool = *static_cast<Pool*>(context);
      ++pool.started;
      const std::lock_guard<std::mutex> lock(pool.mutex);
      pool.names.emplace_back(name);
    };
    threads_.end = [](void* context, int32_t) { ++static_cast<Pool*>(context)->ended; };
  }
  void lend() {
    threads_.run = [](void* context, int32_t worker, const char*, void (*main)(void*), void* argument) {
      auto& pool = *static_cast<Pool*>(context);
      if (worker >= pool.refuse_from) return 11;
      if (pool.never_runs) {
        waiting_ = main;
        argument_ = argument;
        return 0;
      }
      const std::lock_guard<std::mutex> lock(pool.mutex);
      pool.threads.emplace_back(main, argument);
      return 0;
    };
  }
  // All samples of an epoch.
  std::string run_epoch(const char* workers, int64_t timeout_ns = -1, const char* tune = "auto") {
    add_format();
    EXPECT_EQ(dl_extensions_set_threads(extensions_, &threads_, &error_), DL_OK) << error_.message;
    use();
    dl_dataset* dataset = open("mine:anywhere");
    EXPECT_EQ(dl_options_set(options_, "num_workers", workers, &error_), DL_OK);
    EXPECT_EQ(dl_options_set(options_, "tune", tune, &error_), DL_OK);
    dl_loader* loader = nullptr;
    dl_status status = dl_loader_create(dataset, options_, &loader, &error_);
    dl_batch* batch = nullptr;
    if (status == DL_OK) status = dl_loader_next(loader, timeout_ns, &batch, &error_);
    dl_batch_release(batch);
    dl_loader_destroy(loader);
    dl_dataset_destroy(dataset);
    for (std::thread& thread : pool_.threads) thread.join();
    return refused(status);
  }

  static void (*waiting_)(void*);
  static void* argument_;
  Pool pool_;
  dl_threads threads_ = {};
};
void (*Threads::waiting_)(void*) = nullptr;
void* Threads::argument_ = nullptr;

TEST_F(Threads, OfTheLibraryTellTheHostWhenTheyStartAndEnd) {
  EXPECT_EQ(run_epoch("2"), "DL_OK ");
  EXPECT_EQ(pool_.started, 2);
  EXPECT_EQ(pool_.ended, 2);
  EXPECT_THAT(pool_.names, ::testing::UnorderedElementsAre("dataline-0", "dataline-1"));
}

TEST_F(Threads, OfTheHostDoTheWork) {
  lend();
  EXPECT_EQ(run_epoch("2"), "DL_OK ");
  EXPECT_EQ(pool_.threads.size(), 2u);
  EXPECT_EQ(pool_.ended, pool_.started);
}

TEST_F(Threads, ThatTheHostRefusesAreAnErrorAndTheOthersEnd) {
  lend();
  pool_.refuse_from = 1;
  EXPECT_THAT(run_epoch("3"), HasSubstr("DL_ERR_THREAD worker 2 of 3"));
  EXPECT_EQ(error_.os_error, 11);
}

TEST_F(Threads, OfTheHostAreNoMoreForTuningThatWasNotAskedFor) {
  lend();
  pool_.refuse_from = 0;
  EXPECT_THAT(run_epoch("auto", -1, "off"), HasSubstr("DL_ERR_THREAD worker 1 of "));
  const std::string untuned = error_.message;
  EXPECT_THAT(run_epoch("auto"), HasSubstr("DL_ERR_THREAD worker 1 of "));
  EXPECT_EQ(error_.message, untuned);
}

// As where a container allows few threads.
TEST_F(Threads, AutomaticWorkersAreThoseThatTheHostGives) {
  lend();
  pool_.refuse_from = 1;
  EXPECT_EQ(run_epoch("auto"), "DL_OK ");
  EXPECT_EQ(pool_.threads.size(), 1u);
}

TEST_F(Threads, ThatOnlyTuningWouldUseMayBeRefused) {
  lend();
  EXPECT_EQ(run_epoch("auto"), "DL_OK ");
  const auto needed = static_cast<int>(pool_.threads.size());
  if (needed >= 8) GTEST_SKIP() << "skipped: tuning would use no thread beyond the CPUs";
  pool_.threads.clear();
  pool_.refuse_from = needed + 1;
  EXPECT_THAT(run_epoch("auto", -1, "on"), ::testing::StartsWith("DL_OK"));
  EXPECT_EQ(pool_.threads.size(), static_cast<size_t>(needed) + 1);
}

// A pool with no thread free: destroy does not wait for what never began.
TEST_F(Threads, ThatTheHostNeverRunsDoNotHoldUpDestroy) {
  lend();
  pool_.never_runs = true;
  EXPECT_EQ(run_epoch("1", 0), "DL_TIMEOUT ");
  EXPECT_EQ(pool_.started, 0);
  waiting_(argument_);  // later, after the loader is gone
  EXPECT_EQ(pool_.started, 0);
}

}  // namespace
}  // namespace dataline::tests::threads_test
