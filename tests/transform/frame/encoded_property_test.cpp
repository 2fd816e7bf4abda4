// Random pipelines over encoded images: what is decoded in part, scaled as it comes and finished in the slot equals
// the whole image, decoded and put through the operators one at a time.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/base/text.h"
#include "tests/transform/frame/encoded_images.h"
#include "tests/transform/support/frame_twin.h"
#include "tests/transform/support/random_pipeline.h"
#include "tests/transform/support/runner.h"

namespace dataline::tests::encoded_property_test {
namespace {

constexpr int64_t kRoom = int64_t{1} << 20;

Step random_decode(Bytes encoded) {
  DecodeOptions options;
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      options.mode = PixelMode::kGray;
      return {"decode(gray)", twin_decode(encoded, options)};
    case 1:
      options.mode = PixelMode::kRgba;
      return {"decode(mode=rgba)", twin_decode(encoded, options)};
    default:
      return {"decode", twin_decode(encoded)};
  }
}

// One that a frame takes whose size may not be known: what pads wants u8, what casts ends the scaling.
Step random_frame_step(const Tensor& in, const Draw& draw) {
  if (*rc::gen::inRange(0, 8) == 0) return random_normalize(in);
  for (;;) {
    Step step = random_image_step(in, draw);
    const bool pads = step.text.find("padding") != std::string::npos;
    if (!pads || in.dtype == DType::kU8) return step;
  }
}

RC_GTEST_PROP(EncodedFrames, APipelineEqualsItsOperatorsOneAtATime, ()) {
  const int64_t height = *rc::gen::inRange<int64_t>(1, 60), width = *rc::gen::inRange<int64_t>(1, 60);
  const std::vector<std::byte> row = jpeg_row(height, width, *rc::gen::arbitrary<bool>());
  RunSetup setup = random_setup();
  setup.target_stride = kRoom;
  Step step = random_decode(row);
  std::string text = step.text;
  const int64_t steps = *rc::gen::inRange<int64_t>(0, 6);
  for (int64_t place = 1; place <= steps; ++place) {
    Step next = random_frame_step(step.result, {setup.seed, setup.epoch, setup.first_slot, place});
    text += concat(", ", next.text);
    step = std::move(next);
  }
  RC_LOG() << text << " on " << height << "x" << width << ", " << simd_target_name(setup.target);
  RunResult result = run_transform(text, encoded_field(), {row}, setup);
  RC_ASSERT(result.errors.empty());
  Tensor got;
  got.dtype = result.output.dtype;
  got.shape = result.output.shape;
  got.axes = result.output.axes;
  got.bytes = std::move(result.rows[0]);
  for (size_t i = 0; i < got.shape.size() && !result.extents.empty(); ++i) {
    if (got.axes[i] == 'H') got.shape[i] = result.extents[0].height;
    if (got.axes[i] == 'W') got.shape[i] = result.extents[0].width;
  }
  RC_ASSERT(difference(step.result, got) == "");
}

}  // namespace
}  // namespace dataline::tests::encoded_property_test
