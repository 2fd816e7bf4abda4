// `dataline options` and `dataline transforms`: print the library's two tables, or explain one row.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/cli/commands.h"
#include "bindings/cli/failure.h"
#include "bindings/cli/json.h"
#include "bindings/cli/output.h"
#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

void append_option(const dl_option_info& option, Json& json) {
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

std::string options_json() {
  Json json;
  json.begin_array();
  for (const dl_option_info& option : option_table()) append_option(option, json);
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

void append_transform(const TransformRow& row, Json& json) {
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

std::string transforms_json(const dl_extensions* extensions) {
  Json json;
  json.begin_array();
  for (const TransformRow& row : transform_table(extensions)) append_transform(row, json);
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

// An example of an option: its flag with the first value that is not the default.
std::string option_example(const dl_option_info& option) {
  std::string value;
  if (option.type == DL_OPTION_WORD) {
    const std::string choices = std::string(option.choices) + "|";
    value = choices.substr(0, choices.find('|'));
    if (value == option.default_value) value = choices.substr(value.size() + 1);
    value = value.substr(0, value.find('|'));
  } else if (option.type == DL_OPTION_INT) {
    const bool number = option.default_value[0] >= '1' && option.default_value[0] <= '9';
    value = number ? option.default_value : std::to_string(std::max<int64_t>(option.minimum, 1));
  } else if (option.type == DL_OPTION_SIZE) {
    value = "64MiB";
  } else if (option.type != DL_OPTION_BOOL) {
    value = option.type == DL_OPTION_TEXT ? "TEXT" : "FILE";
  }
  const std::string_view key = option.key;
  if (key == "transform") value = "'cast(f32), scale(0.5)'";
  if (key == "device" || key == "pin_memory_device") value = "cuda:0";
  return std::string("dataline ") + (option.scope == DL_SCOPE_LOADER ? "bench" : "info") + " URI " +
         flag_text(option.key) + (value.empty() ? "" : " " + value);
}

std::string option_text(const dl_option_info& option) {
  std::vector<std::vector<std::string>> rows = {
      {"type", option_type(option)},
      {"default", option.default_value[0] == '\0' ? "none" : option.default_value}};
  if (const std::string range = range_text(option); !range.empty()) rows.push_back({"range", range});
  if (option.unit[0] != '\0') rows.push_back({"unit", option.unit});
  rows.push_back({"scope", option_scope(option)});
  rows.push_back({"since", option.since});
  rows.push_back({"example", option_example(option)});
  return std::string(option.key) + "\n" + table_text({{option.doc}}, output_width(), 2) + "\n" +
         table_text(rows, output_width(), 2);
}

// Values for arguments that have no default.
constexpr const char* kValues[][2] = {{"dtype", "f32"},   {"factor", "2"},      {"shape", "3x32x32"},
                                      {"length", "1024"}, {"n", "10"},          {"size", "224"},
                                      {"kernel", "3"},    {"threshold", "128"}, {"bits", "4"},
                                      {"padding", "4"},   {"degrees", "15"},    {"preset", "imagenet"}};
// Where an example of the required arguments alone would say too little, or nothing.
constexpr const char* kCalls[][2] = {{"random_crop", "random_crop(32, 4, mode=reflect)"},
                                     {"color_jitter", "color_jitter(0.4, 0.4, 0.4, 0.1)"},
                                     {"normalize", "normalize(imagenet)"},
                                     {"grayscale", "grayscale(0.1)"},
                                     {"affine", "affine(10, [0.1, 0.1], [0.9, 1.1])"}};

std::string transform_example(const TransformRow& row) {
  for (const auto& [name, call] : kCalls)
    if (name == std::string_view(row.info.name)) return call;
  std::string values;
  for (const dl_argument_info& argument : row.arguments) {
    if (argument.default_value[0] != '\0') continue;
    std::string value = "1";
    for (const auto& [name, text] : kValues)
      if (name == std::string_view(argument.name)) value = text;
    values += (values.empty() ? "" : ", ") + value;
  }
  return row.info.name + (values.empty() ? "" : "(" + values + ")");
}

std::string transform_text(const TransformRow& row) {
  std::vector<std::vector<std::string>> arguments;
  for (const dl_argument_info& argument : row.arguments)
    arguments.push_back(
        {argument.name,
         argument.default_value[0] == '\0' ? "required" : "default " + std::string(argument.default_value),
         argument.type});
  std::vector<std::vector<std::string>> rows;
  if (row.info.source[0] != '\0') rows.push_back({"follows", row.info.source});
  rows.push_back({"since", row.info.since});
  rows.push_back({"example", "--transform '" + transform_example(row) + "'"});
  return wrapped_text(call_text(row), output_width(), 4) + "\n" +
         table_text({{row.info.doc}}, output_width(), 2) + "\n" +
         (arguments.empty()
              ? ""
              : "  arguments, in this order or by name\n" + table_text(arguments, output_width(), 4) + "\n") +
         table_text(rows, output_width(), 2);
}

// Resize of v2.Resize, and of the source of an operator.
std::string python_name(const std::string& path) {
  const size_t begin = path.find_last_of('.') + 1;
  const auto end = std::find_if(path.begin() + static_cast<std::ptrdiff_t>(begin), path.end(),
                                [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
  return {path.begin() + static_cast<std::ptrdiff_t>(begin), end};
}

}  // namespace

void no_such_name(const Request& request, const char* what, const std::vector<std::string>& names) {
  const std::string& name = request.positionals.at(0);
  throw usage_failure("no " + std::string(what) + " '" + name + "'" + did_you_mean(name, names),
                      request.command->name);
}

int run_options(const Request& request, const Interrupts& interrupts) {
  if (request.positionals.empty()) {
    print(request.has("json") ? options_json() : options_text(), interrupts);
    return 0;
  }
  const std::string flag = flag_text(request.positionals[0]);  // a key may be spelt as its flag is
  std::vector<std::string> names;
  for (const dl_option_info& option : option_table()) {
    names.push_back(option.key);
    if (flag != flag_text(option.key) && request.positionals[0] != flag_text(option.key)) continue;
    Json json;
    append_option(option, json);
    print(request.has("json") ? json.text() + "\n" : option_text(option), interrupts);
    return 0;
  }
  no_such_name(request, "option", names);
}

int run_transforms(const Request& request, const Interrupts& interrupts) {
  const dl_extensions* extensions = request.extensions.get();
  if (request.positionals.empty()) {
    print(request.has("json") ? transforms_json(extensions) : transforms_text(extensions), interrupts);
    return 0;
  }
  std::vector<std::string> names;
  for (const TransformRow& row : transform_table(extensions)) {
    names.push_back(row.info.name);
    if (request.positionals[0] != row.info.name) continue;
    Json json;
    append_transform(row, json);
    print(request.has("json") ? json.text() + "\n" : transform_text(row), interrupts);
    return 0;
  }
  const std::string wanted = python_name(request.positionals[0]);
  for (const TransformRow& row : transform_table(extensions)) {
    if (!wanted.empty() && row.info.source != nullptr && wanted == python_name(row.info.source))
      throw usage_failure(
          "no operator '" + request.positionals[0] + "', did you mean '" + row.info.name + "'?",
          request.command->name);
  }
  no_such_name(request, "operator", names);
}

std::string default_of(const Command& command, const dl_option_info& option) {
  const std::string_view name = command.name;
  const std::string_view key = option.key;
  if ((name == "cat" || name == "show" || name == "verify" || name == "convert" || name == "recover") &&
      key == "epochs")
    return "1";
  if (name == "verify" && key == "on_warning") return "error";
  if ((name == "info" || name == "show") && key == "num_workers")
    return "0";  // its loader runs little or never
  return option.default_value;
}

}  // namespace dataline::cli
