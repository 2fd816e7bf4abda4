// Mixes through the C interface: what a batch says of its rows, shares, steps and ranks, states, bad samples, and what is refused.
// Cases "after Energon" follow what its tests/test_dataset_det.py and test_metadataset_v2.py demand of blends, "after Grain" what its
// mix tests demand, written anew against this interface.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "tests/loader/mixes.h"

namespace dataline::tests::parts_test {
namespace {

TEST(LoaderMix, ABatchNamesPartAndIndexOfEachRow) {
  const Dataset dataset = mix(kThree);
  for (const char* leases : {"1", "4"}) {  // a copied batch says it too
    const Loader loader = make_loader(dataset, with(kJob, {{"max_leases", leases}}));
    std::vector<Batch> held;
    for (int step = 0; step < 6; ++step) {
      Delivered got = next(loader);
      dl_batch_info info = {};
      info.struct_size = sizeof info;
      ASSERT_EQ(dl_batch_get_info(got.batch.get(), &info, nullptr), DL_OK);
      for (int64_t row = 0; row < info.samples; ++row)
        EXPECT_EQ(got.values[static_cast<size_t>(row)],
                  static_cast<uint64_t>(1000 * info.sample_sources[row] + info.sample_indices[row]));
      held.push_back(std::move(got.batch));
    }
  }
}

// Of every kind: by weights and by repeats, with a full shuffle and in windows, homogeneous or not.
struct KindOfMix {
  const char* name;
  bool repeats;
  Settings job;
};
const std::vector<KindOfMix> kKinds = {
    {"weights", false, kJob},
    {"weights, homogeneous", false, with(kJob, {{"homogeneous", "batch"}})},
    {"weights, windows", false, kWindowJob},
    {"weights, windows, homogeneous", false, with(kWindowJob, {{"homogeneous", "batch"}})},
    {"repeats", true, kJob},
    {"repeats, homogeneous", true, with(kJob, {{"homogeneous", "batch"}})},
    {"repeats, homogeneous, padded", true, with(kJob, {{"homogeneous", "batch"}, {"last_batch", "pad"}})},
    {"repeats, windows", true, kWindowJob},
};
Dataset mix_of(const KindOfMix& kind) {
  if (kind.repeats) return mix({{"a", 20, 0, 1.5}, {"b", 9, 0, 2}, {"c", 31, 0, 0.4}});
  return mix(kThree, {{7, {0, 1, 1}}, {20, {1, 1, 5}}});
}

// After Energon, test_dataset_det: the blend is the same for any number of ranks and workers, and each rank has its own part.
TEST(LoaderMix, JoinedOverRanksTheStreamIsTheSameForEveryWorldSize) {
  for (const KindOfMix& kind : kKinds) {
    const Dataset dataset = mix_of(kind);
    const auto whole = job_batches(make_loader(dataset, kind.job));
    for (const int world : {2, 3, 5, 12, 17}) {
      std::vector<std::vector<std::vector<uint64_t>>> ranks;
      for (int rank = 0; rank < world; ++rank) {
        ranks.push_back(
            job_batches(make_loader(dataset, with(kind.job, {{"rank", std::to_string(rank)},
                                                             {"world_size", std::to_string(world)},
                                                             {"num_workers", std::to_string(rank % 3)}}))));
      }
      for (size_t step = 0; step < whole.size(); ++step) {
        std::vector<uint64_t> joined_step;
        for (const auto& rank : ranks)
          joined_step.insert(joined_step.end(), rank[step].begin(), rank[step].end());
        ASSERT_EQ(joined_step, whole[step]) << kind.name << ", " << world << " ranks, batch " << step;
      }
    }
  }
}

// After Energon, test_dataset_det (save and restore at any step), and Grain's every-step checkpoint helper.
TEST(LoaderMix, AStateOfAnyStepGoesOnWithTheSameBatches) {
  for (const KindOfMix& kind : kKinds) {
    const Dataset dataset = mix_of(kind);
    const Loader whole = make_loader(dataset, kind.job);
    std::vector<std::string> states;
    std::vector<std::vector<uint64_t>> stream;
    for (;;) {
      states.push_back(save_state(whole));
      Delivered got = next(whole);
      if (got.status == DL_END) break;
      stream.push_back(got.values);
    }
    for (size_t s = 0; s < states.size(); ++s) {
      const Loader again = make_loader(dataset, with(kind.job, {{"num_workers", std::to_string(s % 3)}}));
      Error error;
      ASSERT_EQ(dl_loader_state_load(again.get(), states[s].c_str(), &error), DL_OK) << error.message;
      ASSERT_EQ(job_batches(again),
                std::vector(stream.begin() + static_cast<std::ptrdiff_t>(s), stream.end()))
          << kind.name << ", step " << s;
    }
  }
}

// After Energon, test_metadataset_v2 (repetitions of an epochised blend, whole and in parts).
TEST(LoaderMix, WithRepeatsEveryEpochHasEachSampleFloorOrCeilTimes) {
  const Dataset dataset = mix({{"a", 10, 0, 0.5}, {"b", 7, 0, 3}, {"c", 4, 0, 1.25}});
  for (int run = 0; run < 9; ++run) {
    const Settings kJobs[] = {kJob, kWindowJob, with(kJob, {{"homogeneous", "batch"}})};
    const Loader loader =
        make_loader(dataset, with(kJobs[run / 3], {{"start_epoch", std::to_string(run % 3)}}));
    std::map<uint64_t, int> times;
    for (const uint64_t value : epoch_samples(loader)) ++times[value];
    int half = 0, quarter = 0;
    for (uint64_t i = 0; i < 10; ++i) {
      half += times[i];
      EXPECT_LE(times[i], 1);
    }
    for (uint64_t i = 0; i < 7; ++i) EXPECT_EQ(times[1000 + i], 3);
    for (uint64_t i = 0; i < 4; ++i) {
      quarter += times[2000 + i] - 1;
      EXPECT_GE(times[2000 + i], 1);
    }
    EXPECT_EQ(half, 5);
    EXPECT_EQ(quarter, 1);
  }
}

// After Grain's mix tests: a part that is smaller begins anew while the others go on, across epochs of the job.
TEST(LoaderMix, PartsGoThroughTheirOwnEpochsAcrossTheJobs) {
  const Dataset dataset = mix({{"small", 5, 1}, {"large", 50, 1}}, {}, 16);
  const Loader loader = make_loader(dataset, {{"batch_size", "16"}, {"shuffle", "full"}, {"epochs", "40"}});
  std::vector<uint64_t> small;
  std::set<uint64_t> large;
  for (const auto& batch : job_batches(loader)) {
    for (const uint64_t value : batch) {
      if (value < 1000) small.push_back(value);
      if (value >= 1000 && large.size() < 50) {
        EXPECT_TRUE(large.insert(value).second) << value;
      }
    }
  }
  for (size_t at = 0; at + 5 <= small.size(); at += 5)
    EXPECT_EQ(std::set<uint64_t>(small.begin() + static_cast<std::ptrdiff_t>(at),
                                 small.begin() + static_cast<std::ptrdiff_t>(at + 5))
                  .size(),
              5u);
}

// After Grain: weights of 0 leave a part out.
TEST(LoaderMix, APartWithoutWeightIsNotDrawnUntilAStageSaysSo) {
  const Dataset dataset = mix({{"a", 30, 1}, {"b", 30, 0}}, {{4, {0, 1}}}, 40);
  const auto batches = job_batches(make_loader(dataset, {{"batch_size", "10"}, {"epochs", "2"}}));
  for (size_t step = 0; step < 4; ++step)
    EXPECT_LT(*std::max_element(batches[step].begin(), batches[step].end()), 1000u);
  for (size_t step = 5; step < 9; ++step)
    EXPECT_GE(*std::min_element(batches[step].begin(), batches[step].end()), 1000u);
}

TEST(LoaderMix, HomogeneousBatchesAreOfOnePart) {
  const Dataset dataset = mix(kThree);
  const Loader loader = make_loader(dataset, with(kJob, {{"homogeneous", "batch"}}));
  EXPECT_EQ(dl_loader_steps(loader.get()), 10);  // 125 samples: whole steps of 12
  std::set<uint64_t> parts;
  for (const auto& batch : job_batches(loader)) {
    for (const uint64_t value : batch) EXPECT_EQ(value / 1000, batch[0] / 1000);
    if (!batch.empty()) parts.insert(batch[0] / 1000);
  }
  EXPECT_EQ(parts.size(), 3u);
}

TEST(LoaderMix, PartsTellWhatWasDeliveredAndAsked) {
  const Dataset dataset = mix(kThree, {{10, {1, 1, 2}}}, 4096);
  const Loader loader = make_loader(dataset, {{"batch_size", "4096"}, {"epochs", "20"}});
  EXPECT_EQ(parts_of(loader)[0].share_asked, 0.5);
  for (int step = 0; step < 20; ++step)
    EXPECT_EQ(next(loader).status, step % 2 == 0 ? DL_OK : DL_END_OF_EPOCH);
  std::vector<dl_part> parts = parts_of(loader);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_STREQ(parts[1].name, "code");
  EXPECT_EQ(parts[1].samples, 25);
  EXPECT_NEAR(static_cast<double>(parts[1].delivered), 0.3 * 40960, 4);
  EXPECT_NEAR(parts[1].share_got, 0.3, 1e-4);
  EXPECT_NEAR(parts[1].epochs, 0.3 * 40960 / 25, 0.2);
  EXPECT_NEAR(parts[2].share_asked, 0.5, 1e-12);  // the next stage's
  Error error;
  dl_part out = {};
  out.struct_size = sizeof out;
  EXPECT_EQ(dl_loader_part_at(loader.get(), 3, &out, &error), DL_ERR_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "part 3: expected 0 to 3 exclusive");
  EXPECT_EQ(dl_dataset_part_count(dataset.get()), 3);
  ASSERT_EQ(dl_dataset_part_at(dataset.get(), 2, &out, &error), DL_OK);
  EXPECT_STREQ(out.name, "books");
  EXPECT_EQ(out.share_asked, 0.2);
}

TEST(LoaderMix, TheCallersOwnIndicesCountThroughTheParts) {
  const Dataset dataset = mix(kThree);
  const int64_t indices[] = {124, 60, 0};
  Options options = make_options({{"batch_size", "3"}});
  Error error;
  ASSERT_EQ(dl_options_set_indices(options.get(), indices, 3, nullptr, nullptr, &error), DL_OK);
  dl_loader* raw = nullptr;
  ASSERT_EQ(dl_loader_create(dataset.get(), options.get(), &raw, &error), DL_OK) << error.message;
  const Loader loader(raw);
  EXPECT_EQ(next(loader).values, (std::vector<uint64_t>{2039, 1000, 0}));
  EXPECT_EQ(parts_of(loader)[0].share_asked, 0);
  dl_batch* one = nullptr;
  ASSERT_EQ(dl_dataset_read(dataset.get(), 84, nullptr, &one, &error), DL_OK) << error.message;
  EXPECT_EQ(static_cast<const uint64_t*>(dl_batch_views(one, nullptr)[0].data)[0], 1024u);
  dl_batch_release(one);
}

TEST(LoaderMix, ABadSampleIsNamedByItsPartAndAStandInIsOfTheSamePart) {
  TestReader good, bad;
  bad.fails = [](int64_t index) { return index == 3; };
  const Dataset a = good.dataset(20), b = bad.dataset(20);
  dl_mix_part parts[2] = {};
  for (dl_mix_part& part : parts) part.struct_size = sizeof part, part.weight = 1;
  parts[0].name = "a", parts[0].dataset = a.get();
  parts[1].name = "b", parts[1].dataset = b.get();
  dl_dataset* raw = nullptr;
  Error error;
  ASSERT_EQ(dl_dataset_mix(parts, 2, nullptr, 0, -1, nullptr, &raw, &error), DL_OK) << error.message;
  const Dataset dataset(raw), healthy = mix({{"a", 20, 1}, {"b", 20, 1}});
  for (const char* workers : {"0", "2"}) {
    const Loader raising =
        make_loader(dataset, {{"batch_size", "40"}, {"epochs", "1"}, {"num_workers", workers}});
    dl_batch* batch = nullptr;
    ASSERT_EQ(dl_loader_next(raising.get(), -1, &batch, &error), DL_ERR_BAD_SAMPLE);
    EXPECT_EQ(error.sample_index, 3);
    EXPECT_EQ(error.sample_source, 1);
    EXPECT_NE(std::string(error.message).find("sample 3 of part b: "), std::string::npos) << error.message;

    const Loader replacing = make_loader(
        dataset,
        {{"batch_size", "40"}, {"epochs", "1"}, {"on_error", "quarantine"}, {"num_workers", workers}});
    ASSERT_EQ(next(replacing).status, DL_OK);
    dl_bad_sample found = {};
    found.struct_size = sizeof found;
    ASSERT_EQ(dl_loader_bad_sample_at(replacing.get(), 0, &found, &error), DL_OK);
    EXPECT_EQ(found.source, 1);
    EXPECT_EQ(found.index, 3);
    EXPECT_GE(found.replacement, 0);
    EXPECT_LT(found.replacement, 20);
    std::vector<dl_part> now = parts_of(replacing);
    const Loader whole =
        make_loader(healthy, {{"batch_size", "40"}, {"epochs", "1"}, {"num_workers", workers}});
    ASSERT_EQ(next(whole).status, DL_OK);
    for (size_t k = 0; k < 2; ++k) EXPECT_EQ(now[k].delivered, parts_of(whole)[k].delivered);
  }
}

}  // namespace
}  // namespace dataline::tests::parts_test
