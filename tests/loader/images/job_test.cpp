// Jobs on encoded images: the same bytes whatever loads them, memory fixed at create, no bad file that stops or shortens
// an epoch without a word.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/loader/images/photographs.h"
#include "tests/support/peak_growth.h"

namespace dataline::tests::job_test {
namespace {

constexpr const char* kTransform =
    "image: decode, random_resized_crop(32), hflip, normalize(imagenet), chw; label: one_hot(5)";
const Settings kJob = {
    {"transform", kTransform}, {"shuffle", "full"}, {"batch_size", "5"}, {"epochs", "2"}, {"seed", "3"}};

TEST(ImageJobs, GiveTheSameBytesForAnyWorkersDepthsAndLeases) {
  const Dataset dataset = Photographs().dataset();
  const std::vector<std::string> alone = stream_of(make_loader(dataset, with(kJob, {{"num_workers", "0"}})));
  ASSERT_EQ(alone.size(), 10u);
  EXPECT_NE(alone[0].substr(4), alone[5].substr(4)) << "each epoch draws anew";
  for (const char* workers : {"1", "2", "3"}) {
    for (const char* depth : {"1", "2", "6"}) {
      const Settings job =
          with(kJob, {{"num_workers", workers}, {"prefetch_depth", depth}, {"max_leases", "2"}});
      EXPECT_EQ(stream_of(make_loader(dataset, job)), alone) << workers << " workers, depth " << depth;
      const Loader holding = make_loader(dataset, job);
      EXPECT_EQ(stream_of(holding, /*held=*/4), alone) << "copies beyond max_leases";
      EXPECT_GT(stats_of(holding).lease_copies, 0);
    }
  }
}

TEST(ImageJobs, GoOnFromASavedStateWithTheSameBytes) {
  const Dataset dataset = Photographs().dataset();
  const std::vector<std::string> whole = stream_of(make_loader(dataset, with(kJob, {{"num_workers", "1"}})));
  for (size_t stop : {size_t{1}, size_t{4}, size_t{7}}) {
    const Loader first = make_loader(dataset, with(kJob, {{"num_workers", "2"}}));
    std::vector<std::string> joined;
    while (joined.size() < stop) {
      const Delivered got = next(first);
      if (got.status == DL_OK) joined.push_back(digest_of(got));
    }
    const Loader second = make_loader(dataset, with(kJob, {{"num_workers", "0"}}));
    Error error;
    ASSERT_EQ(dl_loader_state_load(second.get(), save_state(first).c_str(), &error), DL_OK) << error.message;
    for (std::string& line : stream_of(second)) joined.push_back(std::move(line));
    EXPECT_EQ(joined, whole) << "stopped after " << stop;
  }
}

TEST(ImageJobs, RanksTogetherSeeWhatOneSees) {
  const Dataset dataset = Photographs().dataset();
  const Settings job = {
      {"transform", kTransform}, {"shuffle", "full"}, {"global_batch_size", "6"}, {"epochs", "1"}};
  const Loader whole = make_loader(dataset, job);
  const Loader left = make_loader(dataset, with(job, {{"world_size", "2"}, {"rank", "0"}}));
  const Loader right = make_loader(dataset, with(job, {{"world_size", "2"}, {"rank", "1"}}));
  for (int step = 0; step < 4; ++step) {
    const Delivered a = next(left), b = next(right), all = next(whole);
    ASSERT_EQ(all.status, DL_OK);
    EXPECT_EQ(bytes_of(view_of(a.batch, 0)) + bytes_of(view_of(b.batch, 0)), bytes_of(view_of(all.batch, 0)));
  }
}

TEST(ImageJobs, HoldTheSameMemoryFromCreateThroughTwentyEpochs) {
  const Dataset dataset = Photographs().dataset();
  for (const char* workers : {"0", "2"}) {
    const Loader loader = make_loader(
        dataset, with(kJob, {{"epochs", "20"}, {"num_workers", workers}, {"max_decoded_bytes", "8MiB"}}));
    const int64_t held = stats_of(loader).held_bytes;
    for (int epoch = 0; epoch < 3; ++epoch) {
      while (next(loader).status == DL_OK) {
      }
    }
    const PeakGrowth growth;
    for (int epoch = 3; epoch < 20; ++epoch) {
      while (next(loader).status == DL_OK) {
      }
      EXPECT_EQ(stats_of(loader).held_bytes, held);
    }
    // A worker that gets its first turn late touches its decoder's memory then: 2 MiB. A picture more each epoch is 10.
    EXPECT_LT(growth.bytes(), 4 << 20);
    EXPECT_EQ(next(loader).status, DL_END);
    EXPECT_EQ(stats_of(loader).samples, 20 * 24);
  }
}

// Each thread that fills has one, and the caller's thread has none beside workers.
TEST(ImageJobs, ThePlanCountsTheMemoryOfEachThreadsDecoder) {
  const Dataset dataset = Photographs().dataset();
  const auto held = [&](const char* workers) {
    return stats_of(
               make_loader(dataset, with(kJob, {{"num_workers", workers}, {"max_decoded_bytes", "8MiB"}})))
        .held_bytes;
  };
  EXPECT_NEAR(static_cast<double>(held("3") - held("2")), 8 << 20, 1 << 20);
  EXPECT_NEAR(static_cast<double>(held("3") - held("1")), 16 << 20, 1 << 20);
  const auto [status, message] = create_error(
      dataset,
      with(kJob, {{"num_workers", "2"}, {"max_decoded_bytes", "64MiB"}, {"memory_budget", "100MiB"}}));
  EXPECT_EQ(status, DL_ERR_OVER_BUDGET);
  for (const char* part : {"decoders of 2 threads with 67108864 each", "num_workers", "max_decoded_bytes"})
    EXPECT_NE(message.find(part), std::string::npos) << part << " in: " << message;
  const size_t at = message.find("at least ") + 9;
  const std::string least = message.substr(at, message.find(' ', at) - at);
  EXPECT_EQ(
      stream_of(make_loader(dataset, with(kJob, {{"num_workers", "2"}, {"memory_budget", least}}))).size(),
      10u);
}

struct Refusal {
  const char* option;
  const char* value;
  const char* names;  // in the message
};

TEST(ImageLimits, AreErrorsOfTheSampleThatNameTheOption) {
  Photographs set;
  set.count = 4;
  set.size = [](int64_t i) { return i == 2 ? ImageSize{400, 500} : ImageSize{40, 40}; };
  const Dataset dataset = set.dataset();
  for (const Refusal& refusal : {Refusal{"max_pixels", "199999", "max_pixels"},
                                 Refusal{"max_decoded_bytes", "200KiB", "max_decoded_bytes"},
                                 Refusal{"max_bytes_per_sample", "100KiB", "max_bytes_per_sample"}}) {
    const Loader loader = make_loader(dataset, {{"transform", "image: decode, grayscale(1)"},
                                                {"batch_size", "1"},
                                                {"epochs", "1"},
                                                {refusal.option, refusal.value}});
    std::vector<dl_status> statuses;
    std::string message;
    for (int i = 0; i < 4; ++i) {
      const Delivered got = next(loader);
      statuses.push_back(got.status);
      message += got.message;
    }
    EXPECT_EQ(statuses, (std::vector<dl_status>{DL_OK, DL_OK, DL_ERR_BAD_SAMPLE, DL_OK})) << refusal.option;
    EXPECT_NE(message.find(refusal.names), std::string::npos) << message;
  }
}

TEST(BadImages, RaiseTellsOfEachAndDeliversTheOthers) {
  Photographs set;
  set.broken = {3, 11, 20};
  const Dataset dataset = set.dataset();
  for (const char* workers : {"0", "2"}) {
    const Loader loader = make_loader(dataset, with(kJob, {{"epochs", "1"}, {"num_workers", workers}}));
    std::vector<int64_t> seen;
    int errors = 0;
    for (;;) {
      const Delivered got = next(loader);
      if (got.status == DL_END_OF_EPOCH) break;
      if (got.status == DL_OK) seen.insert(seen.end(), got.indices.begin(), got.indices.end());
      if (got.status == DL_OK) continue;
      ASSERT_EQ(got.status, DL_ERR_BAD_SAMPLE) << got.message;
      ++errors;
    }
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(seen.size(), 21u);
    EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end());
    for (int64_t broken : set.broken) EXPECT_FALSE(std::binary_search(seen.begin(), seen.end(), broken));
    EXPECT_GE(errors, 1);
    EXPECT_EQ(stats_of(loader).skipped, 3);
    EXPECT_EQ(stats_of(loader).bad, 3);
  }
}

TEST(BadImages, AreStoodInForAndListedTheSameForAnyWorkers) {
  Photographs set;
  set.broken = {3, 11, 20};
  const Dataset dataset = set.dataset();
  std::vector<std::string> first;
  for (const char* policy : {"replace", "quarantine"}) {
    for (const char* workers : {"0", "1", "3"}) {
      const Loader loader =
          make_loader(dataset, with(kJob, {{"on_error", policy}, {"num_workers", workers}, {"seed", "5"}}));
      const std::vector<std::string> lines = stream_of(loader);
      if (first.empty()) first = lines;
      EXPECT_EQ(lines, first) << policy << ", " << workers << " workers";
      const dl_stats stats = stats_of(loader);
      EXPECT_EQ(stats.samples, 48) << "no epoch is shortened";
      EXPECT_EQ(stats.replaced, 6);
      EXPECT_EQ(stats.skipped, 0);
      ASSERT_EQ(dl_loader_bad_sample_count(loader.get()), 3);
      std::set<int64_t> listed;
      for (int64_t i = 0; i < 3; ++i) {
        dl_bad_sample bad = {};
        bad.struct_size = sizeof bad;
        Error error;
        ASSERT_EQ(dl_loader_bad_sample_at(loader.get(), i, &bad, &error), DL_OK);
        EXPECT_FALSE(set.broken.contains(bad.replacement));
        EXPECT_NE(std::string(bad.message).find("field 'image'"), std::string::npos) << bad.message;
        listed.insert(bad.index);
      }
      EXPECT_EQ(listed, set.broken);
    }
  }
}

}  // namespace
}  // namespace dataline::tests::job_test
