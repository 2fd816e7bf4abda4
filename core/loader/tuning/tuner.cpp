// SPDX-License-Identifier: Apache-2.0
#include "core/loader/tuning/tuner.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "core/base/status.h"

namespace dataline {
namespace {

// A rest: so late may a change that lasts be noticed.
constexpr int64_t kMostQuietNs = 60'000'000'000;

std::string tenths(double value) {
  const int64_t tenth = std::llround(value * 10);
  return concat(tenth / 10, ".", tenth % 10);
}
std::string percent(double share) { return concat(tenths(share * 100), " %"); }

}  // namespace

Tuner::Tuner(Tune mode, TuneSetting start, TuneSetting most, const TuneRules& rules)
    : mode_(mode), rules_(rules), most_(most), force_(start), chosen_(start), quiet_ns_(rules.quiet_ns) {
  text_ = concat("measuring ", words(force_));
}

std::string Tuner::words(TuneSetting setting) const {
  return concat(setting.workers, setting.workers == 1 ? " worker" : " workers", ", depth ", setting.depth);
}

void Tuner::start_from(TuneSetting setting) {
  if (phase_ == Phase::kFixed) return;
  setting = {std::clamp<int64_t>(setting.workers, 1, most_.workers),
             std::clamp<int64_t>(setting.depth, 1, most_.depth)};
  put(setting);
  chosen_ = setting;
  phase_ = Phase::kBase;
  std::fill(std::begin(tries_), std::end(tries_), 0);
  text_ = concat("measuring ", words(setting), ", from the saved state");
}

void Tuner::fix(int64_t workers) {
  put({workers, force_.depth});
  chosen_ = force_;
  phase_ = Phase::kFixed;
  text_ = concat("fixed at ", words(force_), ": the host has set the workers");
}

// --- Samples ---

bool Tuner::observe(const TuneSample& sample) {
  if (!from_) {
    from_ = sample;
    cpus_ = cpus_before_ = sample.cpus;
    settle();
    return false;
  }
  if (sample.batches - from_->batches < rules_.stretch_batches || sample.at_ns - from_->at_ns < kSampleNs)
    return false;
  const TuneSample before = *from_;
  from_ = sample;
  if (sample.at_ns < settle_until_ || sample.batches < settle_until_batch_ || was_away(before, sample))
    return false;
  now_.add(before, sample);
  switch (phase_) {
    case Phase::kBase:
      return end_base();
    case Phase::kTrial:
      return end_trial();
    case Phase::kFrozen:
      return end_window();
    case Phase::kFixed:
      return end_fixed();
  }
  return false;
}

// The consumer did something else (an evaluation, a checkpoint): no measurement of loading. Twice in a row it is how things
// are from now on.
bool Tuner::was_away(const TuneSample& from, const TuneSample& to) {
  const TuneMeasure& usual = base_.count() > 0 ? base_ : now_;
  const int64_t away_ns = to.at_ns - from.at_ns - (to.wait_ns - from.wait_ns);
  const double batches = static_cast<double>(to.batches - from.batches);
  const bool unusual =
      usual.count() > 0 && static_cast<double>(away_ns) * 1e-9 > 8 * batches * usual.away_s_per_batch();
  const bool before = std::exchange(away_before_, unusual);
  return unusual && !before;
}

// What is measured begins when the batches are gone that were loaded before the change.
void Tuner::settle() {
  now_ = {};
  if (!from_) return;
  settle_until_ = from_->at_ns + rules_.settle_ns;
  const bool empty = base_.wait_share() > rules_.waits;  // the window: hardly any batch is ready ahead
  settle_until_batch_ =
      from_->batches + (empty ? rules_.stretch_batches : std::max(force_.depth, chosen_.depth));
}

void Tuner::put(TuneSetting setting) {
  changes_ += setting == force_ ? 0 : 1;
  force_ = setting;
  settle();
}

// --- What is measured, and what comes next ---

bool Tuner::end_base() {
  const bool sharp =
      rules_.sure * now_.standard_error() < rules_.sharp || now_.count() >= rules_.many_stretches / 2;
  if (!kept_ && !sharp) return false;
  if (!kept_) base_ = shown_ = now_;
  kept_ = false;
  return try_next();
}

// Changes in the order in which they help most; each is tried twice at most, in a long and in a short step.
bool Tuner::try_next() {
  const bool waits = base_.wait_share() > rules_.waits;
  std::array<Move, 3> moves = {Move::kMoreWorkers, Move::kMoreDepth, Move::kFewerWorkers};
  if (lost_cpus()) std::rotate(moves.begin(), moves.begin() + 2, moves.end());
  for (const Move move : moves) {
    if (!waits && move != Move::kFewerWorkers) continue;
    for (; tries(move) < kMostTries; ++tries(move)) {
      if (const auto to = candidate(move, waits)) return begin_trial(move, *to);
    }
  }
  return freeze();
}

std::optional<TuneSetting> Tuner::candidate(Move move, bool waits) const {
  const bool first = tries(move) == 0;
  const int64_t half = std::max<int64_t>(force_.workers / 2, 1), quarter = std::max<int64_t>(half / 2, 1);
  TuneSetting to = force_;
  if (move == Move::kMoreWorkers) {
    const double cpus = static_cast<double>(std::min<int64_t>(force_.workers, cpus_));
    if (force_.workers >= cpus_ && std::round(base_.busy_cpus()) >= cpus)
      return {};  // there is no room for another
    to.workers = std::min(force_.workers + (first ? force_.workers : half), most_.workers);
    // Else the new ones find no batch of their own to fill.
    to.depth = std::min(std::max(force_.depth, to.workers + 1), most_.depth);
    if (to.workers == force_.workers || (!first && half == force_.workers)) return {};
  } else if (move == Move::kMoreDepth) {
    to.depth = std::min(2 * force_.depth, most_.depth);
    if (to.depth == force_.depth || !first) return {};
  } else {
    to.workers = std::max<int64_t>(force_.workers - (first ? (force_.workers + 1) / 2 : quarter), 1);
    if (first && lost_cpus()) to.workers = std::max<int64_t>(cpus_, 1);
    if (to.workers == force_.workers || (!first && (force_.workers + 1) / 2 == quarter)) return {};
    // The fewer could not do what all of them do now.
    if (!waits && base_.busy_cpus() > 0.9 * static_cast<double>(to.workers)) return {};
  }
  return to;
}

bool Tuner::begin_trial(Move move, TuneSetting to) {
  const std::string why = concat(": the consumer waits ", percent(base_.wait_share()), " of the time");
  if (mode_ == Tune::kWatch) {
    const bool news = to != chosen_;
    chosen_ = to;
    text_ = concat("would try ", words(to), " instead of ", words(force_), why);
    return rest(news);
  }
  move_ = move;
  phase_ = Phase::kTrial;
  put(to);
  text_ = concat("trying ", words(to), " instead of ", words(chosen_), why);
  return true;
}

bool Tuner::end_trial() {
  const double change = now_.rate() / std::max(base_.rate(), 1e-9) - 1;
  const double error = rules_.sure * std::hypot(now_.standard_error(), base_.standard_error());
  if (now_.count() >= 2 && change < rules_.hopeless - 1) return undo();
  if (now_.count() < rules_.few_stretches) return false;
  const int64_t patience = change > rules_.sharp ? 2 * rules_.many_stretches : rules_.many_stretches;
  if (now_.count() < patience && std::abs(change) < error && error > rules_.sharp) return false;
  // Workers that nobody waits for, or beyond the CPUs that are left, are parked if nobody notices.
  if (move_ == Move::kFewerWorkers && (base_.wait_share() <= rules_.waits || lost_cpus())) {
    const bool unnoticed = now_.wait_share() <= rules_.waits || lost_cpus();
    return unnoticed && change > -error ? keep() : undo();
  }
  // Where the rate goes up and down by itself, the waiting says more.
  const bool waits_less =
      now_.wait_share() < base_.wait_share() / 2 && base_.wait_share() - now_.wait_share() > 2 * rules_.waits;
  // Fewer workers that seem to do more, and a consumer that waits: more often than not the machine has become faster.
  const double doubt = move_ == Move::kFewerWorkers ? rules_.sharp : 0;
  return change > doubt + error || (waits_less && change > 0) ? keep() : undo();
}

// Nothing goes back the way that it came before it begins anew.
bool Tuner::keep() {
  text_ = concat("took ", words(force_), " instead of ", words(chosen_), ": ", tenths(base_.rate()), " -> ",
                 tenths(now_.rate()), " batches/s");
  chosen_ = force_;
  tries(move_) = 0;
  if (move_ != Move::kMoreDepth)
    tries(move_ == Move::kMoreWorkers ? Move::kFewerWorkers : Move::kMoreWorkers) = kMostTries;
  if (move_ != Move::kMoreDepth) tries(Move::kMoreDepth) = 0;
  phase_ = Phase::kBase;
  base_ = shown_ = now_;
  now_ = {};
  kept_ = true;
  return true;
}

bool Tuner::undo() {
  text_ = concat("back to ", words(chosen_), ": ", words(force_), " reached ", tenths(now_.rate()),
                 " batches/s, not ", tenths(base_.rate()));
  ++tries(move_);
  phase_ = Phase::kBase;
  put(chosen_);
  return true;
}

// --- At rest ---

bool Tuner::freeze() {
  text_ = concat("frozen at ", words(force_), ": ", tenths(base_.rate()), " batches/s, the consumer waits ",
                 percent(base_.wait_share()), " of the time");
  const bool news = chosen_ != force_ || mode_ == Tune::kOn;
  chosen_ = force_;
  return rest(news);
}

bool Tuner::rest(bool news) {
  phase_ = Phase::kFrozen;
  frozen_ns_ = from_->at_ns;
  cpus_before_ = cpus_;
  odd_windows_ = 0;
  now_ = {};
  return news;
}

bool Tuner::end_window() {
  const TuneSample& here = *from_;
  const int64_t rested_ns = here.at_ns - frozen_ns_;
  const bool other_cpus = here.cpus != cpus_;
  if (other_cpus && rested_ns >= quiet_ns_) return wake(concat(cpus_, " -> ", here.cpus, " CPUs"));
  if (now_.count() < rules_.window_stretches) return false;
  shown_ = now_;
  const bool fell = now_.rate() < (1 - rules_.odd) * base_.rate();
  const bool waits_more = now_.wait_share() > base_.wait_share() + rules_.odd;
  odd_windows_ = fell || waits_more ? odd_windows_ + 1 : 0;
  if (odd_windows_ == 0 && now_.rate() * (1 - rules_.odd) > base_.rate())
    base_ = now_;  // the consumer has become faster
  if (odd_windows_ >= 2 && rested_ns >= quiet_ns_)
    return wake(fell ? concat("the rate fell to ", tenths(now_.rate()), " batches/s")
                     : concat("the consumer waits ", percent(now_.wait_share()), " of the time"));
  now_ = {};
  return false;
}

bool Tuner::wake(const std::string& why) {
  const bool long_ago = from_->at_ns - frozen_ns_ > 4 * quiet_ns_;
  quiet_ns_ = long_ago ? rules_.quiet_ns : std::min(2 * quiet_ns_, kMostQuietNs);
  cpus_ = from_->cpus;
  std::fill(std::begin(tries_), std::end(tries_), 0);
  phase_ = Phase::kBase;
  text_ = concat("measuring ", words(force_), " again: ", why);
  settle();
  return mode_ == Tune::kOn;
}

bool Tuner::end_fixed() {
  if (now_.count() < rules_.window_stretches) return false;
  shown_ = now_;
  now_ = {};
  return false;
}

}  // namespace dataline
