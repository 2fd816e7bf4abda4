// Rows that operators of colour, borders, erasing and policies make: they depend on the row, the seed and its slot alone.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/random.h"
#include "tests/transform/color/pictures.h"
#include "tests/transform/support/runner.h"

namespace dataline::rows_test {
namespace {

using tests::RunResult;
using tests::RunSetup;

RunSetup seeded(uint64_t seed) {
  RunSetup setup;
  setup.seed = seed;
  return setup;
}

// Digests of eight rows each: another machine, vector width, compiler or order of arithmetic may not change a byte.
struct Digest {
  std::string_view text;
  uint64_t digest;
};

constexpr Digest kDigests[] = {
    {"color_jitter(0.4, contrast=0.4, saturation=0.4, hue=0.1)", 9051382913370484052u},
    {"color_jitter(hue=0.5)", 1955221462521424008u},
    {"grayscale(p=0.5)", 2362075372680830856u},
    {"grayscale(channels=1)", 9256842523447636581u},
    {"gaussian_blur(23)", 2377533704241101663u},
    {"solarize(128)", 16872371886300237671u},
    {"posterize(3)", 16975800481938948574u},
    {"equalize(1)", 9189470784662350885u},
    {"autocontrast(1)", 6033016633154154889u},
    {"invert", 5722512534219619620u},
    {"sharpness(1.7, p=1)", 865022286317548242u},
    {"sharpness(0, p=1)", 12203132606400970441u},
    {"pad([3, 1, 4, 1], mode=symmetric)", 12175187478682104994u},
    {"random_erasing(1, value=[9, 99, 199])", 318593082703335173u},
    {"normalize(imagenet), chw, random_erasing(1, value=random)", 1974695789270228263u},
    {"rand_augment(n=4)", 6058473652667135553u},
    {"rand_augment(n=4, filter=bilinear, fill=[1, 2, 3])", 15304927764915426802u},
    {"trivial_augment", 17504809993436457940u},
    {"trivial_augment(filter=bilinear)", 2287624839313198138u},
};

uint64_t digest_of(const RunResult& result) {
  uint64_t digest = 0;
  for (const std::vector<std::byte>& row : result.rows) {
    for (const std::byte byte : row) digest = mix64(digest ^ std::to_integer<uint64_t>(byte));
  }
  return digest;
}

TEST(ColorOperators, BytesAreTheSameOnEveryMachineAndVectorWidth) {
  const Field field = image_field({29, 37, 3}, "HWC");
  const Rows rows = pictures(field, 8);
  for (const Digest& golden : kDigests) {
    for (const SimdTarget target : tests::simd_targets()) {
      RunSetup setup = seeded(11);
      setup.target = target;
      const uint64_t got = digest_of(tests::run_transform(golden.text, field, rows, setup));
      EXPECT_EQ(got, golden.digest) << golden.text << " on " << simd_target_name(target);
    }
  }
}

// As another worker, or the same one after other rows, would make them.
TEST(ColorOperators, ARowDependsOnItsSlotAndNotOnTheRowsAroundIt) {
  const Field field = image_field({29, 37, 3}, "HWC");
  const Rows rows = pictures(field, 12);
  for (const Digest& golden : kDigests) {
    const RunResult all = tests::run_transform(golden.text, field, rows, seeded(3));
    ASSERT_EQ(all.rows.size(), rows.size());
    for (const size_t row : {11, 0, 5}) {
      RunSetup setup = seeded(3);
      setup.first_slot = static_cast<int64_t>(row);
      const RunResult alone = tests::run_transform(golden.text, field, {rows[row]}, setup);
      EXPECT_EQ(alone.rows[0], all.rows[row]) << golden.text << " row " << row;
    }
  }
}

// A layout changes where values lie, and nothing else.
TEST(ColorOperators, StoredPlanesGiveThePixelsOfStoredHwc) {
  const Field hwc = image_field({29, 37, 3}, "HWC"), chw = image_field({3, 29, 37}, "CHW");
  const Rows rows = pictures(hwc, 4);
  const RunResult planes = tests::run_transform("chw", hwc, rows);
  for (const Digest& golden : kDigests) {
    if (golden.text.find("chw") != std::string_view::npos) continue;
    const std::string text(golden.text);
    const RunResult left = tests::run_transform(text + ", chw", hwc, rows, seeded(3));
    const RunResult right = tests::run_transform(text, chw, planes.rows, seeded(3));
    EXPECT_EQ(field_type_text(left.output), field_type_text(right.output));
    for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(left.rows[i], right.rows[i]) << text << " row " << i;
  }
}

float value_at(const std::vector<std::byte>& row, size_t index) {
  float value = 0;
  std::memcpy(&value, row.data() + index * sizeof value, sizeof value);
  return value;
}

// After normalize: the values inside one rectangle change, and those alone; normal ones have mean 0 and variance 1.
TEST(RandomErasing, FillsOneRectangleOfFloatsInBothLayouts) {
  const Field field = image_field({40, 50, 3}, "HWC");
  const Rows rows = pictures(field, 200);
  for (const std::string layout : {"", ", chw"}) {
    const bool planar = !layout.empty();
    const RunResult before = tests::run_transform("normalize(imagenet)" + layout, field, rows, seeded(9));
    const RunResult after = tests::run_transform(
        "normalize(imagenet)" + layout + ", random_erasing(1, value=random)", field, rows, seeded(9));
    double count = 0, sum = 0, squares = 0;
    for (size_t row = 0; row < rows.size(); ++row) {
      size_t top = 40, bottom = 0, left = 50, right = 0, changed = 0;
      for (size_t i = 0; i < 40 * 50 * 3; ++i) {
        const float value = value_at(after.rows[row], i);
        if (value == value_at(before.rows[row], i)) continue;
        const size_t pixel = planar ? i % 2000 : i / 3, y = pixel / 50, x = pixel % 50;
        top = std::min(top, y), bottom = std::max(bottom, y), left = std::min(left, x),
        right = std::max(right, x);
        ++changed;
        sum += static_cast<double>(value), squares += static_cast<double>(value) * static_cast<double>(value);
      }
      ASSERT_GT(changed, 0u);
      EXPECT_EQ(changed, (bottom - top + 1) * (right - left + 1) * 3) << "row " << row << layout;
      count += static_cast<double>(changed);
    }
    EXPECT_NEAR(sum / count, 0, 5 / std::sqrt(count));
    EXPECT_NEAR(squares / count, 1, 5 * std::sqrt(2 / count));
  }
}

TEST(RandomErasing, NeverAndAlwaysAreExact) {
  const Field field = image_field({40, 50, 3}, "HWC");
  const Rows rows = pictures(field, 300);
  for (const std::string text : {"", "normalize(imagenet), "}) {
    const RunResult plain = tests::run_transform(text + "cast(f32)", field, rows);
    const RunResult never = tests::run_transform(text + "random_erasing(0, value=1), cast(f32)", field, rows);
    const RunResult always =
        tests::run_transform(text + "random_erasing(1, value=1), cast(f32)", field, rows);
    for (size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(never.rows[i], plain.rows[i]) << text;
      EXPECT_NE(always.rows[i], plain.rows[i]) << text;
    }
  }
}

}  // namespace
}  // namespace dataline::rows_test
