// The program `dataline`: a binding like the others, which includes only dataline.h.
// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "bindings/cli/command_line.h"
#include "bindings/cli/failure.h"
#include "bindings/cli/interrupts.h"
#include "bindings/cli/messages.h"
#include "bindings/cli/output.h"
#include "bindings/cli/system.h"

namespace dataline::cli {
namespace {

std::string help_text(const Request& request) {
  if (request.command == nullptr) return request.manual ? general_manual() : general_help();
  return request.manual ? command_manual(*request.command) : command_help(*request.command);
}

int run(const std::vector<std::string>& words) {
  std::vector<const char*> texts;
  for (const std::string& word : words) texts.push_back(word.c_str());
  messages().json = wants_json(texts);
  if (texts.empty()) {
    complain_in_full(general_help());
    return kExitUsage;
  }
  Request request = parse(texts);
  messages().quiet = request.has("quiet");
  messages().verbose = request.has("verbose");
  messages().json = request.has("json");
  const Interrupts interrupts;
  try {
    if (request.help) {
      print(help_text(request), interrupts);
      return 0;
    }
    request.extensions = load_plugins(request.plugins);
    return request.command->run(request, interrupts);
  } catch (const Interrupted& interrupted) {
    if (interrupts.came()) return kExitSignal + interrupted.signal;
    throw Failure({.message = "a call was interrupted, but no signal came: `read` of a reader returned "
                              "DL_READER_INTERRUPTED",
                   .code = "DL_ERR_READER"});
  }
}

}  // namespace
}  // namespace dataline::cli

int main(int count, char** words) {
  using namespace dataline::cli;
  prepare_standard_streams();
  end_quietly_without_memory();
  try {
    return run(command_words(count, words));
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
