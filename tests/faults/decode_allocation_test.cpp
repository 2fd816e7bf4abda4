// Memory that runs out at every point of a job on encoded images, once and for ever.
//
// operator new is replaced for this program, and the loader's blocks come from an allocator table.
// SPDX-License-Identifier: Apache-2.0
#include "tests/loader/images/photographs.h"
#include "tests/support/failing_new.h"

namespace dataline::tests::decode_allocation_test {
namespace {

struct Outcome {
  int64_t samples = 0;
  bool ended = false;
};

void expect_memory_or_ok(dl_status status, const dl_error& error) {
  if (status >= 0) return;
  EXPECT_TRUE(status == DL_ERR_NO_MEMORY || status == DL_ERR_BAD_SAMPLE)
      << dl_status_name(status) << ": " << error.message;
}

// Runs a whole small job; every call either works or says that memory ran out.
Outcome run_job(dl_dataset* dataset, const char* workers, CountingAllocator& allocator) {
  dl_error error;
  dl_error_init(&error, sizeof error);
  dl_options* options = nullptr;
  dl_loader* loader = nullptr;
  const dl_allocator table = allocator.table();
  dl_status status = dl_options_create(&options, &error);
  const std::pair<const char*, const char*> settings[] = {
      {"batch_size", "4"},
      {"epochs", "1"},
      {"num_workers", workers},
      {"max_decoded_bytes", "4MiB"},
      {"on_error", "replace"},
      {"transform",
       "image: decode, random_resized_crop(16), color_jitter(0.4), normalize(imagenet), chw, mixup(0.2);"
       "label: one_hot(5)"}};
  for (const auto& [key, value] : settings) {
    if (status == DL_OK) status = dl_options_set(options, key, value, &error);
  }
  if (status == DL_OK) status = dl_options_set_allocator(options, &table, &error);
  if (status == DL_OK) status = dl_loader_create(dataset, options, &loader, &error);
  expect_memory_or_ok(status, error);
  Outcome out;
  for (int call = 0; loader != nullptr && call < 40 && !out.ended; ++call) {
    dl_batch* batch = nullptr;
    status = dl_loader_next(loader, -1, &batch, &error);
    expect_memory_or_ok(status, error);
    out.ended = status == DL_END;
    if (status != DL_OK) continue;
    int32_t count = 0;
    out.samples += dl_batch_views(batch, &count)[0].shape[0];
    dl_batch_release(batch);
  }
  dl_loader_destroy(loader);
  dl_options_destroy(options);
  return out;
}

class DecodeAllocationFaults : public ::testing::TestWithParam<const char*> {};

TEST_P(DecodeAllocationFaults, EveryAllocationMayFailOnceOrForEverAndNothingLeaks) {
  Photographs set;
  set.count = 12;
  set.broken = {5};
  const Dataset dataset = set.dataset();
  CountingAllocator allocator;
  arm(-1, false);
  ASSERT_EQ(run_job(dataset.get(), GetParam(), allocator).samples, 12);
  const int64_t total = allocations.load();
  disarm();
  ASSERT_GT(total, 40);
  for (bool for_ever : {false, true}) {
    for (int64_t fail_at = 0; fail_at < total; ++fail_at) {
      const int64_t live = live_blocks.load();
      arm(fail_at, for_ever);
      const Outcome got = run_job(dataset.get(), GetParam(), allocator);
      disarm();
      ASSERT_EQ(live_blocks.load(), live) << "after failing allocation " << fail_at;
      ASSERT_EQ(allocator.blocks.load(), 0) << "after failing allocation " << fail_at;
      ASSERT_LE(got.samples, 12);
      if (::testing::Test::HasFailure())
        FAIL() << "at allocation " << fail_at << (for_ever ? ", for ever" : ", once");
    }
  }
  EXPECT_EQ(run_job(dataset.get(), GetParam(), allocator).samples, 12)
      << "nothing was damaged for later jobs";
}

INSTANTIATE_TEST_SUITE_P(Workers, DecodeAllocationFaults, ::testing::Values("0", "1"));

TEST(DecodeSteadyState, AllocatesNothingOfOurs) {
  const Dataset dataset = Photographs().dataset();
  for (const char* workers : {"0", "2"}) {
    const Loader loader = make_loader(
        dataset, {{"transform", "image: decode, random_resized_crop(16), hflip, normalize(imagenet), chw"},
                  {"batch_size", "4"},
                  {"num_workers", workers},
                  {"max_decoded_bytes", "4MiB"}});
    dl_error error;
    dl_error_init(&error, sizeof error);
    const auto epoch = [&] {
      dl_batch* batch = nullptr;
      while (dl_loader_next(loader.get(), -1, &batch, &error) == DL_OK) dl_batch_release(batch);
    };
    epoch();
    epoch();
    arm(-1, false);
    for (int e = 0; e < 5; ++e) epoch();
    disarm();
    EXPECT_EQ(allocations.load(), 0) << "num_workers " << workers;
  }
}

}  // namespace
}  // namespace dataline::tests::decode_allocation_test
