// Batches by the aspect ratio of images: what is in them, that ranks agree, resuming, and bad images.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "tests/loader/images/aspects.h"

namespace dataline::tests::aspect_test {
namespace {

struct Step {
  std::vector<int64_t> shape, indices;
  std::string pixels;
  int64_t valid = 0;
  Batch batch;
};

std::optional<Step> next_step(const Loader& loader) {
  Delivered got = next(loader);
  if (got.status != DL_OK) {
    EXPECT_EQ(got.status, DL_END_OF_EPOCH) << got.message;
    return std::nullopt;
  }
  const dl_view& image = view_of(got.batch, 0);
  Step step{shape_of(image), got.indices, bytes_of(image), got.valid, std::move(got.batch)};
  return step;
}

std::vector<Step> epoch_of(const Loader& loader) {
  std::vector<Step> steps;
  while (std::optional<Step> step = next_step(loader)) steps.push_back(std::move(*step));
  return steps;
}

// One shape, that of each of its images by its header; and `size` says what the image was.
void expect_shape_of_its_images(const Photographs& set, const Step& step) {
  ASSERT_EQ(step.shape.size(), 4u);
  ASSERT_EQ(step.shape[0], static_cast<int64_t>(step.indices.size()));
  const dl_view& sizes = view_of(step.batch, 2);
  ASSERT_STREQ(sizes.name, "size");
  ASSERT_EQ(shape_of(sizes), (std::vector<int64_t>{step.shape[0], 2}));
  for (size_t row = 0; row < step.indices.size(); ++row) {
    const ImageBucket& shape = shape_for(set, step.indices[row]);
    ASSERT_EQ(step.shape[1], shape.height) << "sample " << step.indices[row];
    ASSERT_EQ(step.shape[2], shape.width) << "sample " << step.indices[row];
    const auto* size = static_cast<const int32_t*>(sizes.data) + 2 * row;
    ASSERT_EQ(size[0], set.size(step.indices[row]).height);
    ASSERT_EQ(size[1], set.size(step.indices[row]).width);
  }
}

class BatchesByAspect : public ::testing::TestWithParam<const char*> {
 protected:
  Loader loader_of(const Dataset& set, const Settings& more = {}) const {
    return make_loader(set, with(with(kByAspect, {{"num_workers", GetParam()}}), more));
  }
};

TEST_P(BatchesByAspect, HoldEachImageOnceInTheShapeThatIsNearestToItsOwn) {
  const Photographs set = of_all_aspects(50);
  const Dataset dataset = set.dataset();
  const Loader loader = loader_of(dataset);
  for (int64_t epoch = 0; epoch < 2; ++epoch) {
    std::vector<int64_t> seen;
    std::set<std::vector<int64_t>> shapes;
    for (const Step& step : epoch_of(loader)) {
      expect_shape_of_its_images(set, step);
      seen.insert(seen.end(), step.indices.begin(), step.indices.end());
      shapes.insert({step.shape[1], step.shape[2]});
    }
    EXPECT_EQ(shapes.size(), 3u);
    std::sort(seen.begin(), seen.end());
    ASSERT_EQ(seen.size(), 50u);
    for (int64_t i = 0; i < 50; ++i) EXPECT_EQ(seen[static_cast<size_t>(i)], i);
  }
}

// Each batch is what a loader of the shape in numbers gives for the same images.
TEST_P(BatchesByAspect, HaveThePixelsOfASizeInNumbers) {
  const Photographs set = of_all_aspects(30);
  const Dataset dataset = set.dataset();
  const auto alone = [&](const ImageBucket& shape, const std::vector<int64_t>& indices) {
    const std::string size = "[" + std::to_string(shape.height) + ", " + std::to_string(shape.width) + "]";
    const Options options = make_options({{"transform", "image: decode, center_crop(" + size + "), chw"},
                                          {"batch_size", std::to_string(indices.size())}});
    Error error;
    EXPECT_EQ(dl_options_set_indices(options.get(), indices.data(), static_cast<int64_t>(indices.size()),
                                     nullptr, nullptr, &error),
              DL_OK);
    dl_loader* loader = nullptr;
    EXPECT_EQ(dl_loader_create(dataset.get(), options.get(), &loader, &error), DL_OK) << error.message;
    const Delivered got = next(Loader(loader));
    return bytes_of(view_of(got.batch, 0));
  };
  const Loader loader = loader_of(dataset, {{"transform", "image: decode, center_crop(bucket), chw"}});
  int64_t steps = 0;
  for (const Step& step : epoch_of(loader)) {
    EXPECT_EQ(step.pixels, alone(shape_for(set, step.indices[0]), step.indices));
    EXPECT_EQ(step.shape[1], 3);
    ++steps;
  }
  EXPECT_GE(steps, 8);
}

TEST_P(BatchesByAspect, HaveAsManyRowsAsPixelsFit) {
  const Photographs set = of_all_aspects(60);
  const Dataset dataset = set.dataset();
  const Loader loader = loader_of(
      dataset, {{"bucket_edges", "32x48,20x20,48x32"}, {"max_tokens", "6200"}, {"batch_size", "9"}});
  std::map<int64_t, int64_t> most;  // by pixels
  for (const Step& step : epoch_of(loader)) {
    int64_t& rows = most[step.shape[1] * step.shape[2]];
    rows = std::max(rows, step.shape[0]);
  }
  EXPECT_EQ(most, (std::map<int64_t, int64_t>{{400, 9}, {1536, 4}}));
}

TEST_P(BatchesByAspect, RanksHaveTheSameShapeAtEachStepAndTogetherTheStreamOfOne) {
  const Photographs set = of_all_aspects(70);
  const Dataset dataset = set.dataset();
  const Settings by_rank = {{"bucket_by", "aspect"},
                            {"bucket_edges", "32x48, 40x40,48x32"},
                            {"transform", "image: decode, resize(bucket)"},
                            {"shuffle", "full"},
                            {"global_batch_size", "6"},
                            {"num_workers", GetParam()}};
  const std::vector<Step> whole = epoch_of(make_loader(dataset, by_rank));
  for (const int world : {2, 3}) {
    std::vector<std::vector<Step>> ranks;
    for (int rank = 0; rank < world; ++rank) {
      ranks.push_back(epoch_of(make_loader(
          dataset, with(by_rank, {{"rank", std::to_string(rank)}, {"world_size", std::to_string(world)}}))));
      ASSERT_EQ(ranks.back().size(), whole.size());
    }
    for (size_t s = 0; s < whole.size(); ++s) {
      std::string pixels;
      std::vector<int64_t> indices;
      for (const std::vector<Step>& rank : ranks) {
        EXPECT_EQ(std::vector(rank[s].shape.begin() + 1, rank[s].shape.end()),
                  std::vector(whole[s].shape.begin() + 1, whole[s].shape.end()));
        pixels += rank[s].pixels;
        indices.insert(indices.end(), rank[s].indices.begin(), rank[s].indices.end());
      }
      EXPECT_EQ(indices, whole[s].indices);
      EXPECT_EQ(pixels, whole[s].pixels) << "step " << s << " of " << world << " ranks";
    }
  }
}

TEST_P(BatchesByAspect, GoOnFromAStateOfAnyStep) {
  const Photographs set = of_all_aspects(40);
  const Dataset dataset = set.dataset();
  const Loader whole = loader_of(dataset, {{"epochs", "2"}});
  std::vector<std::string> states, lines;
  for (;;) {
    states.push_back(save_state(whole));
    Delivered got = next(whole);
    if (got.status == DL_END) break;
    lines.push_back(got.status == DL_OK ? digest_of(got) : "end");
  }
  for (size_t s = 0; s + 1 < states.size(); ++s) {
    const Loader again = loader_of(dataset, {{"epochs", "2"}});
    Error error;
    ASSERT_EQ(dl_loader_state_load(again.get(), states[s].c_str(), &error), DL_OK) << error.message;
    Delivered got = next(again);
    EXPECT_EQ(got.status == DL_OK ? digest_of(got) : "end", lines[s]) << "step " << s;
  }
}

TEST_P(BatchesByAspect, WhatHasNoHeaderLiesInTheCommonestShapeAndIsABadSampleThere) {
  Photographs set = of_all_aspects(50);
  set.broken = {1, 20, 33};  // cut in the first line, with a header
  const Dataset dataset = set.dataset();
  const Loader loader = loader_of(dataset, {{"on_error", "replace"}});
  int64_t rows = 0;
  for (const Step& step : epoch_of(loader)) rows += step.shape[0];
  EXPECT_EQ(rows, 50);
  EXPECT_EQ(stats_of(loader).replaced, 3);
  for (int64_t i = 0; i < dl_loader_bad_sample_count(loader.get()); ++i) {
    dl_bad_sample bad = {};
    bad.struct_size = sizeof bad;
    ASSERT_EQ(dl_loader_bad_sample_at(loader.get(), i, &bad, nullptr), DL_OK);
    EXPECT_TRUE(set.broken.contains(bad.index));
    EXPECT_FALSE(set.broken.contains(bad.replacement));
  }
}

// The only ones of their kind: others of the commonest shape stand in for them.
TEST_P(BatchesByAspect, ImagesWithoutAHeaderAreStoodInForThoughNoOtherHasTheFirstShape) {
  Photographs set;
  set.count = 12;
  set.size = [](int64_t i) { return i < 2 ? ImageSize{40, 40} : ImageSize{60, 40}; };  // high, the last shape
  set.broken = {0, 1};
  const Dataset dataset = set.dataset();
  const Loader loader = loader_of(dataset, {{"on_error", "quarantine"}});
  int64_t rows = 0;
  for (const Step& step : epoch_of(loader)) {
    EXPECT_EQ(step.shape[1], 48);
    rows += step.shape[0];
  }
  EXPECT_EQ(rows, 12);
  EXPECT_EQ(stats_of(loader).bad, 2);
}

TEST_P(BatchesByAspect, ASetWithAFieldOfThatNameKeepsItsOwn) {
  const Photographs set = of_all_aspects(9);
  std::string data;
  std::vector<int64_t> offsets = {0}, sizes;
  for (int64_t i = 0; i < 9; ++i) {
    data += set.file(i);
    offsets.push_back(static_cast<int64_t>(data.size()));
    sizes.push_back(100 + i);
  }
  const std::vector<int64_t> image_shape = {offsets.back()}, size_shape = {9};
  const dl_array arrays[] = {ragged_array_of("image", DL_DTYPE_U8, image_shape, data.data(), offsets),
                             array_of("size", DL_DTYPE_I64, size_shape, sizes.data())};
  Error error;
  dl_dataset* made = nullptr;
  ASSERT_EQ(dl_dataset_from_arrays(arrays, 2, nullptr, nullptr, nullptr, &made, &error), DL_OK)
      << error.message;
  const Dataset dataset(made);
  const Loader loader = loader_of(dataset);
  for (const Step& step : epoch_of(loader)) {
    const dl_view& view = view_of(step.batch, 1);
    for (size_t row = 0; row < step.indices.size(); ++row)
      EXPECT_EQ(static_cast<const int64_t*>(view.data)[row], 100 + step.indices[row]);
  }
}

INSTANTIATE_TEST_SUITE_P(Workers, BatchesByAspect, ::testing::Values("0", "3"));

}  // namespace
}  // namespace dataline::tests::aspect_test
