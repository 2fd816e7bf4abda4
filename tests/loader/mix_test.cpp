// mixup and cutmix on delivered batches: beside the same job without them, mixed here by torchvision's formula.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <functional>

#include "core/transform/mix/mix.h"
#include "tests/support/job.h"

namespace dataline::tests::mix_test {
namespace {

constexpr int64_t kHeight = 6, kWidth = 10, kElements = 3 * kHeight * kWidth, kClasses = 5;

// n images u8 3x6x10 (CHW), labels i64, and a key that tells the sample.
Dataset images(int64_t n) {
  std::vector<uint8_t> pixels;
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t e = 0; e < kElements; ++e) pixels.push_back(static_cast<uint8_t>(i * 37 + e * 11));
    labels.push_back(i % kClasses);
  }
  const int64_t image_shape[] = {n, 3, kHeight, kWidth}, label_shape[] = {n};
  dl_array arrays[2] = {};
  for (dl_array& array : arrays) array.struct_size = sizeof array;
  arrays[0].name = "image";
  arrays[0].dtype = DL_DTYPE_U8;
  arrays[0].rank = 4;
  arrays[0].shape = image_shape;
  arrays[0].axes = "CHW";
  arrays[0].data = pixels.data();
  arrays[1].name = "label";
  arrays[1].dtype = DL_DTYPE_I64;
  arrays[1].rank = 1;
  arrays[1].shape = label_shape;
  arrays[1].data = labels.data();
  Error error;
  dl_dataset* dataset = nullptr;
  EXPECT_EQ(dl_dataset_from_arrays(arrays, 2, nullptr, nullptr, nullptr, &dataset, &error), DL_OK)
      << error.message;
  return Dataset(dataset);
}

struct Values {
  dl_status status = DL_OK;
  std::string message;
  int64_t epoch = 0, step = 0, rows = 0;
  std::vector<float> image, label;
};

Values take(const Loader& loader) {
  Values out;
  const Delivered got = next(loader);
  out.status = got.status;
  out.message = got.message;
  if (got.status != DL_OK) return out;
  out.epoch = got.epoch;
  out.step = got.step;
  out.rows = static_cast<int64_t>(got.indices.size());
  int32_t count = 0;
  const dl_view* views = dl_batch_views(got.batch.get(), &count);
  const auto* image = static_cast<const float*>(views[0].data);
  const auto* label = static_cast<const float*>(views[1].data);
  out.image.assign(image, image + views[0].bytes / 4);
  out.label.assign(label, label + views[1].bytes / 4);
  return out;
}

std::vector<Values> all_of(const Loader& loader) {
  std::vector<Values> out;
  for (;;) {
    Values values = take(loader);
    if (values.status == DL_END) return out;
    if (values.status == DL_END_OF_EPOCH) continue;
    EXPECT_EQ(values.status, DL_OK) << values.message;
    if (values.status != DL_OK) return out;
    out.push_back(std::move(values));
  }
}

void blend(std::vector<float>& values, int64_t rows, double lambda) {
  const std::vector<float> before = values;
  const size_t width = values.size() / static_cast<size_t>(rows);
  const float share = static_cast<float>(lambda), rest = static_cast<float>(1 - lambda);
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t other = (i + values.size() - width) % values.size();  // roll(1)
    values[i] = before[other] * rest + before[i] * share;
  }
}

void paste(std::vector<float>& values, const MixDraw& draw) {
  const std::vector<float> before = values;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto x = static_cast<int64_t>(i) % kWidth, y = static_cast<int64_t>(i) / kWidth % kHeight;
    if (x < draw.left || x >= draw.right || y < draw.top || y >= draw.bottom) continue;
    values[i] = before[(i + values.size() - kElements) % values.size()];
  }
}

std::vector<Values> mixed(std::vector<Values> plain, MixKind kind, double alpha, uint64_t seed,
                          int64_t place) {
  BatchMix mix;
  mix.kind = kind;
  mix.alpha = alpha;
  mix.place = place;
  mix.shape = {ImageLayout::kPlanar, 3, kHeight, kWidth};
  for (Values& values : plain) {
    const MixDraw draw = draw_mix(mix, seed, values.epoch, values.step);
    if (kind == MixKind::kMixup) blend(values.image, values.rows, draw.lambda);
    if (kind == MixKind::kCutmix) paste(values.image, draw);
    blend(values.label, values.rows, draw.lambda);
  }
  return plain;
}

void expect_equal(const std::vector<Values>& got, const std::vector<Values>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].rows, expected[i].rows);
    EXPECT_EQ(got[i].image, expected[i].image) << "batch " << i;
    EXPECT_EQ(got[i].label, expected[i].label) << "batch " << i;
  }
}

Settings job(const std::string& image_operators, const Settings& more = {}) {
  Settings settings = {{"transform", "image: " + image_operators + "; label: one_hot(5)"},
                       {"shuffle", "full"},
                       {"seed", "9"},
                       {"batch_size", "4"},
                       {"epochs", "2"}};
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

TEST(MixedBatches, AreTheFormulaAppliedToThoseOfTheJobWithout) {
  const Dataset dataset = images(18);  // the last batch of an epoch has 2 rows
  const std::vector<Values> plain = all_of(make_loader(dataset, job("normalize(imagenet)")));
  for (const char* workers : {"0", "1", "3"}) {
    const Settings settings = {{"num_workers", workers}};
    expect_equal(all_of(make_loader(dataset, job("normalize(imagenet), mixup(0.4)", settings))),
                 mixed(plain, MixKind::kMixup, 0.4, 9, 1));
    expect_equal(all_of(make_loader(dataset, job("normalize(imagenet), cutmix", settings))),
                 mixed(plain, MixKind::kCutmix, 1, 9, 1));
  }
}

TEST(MixedBatches, OfOneRowMixItWithItself) {
  const Dataset dataset = images(5);
  const Settings one = {{"batch_size", "1"}};
  const Settings settings = job("cast(f32), cutmix(alpha=2)", one);
  expect_equal(all_of(make_loader(dataset, settings)), all_of(make_loader(dataset, job("cast(f32)", one))));
}

TEST(MixedBatches, PadsTakePart) {
  const Dataset dataset = images(6);
  const Settings pad = {{"last_batch", "pad"}};
  expect_equal(all_of(make_loader(dataset, job("cast(f32), mixup", pad))),
               mixed(all_of(make_loader(dataset, job("cast(f32)", pad))), MixKind::kMixup, 1, 9, 1));
}

TEST(MixedBatches, EachRankMixesItsOwnRows) {
  const Dataset dataset = images(16);
  for (const char* rank : {"0", "1"}) {
    const Settings ranks = {{"world_size", "2"}, {"rank", rank}};
    expect_equal(all_of(make_loader(dataset, job("cast(f32), mixup(2)", ranks))),
                 mixed(all_of(make_loader(dataset, job("cast(f32)", ranks))), MixKind::kMixup, 2, 9, 1));
  }
}

TEST(MixedBatches, GoOnFromASavedStateWithTheSameBytes) {
  const Dataset dataset = images(18);
  const Settings settings = job("cast(f32), mixup(0.2)");
  std::vector<Values> whole = all_of(make_loader(dataset, settings));
  const Loader first = make_loader(dataset, settings);
  for (int step = 0; step < 3; ++step) take(first);
  const Loader second = make_loader(dataset, settings);
  Error error;
  ASSERT_EQ(dl_loader_state_load(second.get(), save_state(first).c_str(), &error), DL_OK) << error.message;
  whole.erase(whole.begin(), whole.begin() + 3);
  expect_equal(all_of(second), whole);
}

TEST(MixedBatches, TakeSoftLabelsAndHalvesAsTheyAre) {
  const Dataset dataset = images(8);
  const Loader loader =
      make_loader(dataset, {{"transform",
                             "image: normalize(imagenet), cast(f16), mixup(1, labels=label); "
                             "label: one_hot(5, dtype=bf16)"},
                            {"batch_size", "4"},
                            {"epochs", "1"}});
  const Delivered got = next(loader);
  ASSERT_EQ(got.status, DL_OK) << got.message;
  int32_t count = 0;
  const dl_view* views = dl_batch_views(got.batch.get(), &count);
  EXPECT_EQ(views[0].dtype, DL_DTYPE_F16);
  EXPECT_EQ(views[1].dtype, DL_DTYPE_BF16);
  const auto* labels = static_cast<const uint16_t*>(views[1].data);
  for (int64_t row = 0; row < 4; ++row) {
    int shares = 0;
    for (int64_t c = 0; c < kClasses; ++c) shares += labels[row * kClasses + c] != 0 ? 1 : 0;
    EXPECT_EQ(shares, 2) << "neighbours have different labels";
  }
}

TEST(MixedBatches, CutmixTakesPixelsToo) {
  const Dataset dataset = images(8);
  const Loader loader = make_loader(dataset, job("hwc, cutmix"));
  const Delivered got = next(loader);
  ASSERT_EQ(got.status, DL_OK) << got.message;
  int32_t count = 0;
  EXPECT_EQ(dl_batch_views(got.batch.get(), &count)[0].dtype, DL_DTYPE_U8);
}

struct Refused {
  const char* text;
  int32_t column;
  dl_status status;
  const char* says;
};

TEST(MixGrammar, RefusesWhatCannotBeMixedWithAColumn) {
  const Dataset dataset = images(8);
  for (const Refused& refused : {
           Refused{"image: mixup; label: one_hot(5)", 8, DL_ERR_BAD_TRANSFORM,
                   "put normalize or cast(f32) before"},
           Refused{"image: cast(f32), mixup, chw; label: one_hot(5)", 26, DL_ERR_BAD_TRANSFORM,
                   "nothing after mixup"},
           Refused{"image: cast(f32), mixup, cutmix; label: one_hot(5)", 26, DL_ERR_BAD_TRANSFORM,
                   "nothing after mixup"},
           Refused{"image: cast(f32), mixup", 19, DL_ERR_BAD_TRANSFORM, "one_hot(n)"},
           Refused{"image: cast(f32), mixup(0.2, labels=label); label: cast(f32)", 37, DL_ERR_BAD_TRANSFORM,
                   "one_hot(n)"},
           Refused{"image: cast(f32), cutmix(labels=tag)", 33, DL_ERR_NO_SUCH_FIELD, "'tag'"},
           Refused{"image: cast(f32), mixup(labels=image)", 32, DL_ERR_BAD_TRANSFORM, "a separate field"},
           Refused{"image: cast(f32), mixup(0); label: one_hot(5)", 25, DL_ERR_BAD_TRANSFORM, "0.000001"},
           Refused{"image: cast(f32), mixup(nan); label: one_hot(5)", 25, DL_ERR_BAD_TRANSFORM, "a number"},
           Refused{"image: cast(f32), flatten, cutmix; label: one_hot(5)", 28, DL_ERR_BAD_TRANSFORM,
                   "2 or 3 dims"},
       }) {
    Error error;
    dl_loader* loader = nullptr;
    const dl_status status =
        dl_loader_create(dataset.get(), make_options({{"transform", refused.text}}).get(), &loader, &error);
    EXPECT_EQ(status, refused.status) << refused.text << ": " << error.message;
    EXPECT_EQ(error.column, refused.column) << refused.text << ": " << error.message;
    EXPECT_NE(std::string(error.message).find(refused.says), std::string::npos) << error.message;
    dl_loader_destroy(loader);
  }
}

}  // namespace
}  // namespace dataline::tests::mix_test
