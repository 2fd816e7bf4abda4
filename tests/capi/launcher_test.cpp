// rank=auto and world_size=auto through the C interface: by the environment that the host gives, when the loader is created.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "tests/support/job.h"

namespace dataline::tests::launcher_test {
namespace {

dl_status give(const Options& options, std::vector<const char*> environment) {
  environment.push_back(nullptr);
  return dl_options_set_environment(options.get(), environment.data(), nullptr);
}

Options auto_options() {
  return make_options({{"rank", "auto"}, {"world_size", "auto"}, {"global_batch_size", "4"}});
}

// The first step of the rank.
std::vector<int64_t> first_step(const Dataset& dataset, const Options& options) {
  dl_loader* made = nullptr;
  dl_error error = DL_ERROR_INIT;
  EXPECT_EQ(dl_loader_create(dataset.get(), options.get(), &made, &error), DL_OK) << error.message;
  const Loader loader(made);
  const Batch batch = next(loader).batch;
  dl_batch_info info = {};
  info.struct_size = sizeof info;
  EXPECT_EQ(dl_batch_get_info(batch.get(), &info, nullptr), DL_OK);
  return {info.sample_indices, info.sample_indices + info.samples};
}

TEST(Launcher, LoadersAskTheEnvironmentThatWasGivenLast) {
  const Dataset dataset = counting_dataset(8);
  const Options options = auto_options();
  {
    const std::string rank = "RANK=1", size = "WORLD_SIZE=2";  // copied: they may go
    ASSERT_EQ(give(options, {"HOME=/", rank.c_str(), size.c_str()}), DL_OK);
  }
  EXPECT_EQ(first_step(dataset, options), (std::vector<int64_t>{2, 3}));
  ASSERT_EQ(give(options, {"PMI_RANK=3", "PMI_SIZE=4"}), DL_OK);
  EXPECT_EQ(first_step(dataset, options), (std::vector<int64_t>{3}));
  ASSERT_EQ(give(options, {}), DL_OK);
  EXPECT_EQ(first_step(dataset, options), (std::vector<int64_t>{0, 1, 2, 3}));
  const char* value = nullptr;
  ASSERT_EQ(dl_options_get(options.get(), "rank", &value, nullptr), DL_OK);
  EXPECT_STREQ(value, "auto");
}

TEST(Launcher, NumbersDoNotLookAtTheEnvironment) {
  const Dataset dataset = counting_dataset(8);
  const Options options = make_options({{"rank", "1"}, {"world_size", "4"}, {"global_batch_size", "4"}});
  ASSERT_EQ(give(options, {"RANK=abc"}), DL_OK);
  EXPECT_EQ(first_step(dataset, options), (std::vector<int64_t>{1}));
}

TEST(Launcher, CreateSaysWhatIsMissingOrWrong) {
  const Dataset dataset = counting_dataset(8);
  const Options options = auto_options();
  const auto refused = [&](dl_status status, const char* word) {
    dl_loader* made = nullptr;
    dl_error error = DL_ERROR_INIT;
    EXPECT_EQ(dl_loader_create(dataset.get(), options.get(), &made, &error), status);
    EXPECT_NE(std::strstr(error.message, word), nullptr) << error.message;
  };
  refused(DL_ERR_BAD_OPTION, "dl_options_set_environment");
  ASSERT_EQ(give(options, {"WORLD_SIZE=2"}), DL_OK);
  refused(DL_ERR_INVALID_ARGUMENT, "WORLD_SIZE=2 is set, RANK is not");
  ASSERT_EQ(give(options, {"PMIX_RANK=2"}), DL_OK);
  refused(DL_ERR_BAD_OPTION, "has only the rank");
}

TEST(Launcher, AutoIsTextAloneAndMinusOneIsNoRank) {
  const Options options = make_options();
  for (const char* key : {"rank", "world_size"}) {
    EXPECT_EQ(dl_options_set(options.get(), key, "auto", nullptr), DL_OK);
    EXPECT_EQ(dl_options_set(options.get(), key, "-1", nullptr), DL_ERR_BAD_OPTION);
    EXPECT_EQ(dl_options_set_i64(options.get(), key, -1, nullptr), DL_ERR_BAD_OPTION);
    EXPECT_EQ(dl_options_set(options.get(), key, "Auto", nullptr), DL_ERR_BAD_OPTION);
  }
  EXPECT_EQ(dl_options_set(options.get(), "seed", "auto", nullptr), DL_ERR_BAD_OPTION);
}

}  // namespace
}  // namespace dataline::tests::launcher_test
