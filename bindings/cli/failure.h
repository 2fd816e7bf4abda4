// How a command ends early: one line for the user and the exit status. Errors of the library are translated
// here.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace dataline::cli {

constexpr int kExitFailed = 1;  // what was asked for could not be done
constexpr int kExitUsage = 2;   // what was asked for is wrong: the command line itself
constexpr int kExitSignal = 128;

struct Failure {
  int exit_status = kExitFailed;
  std::string message;  // one line, without "dataline: "
  std::string text{};   // what the user wrote, shown with a mark under `column`; or ""
  int32_t column = 0;   // 1-based byte of text, or 0
  std::string usage{};  // a line that follows, or ""
};

// A signal asked the program to end; the caller has put its things in order.
struct Interrupted {
  int signal = 0;
};

Failure usage_failure(std::string message, std::string_view command = {});
Failure system_failure(std::string_view what, int os_error);  // "what: No space left on device"
Failure thread_failure(std::string_view purpose,
                       int os_error);  // of the shell's own threads: says which limits bound them

// What the user wrote, for the mark under a text error.
struct Written {
  std::string uri;
  std::string transform;
};

// Throws the Failure of a negative status, with the text it speaks of; Interrupted for a cancelled wait; else
// returns the status.
dl_status check(dl_status status, const dl_error& error, const Written& written = {});

// One line on standard error, whatever memory there is: the report, or that memory ran out.
void complain(const Failure& failure) noexcept;
void complain_without_memory() noexcept;
// From now on a failed allocation ends the program with exit status 1 and that line also where no exception can be thrown
// (the exception itself needs memory) or passed on (destructors, threads).
void end_quietly_without_memory() noexcept;

// "dataline: message", the marked text and the usage line, each ending in a newline.
std::string report(const Failure& failure);

}  // namespace dataline::cli
