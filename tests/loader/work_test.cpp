// dl_loader_work: with num_workers=0 a batch is loaded in pieces on the caller's thread. dl_dataset_read: one sample.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <thread>

#include "tests/support/job.h"

namespace dataline::tests::work_test {
namespace {

constexpr int64_t kHour = 3'600'000'000'000;

TEST(LoaderWork, LoadsABatchInPiecesAndSaysWhenItIsReady) {
  TestReader reader;
  Dataset dataset = reader.dataset(1000);
  Loader loader = make_loader(dataset, {{"num_workers", "0"}, {"batch_size", "1000"}, {"epochs", "1"}});
  Error error;
  EXPECT_EQ(dl_loader_work(loader.get(), 0, &error), DL_TIMEOUT) << "no budget, no work";
  EXPECT_EQ(reader.records_read, 0);
  int pieces = 0;
  int64_t before = 0;
  while (dl_loader_work(loader.get(), 1, &error) == DL_TIMEOUT) {
    EXPECT_LE(reader.records_read, before + 256) << "a run longer than the budget at most";
    before = reader.records_read;
    ASSERT_LT(++pieces, 1000);
  }
  EXPECT_GE(pieces, 3) << "1000 records, at most 256 in a run";
  Delivered got = next(loader);
  EXPECT_EQ(got.status, DL_OK) << got.message;
  EXPECT_EQ(reader.records_read, 1000) << "next had nothing left to load";
}

TEST(LoaderWork, DeliversTheSameStreamAsNextAlone) {
  Dataset dataset = counting_dataset(100);
  const Settings settings = {{"num_workers", "0"}, {"batch_size", "7"}, {"epochs", "3"}, {"shuffle", "full"}};
  Loader plain = make_loader(dataset, settings), worked = make_loader(dataset, settings);
  for (;;) {
    dl_status ready = DL_TIMEOUT;
    while (ready == DL_TIMEOUT) ready = dl_loader_work(worked.get(), 1, nullptr);
    ASSERT_EQ(ready, DL_OK);
    Delivered a = next(plain), b = next(worked);
    ASSERT_EQ(a.status, b.status);
    if (a.status == DL_END) break;
    if (a.status != DL_OK) continue;
    EXPECT_EQ(a.values, b.values);
  }
}

TEST(LoaderWork, WithWorkersOnlySaysWhetherABatchIsReady) {
  Dataset dataset = counting_dataset(100);
  Loader loader = make_loader(dataset, {{"num_workers", "1"}, {"epochs", "1"}});
  Error error;
  dl_status status = DL_TIMEOUT;
  while (status == DL_TIMEOUT) {
    status = dl_loader_work(loader.get(), 0, &error);
    std::this_thread::yield();
  }
  EXPECT_EQ(status, DL_OK) << error.message;
}

TEST(LoaderWork, LeavesEndsAndErrorsToNext) {
  TestReader reader;
  reader.fails = [](int64_t index) { return index == 2; };
  Dataset dataset = reader.dataset(4);
  Loader loader = make_loader(dataset, {{"num_workers", "0"}, {"batch_size", "4"}, {"epochs", "1"}});
  EXPECT_EQ(dl_loader_work(loader.get(), kHour, nullptr), DL_OK) << "the bad sample is next's to report";
  EXPECT_EQ(next(loader).status, DL_ERR_BAD_SAMPLE);
  EXPECT_EQ(dl_loader_work(loader.get(), kHour, nullptr), DL_OK);
  EXPECT_EQ(next(loader).status, DL_OK);
  EXPECT_EQ(dl_loader_work(loader.get(), kHour, nullptr), DL_OK);
  EXPECT_EQ(next(loader).status, DL_END_OF_EPOCH);
  EXPECT_EQ(dl_loader_work(loader.get(), kHour, nullptr), DL_OK);
  EXPECT_EQ(next(loader).status, DL_END);
}

TEST(LoaderWork, ACancelledLoaderSaysSo) {
  Dataset dataset = counting_dataset(100);
  Loader loader = make_loader(dataset, {{"num_workers", "0"}});
  dl_loader_cancel(loader.get());
  EXPECT_EQ(dl_loader_work(loader.get(), kHour, nullptr), DL_CANCELLED);
  ASSERT_EQ(dl_loader_seek(loader.get(), 0, 0, nullptr), DL_OK);
  EXPECT_EQ(dl_loader_work(loader.get(), kHour, nullptr), DL_OK);
}

TEST(LoaderWork, SeveralThreadsMayWorkAndTakeAtOnce) {
  Dataset dataset = counting_dataset(2000);
  Loader loader = make_loader(dataset, {{"num_workers", "0"}, {"batch_size", "10"}, {"epochs", "1"}});
  std::atomic<bool> ended{false};
  std::atomic<int64_t> samples{0};
  const auto frames = [&] {
    while (!ended) {
      if (dl_loader_work(loader.get(), 1000, nullptr) != DL_OK) continue;
      dl_batch* batch = nullptr;
      const dl_status status = dl_loader_next(loader.get(), 0, &batch, nullptr);
      if (status == DL_END) ended = true;
      if (batch != nullptr) samples += dl_view_at(dl_batch_views(batch, nullptr), 0)->shape[0];
      dl_batch_release(batch);
    }
  };
  std::thread other(frames);
  frames();
  other.join();
  EXPECT_EQ(samples, 2000);
}

TEST(LoaderWork, ACallThatWaitsForAnotherThreadsWorkKeepsItsTimeout) {
  std::atomic<bool> inside{false}, open{false};
  TestReader reader;
  reader.fails = [&](int64_t index) {
    inside = true;
    inside.notify_all();
    if (index == 0) open.wait(false);
    return false;
  };
  Dataset dataset = reader.dataset(4);
  Loader loader = make_loader(dataset, {{"num_workers", "0"}, {"batch_size", "2"}, {"epochs", "1"}});
  Delivered other;
  std::thread thread([&] { other = next(loader); });
  inside.wait(false);
  EXPECT_EQ(next(loader, 0).status, DL_TIMEOUT);
  EXPECT_EQ(next(loader, 1'000'000).status, DL_TIMEOUT);
  open = true;
  open.notify_all();
  thread.join();
  EXPECT_EQ(other.status, DL_OK) << other.message;
  EXPECT_EQ(next(loader, 0).status, DL_OK) << "it works itself, whatever the timeout";
}

TEST(DatasetRead, GivesOneSampleThroughTheTransform) {
  Dataset dataset = counting_dataset(100);
  Options options = make_options({{"transform", "data: cast(f32), scale(0.5)"},
                                  {"batch_size", "8"},
                                  {"shuffle", "full"},
                                  {"num_workers", "3"},
                                  {"rank", "1"},
                                  {"world_size", "2"}});
  Error error;
  dl_batch* made = nullptr;
  ASSERT_EQ(dl_dataset_read(dataset.get(), 42, options.get(), &made, &error), DL_OK) << error.message;
  Batch batch(made);
  dataset.reset();
  const dl_view* view = dl_batch_views(batch.get(), nullptr);
  EXPECT_EQ(view->shape[0], 1);
  EXPECT_EQ(*static_cast<const float*>(view->data), 21.0F);
  dl_batch_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(dl_batch_get_info(batch.get(), &info, &error), DL_OK);
  EXPECT_EQ(info.sample_indices[0], 42);
}

TEST(DatasetRead, SaysWhatIsWrongWithTheIndexOrTheSample) {
  TestReader reader;
  reader.fails = [](int64_t index) { return index == 2; };
  Dataset dataset = reader.dataset(4);
  Error error;
  dl_batch* made = nullptr;
  for (const int64_t index : {int64_t{-1}, int64_t{4}, INT64_MAX}) {
    EXPECT_EQ(dl_dataset_read(dataset.get(), index, nullptr, &made, &error), DL_ERR_OUT_OF_RANGE);
    EXPECT_EQ(error.sample_index, index);
  }
  EXPECT_EQ(dl_dataset_read(dataset.get(), 2, nullptr, &made, &error), DL_ERR_BAD_SAMPLE);
  EXPECT_EQ(error.sample_index, 2);
  EXPECT_EQ(made, nullptr);
  Options options = make_options({{"transform", "data: nonsense"}});
  EXPECT_EQ(dl_dataset_read(dataset.get(), 0, options.get(), &made, &error), DL_ERR_BAD_TRANSFORM);
}

}  // namespace
}  // namespace dataline::tests::work_test
