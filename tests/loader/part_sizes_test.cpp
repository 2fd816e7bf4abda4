// Parts of a mix that have sizes of their own: a batch of one part has the shape of that part.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <set>

#include "tests/loader/transformed_parts.h"

namespace dataline::tests::part_sizes_test {
namespace {

using ::testing::HasSubstr;

constexpr Images kSmall = {.side = 4, .count = 23, .first = 1},
                 kLarge = {.side = 7, .count = 40, .first = 90};

// Each row of each batch is the sample that it is said to be, in the shape of its part. Returns the parts seen.
std::set<int64_t> expect_samples_of_parts(const std::vector<SeenBatch>& job, const std::string& transform) {
  std::vector<SeenBatch> alone;
  for (const Images& part : {kSmall, kLarge}) {
    alone.push_back(see_next(
        make_loader(part.dataset(), {{"batch_size", std::to_string(part.count)}, {"transform", transform}})));
  }
  std::set<int64_t> parts;
  for (const SeenBatch& batch : job) {
    if (batch.status != DL_OK) continue;
    const int64_t part = batch.sources.at(0);
    parts.insert(part);
    const SeenField &image = batch.fields[0], &whole = alone[static_cast<size_t>(part)].fields[0];
    std::vector<int64_t> shape = whole.shape;
    shape[0] = static_cast<int64_t>(batch.indices.size());
    EXPECT_EQ(image.shape, shape);
    const size_t bytes = whole.bytes.size() / static_cast<size_t>(whole.shape[0]);
    EXPECT_EQ(image.bytes.size(), bytes * batch.indices.size());
    for (size_t row = 0; row < batch.indices.size(); ++row) {
      EXPECT_EQ(batch.sources[row], part);
      EXPECT_EQ(image.bytes.substr(row * bytes, bytes),
                whole.bytes.substr(static_cast<size_t>(batch.indices[row]) * bytes, bytes));
    }
  }
  return parts;
}

Dataset mix_by_weights() {
  const Dataset small = kSmall.dataset(), large = kLarge.dataset();
  return good_mix({{"small", small.get(), "", 1}, {"large", large.get(), "", 2}});
}

TEST(PartSizes, ABatchOfOnePartHasItsShape) {
  const Dataset mix = mix_by_weights();
  for (const char* transform :
       {"", "image: hflip(1)", "image: hflip(1), normalize(mnist)", "image: flatten, cast(f32)"}) {
    for (const char* workers : {"0", "2"}) {
      for (const char* leases : {"1", "3"}) {
        const Settings job = with(kJob, {{"homogeneous", "batch"},
                                         {"transform", transform},
                                         {"num_workers", workers},
                                         {"max_leases", leases}});
        const std::vector<SeenBatch> seen = see_job(make_loader(mix, job));
        EXPECT_EQ(seen.back().status, DL_END) << seen.back().message;
        EXPECT_EQ(expect_samples_of_parts(seen, transform), (std::set<int64_t>{0, 1})) << transform;
      }
    }
  }
}

// Short steps at the end of a part, and their pads, are of that part.
TEST(PartSizes, ByRepeatsShortAndPaddedStepsHaveTheShapeOfTheirPart) {
  const Dataset small = kSmall.dataset(), large = kLarge.dataset();
  const Dataset mix = good_mix({{"small", small.get(), "", 0, 1.5}, {"large", large.get(), "", 0, 1}});
  for (const char* shuffle : {"none", "full"}) {
    for (const char* last : {"keep", "pad", "drop"}) {
      const Settings job = with(kJob, {{"homogeneous", "batch"}, {"shuffle", shuffle}, {"last_batch", last}});
      const std::vector<SeenBatch> seen = see_job(make_loader(mix, job));
      EXPECT_EQ(seen.back().status, DL_END) << seen.back().message;
      EXPECT_EQ(expect_samples_of_parts(seen, ""), (std::set<int64_t>{0, 1})) << last;
    }
  }
}

TEST(PartSizes, RanksHaveTheSameShapeAtEachStep) {
  const Dataset mix = mix_by_weights();
  const auto of_rank = [&](int rank) {
    return see_job(make_loader(
        mix, with(kJob, {{"homogeneous", "batch"}, {"world_size", "2"}, {"rank", std::to_string(rank)}})));
  };
  const std::vector<SeenBatch> first = of_rank(0), second = of_rank(1);
  ASSERT_EQ(first.size(), second.size());
  for (size_t step = 0; step < first.size(); ++step) {
    if (first[step].status != DL_OK) continue;
    EXPECT_EQ(first[step].fields[0].shape, second[step].fields[0].shape);
  }
  expect_samples_of_parts(first, "");
  expect_samples_of_parts(second, "");
}

TEST(PartSizes, BatchesOfOneSampleNeedNothingElse) {
  const Dataset mix = mix_by_weights();
  const std::vector<SeenBatch> seen =
      see_job(make_loader(mix, {{"batch_size", "1"}, {"shuffle", "full"}, {"epochs", "1"}}));
  EXPECT_EQ(seen.back().status, DL_END) << seen.back().message;
  EXPECT_EQ(expect_samples_of_parts(seen, ""), (std::set<int64_t>{0, 1}));
}

// Bad rows leave a shorter batch, or one in which others of the part stand in for them.
TEST(PartSizes, BadSamplesDoNotChangeTheShape) {
  const Dataset small = kSmall.dataset(), large = kLarge.dataset();
  const Dataset mix = good_mix(
      {{"small", small.get(), "label: one_hot(3)", 1}, {"large", large.get(), "label: one_hot(3)", 1}});
  for (const char* policy : {"replace", "quarantine"}) {
    const std::vector<SeenBatch> seen =
        see_job(make_loader(mix, with(kJob, {{"homogeneous", "batch"}, {"on_error", policy}})));
    EXPECT_EQ(seen.back().status, DL_END) << seen.back().message;
    EXPECT_EQ(expect_samples_of_parts(seen, ""), (std::set<int64_t>{0, 1})) << policy;
  }
}

TEST(PartSizes, TheFieldsOfTheDatasetSayWhatIsNotFixed) {
  const Dataset mix = mix_by_weights();
  const dl_view* fields = dl_dataset_fields(mix.get(), nullptr);
  EXPECT_EQ(std::vector<int64_t>(fields[0].shape, fields[0].shape + fields[0].rank),
            (std::vector<int64_t>{-1, -1}));
  EXPECT_STREQ(fields[0].axes, "HW");
}

TEST(PartSizes, MixedBatchesAndWhatNeedsOneSizeAreRefused) {
  const Dataset mix = mix_by_weights();
  const auto refused = [&](const Settings& settings) {
    const auto [status, message] = create_error(mix, settings);
    EXPECT_TRUE(status == DL_ERR_MISMATCH || status == DL_ERR_UNSUPPORTED) << message;
    return message;
  };
  EXPECT_THAT(refused({{"batch_size", "2"}}), HasSubstr("take each batch from one part (homogeneous=batch)"));
  EXPECT_THAT(refused({{"batch_size", "2"},
                       {"homogeneous", "batch"},
                       {"transform", "image: cast(f32), mixup(0.3); label: one_hot(4)"}}),
              HasSubstr("its size differs between parts of the mix"));
}

}  // namespace
}  // namespace dataline::tests::part_sizes_test
