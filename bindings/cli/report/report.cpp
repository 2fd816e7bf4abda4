// `dataline report`: a page about a run of the loader, or about a trace.
// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "bindings/cli/commands.h"
#include "bindings/cli/failure.h"
#include "bindings/cli/output.h"
#include "bindings/cli/preview.h"
#include "bindings/cli/report/measure.h"
#include "bindings/cli/report/report_data.h"
#include "bindings/cli/state_file.h"
#include "bindings/cli/system.h"
#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

constexpr double kReportSeconds = 5;
constexpr int64_t kPictures = 12;
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

// Nothing where `path` is no file, so that it is a URI or a path of a dataset.
std::optional<ReportData> read_trace(const std::string& path, const Interrupts& interrupts) {
  if (kind_of(path) != PathKind::kFile) return std::nullopt;
  File file(path);
  if (!file.is_open()) throw system_failure(path, errno);
  std::vector<char> piece(kPiece);
  ReportData data;
  data.subject = path;
  data.is_trace = true;
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
    data.timeline.add(text);
  }
  if (data.timeline.events() == 0) throw Failure{.message = path + ": the trace holds no span"};
  return data;
}

// A flag of the shell that is a number of milliseconds.
double consumer_seconds(const Request& request) {
  const auto text = request.flag("consumer_ms");
  if (!text) return 0;
  size_t used = 0;
  double value = -1;
  try {
    value = std::stod(*text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used != text->size() || !(value >= 0) || value > 60'000)
    throw usage_failure("--consumer-ms: expected 0 to 60000 milliseconds, got '" + *text + "'", "report");
  return value * 1e-3;
}

void add_sheet(const Request& request, const Interrupts& interrupts, ReportData& data) {
  try {
    data.sheet_png = preview_png(request, interrupts, kPictures);
  } catch (const Failure& failure) {
    data.sheet_remark = failure.message;
  }
}

}  // namespace

int run_report(const Request& request, const Interrupts& interrupts) {
  const std::string target = request.flag("output").value_or("");
  if (target.empty()) throw usage_failure("report needs a place for the page: -o report.html", "report");
  if (target != "-") check_file_target(target);
  const double consumer = consumer_seconds(request);
  const double seconds = request.seconds("seconds").value_or(kReportSeconds);
  Progress progress;
  std::optional<ReportData> data = read_trace(request.uri(), interrupts);
  if (data && !request.options.empty())
    throw usage_failure(
        "a trace is told as it is: no options of a loader with it, got " + flag_text(request.options[0].key),
        "report");
  if (!data) {
    data = measure(request, interrupts, progress, seconds, consumer);
    add_sheet(request, interrupts, *data);
  }
  data->cpu = cpu_model();
  data->version = dl_version_string();
  progress.clear();
  const std::string page = report_page(*data);
  if (target == "-")
    print(page, interrupts);
  else
    write_file(target, page, "the report was not written");
  return 0;
}

}  // namespace dataline::cli
