// solarize, posterize, equalize, autocontrast, invert: tables of levels, with a probability.
// SPDX-License-Identifier: Apache-2.0
#include "core/transform/color/adjust.h"
#include "core/transform/operators/checks.h"

namespace dataline {
namespace {

constexpr OperatorArgument kProbabilityOnly[] = {kProbabilityArgument};
constexpr OperatorArgument kSolarizeArguments[] = {{"threshold", "number", ""}, kProbabilityArgument};
constexpr OperatorArgument kPosterizeArguments[] = {{"bits", "integer", ""}, kProbabilityArgument};

// `tables`: a function from a frame to its tables.
template <typename Tables>
Status add_levels(const Arguments& arguments, Plan& plan, size_t probability_index, Tables tables) {
  DL_ASSIGN_OR_RETURN([[maybe_unused]] const FrameShape shape, want_colors(arguments, plan));
  DL_ASSIGN_OR_RETURN(const double probability, probability_argument(arguments, probability_index));
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

}  // namespace

const Operator solarize_operator = {
    {"solarize", kSolarizeArguments, "Inverts the levels from a threshold (0 to 255) on, with probability p.",
     "torchvision.transforms.v2.RandomSolarize", "0.1"},
    add_solarize};
const Operator posterize_operator = {
    {"posterize", kPosterizeArguments, "Keeps the upper bits (0 to 8) of each level, with probability p.",
     "torchvision.transforms.v2.RandomPosterize", "0.1"},
    add_posterize};
const Operator equalize_operator = {
    {"equalize", kProbabilityOnly, "Equalizes the histogram of each channel, with probability p.",
     "torchvision.transforms.v2.RandomEqualize", "0.1"},
    add_equalize};
const Operator autocontrast_operator = {
    {"autocontrast", kProbabilityOnly,
     "Stretches each channel so that its least level is 0 and its largest 255, with probability p.",
     "torchvision.transforms.v2.RandomAutocontrast", "0.1"},
    add_autocontrast};
const Operator invert_operator = {
    {"invert", kProbabilityOnly, "Each level x becomes 255 - x, with probability p.",
     "torchvision.transforms.v2.RandomInvert", "0.1"},
    add_invert};

}  // namespace dataline
