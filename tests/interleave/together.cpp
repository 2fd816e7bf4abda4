// Several consumers: of an epoch, and while somebody moves the loader.
// SPDX-License-Identifier: Apache-2.0
#include "tests/interleave/calls.h"

namespace dataline::interleave {
namespace {

// Several consumers, nobody seeks: each step goes to one of them.
class Together {
 public:
  explicit Together(Job& job) : job_(job), config_(job.config()) {}

  void run() {
    job_.open();
    std::vector<int> consumers;
    for (int64_t c = 0; c < config_.consumers; ++c) {
      consumers.push_back(spawn("consumer " + std::to_string(c), [this] { consume(); }));
    }
    for (uint64_t times = draw(6); times > 0; --times) {
      const uint64_t what = draw(4);
      if (what == 0) job_.loader().interrupt();
      if (what == 1) static_cast<void>(job_.loader().stats());
      if (what >= 2) job_.park();
    }
    for (int consumer : consumers) join(consumer);
    check();
    job_.close();
  }

 private:
  // For ever only where others' leases cannot be what it waits for.
  void consume() {
    std::vector<Batch*> held;
    Place last{-1, -1};
    for (;;) {
      const bool wait = config_.overflow == "wait";
      if (wait) release(held, 0);
      if (draw(4) == 0) work();
      const int64_t timeouts[] = {-1, kHourNs, 0, kMilliNs / 20};
      const int64_t timeout = timeouts[draw(4)];
      doing(timeout < 0 ? "next(-1)" : timeout == kHourNs ? "next(1 h)" : "next(short)");
      Batch* batch = nullptr;
      const Status got = job_.loader().next(timeout, &batch);
      if (got.code() == Code::kEnd) break;
      if (got.code() == Code::kOk) {
        const Place at{batch->epoch, batch->step};
        if (at <= last) fail(Job::text(at) + " comes after " + Job::text(last));
        last = at;
        job_.check(*batch, 0);
        if (config_.overflow != "copy" && job_.loader().leases() > config_.leases)
          fail("more batches are leased than max_leases");
        if (!seen_.insert(at).second) fail(Job::text(at) + " was delivered twice");
        samples_ += batch->valid;
        held.push_back(batch);
        release(held, draw(3));
      } else if (got.code() == Code::kEndOfEpoch) {
        ++ends_;
      } else if (got.code() == Code::kTimeout) {
        if (timeout < 0 || timeout == kHourNs) fail("next() timed out, and nobody could go on");
        if (timeout == 0) pause();
      } else if (got.code() == Code::kLeasesHeld && config_.overflow == "error") {
        release(held, 0);
        pause();
      } else if (got.code() != Code::kInterrupted && !job_.may_fail(got.code())) {
        fail("next: " + code_text(got));
      }
    }
    release(held, 0);
  }
  // An hour ends it only with workers, which it leaves the work to.
  void work() {
    doing("work");
    const int64_t budget_ns = draw(2) == 0 ? 1 : kHourNs;
    const Status got = job_.loader().work(budget_ns);
    if (got.code() == Code::kTimeout && budget_ns == kHourNs && config_.workers == 0)
      fail("work() timed out, and nobody could go on");
    if (!got.is_ok() && got.code() != Code::kTimeout && got.code() != Code::kInterrupted &&
        !job_.may_fail(got.code()))
      fail("work: " + code_text(got));
  }
  void release(std::vector<Batch*>& held, size_t keep) {
    while (held.size() > keep) {
      job_.check(*held.back(), 0);
      held.back()->release();
      held.pop_back();
    }
  }

  void check() {
    if (static_cast<int64_t>(seen_.size()) != config_.epochs * job_.steps()) fail("steps are missing");
    if (ends_ != config_.epochs) fail("ends of epochs: " + std::to_string(ends_));
    auto stats = job_.loader().stats();
    const LedgerCounters& books = stats.value().ledger;
    if (books.samples != samples_ || books.batches != static_cast<int64_t>(seen_.size()))
      fail("the books are wrong");
    if (books.samples + books.dropped != config_.epochs * config_.samples) fail("the books do not balance");
    if (stats.value().leases_held != 0) fail("the books count leases that nobody holds");
  }

  // Only one thread runs at a time: what is not the loader's needs no lock.
  Job& job_;
  const Config& config_;
  std::set<Place> seen_;
  int64_t ends_ = 0, samples_ = 0;
};

}  // namespace

void together(Job& job) { Together(job).run(); }

Config together_config(Draws& draws) {
  Config config = any_config(draws);
  config.workers = draws.from(0, 3);
  config.consumers = draws.from(2, 3);
  config.epochs = draws.from(1, 2);
  config.samples = draws.from(2, 7);
  config.loses = draws.one_in(6);
  if (draws.one_in(4)) config = with_device(config, draws);
  return config;
}

// Consumers that do not help, and hardly a batch for each: who is woken for one may find it taken.
Config rivals_config(Draws& draws) {
  Config config;
  config.workers = draws.from(1, 3);
  config.consumers = draws.from(2, 3);
  config.depth = draws.from(1, 3);
  config.leases = draws.from(2, 3);
  config.batch = draws.from(2, 3);
  config.samples = draws.from(3, 6);
  config.epochs = draws.from(1, 2);
  config.cpus = static_cast<int32_t>(draws.from(2, 4));
  config.host_reader = draws.one_in(2);
  if (!config.host_reader) config.device = "cuda", config.sync = "host";
  return config;
}

// Several consumers, and somebody who seeks, loads, cancels, parks workers and moves the depth: what comes is right,
// nobody is stuck, and afterwards an epoch comes whole.
void moves(Job& job) {
  const Config& config = job.config();
  job.open();
  const auto places = static_cast<uint64_t>(job.steps()) + 1;
  auto state = job.loader().save_state();
  const std::string least = Job::with_least(state.value());
  std::vector<int> consumers;
  for (int64_t c = 0; c < config.consumers; ++c) {
    consumers.push_back(spawn("consumer " + std::to_string(c), [&job, &config] {
      std::vector<Batch*> held;
      for (uint64_t calls = 3 + draw(4); calls > 0; --calls) {
        Batch* batch = nullptr;
        doing("next(1 h)");
        const Status got = job.loader().next(kHourNs, &batch);
        if (got.code() == Code::kTimeout) fail("next() timed out, and nobody could go on");
        if (batch != nullptr) {
          job.check(*batch, 0, config.indices);
          held.push_back(batch);
        }
        const size_t keep = config.overflow == "wait" ? 0 : draw(3);
        while (held.size() > keep) {
          job.check(*held.back(), 0, config.indices);
          held.back()->release();
          held.pop_back();
        }
      }
      for (Batch* batch : held) batch->release();
    }));
  }
  for (uint64_t times = 1 + draw(6); times > 0; --times) {
    const uint64_t what = draw(9);
    doing("a move");
    if (what == 8) job.park();
    if (what < 4)
      static_cast<void>(
          job.loader().seek({static_cast<int64_t>(draw(2)), static_cast<int64_t>(draw(places))}));
    if (what == 4) static_cast<void>(job.loader().begin_epoch());
    if (what == 5) static_cast<void>(job.loader().load_state(draw(2) == 0 ? state.value() : least));
    if (what == 6) {
      job.loader().cancel();
      static_cast<void>(job.loader().seek({0, 0}));
    }
    if (what == 7 && config.indices) {
      std::vector<int64_t> indices(static_cast<size_t>(config.samples), 1);
      static_cast<void>(job.loader().set_indices(indices.data(), config.samples, HostOwner()));
    }
    for (uint64_t rest = draw(3); rest > 0; --rest) pause();
  }
  for (int consumer : consumers) join(consumer);
  static_cast<void>(job.loader().seek({0, 0}));
  for (int64_t step = 0; step < job.steps(); ++step) {
    Batch* batch = nullptr;
    doing("the epoch afterwards");
    const Status got = job.loader().next(kHourNs, &batch);
    if (job.may_fail(got.code())) {
      --step;
      continue;
    }
    if (batch == nullptr) fail("afterwards: " + code_text(got));
    if (batch->step != step || batch->epoch != 0)
      fail("afterwards: " + Job::text({batch->epoch, batch->step}));
    job.check(*batch, 0, config.indices);
    batch->release();
  }
  job.close();
}
Config moves_config(Draws& draws) {
  Config config = any_config(draws);
  config.consumers = draws.from(1, 3);
  config.workers = draws.from(config.consumers == 3 ? 0 : 1, 3);
  config.loses = draws.one_in(6);
  if (draws.one_in(4)) config.indices = true, config.shuffle = "none";
  config.tune = draws.one_in(3);
  if (draws.one_in(4)) config = with_device(config, draws);
  return config;
}

}  // namespace dataline::interleave
