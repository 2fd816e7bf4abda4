// The shape that an image goes to: the nearest by the logarithm of the aspect ratio, decided exactly.
// SPDX-License-Identifier: Apache-2.0
#include "core/order/shapes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/base/random.h"

namespace dataline::shapes_test {
namespace {

const std::vector<ImageBucket> kShapes = {{32, 48}, {40, 40}, {48, 32}};

TEST(NearestShape, IsTheOneWhoseAspectRatioDiffersLeastAsARatio) {
  EXPECT_EQ(nearest_shape(100, 150, kShapes), 0u);
  EXPECT_EQ(nearest_shape(1000, 10, kShapes), 2u);
  EXPECT_EQ(nearest_shape(7, 7, kShapes), 1u);
  // Between 1:1 and 2:3 the border is their geometric mean, sqrt(3/2) = 1.2247.
  EXPECT_EQ(nearest_shape(10000, 12247, kShapes), 1u);
  EXPECT_EQ(nearest_shape(10000, 12248, kShapes), 0u);
}

TEST(NearestShape, IsTheFirstOfTwoThatAreAsNear) {
  const std::vector<ImageBucket> shapes = {{1, 2}, {2, 1}};
  EXPECT_EQ(nearest_shape(5, 5, shapes), 0u);
  EXPECT_EQ(nearest_shape(5, 5, std::vector<ImageBucket>{{2, 1}, {1, 2}}), 0u);
}

TEST(NearestShape, IsExactWhereFloatingPointIsNot) {
  // Ratios that differ in the 18th digit only.
  const int64_t side = (int64_t{1} << 31) - 1;
  const std::vector<ImageBucket> shapes = {{side, side - 1}, {side - 1, side - 2}};
  EXPECT_EQ(nearest_shape(side, side - 1, shapes), 0u);
  EXPECT_EQ(nearest_shape(side - 1, side - 2, shapes), 1u);
  EXPECT_FALSE(same_aspect(shapes[0], shapes[1]));
}

TEST(NearestShape, AgreesWithLogarithmsWhereTheseAreFarApart) {
  uint64_t draw = 0;
  const auto below = [&](uint64_t bound) {
    return 1 + static_cast<int64_t>(random_below(random_bits(17, ++draw), bound));
  };
  for (int round = 0; round < 2000; ++round) {
    std::vector<ImageBucket> shapes;
    for (int64_t k = below(8); k > 0; --k) shapes.push_back({below(2000), below(2000)});
    const int64_t height = below(10000), width = below(10000);
    const auto distance = [&](const ImageBucket& shape) {
      const auto ratio = [](int64_t h, int64_t w) {
        return std::log(static_cast<long double>(w) / static_cast<long double>(h));
      };
      return std::abs(ratio(height, width) - ratio(shape.height, shape.width));
    };
    const size_t nearest = nearest_shape(height, width, shapes);
    for (const ImageBucket& shape : shapes)
      ASSERT_LE(distance(shapes[nearest]), distance(shape) + 1e-15L) << height << "x" << width;
  }
}

TEST(SameAspect, IsThatOfMultiplesAlone) {
  EXPECT_TRUE(same_aspect({2, 3}, {200, 300}));
  EXPECT_FALSE(same_aspect({2, 3}, {3, 2}));
  EXPECT_FALSE(same_aspect({200, 300}, {201, 300}));
}

}  // namespace
}  // namespace dataline::shapes_test
