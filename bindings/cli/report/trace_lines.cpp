// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/report/trace_lines.h"

#include <charconv>

namespace dataline::cli {
namespace {

// What follows `"key":` in a flat object; empty where there is no such key.
std::string_view after_key(std::string_view line, std::string_view key) {
  const std::string wanted = "\"" + std::string(key) + "\":";
  const size_t at = line.find(wanted);
  return at == std::string_view::npos ? std::string_view() : line.substr(at + wanted.size());
}

double number_of(std::string_view line, std::string_view key) {
  const std::string_view text = after_key(line, key);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// A JSON string, unescaped. The library escapes quotes, backslashes and control characters alone.
std::string text_of(std::string_view line, std::string_view key) {
  const std::string_view text = after_key(line, key);
  std::string out;
  for (size_t i = 1; i < text.size() && text[i] != '"'; ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    ++i;
    if (text[i] != 'u') {
      out += text[i];
      continue;
    }
    int code = 0;
    const std::string_view digits = text.substr(i + 1, 4);
    std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    out += static_cast<char>(code);
    i += 4;
  }
  return out;
}

}  // namespace

bool is_trace_head(std::string_view text) {
  return text.starts_with("{\"displayTimeUnit\"") &&
         text.substr(0, 200).find("\"producer\":\"dataline\"") != std::string_view::npos;
}

std::optional<TraceEvent> parse_event(std::string_view line) {
  if (line.ends_with(',')) line.remove_suffix(1);
  if (!line.starts_with("{\"name\":\"") || !line.ends_with('}')) return std::nullopt;
  const std::string_view phase = after_key(line, "ph");
  if (phase.size() < 3) return std::nullopt;
  TraceEvent event;
  event.name = text_of(line, "name");
  event.phase = phase[1];
  event.track = static_cast<int64_t>(number_of(line, "tid"));
  if (event.phase == 'M') {
    event.track_name = text_of(after_key(line, "args"), "name");
    return event;
  }
  event.begin_us = number_of(line, "ts");
  event.took_us = number_of(line, "dur");
  event.epoch = static_cast<int64_t>(number_of(line, "epoch"));
  event.step = static_cast<int64_t>(number_of(line, "step"));
  return event;
}

}  // namespace dataline::cli
