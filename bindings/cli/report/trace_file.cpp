// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/report/trace_file.h"

#include <vector>

#include "bindings/cli/failure.h"
#include "bindings/cli/input_file.h"
#include "bindings/cli/system.h"

namespace dataline::cli {
namespace {

constexpr size_t kPiece = size_t{1} << 20;

}  // namespace

std::optional<Timeline> read_trace_file(const std::string& path, const Interrupts& interrupts) {
  if (kind_of(path) != PathKind::kFile) return std::nullopt;
  InputFile file(path, interrupts);
  std::vector<char> piece(kPiece);
  Timeline timeline;
  for (bool first = true;; first = false) {
    const size_t bytes = file.read(piece.data(), piece.size());
    const std::string_view text(piece.data(), bytes);
    if (first && !is_trace_head(text)) {
      if (path.ends_with(".json"))
        throw Failure{.message =
                          path + ": expected a trace that trace=FILE wrote, whose first line names dataline"};
      return std::nullopt;
    }
    if (bytes == 0) break;
    if (interrupts.came()) throw Interrupted{interrupts.signal()};
    timeline.add(text);
  }
  if (timeline.events() == 0) throw Failure{.message = path + ": the trace has no spans"};
  return timeline;
}

}  // namespace dataline::cli
