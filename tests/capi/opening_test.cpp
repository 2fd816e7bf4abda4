// Datasets opened on a thread of the library: progress, the one hand-over, and every way in which an opening can end early.
// The log of 300 files gets a line after 256 of them, and there these openings stand still until the test lets them go on.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <poll.h>

#include <thread>

#include "tests/memory/temp_files.h"
#include "tests/source/gzip_files.h"
#include "tests/source/tar/tar_files.h"
#include "tests/support/gated_log.h"
#include "tests/support/job.h"

namespace dataline::tests::opening_test {
namespace {

constexpr int kFiles = 300;
using Opening = std::unique_ptr<dl_opening, Destroy<dl_opening, dl_opening_destroy>>;

Opening open_async(const std::string& uri, const Options& options) {
  Error error;
  dl_opening* opening = nullptr;
  EXPECT_EQ(dl_dataset_open_async(uri.c_str(), options.get(), &opening, &error), DL_OK) << error.message;
  return Opening(opening);
}

struct Waited {
  dl_status status = DL_OK;
  std::string message;
  Dataset dataset;
};

Waited wait(const Opening& opening, int64_t timeout_ns = -1) {
  Waited out;
  Error error;
  dl_dataset* dataset = nullptr;
  out.status = dl_opening_wait(opening.get(), timeout_ns, &dataset, &error);
  out.dataset.reset(dataset);
  out.message = error.message;
  EXPECT_EQ(out.dataset != nullptr, out.status == DL_OK);
  return out;
}

dl_progress progress_of(const Opening& opening) {
  dl_progress progress = {};
  progress.struct_size = sizeof progress;
  Error error;
  EXPECT_EQ(dl_opening_progress(opening.get(), &progress, &error), DL_OK) << error.message;
  return progress;
}

class OpeningTest : public ::testing::Test {
 protected:
  OpeningTest() {
    for (int i = 0; i < kFiles; ++i) dir_.write("shards/" + std::to_string(i) + ".bin", "xyz");
  }
  ~OpeningTest() override { log_.let_go(); }

  // Stands still after 256 files.
  Opening held() {
    const dl_log log = log_.table();
    EXPECT_EQ(dl_options_set_log(options_.get(), &log, nullptr), DL_OK);
    Opening opening = open_async(shards_, options_);
    log_.wait_held();
    return opening;
  }

  TempDir dir_;
  std::string shards_ = "raw:" + dir_.path("shards") + "?dtype=u8&shape=1";
  GatedLog log_;
  Options options_ = make_options();
};

TEST_F(OpeningTest, TheDatasetIsHandedOutOnce) {
  const Opening opening = open_async(shards_, options_);
  const Waited got = wait(opening);
  ASSERT_EQ(got.status, DL_OK) << got.message;
  EXPECT_EQ(dl_dataset_count(got.dataset.get()), 3 * kFiles);
  const Waited again = wait(opening);
  EXPECT_EQ(again.status, DL_ERR_WRONG_STATE);
  EXPECT_THAT(again.message, ::testing::HasSubstr(shards_ + ": the dataset was already returned"));
}

TEST_F(OpeningTest, TheDatasetNeedsTheOpeningNoMore) {
  Opening opening = open_async(shards_, options_);
  const Waited got = wait(opening);
  opening.reset();
  ASSERT_EQ(got.status, DL_OK) << got.message;
  EXPECT_EQ(next(make_loader(got.dataset, {{"num_workers", "0"}})).status, DL_OK);
}

TEST_F(OpeningTest, WhileItGoesOnItsProgressIsSeenAndWaitsTimeOut) {
  const Opening opening = held();
  const dl_progress half = progress_of(opening);
  EXPECT_EQ(half.done, 0);
  EXPECT_LE(half.files, 256);  // less where they took half a second
  EXPECT_EQ(half.total_files, kFiles);
  EXPECT_EQ(wait(opening, 0).status, DL_TIMEOUT);
  EXPECT_EQ(wait(opening, 1000).status, DL_TIMEOUT);
  EXPECT_THAT(log_.lines(), ::testing::ElementsAre("opening " + shards_ + ": " + std::to_string(half.files) +
                                                   " of 300 files"))
      << "the same number";
  log_.let_go();
  EXPECT_EQ(wait(opening).status, DL_OK);
  const dl_progress whole = progress_of(opening);
  EXPECT_EQ(whole.done, 1);
  EXPECT_EQ(whole.files, kFiles);
  EXPECT_EQ(whole.total_files, kFiles);
}

TEST_F(OpeningTest, ACancelEndsItAndEachWaitSaysSo) {
  const Opening opening = held();
  dl_opening_cancel(opening.get());
  log_.let_go();
  EXPECT_EQ(wait(opening).status, DL_CANCELLED);
  EXPECT_EQ(wait(opening, 0).status, DL_CANCELLED);
  EXPECT_LT(progress_of(opening).files, kFiles);
}

TEST_F(OpeningTest, TheTokenOfTheOptionsEndsItButItsOwnCancelLeavesTheTokenAlone) {
  CancelToken token;
  {
    dl_cancel_token* made = nullptr;
    ASSERT_EQ(dl_cancel_token_create(&made, nullptr), DL_OK);
    token.reset(made);
  }
  ASSERT_EQ(dl_options_set_cancel_token(options_.get(), token.get(), nullptr), DL_OK);
  const Opening first = held();
  dl_opening_cancel(first.get());
  log_.let_go();
  EXPECT_EQ(wait(first).status, DL_CANCELLED);
  EXPECT_EQ(wait(open_async(shards_, options_)).status, DL_OK) << "the token was not cancelled";
  dl_cancel_token_cancel(token.get());
  EXPECT_EQ(wait(open_async(shards_, options_)).status, DL_CANCELLED);
}

TEST_F(OpeningTest, DestroyedInTheMiddleItGivesEverythingBack) {
  Opening opening = held();
  options_.reset();
  EXPECT_EQ(log_.destroyed, 0) << "the opening has it";
  std::thread destroyer([&] { opening.reset(); });
  log_.let_go();
  destroyer.join();
  EXPECT_EQ(log_.destroyed, 1);
}

TEST_F(OpeningTest, DestroyedWithADatasetThatNobodyTookItFreesThat) {
  Opening opening = open_async(shards_, options_);
  while (progress_of(opening).done == 0) std::this_thread::yield();
  opening.reset();  // a leak is the sanitizer's to find
}

TEST_F(OpeningTest, OfTwoThreadsThatWaitOneGetsTheDataset) {
  const Opening opening = held();
  std::vector<dl_status> statuses(2);
  std::vector<std::thread> threads;
  for (dl_status& status : statuses) threads.emplace_back([&] { status = wait(opening).status; });
  log_.let_go();
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(statuses, ::testing::UnorderedElementsAre(DL_OK, DL_ERR_WRONG_STATE));
}

TEST_F(OpeningTest, TheHandleIsReadableOnceItIsDone) {
  const Opening opening = held();
  intptr_t handle = -1;
  ASSERT_EQ(dl_opening_wait_handle(opening.get(), &handle, nullptr), DL_OK);
  pollfd wanted = {static_cast<int>(handle), POLLIN, 0};
  EXPECT_EQ(poll(&wanted, 1, 0), 0);
  log_.let_go();
  EXPECT_EQ(poll(&wanted, 1, -1), 1);
  EXPECT_EQ(wait(opening, 0).status, DL_OK);

  const Opening done = open_async(shards_, make_options());
  EXPECT_EQ(wait(done).status, DL_OK);
  ASSERT_EQ(dl_opening_wait_handle(done.get(), &handle, nullptr), DL_OK);
  wanted.fd = static_cast<int>(handle);
  EXPECT_EQ(poll(&wanted, 1, 0), 1) << "one that was done before it had a handle";
}

TEST_F(OpeningTest, WhatIsWrongIsToldAtEveryWait) {
  const Opening opening = open_async("npy:" + dir_.path("nowhere.npy"), options_);
  for (int i = 0; i < 2; ++i) {
    const Waited got = wait(opening);
    EXPECT_EQ(got.status, DL_ERR_NOT_FOUND);
    EXPECT_THAT(got.message, ::testing::HasSubstr("nowhere.npy"));
  }
}

TEST_F(OpeningTest, AForkedChildIsToldAndMayDestroyIt) {
  Opening opening = held();
  EXPECT_EQ(in_child([&] {
              if (wait(opening, -1).status != DL_ERR_FORKED) return 1;
              intptr_t handle = -1;
              if (dl_opening_wait_handle(opening.get(), &handle, nullptr) != DL_ERR_FORKED) return 2;
              dl_opening_destroy(opening.release());
              return 0;
            }),
            0);
  log_.let_go();
  EXPECT_EQ(wait(opening).status, DL_OK) << "the parent's goes on";
}

TEST_F(OpeningTest, WhatIsReadIndexedAndInflatedIsCounted) {
  const auto whole = [&](const std::string& uri, const Settings& settings = {}) {
    const Opening opening = open_async(uri, make_options(settings));
    const Waited got = wait(opening);
    EXPECT_EQ(got.status, DL_OK) << got.message;
    return progress_of(opening);
  };
  const dl_progress loaded = whole(shards_, {{"io", "memory"}});
  EXPECT_EQ(loaded.bytes, 3 * kFiles);
  EXPECT_EQ(loaded.total_bytes, 3 * kFiles);
  EXPECT_EQ(loaded.entries, 0);

  for (const char* name : {"pets/cat/1.jpg", "pets/dog/2.jpg", "pets/dog/3.jpg"}) dir_.write(name, "x");
  EXPECT_EQ(whole("folder:" + dir_.path("pets")).entries, 3);

  const std::string tar = tar_member("a.jpg", "x") + tar_member("b.jpg", "y") + tar_end();
  const dl_progress archive = whole("tar:" + dir_.write("set.tar", tar));
  EXPECT_EQ(archive.files, 1);
  EXPECT_EQ(archive.entries, 2);
  EXPECT_EQ(archive.bytes, static_cast<int64_t>(tar.size()));
  EXPECT_EQ(archive.total_bytes, archive.bytes);
}

TEST_F(OpeningTest, AnInflatedFileCountsAsStoredAndAsInflated) {
  if (std::string(dl_build_info()).find("libdeflate") == std::string::npos ||
      std::string(dl_build_info()).find("missing: libdeflate") != std::string::npos)
    GTEST_SKIP() << dl_build_info();
  const std::string plain("\0\0\x08\x01\0\0\0\x03xyz", 11), packed = gzip_stored(plain);
  const Opening opening = open_async("idx:" + dir_.write("x-idx1-ubyte.gz", packed), options_);
  const Waited got = wait(opening);
  ASSERT_EQ(got.status, DL_OK) << got.message;
  EXPECT_EQ(dl_dataset_count(got.dataset.get()), 3);
  EXPECT_EQ(progress_of(opening).bytes, static_cast<int64_t>(packed.size() + plain.size()));
  EXPECT_EQ(progress_of(opening).total_bytes, static_cast<int64_t>(packed.size() + plain.size()));
}

}  // namespace
}  // namespace dataline::tests::opening_test
