// `dataline report`: a page about a run of the loader, or about a trace.
// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <utility>

#include "bindings/cli/commands.h"
#include "bindings/cli/failure.h"
#include "bindings/cli/output.h"
#include "bindings/cli/own_files.h"
#include "bindings/cli/preview.h"
#include "bindings/cli/report/measure.h"
#include "bindings/cli/report/report_data.h"
#include "bindings/cli/report/trace_file.h"
#include "bindings/cli/state_file.h"
#include "bindings/cli/system.h"
#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

constexpr double kReportSeconds = 5;
constexpr int64_t kPictures = 12;

// Nothing where the URI names no trace.
std::optional<ReportData> read_trace(const std::string& path, const Interrupts& interrupts) {
  auto timeline = read_trace_file(path, interrupts);
  if (!timeline) return std::nullopt;
  ReportData data;
  data.subject = path;
  data.is_trace = true;
  data.timeline = std::move(*timeline);
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
  if (target.empty()) throw usage_failure("report needs a file for the page: -o report.html", "report");
  if (target != "-") check_file_target(target);
  refuse_own_file(target, request.uri());
  const double consumer = consumer_seconds(request);
  const double seconds = request.seconds("seconds").value_or(kReportSeconds);
  Progress progress;
  std::optional<ReportData> data = read_trace(request.uri(), interrupts);
  if (data && !request.options.empty())
    throw usage_failure("a report of a trace runs no loader: expected no options of a loader, got " +
                            flag_text(request.options[0].key),
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
