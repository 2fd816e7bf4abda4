// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/report/drawings.h"

#include <algorithm>
#include <cmath>

#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

constexpr double kWidth = 960, kLabel = 90, kTrackHeight = 26, kTrackGap = 6;
constexpr size_t kManyTracks = 8;  // of more, each piece shows only what took the most of it

std::string number(double value) { return fixed(value, 1); }

std::string rectangle(double x, double y, double width, double height, std::string_view style,
                      std::string_view hint) {
  return "<rect class=\"" + std::string(style) + "\" x=\"" + number(x) + "\" y=\"" + number(y) +
         "\" width=\"" + number(width) + "\" height=\"" + number(height) + "\">" +
         (hint.empty() ? "" : "<title>" + html(hint) + "</title>") + "</rect>\n";
}

std::string label(double x, double y, std::string_view text, std::string_view anchor = "start") {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + std::string(anchor) +
         "\">" + html(text, 60) + "</text>\n";
}

// What the consumer does while it helps is part of its call of next.
std::vector<double> shares(const Timeline& timeline, const Timeline::Track& track, int64_t piece) {
  std::vector<double> out(timeline.names().size());
  double helped = 0;
  size_t next = out.size();
  for (size_t name = 0; name < track.spent_us.size(); ++name) {
    const auto at = static_cast<size_t>(piece);
    const double spent =
        at < track.spent_us[name].size() ? track.spent_us[name][at] / timeline.piece_us() : 0;
    out[name] = spent;
    const std::string& text = timeline.names()[name];
    if (text == "next") next = name;
    if (text != "next" && text != "step") helped += spent;
  }
  if (next < out.size()) out[next] = std::max(0.0, out[next] - helped);
  return out;
}

std::string track_drawing(const Timeline& timeline, const Timeline::Track& track, double top, bool whole) {
  std::string out;
  const double step = (kWidth - kLabel) / static_cast<double>(timeline.pieces());
  for (int64_t piece = 0; piece < timeline.pieces(); ++piece) {
    std::vector<double> share = shares(timeline, track, piece);
    if (whole) {  // one colour, as high as all of it
      double sum = 0;
      for (const double each : share) sum += each;
      const auto most = static_cast<size_t>(std::max_element(share.begin(), share.end()) - share.begin());
      std::fill(share.begin(), share.end(), 0);
      if (most < share.size()) share[most] = sum;
    }
    double height = 0;
    for (size_t name = 0; name < share.size(); ++name) {
      const double part = std::min(share[name], 1 - height / kTrackHeight) * kTrackHeight;
      if (part < 0.15) continue;
      height += part;
      out += rectangle(kLabel + static_cast<double>(piece) * step, top + kTrackHeight - height, step, part,
                       stage_style(timeline, timeline.names()[name]), "");
    }
  }
  return out;
}

}  // namespace

std::string html(std::string_view text, size_t most) {
  std::string out;
  while (!text.empty()) {
    if (out.size() >= most) return out + "...";
    const size_t bytes = utf8_bytes(text);
    const auto first = static_cast<unsigned char>(text[0]);
    const bool printed =
        bytes > 0 && (!is_control(code_point(text.substr(0, bytes))) || first == '\n' || first == '\t');
    if (!printed) {
      out += "\xEF\xBF\xBD";
    } else if (first == '<') {
      out += "&lt;";
    } else if (first == '>') {
      out += "&gt;";
    } else if (first == '&') {
      out += "&amp;";
    } else if (first == '"') {
      out += "&quot;";
    } else if (first == '\'') {
      out += "&#39;";
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return out;
}

std::string duration_text(double seconds) {
  if (seconds >= 100) return fixed(seconds, 0) + " s";
  if (seconds >= 1) return fixed(seconds, 2) + " s";
  if (seconds >= 1e-3) return fixed(seconds * 1e3, 1) + " ms";
  if (seconds >= 1e-6) return fixed(seconds * 1e6, 1) + " us";
  return fixed(seconds * 1e9, 0) + " ns";
}

std::string stage_style(const Timeline& timeline, std::string_view name) {
  if (name == "no room" || name == "no work" || name == "parked" || name == "device") return "idle";
  if (name == "next") return "waits";
  if (name == "step") return "step";
  const auto& names = timeline.names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return "c" + std::to_string((found - names.begin()) % 10);
  // A part of a pass, which a trace does not have.
  size_t sum = 0;
  for (const char c : name) sum = sum * 31 + static_cast<unsigned char>(c);
  return "c" + std::to_string(sum % 10);
}

std::string timeline_drawing(const Timeline& timeline) {
  const size_t tracks = timeline.tracks().size();
  const double height = static_cast<double>(tracks) * (kTrackHeight + kTrackGap) + 24;
  std::string out = "<svg role=\"img\" aria-label=\"time line\" viewBox=\"0 0 " + number(kWidth) + " " +
                    number(height) + "\">\n";
  double top = 0;
  for (const auto& [track_number, track] : timeline.tracks()) {
    const std::string name = !track.name.empty() ? track.name : "track " + std::to_string(track_number);
    out += label(0, top + kTrackHeight * 0.7, name);
    out += rectangle(kLabel, top, kWidth - kLabel, kTrackHeight, "empty", "");
    out += track_drawing(timeline, track, top, tracks > kManyTracks);
    top += kTrackHeight + kTrackGap;
  }
  const double seconds = timeline.piece_us() * static_cast<double>(timeline.pieces()) * 1e-6;
  for (int tick = 0; tick <= 4; ++tick)
    out += label(kLabel + (kWidth - kLabel) * tick / 4, top + 14, duration_text(seconds * tick / 4),
                 tick == 0   ? "start"
                 : tick == 4 ? "end"
                             : "middle");
  out += "</svg>\n<ul class=\"legend\">\n";
  for (const std::string& name : timeline.names()) {
    if (name == "release") continue;
    const char* meaning = name == "next"                        ? " (the consumer waits)"
                          : name == "step"                      ? " (the consumer's own work)"
                          : name == "copy" || name == "kernels" ? " (the device)"
                                                                : "";
    out +=
        "<li><i class=\"" + stage_style(timeline, name) + "\"></i>" + html(name, 120) + meaning + "</li>\n";
  }
  return out + "</ul>\n";
}

std::string bars(const std::vector<Bar>& bars) {
  std::string out = "<table class=\"bars\">\n";
  for (const Bar& bar : bars)
    out += "<tr><th scope=\"row\">" + html(bar.name, 160) + "</th><td class=\"bar\"><div class=\"" +
           bar.style + "\" style=\"width:" + number(100 * std::clamp(bar.value, 0.0, 1.0)) + "%\" title=\"" +
           html(bar.hint) + "\"></div></td><td>" + html(bar.text) + "</td></tr>\n";
  return out + "</table>\n";
}

std::string stacked_bar(const std::vector<Bar>& parts) {
  std::string out = "<div class=\"stack\">";
  for (const Bar& part : parts) {
    if (part.value < 0.002) continue;
    out += "<div class=\"" + part.style +
           "\" style=\"width:" + number(100 * std::clamp(part.value, 0.0, 1.0)) + "%\" title=\"" +
           html(part.name + ": " + part.text) + "\"></div>";
  }
  return out + "</div>\n";
}

std::string histogram_drawing(const Durations& durations) {
  std::vector<Bar> out;
  const int64_t most = *std::max_element(durations.bins.begin(), durations.bins.end());
  for (size_t bin = 0; bin < Durations::kBins; ++bin) {
    if (durations.bins[bin] == 0) continue;
    const auto count = static_cast<double>(durations.bins[bin]);
    out.push_back({"below " + duration_text(std::ldexp(1e-6, static_cast<int>(bin))),
                   std::log1p(count) / std::log1p(static_cast<double>(most)), grouped(durations.bins[bin]),
                   "c0", ""});
  }
  return bars(out);
}

}  // namespace dataline::cli
