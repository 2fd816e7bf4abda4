// The page of a report: one file that asks for nothing, without a script.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "bindings/cli/report/drawings.h"
#include "bindings/cli/report/report_data.h"
#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

constexpr char kStyle[] =
#include "bindings/cli/report/style.inc"
    ;

std::string base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const size_t left = bytes.size() - at;
    uint32_t word = 0;
    for (size_t i = 0; i < 3; ++i)
      word = word << 8 | (i < left ? static_cast<unsigned char>(bytes[at + i]) : 0);
    for (size_t i = 0; i < 4; ++i) out += i <= left ? kDigits[word >> (18 - 6 * i) & 63] : '=';
  }
  return out;
}

std::string section(std::string_view title, const std::string& content, std::string_view remark = "") {
  if (content.empty()) return "";
  return "<section>\n<h2>" + std::string(title) + "</h2>\n" +
         (remark.empty() ? "" : "<p class=\"soft\">" + std::string(remark) + "</p>\n") + content +
         "</section>\n";
}

std::string number_cell(const std::string& text) { return "<td class=\"n\">" + html(text) + "</td>"; }

std::string stage_section(const ReportData& data) {
  const std::vector<StageTime> stages = stage_times(data);
  double work = 0;
  for (const StageTime& stage : stages) work += stage.waits ? 0 : stage.seconds;
  std::vector<Bar> drawn;
  std::string rows;
  for (const StageTime& stage : stages) {
    if (!stage.waits)
      drawn.push_back(
          {stage.name, work > 0 ? stage.seconds / work : 0,
           fixed(work > 0 ? 100 * stage.seconds / work : 0, 1) + " %, " + duration_text(stage.seconds),
           stage_style(data.timeline, stage.name), ""});
    rows += "<tr><th scope=\"row\">" + html(stage.name, 160) + (stage.waits ? " (waits)" : "") + "</th>" +
            number_cell(duration_text(stage.seconds)) + number_cell(grouped(stage.count)) +
            number_cell(duration_text(stage.p50_s)) + number_cell(duration_text(stage.p99_s)) +
            number_cell(duration_text(stage.longest_s)) + "</tr>\n";
  }
  if (stages.empty()) return "";
  return section("Where the threads' time goes",
                 bars(drawn) +
                     "<details><summary>Every stage: how often, how long</summary><div "
                     "class=\"scroll\"><table>\n<thead><tr><th>stage</th>"
                     "<th class=\"n\">in all</th><th class=\"n\">times</th><th class=\"n\">half "
                     "within</th><th class=\"n\">99 % within</th>"
                     "<th class=\"n\">longest</th></tr></thead>\n" +
                     rows + "</table></div></details>\n",
                 "Work of all workers, and of the consumer when it helps.");
}

std::string limits_section(const ReportData& data) {
  if (data.is_trace || data.seconds <= 0) return "";
  const double gb_per_s = data.bytes / data.seconds * 1e-9, cores = data.cpu_seconds / data.seconds;
  std::vector<Bar> out;
  if (data.memcpy_gb_per_s > 0)
    out.push_back({"delivered bytes, of what one core can copy", gb_per_s / data.memcpy_gb_per_s,
                   fixed(gb_per_s, 2) + " of " + fixed(data.memcpy_gb_per_s, 1) + " GB/s", "c0", ""});
  if (data.cpus > 0)
    out.push_back({"CPUs busy, of those this process may use", cores / data.cpus,
                   fixed(cores, 2) + " of " + fixed(data.cpus, 1), "c1", ""});
  const MeasuredRow* read = data.row("work", "read", DL_THREAD_ALL);
  if (read != nullptr && read->bytes > 0 && data.bytes > 0)
    out.push_back({"stored bytes read, against those delivered",
                   static_cast<double>(read->bytes) / std::max(data.bytes, static_cast<double>(read->bytes)),
                   bytes_text(static_cast<double>(read->bytes) / data.seconds) + "/s for " +
                       bytes_text(data.bytes / data.seconds) + "/s",
                   "c2", ""});
  if (data.value("budget_bytes") > 0)
    out.push_back(
        {"host memory held, of memory_budget",
         static_cast<double>(data.value("held_bytes")) / static_cast<double>(data.value("budget_bytes")),
         bytes_text(static_cast<double>(data.value("held_bytes"))) + " of " +
             bytes_text(static_cast<double>(data.value("budget_bytes"))),
         "c3", ""});
  return section("Against the machine's limits", bars(out));
}

std::string workers_section(const ReportData& data) {
  std::string rows;
  for (int64_t worker = 0; worker < std::min<int64_t>(data.workers, 64); ++worker) {
    std::vector<Bar> parts;
    double all = 0;
    for (const MeasuredRow& row : data.rows) {
      if (row.thread != worker || (row.name != "work" && row.name != "wait")) continue;
      all += static_cast<double>(row.value);
    }
    for (const MeasuredRow& row : data.rows) {
      if (row.thread != worker || (row.name != "work" && row.name != "wait") || all <= 0) continue;
      parts.push_back({row.part, static_cast<double>(row.value) / all,
                       fixed(100 * static_cast<double>(row.value) / all, 1) + " %",
                       stage_style(data.timeline, row.part), ""});
    }
    if (!parts.empty())
      rows += "<tr><th scope=\"row\">worker " + std::to_string(worker) + "</th><td style=\"width:80%\">" +
              stacked_bar(parts) + "</td></tr>\n";
  }
  return section("Workers", rows.empty() ? "" : "<table>\n" + rows + "</table>\n",
                 "Grey: waiting. Point at a part for its name.");
}

std::string stalls_section(const ReportData& data) {
  std::string rows;
  for (const MeasuredStall& stall : data.stalls)
    rows += "<tr><td>epoch " + grouped(stall.epoch) + ", step " + grouped(stall.step) + "</td>" +
            number_cell(duration_text(static_cast<double>(stall.wait_ns) * 1e-9)) + "<td>" +
            html(stall.cause, 160) + "</td></tr>\n";
  if (data.is_trace) {
    for (const Timeline::Wait& wait : data.timeline.longest_waits())
      rows += "<tr><td>epoch " + grouped(wait.epoch) + ", step " + grouped(wait.step) + "</td>" +
              number_cell(duration_text(wait.took_us * 1e-6)) + "<td>at " +
              duration_text((wait.begin_us - data.timeline.begin_us()) * 1e-6) + "</td></tr>\n";
  }
  if (rows.empty()) return "";
  return section(data.is_trace ? "The longest waits" : "Stalls: calls to next of 10 ms or more",
                 "<div class=\"scroll\"><table>\n<thead><tr><th>batch</th><th class=\"n\">waited</th><th>" +
                     std::string(data.is_trace ? "when" : "what the workers did") + "</th></tr></thead>\n" +
                     rows + "</table></div>\n");
}

std::string options_section(const ReportData& data) {
  std::string changed, others;
  for (const OptionLine& option : data.options) {
    const bool differs = option.value != option.default_value;
    (differs ? changed : others) +=
        "<tr><th scope=\"row\">" + html(option.key) + "</th><td>" + html(option.value) +
        "</td><td class=\"soft\">" +
        (differs ? html(option.default_value.empty() ? "none" : option.default_value) : "") + "</td></tr>\n";
  }
  if (data.options.empty()) return "";
  const std::string head = "<thead><tr><th>option</th><th>value</th><th>default</th></tr></thead>\n";
  return section("Options",
                 (changed.empty() ? "<p>All options have their defaults.</p>\n"
                                  : "<div class=\"scroll\"><table>" + head + changed + "</table></div>\n") +
                     "<details><summary>Options with their defaults</summary><div class=\"scroll\"><table>" +
                     head + others + "</table></div></details>\n");
}

std::string samples_section(const ReportData& data) {
  std::string out;
  if (!data.sheet_png.empty()) {
    out = "<img alt=\"the first samples as they are delivered\" src=\"data:image/png;base64," +
          base64(data.sheet_png) + "\">\n";
  } else if (!data.sheet_remark.empty()) {
    out = "<p class=\"soft\">No pictures: " + html(data.sheet_remark) + "</p>\n";
  }
  if (data.bad_count > 0) {
    out += "<p>" + grouped(data.bad_count) + " bad samples were found" +
           (data.bad_count > static_cast<int64_t>(data.bad_samples.size()) ? "; the first:" : ":") +
           "</p>\n<ul>\n";
    for (const std::string& line : data.bad_samples) out += "<li>" + html(line) + "</li>\n";
    out += "</ul>\n";
  }
  return section("Samples", out);
}

std::string facts(const ReportData& data) {
  std::string out = data.is_trace
                        ? "a trace of " + duration_text(data.timeline.seconds()) + ", " +
                              grouped(data.timeline.events()) + " spans"
                        : "a run of " + duration_text(data.seconds) + ", " +
                              scaled(data.samples / std::max(data.seconds, 1e-9)) + " samples/s, " +
                              std::to_string(data.workers) + (data.workers == 1 ? " worker" : " workers");
  if (!data.cpu.empty()) out += "; " + data.cpu;
  return out + "; dataline " + data.version;
}

}  // namespace

std::string report_page(const ReportData& data) {
  const std::vector<std::string> says = advice(data);
  std::string spoken;
  for (const std::string& sentence : says) spoken += "<p>" + html(sentence) + "</p>\n";
  std::string remark = "Each column is " + duration_text(data.timeline.piece_us() * 1e-6) +
                       "; its height is the share of that time.";
  if (data.traced_seconds > 0)
    remark += " It shows the first " + duration_text(data.traced_seconds) + " of " +
              duration_text(data.seconds) + ", the limit of a page.";
  if (data.timeline.left_out() > 0)
    remark += " " + grouped(data.timeline.left_out()) + " lines of the trace are not shown.";
  const Durations next = data.timeline.total("next");
  return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
         "content=\"width=device-width, initial-scale=1\">\n"
         "<link rel=\"icon\" href=\"data:,\">\n<title>" +
         html(data.subject) + " - dataline report</title>\n<style>" + kStyle +
         "</style>\n</head>\n<body>\n<header>\n<h1>" + html(data.subject) + "</h1>\n<p class=\"soft\">" +
         html(facts(data)) + "</p>\n</header>\n<main>\n<div class=\"verdict" +
         (data.waiting_share() < 0.01 ? " good" : "") + "\">\n" + spoken + "</div>\n" +
         section("Time line",
                 data.timeline.events() > 0
                     ? "<div class=\"scroll\">" + timeline_drawing(data.timeline) + "</div>"
                     : "",
                 remark) +
         stage_section(data) + limits_section(data) + workers_section(data) +
         section("Calls to next", next.count > 0 ? histogram_drawing(next) : "",
                 "How often each duration occurred; the length of a bar is the logarithm of its count.") +
         stalls_section(data) + samples_section(data) +
         section("Plan", data.plan.empty() ? "" : "<pre>" + html(data.plan, 20000) + "</pre>\n") +
         options_section(data) + "</main>\n</body>\n</html>\n";
}

}  // namespace dataline::cli
