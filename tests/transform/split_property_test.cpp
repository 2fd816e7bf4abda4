// Random pipelines, cut in two: host part, geometry and the twin of the tail make what the whole program makes.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/base/text.h"
#include "core/transform/transform.h"
#include "tests/transform/support/random_pipeline.h"
#include "tests/transform/support/runner.h"
#include "tests/transform/support/tail_twin.h"

namespace dataline::tests::split_property_test {
namespace {

RC_GTEST_PROP(Split, HostPartGeometryAndTailMakeWhatTheProgramMakes, ()) {
  Tensor sample = random_input();
  const RunSetup setup = random_setup();
  const Field field = sample.field("data");
  std::vector<std::vector<std::byte>> rows;
  for (uint64_t i = 0; i < 4; ++i)
    rows.push_back(finite_tensor(sample.dtype, sample.shape, sample.axes, setup.seed + i).bytes);
  std::string text;
  const int64_t steps = *rc::gen::inRange<int64_t>(1, 6);
  for (int64_t place = 0; place < steps; ++place) {
    Step step = random_step(sample, {setup.seed, setup.epoch, setup.first_slot, place});
    text += concat(place == 0 ? "" : ", ", step.text);
    sample = std::move(step.result);
  }
  auto splits = compile_transforms(text, std::span(&field, 1), {}, setup.target);
  RC_ASSERT(splits.is_ok());
  const std::optional<DeviceSplit>& split = splits.value().splits[0];
  RC_CLASSIFY(split.has_value(), "cut in two");
  if (!split) return;
  RC_LOG() << text << " on " << field_type_text(field) << field.axes;
  std::vector<std::vector<std::byte>> crossed = rows;
  if (split->host) crossed = run_program(*split->host, text, rows, setup).rows;
  std::vector<std::vector<std::byte>> views;
  if (split->geometry) views = run_program(*split->geometry, text, rows, setup).rows;
  const RunResult whole = run_transform(text, field, rows, setup);
  RC_ASSERT(whole.output.bytes() == split->tail.out_bytes());
  for (size_t i = 0; i < rows.size(); ++i) {
    TailGeometry view = split->tail.view;
    if (split->geometry) std::memcpy(&view, views[i].data(), sizeof view);
    RC_ASSERT(crossed[i].size() == static_cast<size_t>(split->tail.in_bytes()));
    RC_ASSERT(twin_tail(split->tail, crossed[i], view) == whole.rows[i]);
  }
}

}  // namespace
}  // namespace dataline::tests::split_property_test
