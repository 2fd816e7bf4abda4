// Memory that runs out at every point of the main scenarios, once and for ever; and a steady state that takes none.
//
// operator new is replaced for this program, and the loader's blocks come from an allocator table.
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/failing_new.h"
#include "tests/support/job.h"

namespace dataline::tests::allocation_test {
namespace {

struct Scenario {
  Settings settings;
  bool hold_batches = false;
};

void expect_memory_or_ok(dl_status status, const dl_error& error) {
  if (status >= 0) return;
  EXPECT_EQ(status, DL_ERR_NO_MEMORY) << dl_status_name(status) << ": " << error.message;
}

// Runs a whole small job; every call either works or says that memory ran out. Returns samples delivered.
int64_t run_job(const Scenario& scenario, CountingAllocator& allocator) {
  static const uint64_t values[64] = {};
  static const int64_t shape[] = {64};
  dl_error error;
  dl_error_init(&error, sizeof error);
  dl_options* options = nullptr;
  dl_dataset* dataset = nullptr;
  dl_loader* loader = nullptr;
  dl_batch* held[8] = {};
  int64_t samples = 0;
  const dl_allocator table = allocator.table();
  dl_array array = {};
  array.struct_size = sizeof array;
  array.name = "data";
  array.dtype = DL_DTYPE_U64;
  array.rank = 1;
  array.shape = shape;
  array.data = values;

  dl_status status = dl_options_create(&options, &error);
  for (size_t i = 0; status == DL_OK && i < scenario.settings.size(); ++i) {
    status = dl_options_set(options, scenario.settings[i].first.c_str(), scenario.settings[i].second.c_str(),
                            &error);
  }
  if (status == DL_OK) status = dl_options_set_allocator(options, &table, &error);
  if (status == DL_OK)
    status = dl_dataset_from_arrays(&array, 1, nullptr, nullptr, options, &dataset, &error);
  if (status == DL_OK) status = dl_loader_create(dataset, options, &loader, &error);
  expect_memory_or_ok(status, error);
  int taken = 0;
  for (int call = 0; loader != nullptr && call < 40; ++call) {
    dl_batch* batch = nullptr;
    status = dl_loader_next(loader, -1, &batch, &error);
    expect_memory_or_ok(status, error);
    if (status == DL_END) break;
    if (status != DL_OK) continue;
    int32_t count = 0;
    samples += dl_batch_views(batch, &count)[0].shape[0];
    if (scenario.hold_batches && taken < 8) {
      held[taken++] = batch;
    } else {
      dl_batch_release(batch);
    }
    DLManagedTensorVersioned* tensor = nullptr;
    if (scenario.hold_batches) {
      status = dl_batch_dlpack_versioned(batch, 0, &tensor, &error);
      expect_memory_or_ok(status, error);
      if (tensor != nullptr)
        (*reinterpret_cast<void (**)(void*)>(reinterpret_cast<char*>(tensor) + 16))(tensor);
    }
    char text[4096];
    size_t bytes = sizeof text;
    expect_memory_or_ok(dl_loader_state_save(loader, text, &bytes, &error), error);
  }
  dl_loader_destroy(loader);
  for (dl_batch* batch : held) dl_batch_release(batch);
  dl_dataset_destroy(dataset);
  dl_options_destroy(options);
  return samples;
}

class AllocationFaults : public ::testing::TestWithParam<Scenario> {};

TEST_P(AllocationFaults, EveryAllocationMayFailOnceOrForEverAndNothingLeaks) {
  CountingAllocator allocator;
  arm(-1, false);
  ASSERT_EQ(run_job(GetParam(), allocator), 128);
  const int64_t total = allocations.load();
  disarm();
  ASSERT_GT(total, 20);
  for (bool for_ever : {false, true}) {
    for (int64_t fail_at = 0; fail_at < total; ++fail_at) {
      const int64_t live = live_blocks.load();
      arm(fail_at, for_ever);
      const int64_t samples = run_job(GetParam(), allocator);
      disarm();
      ASSERT_EQ(live_blocks.load(), live) << "after failing allocation " << fail_at;
      ASSERT_LE(samples, 128);
      ASSERT_EQ(allocator.blocks.load(), 0) << "after failing allocation " << fail_at;
      if (::testing::Test::HasFailure())
        FAIL() << "at allocation " << fail_at << (for_ever ? ", for ever" : ", once");
    }
  }
  EXPECT_EQ(run_job(GetParam(), allocator), 128) << "nothing was damaged for later jobs";
}

const Settings kSmall = {{"batch_size", "16"}, {"shuffle", "full"}, {"epochs", "2"}};

INSTANTIATE_TEST_SUITE_P(Scenarios, AllocationFaults,
                         ::testing::Values(Scenario{with(kSmall, {{"num_workers", "0"}})},
                                           Scenario{with(kSmall, {{"num_workers", "2"}})},
                                           Scenario{with(kSmall, {{"num_workers", "1"}, {"max_leases", "1"}}),
                                                    true},
                                           Scenario{with(kSmall, {{"num_workers", "1"},
                                                                  {"transform", "cast(f32), scale(0.5)"}})}));

TEST(SteadyState, AllocatesNothing) {
  Dataset dataset = counting_dataset(1000);
  for (const char* workers : {"0", "1", "3"}) {
    CountingAllocator allocator;
    const dl_allocator table = allocator.table();
    Options options = make_options({{"batch_size", "16"}, {"shuffle", "full"}, {"num_workers", workers}});
    Error error;
    ASSERT_EQ(dl_options_set_allocator(options.get(), &table, &error), DL_OK);
    dl_loader* handle = nullptr;
    ASSERT_EQ(dl_loader_create(dataset.get(), options.get(), &handle, &error), DL_OK) << error.message;
    Loader loader(handle);
    auto epoch = [&] {
      dl_batch* batch = nullptr;
      while (dl_loader_next(loader.get(), -1, &batch, &error) == DL_OK) dl_batch_release(batch);
    };
    epoch();
    const Epoch loop = make_epoch(loader);
    arm(-1, false);
    dl_batch* batch = nullptr;
    while (dl_epoch_next(loop.get(), -1, &batch, &error) == DL_OK) dl_batch_release(batch);
    for (int e = 0; e < 5; ++e) epoch();
    disarm();
    EXPECT_EQ(allocations.load(), 0) << "num_workers " << workers;
  }
}

TEST(NewEpoch, WithoutMemoryEndsNoLoop) {
  const Loader loader = make_loader(counting_dataset(64), {{"batch_size", "1"}, {"num_workers", "0"}});
  const Epoch loop = make_epoch(loader);
  dl_epoch* newer = nullptr;
  dl_status status = DL_ERR_NO_MEMORY;
  for (int64_t fail_at = 0; status == DL_ERR_NO_MEMORY; ++fail_at) {
    EXPECT_EQ(next(loop).step, fail_at);
    const int64_t live = live_blocks.load();
    newer = loop.get();
    arm(fail_at, false);
    status = dl_loader_epoch(loader.get(), &newer, nullptr);
    disarm();
    if (status == DL_OK) break;
    EXPECT_EQ(status, DL_ERR_NO_MEMORY);
    EXPECT_EQ(newer, nullptr);
    EXPECT_EQ(live_blocks.load(), live);
    ASSERT_LT(fail_at, 60);
  }
  EXPECT_GT(allocations.load(), 0);
  EXPECT_EQ(next(loop).status, DL_ERR_WRONG_STATE);
  dl_epoch_release(newer);
}

}  // namespace
}  // namespace dataline::tests::allocation_test
