// num_workers=auto on one CPU and on several.
// SPDX-License-Identifier: Apache-2.0
#include <sched.h>

#include <functional>

#include "core/memory/machine_limits.h"
#include "tests/support/in_child.h"
#include "tests/support/job.h"

namespace dataline::tests::auto_workers_test {
namespace {

// Runs `body` on one CPU of those that this process may use.
int on_one_cpu(const std::function<int()>& body) {
  return in_child([&] {
    cpu_set_t all, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof all, &all) != 0) return 100;
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
      if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
    }
    if (sched_setaffinity(0, sizeof one, &one) != 0) return 101;
    return body();
  });
}

TEST(AutoWorkers, OnOneCpuRowsAreFilledByTheTrainersOwnThread) {
  EXPECT_EQ(on_one_cpu([] {
              const Loader loader = make_loader(counting_dataset(1000), {{"batch_size", "10"}});
              epoch_samples(loader);
              return stats_of(loader).num_workers;
            }),
            0);
}

TEST(AutoWorkers, OnOneCpuAHostsReaderHasAWorker) {
  EXPECT_EQ(on_one_cpu([] {
              TestReader reader;
              const Loader loader = make_loader(reader.dataset(100), {{"batch_size", "10"}});
              epoch_samples(loader);
              return stats_of(loader).num_workers;
            }),
            1);
}

TEST(AutoWorkers, AsAskedForOnOneCpuToo) {
  EXPECT_EQ(on_one_cpu([] {
              const Loader loader = make_loader(counting_dataset(1000), {{"num_workers", "2"}});
              epoch_samples(loader);
              return stats_of(loader).num_workers;
            }),
            2);
}

TEST(AutoWorkers, OnSeveralCpusAsManyAsThese) {
  if (available_cpus() < 2) GTEST_SKIP() << "skipped: one CPU";
  const Loader loader = make_loader(counting_dataset(1000), {{"batch_size", "10"}});
  EXPECT_EQ(stats_of(loader).num_workers, available_cpus());
}

TEST(AutoWorkers, WithoutAWorkerNothingIsTuned) {
  EXPECT_EQ(on_one_cpu([] {
              const Loader loader = make_loader(counting_dataset(1000), {{"batch_size", "10"}});
              return tuned_of(loader).mode;
            }),
            DL_TUNE_OFF);
}

}  // namespace
}  // namespace dataline::tests::auto_workers_test
