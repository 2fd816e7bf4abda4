// Frames cut in two for a device: the host decodes, crops and scales, and u8 crosses the bus; the device does the rest.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <optional>

#include "core/base/text.h"
#include "core/transform/transform.h"
#include "tests/transform/frame/encoded_images.h"
#include "tests/transform/support/runner.h"
#include "tests/transform/support/tail_twin.h"

namespace dataline::tests::encoded_split_test {
namespace {

std::optional<DeviceSplit> split_one(std::string_view text, const Field& field) {
  auto split = compile_transforms(text, std::span(&field, 1));
  EXPECT_TRUE(split.is_ok()) << text << ": " << split.status().message();
  return std::move(split.value().splits[0]);
}

TEST(FrameSplit, TheHostDeliversPixelsOfOneSizeAndTheDeviceDoesTheRest) {
  struct Cut {
    std::string_view text, host, device, crosses;
  };
  constexpr Cut kCuts[] = {
      {"decode, random_resized_crop(24), hflip, normalize(imagenet), chw",
       "decode, random_resized_crop(24), hflip", "normalize(imagenet), chw", "u8[24x24x3]"},
      {"decode, chw, resize(8x10), cast(f32)", "decode, resize(8x10)", "chw, cast(f32)", "u8[8x10x3]"},
      {"decode, normalize(imagenet), center_crop(16), vflip(1)", "decode, center_crop(16), vflip(1)",
       "normalize(imagenet)", "u8[16x16x3]"},
      {"decode(gray), resize(9x9), scale(3), cast(f16), flatten", "decode(gray), resize(9x9)",
       "scale(3), cast(f16), flatten", "u8[9x9x1]"},
      {"decode, resize(8x8), chw", "decode, resize(8x8)", "chw", "u8[8x8x3]"},
      {"decode, resize(20x20), random_crop(20, padding=2, mode=edge), scale(2), random_crop(8, padding=1), "
       "chw",
       "decode, resize(20x20), random_crop(20, padding=2, mode=edge), scale(2)",
       "random_crop(8, padding=1), chw", "f32[20x20x3]"},
  };
  std::vector<std::vector<std::byte>> rows;
  for (int64_t i = 0; i < 5; ++i) rows.push_back(jpeg_row(30 + i, 44 - i));
  RunSetup setup;
  setup.seed = 3;
  setup.first_slot = 90;
  for (const auto& [text, host, device, crosses] : kCuts) {
    const std::optional<DeviceSplit> split = split_one(text, encoded_field());
    ASSERT_TRUE(split && split->host) << text;
    EXPECT_EQ(split->host_text, host) << text;
    EXPECT_EQ(split->device_text, device) << text;
    EXPECT_EQ(field_type_text(split->host->output()), crosses) << text;
    EXPECT_TRUE(split->host->heavy()) << text;
    const RunResult whole = run_transform(text, encoded_field(), rows, setup);
    const RunResult crossed = run_program(*split->host, text, rows, setup);
    RunResult views;
    if (split->geometry) views = run_program(*split->geometry, text, rows, setup);
    for (size_t i = 0; i < rows.size(); ++i) {
      TailGeometry view = split->tail.view;
      if (split->geometry) std::memcpy(&view, views.rows[i].data(), sizeof view);
      EXPECT_EQ(twin_tail(split->tail, crossed.rows[i], view), whole.rows[i]) << text << ", row " << i;
    }
  }
}

TEST(FrameSplit, WhatVariesOrEndsInPixelsStaysWithTheHost) {
  for (const char* text :
       {"decode", "decode, normalize(imagenet)", "decode, resize(16), chw", "decode, resize(8x8)",
        "decode, resize(8x8), hflip, flatten", "decode, resize(8x8), cast(f64)"})
    EXPECT_FALSE(split_one(text, encoded_field())) << text;
}

TEST(FrameSplit, StoredImagesAreCutWhereTheirPixelsEnd) {
  Field image;
  image.name = "image";
  image.shape = {3, 32, 32};
  image.axes = "CHW";
  const std::optional<DeviceSplit> split =
      split_one("hflip, random_crop(28), random_resized_crop(24), normalize(cifar10)", image);
  ASSERT_TRUE(split && split->host);
  EXPECT_EQ(split->host_text, "hflip, random_crop(28), random_resized_crop(24)");
  EXPECT_EQ(split->device_text, "normalize(cifar10)");
  EXPECT_TRUE(split->tail.out_planar && !split->tail.in_planar);
  EXPECT_EQ(split->geometry, nullptr) << "the views are done on the host";
}

}  // namespace
}  // namespace dataline::tests::encoded_split_test
