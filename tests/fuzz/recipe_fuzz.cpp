// Any bytes as the recipe of a mix: refused in one line that names file and, if it is no recipe, a line of the text; or a recipe that
// can be mixed, whose parts, printed as JSON again, are the same.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/composed/recipe.h"

#include <charconv>

#include "core/base/text.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/target.h"

namespace dataline::fuzz {
namespace {

void check_refusal(const Status& status, std::string_view text) {
  const std::string refusal = status.message();
  std::string_view message = refusal;
  check(message.starts_with("fuzz.json: "), "a refusal names the file", message);
  for (const char c : refusal) check(static_cast<unsigned char>(c) >= 32, "a message is one line of text");
  if (status.code() != Code::kCorrupt) {
    check(status.code() == Code::kInvalidArgument || status.code() == Code::kOutOfRange,
          "what is read cannot be mixed", message);
    return;
  }
  message.remove_prefix(std::string_view("fuzz.json: line ").size());
  const auto line = parse_i64(message.substr(0, message.find(':')));
  check(line && *line >= 1 && *line <= std::count(text.begin(), text.end(), '\n') + 1,
        "the line is one of the text", refusal);
}

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out + "\"";
}

std::string number(double value) {
  char text[64];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

std::string as_json(const MixRecipe& recipe) {
  std::string out = "{\"parts\": [";
  for (const MixPart& part : recipe.parts) {
    out += &part == recipe.parts.data() ? "{" : ", {";
    if (!part.name.empty()) out += "\"name\": " + json_text(part.name) + ", ";
    out += "\"uri\": " + json_text(part.uri) + (part.repeat > 0 ? ", \"repeat\": " : ", \"weight\": ") +
           number(part.repeat > 0 ? part.repeat : part.weight) + "}";
  }
  return out + "]}";
}

void run(std::string_view text) {
  const Result<MixRecipe> recipe = read_recipe("fuzz.json", text);
  if (!recipe.is_ok()) return check_refusal(recipe.status(), text);
  const std::vector<MixPart>& parts = recipe.value().parts;
  const Result<MixRecipe> again = read_recipe("fuzz.json", as_json(recipe.value()));
  check(again.is_ok(), "what was read can be read again", again.is_ok() ? "" : again.status().message());
  check(again.value().parts.size() == parts.size(), "the parts are the same");
  for (size_t k = 0; k < parts.size(); ++k) {
    const MixPart& other = again.value().parts[k];
    check(other.name == parts[k].name && other.uri == parts[k].uri && other.weight == parts[k].weight &&
              other.repeat == parts[k].repeat,
          "a part is the same");
  }
}

const Target kTarget("recipe", run);

}  // namespace
}  // namespace dataline::fuzz
