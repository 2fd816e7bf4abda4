// One consumer that makes all calls, and knows exactly what each must return.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/interleave/calls.h"

namespace dataline::interleave {
namespace {

// Others only give back, look and interrupt.
class Alone {
 public:
  explicit Alone(Job& job) : job_(job), config_(job.config()), steps_(job.steps()) {}

  void run() {
    job_.open();
    const int giver = spawn("giver", [this] {
      for (uint64_t times = draw(6); times > 0; --times) {
        if (!returns_.release_one(job_, config_.indices)) pause();
      }
    });
    const bool looks = draw(3) == 0;
    const int looker = !looks ? -1 : spawn("looker", [this] {
      for (uint64_t times = 1 + draw(3); times > 0; --times) look();
    });
    for (uint64_t calls = 4 + draw(14); calls > 0; --calls) call();
    join(giver);
    if (looks) join(looker);
    check_books();
    check_slots();
    if (draw(2) == 0) give_back_all();
    job_.close();
    give_back_all();
  }

 private:
  void look() {
    const uint64_t what = draw(4);
    if (what == 0) static_cast<void>(job_.loader().stats());
    if (what == 1) static_cast<void>(job_.loader().save_state());
    if (what == 2) static_cast<void>(job_.loader().position());
    if (what == 3) job_.loader().interrupt();
  }

  void call() {
    const uint64_t what = draw(16);
    if (what < 9) return take();
    if (what < 11) return static_cast<void>(returns_.release_one(job_, config_.indices));
    if (what == 11) return begin_epoch();
    if (what == 12 && config_.indices) return set_indices();
    if (what == 13 && !config_.indices) return save_or_load();
    if (what >= 12)
      return seek(
          {static_cast<int64_t>(draw(2)), static_cast<int64_t>(draw(static_cast<uint64_t>(steps_) + 1))});
  }

  void moved(Place to) {
    at_ = to;
    fresh_ = true;
    told_ = {-1, -1};
  }
  void seek(Place to) {
    doing("seek");
    expect(job_.loader().seek({to.first, to.second}), Code::kOk, "seek");
    moved(to);
  }
  void begin_epoch() {
    doing("begin_epoch");
    expect(job_.loader().begin_epoch(), Code::kOk, "begin_epoch");
    if (!fresh_ && at_.second > 0) at_ = {at_.first + 1, 0};
  }
  void save_or_load() {
    doing("a state");
    if (states_.empty() || draw(2) == 0) {
      auto state = job_.loader().save_state();
      if (!state.is_ok()) fail("save_state: " + code_text(state.status()));
      states_.push_back({state.take(), at_});
    }
    const auto& [text, place] = states_[draw(states_.size())];
    expect(job_.loader().load_state(text), Code::kOk, "load_state");
    moved(place);
  }
  void set_indices() {
    doing("set_indices");
    const auto rotation = static_cast<int64_t>(draw(static_cast<uint64_t>(config_.samples)));
    std::vector<int64_t> indices;
    for (int64_t i = 0; i < config_.samples; ++i) indices.push_back((i + rotation) % config_.samples);
    expect(job_.loader().set_indices(indices.data(), config_.samples, HostOwner()), Code::kOk, "set_indices");
    const Rotation first = rotations_.front();
    std::erase_if(rotations_, [&](const Rotation& known) { return known.first > at_.first; });
    if (rotations_.empty()) rotations_.push_back({0, first.second});
    rotations_.push_back({at_.second == 0 ? at_.first : at_.first + 1, rotation});
    while (rotations_.size() > 2 && rotations_[2].first <= at_.first) rotations_.erase(rotations_.begin());
  }
  int64_t rotation() const {
    int64_t rotation = rotations_.front().second;
    for (const auto& [from, by] : rotations_) {
      if (from <= at_.first) rotation = by;
    }
    return rotation;
  }

  // Whether a batch can be had without others giving one back.
  bool lease_is_free() { return config_.overflow != "wait" || returns_.count() < config_.leases; }

  void take() {
    const bool free = lease_is_free();
    const int64_t timeouts[] = {free ? -1 : kMilliNs, free ? kHourNs : kMilliNs, 0, kMilliNs / 50};
    const int64_t timeout = timeouts[draw(4)];
    doing(timeout < 0 ? "next(-1)" : timeout == kHourNs ? "next(1 h)" : "next(short)");
    Batch* batch = nullptr;
    Status got = job_.loader().next(timeout, &batch);
    pass_empty_steps(batch);
    switch (got.code()) {
      case Code::kOk:
        return took(*batch);
      case Code::kEndOfEpoch:
        if (at_.second != steps_) fail("the end of an epoch at " + Job::text(at_));
        at_ = {at_.first + 1, 0};
        return;
      case Code::kTimeout:
        if (timeout < 0 || (timeout == kHourNs && free)) fail("next() timed out, and nobody could go on");
        return;
      case Code::kBadSample:
        if (!config_.bad || told_ == at_) fail("told of bad samples again at " + Job::text(at_));
        told_ = at_;
        return;
      case Code::kLeasesHeld:
        if (config_.overflow != "error") fail(code_text(got));
        returns_.release_one(job_, config_.indices);
        return;
      default:
        if (got.code() != Code::kInterrupted && !job_.may_fail(got.code())) fail("next: " + code_text(got));
    }
  }
  // Steps of which nothing is left are passed with the next batch, once they have been told.
  void pass_empty_steps(const Batch* batch) {
    while (config_.bad && at_.second < steps_ && told_ == at_ &&
           job_.good(job_.due(at_, rotation())).empty() &&
           (batch == nullptr || Place(batch->epoch, batch->step) != at_)) {
      auto now = job_.loader().position();
      if (now.is_ok() && Place(now.value().epoch, now.value().step) == at_) return;
      ++at_.second, fresh_ = false;
    }
  }
  void took(Batch& batch) {
    if (Place(batch.epoch, batch.step) != at_) {
      fail("got " + Job::text({batch.epoch, batch.step}) + ", due was " + Job::text(at_));
    }
    job_.check(batch, rotation());
    ++batches_, samples_ += batch.valid;
    ++at_.second;
    fresh_ = false;
    told_ = {-1, -1};
    returns_.give(&batch);
    if (config_.overflow == "copy" && draw(4) != 0) returns_.release_one(job_, config_.indices);
  }

  void check_books() {
    auto stats = job_.loader().stats();
    if (!stats.is_ok()) fail("stats: " + code_text(stats.status()));
    const LoaderStats& now = stats.value();
    if (now.ledger.batches != batches_ || now.ledger.samples != samples_)
      fail("the books count other batches or samples");
    if (now.leases_held != returns_.count()) fail("the books count other leases");
    if (!config_.bad && now.ledger.skipped != 0) fail("the books count samples as skipped");
  }

  // With all leases taken and the window full every slot is in use; one that is lost leaves the window short.
  void check_slots() {
    if (config_.workers == 0 || config_.bad || config_.loses || config_.device != "cpu") return;
    give_back_all();
    seek({0, 0});
    std::vector<Batch*> held;
    while (static_cast<int64_t>(held.size()) < config_.leases) {
      Batch* batch = nullptr;
      doing("next(1 h) to hold all leases");
      const Status got = job_.loader().next(kHourNs, &batch);
      if (got.code() == Code::kOk) held.push_back(batch);
      if (got.code() == Code::kTimeout) fail("next() timed out, and nobody could go on");
    }
    seek({1, 0});
    nap(kQuiet);
    auto stats = job_.loader().stats();
    const int64_t depth = std::clamp<int64_t>(steps_, 1, config_.depth);
    if (stats.value().ready_batches != depth) {
      fail("all threads rest, and " + std::to_string(stats.value().ready_batches) + " of " +
           std::to_string(depth) + " batches are ready: a slot is lost, or a wake");
    }
    for (Batch* batch : held) batch->release();
  }

  void give_back_all() {
    while (returns_.release_one(job_, config_.indices)) {
    }
  }
  static void expect(const Status& got, Code code, const char* what) {
    if (got.code() != code) fail(std::string(what) + ": " + code_text(got));
  }

  Job& job_;
  const Config& config_;
  int64_t steps_;
  Place at_{0, 0}, told_{-1, -1};
  bool fresh_ = true;
  std::vector<std::pair<std::string, Place>> states_;
  using Rotation = std::pair<int64_t, int64_t>;  // from this epoch, so many samples on
  std::vector<Rotation> rotations_{{0, 0}};      // those that the loader keeps
  Returns returns_;
  int64_t batches_ = 0, samples_ = 0;
};

}  // namespace

void alone(Job& job) { Alone(job).run(); }

Config alone_config(Draws& draws) {
  Config config = any_config(draws);
  if (draws.one_in(4)) config.indices = true, config.shuffle = "none";
  return config;
}
Config bad_config(Draws& draws) {
  Config config = any_config(draws);
  config.bad = true;
  config.on_error = draws.one_in(2) ? "raise" : "replace";
  return config;
}
Config lost_config(Draws& draws) {
  Config config = any_config(draws);
  config.loses = true;
  return config;
}
Config alone_device_config(Draws& draws) { return with_device(any_config(draws), draws); }

}  // namespace dataline::interleave
