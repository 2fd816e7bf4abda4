// Mixes by repeats with homogeneous=batch, through the C interface: what ends each part, pads, counts, stand-ins.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "tests/loader/mixes.h"

namespace dataline::tests::parts_steps_test {
namespace {

const Settings kSteps = with(kJob, {{"homogeneous", "batch"}});
// 30, 18 and 12 samples an epoch: the last steps of a and b are short.
Dataset three_parts() { return mix({{"a", 20, 0, 1.5}, {"b", 9, 0, 2}, {"c", 30, 0, 0.4}}); }

struct Seen {
  std::map<uint64_t, int64_t> times;             // by value
  std::vector<std::vector<uint64_t>> by_length;  // batches of each part: their valid rows
  int64_t rows = 0, steps = 0;
};

// An epoch; each batch is of one part, says so, and pads from that part's samples.
Seen epoch_of(const Loader& loader) {
  Seen seen;
  seen.by_length.resize(3);
  for (;;) {
    Delivered got = next(loader);
    if (got.status != DL_OK) {
      EXPECT_EQ(got.status, DL_END_OF_EPOCH) << got.message;
      return seen;
    }
    ++seen.steps;
    seen.rows += static_cast<int64_t>(got.values.size());
    if (got.values.empty()) continue;
    dl_batch_info info = {};
    info.struct_size = sizeof info;
    EXPECT_EQ(dl_batch_get_info(got.batch.get(), &info, nullptr), DL_OK);
    const uint64_t part = got.values[0] / 1000;
    for (size_t row = 0; row < got.values.size(); ++row) {
      EXPECT_EQ(got.values[row] / 1000, part);
      EXPECT_EQ(info.sample_sources[row], static_cast<int64_t>(part));
      EXPECT_EQ(static_cast<uint64_t>(info.sample_indices[row]), got.values[row] % 1000);
      if (static_cast<int64_t>(row) < got.valid) ++seen.times[got.values[row]];
    }
    seen.by_length[part].push_back(static_cast<uint64_t>(got.valid));
  }
}

TEST(LoaderMixSteps, AnEpochHasTheSamplesOfOneWithoutAndEachPartMayEndWithAShortBatch) {
  const Dataset dataset = three_parts();
  for (const char* workers : {"0", "2"}) {
    const Loader loader = make_loader(dataset, with(kSteps, {{"num_workers", workers}}));
    EXPECT_EQ(dl_loader_steps(loader.get()), 3 + 2 + 1);
    std::vector<std::vector<uint64_t>> orders;
    for (int epoch = 0; epoch < 3; ++epoch) {
      Seen seen = epoch_of(loader);
      EXPECT_EQ(seen.rows, 60);
      for (std::vector<uint64_t>& lengths : seen.by_length) std::sort(lengths.begin(), lengths.end());
      EXPECT_EQ(seen.by_length, (std::vector<std::vector<uint64_t>>{{6, 12, 12}, {6, 12}, {12}}));
      int64_t once_more = 0, some = 0;
      for (uint64_t i = 0; i < 20; ++i) once_more += seen.times[i] - 1;
      for (uint64_t i = 0; i < 9; ++i) EXPECT_EQ(seen.times[1000 + i], 2);
      for (uint64_t i = 0; i < 30; ++i) some += seen.times[2000 + i];
      EXPECT_EQ(once_more, 10);
      EXPECT_EQ(some, 12);
      for (const auto& [value, times] : seen.times) EXPECT_LE(times, 2) << value;
      if (epoch < 2) {
        EXPECT_EQ(next(loader).status, DL_OK);  // leaves the end of the epoch behind
        Error error;
        ASSERT_EQ(dl_loader_seek(loader.get(), epoch + 1, 0, &error), DL_OK) << error.message;
      }
    }
  }
}

TEST(LoaderMixSteps, LastBatchAppliesToEachPart) {
  const Dataset dataset = three_parts();
  const Loader dropping = make_loader(dataset, with(kSteps, {{"last_batch", "drop"}}));
  EXPECT_EQ(dl_loader_steps(dropping.get()), 2 + 1 + 1);
  Seen seen = epoch_of(dropping);
  EXPECT_EQ(seen.rows, 48);
  EXPECT_EQ(seen.by_length, (std::vector<std::vector<uint64_t>>{{12, 12}, {12}, {12}}));
  EXPECT_EQ(stats_of(dropping).dropped, 12);

  const Loader padding = make_loader(dataset, with(kSteps, {{"last_batch", "pad"}}));
  seen = epoch_of(padding);
  EXPECT_EQ(seen.rows, 72);
  for (std::vector<uint64_t>& lengths : seen.by_length) std::sort(lengths.begin(), lengths.end());
  EXPECT_EQ(seen.by_length, (std::vector<std::vector<uint64_t>>{{6, 12, 12}, {6, 12}, {12}}));
  EXPECT_EQ(stats_of(padding).padded, 12);
  EXPECT_EQ(stats_of(padding).samples, 60);
}

TEST(LoaderMixSteps, WithoutAShuffleThePartsFollowOneAnotherInFileOrder) {
  const Dataset dataset = mix({{"a", 5, 0, 1}, {"b", 3, 0, 2}});
  const Settings job = {{"batch_size", "4"}, {"homogeneous", "batch"}, {"epochs", "1"}};
  EXPECT_EQ(
      job_batches(make_loader(dataset, job)),
      (std::vector<std::vector<uint64_t>>{{0, 1, 2, 3}, {4}, {1000, 1001, 1002, 1000}, {1001, 1002}, {}}));
  EXPECT_EQ(job_batches(make_loader(dataset, with(job, {{"last_batch", "pad"}})))[1],
            (std::vector<uint64_t>{4, 0, 1, 2}));
}

TEST(LoaderMixSteps, PartsTellWhatWasDeliveredAndAsked) {
  const Loader loader = make_loader(three_parts(), kSteps);
  const auto batches = job_batches(loader);
  EXPECT_EQ(batches.size(), 3u * 7);
  const std::vector<dl_part> parts = parts_of(loader);
  const double shares[] = {0.5, 0.3, 0.2}, epochs[] = {4.5, 6, 1.2};
  for (size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(parts[k].delivered, static_cast<int64_t>(shares[k] * 180));
    EXPECT_NEAR(parts[k].share_got, shares[k], 1e-12);
    EXPECT_NEAR(parts[k].share_asked, shares[k], 1e-12);
    EXPECT_NEAR(parts[k].epochs, epochs[k], 1e-9);
  }
}

// In windows and in steps, a stand-in is of the same part, and nothing else of the stream changes.
TEST(LoaderMixSteps, AStandInIsOfTheSamePart) {
  for (const bool repeats : {false, true}) {
    TestReader good, bad;
    bad.fails = [](int64_t index) { return index % 7 == 3; };
    const Dataset a = good.dataset(20), b = bad.dataset(20);
    dl_mix_part parts[2] = {};
    for (dl_mix_part& part : parts)
      part.struct_size = sizeof part, (repeats ? part.repeat : part.weight) = 1.5;
    parts[0].name = "a", parts[0].dataset = a.get();
    parts[1].name = "b", parts[1].dataset = b.get();
    dl_dataset* raw = nullptr;
    Error error;
    ASSERT_EQ(dl_dataset_mix(parts, 2, nullptr, 0, -1, nullptr, &raw, &error), DL_OK) << error.message;
    const Dataset dataset(raw);
    const Settings job = with(repeats ? kSteps : kWindowJob, {{"on_error", "quarantine"}});
    const Loader loader = make_loader(dataset, job);
    while (next(loader).status != DL_END) continue;
    const int64_t found = dl_loader_bad_sample_count(loader.get());
    EXPECT_GE(found, 3);
    for (int64_t i = 0; i < found; ++i) {
      dl_bad_sample sample = {};
      sample.struct_size = sizeof sample;
      ASSERT_EQ(dl_loader_bad_sample_at(loader.get(), i, &sample, &error), DL_OK);
      EXPECT_EQ(sample.source, 1);
      EXPECT_EQ(sample.index % 7, 3);
      EXPECT_GE(sample.replacement, 0);
      EXPECT_LT(sample.replacement, 20);
      EXPECT_NE(sample.replacement % 7, 3);
    }
    const Loader healthy = make_loader(
        repeats ? mix({{"a", 20, 0, 1.5}, {"b", 20, 0, 1.5}}) : mix({{"a", 20, 1.5}, {"b", 20, 1.5}}), job);
    while (next(healthy).status != DL_END) continue;
    for (size_t k = 0; k < 2; ++k) EXPECT_EQ(parts_of(loader)[k].delivered, parts_of(healthy)[k].delivered);
  }
}

}  // namespace
}  // namespace dataline::tests::parts_steps_test
