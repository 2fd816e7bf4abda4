// The drawings of a report, as SVG without a script: colours are classes of the page's style, so that they follow light and dark.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bindings/cli/report/report_data.h"

namespace dataline::cli {

// Text as HTML: nothing in it is taken for markup, and what is no UTF-8 or a control character (is_control) becomes U+FFFD. At most `most`
// bytes.
std::string html(std::string_view text, size_t most = 400);
std::string duration_text(double seconds);  // "3.1 ms"

// Tracks over time, a colour a stage, with their legend.
std::string timeline_drawing(const Timeline& timeline);
// Bars beside their names. `value`: 0 to 1 of the width.
struct Bar {
  std::string name;
  double value = 0;
  std::string text;
  std::string style;  // a class
  std::string hint;   // shown by pointing at it
};
std::string bars(const std::vector<Bar>& bars);
// How often a duration came, by powers of two.
std::string histogram_drawing(const Durations& durations);
std::string stacked_bar(const std::vector<Bar>& parts);

// The class of a stage's colour, the same in all drawings.
std::string stage_style(const Timeline& timeline, std::string_view name);

}  // namespace dataline::cli
