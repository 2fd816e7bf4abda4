// Going elsewhere and ending while copies are in flight: seek, cancel, time-outs, the wait handle, destroy.
// SPDX-License-Identifier: Apache-2.0
#include <poll.h>

#include <thread>

#include "core/base/random.h"
#include "tests/conformance/files.h"
#include "tests/device/loader_support.h"

namespace dataline::tests::loader_stop_test {
namespace {

using DeviceStops = DeviceLoaders;

const Settings kJob = {{"batch_size", "8"}, {"shuffle", "full"}, {"seed", "3"}};

TEST_F(DeviceStops, ASeekAtAnyMomentGoesOnWithTheRightBatch) {
  MixedReader reader;
  const Dataset dataset = reader.dataset(80);
  const Loader cpu = make_loader(dataset, kJob + Settings{{"num_workers", "0"}});
  for (const char* sync : {"stream", "host"}) {
    for (const char* workers : {"0", "1", "2"}) {
      Consumer consumer;
      const Loader loader =
          make_loader(dataset, on_device(kJob + Settings{{"num_workers", workers}, {"device_sync", sync}}));
      dl_status status = DL_OK;
      Error error;
      std::vector<Content> expected;
      std::vector<Batch> held;
      for (uint64_t turn = 0; turn < 60; ++turn) {
        const int64_t epoch = static_cast<int64_t>(random_below(random_bits(9, turn, 0), 3));
        const int64_t step = static_cast<int64_t>(random_below(random_bits(9, turn, 1), 10));
        const uint64_t take = random_below(random_bits(9, turn, 2), 4);
        ASSERT_EQ(dl_loader_seek(loader.get(), epoch, step, &error), DL_OK) << error.message;
        ASSERT_EQ(dl_loader_seek(cpu.get(), epoch, step, &error), DL_OK) << error.message;
        for (uint64_t b = 0; b < take; ++b) {
          Batch batch = next_batch(loader, status, error);
          const dl_status device_status = status;
          const Batch same = next_batch(cpu, status, error);
          ASSERT_EQ(device_status, status) << error.message;
          if (status != DL_OK) continue;
          expected.push_back(content_of(same.get()));
          consumer.queue(batch.get());
          if (turn % 4 == 0) held.push_back(std::move(batch));  // leases live over seeks
        }
        if (turn % 8 == 7) held.clear();
      }
      EXPECT_EQ(consumer.finish(), expected);
    }
  }
}

TEST_F(DeviceStops, ABatchThatASeekLeftBehindWhileItWasReadIsNotSent) {
  for (const char* sync : {"stream", "host"}) {
    const auto copied_until_step_5 = [&](bool seeks) {
      MixedReader reader;
      Latch reading, first, sixth;
      reader.fails = [&](int64_t index) {
        if (index == 0) reading.open(), first.wait();
        if (index == 6 * 8) sixth.wait();  // nothing but step 5 is sent until it is looked at
        return false;
      };
      const Dataset dataset = reader.dataset(80);
      const Loader loader = make_loader(dataset, on_device({{"batch_size", "8"},
                                                            {"num_workers", "1"},
                                                            {"prefetch_depth", "1"},
                                                            {"device_sync", sync},
                                                            {"start_step", seeks ? "0" : "5"}}));
      dl_status status = DL_OK;
      Error error;
      if (seeks) {
        reading.wait();
        EXPECT_EQ(dl_loader_seek(loader.get(), 0, 5, &error), DL_OK) << error.message;
        first.open();
      }
      EXPECT_NE(next_batch(loader, status, error), nullptr) << error.message;
      const int64_t copied = stats_of(loader).copied_bytes;
      sixth.open();
      return copied;
    };
    EXPECT_EQ(copied_until_step_5(true), copied_until_step_5(false)) << sync;
  }
}

// A device that does nothing: what was sent can be taken, then next waits, and every wait ends when it is told to.
TEST_F(DeviceStops, WaitsOfAStuckDeviceEndByTimeoutCancelAndInterrupt) {
  MixedReader reader;
  const Dataset dataset = reader.dataset(800);
  for (const char* sync : {"stream", "host"}) {
    for (const char* workers : {"1", "2"}) {
      const Loader loader =
          make_loader(dataset, on_device(kJob + Settings{{"num_workers", workers}, {"device_sync", sync}}));
      fake_cuda_pause();
      dl_status status = DL_OK;
      Error error;
      int taken = 0;
      while (status == DL_OK && taken < 100) {
        const Batch batch = next_batch(loader, status, error, 20'000'000);
        taken += status == DL_OK ? 1 : 0;
      }
      EXPECT_EQ(status, DL_TIMEOUT);
      std::thread interrupts([&] { dl_loader_interrupt(loader.get()); });
      do {
        taken += next_batch(loader, status, error) != nullptr ? 1 : 0;  // a late one may still come
      } while (status == DL_OK);
      interrupts.join();
      EXPECT_EQ(status, DL_INTERRUPTED);
      std::thread cancels([&] { dl_loader_cancel(loader.get()); });
      do {
        taken += next_batch(loader, status, error) != nullptr ? 1 : 0;
      } while (status == DL_OK);
      EXPECT_EQ(status, DL_CANCELLED);
      cancels.join();
      EXPECT_LE(taken, 8 + 8) << "slots come back once, complete when the device still worked";
      fake_cuda_resume();
      ASSERT_EQ(dl_loader_seek(loader.get(), 0, 0, &error), DL_OK);
      EXPECT_NE(next_batch(loader, status, error), nullptr) << error.message;
    }
  }
}

bool is_readable(intptr_t handle, int timeout_ms) {
  pollfd one = {static_cast<int>(handle), POLLIN, 0};
  return poll(&one, 1, timeout_ms) == 1;
}

TEST_F(DeviceStops, TheWaitHandleIsReadableJustWhenNextWouldNotWait) {
  MixedReader reader;
  const Dataset dataset = reader.dataset(400);
  for (const char* sync : {"stream", "host"}) {
    for (const char* depth : {"1", "3"}) {
      Consumer consumer;
      const Loader loader = make_loader(dataset, on_device(kJob + Settings{{"num_workers", "1"},
                                                                           {"device_sync", sync},
                                                                           {"prefetch_depth", depth},
                                                                           {"max_leases", "2"},
                                                                           {"epochs", "1"}}));
      Error error;
      intptr_t handle = -1;
      ASSERT_EQ(dl_loader_wait_handle(loader.get(), &handle, &error), DL_OK) << error.message;
      int batches = 0;
      for (dl_status status = DL_OK; status != DL_END_OF_EPOCH;) {
        ASSERT_TRUE(is_readable(handle, 60'000)) << "after " << batches << " batches";
        const Batch batch = next_batch(loader, status, error, 0);
        ASSERT_TRUE(status == DL_OK || status == DL_END_OF_EPOCH) << status << ": " << error.message;
        if (status != DL_OK) break;
        ++batches;
        consumer.queue(batch.get(), /*wait=*/std::string(sync) == "stream" || batches % 2 == 0);
        if (std::string(sync) == "host" && batches % 2 != 0) consumer.finish();
      }
      EXPECT_EQ(batches, 50);
      consumer.finish();
    }
  }
}

TEST_F(DeviceStops, WithHostSyncBatchesAreCompleteAndStreamsNeedNotWait) {
  MixedReader reader;
  const Dataset dataset = reader.dataset(101);
  for (const char* workers : {"0", "1", "2"}) {
    for (const char* depth : {"1", "4"}) {
      const Settings job =
          kJob + Settings{{"num_workers", workers}, {"prefetch_depth", depth}, {"epochs", "2"}};
      Consumer consumer;
      const Loader loader = make_loader(dataset, on_device(job + Settings{{"device_sync", "host"}}));
      const Loader cpu = make_loader(dataset, job);
      std::vector<Content> device;
      for (dl_status status = DL_OK; status != DL_END;) {
        Error error;
        const Batch batch = next_batch(loader, status, error);
        if (status != DL_OK) {
          ASSERT_GE(status, 0) << error.message;
          device.push_back({});
          device.back().status = status;
          continue;
        }
        consumer.queue(batch.get(), /*wait=*/false);
        device.push_back(consumer.finish()[0]);  // done before it is released
      }
      EXPECT_EQ(device, whole_job(cpu, nullptr));
    }
  }
}

TEST_F(DeviceStops, DestroyAtAnyMomentWaitsForTheCopiesAndLeavesBatchesValid) {
  MixedReader reader;
  const Dataset dataset = reader.dataset(400);
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    fresh_driver(seed);
    {
      Consumer consumer;
      std::vector<Batch> held;
      {
        const Loader loader = make_loader(
            dataset, on_device(kJob + Settings{{"num_workers", seed % 3 == 0 ? "0" : "2"},
                                               {"device_sync", seed % 4 == 0 ? "host" : "stream"}}));
        dl_status status = DL_OK;
        Error error;
        for (uint64_t b = 0; b < seed % 11; ++b) {
          Batch batch = next_batch(loader, status, error);
          ASSERT_EQ(status, DL_OK) << error.message;
          consumer.queue(batch.get());
          if (b % 2 == 1) held.push_back(std::move(batch));
        }
      }
      consumer.finish();
      for (const Batch& batch : held) consumer.queue(batch.get());
    }
    expect_clean();
  }
}

}  // namespace
}  // namespace dataline::tests::loader_stop_test
