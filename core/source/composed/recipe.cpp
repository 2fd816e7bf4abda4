// Reads the text of a recipe.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/composed/recipe.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_map>
#include <utility>

#include "core/base/text.h"
#include "core/source/json.h"

namespace dataline {
namespace {

using UseKey = std::function<Status(const std::string& key)>;

class RecipeReader {
 public:
  RecipeReader(const std::string& path, std::string_view text)
      : json_(path, 1, text, "the end of the file") {}

  Result<MixRecipe> read() {
    MixRecipe recipe;
    DL_RETURN_IF_ERROR(
        read_object({"parts", "schedule", "samples_per_epoch"}, {"parts"}, [&](const std::string& key) {
          if (key == "parts") return json_.each_item([&] { return read_part(recipe.parts); });
          if (key == "schedule") return json_.each_item([&] { return read_stage(); });
          return read_whole(key, recipe.samples_per_epoch);
        }));
    if (!json_.at_end()) return json_.expected("the end of the file");
    DL_RETURN_IF_ERROR(resolve_stages(recipe));
    return recipe;
  }

 private:
  // A stage as written: the weights by name.
  struct NamedStage {
    int64_t step = 0;
    std::vector<std::pair<std::string, double>> weights;
  };

  // An object whose keys are among `known`, each once, and has all of `needed`.
  Status read_object(std::vector<std::string_view> known, const std::vector<std::string_view>& needed,
                     const UseKey& use) {
    std::vector<std::string> seen;
    Status read = json_.each_member([&](std::string& key) -> Status {
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        std::string list;
        for (const std::string_view name : known) list += concat(list.empty() ? "" : ", ", name);
        return json_.refuse("unknown key ", shown_text(key), did_you_mean(key, known), " (keys: ", list, ")");
      }
      if (std::find(seen.begin(), seen.end(), key) != seen.end())
        return json_.refuse("the key '", key, "' appears twice");
      DL_RETURN_IF_ERROR(use(key));
      seen.push_back(std::move(key));
      return Status::ok();
    });
    DL_RETURN_IF_ERROR(std::move(read));
    for (const std::string_view key : needed) {
      if (std::find(seen.begin(), seen.end(), key) == seen.end())
        return json_.refuse("the key '", key, "' is missing");
    }
    return Status::ok();
  }

  Status read_text(const std::string& key, std::string& out) {
    DL_RETURN_IF_ERROR(json_.read_string(out));
    if (out.empty()) return json_.refuse("the value of '", key, "' is empty");
    for (const char c : out) {
      if (static_cast<unsigned char>(c) < ' ' || c == 0x7f)
        return json_.refuse("the value of '", key, "' has a control character");
    }
    return Status::ok();
  }

  Status number_text(const std::string& key, std::string_view& text, bool& whole) {
    const char next = json_.peek();
    if (next != '-' && (next < '0' || next > '9')) return json_.expected(concat("a number as '", key, "'"));
    return json_.read_number(text, whole);
  }

  Status read_number(const std::string& key, double& out) {
    std::string_view text;
    bool whole = false;
    DL_RETURN_IF_ERROR(number_text(key, text, whole));
    const std::optional<double> value = parse_f64(text);
    if (!value || !std::isfinite(*value))
      return json_.refuse("'", key, "' is ", shown_text(text), ": too large");
    out = *value;
    return Status::ok();
  }

  Status read_whole(const std::string& key, int64_t& out) {
    std::string_view text;
    bool whole = false;
    DL_RETURN_IF_ERROR(number_text(key, text, whole));
    const std::optional<int64_t> value = whole ? parse_i64(text) : std::nullopt;
    if (!value || *value < 1)
      return json_.refuse("'", key, "' is ", shown_text(text), ", expected a whole number of at least 1");
    out = *value;
    return Status::ok();
  }

  Status read_part(std::vector<MixPart>& parts) {
    if (static_cast<int64_t>(parts.size()) == kMaxMixParts)
      return json_.refuse("more than ", kMaxMixParts, " parts");
    MixPart part;
    bool has_weight = false, has_repeat = false;
    const std::vector<std::string_view> known = {"name", "uri", "weight", "repeat", "transform"};
    DL_RETURN_IF_ERROR(read_object(known, {"uri"}, [&](const std::string& key) {
      if (key == "name") return read_text(key, part.name);
      if (key == "uri") return read_text(key, part.uri);
      if (key == "transform") return read_text(key, part.transform);
      (key == "weight" ? has_weight : has_repeat) = true;
      return read_number(key, key == "weight" ? part.weight : part.repeat);
    }));
    // A repeat of 0 means none in a MixPart.
    if (has_weight == has_repeat || (has_repeat && part.repeat <= 0)) {
      return json_.refuse("part ", part.name.empty() ? std::to_string(parts.size()) : part.name,
                          has_weight   ? " has a weight and a repeat, expected one of them"
                          : has_repeat ? ": repeat: expected more than 0"
                                       : " has neither a weight nor a repeat");
    }
    parts.push_back(std::move(part));
    return Status::ok();
  }

  Status read_stage() {
    NamedStage stage;
    DL_RETURN_IF_ERROR(read_object({"step", "weights"}, {"step", "weights"}, [&](const std::string& key) {
      return key == "step" ? read_whole(key, stage.step) : read_weights(stage);
    }));
    stages_.push_back(std::move(stage));
    return Status::ok();
  }

  Status read_weights(NamedStage& stage) {
    return json_.each_member([&](std::string& name) -> Status {
      double weight = 0;
      DL_RETURN_IF_ERROR(read_number(name, weight));
      stage.weights.emplace_back(std::move(name), weight);
      return Status::ok();
    });
  }

  // Parts may be named after the schedule. A part that a stage does not name has no weight in it.
  Status resolve_stages(MixRecipe& recipe) const {
    std::unordered_map<std::string_view, size_t> parts;
    for (size_t k = 0; k < recipe.parts.size() && !stages_.empty(); ++k)
      parts.emplace(recipe.parts[k].name, k);
    for (const NamedStage& named : stages_) {
      MixStage stage{named.step, std::vector<double>(recipe.parts.size(), 0.0)};
      std::vector<bool> given(recipe.parts.size(), false);
      for (const auto& [name, weight] : named.weights) {
        const auto part = name.empty() ? parts.end() : parts.find(name);
        if (part == parts.end())
          return json_.refuse("schedule: step ", named.step, ": no part is called ", shown_text(name));
        if (given[part->second])
          return json_.refuse("schedule: step ", named.step, ": the weight of ", shown_text(name),
                              " appears twice");
        given[part->second] = true;
        stage.weights[part->second] = weight;
      }
      recipe.schedule.push_back(std::move(stage));
    }
    return Status::ok();
  }

  JsonReader json_;
  std::vector<NamedStage> stages_;
};

}  // namespace

Result<MixRecipe> read_recipe(const std::string& path, std::string_view text) {
  DL_ASSIGN_OR_RETURN(MixRecipe recipe, RecipeReader(path, text).read());
  if (Status bad = check_recipe(recipe); !bad.is_ok()) return std::move(bad).in(path);
  return recipe;
}

}  // namespace dataline
