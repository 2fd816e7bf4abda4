// Resizing against golden vectors that Pillow and, without antialiasing, PyTorch made, on every vector target.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>

#include "tests/transform/golden/golden.h"
#include "tests/transform/resample/memory_lines.h"

namespace dataline::fidelity_test {
namespace {

// Both sides round fixed-point sums, whose taps are rounded too. PyTorch rounds halves to even, ours go up: more differ there.
GoldenRule rule_of(const GoldenCase& one) {
  if (one.op == "torch") return {one.op + " " + one.arguments[0], 1, 0.02};
  if (one.arguments[0] == "nearest") return {"pillow nearest", 0, 0};
  return {one.op + " " + one.arguments[0], 1, 0.2};
}

Status run(const GoldenCase& one, SimdTarget target, Canvas& canvas) {
  const std::map<std::string, Filter> filters{{"nearest", Filter::kNearest},
                                              {"bilinear", Filter::kBilinear},
                                              {"bicubic", Filter::kBicubic},
                                              {"area", Filter::kArea},
                                              {"lanczos", Filter::kLanczos}};
  test::Image in(canvas.frame.height, canvas.frame.width, canvas.frame.channels);
  std::memcpy(in.pixels.data(), canvas.frame.pixels, in.pixels.size());
  const View view = whole(in, one.whole(1), one.whole(2), filters.at(one.arguments[0]), one.op == "pillow");
  const char* wrong = nullptr;
  const test::Image out = seen(*make_resampler(target), view, in, &wrong);
  if (wrong != nullptr) return error(Code::kInternal, wrong);
  canvas.frame.height = out.height;
  canvas.frame.width = out.width;
  canvas.frame.pixels = canvas.scratch.take(static_cast<int64_t>(out.pixels.size()));
  std::memcpy(canvas.frame.pixels, out.pixels.data(), out.pixels.size());
  return Status::ok();
}

TEST(ResizeFidelity, EachFilterGivesTheLevelsOfPillow) {
  EXPECT_EQ(compare_golden("resize", rule_of, run), 7u);
}

}  // namespace
}  // namespace dataline::fidelity_test
