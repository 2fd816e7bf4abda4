// Views: what each step does to rectangle, window and flips, as torchvision's transforms do; what is drawn, and how often.
// SPDX-License-Identifier: Apache-2.0
#include "core/transform/resample/resampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

namespace dataline::view_test {
namespace {

using Kind = ViewStep::Kind;

ViewStep step_of(Kind kind, int64_t height = 0, int64_t width = 0) {
  ViewStep step;
  step.kind = kind;
  step.height = height;
  step.width = width;
  return step;
}

View composed(const std::vector<ViewStep>& steps, int64_t height, int64_t width, uint64_t slot = 0) {
  Result<View> view = compose(steps, height, width, random_key(1, 2, Domain::kAugment), slot);
  EXPECT_TRUE(view.is_ok()) << view.status().message();
  return view.is_ok() ? view.take() : View();
}

ViewStep flip(Kind kind, double probability, int64_t place = 0) {
  ViewStep step = step_of(kind);
  step.probability = probability;
  step.place = place;
  return step;
}

TEST(View, ShorterSideIsTorchvisionsWithTruncation) {
  // torchvision 0.14 _compute_resized_output_size((h, w), [size], max_size).
  struct Row {
    int64_t height, width, size, most, out_height, out_width;
  };
  for (const Row& row :
       {Row{375, 500, 256, 0, 256, 341}, Row{500, 375, 256, 0, 341, 256}, Row{100, 100, 7, 0, 7, 7},
        Row{333, 500, 224, 0, 224, 336}, Row{768, 1024, 800, 1000, 750, 1000}, Row{10, 1000, 50, 200, 2, 200},
        Row{375, 500, 256, 342, 256, 341}, Row{375, 500, 256, 341, 256, 341},
        Row{375, 500, 256, 340, 255, 340}, Row{3, 5, 256, 0, 256, 426}}) {
    ViewStep step = step_of(Kind::kResize, row.size);
    step.max_size = row.most;
    const View view = composed({step}, row.height, row.width);
    EXPECT_EQ(view.out_height, row.out_height) << row.height << "x" << row.width;
    EXPECT_EQ(view.out_width, row.out_width) << row.height << "x" << row.width;
    const FrameShape shape = step.shape({row.height, row.width, 3});
    EXPECT_EQ(shape.height, row.out_height);
    EXPECT_EQ(shape.width, row.out_width);
  }
  EXPECT_FALSE(step_of(Kind::kResize, 256).shape({}).fixed());
  EXPECT_TRUE(step_of(Kind::kResize, 256, 200).shape({}).fixed());
}

TEST(View, TwoSidesAreTakenAsTheyAreAlsoOfOnePixel) {
  for (const auto& [height, width] : {std::array<int64_t, 2>{7, 1}, {1, 7}, {1, 1}, {7, 2}}) {
    const ViewStep step = step_of(Kind::kResize, height, width);
    const View view = composed({step}, 100, 50);
    EXPECT_EQ(view.out_height, height);
    EXPECT_EQ(view.out_width, width);
    EXPECT_EQ(step.shape({100, 50, 3}).width, width);
  }
}

TEST(View, CentreRoundsHalvesToTheEvenPixel) {
  for (const auto& [size, crop, corner] :
       {std::array<int64_t, 3>{10, 4, 3}, {11, 4, 4}, {9, 4, 2}, {5, 4, 0}, {7, 4, 2}}) {
    const View view = composed({step_of(Kind::kCenterCrop, crop, crop)}, size, size);
    EXPECT_EQ(view.top, corner) << size;  // int(round((size - crop) / 2.0))
    EXPECT_EQ(view.left, corner) << size;
    EXPECT_FALSE(view.scales());
  }
}

TEST(View, ACropAfterAResizeIsAWindowOfIt) {
  const View view = composed({step_of(Kind::kResize, 256), step_of(Kind::kCenterCrop, 224, 224)}, 375, 500);
  EXPECT_EQ(view.height, 375);
  EXPECT_EQ(view.scaled_width, 341);
  EXPECT_EQ(view.window_top, 16);
  EXPECT_EQ(view.window_left, 58);  // 117 / 2 = 58.5, to the even one
  EXPECT_EQ(view.out_width, 224);
}

TEST(View, CropsAfterAFlipAreSeenThroughIt) {
  ViewStep crop = step_of(Kind::kCrop, 10, 20);
  crop.top = 3;
  crop.left = 5;
  const View view = composed({flip(Kind::kFlipX, 1), flip(Kind::kFlipY, 1), crop}, 100, 80);
  EXPECT_TRUE(view.flip_x && view.flip_y);
  EXPECT_EQ(view.top, 100 - 3 - 10);
  EXPECT_EQ(view.left, 80 - 5 - 20);
  const View twice = composed({flip(Kind::kFlipX, 1), crop, flip(Kind::kFlipX, 1, 2)}, 100, 80);
  EXPECT_FALSE(twice.flip_x);
  EXPECT_EQ(twice.left, 80 - 5 - 20);
}

TEST(View, ACropLargerThanTheImageIsRefusedWithBothSizes) {
  for (const Kind kind : {Kind::kCenterCrop, Kind::kRandomCrop, Kind::kCrop}) {
    const Result<View> view = compose({step_of(kind, 224, 30)}, 100, 80, 1, 2);
    ASSERT_FALSE(view.is_ok());
    EXPECT_EQ(view.status().code(), Code::kOutOfRange);
    EXPECT_NE(view.status().message().find("30 wide, 224 high"), std::string::npos)
        << view.status().message();
    EXPECT_NE(view.status().message().find("80 wide, 100 high"), std::string::npos)
        << view.status().message();
  }
}

TEST(View, OneScalingJoinsAndFiltersThatMirrorDoSoAfterAFlip) {
  const ViewStep resize = step_of(Kind::kResize, 5), drawn = step_of(Kind::kRandomResizedCrop, 5, 5);
  EXPECT_TRUE(joins({}, resize));
  EXPECT_FALSE(joins({resize}, drawn));
  EXPECT_TRUE(joins({resize}, step_of(Kind::kRandomCrop, 2, 2)));
  EXPECT_TRUE(joins({flip(Kind::kFlipX, 0.5)}, drawn));
  ViewStep area = resize;
  area.filter = Filter::kArea;
  EXPECT_FALSE(joins({flip(Kind::kFlipX, 0.5)}, area));
}

TEST(View, FlipsHappenWithTheirProbability) {
  for (const double probability : {0.0, 0.1, 0.5, 1.0}) {
    int flipped = 0;
    for (uint64_t slot = 0; slot < 20000; ++slot)
      flipped += composed({flip(Kind::kFlipX, probability)}, 8, 8, slot).flip_x;
    EXPECT_NEAR(flipped / 20000.0, probability, 4 * std::sqrt(probability * (1 - probability) / 20000));
  }
}

TEST(View, CornersOfARandomCropAreUniform) {
  std::array<int64_t, 7 * 5> times{};
  constexpr int64_t kDraws = 35000;
  for (int64_t slot = 0; slot < kDraws; ++slot) {
    const View view = composed({step_of(Kind::kRandomCrop, 10, 10)}, 16, 14, static_cast<uint64_t>(slot));
    ++times[static_cast<size_t>(view.top * 5 + view.left)];
  }
  double chi = 0;
  for (const int64_t count : times) chi += std::pow(static_cast<double>(count) - 1000.0, 2) / 1000.0;
  EXPECT_LT(chi, 65.2);  // 34 degrees of freedom, 1 in 1,000
}

struct Box {
  int64_t top, left, height, width;
};

// torchvision.transforms.v2.RandomResizedCrop.make_params as it reads, with a generator of its own.
Box reference(int64_t height, int64_t width, const ViewStep& step, std::mt19937_64& random) {
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  const auto integer = [&](int64_t end) {
    return std::uniform_int_distribution<int64_t>(0, end - 1)(random);
  };
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double area = static_cast<double>(height * width) * uniform(step.scale_low, step.scale_high);
    const double ratio = std::exp(uniform(std::log(step.ratio_low), std::log(step.ratio_high)));
    const auto w = static_cast<int64_t>(std::nearbyint(std::sqrt(area * ratio)));
    const auto h = static_cast<int64_t>(std::nearbyint(std::sqrt(area / ratio)));
    if (0 < w && w <= width && 0 < h && h <= height)
      return {integer(height - h + 1), integer(width - w + 1), h, w};
  }
  const double ratio = static_cast<double>(width) / static_cast<double>(height);
  int64_t w = width, h = height;
  if (ratio < step.ratio_low) {
    h = static_cast<int64_t>(std::nearbyint(static_cast<double>(w) / step.ratio_low));
  } else if (ratio > step.ratio_high) {
    w = static_cast<int64_t>(std::nearbyint(static_cast<double>(h) * step.ratio_high));
  }
  return {(height - h) / 2, (width - w) / 2, h, w};
}

// Two samples' largest distance between distribution functions; ties are steps of both.
double kolmogorov_smirnov(std::vector<int64_t> a, std::vector<int64_t> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  double most = 0;
  for (const int64_t value : a) {
    const auto below = [value](const std::vector<int64_t>& sample) {
      return static_cast<double>(std::upper_bound(sample.begin(), sample.end(), value) - sample.begin()) /
             static_cast<double>(sample.size());
    };
    most = std::max(most, std::abs(below(a) - below(b)));
  }
  return most;
}

TEST(View, RandomResizedCropIsDistributedAsTorchvisions) {
  constexpr int64_t kDraws = 20000;
  struct Case {
    int64_t height, width;
    double scale_low, scale_high, ratio_low, ratio_high;
  };
  for (const Case& each : {Case{375, 500, 0.08, 1, 0.75, 4.0 / 3}, Case{64, 300, 0.2, 0.9, 0.5, 2}}) {
    ViewStep step = step_of(Kind::kRandomResizedCrop, 224, 224);
    step.scale_low = each.scale_low;
    step.scale_high = each.scale_high;
    step.ratio_low = each.ratio_low;
    step.ratio_high = each.ratio_high;
    std::mt19937_64 random(99);
    std::array<std::vector<int64_t>, 4> ours, theirs;
    for (int64_t slot = 0; slot < kDraws; ++slot) {
      const View view = composed({step}, each.height, each.width, static_cast<uint64_t>(slot));
      const Box box = reference(each.height, each.width, step, random);
      const std::array<int64_t, 4> drawn{view.top, view.left, view.height, view.width};
      const std::array<int64_t, 4> expected{box.top, box.left, box.height, box.width};
      for (size_t i = 0; i < 4; ++i) {
        ours[i].push_back(drawn[i]);
        theirs[i].push_back(expected[i]);
      }
    }
    for (size_t i = 0; i < 4; ++i)  // 1 in 1,000
      EXPECT_LT(kolmogorov_smirnov(ours[i], theirs[i]), 1.95 * std::sqrt(2.0 / kDraws))
          << "top left height width: " << i;
  }
}

TEST(View, RandomResizedCropFallsBackToTheMiddle) {
  // No attempt fits: ratios of 100 are out of reach. round(w / min(ratio)), round(h * max(ratio)), whole image between.
  ViewStep step = step_of(Kind::kRandomResizedCrop, 10, 10);
  step.scale_low = step.scale_high = 1;
  step.ratio_low = 0.9;
  step.ratio_high = 1.1;
  const View tall = composed({step}, 400, 50);
  EXPECT_EQ(tall.width, 50);
  EXPECT_EQ(tall.height, 56);  // 50 / 0.9
  EXPECT_EQ(tall.top, (400 - 56) / 2);
  const View wide = composed({step}, 50, 400);
  EXPECT_EQ(wide.height, 50);
  EXPECT_EQ(wide.width, 55);
  EXPECT_EQ(wide.left, (400 - 55) / 2);
}

// To a bucket: scaled until it covers the shape, and the middle of that.
TEST(View, ResizeToABucketCoversItsShapeAndTakesTheMiddle) {
  ViewStep step = step_of(Kind::kResize);
  step.to_bucket = true;
  struct Row {
    int64_t height, width;
    RowExtent bucket;
    int64_t scaled_height, scaled_width;
  };
  for (const Row& row :
       {Row{100, 200, {50, 50}, 50, 100}, Row{200, 100, {50, 50}, 100, 50},
        Row{375, 500, {224, 288}, 224, 298}, Row{64, 48, {64, 48}, 64, 48}, Row{10, 15, {32, 48}, 32, 48},
        Row{33, 50, {32, 48}, 32, 48}, Row{34, 50, {32, 48}, 32, 48}}) {
    const Result<View> view = compose({step}, row.height, row.width, 1, 0, row.bucket);
    ASSERT_TRUE(view.is_ok());
    EXPECT_EQ(view.value().scaled_height, row.scaled_height) << row.height << "x" << row.width;
    EXPECT_EQ(view.value().scaled_width, row.scaled_width) << row.height << "x" << row.width;
    EXPECT_EQ(view.value().out_height, row.bucket.height);
    EXPECT_EQ(view.value().out_width, row.bucket.width);
    EXPECT_EQ(view.value().window_top,
              std::lround(std::nearbyint(static_cast<double>(row.scaled_height - row.bucket.height) / 2)));
    EXPECT_EQ(view.value().window_left,
              std::lround(std::nearbyint(static_cast<double>(row.scaled_width - row.bucket.width) / 2)));
  }
}

TEST(View, ResizeToABucketAlwaysCoversIt) {
  std::mt19937_64 random(3);
  ViewStep step = step_of(Kind::kResize);
  step.to_bucket = true;
  for (int round = 0; round < 5000; ++round) {
    const auto side = [&](int64_t most) {
      return 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(most));
    };
    const RowExtent bucket{side(512), side(512)};
    const int64_t height = side(5000), width = side(5000);
    const View view = compose({step}, height, width, 1, 0, bucket).take();
    ASSERT_GE(view.scaled_height, bucket.height) << height << "x" << width;
    ASSERT_GE(view.scaled_width, bucket.width) << height << "x" << width;
    ASSERT_TRUE(view.scaled_height == bucket.height || view.scaled_width == bucket.width);
    ASSERT_EQ(view.out_height, bucket.height);
    ASSERT_EQ(view.out_width, bucket.width);
  }
}

TEST(View, AShapeOfTheBucketVariesFromBatchToBatchUntilAnotherSizeIsGiven) {
  ViewStep step = step_of(Kind::kResize);
  step.to_bucket = true;
  const FrameShape shape = step.shape({100, 100, 3});
  EXPECT_TRUE(shape.of_bucket);
  EXPECT_FALSE(shape.fixed());
  EXPECT_TRUE(step_of(Kind::kFlipX).shape(shape).of_bucket);
  EXPECT_FALSE(step_of(Kind::kCenterCrop, 8, 8).shape(shape).of_bucket);
  EXPECT_TRUE(step_of(Kind::kCenterCrop, 8, 8).shape(shape).fixed());
}

TEST(View, DrawsDependOnSlotAndPlaceAlone) {
  ViewStep step = step_of(Kind::kRandomResizedCrop, 10, 10);
  const View first = composed({step}, 300, 300, 5), again = composed({step}, 300, 300, 5);
  EXPECT_EQ(first.top, again.top);
  EXPECT_EQ(first.width, again.width);
  step.place = 1;
  const View elsewhere = composed({step}, 300, 300, 5), other = composed({step}, 300, 300, 6);
  EXPECT_TRUE(first.top != elsewhere.top || first.width != elsewhere.width);
  EXPECT_TRUE(elsewhere.top != other.top || elsewhere.width != other.width);
}

}  // namespace
}  // namespace dataline::view_test
