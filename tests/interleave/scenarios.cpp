// Ends, interrupts and wait handles; and the table of all scenarios.
// SPDX-License-Identifier: Apache-2.0
#include "tests/interleave/scenarios.h"

#include <poll.h>

#include "tests/interleave/calls.h"

namespace dataline::interleave {
namespace {

// Consumers wait for leases or batches while the job is cancelled or its token is; batches come back while the loader ends.
void ends(Job& job) {
  const Config& config = job.config();
  job.open_with_token();
  Returns held;
  std::vector<int> consumers;
  for (int64_t c = 0; c < config.consumers; ++c) {
    consumers.push_back(spawn("consumer " + std::to_string(c), [&job, &held] {
      for (;;) {
        Batch* batch = nullptr;
        doing("next(-1) while the job ends");
        const Status got = job.loader().next(-1, &batch);
        if (batch != nullptr) {
          job.check(*batch, 0);
          held.give(batch);
        }
        if (got.code() == Code::kCancelled) return;
        if (got.code() == Code::kLeasesHeld) pause();
        if (held.count() > 6) held.release_one(job, false);
      }
    }));
  }
  for (uint64_t rest = draw(40); rest > 0; --rest) {
    if (draw(16) == 0) job.park();
    pause();
  }
  doing("the end");
  if (draw(2) == 0) {
    job.loader().cancel();
  } else {
    job.token().cancel();
  }
  for (int consumer : consumers) join(consumer);
  const int releaser = spawn("releaser", [&] {
    while (held.release_one(job, false)) {
    }
  });
  job.close();
  join(releaser);
}
Config ends_config(Draws& draws) {
  Config config = any_config(draws);
  config.consumers = draws.from(1, 3);
  config.shuffle = "none";  // epochs pass until somebody ends them
  if (draws.one_in(4)) config = with_device(config, draws);
  return config;
}

// The device is lost at some operation: each consumer is told, and nobody waits for what cannot come.
void loss(Job& job) {
  job.open();
  std::vector<int> consumers;
  for (int64_t c = 0; c < job.config().consumers; ++c) {
    consumers.push_back(spawn("consumer " + std::to_string(c), [&job] {
      for (;;) {
        Batch* batch = nullptr;
        doing("next(1 h) on a device that will be lost");
        const Status got = job.loader().next(kHourNs, &batch);
        if (got.code() == Code::kTimeout) fail("next() timed out, and nobody could go on");
        if (batch != nullptr) {
          static_cast<void>(batch->wait(nullptr));
          batch->release();
        }
        if (got.code() == Code::kDeviceLost) return;
        if (got.code() == Code::kLeasesHeld) pause();
      }
    }));
  }
  for (int consumer : consumers) join(consumer);
  Batch* batch = nullptr;
  if (job.loader().next(0, &batch).code() != Code::kDeviceLost) fail("a lost device came back");
  job.close();
}
Config loss_config(Draws& draws) {
  Config config = with_device(any_config(draws), draws);
  config.consumers = draws.from(1, 3);
  config.shuffle = "none";  // epochs pass until the device is lost
  config.waits_fail = false;
  config.device_dies = true;
  return config;
}

// Whoever waits in next() for a lease returns when it is interrupted, and when a lease comes back.
void leases(Job& job) {
  const bool interrupts_it = draw(2) == 0;
  job.open();
  std::vector<Batch*> held;
  while (static_cast<int64_t>(held.size()) < job.config().leases) {
    Batch* batch = nullptr;
    doing("next(-1) for all leases");
    if (job.loader().next(-1, &batch).is_ok()) held.push_back(batch);
  }
  const int waiter = spawn("waiter", [&] {
    Batch* batch = nullptr;
    doing("next(-1) with all leases held");
    const Status got = job.loader().next(-1, &batch);
    // An epoch may end before a lease is wanted.
    if (got.code() != (interrupts_it ? Code::kInterrupted : Code::kOk) && got.code() != Code::kEndOfEpoch) {
      fail("the waiter: " + code_text(got));
    }
    if (batch != nullptr) batch->release();
  });
  for (uint64_t rest = draw(12); rest > 0; --rest) pause();
  if (interrupts_it) {
    job.loader().interrupt();
  } else {
    held.back()->release();
    held.pop_back();
  }
  doing("until the waiter is back");
  join(waiter);
  for (Batch* batch : held) batch->release();
  job.close();
}
Config leases_config(Draws& draws) {
  Config config = any_config(draws);
  config.overflow = "wait";
  config.leases = draws.from(1, 2);
  return config;
}

// A consumer that sleeps on the handle of an event loop and polls.
void handles(Job& job) {
  job.open();
  auto handle = job.loader().wait_handle();
  if (!handle.is_ok()) fail(code_text(handle.status()));
  const int mover = spawn("mover", [&job] {
    for (uint64_t times = draw(3); times > 0; --times) {
      doing("a seek");
      static_cast<void>(
          job.loader().seek({0, static_cast<int64_t>(draw(static_cast<uint64_t>(job.steps()) + 1))}));
    }
  });
  int64_t naps = 0;
  for (int64_t taken = 0; taken < 6;) {
    pollfd wanted = {static_cast<int>(handle.value()), POLLIN, 0};
    point();
    if (poll(&wanted, 1, 0) != 1) {
      if (++naps > 200) fail("the handle is not raised");
      doing("a sleep on the handle");
      nap(kMilliNs);
      continue;
    }
    Batch* batch = nullptr;
    const Status got = job.loader().next(0, &batch);
    if (got.code() == Code::kTimeout) {
      if (++naps > 200) fail("the handle is raised, and nothing comes");
      nap(kMilliNs);
      continue;
    }
    naps = 0;
    ++taken;
    if (batch == nullptr) continue;
    job.check(*batch, 0);
    batch->release();
  }
  join(mover);
  job.close();
}
Config handles_config(Draws& draws) {
  Config config = any_config(draws);
  config.workers = draws.from(1, 3);
  return config;
}

constexpr Scenario kScenarios[] = {
    {"alone", "one consumer makes all calls and knows what is due", 5, alone_config, alone},
    {"bad", "the same, with bad samples", 2, bad_config, alone},
    {"lost", "the same, and memory runs out while batches are filled", 2, lost_config, alone},
    {"device", "the same, batches on a device", 3, alone_device_config, alone},
    {"together", "two or three consumers share the epochs, workers come and go", 4, together_config,
     together},
    {"rivals", "the same, with hardly a batch for each of them", 8, rivals_config, together},
    {"moves", "up to three consumers, and somebody who seeks, loads, cancels, parks", 4, moves_config, moves},
    {"ends", "consumers wait while the job is cancelled or ended", 2, ends_config, ends},
    {"loss", "consumers wait while the device is lost", 2, loss_config, loss},
    {"leases", "somebody waits for a lease, and is interrupted or gets one", 1, leases_config, leases},
    {"loops", "consumers share loops, and somebody who begins newer ones, seeks, interrupts", 5, loops_config,
     loops},
    {"waits", "consumers of a loop wait for a lease, and are interrupted or a newer loop begins", 1,
     waits_config, waits},
    {"handles", "a consumer that sleeps on the wait handle", 1, handles_config, handles},
};

}  // namespace

std::span<const Scenario> scenarios() { return kScenarios; }

}  // namespace dataline::interleave
