// A loader with a device delivers, batch by batch, what it delivers on the cpu: whatever the workers, the depth, the order,
// the policies; to a consumer that never waits on the host and releases each batch as soon as its reads are queued.
// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/files.h"
#include "tests/device/loader_support.h"
#include "tests/support/plan_stages.h"

namespace dataline::tests::loader_bytes_test {
namespace {

class LoaderBytes : public DeviceLoaders {
 protected:
  // Both in one process, the device's first.
  void expect_equal(const Dataset& dataset, const Settings& settings, uint64_t seed) {
    fresh_driver(seed);
    {
      Consumer consumer;
      const std::vector<Content> device = whole_job(make_loader(dataset, on_device(settings)), &consumer);
      const std::vector<Content> cpu = whole_job(make_loader(dataset, settings), nullptr);
      ASSERT_EQ(device, cpu);
      ASSERT_GT(cpu.size(), 2u);
    }
    expect_clean();
  }
};

TEST_F(LoaderBytes, OfEverySettingAreThoseOfTheCpu) {
  MixedReader reader;
  const Dataset dataset = reader.dataset(101);
  uint64_t seed = 1;
  for (const char* workers : {"0", "1", "2"}) {
    for (const char* depth : {"1", "2", "5"}) {
      for (const char* last : {"keep", "drop", "pad"}) {
        for (const char* shuffle : {"none", "full"}) {
          SCOPED_TRACE(::testing::Message()
                       << workers << " workers, depth " << depth << ", " << last << ", " << shuffle);
          expect_equal(dataset,
                       {{"batch_size", "8"},
                        {"epochs", "2"},
                        {"num_workers", workers},
                        {"prefetch_depth", depth},
                        {"last_batch", last},
                        {"shuffle", shuffle}},
                       ++seed);
        }
      }
    }
  }
}

TEST_F(LoaderBytes, WithBadSamplesAreThoseOfTheCpuUnderEveryPolicy) {
  MixedReader reader;
  reader.fails = [](int64_t index) { return index % 5 == 2 || (index >= 40 && index < 48); };
  const Dataset dataset = reader.dataset(101);
  uint64_t seed = 100;
  for (const char* workers : {"0", "1", "2"}) {
    for (const char* policy : {"raise", "replace", "quarantine"}) {
      for (const char* last : {"keep", "drop", "pad"}) {
        SCOPED_TRACE(::testing::Message() << workers << " workers, " << policy << ", " << last);
        expect_equal(dataset,
                     {{"batch_size", "8"},
                      {"epochs", "2"},
                      {"num_workers", workers},
                      {"on_error", policy},
                      {"last_batch", last}},
                     ++seed);
      }
    }
  }
}

TEST_F(LoaderBytes, OfRanksOfUnequalPartsAreThoseOfTheCpu) {
  MixedReader reader;
  const Dataset dataset = reader.dataset(33);
  for (const char* rank : {"0", "1", "2", "3"}) {
    expect_equal(dataset,
                 {{"global_batch_size", "6"},
                  {"world_size", "4"},
                  {"rank", rank},
                  {"epochs", "2"},
                  {"num_workers", "1"}},
                 7);
  }
}

TEST_F(LoaderBytes, OfTokenWindowsAreThoseOfTheCpu) {
  const TempDir files;
  std::vector<uint16_t> tokens(1500);
  for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<uint16_t>(i * 31);
  const std::string path = files.write("tokens.bin", bytes_of(tokens));
  uint64_t seed = 200;
  for (const char* views : {"true", "false"}) {
    const Opened opened = open_dataset("tokens:" + path + "?dtype=u16&length=16&stride=5&views=" + views);
    ASSERT_EQ(opened.status, DL_OK) << opened.error.message;
    for (const char* transform : {"", "x, y: cast(i64)", "x: cast(i64)", "y: cast(f32)"}) {
      SCOPED_TRACE(::testing::Message() << "views " << views << ", " << transform);
      expect_equal(opened.dataset,
                   {{"batch_size", "10"},
                    {"epochs", "2"},
                    {"num_workers", "1"},
                    {"shuffle", "full"},
                    {"transform", transform}},
                   ++seed);
    }
  }
}

// Where the device takes both windows as they are stored, the tokens of both are sent once.
TEST_F(LoaderBytes, OfTokenWindowsThatOverlapCrossOnce) {
  const TempDir files;
  const std::string path = files.write("tokens.bin", std::string(3000, 't'));
  for (const char* views : {"true", "false"}) {
    const Opened opened = open_dataset("tokens:" + path + "?dtype=u16&length=16&views=" + views);
    ASSERT_EQ(opened.status, DL_OK) << opened.error.message;
    const std::vector<Stage> plan =
        plan_of(make_loader(opened.dataset, on_device({{"transform", "x, y: cast(i64)"}})));
    if (plan.front().text != "gather")
      GTEST_SKIP() << "built without kernels: the plan says that the host does it all";
    EXPECT_EQ(plan, (std::vector<Stage>{{"x", "gather", DL_DEVICE_CPU, 34, 34},
                                        {"x", "copy", DL_DEVICE_CUDA, 34, 34},
                                        {"x", "cast(i64)", DL_DEVICE_CUDA, 32, 128},
                                        {"y", "with x", DL_DEVICE_CUDA, 0, 0},
                                        {"y", "cast(i64)", DL_DEVICE_CUDA, 32, 128}}))
        << "views " << views;
  }
}

TEST_F(LoaderBytes, OfTransformedSamplesAreThoseOfTheCpu) {
  MixedReader reader;
  const Dataset dataset = reader.dataset(67);
  uint64_t seed = 300;
  for (const char* workers : {"0", "2"}) {
    for (const char* transform :
         {"pixels: normalize(imagenet), chw", "pixels: cast(f16); label: cast(i32)",
          "pixels: hflip(0.5), random_crop(3, padding=1), normalize(imagenet)",
          "pixels: hflip(0.5), scale(0.25), chw; label: one_hot(67)", "pixels: center_crop(2)",
          "pixels: flatten, scale(2), cast(bf16); text: pad_to(90)"}) {
      SCOPED_TRACE(transform);
      expect_equal(dataset,
                   {{"batch_size", "8"},
                    {"epochs", "2"},
                    {"num_workers", workers},
                    {"shuffle", "full"},
                    {"transform", transform}},
                   ++seed);
    }
  }
}

// Seeds draw other delays: the same job again and again.
TEST_F(LoaderBytes, DoNotDependOnDelays) {
  MixedReader reader;
  const Dataset dataset = reader.dataset(64);
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    expect_equal(dataset,
                 {{"batch_size", "4"},
                  {"epochs", "3"},
                  {"num_workers", seed % 2 == 0 ? "1" : "2"},
                  {"prefetch_depth", "2"},
                  {"max_leases", "1"},
                  {"shuffle", "full"}},
                 seed);
  }
}

}  // namespace
}  // namespace dataline::tests::loader_bytes_test
