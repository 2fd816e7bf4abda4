// grayscale, sharpness, and the tables of levels (solarize, posterize, equalize, autocontrast, invert): each with a
// probability.
// SPDX-License-Identifier: Apache-2.0
#include "core/transform/color/adjust.h"
#include "core/transform/operators/operator.h"

namespace dataline {
namespace {

constexpr OperatorArgument kProbabilityOnly[] = {kProbabilityArgument};
constexpr OperatorArgument kGrayscaleArguments[] = {{"p", "number", "none"},
                                                    {"channels", "1 or 3, by name", "none", "", kByName}};
constexpr OperatorArgument kSharpnessArguments[] = {{"factor", "number", ""}, kProbabilityArgument};
constexpr OperatorArgument kSolarizeArguments[] = {{"threshold", "number", ""}, kProbabilityArgument};
constexpr OperatorArgument kPosterizeArguments[] = {{"bits", "integer", ""}, kProbabilityArgument};

Status add_grayscale(const Arguments& arguments, Plan& plan) {
  enum Argument : size_t { kProbability, kChannels };
  DL_ASSIGN_OR_RETURN(const FrameShape shape, want_colors(arguments, plan));
  if (arguments.given(kProbability) == arguments.given(kChannels))
    return arguments.fault("expected p= (a probability) or channels= (1 or 3), got ",
                           arguments.given(kChannels) ? "both" : "none");
  double probability = 1;
  int64_t channels = shape.channels;
  if (arguments.given(kProbability)) {
    DL_ASSIGN_OR_RETURN(probability, probability_argument(arguments, kProbability));
  } else {
    DL_ASSIGN_OR_RETURN(channels, arguments.integer(kChannels, 1, 3));
    if (channels == 2) return arguments.expected(kChannels, "1 or 3");
  }
  FrameStage stage = make_maybe(
      probability, [kernels = color_kernels(plan.target()), channels](FrameScratch& scratch, Frame& frame) {
        return make_gray(kernels, channels, scratch, frame);
      });
  stage.shape = [channels](FrameShape out) {
    out.channels = channels;
    return out;
  };
  plan.add_stage(std::move(stage));
  return Status::ok();
}

Status add_sharpness(const Arguments& arguments, Plan& plan) {
  enum Argument : size_t { kFactor, kProbability };
  DL_ASSIGN_OR_RETURN([[maybe_unused]] const FrameShape shape, want_colors(arguments, plan));
  DL_ASSIGN_OR_RETURN(const double factor, bounded_argument(arguments, kFactor, 0, kMaxFactor));
  DL_ASSIGN_OR_RETURN(const double probability, probability_argument(arguments, kProbability));
  const ColorKernels kernels = color_kernels(plan.target());
  plan.add_stage(make_maybe(probability, [kernels, factor](FrameScratch& scratch, Frame& frame) {
    return adjust_sharpness(kernels, factor, scratch, frame);
  }));
  return Status::ok();
}

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

const Operator grayscale_operator = {{"grayscale", kGrayscaleArguments,
                                      "Converts to grey, 0.2989 R + 0.587 G + 0.114 B: with probability p in "
                                      "as many channels as before, or always with channels= 1 or 3.",
                                      "torchvision.transforms.v2.RandomGrayscale, Grayscale", "0.1"},
                                     add_grayscale};
const Operator sharpness_operator = {
    {"sharpness", kSharpnessArguments,
     "With probability p, blurs (factor 0), keeps (1) or sharpens (above 1) the image.",
     "torchvision.transforms.v2.RandomAdjustSharpness", "0.1"},
    add_sharpness};
const Operator solarize_operator = {
    {"solarize", kSolarizeArguments,
     "Inverts all levels at or above a threshold (0 to 255), with probability p.",
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
     "Stretches each channel so that its lowest level is 0 and its highest 255, with probability p.",
     "torchvision.transforms.v2.RandomAutocontrast", "0.1"},
    add_autocontrast};
const Operator invert_operator = {
    {"invert", kProbabilityOnly, "Each level x becomes 255 - x, with probability p.",
     "torchvision.transforms.v2.RandomInvert", "0.1"},
    add_invert};

}  // namespace dataline
