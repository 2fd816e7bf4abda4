// Runs that must not depend on how they are loaded, and sizes at the edges. Case numbers as in jobs_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "tests/conformance/files.h"

namespace dataline::tests::runs_test {
namespace {

int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(Conformance, Case04RandomAugmentationIsTheSameForAnyWorkersAndDepth) {
  constexpr int64_t kSamples = 60;
  TempDir dir;
  const std::string path =
      dir.write("images.npy", npy_file("|u1", "(60, 9, 8, 3)", pattern_bytes(kSamples * 216)));
  Opened opened = open_dataset("npy:" + path + "?axes=HWC");
  ASSERT_EQ(opened.status, DL_OK) << opened.error.message;
  std::string first;
  for (const char* workers : {"0", "1", "2", "3", "8"}) {
    for (const char* depth : {"1", "4", "7"}) {
      Loader loader = make_loader(
          opened.dataset, {{"batch_size", "7"},
                           {"shuffle", "full"},
                           {"seed", "3"},
                           {"num_workers", workers},
                           {"prefetch_depth", depth},
                           {"transform", "random_crop([8, 8], padding=2), hflip(0.5), normalize(imagenet)"}});
      const std::string bytes = epoch_bytes(loader) + epoch_bytes(loader);
      if (first.empty()) first = bytes;
      EXPECT_EQ(bytes.size(), size_t{2} * kSamples * 8 * 8 * 3 * 4);
      EXPECT_TRUE(bytes == first) << workers << " workers, depth " << depth;
    }
  }
  EXPECT_TRUE(first.substr(0, first.size() / 2) != first.substr(first.size() / 2)) << "each epoch draws anew";
}

TEST(Conformance, Case08OneSampleAndBatchesLargerThanTheSet) {
  for (const char* workers : {"0", "2"}) {
    for (int64_t samples : {1, 2, 5}) {
      for (const char* last : {"keep", "drop", "pad"}) {
        SCOPED_TRACE(std::string(last) + " " + std::to_string(samples));
        Loader loader = make_loader(counting_dataset(samples), {{"batch_size", "8"},
                                                                {"last_batch", last},
                                                                {"epochs", "2"},
                                                                {"shuffle", "full"},
                                                                {"num_workers", workers}});
        for (int epoch = 0; epoch < 2; ++epoch) {
          if (*last != 'd') {
            Delivered got = next(loader);
            ASSERT_EQ(got.status, DL_OK) << got.message;
            EXPECT_EQ(got.valid, samples);
            EXPECT_EQ(static_cast<int64_t>(got.values.size()), *last == 'p' ? 8 : samples);
            got.values.resize(static_cast<size_t>(samples));
            std::sort(got.values.begin(), got.values.end());
            for (int64_t i = 0; i < samples; ++i)
              EXPECT_EQ(got.values[static_cast<size_t>(i)], static_cast<uint64_t>(i));
          }
          EXPECT_EQ(next(loader).status, DL_END_OF_EPOCH);
        }
        EXPECT_EQ(next(loader).status, DL_END);
        EXPECT_EQ(stats_of(loader).dropped, *last == 'd' ? 2 * samples : 0);
      }
    }
  }
}

TEST(Conformance, Case10OptionsChangedOrDestroyedAfterCreateChangeNothing) {
  const Dataset dataset = counting_dataset(20);
  Options options = make_options({{"batch_size", "5"}, {"num_workers", "1"}});
  Error error;
  dl_loader* raw = nullptr;
  ASSERT_EQ(dl_loader_create(dataset.get(), options.get(), &raw, &error), DL_OK) << error.message;
  Loader loader(raw);
  ASSERT_EQ(dl_options_set(options.get(), "batch_size", "3", &error), DL_OK);
  ASSERT_EQ(dl_options_set(options.get(), "shuffle", "full", &error), DL_OK);
  EXPECT_EQ(next(loader).values, (std::vector<uint64_t>{0, 1, 2, 3, 4}));
  options.reset();
  EXPECT_EQ(next(loader).values, (std::vector<uint64_t>{5, 6, 7, 8, 9}));
}

TEST(Conformance, Case15MemoryDoesNotGrowFromEpochToEpoch) {
  Loader loader =
      make_loader(counting_dataset(5000), {{"batch_size", "50"}, {"num_workers", "2"}, {"shuffle", "full"}});
  for (int epoch = 0; epoch < 20; ++epoch) epoch_batches(loader);
  const int64_t before = resident_bytes(), held = stats_of(loader).held_bytes;
  for (int epoch = 0; epoch < 200; ++epoch) epoch_batches(loader);
  EXPECT_EQ(stats_of(loader).held_bytes, held);
  EXPECT_LT(resident_bytes() - before, 4 << 20);
}

}  // namespace
}  // namespace dataline::tests::runs_test
