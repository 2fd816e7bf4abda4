// The live line of a run, in the form in which the examples draw theirs too (examples/c/progress.h):
//
//   cat: epoch 0, step 211 of 469:  45%|████▌     | [00:01<00:02, 23.4 k samples/s, waited 0.3 %, 18.3 MB/s]
//
// Threads: plain values, one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace dataline::cli {

// What was delivered since the run began.
struct Delivered {
  double seconds = 0;  // that passed
  double steps = 0;
  double samples = 0;
  double bytes = 0;
  double waited_seconds = 0;
};

// Rates now: what is older weighs less, by half after two seconds, so that the line follows a run that changes and does not
// flicker.
class Pace {
 public:
  void note(const Delivered& total);

  double steps_per_s() const { return rates_.steps; }
  double samples_per_s() const { return rates_.samples; }
  double bytes_per_s() const { return rates_.bytes; }
  double waited_share() const { return rates_.waited_seconds; }  // 0 .. 1

 private:
  Delivered last_;
  Delivered sums_;   // weighted; seconds: the sum of the weights' own
  Delivered rates_;  // a second
};

// What the line says. Empty: not known, and left out.
struct LiveLine {
  std::string position;        // "cat: epoch 0, step 211 of 469"
  std::optional<double> done;  // 0 .. 1, of the whole run
  double elapsed_s = 0;
  std::optional<double> left_s;
  std::optional<double> samples_per_s;
  std::optional<double> waited_share;
  std::optional<double> bytes_per_s;
};

// At most `columns` wide. On a narrow terminal the bar goes first, then what stands last in the brackets, then the brackets.
std::string live_text(const LiveLine& line, size_t columns, bool utf8);

// 01:05, 1:00:05; "?" for what is no time.
std::string clock_text(double seconds);

}  // namespace dataline::cli
