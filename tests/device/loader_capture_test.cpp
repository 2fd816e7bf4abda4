// A loader whose consumer captures a CUDA graph in the stream that batches were waited for in.
// SPDX-License-Identifier: Apache-2.0
#include "tests/device/capture_support.h"
#include "tests/device/loader_support.h"

namespace dataline::tests::loader_capture_test {
namespace {

using DeviceCaptures = DeviceLoaders;

dl_status next_status(const Loader& loader, Batch& batch, std::string* message = nullptr) {
  dl_status status = DL_OK;
  Error error;
  batch = next_batch(loader, status, error);
  if (message != nullptr) *message = error.message;
  return status;
}

TEST_F(DeviceCaptures, WaitNamesTheStreamAndReleaseOnIsHeldBack) {
  const Dataset dataset = counting_dataset(64);
  for (const char* workers : {"0", "2"}) {
    Capturer capturer;
    const Loader loader =
        make_loader(dataset, on_device({{"batch_size", "8"}, {"num_workers", workers}, {"max_leases", "2"}}));
    Batch held, late;
    Error error;
    ASSERT_EQ(next_status(loader, held), DL_OK);
    ASSERT_EQ(next_status(loader, late), DL_OK);
    ASSERT_EQ(dl_batch_wait(held.get(), capturer.stream(), &error), DL_OK);
    capturer.begin();
    EXPECT_EQ(dl_batch_wait(late.get(), capturer.stream(), &error), DL_ERR_WRONG_STATE);
    EXPECT_NE(std::string(error.message).find("captured into a CUDA graph"), std::string::npos)
        << error.message;
    EXPECT_EQ(dl_batch_release_on(late.release(), capturer.stream(), &error), DL_OK) << error.message;
    held.reset();
    EXPECT_EQ(capturer.end(), 0);
    for (int batch = 2; batch < 8; ++batch) {
      ASSERT_EQ(next_status(loader, held), DL_OK);
      ASSERT_EQ(dl_batch_wait(held.get(), capturer.stream(), &error), DL_OK);
      held.reset();
    }
    EXPECT_EQ(next_status(loader, held), DL_END_OF_EPOCH);
  }
}

// Neither a hang nor an overwrite: the slot that is held is the only one there is.
TEST_F(DeviceCaptures, ANextThatOnlyTheEndOfTheCaptureCouldServeSaysSo) {
  const Dataset dataset = counting_dataset(64);
  for (const char* workers : {"0", "1"}) {
    Capturer capturer;
    const Loader loader = make_loader(
        dataset,
        on_device(
            {{"batch_size", "8"}, {"num_workers", workers}, {"max_leases", "1"}, {"prefetch_depth", "1"}}));
    Batch batch;
    capturer.begin(kCaptureRelaxed);
    int taken = 0;
    std::string message;
    dl_status status = DL_OK;
    Error error;
    for (; taken < 8 && (status = next_status(loader, batch, &message)) == DL_OK; ++taken)
      ASSERT_EQ(dl_batch_release_on(batch.release(), capturer.stream(), &error), DL_OK) << error.message;
    EXPECT_EQ(status, DL_ERR_WRONG_STATE) << message;
    EXPECT_NE(message.find("capture"), std::string::npos) << message;
    EXPECT_EQ(capturer.end(), 0);
    for (; taken < 8; ++taken) {
      ASSERT_EQ(next_status(loader, batch, &message), DL_OK) << message;
      batch.reset();
    }
    EXPECT_EQ(next_status(loader, batch), DL_END_OF_EPOCH);
  }
}

// A batch beyond max_leases, given up in the very stream that captures: its memory waits for the end of the capture, and is
// then freed by whoever needs memory next.
TEST_F(DeviceCaptures, ABatchBeyondMaxLeasesThatEndsInACaptureIsFreedAfterIt) {
  const Dataset dataset = counting_dataset(64);
  for (const char* workers : {"0", "1"}) {
    Capturer capturer;
    const Loader loader =
        make_loader(dataset, on_device({{"batch_size", "8"}, {"num_workers", workers}, {"max_leases", "1"}}));
    Batch leased, beyond, another;
    Error error;
    ASSERT_EQ(next_status(loader, leased), DL_OK);
    ASSERT_EQ(next_status(loader, beyond), DL_OK);
    ASSERT_EQ(dl_batch_wait(beyond.get(), capturer.stream(), &error), DL_OK) << error.message;
    const int64_t allocations = fake_cuda_live("allocations");
    capturer.begin();
    beyond.reset();
    EXPECT_EQ(fake_cuda_live("allocations"), allocations) << "the graph's stream may read it";
    EXPECT_EQ(capturer.end(), 0);
    ASSERT_EQ(next_status(loader, another), DL_OK);
    fake_cuda_drain();
    EXPECT_EQ(fake_cuda_live("allocations"), allocations) << "one freed, one made";
  }
}

}  // namespace
}  // namespace dataline::tests::loader_capture_test
