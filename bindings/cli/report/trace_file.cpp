// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/report/trace_file.h"

#include <cerrno>
#include <vector>

#include "bindings/cli/failure.h"
#include "bindings/cli/system.h"

namespace dataline::cli {
namespace {

constexpr size_t kPiece = size_t{1} << 20;

class File {
 public:
  explicit File(const std::string& path) : descriptor_(open_to_read(path)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (is_open()) close_file(descriptor_);
  }
  bool is_open() const { return descriptor_ >= 0; }
  int64_t read(std::vector<char>& into) { return read_some(descriptor_, into.data(), into.size()); }

 private:
  int descriptor_;
};

}  // namespace

std::optional<Timeline> read_trace_file(const std::string& path, const Interrupts& interrupts) {
  if (kind_of(path) != PathKind::kFile) return std::nullopt;
  File file(path);
  if (!file.is_open()) throw system_failure(path, errno);
  std::vector<char> piece(kPiece);
  Timeline timeline;
  for (bool first = true;; first = false) {
    const int64_t bytes = file.read(piece);
    if (bytes < 0) throw system_failure(path, errno);
    const std::string_view text(piece.data(), static_cast<size_t>(bytes));
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
