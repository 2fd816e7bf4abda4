// Workers that stand still at any instruction while batches are left behind: each way of leaving them is taken
// thousands of times, and every batch that comes afterwards is the right one. See paused_threads.h.
// SPDX-License-Identifier: Apache-2.0
#include <random>

#include "tests/loader/stress/paused_threads.h"
#include "tests/loader/stress/watchdog.h"
#include "tests/support/fresh_seed.h"

namespace dataline::tests::paused_test {
namespace {

constexpr size_t kWorkers = 3;
constexpr int64_t kSamples = 400, kBatch = 8, kSteps = kSamples / kBatch;

// Small batches, three workers: most of a worker's time lies between two batches, where hand-offs are.
const Settings kJob = {{"batch_size", std::to_string(kBatch)},
                       {"num_workers", std::to_string(kWorkers)},
                       {"prefetch_depth", "4"}};

struct Job {
  Dataset dataset = counting_dataset(kSamples);
  Loader loader;
  std::mt19937_64 random;
  std::vector<std::string> states;
  int64_t rotation = 0;  // sample_indices: slot i is sample (i + rotation) % kSamples

  std::vector<int64_t> rotated(int64_t by) const {
    std::vector<int64_t> indices(kSamples);
    for (int64_t i = 0; i < kSamples; ++i) indices[static_cast<size_t>(i)] = (i + by) % kSamples;
    return indices;
  }
  std::pair<int64_t, int64_t> position() const {
    std::pair<int64_t, int64_t> at;
    EXPECT_EQ(dl_loader_position(loader.get(), &at.first, &at.second, nullptr), DL_OK);
    return at;
  }
};

struct Leaving {
  const char* name;
  bool with_indices;
  // Leaves what is loaded ahead behind; the next batch is that of job.position().
  void (*leave)(Job& job);
};

const Leaving kLeavings[] = {
    {"Seek", false,
     [](Job& job) {
       Error error;
       const auto epoch = static_cast<int64_t>(job.random() % 3),
                  step = static_cast<int64_t>(job.random() % kSteps);
       ASSERT_EQ(dl_loader_seek(job.loader.get(), epoch, step, &error), DL_OK) << error.message;
     }},
    {"LoadState", false,
     [](Job& job) {
       if (job.states.size() < 8 || job.random() % 16 == 0) job.states.push_back(save_state(job.loader));
       Error error;
       const std::string& state = job.states[job.random() % job.states.size()];
       ASSERT_EQ(dl_loader_state_load(job.loader.get(), state.c_str(), &error), DL_OK) << error.message;
     }},
    {"BeginEpochAfterABreak", false,
     [](Job& job) {
       Error error;
       ASSERT_EQ(dl_loader_begin_epoch(job.loader.get(), &error), DL_OK) << error.message;
     }},
    // At the start of an epoch the new order is this epoch's, and all that was loaded is of the old one.
    {"SetIndices", true, [](Job& job) {
       Error error;
       ASSERT_EQ(dl_loader_begin_epoch(job.loader.get(), &error), DL_OK) << error.message;
       job.rotation = static_cast<int64_t>(job.random() % kSamples);
       const std::vector<int64_t> indices = job.rotated(job.rotation);
       ASSERT_EQ(dl_loader_set_indices(job.loader.get(), indices.data(), kSamples, nullptr, nullptr, &error),
                 DL_OK)
           << error.message;
     }}};

class PausedWorkers : public ::testing::TestWithParam<Leaving> {};

TEST_P(PausedWorkers, NeitherHangNorDeliverWhatWasLeftBehind) {
  const Leaving& leaving = GetParam();
  const uint64_t seed = fresh_seed();
  Job job;
  job.random.seed(seed);
  Options options = make_options(kJob);
  Error error;
  if (leaving.with_indices) {
    const std::vector<int64_t> indices = job.rotated(0);
    ASSERT_EQ(dl_options_set_indices(options.get(), indices.data(), kSamples, nullptr, nullptr, &error),
              DL_OK);
  }
  dl_loader* made = nullptr;
  ASSERT_EQ(dl_loader_create(job.dataset.get(), options.get(), &made, &error), DL_OK) << error.message;
  job.loader.reset(made);

  Watchdog watchdog(job.loader, std::string(leaving.name) + ", seed " + std::to_string(seed));
  const PausedThreads paused(seed, kWorkers);
  int64_t left = 0;
  for (const auto end = stress_end(2.5); std::chrono::steady_clock::now() < end; ++left) {
    ASSERT_NO_FATAL_FAILURE(leaving.leave(job));
    const auto [epoch, step] = job.position();
    const auto taken = static_cast<int64_t>(job.random() % 3);
    for (int64_t i = 0; i < taken && step + i < kSteps; ++i) {
      const Delivered got = next(job.loader);
      ASSERT_EQ(got.status, DL_OK) << got.message;
      ASSERT_EQ(got.epoch, epoch);
      ASSERT_EQ(got.step, step + i);
      for (int64_t row = 0; row < kBatch; ++row) {
        ASSERT_EQ(got.values[static_cast<size_t>(row)],
                  static_cast<uint64_t>(((step + i) * kBatch + row + job.rotation) % kSamples))
            << "epoch " << epoch << ", step " << step + i << ", row " << row;
      }
    }
    watchdog.moved();
  }
  EXPECT_GT(paused.pauses(), 100) << "nobody was paused";
  std::printf("left behind %lld times, %lld pauses\n", static_cast<long long>(left),
              static_cast<long long>(paused.pauses()));
}

INSTANTIATE_TEST_SUITE_P(Leavings, PausedWorkers, ::testing::ValuesIn(kLeavings),
                         [](const auto& leaving) { return std::string(leaving.param.name); });

}  // namespace
}  // namespace dataline::tests::paused_test
