// Parses the command line into a Request.
//
// Not CLI11: tried with 2.1.2 (Debian 12), it parses some command lines that must be errors, or must mean something else.
//   --shuffle --seed 3    takes `--seed` for the value of --shuffle; "--shuffle needs a value" is promised
//   --save-state= URI     takes the URI for the file to write; an empty value is promised to be one
//   --zzz 5 URI           passes on `5` as a positional, like the URI
// Each could be mended only by parsing the words here before CLI11 does. The rest of this file would stay: flags that differ
// between - and _, suggestions, messages about the scope of an option. And the shell builds with a compiler and CMake alone,
// without a package. See tests/cli/errors_test.py.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/command_line.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "bindings/cli/failure.h"
#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

template <typename Number>
std::optional<Number> parse_number(const std::string& text) {
  Number value{};
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

const Command& find_command(const std::string& name) {
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    if (name == command.name) return command;
    names.push_back(command.name);
  }
  throw usage_failure("no command '" + name + "'" + did_you_mean(name, names));
}

// A flag that the command accepts: the shell's own, or an option of the library.
struct Known {
  std::string name;
  bool boolean = false;
  bool of_library = false;
};

class Parser {
 public:
  explicit Parser(const Command& command) : command_(command) {
    request_.command = &command;
    for (const Flag& flag : flags_of(command)) known_.push_back({flag.name, flag.value[0] == '\0', false});
    for (const auto& option : options_of(command.option_scope | command.plan_scope))
      known_.push_back({option.key, option.type == DL_OPTION_BOOL, true});
  }

  Request parse(std::span<const char* const> words) {
    bool flags_ended = false;
    for (size_t at = 0; at < words.size(); ++at) {
      const std::string word = words[at];
      if (!flags_ended && word == "--") {
        flags_ended = true;
      } else if (!flags_ended && word.starts_with("--")) {
        at += take_flag(word, at + 1 < words.size() ? words[at + 1] : nullptr) ? 1 : 0;
      } else if (!flags_ended && word.size() > 1 && word[0] == '-') {
        at += take_letters(word, at + 1 < words.size() ? words[at + 1] : nullptr) ? 1 : 0;
      } else {
        request_.positionals.push_back(word);
      }
    }
    if (request_.help) return std::move(request_);
    if (request_.has("quiet") && request_.has("verbose"))
      throw usage_failure("--quiet and --verbose contradict each other", command_.name);
    check_positionals();
    for (const Setting& setting : request_.options) check_scope(setting.key, flag_text(setting.key));
    return std::move(request_);
  }

 private:
  std::optional<Flag> find_letter(char letter) const {
    for (const Flag& flag : flags_of(command_)) {
      if (flag.letter != 0 && letter == flag.letter) return flag;
    }
    return std::nullopt;
  }

  // One dash and letters, as getopt reads them: `-q`, `-qv`, `-n 3`, `-n3`, `-n=3`, `-qn3`. Returns whether `next` was used as
  // the value.
  bool take_letters(const std::string& word, const char* next) {
    std::string name = word.substr(1, word.find('=') - 1);
    std::replace(name.begin(), name.end(), '-', '_');
    for (const Known& flag : known_) {
      if (flag.name == name) fail_letter(word, word);
    }
    for (size_t at = 1; at < word.size(); ++at) {
      const std::optional<Flag> flag = find_letter(word[at]);
      const std::string shown = std::string("-") + word[at];
      if (!flag) fail_letter(word, at == 1 ? word : shown);
      const bool equals = at + 1 < word.size() && word[at + 1] == '=';
      const std::string attached = word.substr(at + (equals ? 2 : 1));
      const std::string flag_word = "--" + std::string(flag->name);
      if (equals || (flag->value[0] != '\0' && !attached.empty()))
        return take_flag(flag_word + "=" + attached, nullptr, shown);
      if (take_flag(flag_word, next, shown)) return true;
    }
    return false;
  }

  // `shown`: the part of the word that is not a flag.
  [[noreturn]] void fail_letter(const std::string& word, const std::string& shown) const {
    std::string letters;
    for (const Flag& flag : flags_of(command_)) {
      if (flag.letter != 0) letters += (letters.empty() ? "-" : " -") + std::string(1, flag.letter);
    }
    std::vector<std::string> names;
    for (const Known& flag : known_) names.push_back(flag_text(flag.name));
    std::string name = word.substr(1, word.find('=') - 1);
    std::replace(name.begin(), name.end(), '_', '-');
    const std::string nearest = did_you_mean("--" + name, names);
    throw usage_failure("no flag '" + shown + "'" + (shown == word ? "" : " in '" + word + "'") +
                            ": flags start with two dashes" + nearest + (nearest.empty() ? ";" : "") + " " +
                            command_.name + " has the short flags " + letters,
                        command_.name);
  }

  // Returns whether `next` was used as the value. `shown` is the flag as the user wrote it.
  bool take_flag(const std::string& word, const char* next, const std::string& shown = "") {
    const size_t equals = word.find('=');
    std::string name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
    std::replace(name.begin(), name.end(), '-', '_');
    const Known& flag = find_flag(name, word);
    if (equals != std::string::npos) return set(flag, word.substr(equals + 1)), false;
    if (flag.boolean) {
      last_boolean_ = flag_text(name);
      return set(flag, "true"), false;
    }
    // A value may start with one dash (-1). Two dashes start the next flag, except in `--flag=--text`.
    if (next == nullptr || std::string_view(next).starts_with("--")) {
      throw usage_failure((shown.empty() ? flag_text(name) : shown) + " needs a value", command_.name);
    }
    return set(flag, next), true;
  }

  const Known& find_flag(const std::string& name, const std::string& word) const {
    std::vector<std::string> names;
    for (const Known& flag : known_) {
      if (flag.name == name) return flag;
      names.push_back(flag_text(flag.name));
    }
    const std::string shown = word.substr(0, word.find('='));
    check_scope(name, shown);
    throw usage_failure("no flag '" + shown + "'" + did_you_mean(flag_text(name), names), command_.name);
  }

  // Throws if `key` is an option of the library that this command does not take.
  void check_scope(const std::string& key, const std::string& shown) const {
    for (const auto& option : option_table()) {
      if (option.key != key || (option.scope & request_.option_scope()) != 0) continue;
      throw usage_failure(
          std::string(command_.name) + " does not accept " + shown + ": it is an option of " +
              (option.scope == DL_SCOPE_LOADER ? "loaders (cat, bench, preview, show, info --plan)"
                                               : "datasets"),
          command_.name);
    }
  }

  void set(const Known& flag, std::string value) {
    if (flag.boolean && !flag.of_library && value != "true" && value != "false") {
      throw usage_failure(flag_text(flag.name) + ": expected true or false, got '" + value + "'",
                          command_.name);
    }
    if (flag.name == "help") {
      request_.help = value == "true";
    } else if (flag.name == kPlugin.name) {
      request_.plugins.push_back(std::move(value));
    } else {
      (flag.of_library ? request_.options : request_.flags).push_back({flag.name, std::move(value)});
    }
  }

  void check_positionals() const {
    const auto wanted = static_cast<size_t>(command_.positionals);
    const auto& given = request_.positionals;
    if (given.size() < wanted) {
      throw usage_failure(std::string(command_.name) + " needs " + command_.arguments, command_.name);
    }
    const size_t most = wanted + static_cast<size_t>(command_.optional_positionals);
    if (given.size() <= most) return;
    for (const std::string& word : given) {
      if ((word == "true" || word == "false") && !last_boolean_.empty()) {
        throw usage_failure(
            "'" + word + "' is one word too many; write a boolean as " + last_boolean_ + "=" + word,
            command_.name);
      }
    }
    throw usage_failure("'" + given[most] + "' is one word too many", command_.name);
  }

  const Command& command_;
  std::vector<Known> known_;
  Request request_;
  std::string last_boolean_;
};

}  // namespace

std::optional<std::string> Request::flag(std::string_view name) const {
  const auto found =
      std::find_if(flags.rbegin(), flags.rend(), [&](const Setting& s) { return s.key == name; });
  if (found == flags.rend()) return std::nullopt;
  return found->value;
}

bool Request::has(std::string_view name) const { return flag(name).value_or("false") == "true"; }

std::optional<int64_t> Request::count(std::string_view name, int64_t min) const {
  const auto text = flag(name);
  if (!text) return std::nullopt;
  const auto value = parse_number<int64_t>(*text);
  if (!value || *value < min) {
    throw usage_failure(flag_text(name) + ": expected a whole number of at least " + std::to_string(min) +
                            ", got '" + *text + "'",
                        command->name);
  }
  return value;
}

std::optional<double> Request::seconds(std::string_view name) const {
  const auto text = flag(name);
  if (!text) return std::nullopt;
  const auto value = parse_number<double>(*text);
  if (!value || !std::isfinite(*value) || *value <= 0) {
    throw usage_failure(flag_text(name) + ": expected a number of seconds above 0, got '" + *text + "'",
                        command->name);
  }
  return value;
}

std::string Request::option(std::string_view key) const {
  const auto found =
      std::find_if(options.rbegin(), options.rend(), [&](const Setting& s) { return s.key == key; });
  return found == options.rend() ? "" : found->value;
}

int32_t Request::option_scope() const {
  return command->option_scope | (has("plan") ? command->plan_scope : 0);
}

std::vector<dl_option_info> options_of(int32_t scope) {
  std::vector<dl_option_info> options = option_table();
  std::erase_if(options, [&](const dl_option_info& option) { return (option.scope & scope) == 0; });
  return options;
}

std::vector<dl_option_info> options_of(const Command& command) { return options_of(command.option_scope); }

std::vector<Flag> flags_of(const Command& command) {
  std::vector<Flag> flags(command.flags.begin(), command.flags.end());
  if (std::none_of(flags.begin(), flags.end(),
                   [](const Flag& flag) { return std::string_view(flag.name) == "json"; }))
    flags.push_back(kJsonErrors);
  flags.insert(flags.end(), std::begin(kCommonFlags), std::end(kCommonFlags));
  return flags;
}

bool wants_json(std::span<const char* const> words) {
  bool wanted = false;
  for (const std::string_view word : words) {
    if (word == "--") break;
    if (word == "--json" || word == "--json=true") wanted = true;
    if (word == "--json=false") wanted = false;
  }
  return wanted;
}

namespace {

// help [--man] [COMMAND], help uris.
Request parse_help(std::span<const char* const> words) {
  Request request{.help = true};
  if (!words.empty() && std::string_view(words[0]) == "--man") {
    request.manual = true;
    words = words.subspan(1);
  }
  if (words.empty()) return request;
  if (std::string_view(words[0]) == "uris" && !request.manual) {
    request = Parser(find_command("formats")).parse(words.subspan(1));
    request.uri_help = true;
  } else {
    request.command = &find_command(words[0]);
  }
  return request;
}

}  // namespace

Request parse(std::span<const char* const> words) {
  const std::string first = words.empty() ? "" : words[0];
  if (first == "--version") return {.command = &find_command("version")};
  if (first == "--help" || first == "-h") return {.help = true};
  if (first == "help") return parse_help(words.subspan(1));
  if (first.starts_with("-")) throw usage_failure("the command comes first, '" + first + "' is a flag");
  return Parser(find_command(first)).parse(words.subspan(1));
}

}  // namespace dataline::cli
