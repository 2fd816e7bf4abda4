// Metrics as text for Prometheus: https://prometheus.io/docs/instrumenting/exposition_formats/ (text format 0.0.4). Seconds and bytes, as
// its conventions ask for; totals of threads are left to the reader, who sums.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>
#include <string>
#include <string_view>

#include "core/base/text.h"
#include "core/loader/metrics/metrics.h"

namespace dataline {
namespace {

bool is_name_char(char c, bool first) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (!first && c >= '0' && c <= '9');
}

// The end of `name="value"` from `at`, or npos where it is not of that form.
size_t label_end(std::string_view labels, size_t at) {
  const size_t begin = at;
  while (at < labels.size() && is_name_char(labels[at], at == begin)) ++at;
  if (at == begin || labels.substr(at, 2) != "=\"") return std::string_view::npos;
  for (at += 2; at < labels.size(); ++at) {
    const char c = labels[at];
    if (c == '"') return at + 1;
    if (c == '\n') return std::string_view::npos;
    if (c != '\\') continue;
    ++at;
    if (at == labels.size() || (labels[at] != '\\' && labels[at] != '"' && labels[at] != 'n')) break;
  }
  return std::string_view::npos;
}

Status check_labels(std::string_view labels) {
  for (size_t at = 0; at < labels.size();) {
    const size_t end = label_end(labels, at);
    if (end == std::string_view::npos)
      return error(Code::kInvalidArgument,
                   "labels: expected NAME=\"value\",... with \\\\, \\\" and \\n escaped, got '",
                   labels.substr(at), "' at column ", at + 1);
    const std::string_view name = labels.substr(at, labels.find('=', at) - at);
    if (name == "stage" || name == "thread" || name == "reason" || name == "le")
      return error(Code::kInvalidArgument, "labels: '", name, "' is reserved for the loader");
    if (end == labels.size()) return Status::ok();
    if (labels[end] != ',' || end + 1 == labels.size())
      return error(Code::kInvalidArgument, "labels: expected ',' and another label at column ", end + 1);
    at = end + 1;
  }
  return Status::ok();
}

std::string escaped_label(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return out;
}

std::string seconds(int64_t ns) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.9g", static_cast<double>(ns) * 1e-9);
  return text.data();
}

class PrometheusText {
 public:
  explicit PrometheusText(std::string_view labels) : labels_(labels) {}

  void family(std::string_view name, std::string_view type, std::string_view doc) {
    out_ += concat("# HELP ", name, " ", doc, "\n# TYPE ", name, " ", type, "\n");
  }
  void sample(std::string_view name, std::string_view more, std::string_view value) {
    out_ += name;
    if (!labels_.empty() || !more.empty())
      out_ += concat("{", labels_, labels_.empty() || more.empty() ? "" : ",", more, "}");
    out_ += concat(" ", value, "\n");
  }
  std::string take() { return std::move(out_); }

 private:
  std::string_view labels_;
  std::string out_;
};

void add_counter(PrometheusText& text, const MetricRow& row) {
  const std::string_view name = row.name;
  const bool in_ns = std::string_view(row.unit) == "ns";
  // What the consumer waited has the field's own name; "wait" is the workers'.
  const std::string_view shown = name == "wait_ns" ? "exposed"
                                 : in_ns           ? name.substr(0, name.size() - 3)
                                                   : name;
  std::string full = concat("dataline_", shown, in_ns ? "_seconds" : "");
  if (row.kind == MetricKind::kCounter) full += "_total";
  text.family(full, row.kind == MetricKind::kCounter ? "counter" : "gauge", row.doc);
  text.sample(full, "", in_ns ? seconds(row.value) : concat(row.value));
}

std::string thread_label(int32_t thread) {
  return concat("thread=\"", thread == kThreadConsumer ? std::string("consumer") : concat(thread), "\"");
}

// Buckets four times as long as the one before, from 16 us.
void add_histogram(PrometheusText& text, const std::string& name, std::string_view doc,
                   const HistogramSum& sum) {
  constexpr int64_t kFirstNs = 16'384, kLastNs = int64_t{1} << 38;
  text.family(name, "histogram", doc);
  size_t bin = 0;
  int64_t seen = 0;
  for (int64_t limit = kFirstNs; limit <= kLastNs; limit *= 4) {
    for (; bin < kHistogramBins && histogram_limit(bin) < limit; ++bin) seen += sum.bins[bin];
    text.sample(name + "_bucket", concat("le=\"", seconds(limit), "\""), concat(seen));
  }
  text.sample(name + "_bucket", "le=\"+Inf\"", concat(sum.count));
  text.sample(name + "_sum", "", seconds(sum.sum_ns));
  text.sample(name + "_count", "", concat(sum.count));
}

// What the device does, which has no threads.
void add_device_times(PrometheusText& text, const std::vector<MetricRow>& rows) {
  constexpr std::string_view kFull = "dataline_device_seconds_total";
  bool first = true;
  for (const MetricRow& row : rows) {
    if (std::string_view(row.name) != "device") continue;
    if (first) text.family(kFull, "counter", row.doc);
    first = false;
    text.sample(kFull, concat("stage=\"", row.part, "\""), seconds(row.value));
  }
}

// Rows of one name, by thread.
void add_durations(PrometheusText& text, const std::vector<MetricRow>& rows, std::string_view name,
                   std::string_view label) {
  const std::string full = concat("dataline_worker_", name, "_seconds_total");
  bool first = true;
  for (const MetricRow& row : rows) {
    if (row.kind != MetricKind::kDuration || row.name != name || row.thread == kThreadAll) continue;
    if (first) text.family(full, "counter", row.doc);
    first = false;
    text.sample(full, concat(thread_label(row.thread), ",", label, "=\"", escaped_label(row.part), "\""),
                seconds(row.value));
  }
}

}  // namespace

Result<std::string> prometheus_text(const Metrics& metrics, std::string_view labels) {
  DL_RETURN_IF_ERROR(check_labels(labels));
  PrometheusText text(labels);
  const std::vector<MetricRow> rows = metrics.rows();
  for (const MetricRow& row : rows) {
    if (row.kind != MetricKind::kDuration) add_counter(text, row);
  }
  if (metrics.on()) {
    add_histogram(text, "dataline_next_seconds", "Calls to next that delivered a batch.",
                  metrics.next_times());
    add_histogram(text, "dataline_between_seconds",
                  "From the end of a call to next to the start of the next call.", metrics.between_times());
    add_durations(text, rows, "work", "stage");
    add_durations(text, rows, "wait", "reason");
    add_durations(text, rows, "off_cpu", "reason");
    add_device_times(text, rows);
  }
  return text.take();
}

}  // namespace dataline
