// `dataline completion SHELL`: prints a completion script generated from the commands and the library's option table.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/commands.h"
#include "bindings/cli/failure.h"
#include "bindings/cli/output.h"
#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

// One completion candidate of a command.
struct Entry {
  std::string name;  // "--batch-size"
  bool takes_value = false;
  bool takes_file = false;
  std::string choices;  // "keep drop pad", or ""
  std::string doc;
};

std::string spaced(std::string text) {
  for (char& c : text) c = c == '|' ? ' ' : c;
  return text;
}

bool takes_file(const Flag& flag) {
  const std::string_view value = flag.value;
  return value == "FILE" || value == kPlugin.value;
}

std::vector<Entry> entries_of(const Command& command) {
  std::vector<Entry> entries;
  const auto add = [&entries](const Flag& flag) {
    entries.push_back({flag_text(flag.name), flag.value[0] != '\0', takes_file(flag), "", flag.doc});
    if (flag.letter != 0) {
      Entry entry = entries.back();
      entry.name = std::string("-") + flag.letter;
      entries.push_back(entry);
    }
  };
  for (const Flag& flag : flags_of(command)) add(flag);
  for (const dl_option_info& option : options_of(command)) {
    const bool array = is_array_option(option);
    entries.push_back(
        {flag_text(option.key), option.type != DL_OPTION_BOOL, array, spaced(option.choices), option.doc});
  }
  return entries;
}

std::string positional_words(const Command& command) {
  const std::string_view name = command.name;
  std::string words = name == "completion" ? "bash zsh fish" : "";
  const auto add = [&words](const char* word) { words += (words.empty() ? "" : " ") + std::string(word); };
  if (name == "options")
    for (const dl_option_info& option : option_table()) add(option.key);
  if (name == "transforms")
    for (const TransformRow& row : transform_table(nullptr)) add(row.info.name);
  if (name == "formats")
    for (const FormatRow& row : format_table(nullptr)) add(row.info.name);
  return words;
}

std::string bash_script() {
  std::string names;
  std::string cases;
  for (const Command& command : commands()) {
    names += std::string(names.empty() ? "" : " ") + command.name;
    std::string flags = positional_words(command);
    std::string values;
    for (const Entry& entry : entries_of(command)) {
      flags += (flags.empty() ? "" : " ") + entry.name;
      if (!entry.takes_value) continue;
      if (!entry.choices.empty()) {
        values += "        " + entry.name + ") COMPREPLY=($(compgen -W '" + entry.choices +
                  "' -- \"$cur\")); return;;\n";
      } else {
        const char* action = entry.takes_file ? "COMPREPLY=($(compgen -f -- \"$cur\"))" : "COMPREPLY=()";
        values += "        " + entry.name + ") " + action + "; return;;\n";
      }
    }
    cases += "    " + std::string(command.name) + ")\n      words='" + flags + "'\n";
    if (!values.empty()) cases += "      case \"$prev\" in\n" + values + "      esac\n";
    cases += "      ;;\n";
  }
  return "# bash completion of dataline\n"
         "_dataline() {\n"
         "  local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\" words=''\n"
         "  COMPREPLY=()\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "    COMPREPLY=($(compgen -W '" +
         names +
         " --help --version' -- \"$cur\"))\n"
         "    return\n"
         "  fi\n"
         "  case \"${COMP_WORDS[1]}\" in\n" +
         cases +
         "  esac\n"
         "  case \"$cur\" in\n"
         "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"));;\n"
         "    *) COMPREPLY=($(compgen -W \"${words%%--*}\" -- \"$cur\") $(compgen -f -- \"$cur\"));;\n"
         "  esac\n"
         "}\n"
         "complete -o filenames -F _dataline dataline\n";
}

std::string escaped(std::string_view text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// Quoted with single quotes for POSIX shells.
// Not `quoted`: some standard libraries have std::quoted wherever std::string is.
std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string zsh_script() {
  std::string out =
      "#compdef dataline\n"
      "_dataline() {\n"
      "  local -a commands\n"
      "  commands=(\n";
  for (const Command& command : commands()) {
    out += "    " + shell_quoted(std::string(command.name) + ":" + escaped(command.summary, ":")) + "\n";
  }
  out +=
      "  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  case \"$words[2]\" in\n";
  for (const Command& command : commands()) {
    out += "    " + std::string(command.name) + ")\n      _arguments";
    for (const Entry& entry : entries_of(command)) {
      std::string spec =
          entry.name + (entry.takes_value ? "=" : "") + "[" + escaped(entry.doc, "[]:\\") + "]";
      if (entry.takes_value) {
        spec += ":value:" + (!entry.choices.empty() ? "(" + entry.choices + ")"
                             : entry.takes_file     ? "_files"
                                                    : " ");
      }
      out += " \\\n        " + shell_quoted(spec);
    }
    const std::string words = positional_words(command);
    out += std::string(" \\\n        ") +
           (words.empty() ? "'*:file:_files'" : shell_quoted("*:name:(" + words + ")")) + "\n      ;;\n";
  }
  return out +
         "  esac\n"
         "}\n"
         "if [ \"$funcstack[1]\" = _dataline ]; then _dataline \"$@\"; else compdef _dataline dataline; fi\n";
}

std::string fish_script() {
  std::string out = "# fish completion of dataline\n";
  const auto quote = [](std::string_view text) { return "'" + escaped(text, "'\\") + "'"; };
  for (const Command& command : commands()) {
    out += "complete -c dataline -n __fish_use_subcommand -f -a " + std::string(command.name) + " -d " +
           quote(command.summary) + "\n";
  }
  for (const Command& command : commands()) {
    const std::string start =
        "complete -c dataline -n '__fish_seen_subcommand_from " + std::string(command.name) + "'";
    if (const std::string words = positional_words(command); !words.empty())
      out += start + " -f -a '" + words + "'\n";
    for (const Entry& entry : entries_of(command)) {
      out += start + (entry.name[1] == '-' ? " -l " + entry.name.substr(2) : " -s " + entry.name.substr(1));
      if (entry.takes_value) out += entry.takes_file ? " -r -F" : " -x";
      if (!entry.choices.empty()) out += " -a '" + entry.choices + "'";
      out += " -d " + quote(entry.doc) + "\n";
    }
  }
  return out;
}

}  // namespace

int run_completion(const Request& request, const Interrupts& interrupts) {
  const std::string& shell = request.positionals.at(0);
  if (shell == "bash") {
    print(bash_script(), interrupts);
  } else if (shell == "zsh") {
    print(zsh_script(), interrupts);
  } else if (shell == "fish") {
    print(fish_script(), interrupts);
  } else {
    throw usage_failure("no completion for '" + shell + "': bash, zsh or fish", "completion");
  }
  return 0;
}

}  // namespace dataline::cli
