// The commands, their flags (those of the library come from its option table), and the parsed command line.
//
// `--flag value`, `--flag=value`, a bare `--flag` for booleans; `-` and `_` are the same in a flag's name; the last of two
// settings wins; `--` ends the flags.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/cli/handles.h"

namespace dataline::cli {

class Interrupts;
struct Request;

// A flag of the shell itself.
struct Flag {
  const char* name;
  const char* value;  // "N", "FILE"; "" for a boolean
  const char* doc;
  char letter = 0;  // `-n`; 0: none
};

inline constexpr Flag kPlugin{"plugin", "PLUGIN",
                              "load a plug-in, with formats, operators or storages: a path, or NAME for "
                              "libdataline-NAME.so; may be repeated"};
inline constexpr Flag kJson{"json", "",
                            "print one line of JSON; errors and notes are lines of JSON on standard error"};
inline constexpr Flag kJsonErrors{"json", "", "print errors and notes as lines of JSON on standard error"};
// Of every command.
inline constexpr Flag kCommonFlags[] = {
    kPlugin,
    {"quiet", "", "print only errors on standard error: no progress, notes or warnings", 'q'},
    {"verbose", "", "also print the format's notes, the loader's plan and its log", 'v'},
    {"help", "", "show this text", 'h'},
};

struct Command {
  const char* name;
  const char* arguments;  // "URI"
  const char* summary;
  const char* details;
  const char* examples;  // one a line, without "dataline "
  int32_t option_scope;  // DL_SCOPE_ bits of the library's options that it takes
  int32_t plan_scope;    // the same with --plan
  std::span<const Flag> flags;
  int32_t positionals;  // required number
  int32_t optional_positionals;
  int (*run)(const Request& request, const Interrupts& interrupts);
};

std::span<const Command> commands();

struct Setting {
  std::string key;
  std::string value;
};

struct Request {
  const Command* command = nullptr;
  bool help = false;
  bool manual = false;    // of help: the page for `man`
  bool uri_help = false;  // `dataline help uris`: formats, after a text on URIs
  std::vector<std::string> positionals{};
  std::vector<Setting> options{};      // of the library, in the order of the command line
  std::vector<Setting> flags{};        // of the shell
  std::vector<std::string> plugins{};  // --plugin, in the order of the command line
  Extensions extensions{};             // of those plug-ins; null without any

  std::optional<std::string> flag(std::string_view name) const;  // the last value; empty if not given
  bool has(std::string_view name) const;                         // a boolean flag that is true
  // The flag's number. Throws Failure for other text and for a number below `min`.
  std::optional<int64_t> count(std::string_view name, int64_t min) const;
  std::optional<double> seconds(std::string_view name) const;  // > 0
  std::string option(std::string_view key) const;              // the last value given, or ""
  const std::string& uri() const { return positionals.at(0); }
  int32_t option_scope() const;  // of the library's options that this request takes
};

// Throws Failure with status 2.
Request parse(std::span<const char* const> words);

// The library's options of these DL_SCOPE_ bits / that `command` takes.
std::vector<dl_option_info> options_of(int32_t scope);
std::vector<dl_option_info> options_of(const Command& command);

// Whether --json is among them: before they are parsed, for the errors of parsing.
bool wants_json(std::span<const char* const> words);

// The flags of the shell that a command takes, with those of every command.
std::vector<Flag> flags_of(const Command& command);

std::string command_help(const Command& command);
std::string general_help();
// The same as pages for `man`, in roff.
std::string command_manual(const Command& command);
std::string general_manual();

}  // namespace dataline::cli
