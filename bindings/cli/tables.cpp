// `dataline options` and `dataline transforms`: print the library's two tables.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/commands.h"
#include "bindings/cli/json.h"
#include "bindings/cli/output.h"
#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

std::string options_json() {
  Json json;
  json.begin_array();
  for (const dl_option_info& option : option_table()) {
    json.begin_object();
    json.key("key").value(option.key);
    json.key("type").value(option_type(option));
    json.key("default").text_or_null(option.default_value);
    json.key("min");
    option.has_range != 0 ? json.value(option.minimum) : json.null();
    json.key("max");
    option.has_range != 0 ? json.value(option.maximum) : json.null();
    json.key("unit").text_or_null(option.unit);
    json.key("scope").value(option_scope(option));
    json.key("doc").value(option.doc);
    json.key("since").value(option.since);
    json.end_object();
  }
  return json.end_array().text() + "\n";
}

std::string range_text(const dl_option_info& option) {
  if (option.has_range == 0) return "";
  const bool open = option.maximum == INT64_MAX;
  const std::string unit = option.unit[0] != '\0' ? " " + std::string(option.unit) : "";
  return open ? "from " + std::to_string(option.minimum) + unit
              : std::to_string(option.minimum) + " to " + std::to_string(option.maximum) + unit;
}

// A heading, and the text under it: both may be too long for columns.
std::string entry_text(const std::string& head, const std::string& text) {
  constexpr size_t kIndent = 4;
  return wrapped_text(head, output_width(), kIndent * 2) + "\n" +
         table_text({{text}}, output_width(), kIndent);
}

std::string options_text() {
  std::string out;
  for (const dl_option_info& option : option_table()) {
    const std::string range = range_text(option), preset = option.default_value;
    const std::string head = std::string(option.key) + "  " + option_type(option) +
                             (preset.empty() ? "" : ", default " + preset) + ", " + option_scope(option);
    out += (out.empty() ? "" : "\n") +
           entry_text(head, std::string(option.doc) + (range.empty() ? "" : " (" + range + ")"));
  }
  return out;
}

std::string transforms_json(const dl_extensions* extensions) {
  Json json;
  json.begin_array();
  for (const TransformRow& row : transform_table(extensions)) {
    json.begin_object();
    json.key("name").value(row.info.name);
    json.key("arguments").begin_array();
    for (const dl_argument_info& argument : row.arguments) {
      json.begin_object();
      json.key("name").value(argument.name);
      json.key("type").value(argument.type);
      json.key("default").text_or_null(argument.default_value);
      json.end_object();
    }
    json.end_array();
    json.key("doc").value(row.info.doc);
    json.key("source").value(row.info.source);
    json.key("since").value(row.info.since);
    json.end_object();
  }
  return json.end_array().text() + "\n";
}

// "random_crop(size, padding=0)"
std::string call_text(const TransformRow& row) {
  std::string out = row.info.name;
  for (size_t i = 0; i < row.arguments.size(); ++i) {
    const dl_argument_info& argument = row.arguments[i];
    out += (i == 0 ? "(" : ", ") + std::string(argument.name);
    if (argument.default_value[0] != '\0') out += "=" + std::string(argument.default_value);
  }
  return out + (row.arguments.empty() ? "" : ")");
}

std::string transforms_text(const dl_extensions* extensions) {
  std::string out;
  for (const TransformRow& row : transform_table(extensions)) {
    const std::string source = row.info.source;
    out += (out.empty() ? "" : "\n") + entry_text(call_text(row), row.info.doc);
    if (!source.empty()) out += table_text({{"[" + source + "]"}}, output_width(), 4);
  }
  return out;
}

}  // namespace

int run_options(const Request& request, const Interrupts& interrupts) {
  print(request.has("json") ? options_json() : options_text(), interrupts);
  return 0;
}

int run_transforms(const Request& request, const Interrupts& interrupts) {
  const dl_extensions* extensions = request.extensions.get();
  print(request.has("json") ? transforms_json(extensions) : transforms_text(extensions), interrupts);
  return 0;
}

std::string default_of(const Command& command, const dl_option_info& option) {
  const std::string_view name = command.name;
  const std::string_view key = option.key;
  if (name == "cat" && key == "epochs") return "1";
  if (name == "info" && key == "num_workers") return "0";  // its loader is never run
  return option.default_value;
}

}  // namespace dataline::cli
