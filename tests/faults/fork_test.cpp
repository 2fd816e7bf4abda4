// Forks at many moments of a busy loader: in the child every call on the loader says so at once, the dataset serves a
// loader of the child's own, and the parent's stream goes on as if nothing had been.
// SPDX-License-Identifier: Apache-2.0
#include "core/base/status.h"
#include "tests/conformance/files.h"

namespace dataline::tests::fork_test {
namespace {

constexpr int64_t kRows = 3000;

// ThreadSanitizer ends a forked child that starts a thread.
#if defined(__SANITIZE_THREAD__)
constexpr const char* kChildWorkers = "0";
#else
constexpr const char* kChildWorkers = "2";
#endif

// What a child that inherits a loader, a loop over it and a batch finds. 0, or the number of what was wrong.
int child_of(const Dataset& dataset, Loader loader, Epoch loop, Batch held) {
  Error error;
  dl_batch* batch = nullptr;
  dl_epoch* newer = loop.get();
  int64_t epoch = 0, step = 0;
  char text[4096];
  size_t bytes = sizeof text;
  intptr_t handle = -1;
  dl_stats stats = {};
  stats.struct_size = sizeof stats;
  if (dl_loader_next(loader.get(), -1, &batch, &error) != DL_ERR_FORKED || batch != nullptr) return 1;
  if (dl_loader_next(loader.get(), 0, &batch, &error) != DL_ERR_FORKED) return 2;
  if (dl_loader_begin_epoch(loader.get(), &error) != DL_ERR_FORKED) return 3;
  if (dl_loader_position(loader.get(), &epoch, &step, &error) != DL_ERR_FORKED) return 4;
  if (dl_loader_seek(loader.get(), 0, 0, &error) != DL_ERR_FORKED) return 5;
  if (dl_loader_state_save(loader.get(), text, &bytes, &error) != DL_ERR_FORKED) return 6;
  if (dl_loader_state_load(loader.get(), "dataline state 2\n", &error) != DL_ERR_FORKED) return 7;
  if (dl_loader_stats(loader.get(), &stats, &error) != DL_ERR_FORKED) return 8;
  if (dl_loader_wait_handle(loader.get(), &handle, &error) != DL_ERR_FORKED) return 9;
  if (std::string(error.message).find("parent process") == std::string::npos) return 10;
  if (dl_loader_epoch(loader.get(), &newer, &error) != DL_ERR_FORKED || newer != nullptr) return 11;
  dl_epoch_interrupt(loop.get());
  if (dl_epoch_next(loop.get(), -1, &batch, &error) != DL_ERR_FORKED || batch != nullptr) return 12;
  if (dl_epoch_next(loop.get(), 0, &batch, &error) != DL_ERR_FORKED) return 13;
  dl_loader_cancel(loader.get());
  dl_loader_interrupt(loader.get());
  dl_batch_retain(held.get());
  dl_batch_release(held.get());
  held.reset();
  loop.reset();
  loader.reset();
  const Loader own = make_loader(dataset, {{"batch_size", "100"}, {"num_workers", kChildWorkers}});
  return epoch_samples(own).size() == kRows ? 0 : 14;
}

TEST(Fork, AtManyMomentsTheChildIsToldAndTheParentLosesNothing) {
  Dataset dataset = counting_dataset(kRows);
  for (const char* workers : {"0", "1", "3"}) {
    Loader loader = make_loader(dataset, {{"batch_size", "10"},
                                          {"num_workers", workers},
                                          {"prefetch_depth", "8"},
                                          {"shuffle", "full"},
                                          {"epochs", "1"}});
    Epoch loop = make_epoch(loader);
    std::vector<uint64_t> values;
    for (int step = 0;; ++step) {
      Delivered got = next(loop);
      if (got.status != DL_OK) {
        EXPECT_EQ(got.status, DL_END_OF_EPOCH) << got.message;
        break;
      }
      values.insert(values.end(), got.values.begin(), got.values.end());
      if (step % 6 != 0) continue;
      const int result = in_child(
          [&] { return child_of(dataset, std::move(loader), std::move(loop), std::move(got.batch)); });
      ASSERT_EQ(result, 0) << "at step " << step << " with " << workers << " workers";
    }
    EXPECT_EQ(values, epoch_samples(make_loader(
                          dataset, {{"batch_size", "10"}, {"num_workers", "0"}, {"shuffle", "full"}})));
  }
}

}  // namespace
}  // namespace dataline::tests::fork_test
