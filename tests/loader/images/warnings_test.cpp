// on_warning: JPEGs that libjpeg only warns of are delivered and counted, or bad.
// SPDX-License-Identifier: Apache-2.0
#include "tests/loader/images/photographs.h"

namespace dataline::tests::warnings_test {
namespace {

// Each status that next() gave until the job ended, batches as 0.
std::vector<dl_status> run(const Loader& loader) {
  std::vector<dl_status> seen;
  Error error;
  for (int call = 0; call < 100; ++call) {
    dl_batch* batch = nullptr;
    seen.push_back(dl_loader_next(loader.get(), -1, &batch, &error));
    dl_batch_release(batch);
    if (seen.back() == DL_END) break;
  }
  return seen;
}

Settings settings(const char* workers, const char* on_warning) {
  Settings all = {{"transform", "image: decode, resize([16, 16]), chw"},
                  {"batch_size", "4"},
                  {"epochs", "2"},
                  {"num_workers", workers},
                  {"max_decoded_bytes", "4MiB"}};
  if (on_warning != nullptr) all.emplace_back("on_warning", on_warning);
  return all;
}

class OnWarning : public ::testing::TestWithParam<const char*> {};

TEST_P(OnWarning, ImagesAreDeliveredAndCountedByDefault) {
  Photographs set;
  set.damaged = {3, 8, 17};
  const Dataset dataset = set.dataset();
  for (const char* word : {static_cast<const char*>(nullptr), "accept"}) {
    const Loader loader = make_loader(dataset, settings(GetParam(), word));
    const std::vector<dl_status> seen = run(loader);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), DL_OK), 12);
    const dl_stats stats = stats_of(loader);
    EXPECT_EQ(stats.samples, 48);
    EXPECT_EQ(stats.warned, 6) << "three images in each of two epochs";
    EXPECT_EQ(stats.bad, 0);
  }
}

TEST_P(OnWarning, ErrorMakesThemBadSamples) {
  Photographs set;
  set.damaged = {3, 8, 17};
  const Dataset dataset = set.dataset();
  Settings with_policy = settings(GetParam(), "error");
  with_policy.emplace_back("on_error", "quarantine");
  const Loader loader = make_loader(dataset, with_policy);
  run(loader);
  const dl_stats stats = stats_of(loader);
  EXPECT_EQ(stats.samples, 48);
  EXPECT_EQ(stats.warned, 0);
  EXPECT_EQ(stats.bad, 3);
  Error error;
  dl_bad_sample bad = {};
  bad.struct_size = sizeof bad;
  ASSERT_EQ(dl_loader_bad_sample_at(loader.get(), 0, &bad, &error), DL_OK);
  EXPECT_EQ(bad.index, 3);
  EXPECT_EQ(bad.code, DL_ERR_CORRUPT);
  EXPECT_NE(std::string(bad.message).find("premature end of data segment"), std::string::npos) << bad.message;
}

// Counted when they are delivered: batches that a seek leaves behind do not count.
TEST_P(OnWarning, OnlyDeliveredImagesCount) {
  Photographs set;
  for (int64_t i = 0; i < set.count; ++i) set.damaged.insert(i);
  const Dataset dataset = set.dataset();
  const Loader loader = make_loader(dataset, settings(GetParam(), nullptr));
  Error error;
  dl_batch* batch = nullptr;
  ASSERT_EQ(dl_loader_next(loader.get(), -1, &batch, &error), DL_OK);
  dl_batch_release(batch);
  ASSERT_EQ(dl_loader_seek(loader.get(), 1, 4, &error), DL_OK);
  run(loader);
  const dl_stats stats = stats_of(loader);
  EXPECT_EQ(stats.samples, 12);
  EXPECT_EQ(stats.warned, stats.samples);
}

INSTANTIATE_TEST_SUITE_P(Workers, OnWarning, ::testing::Values("0", "2"));

}  // namespace
}  // namespace dataline::tests::warnings_test
