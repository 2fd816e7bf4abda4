// Maps statuses to exit statuses, and marks the place of an error in a URI or transform.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/failure.h"

#include <cxxabi.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <typeinfo>

#include "bindings/cli/json.h"
#include "bindings/cli/messages.h"
#include "bindings/cli/system.h"
#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

// 2 for an error in the command line itself, 1 for a failure (SURFACE section 5).
int exit_status_of(dl_status status) {
  switch (status) {
    case DL_ERR_UNKNOWN_OPTION:
    case DL_ERR_BAD_OPTION:
    case DL_ERR_BAD_URI:
    case DL_ERR_BAD_TRANSFORM:
    case DL_ERR_NO_SUCH_FIELD:
      return kExitUsage;
    default:
      return kExitFailed;
  }
}

constexpr std::string_view kOutOfMemory = "dataline: out of memory\n";
constexpr std::string_view kOutOfMemoryJson =
    "{\"error\": {\"message\": \"out of memory\", \"code\": \"DL_ERR_NO_MEMORY\", \"exit\": 1}}\n";
std::terminate_handler default_terminate = nullptr;

// No current exception: there was no memory to make one. Any exception but std::bad_alloc is a defect and dumps core.
[[noreturn]] void at_terminate() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  if (type != nullptr && *type != typeid(std::bad_alloc)) {
    default_terminate();
    std::abort();
  }
  complain_without_memory();
  _exit(kExitFailed);
}

// Of a long text, this much is shown around the mark.
constexpr size_t kShownBefore = 60;
constexpr size_t kShownBytes = 100;

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::string marked(const std::string& text, size_t column) {
  const size_t mark = column - 1 < text.size() ? column - 1 : text.size();
  size_t begin = mark > kShownBefore && text.size() > kShownBytes ? mark - kShownBefore : 0;
  while (begin < mark && is_continuation(text[begin])) ++begin;
  size_t end = text.size() - begin > kShownBytes ? begin + kShownBytes : text.size();
  while (end < text.size() && is_continuation(text[end])) ++end;

  std::string line = begin > 0 ? "  ..." : "  ";
  std::string under(line.size(), ' ');
  for (size_t at = begin; at < end;) {
    const size_t bytes = std::max<size_t>(1, utf8_bytes(std::string_view(text).substr(at, end - at)));
    const std::string_view character = std::string_view(text).substr(at, bytes);
    const std::string shown = message_text(character);
    line += shown;
    if (at < mark) under.append(shown == character ? 1 : shown.size(), ' ');
    at += bytes;
  }
  if (end < text.size()) line += "...";
  return line + "\n" + under + "^\n";
}

// The option that the library's message starts with: "option batch_size: ..."; "" if there is none.
std::string option_in(std::string_view message) {
  constexpr std::string_view kStart = "option ";
  const size_t end = message.find(':');
  if (!message.starts_with(kStart) || end == std::string_view::npos) return "";
  const std::string_view name = message.substr(kStart.size(), end - kStart.size());
  return name.find(' ') == std::string_view::npos ? std::string(name) : "";
}

std::string report_json(const Failure& failure) {
  Json json;
  const auto number = [&json](const char* key, const std::optional<int64_t>& value) {
    json.key(key);
    value ? json.value(*value) : json.null();
  };
  json.begin_object().key("error").begin_object();
  json.key("message").value(failure.message);
  json.key("code").value(!failure.code.empty()               ? failure.code
                         : failure.exit_status == kExitUsage ? "usage"
                         : failure.os_error != 0             ? "system"
                                                             : "failed");
  json.key("exit").value(failure.exit_status);
  json.key("os_error");
  failure.os_error != 0 ? json.value(failure.os_error) : json.null();
  json.key("option").text_or_null(option_in(failure.message));
  json.key("text").text_or_null(failure.column > 0 ? failure.text : "");
  json.key("column");
  failure.column > 0 ? json.value(failure.column) : json.null();
  number("sample", failure.sample);
  number("epoch", failure.epoch);
  number("step", failure.step);
  return json.end_object().end_object().text() + "\n";
}

}  // namespace

Failure usage_failure(std::string message, std::string_view command) {
  Failure failure;
  failure.exit_status = kExitUsage;
  failure.message = std::move(message);
  failure.usage = command.empty() ? "dataline --help shows the commands"
                                  : "dataline " + std::string(command) + " --help shows its flags";
  return failure;
}

Failure system_failure(std::string_view what, int os_error) {
  Failure failure;
  failure.message = std::string(what) + ": " + std::strerror(os_error);
  failure.os_error = os_error;
  return failure;
}

Failure thread_failure(std::string_view purpose, int os_error) {
  return system_failure("no thread could be started " + std::string(purpose) + "; threads are limited by " +
                            thread_limits_text(),
                        os_error);
}

void complain(const Failure& failure) noexcept {
  try {
    write_error(report(failure));
  } catch (...) {
    complain_without_memory();
  }
}

void complain_in_full(std::string_view text) noexcept { write_error(text); }

void complain_without_memory() noexcept { write_error(messages().json ? kOutOfMemoryJson : kOutOfMemory); }

void end_quietly_without_memory() noexcept { default_terminate = std::set_terminate(at_terminate); }

dl_status check(dl_status status, const dl_error& error, const Written& written) {
  if (status == DL_CANCELLED || status == DL_INTERRUPTED) throw Interrupted{SIGINT};
  if (status >= 0) return status;
  Failure failure;
  failure.exit_status = exit_status_of(status);
  failure.message = error.message[0] != '\0' ? error.message : dl_status_name(status);
  failure.code = dl_status_name(status);
  failure.os_error = error.os_error;
  if (error.sample_index >= 0) failure.sample = error.sample_index;
  if (error.column > 0) {
    failure.column = error.column;
    failure.text = status == DL_ERR_BAD_URI ? written.uri : written.transform;
    if (status == DL_ERR_BAD_URI) failure.usage = "dataline help uris shows schemes and keys";
  }
  throw Failure(failure);
}

std::string report(const Failure& failure) {
  if (messages().json) return report_json(failure);
  std::string out = "dataline: " + message_text(failure.message) + "\n";
  if (failure.column > 0 && !failure.text.empty()) {
    out += marked(failure.text, static_cast<size_t>(failure.column));
  }
  if (!failure.usage.empty()) out += failure.usage + "\n";
  return out;
}

}  // namespace dataline::cli
