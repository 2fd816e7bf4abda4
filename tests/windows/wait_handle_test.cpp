// dl_loader_wait_handle on Windows: a HANDLE that the system's own waits take.
// SPDX-License-Identifier: Apache-2.0
#include <windows.h>

#include <atomic>

#include "tests/support/job.h"

namespace dataline::tests::wait_handle_test {
namespace {

HANDLE wait_handle(dl_loader* loader) {
  intptr_t handle = 0;
  Error error;
  EXPECT_EQ(dl_loader_wait_handle(loader, &handle, &error), DL_OK) << error.message;
  return reinterpret_cast<HANDLE>(handle);
}

TEST(WindowsWaitHandle, IsSignalledWheneverNextWouldNotWait) {
  const Dataset dataset = counting_dataset(40);
  const Loader loader =
      make_loader(dataset, {{"batch_size", "4"}, {"num_workers", "2"}, {"prefetch_depth", "2"}});
  const HANDLE handle = wait_handle(loader.get());
  int batches = 0;
  for (;; ++batches) {
    ASSERT_EQ(WaitForSingleObject(handle, 60'000), WAIT_OBJECT_0) << batches;
    dl_batch* batch = nullptr;
    Error error;
    const dl_status status = dl_loader_next(loader.get(), 0, &batch, &error);
    if (status == DL_END_OF_EPOCH) break;
    ASSERT_EQ(status, DL_OK) << batches << ": " << error.message;
    dl_batch_release(batch);
  }
  EXPECT_EQ(batches, 10);
}

TEST(WindowsWaitHandle, FallsWhenWhatWasReadyIsTaken) {
  std::atomic<bool> inside{false}, open{false};
  TestReader reader;
  reader.before = [&](const int64_t* indices, int64_t) {
    if (indices[0] < 50) return;
    inside.store(true);
    inside.notify_all();
    open.wait(false);
  };
  const Dataset dataset = reader.dataset(100);
  const Loader loader = make_loader(dataset, {{"batch_size", "50"}, {"num_workers", "1"}, {"epochs", "1"}});
  const HANDLE handle = wait_handle(loader.get());
  inside.wait(false);  // over the second batch: the first is ready
  EXPECT_EQ(WaitForSingleObject(handle, 60'000), WAIT_OBJECT_0);
  EXPECT_EQ(next(loader, 0).status, DL_OK);
  EXPECT_EQ(WaitForSingleObject(handle, 0), static_cast<DWORD>(WAIT_TIMEOUT)) << "next would wait now";
  EXPECT_EQ(next(loader, 0).status, DL_TIMEOUT);
  open.store(true);
  open.notify_all();
  EXPECT_EQ(WaitForSingleObject(handle, 60'000), WAIT_OBJECT_0);
  EXPECT_EQ(next(loader, 0).status, DL_OK);
}

}  // namespace
}  // namespace dataline::tests::wait_handle_test
