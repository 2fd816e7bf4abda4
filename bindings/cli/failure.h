// Failures of a command: a line for the user and an exit status. Errors of the library are translated here.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dataline::cli {

constexpr int kExitFailed = 1;  // the command could not be carried out
constexpr int kExitUsage = 2;   // the command line is wrong
constexpr int kExitSignal = 128;

struct Failure {
  int exit_status = kExitFailed;
  std::string message;  // one line, without "dataline: "
  std::string text{};   // the user's text, shown with a mark under `column`; or ""
  int32_t column = 0;   // byte of `text`, from 1, or 0
  std::string usage{};  // one more line, or ""
  // For --json, where they are known.
  std::string code{};  // "DL_ERR_CORRUPT"; "": found by the shell itself
  int os_error = 0;    // errno
  std::optional<int64_t> sample{}, epoch{}, step{};
};

// Thrown when a signal ends the command, after cleaning up.
struct Interrupted {
  int signal = 0;
};

Failure usage_failure(std::string message, std::string_view command = {});
Failure system_failure(std::string_view what, int os_error);  // "what: No space left on device"
Failure thread_failure(std::string_view purpose,
                       int os_error);  // names the limits on threads

// The user's texts, for the mark under an error.
struct Written {
  std::string uri;
  std::string transform;
};

// Throws Failure for a negative status, Interrupted for a cancelled wait, and else returns the status.
dl_status check(dl_status status, const dl_error& error, const Written& written = {});

// Prints the report to standard error, or one line that memory ran out if there is none to format it.
void complain(const Failure& failure) noexcept;
void complain_in_full(std::string_view text) noexcept;  // as it is, to standard error
void complain_without_memory() noexcept;
// After this, a failed allocation ends the program with that line and exit status 1 even where no exception can be made (it
// needs memory itself) or propagate (destructors, threads).
void end_quietly_without_memory() noexcept;

// "dataline: message", the marked text and the usage line, each ending in a newline; with --json one line,
// {"error": {...}}.
std::string report(const Failure& failure);

}  // namespace dataline::cli
