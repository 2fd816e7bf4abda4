// A driver that fails under a running loader, at every call: the loader says so, goes on saying so, calls the driver no
// more, and ends cleanly.
// SPDX-License-Identifier: Apache-2.0
#include <poll.h>

#include <thread>

#include "core/device/cuda_driver.h"
#include "tests/conformance/files.h"
#include "tests/device/loader_support.h"
#include "tests/support/sweep_stride.h"

namespace dataline::tests::loader_loss_test {
namespace {

constexpr int32_t kOutOfMemory = 2, kShuttingDown = 4, kIllegalAddress = 700, kLaunchFailed = 719;

// The first calls find entry points: no device is known yet that could be lost.
#define DL_COUNT(name, version, parameters) +1
constexpr int64_t kLookUps = DL_CUDA_ENTRY_POINTS(DL_COUNT) + 1;
#undef DL_COUNT

struct Way {
  const char* name;
  int32_t code;
  int64_t times;
};

class DeviceLoss : public DeviceLoaders {
 protected:
  DeviceLoss() { leaks_ = true; }

  // A job of 2 epochs with a consumer that waits in its own stream, holds some batches, and goes elsewhere once. Faults
  // are set when the consumer's own calls are done. Returns the first status that was no success.
  dl_status run(const Settings& settings, const std::function<void()>& arm) {
    Consumer consumer;
    MixedReader reader;
    const Dataset dataset = reader.dataset(40);
    arm();
    Error error;
    dl_loader* handle = nullptr;
    const dl_status created =
        dl_loader_create(dataset.get(), make_options(on_device(settings)).get(), &handle, &error);
    const Loader loader(handle);
    const dl_status end = created == DL_OK ? take_all(loader, consumer.stream()) : created;
    if (created == DL_OK && end == DL_ERR_DEVICE_LOST) expect_lost_for_good(loader);
    consumer.abandon();
    return end;
  }

  void expect_lost_for_good(const Loader& loader) {
    dl_status status = DL_OK;
    Error error;
    for (int again = 0; again < 3; ++again) {
      EXPECT_EQ(next_batch(loader, status, error), nullptr);
      EXPECT_EQ(status, DL_ERR_DEVICE_LOST) << error.message;
      EXPECT_NE(std::string(error.message).find("cuda:0"), std::string::npos) << error.message;
    }
    // The host's half works on.
    EXPECT_EQ(dl_loader_seek(loader.get(), 0, 1, &error), DL_OK);
    EXPECT_EQ(next_batch(loader, status, error), nullptr);
    EXPECT_EQ(status, DL_ERR_DEVICE_LOST);
    EXPECT_EQ(dl_loader_seek(loader.get(), 1, 0, &error), DL_OK);
    EXPECT_GE(stats_of(loader).device_bytes, 0);
    dl_loader_cancel(loader.get());
    next_batch(loader, status, error);
    EXPECT_EQ(status, DL_CANCELLED);
  }

  dl_status take_all(const Loader& loader, CUstream stream) {
    std::vector<Batch> held;
    intptr_t event = -1;
    Error refused;
    if (by_event_loop_ && dl_loader_wait_handle(loader.get(), &event, &refused) != DL_OK) return DL_ERR_IO;
    for (int taken = 0;;) {
      dl_status status = DL_OK;
      Error error;
      pollfd due = {static_cast<int>(event), POLLIN, 0};
      if (by_event_loop_ && poll(&due, 1, 60'000) != 1) return DL_TIMEOUT;
      Batch batch = next_batch(loader, status, error, by_event_loop_ ? 0 : -1);
      if (status == DL_TIMEOUT) return status;
      if (status == DL_END) return status;
      if (status < 0) return status;
      if (status != DL_OK) continue;
      const dl_status waited = dl_batch_wait(batch.get(), stream, &error);
      if (waited != DL_OK) {
        EXPECT_TRUE(waited == DL_ERR_DEVICE_LOST || waited == DL_ERR_NO_MEMORY) << error.message;
        EXPECT_NE(dl_batch_release_on(batch.release(), stream, &error), DL_OK);
        return waited;
      }
      if (++taken % 3 == 0) held.push_back(std::move(batch));
      if (taken % 9 == 0) held.clear();
      if (taken == 7) {
        EXPECT_EQ(dl_loader_seek(loader.get(), 1, 0, &error), DL_OK);
      }
    }
  }

  void sweep(const Settings& settings, const Way& way) {
    int lost = 0, refused = 0, unharmed = 0;
    for (int64_t at = swept_++ % sweep_stride(); unharmed < 3; at += sweep_stride()) {
      SCOPED_TRACE(::testing::Message() << way.name << " at call " << at);
      fresh_driver(static_cast<uint64_t>(at) + 1);
      fake_cuda_require_pinned(0);  // page-locking may be what fails
      const dl_status end = run(settings, [&] { fake_cuda_fail_call(at, way.code, way.times); });
      if (at > kLookUps) {
        ASSERT_LE(fake_cuda_calls_after_loss(), racing_calls_);
      }
      ASSERT_THAT(misuses(), ::testing::IsEmpty());
      switch (end) {
        case DL_END:
          ++unharmed;  // the job makes fewer calls than that, or one whose failure harms nobody
          break;
        case DL_ERR_DEVICE_LOST:
          ++lost;
          unharmed = 0;
          break;
        default:
          ASSERT_NE(end, DL_TIMEOUT);
          EXPECT_TRUE(end == DL_ERR_NO_DEVICE || end == DL_ERR_NO_MEMORY) << dl_status_name(end);
          ++refused;
          unharmed = 0;
      }
      if (HasFailure() || at > 3000) FAIL() << at;
    }
    EXPECT_GT(lost, 10);
    EXPECT_GT(refused, 3);
  }

  bool by_event_loop_ = false;  // the consumer waits at the wait handle, not in next

 private:
  int64_t swept_ = 0;
};

const Settings kJob = {{"batch_size", "8"}, {"epochs", "2"}, {"shuffle", "full"}, {"max_leases", "2"}};

TEST_F(DeviceLoss, AtEveryCallEndsTheJobWithItsCodeAndNoFurtherCall) {
  const Way ways[] = {{"illegal address for ever", kIllegalAddress, -1},
                      {"out of memory for ever", kOutOfMemory, -1},
                      {"launch failed once", kLaunchFailed, 1},
                      {"shutting down", kShuttingDown, -1}};
  for (const char* workers : {"0", "1"}) {
    for (const Way& way : ways) {
      SCOPED_TRACE(::testing::Message() << workers << " workers");
      racing_calls_ = 4 * std::stoi(workers);
      sweep(kJob + Settings{{"num_workers", workers}}, way);
      if (HasFailure()) return;
    }
  }
}

TEST_F(DeviceLoss, WithHostSyncAndCopiesBeyondMaxLeasesToo) {
  racing_calls_ = 4;
  sweep(kJob + Settings{{"num_workers", "1"}, {"device_sync", "host"}, {"max_leases", "1"}},
        {"illegal address for ever", kIllegalAddress, -1});
  sweep(kJob + Settings{{"num_workers", "0"}, {"device_sync", "host"}},
        {"launch failed once", kLaunchFailed, 1});
}

TEST_F(DeviceLoss, AtEveryCallIsToldByTheWaitHandle) {
  by_event_loop_ = true;
  racing_calls_ = 4;
  for (const char* sync : {"stream", "host"})
    sweep(kJob + Settings{{"num_workers", "1"}, {"device_sync", sync}},
          {"illegal address for ever", kIllegalAddress, -1});
}

TEST_F(DeviceLoss, ThatACallOnABatchFindsIsToldToAllWhoWaitThoughTheReaderIsStuck) {
  for (const bool releases : {false, true}) {
    fresh_driver(5);
    MixedReader reader;
    Latch reading, stuck;
    reader.fails = [&](int64_t index) {
      if (index >= 8) reading.open(), stuck.wait();
      return false;
    };
    const Dataset dataset = reader.dataset(40);
    const Loader loader =
        make_loader(dataset, on_device({{"batch_size", "8"}, {"num_workers", "1"}, {"prefetch_depth", "1"}}));
    dl_status status = DL_OK;
    Error error;
    Consumer consumer;
    Batch batch = next_batch(loader, status, error);
    ASSERT_EQ(status, DL_OK) << error.message;
    intptr_t handle = -1;
    ASSERT_EQ(dl_loader_wait_handle(loader.get(), &handle, &error), DL_OK);
    reading.wait();
    dl_status other = DL_OK;
    std::thread waits([&] {
      Error of_other;
      next_batch(loader, other, of_other);
    });
    pollfd due = {static_cast<int>(handle), POLLIN, 0};
    EXPECT_EQ(poll(&due, 1, 0), 0);
    fake_cuda_fail_call(0, kIllegalAddress, -1);
    EXPECT_EQ(releases ? dl_batch_release_on(batch.release(), consumer.stream(), &error)
                       : dl_batch_wait(batch.get(), consumer.stream(), &error),
              DL_ERR_DEVICE_LOST);
    EXPECT_EQ(poll(&due, 1, 60'000), 1);
    waits.join();
    EXPECT_EQ(other, DL_ERR_DEVICE_LOST);
    stuck.open();
    batch.reset();
    consumer.abandon();
  }
}

TEST_F(DeviceLoss, InEveryOperationOfAStreamIsToldByALaterCall) {
  for (const char* sync : {"stream", "host"}) {
    for (const char* workers : {"0", "1", "2"}) {
      racing_calls_ = 4 * std::stoi(workers);
      int lost = 0;
      for (int64_t nth = 0; nth < 40; ++nth) {
        SCOPED_TRACE(::testing::Message() << sync << ", " << workers << " workers, operation " << nth);
        fresh_driver(static_cast<uint64_t>(nth) + 1);
        const dl_status end = run(kJob + Settings{{"num_workers", workers}, {"device_sync", sync}},
                                  [&] { fake_cuda_fail_operation(nth, kLaunchFailed); });
        EXPECT_TRUE(end == DL_ERR_DEVICE_LOST || end == DL_END) << dl_status_name(end);
        lost += end == DL_ERR_DEVICE_LOST ? 1 : 0;
        ASSERT_LE(fake_cuda_calls_after_loss(), racing_calls_);
      }
      EXPECT_GT(lost, 10) << "the last operations of a job may run after its last call";
    }
  }
}

struct LogLines {
  dl_log table() {
    dl_log log = {};
    log.struct_size = sizeof log;
    log.context = this;
    log.write = [](void* context, int32_t level, const char* message, size_t length) {
      auto* self = static_cast<LogLines*>(context);
      if (level >= DL_LOG_WARNING) self->warnings.emplace_back(message, length);
    };
    return log;
  }
  std::vector<std::string> warnings;
};

TEST_F(DeviceLoss, ADriverThatShutsDownIsLostAndDestroyIsSilent) {
  for (const char* workers : {"0", "2"}) {
    racing_calls_ = 4 * std::stoi(workers);
    fresh_driver(4);
    MixedReader reader;
    const Dataset dataset = reader.dataset(800);
    LogLines log;
    const dl_log table = log.table();
    const Options options = make_options(on_device(kJob + Settings{{"num_workers", workers}}));
    Error error;
    ASSERT_EQ(dl_options_set_log(options.get(), &table, &error), DL_OK);
    dl_loader* handle = nullptr;
    ASSERT_EQ(dl_loader_create(dataset.get(), options.get(), &handle, &error), DL_OK) << error.message;
    Loader loader(handle);
    dl_status status = DL_OK;
    Batch held = next_batch(loader, status, error);
    ASSERT_EQ(status, DL_OK);
    fake_cuda_shut_down();
    while (status == DL_OK) next_batch(loader, status, error);
    EXPECT_EQ(status, DL_ERR_DEVICE_LOST) << error.message;
    loader.reset();
    held.reset();
    EXPECT_LE(fake_cuda_calls_after_loss(), racing_calls_);
    EXPECT_THAT(log.warnings, ::testing::IsEmpty());
  }
}

}  // namespace
}  // namespace dataline::tests::loader_loss_test
