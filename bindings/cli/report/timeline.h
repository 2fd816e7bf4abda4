// A trace as a time line of bounded size: what each track did in each of a few hundred pieces of the whole time, whose length
// doubles when the trace goes on. And per track and name how often and how long, and the longest waits of the consumer.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/cli/report/trace_lines.h"

namespace dataline::cli {

// Durations by powers of two of a microsecond.
struct Durations {
  static constexpr size_t kBins = 40;
  std::array<int64_t, kBins> bins{};  // bin i: below 2^i us
  int64_t count = 0;
  double sum_us = 0, longest_us = 0;

  void add(double us);
  double quantile_us(double share) const;  // rounded up to a power of two
};

class Timeline {
 public:
  static constexpr int64_t kPieces = 240;
  static constexpr size_t kMostNames = 12;    // the others are "other"
  static constexpr int64_t kMostTracks = 33;  // the others are not drawn
  static constexpr size_t kMostWaits = 20;

  struct Track {
    std::string name;
    // [name][piece]: microseconds.
    std::vector<std::vector<double>> spent_us;
    std::vector<Durations> totals;  // by name
  };
  struct Wait {
    int64_t epoch = 0, step = 0;
    double begin_us = 0, took_us = 0;
  };

  // Text of a trace, in pieces that may end anywhere.
  void add(std::string_view text);
  void add(const TraceEvent& event);

  const std::vector<std::string>& names() const { return names_; }
  const std::map<int64_t, Track>& tracks() const { return tracks_; }
  const std::vector<Wait>& longest_waits() const { return waits_; }  // of next, the longest first
  double begin_us() const { return begin_us_; }
  double seconds() const { return events_ == 0 ? 0 : (end_us_ - begin_us_) * 1e-6; }
  double piece_us() const { return piece_us_; }
  int64_t pieces() const;  // that are in use
  int64_t events() const { return events_; }
  int64_t left_out() const { return left_out_; }  // lines that are no events, and tracks too many
  // The sum over all tracks.
  Durations total(std::string_view name) const;
  Track& track(int64_t number);

 private:
  size_t name_index(const std::string& name);
  void reach(double end_us);
  void spread(std::vector<double>& pieces, double begin_us, double took_us);
  void keep_wait(const TraceEvent& event);
  void keep(std::string_view text);

  std::string rest_;       // a line that has begun
  bool too_long_ = false;  // it is longer than any of a trace
  std::vector<std::string> names_;
  std::map<int64_t, Track> tracks_;
  std::vector<Wait> waits_;
  double begin_us_ = 0, end_us_ = 0, piece_us_ = 50;
  int64_t events_ = 0, left_out_ = 0;
};

}  // namespace dataline::cli
