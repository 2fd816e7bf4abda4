// Properties over random pipelines: what is fused equals what is done one operator at a time, whatever the vector
// target, however the rows lie, in whatever runs they come.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/base/text.h"
#include "tests/transform/support/random_pipeline.h"
#include "tests/transform/support/runner.h"
#include "tests/transform/support/twin.h"

namespace dataline::tests::fusion_test {
namespace {

RC_GTEST_PROP(Fusion, APipelineEqualsItsOperatorsOneAtATime, ()) {
  Tensor sample = random_input();
  const RunSetup setup = random_setup();
  const int64_t row = *rc::gen::inRange<int64_t>(0, 3);
  const int64_t steps = *rc::gen::inRange<int64_t>(1, 7);
  const Field field = sample.field("data");
  std::vector<std::vector<std::byte>> rows;
  for (int64_t i = 0; i < 3; ++i)
    rows.push_back(
        finite_tensor(sample.dtype, sample.shape, sample.axes, setup.seed + static_cast<uint64_t>(i)).bytes);
  sample.bytes = rows[static_cast<size_t>(row)];
  std::string text;
  for (int64_t place = 0; place < steps; ++place) {
    Step step = random_step(sample, {setup.seed, setup.epoch, setup.first_slot + row, place});
    text += concat(place == 0 ? "" : ", ", step.text);
    sample = std::move(step.result);
  }
  RC_LOG() << text << " on " << field_type_text(field) << field.axes << ", "
           << simd_target_name(setup.target);
  const RunResult result = run_transform(text, field, rows, setup);
  Tensor got;
  got.dtype = result.output.dtype;
  got.shape = result.output.shape;
  got.axes = result.output.axes;
  got.bytes = result.rows[static_cast<size_t>(row)];
  RC_ASSERT(result.errors.empty());
  RC_ASSERT(difference(sample, got) == "");
}

RC_GTEST_PROP(Fusion, PlacesOfRowsChangeNothing, ()) {
  const Tensor sample = random_input();
  const std::string text =
      is_image(sample) ? "random_crop(1, padding=2), hflip, scale(2), cast(f16)" : "scale(2), cast(i16)";
  std::vector<std::vector<std::byte>> rows;
  for (uint64_t i = 0; i < 100; ++i)
    rows.push_back(finite_tensor(sample.dtype, sample.shape, sample.axes, i).bytes);
  RunSetup one = random_setup(), other = random_setup();
  other.seed = one.seed;
  other.epoch = one.epoch;
  other.first_slot = one.first_slot;
  other.run_rows = *rc::gen::inRange<int64_t>(1, 101);
  RC_ASSERT(run_transform(text, sample.field("data"), rows, one).rows ==
            run_transform(text, sample.field("data"), rows, other).rows);
}

}  // namespace
}  // namespace dataline::tests::fusion_test
