// The table of commands, and the help text, generated from it and from the library's tables.
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "bindings/cli/command_line.h"
#include "bindings/cli/commands.h"
#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

constexpr Flag kJson{"json", "", "one line of JSON"};
constexpr Flag kInfoFlags[] = {
    {"images", "",
     "also the formats and sizes of the encoded images, from their headers; nothing is decoded"},
    {"field", "F", "with --images: the field they are in (default: `image`, or the only one)"},
    {"plan", "",
     "also where each stage of a sample runs, and the bytes that cross the bus; "
     "takes the options of loaders (transform, device, ...)"},
    kJson,
};
constexpr Flag kTableFlags[] = {kJson};
constexpr Flag kCatFlags[] = {
    {"field", "F", "the field to write; needed when there are several"},
    {"indices", "", "write the sample index of each row instead, one per line"},
    {"batches", "N", "stop after N batches"},
    {"output", "FILE", "write to FILE; `-` is standard output, even if that is a terminal", 'o'},
    {"save_state", "FILE", "save the position after the last batch written to FILE, atomically"},
    {"load_state", "FILE", "continue at the position in FILE; --epochs still counts the whole job"},
};
constexpr Flag kPreviewFlags[] = {
    {"output", "FILE", "the PNG file, written atomically; `-` is standard output", 'o'},
    {"count", "N", "number of pictures (default 64), from the first batch on; at most one epoch", 'n'},
    {"field", "F", "the field to draw (default: `image`, or the only one)"},
    {"sample", "I", "only sample I, as --repeat epochs deliver it: shows random transforms"},
    {"repeat", "N", "with --sample: number of epochs (default 8)"},
};
constexpr Flag kBenchFlags[] = {
    {"seconds", "S", "duration of the measurement (default 3), not counting warm-up and yardsticks"},
    kJson,
};

constexpr char kCatDetails[] =
    "Writes the raw bytes of one field in delivery order and host byte order, rows of last_batch=pad "
    "included. The same URI, options and seed give the same bytes for any num_workers and prefetch_depth "
    "and in every language.";
constexpr char kPreviewDetails[] =
    "Draws a contact sheet of what the loader delivers with these options. Normalisation is undone. "
    "Under the pictures are class names, or labels, keys or indices. Encoded images are decoded if there "
    "is no --transform. Pictures of varying size are loaded one by one and reduced on the sheet only.";
constexpr char kBenchDetails[] =
    "Times a consumer that takes batches and releases them. `gather` is a bare loop on as many threads "
    "that copies the same rows in the same order into as many slots of the same size; `memcpy` is one "
    "thread that copies the dataset's bytes in file order. Both run in host memory, whatever the device, "
    "on a copy of the dataset's rows as a loader without a transform delivers them. The copy has at most "
    "8 GiB and half of the free memory; it is made after the loader's peak memory is measured. Rounds of "
    "loader, gather and memcpy alternate; each rate is the median of its rounds.";
constexpr char kCompletionDetails[] = "For bash: source <(dataline completion bash)";

constexpr int32_t kAllScopes = DL_SCOPE_DATASET | DL_SCOPE_LOADER;

// clang-format off
constexpr std::array kCommands = {
    Command{"info", "a URI", "print format, samples and fields of a dataset", "",
            DL_SCOPE_DATASET, kAllScopes, kInfoFlags, 1, run_info},
    Command{"cat", "a URI", "run the loader and write what it delivers", kCatDetails,
            kAllScopes, 0, kCatFlags, 1, run_cat},
    Command{"bench", "a URI", "measure the loader, and bare loops as this machine's limits", kBenchDetails,
            kAllScopes, 0, kBenchFlags, 1, run_bench},
    Command{"preview", "a URI", "draw what the loader delivers", kPreviewDetails,
            kAllScopes, 0, kPreviewFlags, 1, run_preview},
    Command{"options", "", "list every option: type, default, range, meaning", "",
            0, 0, kTableFlags, 0, run_options},
    Command{"transforms", "", "list every operator of --transform and its arguments", "",
            0, 0, kTableFlags, 0, run_transforms},
    Command{"formats", "", "list every format of URIs and its keys, and storages of plug-ins", "",
            0, 0, kTableFlags, 0, run_formats},
    Command{"version", "", "print version, ABI, build features and the machine", "",
            0, 0, kTableFlags, 0, run_version},
    Command{"completion", "bash, zsh or fish", "print a completion script for a shell", kCompletionDetails,
            0, 0, {}, 1, run_completion},
};
// clang-format on

std::string upper_value(const dl_option_info& option) {
  switch (option.type) {
    case DL_OPTION_BOOL:
      return "[=true|false]";
    case DL_OPTION_INT:
      return " N";
    case DL_OPTION_SIZE:
      return " SIZE";
    case DL_OPTION_INDICES:
    case DL_OPTION_WEIGHTS:
      return " FILE";
    case DL_OPTION_WORD:
      return std::string(" ") + (option.choices[0] != '\0' ? option.choices : "WORD");
    default:
      return " TEXT";
  }
}

std::string placeholder(const Command& command) {
  if (command.positionals == 0) return "";
  return command.option_scope != 0 ? " URI" : " SHELL";
}

}  // namespace

std::span<const Command> commands() { return kCommands; }

std::string general_help() {
  std::string out = "usage: dataline COMMAND [URI] [flags]\n\n";
  std::vector<std::vector<std::string>> rows;
  for (const Command& command : kCommands)
    rows.push_back({command.name + placeholder(command), command.summary});
  out += table_text(rows, output_width(), 2);
  out +=
      "\n`dataline COMMAND --help` shows the flags of one, `dataline help uris` the schemes and keys of a "
      "URI. Exit status: 0 done, 1 it failed, 2 the command "
      "line is wrong.\n";
  return out;
}

std::string command_help(const Command& command) {
  std::string out = "usage: dataline " + std::string(command.name) + placeholder(command) +
                    (command.option_scope != 0 || !command.flags.empty() ? " [flags]" : "") + "\n\n";
  std::string summary = std::string(command.summary) + ".";
  if (summary[0] >= 'a' && summary[0] <= 'z') summary[0] = static_cast<char>(summary[0] - 'a' + 'A');
  out += table_text({{summary}}, output_width(), 0);
  if (std::string_view(placeholder(command)) == " URI")
    out += table_text(
        {{"A URI is SCHEME:PATH[,PATH...][?KEY=VALUE&...], or a path; `dataline help uris` lists them."}},
        output_width(), 0);
  if (command.details[0] != '\0') out += "\n" + table_text({{command.details}}, output_width(), 0);

  std::vector<std::vector<std::string>> own;
  const auto add = [&own](const Flag& flag) {
    const std::string value = flag.value[0] == '\0' ? "" : std::string(" ") + flag.value;
    std::string name = flag.name;
    for (char& c : name) c = c == '_' ? '-' : c;
    const std::string letter = flag.letter == 0 ? "" : std::string("-") + flag.letter + ", ";
    own.push_back({letter + "--" + name + value, flag.doc});
  };
  for (const Flag& flag : command.flags) add(flag);
  add(kPlugin);
  own.push_back({"--help", "this text"});
  out += "\nflags\n" + table_text(own, output_width(), 2);

  const auto options = options_of(command);
  if (options.empty()) return out;
  std::vector<std::vector<std::string>> rows;
  for (const dl_option_info& option : options) {
    std::string doc = option.doc;
    const std::string default_value = default_of(command, option);
    if (!default_value.empty()) doc += " (default " + default_value + ")";
    rows.push_back({"--" + std::string(option.key) + upper_value(option), doc});
  }
  out += "\noptions of the library (sizes take KiB, MiB, GiB; `-` and `_` are the same)\n";
  return out + table_text(rows, output_width(), 2);
}

}  // namespace dataline::cli
