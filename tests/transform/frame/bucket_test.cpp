// Images in batches by aspect ratio: each operator to the bucket does what it does for that size in numbers.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "core/transform/transform.h"
#include "tests/transform/frame/encoded_images.h"
#include "tests/transform/support/runner.h"

namespace dataline::tests::bucket_test {
namespace {

using Rows = std::vector<std::vector<std::byte>>;

Rows wide_images() {
  Rows rows;
  for (int64_t i = 0; i < 12; ++i) rows.push_back(jpeg_row(40 + i, 70 + 3 * i));
  return rows;
}

RunSetup by_aspect(RowExtent bucket, int64_t row_bytes) {
  RunSetup setup;
  setup.settings.buckets = BucketBy::kAspect;
  setup.bucket = bucket;
  setup.target_stride = row_bytes;
  setup.seed = 5;
  setup.epoch = 3;
  setup.first_slot = 700;
  return setup;
}

RunSetup by_numbers() {
  RunSetup setup = by_aspect({}, -1);
  setup.settings.buckets = BucketBy::kNone;
  return setup;
}

Status status_of(std::string_view text, BucketBy buckets = BucketBy::kAspect) {
  TransformSettings settings;
  settings.buckets = buckets;
  const Field field = encoded_field();
  Result<CompiledTransforms> compiled = compile_transforms(text, {&field, 1}, settings);
  return compiled.is_ok() ? Status::ok() : compiled.take_status();
}

TEST(BucketFrames, CropsToTheBucketAreThoseToItsSizeInNumbers) {
  const Rows rows = wide_images();
  for (const char* crop : {"center_crop", "random_crop", "random_resized_crop"}) {
    const std::string before = "decode, ", after = ", hflip, normalize(imagenet), chw";
    for (const RowExtent bucket : {RowExtent{24, 36}, RowExtent{36, 20}}) {
      const std::string size =
          "[" + std::to_string(bucket.height) + ", " + std::to_string(bucket.width) + "]";
      const RunResult numbers =
          run_transform(before + crop + "(" + size + ")" + after, encoded_field(), rows, by_numbers());
      const RunResult to_bucket = run_transform(before + crop + "(bucket)" + after, encoded_field(), rows,
                                                by_aspect(bucket, bucket.height * bucket.width * 3 * 4));
      EXPECT_TRUE(to_bucket.errors.empty());
      EXPECT_EQ(to_bucket.rows, numbers.rows) << crop;
    }
  }
}

TEST(BucketFrames, ResizeToTheBucketIsResizeOfTheSideThatCoversItAndTheMiddle) {
  const Rows rows = wide_images();  // wider than the bucket: the height decides
  const RunResult numbers =
      run_transform("decode, resize(24), center_crop([24, 30])", encoded_field(), rows, by_numbers());
  const RunResult to_bucket =
      run_transform("decode, resize(bucket)", encoded_field(), rows, by_aspect({24, 30}, 24 * 30 * 3));
  EXPECT_TRUE(to_bucket.output.to_bucket);
  EXPECT_EQ(to_bucket.output.shape, (std::vector<int64_t>{-1, -1, 3}));
  EXPECT_EQ(to_bucket.rows, numbers.rows);
}

TEST(BucketFrames, ColoursAndFurtherOperatorsKeepTheBucketsSize) {
  const Rows rows = wide_images();
  const Status allowed =
      status_of("decode, resize(bucket), color_jitter(0.4), hflip, grayscale(channels=3), cast(f32), chw");
  EXPECT_TRUE(allowed.is_ok()) << allowed.message();
  const RunResult numbers =
      run_transform("decode, random_resized_crop([24, 30]), color_jitter(0.4), vflip, chw", encoded_field(),
                    rows, by_numbers());
  const RunResult to_bucket =
      run_transform("decode, random_resized_crop(bucket), color_jitter(0.4), vflip, chw", encoded_field(),
                    rows, by_aspect({24, 30}, 24 * 30 * 3));
  EXPECT_TRUE(to_bucket.output.to_bucket);
  EXPECT_EQ(to_bucket.output.shape, (std::vector<int64_t>{3, -1, -1}));
  EXPECT_EQ(to_bucket.rows, numbers.rows);
}

TEST(BucketFrames, ACropThatAnImageDoesNotHaveIsAnErrorOfItsRow) {
  const RunResult result =
      run_transform("decode, random_crop(bucket)", encoded_field(), {jpeg_row(60, 60), jpeg_row(20, 60)},
                    by_aspect({32, 32}, 32 * 32 * 3));
  ASSERT_EQ(result.errors.size(), 1u);
  EXPECT_EQ(result.errors[0].row, 1);
  const RunResult padded =
      run_transform("decode, random_crop(bucket, padding=8)", encoded_field(),
                    {jpeg_row(60, 60), jpeg_row(20, 60)}, by_aspect({32, 32}, 32 * 32 * 3));
  EXPECT_TRUE(padded.errors.empty());
}

TEST(BucketFrames, ASizeInNumbersEndsTheBuckets) {
  const Field field = encoded_field();
  TransformSettings settings;
  settings.buckets = BucketBy::kAspect;
  const auto output = [&](std::string_view text) {
    return compile_transforms(text, {&field, 1}, settings).take().programs[0]->output();
  };
  EXPECT_FALSE(output("decode, resize(bucket), center_crop(8)").to_bucket);
  EXPECT_EQ(output("decode, resize(bucket), center_crop(8)").shape, (std::vector<int64_t>{8, 8, 3}));
  EXPECT_FALSE(output("decode, resize(bucket), pad(2)").to_bucket);
  EXPECT_FALSE(output("decode, resize(bucket), rotate(30, expand=true)").to_bucket);
  EXPECT_TRUE(output("decode, resize(bucket), rotate(30)").to_bucket);
  EXPECT_FALSE(output("decode").to_bucket);
}

TEST(BucketFrames, WhatNeedsOneSizeSaysWhyThereIsNone) {
  for (const char* text : {"decode, resize(bucket), flatten", "decode, resize(bucket), reshape([-1])",
                           "decode, resize(bucket), cast(f32), random_erasing"}) {
    const Status status = status_of(text);
    if (status.is_ok()) continue;
    EXPECT_NE(status.message().find("which differ from bucket to bucket"), std::string::npos)
        << status.message();
  }
  EXPECT_FALSE(status_of("decode, resize(bucket), flatten").is_ok());
  for (const BucketBy other : {BucketBy::kNone, BucketBy::kLength}) {
    for (const char* text : {"decode, resize(bucket)", "decode, center_crop(bucket)",
                             "decode, random_crop(bucket)", "decode, random_resized_crop(bucket)"}) {
      EXPECT_NE(status_of(text, other).message().find("bucket_by=aspect and bucket_edges"), std::string::npos)
          << text;
    }
  }
  EXPECT_NE(status_of("pad_to(bucket)").message().find("needs batches by length"), std::string::npos);
  EXPECT_FALSE(status_of("decode, resize(bucket, max_size=20)").is_ok());
  EXPECT_FALSE(status_of("decode, resize(buckets)").is_ok());
}

}  // namespace
}  // namespace dataline::tests::bucket_test
