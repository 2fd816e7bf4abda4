// Loops over epochs: consumers that share one, newer ones, seeks, and interrupts that must not be lost.
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "tests/interleave/calls.h"

namespace dataline::interleave {
namespace {

using LoopRef = std::shared_ptr<EpochLoop>;

// What consumers saw of one loop. Only one thread runs at a time: what is not the loader's needs no lock.
struct Seen {
  LoopRef loop;
  Place first;
  std::set<Place> batches;
  int64_t ends = 0, left = 0;
};

// Consumers take from the newest loop that they know of. Somebody begins loops, seeks and interrupts meanwhile.
class Loops {
 public:
  explicit Loops(Job& job) : job_(job), config_(job.config()) {}

  void run() {
    job_.open();
    begin();
    std::vector<int> consumers;
    for (int64_t c = 0; c < config_.consumers; ++c)
      consumers.push_back(spawn("consumer " + std::to_string(c), [this] { consume(); }));
    for (uint64_t times = draw(6); times > 0; --times) {
      const uint64_t what = draw(8);
      if (what < 2) begin();
      if (what == 2) seek();
      if (what == 3) job_.loader().interrupt(loops_.back()->loop.get());
      if (what == 4) job_.loader().interrupt();
      if (what == 5) job_.park();
      if (what >= 6) pause();
    }
    done_ = true;
    for (int consumer : consumers) join(consumer);
    check();
    job_.close();
    Batch* batch = nullptr;
    const Status after = job_.loader_that_was()->next(0, &batch, loops_.back()->loop.get());
    if (after.code() != Code::kWrongState && after.code() != Code::kEndOfEpoch &&
        after.code() != Code::kInterrupted)
      fail("a loop of a loader that has ended: " + code_text(after));
  }

 private:
  void begin() {
    doing("a loop begins");
    Result<LoopRef> loop = job_.loader().begin_loop();
    if (!loop.is_ok()) fail("begin_loop: " + code_text(loop.status()));
    auto seen = std::make_unique<Seen>();
    seen->loop = loop.take();
    const Position at = job_.loader().position().value();  // nobody takes from this loop yet
    seen->first = {at.epoch, at.step};
    loops_.push_back(std::move(seen));
  }
  void seek() {
    doing("a seek");
    const Position to{static_cast<int64_t>(draw(2)),
                      static_cast<int64_t>(draw(static_cast<uint64_t>(job_.steps())))};
    if (!job_.loader().seek(to).is_ok()) fail("a seek");
    begin();
    for (uint64_t rest = draw(24); rest > 0; --rest) pause();
    if (draw(2) == 0) begin();  // often at the same place, while a batch is copied out for the loop before it
  }

  // Goes through the loops one after another, each until it is over.
  void consume() {
    std::vector<Batch*> held;
    for (size_t at = 0; at < loops_.size() || !done_;) {
      if (at >= loops_.size()) {
        pause();
        continue;
      }
      if (take(*loops_[at], held)) ++at;
    }
    for (Batch* batch : held) batch->release();
  }
  // True: the loop is over for this consumer.
  bool take(Seen& seen, std::vector<Batch*>& held) {
    doing("next(-1) of a loop");
    if (config_.overflow == "wait") release(held, 0);
    Batch* batch = nullptr;
    const Status got = job_.loader().next(-1, &batch, seen.loop.get());
    switch (got.code()) {
      case Code::kOk: {
        const Place at{batch->epoch, batch->step};
        job_.check(*batch, 0);
        if (!seen.batches.insert(at).second) fail(Job::text(at) + " came twice in one loop");
        if (at.first != seen.first.first || at < seen.first) fail(Job::text(at) + " is not of the loop");
        held.push_back(batch);
        release(held, draw(3));
        return false;
      }
      case Code::kEndOfEpoch:
        ++seen.ends;
        if (seen.left > 0) fail("a loop was ended, and then finished");
        return true;
      case Code::kWrongState:
        ++seen.left;
        if (seen.ends > 0) fail("a loop was finished, and then ended");
        return true;
      case Code::kLeasesHeld:
        release(held, 0);
        pause();
        return false;
      default:
        if (got.code() != Code::kInterrupted && !job_.may_fail(got.code())) fail("next: " + code_text(got));
        return false;
    }
  }
  void release(std::vector<Batch*>& held, size_t keep) {
    while (held.size() > keep) {
      held.back()->release();
      held.pop_back();
    }
  }

  // A finished loop had every step from its first one to the end, and each consumer learned how it ended.
  void check() {
    for (const auto& seen : loops_) {
      if (seen->ends + seen->left != config_.consumers) fail("a consumer did not learn of the end of a loop");
      const auto got = static_cast<int64_t>(seen->batches.size());
      if (seen->ends > 0 && got != job_.steps() - seen->first.second) fail("a finished loop lacks batches");
    }
    if (loops_.back()->ends != config_.consumers) fail("the last loop did not finish");
    const Position at = job_.loader().position().value();
    if (Place(at.epoch, at.step) != Place(loops_.back()->first.first + 1, 0))
      fail("the end of the last loop left the loader at " + Job::text({at.epoch, at.step}));
  }

  Job& job_;
  const Config& config_;
  std::vector<std::unique_ptr<Seen>> loops_;
  bool done_ = false;
};

}  // namespace

void loops(Job& job) { Loops(job).run(); }
Config loops_config(Draws& draws) {
  Config config = any_config(draws);
  config.consumers = draws.from(1, 3);
  config.samples = draws.from(2, 6);
  config.shuffle = "none";
  config.last = "keep";
  config.leases = 1;
  config.overflow = draws.one_in(4) ? config.overflow : "copy";
  config.loses = draws.one_in(8);
  if (draws.one_in(6)) config = with_device(config, draws);
  return config;
}

// Two consumers of one loop wait for a lease that nobody returns. An interrupt reaches those who wait, or else who calls next,
// and a second one the other; a newer loop at the same place reaches both.
void waits(Job& job) {
  job.open();
  Batch* held = nullptr;
  doing("next(-1) for the only lease");
  while (!job.loader().next(-1, &held).is_ok()) {
  }
  if (!job.loader().seek({0, 0}).is_ok()) fail("a seek");
  const LoopRef loop = job.loader().begin_loop().take();
  LoopRef newer;
  const uint64_t how = draw(3);
  int64_t returned = 0;
  std::vector<int> consumers;
  for (int c = 0; c < 2; ++c) {
    consumers.push_back(spawn("consumer " + std::to_string(c), [&] {
      Batch* batch = nullptr;
      doing("next(-1) with all leases held");
      const Status got = job.loader().next(-1, &batch, loop.get());
      if (got.code() != (how == 0 ? Code::kWrongState : Code::kInterrupted))
        fail("a consumer: " + code_text(got));
      ++returned;
    }));
  }
  for (int64_t expected = 1; expected <= 2; ++expected) {
    for (uint64_t rest = draw(8); rest > 0; --rest) pause();
    if (returned == 2) break;
    if (how == 0) newer = job.loader().begin_loop().take();
    if (how == 1) job.loader().interrupt(loop.get());
    if (how == 2) job.loader().interrupt();
    doing("until a consumer is back");
    nap(kQuiet);  // until nobody else can go on
    if (returned < (how == 0 ? 2 : expected)) fail("who waited was not woken");
  }
  for (int consumer : consumers) join(consumer);
  held->release();
  job.close();
}
Config waits_config(Draws& draws) {
  Config config = any_config(draws);
  config.overflow = "wait";
  config.leases = 1;
  config.batch = 1;
  config.samples = draws.from(2, 4);
  return config;
}

}  // namespace dataline::interleave
