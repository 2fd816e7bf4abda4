// The events of a trace that the library wrote (`trace=FILE`): an object a line, after a head that names the producer.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dataline::cli {

struct TraceEvent {
  std::string name;
  char phase = 0;     // X a span, M a name of a track, s t f a batch's flow
  int64_t track = 0;  // 0: the consumer
  double begin_us = 0, took_us = 0;
  int64_t epoch = 0, step = 0;
  std::string track_name;  // of M
};

// Whether `text` is how such a trace begins.
bool is_trace_head(std::string_view text);
// Nothing where the line is none, or not whole.
std::optional<TraceEvent> parse_event(std::string_view line);

}  // namespace dataline::cli
