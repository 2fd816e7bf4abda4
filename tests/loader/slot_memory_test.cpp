// What a loader's slots take of memory: what is used, not what could be.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "tests/support/job.h"
#include "tests/support/peak_growth.h"

namespace dataline::tests::slot_memory_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr int64_t kMiB = 1 << 20;

// Samples of `bytes(i)` bytes each, all of value i.
class Texts {
 public:
  template <typename Bytes>
  Texts(int64_t count, Bytes bytes) {
    offsets_.push_back(0);
    for (int64_t i = 0; i < count; ++i) {
      data_.append(static_cast<size_t>(bytes(i)), static_cast<char>(i));
      offsets_.push_back(static_cast<int64_t>(data_.size()));
    }
  }
  Dataset dataset() const {
    return array_dataset(
        ragged_array_of("text", DL_DTYPE_U8, {static_cast<int64_t>(data_.size())}, data_.data(), offsets_));
  }
  const std::string& data() const { return data_; }

 private:
  std::string data_;
  std::vector<int64_t> offsets_;
};

std::string epoch_text(const Loader& loader) {
  std::string text;
  for (;;) {
    const Delivered got = next(loader);
    if (got.status != DL_OK) {
      EXPECT_EQ(got.status, DL_END_OF_EPOCH) << got.message;
      return text;
    }
    int32_t count = 0;
    const dl_view* view = dl_batch_views(got.batch.get(), &count);
    text.append(static_cast<const char*>(view->data), static_cast<size_t>(view->shape[0]));
  }
}

TEST(SlotMemory, OfSmallRowsUnderALargeLimitIsWhatTheRowsNeed) {
  const Texts texts(1000, [](int64_t i) { return i == 500 ? kMiB : 200 + i; });
  const Dataset dataset = texts.dataset();
  const PeakGrowth growth;
  // 9 slots of 256 shares of 1 MiB: 2.3 GiB if all were touched.
  const Loader loader = make_loader(dataset, {{"batch_size", "256"}, {"num_workers", "2"}});
  for (int epoch = 0; epoch < 5; ++epoch) EXPECT_TRUE(epoch_text(loader) == texts.data());
  EXPECT_LT(growth.bytes(), 64 * kMiB);
  const dl_stats stats = stats_of(loader);
  EXPECT_LT(stats.held_bytes, 32 * kMiB);
  EXPECT_GT(stats.arena_bytes, 3 * 256 * 4096) << "a page of each share that was written";
  EXPECT_LE(stats.arena_bytes, stats.held_bytes);
}

TEST(SlotMemory, IsCountedAsItIsTouchedAndNotTwice) {
  const Texts texts(64, [](int64_t i) { return i == 0 ? kMiB : 10'000; });
  const Loader loader = make_loader(texts.dataset(), {{"batch_size", "64"}, {"num_workers", "0"}});
  const int64_t before = stats_of(loader).held_bytes;
  for (int epoch = 0; epoch < 12; ++epoch) epoch_text(loader);  // goes through every slot
  const int64_t after = stats_of(loader).held_bytes;
  // Each slot: three pages a row; packed, those behind the first fill 154 pages of the second's share.
  const int64_t slots = 5, rows = kMiB + 63 * 3 * 4096, packed = (154 - 3) * 4096;
  EXPECT_GE(after - before, rows + packed);
  EXPECT_LE(after - before, slots * (rows + packed));
  EXPECT_EQ((after - before) % (rows + packed), 0);
  for (int epoch = 0; epoch < 12; ++epoch) epoch_text(loader);
  EXPECT_EQ(stats_of(loader).held_bytes, after);
}

TEST(SlotMemory, BeyondTheBudgetIsAnErrorOfTheCallThatNamesTheOptionsAndLosesNothing) {
  const Texts texts(32, [](int64_t i) { return i == 20 ? 4 * kMiB : 100; });
  const Settings job = {{"batch_size", "8"}, {"num_workers", "0"}, {"max_bytes_per_sample", "8MiB"}};
  Settings tight = job;
  tight.emplace_back("memory_budget", "1MiB");
  for (const char* policy : {"raise", "replace", "quarantine"}) {
    Settings settings = tight;
    settings.emplace_back("on_error", policy);
    const Loader loader = make_loader(texts.dataset(), settings);
    ASSERT_EQ(next(loader).status, DL_OK);
    ASSERT_EQ(next(loader).status, DL_OK);
    for (int attempt = 0; attempt < 3; ++attempt) {
      const Delivered got = next(loader);
      EXPECT_EQ(got.status, DL_ERR_OVER_BUDGET) << got.message;
      for (const char* part : {"step 2", "sample 20", "memory_budget", "1048576", "batch_size"})
        EXPECT_THAT(got.message, HasSubstr(part)) << policy;
    }
    const dl_stats stats = stats_of(loader);
    EXPECT_EQ(stats.bad, 0) << "the sample is good";
    EXPECT_EQ(stats.skipped, 0);
    EXPECT_EQ(stats.replaced, 0);
    // The same job with more memory goes on there.
    Error error;
    const std::string state = save_state(loader);
    const Loader roomy = make_loader(texts.dataset(), [&] {
      Settings settings_with_room = job;
      settings_with_room.emplace_back("on_error", policy);
      return settings_with_room;
    }());
    ASSERT_EQ(dl_loader_state_load(roomy.get(), state.c_str(), &error), DL_OK) << error.message;
    EXPECT_TRUE(epoch_text(roomy) == texts.data().substr(16 * 100));
  }
}

TEST(SlotMemory, AHostsAllocatorGivesTheSharesAsAddressSpaceThatIsNotTouched) {
  static int64_t frames_bytes = 0;
  dl_allocator allocator = {};
  allocator.struct_size = sizeof allocator;
  allocator.allocate = [](void*, size_t bytes, size_t alignment, int32_t kind) -> void* {
    if (kind == DL_MEMORY_FRAMES) frames_bytes += static_cast<int64_t>(bytes);
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  };
  allocator.release = [](void*, void* memory, size_t, size_t, int32_t) { std::free(memory); };
  const Texts texts(1000, [](int64_t i) { return i == 0 ? kMiB : 300; });
  const Options options = make_options({{"batch_size", "250"}, {"num_workers", "1"}});
  Error error;
  ASSERT_EQ(dl_options_set_allocator(options.get(), &allocator, &error), DL_OK) << error.message;
  const PeakGrowth growth;
  dl_loader* raw = nullptr;
  ASSERT_EQ(dl_loader_create(texts.dataset().get(), options.get(), &raw, &error), DL_OK) << error.message;
  const Loader loader(raw);
  EXPECT_TRUE(epoch_text(loader) == texts.data());
  EXPECT_GE(frames_bytes, 8 * 250 * kMiB);
  EXPECT_LT(growth.bytes(), 64 * kMiB);
}

TEST(SlotMemory, OfASmallSetIsNeverPlannedForMoreThanTheSet) {
  const Dataset dataset = counting_dataset(100);
  const auto held = [&](const Settings& settings) {
    const Loader loader = make_loader(dataset, settings);
    const std::vector<uint64_t> samples = epoch_samples(loader);
    EXPECT_EQ(samples.size(), 100u);
    return stats_of(loader).held_bytes;
  };
  EXPECT_LT(held({{"batch_size", "100000000"}}), kMiB);
  EXPECT_LT(held({{"prefetch_depth", "1000000"}}), kMiB);
  EXPECT_LT(held({{"batch_size", "100000000"}, {"prefetch_depth", "1000000"}, {"shuffle", "full"}}), kMiB);
  EXPECT_LT(held({{"global_batch_size", "100000000"}, {"rank", "0"}, {"world_size", "1"}}), kMiB);
}

// Pads are rows of the batch: they were asked for.
TEST(SlotMemory, OfPaddedBatchesIsPlannedWhole) {
  const Dataset dataset = counting_dataset(100);
  const auto [status, message] = create_error(
      dataset, {{"batch_size", "100000000000"}, {"last_batch", "pad"}, {"memory_budget", "1GiB"}});
  EXPECT_EQ(status, DL_ERR_OVER_BUDGET) << message;
  EXPECT_THAT(message, HasSubstr("the plan needs "));
  EXPECT_THAT(message, HasSubstr("raise memory_budget to at least "));
  const Loader loader = make_loader(dataset, {{"batch_size", "1000"}, {"last_batch", "pad"}});
  const Delivered got = next(loader);
  EXPECT_EQ(got.values.size(), 1000u);
  EXPECT_EQ(got.valid, 100);
}

// A reader of texts that are all empty.
Dataset reader_of_nothing(int64_t count) {
  return reader_dataset({field_of("text", DL_DTYPE_U8, {-1})}, count,
                        [](void*, dl_reader_request*) { return 0; });
}

TEST(SlotMemory, OfRecordsThatMayBeLargeHasRoomForFewOfThemAtATime) {
  const Loader loader = make_loader(reader_of_nothing(256), {{"batch_size", "256"}, {"num_workers", "0"}});
  EXPECT_LT(stats_of(loader).held_bytes, 16 * kMiB) << "256 records of up to 1 MiB are read in runs of 8 MiB";
  EXPECT_EQ(next(loader).indices.size(), 256u);
}

// As many slots of the largest batches as an integer counts, and more than it counts: of rows, and of shares.
TEST(SlotMemory, BeyondAnyMachineIsRefusedWithTheOptionsToLower) {
  TestReader numbers;
  const Dataset dense = numbers.dataset(int64_t{1} << 61);
  const Dataset ragged = reader_of_nothing(int64_t{1} << 50);
  const Settings at_once = {{"num_workers", "1"}, {"prefetch_depth", "1000000"}};
  const auto refusal = [&](const Dataset& dataset, const char* batch_size, const char* most_bytes) {
    Settings settings = at_once;
    settings.emplace_back("batch_size", batch_size);
    settings.emplace_back("max_bytes_per_sample", most_bytes);
    const auto [status, message] = create_error(dataset, settings);
    EXPECT_EQ(status, DL_ERR_OVER_BUDGET) << message;
    EXPECT_THAT(message, HasSubstr("the plan does not fit in any memory"));
    EXPECT_THAT(message, HasSubstr("; lower batch_size, prefetch_depth, max_leases or max_bytes_per_sample"));
  };
  refusal(dense, "100000000", "1MiB");      // 2.4 * 10^15 bytes
  refusal(dense, "1000000000000", "1MiB");  // 2.4 * 10^19
  refusal(ragged, "1000", "10GiB");         // 10^16
  refusal(ragged, "1000", "32GiB");         // 3.4 * 10^19
}

TEST(SlotMemory, BeyondAnyMachineIsRefusedAndNoBudgetIsAskedFor) {
  TestReader numbers;
  const auto [status, message] =
      create_error(numbers.dataset(int64_t{1} << 61), {{"batch_size", "100000000000"},
                                                       {"prefetch_depth", "1000"},
                                                       {"max_leases", "1000"},
                                                       {"num_workers", "1"}});
  EXPECT_EQ(status, DL_ERR_OVER_BUDGET) << message;
  EXPECT_THAT(message, StartsWith("the plan does not fit in any memory (1004 slots of "));
  EXPECT_THAT(message, HasSubstr("; lower batch_size, prefetch_depth, max_leases or max_bytes_per_sample"));
}

// max_leases is a limit: slots are planned for what can be held, and further leases are copies while they are held.
TEST(SlotMemory, OfLeasesIsBoundedByTheBatchesOfTheJobByBytesAndByTheBudget) {
  const Dataset dataset = counting_dataset(200'000);
  const Settings job = {{"batch_size", "100000"}, {"num_workers", "0"}};  // slots of 2.4 MB, two an epoch
  for (const char* leases : {"1000", "1000000"}) {
    const auto arena_bytes = [&](const Settings& more) {
      const Loader loader = make_loader(dataset, with(with(job, {{"max_leases", leases}}), more));
      EXPECT_EQ(next(loader).status, DL_OK);
      return stats_of(loader).arena_bytes;
    };
    EXPECT_LT(arena_bytes({{"epochs", "1"}}), 8 * kMiB) << "one that loads, and two that are held";
    EXPECT_LT(arena_bytes({}), 72 * kMiB);
    EXPECT_LT(arena_bytes({{"memory_budget", "16MiB"}}), 16 * kMiB);
  }
}

TEST(SlotMemory, BeyondTheBudgetBecauseOfTheOrderNamesTheOrder) {
  const auto [status, message] = create_error(
      counting_dataset(60'000), {{"shuffle", "full"}, {"batch_size", "16"}, {"memory_budget", "100KiB"}});
  EXPECT_EQ(status, DL_ERR_OVER_BUDGET) << message;
  EXPECT_THAT(message,
              HasSubstr("; the tables of shuffle=full take 360000 bytes of it: raise memory_budget to"));
  EXPECT_THAT(message, Not(HasSubstr("batch_size")));
}

}  // namespace
}  // namespace dataline::tests::slot_memory_test
