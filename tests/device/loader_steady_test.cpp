// A loader on a device that runs on and on: nothing is made, locked or waited for any more, full batches cross in one
// copy, and several loaders and devices do not know of each other.
// SPDX-License-Identifier: Apache-2.0
#include <ctime>
#include <thread>

#include "tests/device/capture_support.h"
#include "tests/device/loader_support.h"
#include "tests/support/plan_stages.h"

namespace dataline::tests::loader_steady_test {
namespace {

using DeviceSteady = DeviceLoaders;

struct Made {
  int64_t allocations = fake_cuda_calls("cuMemAlloc") + fake_cuda_calls("cuMemAllocAsync");
  int64_t locks = fake_cuda_calls("cuMemHostRegister");
  int64_t events = fake_cuda_calls("cuEventCreate");
  int64_t streams = fake_cuda_calls("cuStreamCreate");
  int64_t pinned = fake_cuda_pinned_bytes();
  int64_t used = fake_cuda_used_bytes(0);
  bool operator==(const Made&) const = default;
};
void PrintTo(const Made& made, std::ostream* out) {
  *out << made.allocations << " allocations, " << made.locks << " locks, " << made.events << " events, "
       << made.streams << " streams, " << made.pinned << " bytes pinned, " << made.used << " used";
}

// The consumer's thread is on the hot path: the fake counts each wait, allocation and new object there as a misuse.
void take_epoch(const Loader& loader, CUstream stream, int64_t batches, bool hot = true) {
  dl_status status = DL_OK;
  Error error;
  fake_cuda_hot_path(hot ? 1 : 0);
  for (int64_t b = 0; b <= batches; ++b) {
    dl_batch* batch = nullptr;
    status = dl_loader_next(loader.get(), -1, &batch, &error);
    if (b == batches) break;
    ASSERT_EQ(status, DL_OK) << error.message;
    ASSERT_EQ(dl_batch_wait(batch, stream, &error), DL_OK) << error.message;
    if (b % 2 == 0) {
      dl_batch_release(batch);
    } else {
      ASSERT_EQ(dl_batch_release_on(batch, stream, &error), DL_OK) << error.message;
    }
  }
  fake_cuda_hot_path(0);
  EXPECT_EQ(status, DL_END_OF_EPOCH) << error.message;
}

// What a batch costs the trainer's thread, counted: a trainer that finds each batch ready, for one that waits may fill some
// itself, and has the device's context current.
TEST_F(DeviceSteady, ABatchCostsItsConsumerEightCallsOfTheDriver) {
  MixedReader reader;
  const Dataset dataset = reader.dataset(96);
  Consumer consumer;
  const Loader loader = make_loader(
      dataset,
      on_device({{"batch_size", "8"}, {"num_workers", "1"}, {"prefetch_depth", "4"}, {"epochs", "0"}}));
  CUcontext context = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), 0);
  ASSERT_EQ(cuCtxPushCurrent(context), 0);
  take_epoch(loader, consumer.stream(), 12);  // the stream is known then
  for (int taken = 0; taken < 12; ++taken) {
    dl_batch* batch = nullptr;
    Error error;
    dl_status status = DL_TIMEOUT;
    const int64_t before = fake_cuda_calls_here();
    while (status == DL_TIMEOUT) status = dl_loader_next(loader.get(), 0, &batch, &error);
    ASSERT_EQ(status, DL_OK) << error.message;
    ASSERT_EQ(dl_batch_wait(batch, consumer.stream(), &error), DL_OK) << error.message;
    dl_batch_release(batch);
    EXPECT_LE(fake_cuda_calls_here() - before, 8)
        << "wait: get, captured, which, wait; release: get, captured, which, record";
  }
  ASSERT_EQ(cuCtxPopCurrent(&context), 0);
  ASSERT_EQ(cuDevicePrimaryCtxRelease(0), 0);
}

TEST_F(DeviceSteady, AHundredEpochsMakeNothingAndNeverWaitOnTheConsumersThread) {
  MixedReader reader;
  const Dataset dataset = reader.dataset(96);
  for (const char* workers : {"1", "2"}) {
    Consumer consumer;
    const Loader loader =
        make_loader(dataset, on_device({{"batch_size", "8"}, {"num_workers", workers}, {"shuffle", "full"}}));
    take_epoch(loader, consumer.stream(), 12);
    const Made made;
    const dl_stats first = stats_of(loader);
    for (int epoch = 0; epoch < 100; ++epoch) take_epoch(loader, consumer.stream(), 12);
    EXPECT_EQ(Made(), made);
    const dl_stats last = stats_of(loader);
    EXPECT_EQ(last.pinned_bytes, first.pinned_bytes);
    EXPECT_EQ(last.device_bytes, first.device_bytes);
    EXPECT_EQ(last.held_bytes, first.held_bytes);
    EXPECT_EQ(last.batches, 101 * 12);
  }
}

// Workers that have waited for the consumer's copies once sleep again.
TEST_F(DeviceSteady, AJobWhoseConsumerRestsTakesNoCpu) {
  const Dataset dataset = counting_dataset(64);
  const Loader loader = make_loader(dataset, on_device({{"batch_size", "8"},
                                                        {"num_workers", "2"},
                                                        {"device_sync", "host"},
                                                        {"max_leases", "1"},
                                                        {"lease_overflow", "wait"}}));
  constexpr int64_t kMs = 1'000'000;
  dl_status status = DL_OK;
  Error error;
  const Batch held = next_batch(loader, status, error);
  EXPECT_EQ(next_batch(loader, status, error, 50 * kMs), nullptr) << "meanwhile the window is filled";
  const auto cpu_ns = [] {
    timespec time = {};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec * 1'000'000'000 + time.tv_nsec;
  };
  const int64_t before_ns = cpu_ns();
  EXPECT_EQ(next_batch(loader, status, error, 400 * kMs), nullptr);
  EXPECT_EQ(status, DL_TIMEOUT) << error.message;
  EXPECT_LT(cpu_ns() - before_ns, 50 * kMs);
}

// As a garbage collector drops batches, and another consumer takes some, while a framework captures.
TEST_F(DeviceSteady, AnEpochInsideOfACaptureBreaksItNowhere) {
  MixedReader reader;
  const Dataset dataset = reader.dataset(96);
  for (const int workers : {0, 1, 2}) {
    const Loader loader =
        make_loader(dataset, on_device({{"batch_size", "8"}, {"num_workers", std::to_string(workers)}}));
    Consumer consumer;
    Capturer capturer;
    capturer.begin(kCaptureGlobal);
    take_epoch(loader, consumer.stream(), 12, workers > 0);
    EXPECT_EQ(capturer.end(), 0);
    EXPECT_EQ(capture_mode_now(), kCaptureGlobal);
  }
}

std::vector<fake_cuda_operation> copies_to_device() {
  std::vector<fake_cuda_operation> all(static_cast<size_t>(fake_cuda_trace(nullptr, 0)));
  fake_cuda_trace(all.data(), static_cast<int64_t>(all.size()));
  std::erase_if(all, [](const fake_cuda_operation& one) { return one.kind != FAKE_CUDA_COPY_TO_DEVICE; });
  return all;
}

TEST_F(DeviceSteady, AFullBatchOfManyFieldsIsOneCopyAndStatsCountItsBytes) {
  MixedReader reader;
  const Dataset dataset = reader.dataset(80);
  Consumer consumer;
  const Loader loader =
      make_loader(dataset, on_device({{"batch_size", "8"}, {"epochs", "1"}, {"num_workers", "0"}}));
  const std::vector<Content> all = whole_job(loader, &consumer);
  const std::vector<fake_cuda_operation> copies = copies_to_device();
  EXPECT_EQ(copies.size(), 10u);
  int64_t bytes = 0;
  for (const fake_cuda_operation& copy : copies) {
    EXPECT_EQ(copy.pinned, 1);
    bytes += copy.bytes;
  }
  EXPECT_EQ(stats_of(loader).copied_bytes, bytes);
  int64_t delivered = 0;
  for (const Content& content : all) {
    for (const std::string& field : content.fields) delivered += static_cast<int64_t>(field.size());
  }
  EXPECT_GE(bytes, delivered);
}

// Shares of ragged samples that are hardly used are not sent.
TEST_F(DeviceSteady, OfRaggedSamplesOnlyWhatTheyHoldCrosses) {
  MixedReader reader;
  const Dataset dataset = reader.dataset(64);
  Consumer consumer;
  const Loader loader = make_loader(
      dataset,
      on_device(
          {{"batch_size", "32"}, {"epochs", "1"}, {"num_workers", "1"}, {"max_bytes_per_sample", "64KiB"}}));
  whole_job(loader, &consumer);
  EXPECT_LT(stats_of(loader).copied_bytes, 64 * (60 + 90 + 8) + 2 * 3 * 256);
  EXPECT_EQ(copies_to_device().size(), 2u) << "the label lies beside the text, whose shares come last";
}

TEST_F(DeviceSteady, SeveralLoadersOnSeveralDevicesRunAtOnce) {
  fake_cuda_devices(3, 64 << 20);
  MixedReader reader;
  const Dataset dataset = reader.dataset(101);
  const Settings job = {{"batch_size", "8"}, {"epochs", "3"}, {"shuffle", "full"}, {"num_workers", "1"}};
  const std::vector<Content> expected = whole_job(make_loader(dataset, job), nullptr);
  std::vector<std::vector<Content>> seen(6);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < seen.size(); ++i) {
    threads.emplace_back([&, i] {
      const int device = static_cast<int>(i) % 3;
      Consumer consumer(device);
      seen[i] = whole_job(make_loader(dataset, on_device(job, "cuda:" + std::to_string(device))), &consumer);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<Content>& one : seen) EXPECT_EQ(one, expected);
}

TEST_F(DeviceSteady, ThePlanNamesWhatCrossesAndWhatTheDeviceDoes) {
  MixedReader reader;
  const Dataset dataset = reader.dataset(16);
  constexpr int32_t kCpu = DL_DEVICE_CPU, kCuda = DL_DEVICE_CUDA;
  EXPECT_EQ(plan_of(make_loader(dataset, on_device())),
            (std::vector<Stage>{{"pixels", "gather", kCpu, 60, 60},
                                {"pixels", "copy", kCuda, 60, 60},
                                {"text", "gather", kCpu, -1, -1},
                                {"text", "copy", kCuda, -1, -1},
                                {"label", "gather", kCpu, 8, 8},
                                {"label", "copy", kCuda, 8, 8}}));
  const std::vector<Stage> shrunk =
      plan_of(make_loader(dataset, on_device({{"transform", "pixels: center_crop(2)"}})));
  EXPECT_EQ(shrunk[0], (Stage{"pixels", "center_crop(2)", kCpu, 60, 12})) << "fewer bytes cross";
  EXPECT_EQ(shrunk[1], (Stage{"pixels", "copy", kCuda, 12, 12}));
  const std::vector<Stage> grown = plan_of(make_loader(
      dataset,
      on_device({{"transform", "pixels: hflip(0.5), normalize(imagenet), chw; label: one_hot(16)"}})));
  if (grown[1].bytes_in == 60 * 4)
    GTEST_SKIP() << "built without kernels: the plan says that the host does it all";
  EXPECT_EQ(grown[0], (Stage{"pixels", "gather", kCpu, 60, 60}));
  EXPECT_EQ(grown[1], (Stage{"pixels", "copy", kCuda, 60 + 32, 60 + 32}))
      << "with a crop and flip for each row";
  EXPECT_EQ(grown[2], (Stage{"pixels", "hflip(0.5), normalize(imagenet), chw", kCuda, 60, 240}));
}

}  // namespace
}  // namespace dataline::tests::loader_steady_test
