// What else a loader meets on real machines: kernels of the consumer's own that fault, several devices of which one is
// lost, and devices that share the host's memory.
// SPDX-License-Identifier: Apache-2.0
#include "tests/device/loader_support.h"

namespace dataline::tests::loader_devices_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const Settings kJob = {{"batch_size", "8"}, {"epochs", "2"}, {"shuffle", "full"}};

class LoaderDevices : public DeviceLoaders {
 protected:
  LoaderDevices() { fake_cuda_only(); }
  // Launches a kernel of the consumer's that stores 8 bytes at an address that is not aligned to them, in its stream.
  void fault(int device, CUstream stream) {
    CUcontext context = nullptr;
    CUmodule module = nullptr;
    CUfunction sum = nullptr;
    CUdeviceptr memory = 0;
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, device), 0);
    ASSERT_EQ(cuCtxPushCurrent(context), 0);
    ASSERT_EQ(cuModuleLoadData(&module, "an image"), 0);
    ASSERT_EQ(cuModuleGetFunction(&sum, module, "fake_sum"), 0);
    ASSERT_EQ(cuMemAlloc(&memory, 64), 0);
    uint64_t from = memory, bytes = 8, to = memory + 4;
    void* parameters[] = {&from, &bytes, &to};
    ASSERT_EQ(cuLaunchKernel(sum, 1, 1, 1, 32, 1, 1, 0, stream, parameters, nullptr), 0);
    ASSERT_EQ(cuCtxPopCurrent(&context), 0);
    fake_cuda_drain();  // it has run; the driver has not told anyone yet
  }
  // What a loader gives until it ends or is lost; the text of its error.
  static std::pair<dl_status, std::string> rest_of(const Loader& loader) {
    for (;;) {
      dl_status status = DL_OK;
      Error error;
      const Batch batch = next_batch(loader, status, error);
      if (status == DL_END || status < 0) return {status, error.message};
    }
  }
  // That the consumer's fault was all that was misused.
  static void expect_only_the_fault() {
    EXPECT_THAT(misuses(), ::testing::ElementsAre(::testing::StartsWith("misaligned-access:")));
    fake_cuda_reset();
  }
};

TEST_F(LoaderDevices, AFaultOfTheConsumersKernelIsALossThatTheNextCallsTell) {
  leaks_ = true;
  MixedReader reader;
  const Dataset dataset = reader.dataset(400);
  for (const char* workers : {"0", "2"}) {
    for (const char* sync : {"stream", "host"}) {
      SCOPED_TRACE(::testing::Message() << workers << " workers, " << sync);
      fresh_driver(3);
      Consumer consumer;
      {
        Loader loader =
            make_loader(dataset, on_device(kJob + Settings{{"num_workers", workers}, {"device_sync", sync}}));
        dl_status status = DL_OK;
        Error error;
        Batch held = next_batch(loader, status, error), dropped = next_batch(loader, status, error);
        ASSERT_EQ(dl_batch_wait(held.get(), consumer.stream(), &error), DL_OK);
        ASSERT_EQ(dl_batch_wait(dropped.get(), consumer.stream(), &error), DL_OK);
        fault(0, consumer.stream());
        dropped.reset();
        EXPECT_EQ(dl_batch_release_on(held.release(), consumer.stream(), &error), DL_ERR_DEVICE_LOST);
        const auto [end, message] = rest_of(loader);
        EXPECT_EQ(end, DL_ERR_DEVICE_LOST);
        EXPECT_THAT(message, AllOf(HasSubstr("cuda:0"), HasSubstr("CUDA_ERROR_MISALIGNED_ADDRESS (716)")));
        EXPECT_LE(fake_cuda_calls_after_loss(), 4 * std::stoi(workers));  // on their way meanwhile
      }
      consumer.abandon();
      expect_only_the_fault();
    }
  }
}

TEST_F(LoaderDevices, AFaultBetweenCreateAndTheFirstBatchIsToldToo) {
  leaks_ = true;
  MixedReader reader;
  const Dataset dataset = reader.dataset(400);
  Consumer consumer;
  Loader loader = make_loader(dataset, on_device(kJob + Settings{{"num_workers", "0"}}));
  fault(0, consumer.stream());
  EXPECT_EQ(rest_of(loader).first, DL_ERR_DEVICE_LOST);
  EXPECT_EQ(fake_cuda_calls_after_loss(), 0);
  const auto [status, message] = create_error(dataset, on_device(kJob));
  EXPECT_EQ(status, DL_ERR_NO_DEVICE) << message;
  EXPECT_THAT(message, HasSubstr("716"));
  loader.reset();
  consumer.abandon();
  expect_only_the_fault();
}

TEST_F(LoaderDevices, OneOfTwoGoesOnWhenTheOtherIsLost) {
  leaks_ = true;
  MixedReader reader;
  const Dataset dataset = reader.dataset(200);
  const std::vector<Content> expected = whole_job(make_loader(dataset, kJob), nullptr);
  for (const int lost : {0, 1}) {
    SCOPED_TRACE(lost);
    fresh_driver(5);
    fake_cuda_devices(2, 1 << 24);
    const int left = 1 - lost;
    const auto name = [](int device) { return "cuda:" + std::to_string(device); };
    Consumer faulty(lost), consumer(left);
    {
      const Loader ending = make_loader(dataset, on_device(kJob, name(lost)));
      const Loader going_on = make_loader(dataset, on_device(kJob, name(left)));
      fault(lost, faulty.stream());
      const auto [end, message] = rest_of(ending);
      EXPECT_EQ(end, DL_ERR_DEVICE_LOST);
      EXPECT_THAT(message, HasSubstr(name(lost)));
      EXPECT_EQ(whole_job(going_on, &consumer), expected);
    }
    faulty.abandon();
    EXPECT_THAT(misuses(), ::testing::ElementsAre(::testing::StartsWith("misaligned-access:")));
  }
  fake_cuda_reset();
}

// A thread of the consumer's that works on another device takes batches, waits for them and drops them all the same.
TEST_F(LoaderDevices, TheConsumersThreadMayBeOnAnotherDevice) {
  fake_cuda_devices(2, 1 << 24);
  MixedReader reader;
  const Dataset dataset = reader.dataset(200);
  const std::vector<Content> expected = whole_job(make_loader(dataset, kJob), nullptr);
  CUcontext other = nullptr;
  {
    Consumer consumer(1);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&other, 0), 0);
    ASSERT_EQ(cuCtxPushCurrent(other), 0);
    EXPECT_EQ(whole_job(make_loader(dataset, on_device(kJob, "cuda:1")), &consumer), expected);
    CUcontext popped = nullptr;
    ASSERT_EQ(cuCtxPopCurrent(&popped), 0);
    EXPECT_EQ(popped, other);
  }
  ASSERT_EQ(cuDevicePrimaryCtxRelease(0), 0);
}

// A batch is copied there as elsewhere, from pageable memory where nothing can be page-locked: slower, and the same.
TEST_F(LoaderDevices, OnesThatShareTheHostsMemoryDeliverTheSame) {
  MixedReader reader;
  const Dataset dataset = reader.dataset(100);
  const std::vector<Content> expected = whole_job(make_loader(dataset, kJob), nullptr);
  for (const int32_t can_register : {1, 0}) {
    for (const char* leases : {"1", "8"}) {
      SCOPED_TRACE(::testing::Message() << can_register << ", " << leases << " leases");
      fresh_driver(6);
      {
        Consumer consumer;  // registers memory of its own while that can be done
        fake_cuda_integrated(can_register);
        fake_cuda_require_pinned(can_register);
        const Loader loader = make_loader(dataset, on_device(kJob + Settings{{"max_leases", leases}}));
        EXPECT_EQ(stats_of(loader).pinned_bytes > 0, can_register != 0);
        EXPECT_GT(stats_of(loader).device_bytes, 0);
        dl_status status = DL_OK;
        Error error;
        std::vector<Batch> held;  // also beyond max_leases, where memory is made without pools
        for (int i = 0; i < 3; ++i) held.push_back(next_batch(loader, status, error));
        EXPECT_EQ(status, DL_OK) << error.message;
        for (const Batch& batch : held) consumer.queue(batch.get());
        held.clear();
        std::vector<Content> all = consumer.finish();
        for (Content& content : whole_job(loader, &consumer)) all.push_back(std::move(content));
        EXPECT_EQ(all, expected);
      }
      expect_clean();
    }
  }
}

}  // namespace
}  // namespace dataline::tests::loader_devices_test
