// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/live_line.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

constexpr double kHalfLifeSeconds = 2;
constexpr size_t kLeastBarCells = 4;
constexpr size_t kMostBarCells = 40;
constexpr double kMostSeconds = 359'999;  // 99:59:59

// The last filled cell is filled by eighths where the terminal can show it.
std::string bar(double done, size_t cells, bool utf8) {
  constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<size_t>(done * static_cast<double>(cells) * 8);
  std::string text;
  size_t used = 0;
  for (; used < eighths / 8; ++used) text += utf8 ? "█" : "#";
  if (utf8 && eighths % 8 > 0) {
    text += kEighths[eighths % 8];
    ++used;
  }
  return text + std::string(cells - used, ' ');
}

std::string two_digits(int64_t value) { return (value < 10 ? "0" : "") + std::to_string(value); }

// " [00:01<00:02, 23.4 k samples/s]" with the first `count` of the items.
std::string in_brackets(const std::vector<std::string>& items, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += (i == 0 ? " [" : ", ") + items[i];
  return text.empty() ? text : text + "]";
}

}  // namespace

void Pace::note(const Delivered& total) {
  const double passed = total.seconds - last_.seconds;
  if (passed <= 0) return;
  // Of floats: exp2 of doubles would need glibc 2.29, and the portable archive asks for 2.28 at most.
  const double kept = std::exp2(static_cast<float>(-passed / kHalfLifeSeconds));
  const auto add = [&](double Delivered::*figure) {
    sums_.*figure = sums_.*figure * kept + (total.*figure - last_.*figure);
  };
  for (const auto figure : {&Delivered::seconds, &Delivered::steps, &Delivered::samples, &Delivered::bytes,
                            &Delivered::waited_seconds}) {
    add(figure);
    rates_.*figure = sums_.*figure / sums_.seconds;
  }
  rates_.waited_seconds = std::clamp(rates_.waited_seconds, 0.0, 1.0);
  last_ = total;
}

std::string clock_text(double seconds) {
  if (!(seconds >= 0 && seconds <= kMostSeconds)) return "?";
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  const std::string tail = two_digits(whole / 60 % 60) + ":" + two_digits(whole % 60);
  return whole >= 3600 ? std::to_string(whole / 3600) + ":" + tail : tail;
}

std::string live_text(const LiveLine& line, size_t columns, bool utf8) {
  std::vector<std::string> items = {clock_text(line.elapsed_s)};
  if (line.left_s) items[0] += "<" + clock_text(*line.left_s);
  if (line.samples_per_s) items.push_back(scaled(*line.samples_per_s) + " samples/s");
  if (line.waited_share) items.push_back("waited " + fixed(100 * *line.waited_share, 1) + " %");
  if (line.bytes_per_s) items.push_back(bytes_text(*line.bytes_per_s) + "/s");

  std::string head = message_text(line.position);
  const double done = std::clamp(line.done.value_or(0), 0.0, 1.0);
  if (line.done) {
    const std::string percent = fixed(std::floor(100 * done), 0);
    head += ": " + std::string(3 - percent.size(), ' ') + percent + "%";
  }
  size_t shown = items.size();
  while (shown > 0 && head.size() + in_brackets(items, shown).size() > columns) --shown;
  const std::string tail = in_brackets(items, shown);
  const size_t used = std::min(columns, head.size() + tail.size());
  const size_t room = columns - used;
  if (line.done && shown == items.size() && room >= kLeastBarCells + 2) {
    head += "|" + bar(done, std::min(room - 2, kMostBarCells), utf8) + "|";
    return head + tail;
  }
  return std::string(cut_to_columns(head + tail, columns));
}

}  // namespace dataline::cli
