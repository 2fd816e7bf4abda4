// What a recipe of a mix must be, before its datasets are looked at.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <unordered_set>
#include <utility>

#include "core/source/composed/mix.h"

namespace dataline {
namespace {

constexpr size_t kMaxNameBytes = 256;

std::string number_text(double value) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

// Denormal weights are refused: hosts that flush them to zero would get another order.
Status check_number(double value, std::string_view what, bool zero_allowed) {
  const bool good =
      std::isfinite(value) && (value >= std::numeric_limits<double>::min() || (zero_allowed && value == 0));
  if (good) return Status::ok();
  return error(Code::kOutOfRange, "mix: ", what, ": expected a finite number ", zero_allowed ? ">= 0" : "> 0",
               ", got ", number_text(value));
}

Status check_names(const MixRecipe& recipe) {
  std::unordered_set<std::string> names;
  for (size_t k = 0; k < recipe.parts.size(); ++k) {
    std::string name = recipe.part_name(k);
    if (name.size() > kMaxNameBytes) {
      return error(Code::kInvalidArgument, "mix: part ", k, ": a name of ", name.size(),
                   " bytes, expected at most ", kMaxNameBytes);
    }
    for (const char c : name) {
      if (static_cast<unsigned char>(c) < ' ' || c == 0x7f)
        return error(Code::kInvalidArgument, "mix: part ", k, ": its name has a control character");
    }
    const auto [known, added] = names.insert(std::move(name));
    if (!added) return error(Code::kInvalidArgument, "mix: two parts are called '", *known, "'");
  }
  return Status::ok();
}

// All weights of one stage; `where` names it.
Status check_weights(const MixRecipe& recipe, std::span<const double> weights, std::string_view where) {
  bool some = false;
  for (size_t k = 0; k < weights.size(); ++k) {
    const std::string what = concat(recipe.part_words(k), ": weight", where);
    DL_RETURN_IF_ERROR(check_number(weights[k], what, /*zero_allowed=*/true));
    some = some || weights[k] > 0;
  }
  if (some) return Status::ok();
  return error(Code::kOutOfRange, "mix: all ", weights.size(), " weights", where,
               " are 0, so no part can be drawn");
}

Status check_schedule(const MixRecipe& recipe) {
  int64_t last = 0;
  for (const MixStage& stage : recipe.schedule) {
    if (stage.step <= last) {
      return error(Code::kOutOfRange, "mix: schedule: step ", stage.step, ": expected more than ", last,
                   ": steps must ascend, and the parts' own weights apply from step 0");
    }
    last = stage.step;
    if (stage.weights.size() != recipe.parts.size()) {
      return error(Code::kInvalidArgument, "mix: schedule: step ", stage.step, " has ", stage.weights.size(),
                   " weights, expected ", recipe.parts.size(), ", one per part");
    }
    DL_RETURN_IF_ERROR(check_weights(recipe, stage.weights, concat(" from step ", stage.step)));
  }
  return Status::ok();
}

Status check_repeats(const MixRecipe& recipe) {
  for (size_t k = 0; k < recipe.parts.size(); ++k) {
    const MixPart& part = recipe.parts[k];
    if (part.weight != 0 || part.repeat == 0) {
      const bool both = part.weight != 0 && part.repeat != 0;
      return error(Code::kInvalidArgument, "mix: ", recipe.part_words(k), " has ",
                   both ? "a weight and a repeat" : "no repeat, but others have",
                   "; give every part a weight, or every part a repeat");
    }
    DL_RETURN_IF_ERROR(check_number(part.repeat, concat(recipe.part_words(k), ": repeat"), false));
  }
  if (!recipe.schedule.empty())
    return error(Code::kInvalidArgument, "mix: a schedule needs weights; this recipe has repeats");
  if (recipe.samples_per_epoch >= 0) {
    return error(
        Code::kInvalidArgument,
        "mix: samples_per_epoch needs weights; with repeats, the repeats set the length of an epoch");
  }
  return Status::ok();
}

}  // namespace

std::string MixRecipe::part_name(size_t k) const {
  return parts[k].name.empty() ? std::to_string(k) : parts[k].name;
}

std::string MixRecipe::part_words(size_t k) const { return concat("part ", part_name(k)); }

std::vector<double> MixRecipe::weights() const {
  std::vector<double> weights;
  weights.reserve(parts.size());
  for (const MixPart& part : parts) weights.push_back(part.weight);
  return weights;
}

bool MixRecipe::by_repeats() const {
  return std::any_of(parts.begin(), parts.end(), [](const MixPart& part) { return part.repeat != 0; });
}

Status check_recipe(const MixRecipe& recipe) {
  const auto count = static_cast<int64_t>(recipe.parts.size());
  if (count < 1 || count > kMaxMixParts)
    return error(Code::kInvalidArgument, "mix: expected 1 to ", kMaxMixParts, " parts, got ", count);
  DL_RETURN_IF_ERROR(check_names(recipe));
  if (recipe.by_repeats()) return check_repeats(recipe);
  DL_RETURN_IF_ERROR(check_weights(recipe, recipe.weights(), ""));
  if (recipe.samples_per_epoch < -1 || recipe.samples_per_epoch == 0) {
    return error(Code::kOutOfRange, "mix: samples_per_epoch: expected at least 1, got ",
                 recipe.samples_per_epoch);
  }
  return check_schedule(recipe);
}

}  // namespace dataline
