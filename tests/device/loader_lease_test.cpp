// Leases on device memory: batches beyond max_leases, batches that outlive their loader, several streams on one batch.
// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "tests/device/loader_support.h"

namespace dataline::tests::loader_lease_test {
namespace {

using DeviceLeases = DeviceLoaders;
using ::testing::Contains;
using ::testing::StartsWith;

// Batch b of a job in file order, 8 samples each.
void expect_batch(const Content& content, int64_t b) {
  ASSERT_EQ(content.indices.size(), 8u);
  for (int64_t row = 0; row < 8; ++row) {
    const int64_t sample = b * 8 + row;
    ASSERT_EQ(content.indices[static_cast<size_t>(row)], sample);
    int64_t label = 0;
    std::memcpy(&label, content.fields[2].data() + row * 8, 8);
    ASSERT_EQ(label, sample);
    const char* pixels = content.fields[0].data() + row * MixedReader::kPixelBytes;
    for (int64_t at = 0; at < MixedReader::kPixelBytes; ++at)
      ASSERT_EQ(static_cast<uint8_t>(pixels[at]), MixedReader::byte_of(sample, at));
  }
}

TEST_F(DeviceLeases, AListOfAllBatchesWorksAndNothingIsOverwritten) {
  MixedReader reader;
  const Dataset dataset = reader.dataset(160);
  for (const char* workers : {"0", "2"}) {
    fresh_driver(5);
    {
      Consumer consumer;
      const Loader loader =
          make_loader(dataset, on_device({{"batch_size", "8"}, {"epochs", "1"}, {"num_workers", workers}}));
      const int64_t slots_bytes = stats_of(loader).device_bytes;
      EXPECT_GT(slots_bytes, 0);
      std::vector<Batch> held;
      dl_status status = DL_OK;
      Error error;
      while (status == DL_OK) held.push_back(next_batch(loader, status, error));
      ASSERT_EQ(status, DL_END_OF_EPOCH) << error.message;
      ASSERT_EQ(held.size(), 21u);
      held.pop_back();
      EXPECT_EQ(stats_of(loader).lease_copies, 16) << "four in slots, the others are copies";
      EXPECT_EQ(stats_of(loader).leases_held, 20);
      EXPECT_GT(stats_of(loader).device_bytes, slots_bytes);
      for (const Batch& batch : held) consumer.queue(batch.get());
      held.clear();  // the reads are only queued
      const std::vector<Content> seen = consumer.finish();
      for (size_t b = 0; b < seen.size(); ++b) expect_batch(seen[b], static_cast<int64_t>(b));
      EXPECT_EQ(stats_of(loader).leases_held, 0);
      EXPECT_EQ(stats_of(loader).device_bytes, slots_bytes);
    }
    expect_clean();
  }
}

TEST_F(DeviceLeases, ABatchBeyondMaxLeasesHasWhatKernelsMadeToo) {
  if (std::string(dl_build_info()).find("cuda-kernels") == std::string::npos)
    GTEST_SKIP() << "skipped: this build has no kernels";
  const Dataset dataset = counting_dataset(64);
  const Settings job = {
      {"batch_size", "8"}, {"max_leases", "1"}, {"num_workers", "0"}, {"transform", "data: cast(f32)"}};
  const Loader cpu = make_loader(dataset, job);
  for (const char* io : {"auto", "device"}) {
    Consumer consumer;
    const Loader loader = make_loader(dataset, on_device(job + Settings{{"io", io}}));
    dl_status status = DL_OK;
    Error error;
    std::vector<Batch> held;
    std::vector<Content> expected;
    ASSERT_EQ(dl_loader_seek(cpu.get(), 0, 0, &error), DL_OK) << error.message;
    for (int b = 0; b < 3; ++b) {
      held.push_back(next_batch(loader, status, error));
      ASSERT_EQ(status, DL_OK) << error.message;
      consumer.queue(held.back().get());
      expected.push_back(content_of(next_batch(cpu, status, error).get()));
    }
    EXPECT_EQ(stats_of(loader).lease_copies, 2);
    EXPECT_EQ(consumer.finish(), expected);
  }
}

TEST_F(DeviceLeases, ErrorAndWaitAreThoseOfTheCpu) {
  MixedReader reader;
  const Dataset dataset = reader.dataset(64);
  Consumer consumer;
  const Settings job = {{"batch_size", "8"}, {"max_leases", "1"}};
  for (const char* workers : {"0", "1"}) {
    const Loader refuses = make_loader(
        dataset, on_device(job + Settings{{"lease_overflow", "error"}, {"num_workers", workers}}));
    dl_status status = DL_OK;
    Error error;
    Batch first = next_batch(refuses, status, error);
    ASSERT_EQ(status, DL_OK);
    EXPECT_EQ(next_batch(refuses, status, error), nullptr);
    EXPECT_EQ(status, DL_ERR_LEASES_HELD);
    first.reset();
    EXPECT_NE(next_batch(refuses, status, error), nullptr) << error.message;

    const Loader waits =
        make_loader(dataset, on_device(job + Settings{{"lease_overflow", "wait"}, {"num_workers", workers}}));
    Batch held = next_batch(waits, status, error);
    EXPECT_EQ(next_batch(waits, status, error, 0), nullptr);
    EXPECT_EQ(status, DL_TIMEOUT);
    std::thread releaser([&] {
      consumer.queue(held.get());
      held.reset();
    });
    const Batch second = next_batch(waits, status, error);
    EXPECT_EQ(status, DL_OK);
    releaser.join();
    consumer.queue(second.get());
    const std::vector<Content> seen = consumer.finish();
    expect_batch(seen[0], 0);
    expect_batch(seen[1], 1);
  }
}

// What a device has no room for is told, and comes when there is room.
TEST_F(DeviceLeases, ACopyThatFindsNoDeviceMemoryIsAnErrorAndNothingIsLost) {
  MixedReader reader;
  const Dataset dataset = reader.dataset(64);
  fake_cuda_devices(1, 400 << 10);
  Consumer consumer;
  const Loader loader = make_loader(dataset, on_device({{"batch_size", "8"},
                                                        {"max_leases", "1"},
                                                        {"prefetch_depth", "1"},
                                                        {"num_workers", "1"},
                                                        {"max_bytes_per_sample", "16KiB"}}));
  std::vector<Batch> held;
  dl_status status = DL_OK;
  Error error;
  while (status == DL_OK) held.push_back(next_batch(loader, status, error));
  EXPECT_EQ(status, DL_ERR_NO_MEMORY) << error.message;
  EXPECT_NE(std::string(error.message).find("max_leases"), std::string::npos) << error.message;
  held.pop_back();
  ASSERT_GT(held.size(), 1u);
  const int64_t delivered = static_cast<int64_t>(held.size());
  held.clear();
  consumer.queue(next_batch(loader, status, error).get());
  EXPECT_EQ(status, DL_OK) << error.message;
  expect_batch(consumer.finish()[0], delivered);
}

TEST_F(DeviceLeases, ABatchOutlivesItsLoaderAndDataset) {
  for (const char* workers : {"0", "2"}) {
    Consumer consumer;
    std::vector<Batch> held;
    dl_status status = DL_OK;
    Error error;
    {
      MixedReader reader;
      const Dataset dataset = reader.dataset(64);
      const Loader loader = make_loader(dataset, on_device({{"batch_size", "8"}, {"num_workers", workers}}));
      for (int b = 0; b < 6; ++b) held.push_back(next_batch(loader, status, error));  // two of them copies
    }
    for (const Batch& batch : held) consumer.queue(batch.get());
    ASSERT_EQ(dl_batch_release_on(held[5].release(), consumer.stream(), &error), DL_OK) << error.message;
    ASSERT_EQ(dl_batch_release_on(held[2].release(), consumer.stream(), &error), DL_OK) << error.message;
    held.clear();
    const std::vector<Content> seen = consumer.finish();
    for (int64_t b = 0; b < 6; ++b) expect_batch(seen[static_cast<size_t>(b)], b);
  }
}

// One slot, two streams, three ways to give up a reference: whoever read must be done before the slot is written again.
TEST_F(DeviceLeases, EveryStreamOfABatchIsWaitedForBeforeItsMemoryIsWrittenAgain) {
  MixedReader reader;
  const Dataset dataset = reader.dataset(64);
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    fresh_driver(seed);
    {
      Consumer one, two;
      const Loader loader = make_loader(dataset, on_device({{"batch_size", "8"},
                                                            {"max_leases", "1"},
                                                            {"prefetch_depth", "1"},
                                                            {"num_workers", seed % 2 == 0 ? "1" : "0"},
                                                            {"epochs", "2"}}));
      dl_status status = DL_OK;
      Error error;
      for (int64_t b = 0; b < 16; ++b) {
        Batch batch = next_batch(loader, status, error);
        if (status == DL_END_OF_EPOCH) batch = next_batch(loader, status, error);
        ASSERT_EQ(status, DL_OK) << error.message;
        one.queue(batch.get());
        two.queue(batch.get());
        if (b % 3 == 0) continue;  // the plain release covers both
        if (b % 3 == 2) {
          dl_batch_retain(batch.get());
          ASSERT_EQ(dl_batch_release_on(batch.get(), two.stream(), &error), DL_OK) << error.message;
        }
        ASSERT_EQ(dl_batch_release_on(batch.release(), one.stream(), &error), DL_OK) << error.message;
      }
      for (Consumer* consumer : {&one, &two}) {
        const std::vector<Content> seen = consumer->finish();
        ASSERT_EQ(seen.size(), 16u);
        for (size_t b = 0; b < 16; ++b) expect_batch(seen[b], static_cast<int64_t>(b % 8));
      }
    }
    expect_clean();
  }
}

// That the checks above can fail: a consumer that does not wait is caught.
TEST_F(DeviceLeases, AStreamThatDoesNotWaitReadsTooEarly) {
  fake_cuda_only();
  MixedReader reader;
  const Dataset dataset = reader.dataset(64);
  {
    Consumer consumer;
    const Loader loader = make_loader(dataset, on_device({{"batch_size", "8"}, {"num_workers", "0"}}));
    dl_status status = DL_OK;
    Error error;
    const Batch batch = next_batch(loader, status, error);
    consumer.queue(batch.get(), /*wait=*/false);
    consumer.finish();
  }
  // Which of the two is found depends on which of the two streams comes first.
  EXPECT_THAT(misuses(),
              Contains(AnyOf(StartsWith("read-before-ready"), StartsWith("rewritten-before-done"))));
  fresh_driver(1);
}

struct DlTensor {  // DLPack 1.1: the part of DLManagedTensorVersioned that is read here
  uint32_t major, minor;
  void* context;
  void (*deleter)(void*);
  uint64_t flags;
  void* data;
  int32_t device_type, device_id, ndim;
};

TEST_F(DeviceLeases, ATensorsDeleterOrdersTheSlotBehindItsReader) {
  fake_cuda_devices(2, 64 << 20);
  MixedReader reader;
  const Dataset dataset = reader.dataset(160);
  Consumer consumer(1);
  const Loader loader = make_loader(
      dataset, on_device({{"batch_size", "8"}, {"max_leases", "1"}, {"num_workers", "1"}}, "cuda:1"));
  dl_status status = DL_OK;
  Error error;
  for (int64_t b = 0; b < 20; ++b) {
    Batch batch = next_batch(loader, status, error);
    ASSERT_EQ(status, DL_OK) << error.message;
    DLManagedTensorVersioned* handle = nullptr;
    ASSERT_EQ(dl_batch_dlpack_versioned(batch.get(), 0, &handle, &error), DL_OK) << error.message;
    auto* tensor = reinterpret_cast<DlTensor*>(handle);
    int32_t count = 0;
    EXPECT_EQ(tensor->data, dl_batch_views(batch.get(), &count)[0].data);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor->data) % 256, 0u);
    EXPECT_EQ(tensor->device_type, DL_DEVICE_CUDA);
    EXPECT_EQ(tensor->device_id, 1);
    consumer.queue(batch.get());
    batch.reset();
    std::thread([tensor] { tensor->deleter(tensor); }).join();  // any thread
  }
  const std::vector<Content> seen = consumer.finish();
  for (size_t b = 0; b < 20; ++b) expect_batch(seen[b], static_cast<int64_t>(b));
}

}  // namespace
}  // namespace dataline::tests::loader_lease_test
