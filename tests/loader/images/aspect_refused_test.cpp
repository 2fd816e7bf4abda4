// Batches by aspect ratio: options and transforms that are refused, states of other jobs, and images that cannot be read.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include "tests/loader/images/aspects.h"
#include "tests/support/temp_folder.h"

namespace dataline::tests::aspect_refused_test {
namespace {

TEST(AspectOptions, AreRefusedByOptionExpectedAndGot) {
  const Photographs set = of_all_aspects(6);
  const Dataset dataset = set.dataset();
  struct Row {
    Settings settings;
    dl_status status;
    std::string says;
  };
  const dl_status bad = DL_ERR_BAD_OPTION;
  const std::vector<Row> table = {
      {{{"bucket_edges", "40"}}, bad, "expected shapes, height x width from 1 to"},
      {{{"bucket_edges", "40x"}}, bad, "got '40x'"},
      {{{"bucket_edges", "0x40"}}, bad, "got '0x40'"},
      {{{"bucket_edges", "40x40,,20x40"}}, bad, "got ''"},
      {{{"bucket_edges", "40x40x3"}}, bad, "got '40x40x3'"},
      {{{"bucket_edges", "40x40,20x20"}},
       bad,
       "expected shapes of different aspect ratios, got 20x20 after 40x40"},
      {{{"bucket_by", "length"}}, bad, "got '32x48'; shapes need bucket_by=aspect"},
      {{{"max_tokens", "1500"}}, bad, "the pixels of the largest of bucket_edges, 1600, got 1500"},
      {{{"shuffle", "window"}}, bad, "options bucket_edges and shuffle"},
      {{{"transform", "image: decode, resize(bucket), mixup(0.2, labels=label)"}}, DL_ERR_BAD_TRANSFORM, ""},
      {{{"transform", "image: decode, resize(bucket), flatten"}},
       DL_ERR_BAD_TRANSFORM,
       "from bucket to bucket"},
      {{{"transform", "image: decode, rezise(bucket)"}}, DL_ERR_BAD_TRANSFORM, "did you mean 'resize'?"},
      {{{"transform", "label: pad_to(bucket)"}}, DL_ERR_BAD_TRANSFORM, ""},
  };
  for (const Row& row : table) {
    const auto [status, message] = create_error(dataset, with(kByAspect, row.settings));
    EXPECT_EQ(status, row.status) << message;
    EXPECT_NE(message.find(row.says), std::string::npos) << message;
  }
  EXPECT_NE(
      create_error(dataset, {{"bucket_by", "aspect"}}).second.find("option bucket_by: needs bucket_edges"),
      std::string::npos);
  const Dataset numbers = counting_dataset(5);
  const auto [status, message] = create_error(numbers, {{"bucket_by", "aspect"}, {"bucket_edges", "8x8"}});
  EXPECT_EQ(status, DL_ERR_NO_SUCH_FIELD);
  EXPECT_NE(message.find("option bucket_by: aspect: expected a field of encoded images"), std::string::npos)
      << message;
}

TEST(AspectOptions, LengthsAndAspectAreNotBothGiven) {
  const Photographs set = of_all_aspects(3);
  const Dataset dataset = set.dataset();
  const Options options = make_options(kByAspect);
  const int64_t lengths[] = {1, 2, 3};
  Error error;
  ASSERT_EQ(dl_options_set_lengths(options.get(), lengths, 3, nullptr, nullptr, &error), DL_OK);
  dl_loader* loader = nullptr;
  EXPECT_EQ(dl_loader_create(dataset.get(), options.get(), &loader, &error), DL_ERR_BAD_OPTION);
  EXPECT_NE(std::string(error.message).find("options bucket_by and lengths"), std::string::npos)
      << error.message;
}

TEST(AspectState, OfOtherShapesOrImagesIsRefusedByName) {
  const Photographs set = of_all_aspects(20);
  const Dataset dataset = set.dataset();
  const std::string state = save_state(make_loader(dataset, kByAspect));
  EXPECT_NE(state.find("\nbucket_edges: 32x48,40x40,48x32\nlengths: "), std::string::npos) << state;
  const auto refused = [&](const Dataset& other, const Settings& more) {
    Error error;
    EXPECT_EQ(dl_loader_state_load(make_loader(other, with(kByAspect, more)).get(), state.c_str(), &error),
              DL_ERR_STATE_REFUSED);
    return std::string(error.message);
  };
  EXPECT_NE(
      refused(dataset, {{"bucket_edges", "32x48,40x41,48x32"}}).find("bucket_edges is '32x48,40x40,48x32'"),
      std::string::npos);
}

// What the machine may answer otherwise the next time is no bad sample: ranks would not agree.
TEST(AspectHeaders, AFileThatIsGoneIsAnErrorThatNamesItsSample) {
  const std::string folder = make_temp_folder("dataline-aspect");
  const Photographs set = of_all_aspects(6);
  std::filesystem::create_directories(folder + "/a");
  for (int64_t i = 0; i < 6; ++i) {
    std::ofstream(folder + "/a/" + std::to_string(i) + ".jpg", std::ios::binary) << set.file(i);
  }
  Error error;
  dl_dataset* opened = nullptr;
  const std::string uri = "folder:" + folder;
  ASSERT_EQ(dl_dataset_open(uri.c_str(), nullptr, &opened, &error), DL_OK) << error.message;
  const Dataset dataset(opened);
  std::filesystem::remove(folder + "/a/4.jpg");
  const auto [status, message] = create_error(dataset, kByAspect);
  EXPECT_LT(status, 0);
  EXPECT_NE(message.find("sample 4"), std::string::npos) << message;
  EXPECT_NE(message.find("4.jpg"), std::string::npos) << message;
  std::filesystem::remove_all(folder);
}

TEST(AspectHeaders, TakeOneMoreThreadOnlyWhereThereIsMemoryForIt) {
  const Photographs set = of_all_aspects(300);
  const Dataset dataset = set.dataset();
  const auto [status, message] = create_error(dataset, with(kByAspect, {{"memory_budget", "64KiB"}}));
  EXPECT_EQ(status, DL_ERR_OVER_BUDGET) << message;
}

}  // namespace
}  // namespace dataline::tests::aspect_refused_test
