// The program `dataline`: a binding like the others, which includes only dataline.h.
// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <exception>
#include <new>

#include "bindings/cli/command_line.h"
#include "bindings/cli/failure.h"
#include "bindings/cli/interrupts.h"
#include "bindings/cli/output.h"

namespace dataline::cli {
namespace {

int run(std::span<const char* const> words) {
  const Request request = parse(words);
  const Interrupts interrupts;
  try {
    if (request.help) {
      print(request.uri_help             ? uri_help()
            : request.command != nullptr ? command_help(*request.command)
                                         : general_help(),
            interrupts);
      return 0;
    }
    return request.command->run(request, interrupts);
  } catch (const Interrupted& interrupted) {
    return kExitSignal + interrupted.signal;
  }
}

}  // namespace
}  // namespace dataline::cli

int main(int count, char** words) {
  using namespace dataline::cli;
  hold_standard_descriptors();
  end_quietly_without_memory();
  signal(SIGPIPE, SIG_IGN);  // write() fails instead, and the program ends quietly
  try {
    return run({words + (count > 0 ? 1 : 0), static_cast<size_t>(count > 0 ? count - 1 : 0)});
  } catch (const Failure& failure) {
    complain(failure);
    return failure.exit_status;
  } catch (const std::bad_alloc&) {
    complain_without_memory();
  } catch (const std::exception& error) {
    try {
      complain({.message = error.what()});
    } catch (...) {  // no memory for the copy
      complain_without_memory();
    }
  }
  return kExitFailed;
}
