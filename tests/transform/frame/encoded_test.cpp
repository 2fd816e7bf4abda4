// Encoded images through programs: sizes that vary, rows that fail alone, what each worker keeps, and draws that
// depend on the row's place in the epoch and on nothing else.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/transform/transform.h"
#include "tests/transform/frame/encoded_images.h"
#include "tests/transform/support/frame_twin.h"
#include "tests/transform/support/runner.h"

namespace dataline::tests::encoded_test {
namespace {

using Rows = std::vector<std::vector<std::byte>>;

constexpr int64_t kRoom = int64_t{1} << 18;

RunSetup with_room(int64_t room = kRoom) {
  RunSetup setup;
  setup.target_stride = room;
  setup.seed = 5;
  setup.epoch = 3;
  setup.first_slot = 700;
  return setup;
}

Rows some_images(int64_t count) {
  Rows rows;
  for (int64_t i = 0; i < count; ++i)
    rows.push_back(jpeg_row(40 + 7 * (i % 5), 70 - 3 * (i % 7), i % 4 == 3));
  return rows;
}

std::string message_of(const RunResult& result, int64_t row) {
  for (const RowError& error : result.errors) {
    if (error.row == row) return error.status.message();
  }
  return "";
}

TEST(EncodedFrames, ComeOutInTheirOwnSizesAndSayThem) {
  const Rows rows = {jpeg_row(30, 50), jpeg_row(64, 32), jpeg_row(1, 1, true)};
  const RunResult pixels = run_transform("decode", encoded_field(), rows, with_room());
  ASSERT_EQ(pixels.extents.size(), 3u);
  for (size_t i = 0; i < rows.size(); ++i) {
    const Tensor whole = twin_decode(rows[i]);
    EXPECT_EQ(pixels.rows[i], whole.bytes) << i;
    EXPECT_EQ(pixels.extents[i].height, whole.shape[0]);
    EXPECT_EQ(pixels.extents[i].width, whole.shape[1]);
  }
  const RunResult scaled =
      run_transform("decode, resize(16), chw, scale(2)", encoded_field(), rows, with_room());
  EXPECT_EQ(scaled.output.shape, (std::vector<int64_t>{3, -1, -1}));
  EXPECT_EQ(scaled.extents[0].width, 26);
  EXPECT_EQ(scaled.extents[1].height, 32);
  for (size_t i = 0; i < rows.size(); ++i)
    EXPECT_EQ(scaled.rows[i], twin_scale(twin_chw(twin_resize(twin_decode(rows[i]), 16, 0)), 2).bytes) << i;
}

TEST(EncodedFrames, DrawFromTheRowsPlaceAlone) {
  const std::string text =
      "decode, random_crop(30, padding=4, mode=reflect), random_resized_crop(24), hflip, vflip, "
      "normalize(imagenet), chw";
  const Rows rows = some_images(24);
  RunSetup setup = with_room(-1);
  const RunResult whole = run_transform(text, encoded_field(), rows, setup);
  ASSERT_TRUE(whole.errors.empty()) << whole.errors[0].status.message();
  setup.run_rows = 1;
  EXPECT_EQ(run_transform(text, encoded_field(), rows, setup).rows, whole.rows);
  // Each by a worker of its own, last row first.
  for (size_t i = rows.size(); i-- > 0;) {
    RunSetup one = with_room(-1);
    one.first_slot += static_cast<int64_t>(i);
    EXPECT_EQ(run_transform(text, encoded_field(), {rows[i]}, one).rows[0], whole.rows[i]) << i;
  }
  setup.epoch += 1;
  EXPECT_NE(run_transform(text, encoded_field(), rows, setup).rows, whole.rows);
}

TEST(EncodedFrames, FailAloneAndTheNextRowIsRight) {
  Rows rows = some_images(7);
  rows[1].resize(rows[1].size() / 2);
  rows[3].clear();
  rows[5] = {std::byte{'<'}, std::byte{'h'}, std::byte{'t'}, std::byte{'m'}, std::byte{'l'}, std::byte{'>'}};
  const Rows good = some_images(7);
  const std::string text = "decode, resize(24x24), hflip(1), chw";
  const RunResult result = run_transform(text, encoded_field(), rows, with_room(-1));
  const RunResult expected = run_transform(text, encoded_field(), good, with_room(-1));
  ASSERT_TRUE(expected.errors.empty());
  EXPECT_EQ(result.errors.size(), 3u);
  for (int64_t row : {1, 3, 5}) {
    const std::string message = message_of(result, row);
    EXPECT_EQ(message.find("field 'image': decode: "), 0u) << row << ": " << message;
  }
  for (size_t row : {0, 2, 4, 6}) EXPECT_EQ(result.rows[row], expected.rows[row]) << row;
}

TEST(EncodedFrames, TooSmallForACropIsAnErrorOfTheRow) {
  const Rows rows = {jpeg_row(20, 40), jpeg_row(40, 40)};
  for (const char* text : {"decode, random_crop(24)", "decode, normalize(imagenet), center_crop(24)"}) {
    const RunResult result = run_transform(text, encoded_field(), rows, with_room(-1));
    ASSERT_EQ(result.errors.size(), 1u) << text;
    EXPECT_EQ(result.errors[0].status.code(), Code::kOutOfRange);
    EXPECT_NE(message_of(result, 0).find("24 wide, 24 high"), std::string::npos) << message_of(result, 0);
    EXPECT_NE(message_of(result, 0).find("40 wide, 20 high"), std::string::npos) << message_of(result, 0);
  }
}

// torchvision's rule, in each place of a list: before and behind flips, further crops and a resize, and in layouts.
TEST(EncodedFrames, CenterCropsPadImagesThatAreSmaller) {
  const Rows rows = {jpeg_row(20, 40), jpeg_row(40, 20), jpeg_row(24, 25), jpeg_row(7, 9)};
  for (size_t i = 0; i < rows.size(); ++i) {
    const Tensor in = twin_decode(rows[i], {});
    const auto result = [&](const char* text) {
      const RunResult run = run_transform(text, encoded_field(), {rows[i]}, with_room(-1));
      EXPECT_TRUE(run.errors.empty()) << text;
      return run.rows[0];
    };
    const Tensor cropped = twin_center_crop(in, 24, 25);
    const auto bytes = [](const Tensor& tensor) {
      return std::vector<std::byte>(tensor.bytes.begin(), tensor.bytes.end());
    };
    EXPECT_EQ(result("decode, center_crop(24x25)"), bytes(cropped)) << i;
    EXPECT_EQ(result("decode, center_crop(24x25), chw"), bytes(twin_chw(cropped))) << i;
    EXPECT_EQ(result("decode, center_crop(24x25), hflip(1), vflip(1)"),
              bytes(twin_vflip(twin_hflip(cropped, 1, {}), 1, {})))
        << i;
    EXPECT_EQ(result("decode, hflip(1), center_crop(24x25)"),
              bytes(twin_center_crop(twin_hflip(in, 1, {}), 24, 25)))
        << i;
    EXPECT_EQ(result("decode, center_crop(24x25), center_crop(11x30)"),
              bytes(twin_center_crop(cropped, 11, 30)))
        << i;
    EXPECT_EQ(result("decode, center_crop(24x25), resize(12x9)"),
              bytes(twin_resize(cropped, 12, 9, Filter::kBilinear)))
        << i;
    EXPECT_EQ(result("decode, resize(12x9), center_crop(24x5)"),
              bytes(twin_center_crop(twin_resize(in, 12, 9, Filter::kBilinear), 24, 5)))
        << i;
    EXPECT_EQ(result("decode, cast(f32), scale(0.5), center_crop(24x25)"),
              result("decode, center_crop(24x25), cast(f32), scale(0.5)"))
        << i;
    EXPECT_EQ(result("decode, resize(12x9), normalize(imagenet), center_crop(24x5)").at(0), std::byte{0})
        << i;
  }
}

TEST(EncodedFrames, LimitsNameTheOptionThatRaisesThem) {
  const Rows rows = {jpeg_row(100, 100)};
  RunSetup setup = with_room(29'999);
  const RunResult wide = run_transform("decode", encoded_field(), rows, setup);
  EXPECT_EQ(message_of(wide, 0),
            "field 'image': image of 100 wide, 100 high needs 30000 bytes, max_bytes_per_sample is 29999; "
            "raise max_bytes_per_sample to at least 30000");
  setup = with_room();
  setup.settings.limits.max_pixels = 9'999;
  const RunResult many = run_transform("decode", encoded_field(), rows, setup);
  EXPECT_NE(message_of(many, 0).find("max_pixels"), std::string::npos) << message_of(many, 0);
  const RunResult long_side =
      run_transform("decode, resize(16777216)", encoded_field(), {jpeg_row(2, 100)}, with_room());
  EXPECT_EQ(
      message_of(long_side, 0),
      "field 'image': resize: expected sides of at most 16777216, got 838860800 wide, 16777216 high from 100 "
      "wide, 2 high");
  setup = with_room();
  setup.settings.limits.max_decoded_bytes = 20'000;
  const RunResult deep =
      run_transform("decode, random_crop(100, padding=1, mode=edge)", encoded_field(), rows, setup);
  ASSERT_EQ(deep.errors.size(), 1u);
  EXPECT_EQ(deep.errors[0].status.code(), Code::kTooLarge);
  EXPECT_NE(message_of(deep, 0).find("max_decoded_bytes"), std::string::npos) << message_of(deep, 0);
}

TEST(EncodedFrames, UnchangedTakesItsTypeFromTheFirstRecord) {
  const Rows rows = {jpeg_row(12, 16, true), jpeg_row(12, 16), jpeg_row(8, 9, true)};
  RunSetup setup = with_room();
  setup.settings.first_header = [&](size_t) { return read_image_header(rows[0]); };
  const RunResult result = run_transform("decode(unchanged)", encoded_field(), rows, setup);
  EXPECT_EQ(result.output.shape, (std::vector<int64_t>{-1, -1, 1}));
  EXPECT_EQ(result.errors.size(), 1u);
  EXPECT_EQ(message_of(result, 1),
            "field 'image': decode: expected 1 channels of 8 bits, as the first record has, got 3 of 8; "
            "mode=rgb makes "
            "them equal");
  EXPECT_EQ(result.rows[2].size(), 72u);
  setup.settings.first_header = [](size_t) -> Result<ImageHeader> {
    return error(Code::kCorrupt, "no image");
  };
  const Field field = encoded_field();
  const auto refused = compile_transforms("decode(unchanged)", std::span(&field, 1), setup.settings);
  ASSERT_FALSE(refused.is_ok());
  EXPECT_EQ(refused.status().message(),
            "transform: column 8: decode: mode: expected a first record whose header states channels and "
            "bits: no image");
}

TEST(EncodedFrames, ProgramsSayWhatTheyKeepAndHowHeavyTheyAre) {
  const Field field = encoded_field();
  TransformSettings settings;
  settings.limits.max_decoded_bytes = 3'000'000;
  auto compiled =
      compile_transforms("decode, resize(8x8), normalize(imagenet)", std::span(&field, 1), settings);
  ASSERT_TRUE(compiled.is_ok());
  const Program& program = *compiled.value().programs[0];
  EXPECT_TRUE(program.heavy());
  EXPECT_FALSE(program.draws());
  EXPECT_EQ(program.state_bytes(), 3'000'000);
  const auto memory = HostMemory::create({}, 2'999'999);
  const auto refused = program.make_state(*memory);
  ASSERT_FALSE(refused.is_ok());
  EXPECT_EQ(refused.status().code(), Code::kOverBudget);
  const std::vector<PixelScale> scales = program.pixel_scales();
  ASSERT_EQ(scales.size(), 3u);
  EXPECT_NEAR(scales[1].a, 1 / (255 * 0.224), 1e-9);
  EXPECT_NEAR(scales[1].b, -0.456 / 0.224, 1e-6);
  auto flipped = compile_transforms("decode, vflip", std::span(&field, 1));
  EXPECT_TRUE(flipped.value().programs[0]->draws());
}

TEST(EncodedFrames, StoredFramesKeepNoMoreThanTheyNeed) {
  const Field small = empty_tensor(DType::kU8, {32, 32, 3}, "HWC").field("image");
  auto compiled = compile_transforms("random_resized_crop(32)", std::span(&small, 1));
  EXPECT_LT(compiled.value().programs[0]->state_bytes(), 8 << 20);
  EXPECT_FALSE(compiled.value().programs[0]->heavy());
  compiled = compile_transforms("random_crop(32, padding=4), hflip, chw", std::span(&small, 1));
  EXPECT_EQ(compiled.value().programs[0]->state_bytes(), 0);
}

}  // namespace
}  // namespace dataline::tests::encoded_test
