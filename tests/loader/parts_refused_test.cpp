// What a mix does not take: parts, weights, options, states of other mixes; and very many parts.
// SPDX-License-Identifier: Apache-2.0
#include <ctime>
#include <limits>

#include "tests/loader/mixes.h"
#include "tests/support/sweep_stride.h"

namespace dataline::tests::parts_refused_test {
namespace {

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
            "state of another job: part code of the state's mix is missing here");
  EXPECT_NE(refused(old, mix({{"code", 100, 1}, {"web", 60, 1}})).find("in another order"),
            std::string::npos);
  EXPECT_NE(refused(old, mix({{"web", 60, 1}, {"code", 100, 2}})).find("mix is 'weights"), std::string::npos);
  EXPECT_NE(refused(old, old, with(kJob, {{"homogeneous", "batch"}})).find("homogeneous batches"),
            std::string::npos);
  EXPECT_EQ(refused(old, counting_dataset(160)),
            "state of another job: the state's dataset is a mix of datasets, this dataset is not");
  EXPECT_EQ(refused(counting_dataset(160), old),
            "state of another job: this dataset is a mix of datasets, the state's dataset is not");
}

TEST(LoaderMix, AStateOfOtherWindowsIsRefusedByWhatDiffers) {
  for (const bool repeats : {false, true}) {
    const Dataset dataset = repeats ? mix({{"a", 60, 0, 2}, {"b", 25, 0, 0.5}}) : mix(kThree);
    const std::string state = save_state(make_loader(dataset, kWindowJob));
    EXPECT_NE(state.find("shuffle: window shuffle_block=40 shuffle_blocks=4 blocks="), std::string::npos)
        << state;
    for (const Settings& other :
         {with(kWindowJob, {{"shuffle_block", "80"}}), with(kWindowJob, {{"shuffle_blocks", "5"}}), kJob}) {
      Error error;
      EXPECT_EQ(dl_loader_state_load(make_loader(dataset, other).get(), state.c_str(), &error),
                DL_ERR_STATE_REFUSED);
      EXPECT_NE(std::string(error.message).find("shuffle"), std::string::npos) << error.message;
    }
  }
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
  EXPECT_NE(message(mix(kThree, {}, 100), {{"homogeneous", "batch"}, {"batch_size", "32"}})
                .find("samples_per_epoch of the mix is 100"),
            std::string::npos);
  const auto [status, text] =
      create_error(mix({{"a", 9, 0, 1}}), {{"homogeneous", "batch"}, {"shuffle", "window"}});
  EXPECT_EQ(status, DL_ERR_UNSUPPORTED);
  EXPECT_EQ(text,
            "option shuffle: window does not support a mix with repeats and homogeneous=batch; expected full "
            "or none, or a mix with weights");
  EXPECT_NE(message(dataset, {{"samples_per_epoch", "7"}}).find("samples_per_epoch"), std::string::npos);
  std::vector<double> weights(125, 1);
  Options options = make_options();
  Error error;
  ASSERT_EQ(dl_options_set_weights(options.get(), weights.data(), 125, nullptr, nullptr, &error), DL_OK);
  dl_loader* loader = nullptr;
  EXPECT_EQ(dl_loader_create(dataset.get(), options.get(), &loader, &error), DL_ERR_BAD_OPTION);
  EXPECT_NE(std::string(error.message).find("option weights: not supported for a mix"), std::string::npos)
      << error.message;
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
            "mix: all 2 weights are 0, so no part can be drawn");
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

// The CPU seconds that a mix of `count` parts takes until its first batch is there.
double seconds_to_open(const Dataset& one, int32_t count) {
  std::vector<dl_mix_part> parts(static_cast<size_t>(count));
  for (dl_mix_part& part : parts) part.struct_size = sizeof part, part.dataset = one.get(), part.weight = 1;
  Error error;
  dl_dataset* raw = nullptr;
  const std::clock_t start = std::clock();
  EXPECT_EQ(dl_dataset_mix(parts.data(), count, nullptr, 0, -1, nullptr, &raw, &error), DL_OK)
      << error.message;
  const Dataset dataset(raw);
  const Loader loader =
      make_loader(dataset, {{"batch_size", "256"}, {"shuffle", "full"}, {"num_workers", "0"}});
  EXPECT_EQ(next(loader).status, DL_OK);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  Error seeking;
  EXPECT_EQ(dl_loader_seek(loader.get(), 1000, count / 256, &seeking), DL_OK) << seeking.message;
  EXPECT_EQ(next(loader).status, DL_OK);
  return seconds;
}

// Judged by how the time grows, because how long it is depends on the machine and on sanitizers: sixteen times the parts take 24 to 33
// times as long where opening is linear (the few stay in the caches), and 256 times where each part is compared with all others.
TEST(LoaderMix, AMillionPartsOpenInTimeThatGrowsWithTheirNumber) {
  std::vector<uint64_t> values = {1, 2, 3};
  const Dataset one = array_dataset(array_of("data", DL_DTYPE_U64, {3}, values.data()));
  const int32_t most = 1'000'000 / sweep_stride();
  const double few = seconds_to_open(one, most / 16);
  const double many = seconds_to_open(one, most);
  EXPECT_LT(many, 80 * few) << few << " s for a sixteenth of the parts";
}

}  // namespace
}  // namespace dataline::tests::parts_refused_test
