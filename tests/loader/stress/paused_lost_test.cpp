// Workers that stand still at any instruction while batches are lost for want of memory and loaded again: every step is
// told or delivered as if memory had never run out. See paused_threads.h. operator new is replaced for this program.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <new>
#include <random>

#include "tests/loader/stress/paused_threads.h"
#include "tests/loader/stress/watchdog.h"
#include "tests/support/fresh_seed.h"

namespace {
thread_local bool next_one_fails = false;
}

void* operator new(size_t bytes) {
  void* memory = next_one_fails ? nullptr : std::malloc(bytes);
  next_one_fails = false;
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new[](size_t bytes) { return operator new(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

namespace dataline::tests::paused_lost_test {
namespace {

constexpr size_t kWorkers = 3;
constexpr int64_t kSamples = 400, kBatch = 8;

// Its report is the only thing that a worker allocates for a batch.
bool is_bad(int64_t index) { return index % 24 == 5; }

TEST(PausedWorkers, LoadWhatWasLostForWantOfMemoryAgain) {
  const uint64_t seed = fresh_seed();
  TestReader reader;
  reader.fails = is_bad;
  std::atomic<uint64_t> draws{seed};
  reader.before = [&](const int64_t* indices, int64_t count) {
    next_one_fails =
        std::any_of(indices, indices + count, is_bad) && std::mt19937_64(draws.fetch_add(1))() % 2 == 0;
  };
  const Dataset dataset = reader.dataset(kSamples);
  const Loader loader = make_loader(dataset, {{"batch_size", std::to_string(kBatch)},
                                              {"num_workers", std::to_string(kWorkers)},
                                              {"prefetch_depth", "4"}});
  Watchdog watchdog(loader, "lost batches, seed " + std::to_string(seed));
  const PausedThreads paused(seed, kWorkers);
  int64_t lost = 0, told = 0, step = 0;
  for (const auto end = stress_end(2.5); std::chrono::steady_clock::now() < end; watchdog.moved()) {
    const Delivered got = next(loader);
    if (got.status == DL_ERR_NO_MEMORY) {
      ++lost;
      continue;
    }
    if (got.status == DL_ERR_BAD_SAMPLE) {
      ++told;
      continue;
    }
    if (got.status == DL_END_OF_EPOCH) {
      ASSERT_EQ(std::exchange(step, 0), kSamples / kBatch);
      continue;
    }
    ASSERT_EQ(got.status, DL_OK) << got.message;
    ASSERT_EQ(got.step, step);
    std::vector<uint64_t> expected;
    for (int64_t index = step * kBatch; index < (step + 1) * kBatch; ++index) {
      if (!is_bad(index)) expected.push_back(static_cast<uint64_t>(index));
    }
    ASSERT_EQ(got.values, expected);
    ++step;
  }
  std::printf("lost %lld times, told %lld, %lld pauses\n", static_cast<long long>(lost),
              static_cast<long long>(told), static_cast<long long>(paused.pauses()));
  EXPECT_GT(lost, 0);
  EXPECT_GT(told, 0);
  EXPECT_GT(paused.pauses(), 100);
  const dl_stats stats = stats_of(loader);
  EXPECT_EQ(stats.samples + stats.skipped, stats.batches * kBatch);
}

}  // namespace
}  // namespace dataline::tests::paused_lost_test
