// solarize, posterize, equalize, autocontrast, invert: tables of levels, with a probability.
// SPDX-License-Identifier: Apache-2.0
#include "core/transform/color/levels.h"

#include "core/transform/color/maybe_stage.h"
#include "core/transform/operators/color_checks.h"

namespace dataline {
namespace {

constexpr double kDefaultProbability = 0.5;

// `tables`: from a frame, or of all frames.
template <typename Tables>
Status add_levels(const Arguments& arguments, Plan& plan, size_t probability_index, Tables tables) {
  DL_ASSIGN_OR_RETURN([[maybe_unused]] const FrameShape shape, want_colors(arguments, plan));
  DL_ASSIGN_OR_RETURN(const double probability,
                      probability_argument(arguments, probability_index, kDefaultProbability));
  plan.add_stage(make_maybe(probability, [tables](FrameScratch&, Frame& frame) {
    map_levels(tables(frame), frame);
    return Status::ok();
  }));
  return Status::ok();
}

Status add_fixed(const Arguments& arguments, Plan& plan, size_t probability_index, const LevelTable& table) {
  return add_levels(arguments, plan, probability_index,
                    [table](const Frame&) -> const LevelTable& { return table; });
}

}  // namespace

Status add_solarize(const Arguments& arguments, Plan& plan) {
  DL_ASSIGN_OR_RETURN(const double threshold, bounded_argument(arguments, 0, 0, 255));
  return add_fixed(arguments, plan, 1, solarize_levels(threshold));
}

Status add_posterize(const Arguments& arguments, Plan& plan) {
  DL_ASSIGN_OR_RETURN(const int64_t bits, arguments.integer(0, 0, 8));
  return add_fixed(arguments, plan, 1, posterize_levels(bits));
}

Status add_invert(const Arguments& arguments, Plan& plan) {
  return add_fixed(arguments, plan, 0, invert_levels());
}

Status add_equalize(const Arguments& arguments, Plan& plan) {
  return add_levels(arguments, plan, 0, [](const Frame& frame) { return equalize_levels(frame); });
}

Status add_autocontrast(const Arguments& arguments, Plan& plan) {
  return add_levels(arguments, plan, 0, [](const Frame& frame) { return autocontrast_levels(frame); });
}

}  // namespace dataline
