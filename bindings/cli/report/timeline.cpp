// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/report/timeline.h"

#include <algorithm>
#include <cmath>

namespace dataline::cli {
namespace {

constexpr char kOther[] = "other";
constexpr size_t kMostLineBytes = 64 << 10;  // the library's are below 1 KiB
constexpr double kMostUs = 1e13;             // four months: no trace is longer

bool is_time(double us) { return us >= 0 && us <= 1e18; }  // and no NaN

}  // namespace

void Durations::add(double us) {
  size_t bin = 0;
  while (bin + 1 < kBins && std::ldexp(1.0, static_cast<int>(bin)) < us) ++bin;
  ++bins[bin];
  ++count;
  sum_us += us;
  longest_us = std::max(longest_us, us);
}

double Durations::quantile_us(double share) const {
  const double wanted = share * static_cast<double>(count);
  int64_t seen = 0;
  for (size_t bin = 0; bin < kBins; ++bin) {
    seen += bins[bin];
    if (seen > 0 && static_cast<double>(seen) >= wanted)
      return std::min(std::ldexp(1.0, static_cast<int>(bin)), longest_us);
  }
  return longest_us;
}

// A line that no trace has is dropped as it comes, and counts as left out.
void Timeline::keep(std::string_view text) {
  const size_t room = kMostLineBytes - std::min(rest_.size(), kMostLineBytes);
  too_long_ |= text.size() > room;
  rest_ += text.substr(0, room);
}

void Timeline::add(std::string_view text) {
  for (size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    keep(text.substr(0, end));
    text.remove_prefix(end + 1);
    const auto event = too_long_ ? std::nullopt : parse_event(rest_);
    if (event) {
      add(*event);
    } else if (!rest_.starts_with("{\"displayTimeUnit\"") && rest_ != "]}" && !rest_.empty()) {
      ++left_out_;
    }
    rest_.clear();
    too_long_ = false;
  }
  keep(text);
}

void Timeline::add(const TraceEvent& event) {
  if (event.phase == 'M') {
    if (!event.track_name.empty() && event.name == "thread_name" && event.track < kMostTracks)
      track(event.track).name = event.track_name;
    return;
  }
  if (event.phase != 'X') return;
  const bool timed = is_time(event.begin_us) && event.took_us >= 0 && event.took_us <= kMostUs &&
                     (events_ == 0 || event.begin_us - begin_us_ <= kMostUs);
  if (!timed || event.track < 0 || event.track >= kMostTracks) {
    ++left_out_;
    return;
  }
  if (events_++ == 0) begin_us_ = end_us_ = event.begin_us;
  // Threads write in turns: a span may begin before the first that was read.
  const double begin_us = std::max(event.begin_us, begin_us_);
  reach(begin_us + event.took_us);
  Track& own = track(event.track);
  const size_t name = name_index(event.name);
  if (own.totals.size() <= name) own.totals.resize(names_.size()), own.spent_us.resize(names_.size());
  own.totals[name].add(event.took_us);
  spread(own.spent_us[name], begin_us, event.took_us);
  if (event.track == 0 && event.name == "next") keep_wait(event);
}

Timeline::Track& Timeline::track(int64_t number) { return tracks_[number]; }

size_t Timeline::name_index(const std::string& name) {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found != names_.end()) return static_cast<size_t>(found - names_.begin());
  if (names_.size() + 1 >= kMostNames && name != kOther) return name_index(kOther);
  names_.push_back(name);
  return names_.size() - 1;
}

// Makes room for a time: pieces are joined two by two until it fits.
void Timeline::reach(double end_us) {
  end_us_ = std::max(end_us_, end_us);
  while (end_us_ - begin_us_ >= piece_us_ * static_cast<double>(kPieces)) {
    piece_us_ *= 2;
    for (auto& [number, own] : tracks_) {
      for (std::vector<double>& pieces : own.spent_us) {
        for (size_t i = 0; i < pieces.size(); i += 2)
          pieces[i / 2] = pieces[i] + (i + 1 < pieces.size() ? pieces[i + 1] : 0);
        pieces.resize((pieces.size() + 1) / 2);
      }
    }
  }
}

void Timeline::spread(std::vector<double>& pieces, double begin_us, double took_us) {
  double from = begin_us - begin_us_, left = took_us;
  do {
    const auto piece = static_cast<size_t>(from / piece_us_);
    if (piece >= static_cast<size_t>(kPieces)) return;
    if (pieces.size() <= piece) pieces.resize(piece + 1);
    const double here = std::min(left, static_cast<double>(piece + 1) * piece_us_ - from);
    pieces[piece] += here;
    left -= std::max(here, 1e-3);
    from = static_cast<double>(piece + 1) * piece_us_;
  } while (left > 0);
}

void Timeline::keep_wait(const TraceEvent& event) {
  const auto longer = [](const Wait& a, const Wait& b) { return a.took_us > b.took_us; };
  const Wait wait{event.epoch, event.step, event.begin_us, event.took_us};
  waits_.insert(std::upper_bound(waits_.begin(), waits_.end(), wait, longer), wait);
  if (waits_.size() > kMostWaits) waits_.pop_back();
}

int64_t Timeline::pieces() const {
  return std::clamp<int64_t>(static_cast<int64_t>((end_us_ - begin_us_) / piece_us_) + 1, 1, kPieces);
}

Durations Timeline::total(std::string_view name) const {
  Durations sum;
  const auto found = std::find(names_.begin(), names_.end(), name);
  const auto index = static_cast<size_t>(found - names_.begin());
  for (const auto& [number, own] : tracks_) {
    if (index >= own.totals.size()) continue;
    const Durations& here = own.totals[index];
    for (size_t bin = 0; bin < Durations::kBins; ++bin) sum.bins[bin] += here.bins[bin];
    sum.count += here.count;
    sum.sum_us += here.sum_us;
    sum.longest_us = std::max(sum.longest_us, here.longest_us);
  }
  return sum;
}

}  // namespace dataline::cli
