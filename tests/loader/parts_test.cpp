// Mixes through the C interface: what a batch says of its rows, shares, steps and ranks, states, bad samples, and what is refused.
// Cases "after Energon" follow what its tests/test_dataset_det.py and test_metadataset_v2.py demand of blends, "after Grain" what its
// mix tests demand, written anew against this interface.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <set>

#include "tests/support/job.h"

namespace dataline::testing {
namespace {

struct PartSpec {
  const char* name;
  int64_t samples;
  double weight = 0, repeat = 0;
};
struct StageSpec {
  int64_t step;
  std::vector<double> weights;
};

// Sample i of part k has the value 1000 k + i.
Dataset numbered_dataset(int64_t part, int64_t samples) {
  std::vector<uint64_t> values(static_cast<size_t>(samples));
  std::iota(values.begin(), values.end(), static_cast<uint64_t>(1000 * part));
  return array_dataset(array_of("data", DL_DTYPE_U64, {samples}, values.data()));
}

std::pair<dl_status, std::string> try_mix(const std::vector<PartSpec>& parts,
                                          const std::vector<StageSpec>& stages, int64_t samples_per_epoch,
                                          Dataset& out) {
  std::vector<Dataset> datasets;
  std::vector<dl_mix_part> raw;
  for (size_t k = 0; k < parts.size(); ++k) {
    datasets.push_back(numbered_dataset(static_cast<int64_t>(k), parts[k].samples));
    dl_mix_part part = {};
    part.struct_size = sizeof part;
    part.name = parts[k].name;
    part.dataset = datasets[k].get();
    part.weight = parts[k].weight;
    part.repeat = parts[k].repeat;
    raw.push_back(part);
  }
  std::vector<dl_mix_stage> raw_stages;
  for (const StageSpec& stage : stages)
    raw_stages.push_back({sizeof(dl_mix_stage), 0, stage.step, stage.weights.data()});
  Error error;
  dl_dataset* dataset = nullptr;
  const dl_status status =
      dl_dataset_mix(raw.data(), static_cast<int32_t>(raw.size()), raw_stages.data(),
                     static_cast<int32_t>(raw_stages.size()), samples_per_epoch, nullptr, &dataset, &error);
  out.reset(dataset);
  return {status, error.message};
}

Dataset mix(const std::vector<PartSpec>& parts, const std::vector<StageSpec>& stages = {},
            int64_t samples_per_epoch = -1) {
  Dataset dataset;
  const auto [status, message] = try_mix(parts, stages, samples_per_epoch, dataset);
  EXPECT_EQ(status, DL_OK) << message;
  return dataset;
}

const std::vector<PartSpec> kThree = {{"web", 60, 0.5}, {"code", 25, 0.3}, {"books", 40, 0.2}};

// Batch by batch, an end of an epoch as an empty one.
std::vector<std::vector<uint64_t>> job_batches(const Loader& loader, size_t most = 100000) {
  std::vector<std::vector<uint64_t>> all;
  while (all.size() < most) {
    Delivered got = next(loader);
    if (got.status == DL_END) break;
    EXPECT_TRUE(got.status == DL_OK || got.status == DL_END_OF_EPOCH) << got.message;
    if (got.status < 0) break;
    all.push_back(got.values);
  }
  return all;
}

std::vector<dl_part> parts_of(const Loader& loader) {
  std::vector<dl_part> parts;
  for (int32_t k = 0; k < dl_loader_part_count(loader.get()); ++k) {
    dl_part part = {};
    part.struct_size = sizeof part;
    Error error;
    EXPECT_EQ(dl_loader_part_at(loader.get(), k, &part, &error), DL_OK) << error.message;
    parts.push_back(part);
  }
  return parts;
}

const Settings kJob = {{"global_batch_size", "12"}, {"shuffle", "full"}, {"seed", "3"}, {"epochs", "3"}};
Settings with(Settings settings, const Settings& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

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

// After Energon, test_dataset_det: the blend is the same for any number of ranks and workers, and each rank has its own part.
TEST(LoaderMix, JoinedOverRanksTheStreamIsTheSameForEveryWorldSize) {
  for (const char* homogeneous : {"none", "batch"}) {
    const Dataset dataset = mix(kThree, {{7, {0, 1, 1}}, {20, {1, 1, 5}}});
    const Settings job = with(kJob, {{"homogeneous", homogeneous}});
    const auto whole = job_batches(make_loader(dataset, job));
    for (const int world : {2, 3, 5, 12}) {
      std::vector<std::vector<std::vector<uint64_t>>> ranks;
      for (int rank = 0; rank < world; ++rank) {
        ranks.push_back(
            job_batches(make_loader(dataset, with(job, {{"rank", std::to_string(rank)},
                                                        {"world_size", std::to_string(world)},
                                                        {"num_workers", std::to_string(rank % 3)}}))));
      }
      for (size_t step = 0; step < whole.size(); ++step) {
        std::vector<uint64_t> joined_step;
        for (const auto& rank : ranks)
          joined_step.insert(joined_step.end(), rank[step].begin(), rank[step].end());
        ASSERT_EQ(joined_step, whole[step]) << world << " ranks, batch " << step;
      }
    }
  }
}

// After Energon, test_dataset_det (save and restore at any step), and Grain's every-step checkpoint helper.
TEST(LoaderMix, AStateOfAnyStepGoesOnWithTheSameBatches) {
  for (const bool repeats : {false, true}) {
    const Dataset dataset =
        repeats ? mix({{"a", 20, 0, 1.5}, {"b", 9, 0, 2}}) : mix(kThree, {{4, {1, 0, 0}}, {13, {0, 1, 1}}});
    const Loader whole = make_loader(dataset, kJob);
    std::vector<std::string> states;
    std::vector<std::vector<uint64_t>> stream;
    for (;;) {
      states.push_back(save_state(whole));
      Delivered got = next(whole);
      if (got.status == DL_END) break;
      stream.push_back(got.values);
    }
    for (size_t s = 0; s < states.size(); ++s) {
      const Loader again = make_loader(dataset, with(kJob, {{"num_workers", std::to_string(s % 3)}}));
      Error error;
      ASSERT_EQ(dl_loader_state_load(again.get(), states[s].c_str(), &error), DL_OK) << error.message;
      ASSERT_EQ(job_batches(again),
                std::vector(stream.begin() + static_cast<std::ptrdiff_t>(s), stream.end()))
          << s;
    }
  }
}

// After Energon, test_metadataset_v2 (repetitions of an epochised blend, whole and in parts).
TEST(LoaderMix, WithRepeatsEveryEpochHasEachSampleFloorOrCeilTimes) {
  const Dataset dataset = mix({{"a", 10, 0, 0.5}, {"b", 7, 0, 3}, {"c", 4, 0, 1.25}});
  const Loader loader = make_loader(dataset, kJob);
  for (int epoch = 0; epoch < 3; ++epoch) {
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

TEST(LoaderMix, AStateOfOtherPartsIsRefusedByPart) {
  const auto refused = [](const Dataset& saved, const Dataset& here, const Settings& job = kJob) {
    const std::string state = save_state(make_loader(saved, kJob));
    Error error;
    EXPECT_EQ(dl_loader_state_load(make_loader(here, job).get(), state.c_str(), &error),
              DL_ERR_STATE_REFUSED);
    return std::string(error.message);
  };
  const Dataset old = mix({{"web", 60, 1}, {"code", 1100 - 1000, 1}});
  EXPECT_EQ(refused(old, mix({{"web", 60, 1}, {"code", 120, 1}})),
            "state of another job: part code: 120 samples, saved with 100");
  EXPECT_EQ(refused(old, mix({{"web", 60, 1}, {"math", 100, 1}})),
            "state of another job: part math is not in the state's mix");
  EXPECT_EQ(refused(old, mix({{"web", 60, 1}})),
            "state of another job: part code of the state's mix is not here");
  EXPECT_NE(refused(old, mix({{"code", 100, 1}, {"web", 60, 1}})).find("in another order"),
            std::string::npos);
  EXPECT_NE(refused(old, mix({{"web", 60, 1}, {"code", 100, 2}})).find("mix is 'weights"), std::string::npos);
  EXPECT_NE(refused(old, old, with(kJob, {{"homogeneous", "batch"}})).find("homogeneous batches"),
            std::string::npos);
  EXPECT_EQ(refused(old, counting_dataset(160)),
            "state of another job: it is of a mix of datasets, this dataset is none");
  EXPECT_EQ(refused(counting_dataset(160), old),
            "state of another job: this dataset is a mix of 2 parts, that of the state is none");
}

TEST(LoaderMix, OptionsThatDoNotGoWithAMixAreRefused) {
  const Dataset dataset = mix(kThree);
  const auto message = [&](const Dataset& of, const Settings& settings) {
    const auto [status, text] = create_error(of, settings);
    EXPECT_EQ(status, DL_ERR_BAD_OPTION) << text;
    return text;
  };
  EXPECT_EQ(message(counting_dataset(9), {{"homogeneous", "batch"}}),
            "option homogeneous: homogeneous=batch needs a mix of datasets");
  EXPECT_NE(message(mix({{"a", 9, 0, 1}}), {{"homogeneous", "batch"}}).find("needs a mix with weights"),
            std::string::npos);
  EXPECT_NE(message(mix(kThree, {}, 100), {{"homogeneous", "batch"}, {"batch_size", "32"}})
                .find("samples_per_epoch of the mix is 100"),
            std::string::npos);
  EXPECT_NE(message(dataset, {{"samples_per_epoch", "7"}}).find("samples_per_epoch"), std::string::npos);
  std::vector<double> weights(125, 1);
  Options options = make_options();
  Error error;
  ASSERT_EQ(dl_options_set_weights(options.get(), weights.data(), 125, nullptr, nullptr, &error), DL_OK);
  dl_loader* loader = nullptr;
  EXPECT_EQ(dl_loader_create(dataset.get(), options.get(), &loader, &error), DL_ERR_BAD_OPTION);
  EXPECT_NE(std::string(error.message).find("option weights: not with a mix"), std::string::npos)
      << error.message;
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

TEST(LoaderMix, WhatCannotBeMixedIsRefusedInTheCall) {
  Dataset out;
  const auto refused = [&](dl_status expected, const std::vector<PartSpec>& parts,
                           const std::vector<StageSpec>& stages = {}, int64_t samples = -1) {
    const auto [status, message] = try_mix(parts, stages, samples, out);
    EXPECT_EQ(status, expected) << message;
    EXPECT_EQ(out, nullptr);
    return message;
  };
  EXPECT_EQ(refused(DL_ERR_OUT_OF_RANGE, {{"a", 1, 0}, {"b", 1, 0}}),
            "mix: all 2 weights are 0: no part is left to draw from");
  EXPECT_NE(
      refused(DL_ERR_OUT_OF_RANGE, {{"a", 1, std::numeric_limits<double>::quiet_NaN()}}).find("got nan"),
      std::string::npos);
  EXPECT_NE(refused(DL_ERR_OUT_OF_RANGE, {{"a", 1, std::numeric_limits<double>::infinity()}}).find("got inf"),
            std::string::npos);
  EXPECT_NE(refused(DL_ERR_OUT_OF_RANGE, {{"a", 1, -1}})
                .find("part a: weight: expected a finite number >= 0, got -1"),
            std::string::npos);
  EXPECT_NE(refused(DL_ERR_INVALID_ARGUMENT, {{"a", 1, 1}, {"b", 1, 0, 1}}).find("part a has no repeat"),
            std::string::npos);
  EXPECT_NE(refused(DL_ERR_INVALID_ARGUMENT, {{"a", 1, 1}, {"a", 1, 1}}).find("two parts are called 'a'"),
            std::string::npos);
  EXPECT_NE(refused(DL_ERR_OUT_OF_RANGE, {{"a", 1, 1}}, {{0, {1}}}).find("step 0: expected more than 0"),
            std::string::npos);
  EXPECT_NE(refused(DL_ERR_OUT_OF_RANGE, {{"a", 1, 1}}, {}, 0)
                .find("samples_per_epoch: expected at least 1, got 0"),
            std::string::npos);
}

TEST(LoaderMix, AMillionPartsOpenInAboutASecond) {
  std::vector<uint64_t> values = {1, 2, 3};
  const Dataset one = array_dataset(array_of("data", DL_DTYPE_U64, {3}, values.data()));
  constexpr int32_t kParts = 1'000'000;
  std::vector<dl_mix_part> parts(kParts);
  for (dl_mix_part& part : parts) part.struct_size = sizeof part, part.dataset = one.get(), part.weight = 1;
  Error error;
  dl_dataset* raw = nullptr;
  const auto start = std::chrono::steady_clock::now();
  ASSERT_EQ(dl_dataset_mix(parts.data(), kParts, nullptr, 0, -1, nullptr, &raw, &error), DL_OK)
      << error.message;
  const Dataset dataset(raw);
  const Loader loader =
      make_loader(dataset, {{"batch_size", "256"}, {"shuffle", "full"}, {"num_workers", "0"}});
  EXPECT_EQ(next(loader).status, DL_OK);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  RecordProperty("seconds", std::to_string(seconds));
  Error seeking;
  EXPECT_EQ(dl_loader_seek(loader.get(), 1000, 5000, &seeking), DL_OK) << seeking.message;
  EXPECT_EQ(next(loader).status, DL_OK);
}

}  // namespace
}  // namespace dataline::testing
