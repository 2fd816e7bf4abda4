// What each of the tuner's rules (TuneRules) is worth: jobs without threads or clock, once with the rules as they are, and
// once with each of them halved and doubled. Deterministic: the same figures on every machine.
//   dataline_tune_rules [RULE=VALUE ...]     with values: only the rules as they are, and then with these
// For each job the batches of its first 20 s and of the two minutes after, as a share of what the best setting of a grid
// gives; the mean of all jobs, the worst of them, and how many changes a job made.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/loader/tuning/tuner.h"
#include "tests/loader/tuner_scenarios.h"

namespace dataline::tests {
namespace {

constexpr double kFirstS = 20, kThenS = 120;
constexpr uint64_t kSeeds = 3;

struct Case {
  std::string name;
  Model model;
  TuneSetting start;
  double best_first = 0, best_then = 0;  // batches a second
};

// A job that becomes another one in its midst is compared with the best of each part.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Scenario& scenario : kScenarios) {
    for (const double noise : {0.0, 0.1, 0.3}) {
      if (scenario.model.noise > 0) continue;  // the same job is there without
      Case one{.name = scenario.name, .model = scenario.model, .start = scenario.start};
      one.model.noise = noise;
      one.best_first = one.best_then = best_rate(one.model);
      all.push_back(one);
    }
  }
  const auto changes = [&](const char* name, const Model& before, const Model& after, const Model& both) {
    all.push_back({name, both, {1, 4}, best_rate(before), best_rate(after)});
  };
  const Model base{.work = each(10), .step = always(2), .noise = 0.1};
  Model two = base, cut = base, raised = base;
  two.cpus = cpus(2);
  cut.cpus = [](double now) { return now < kFirstS * 1e3 ? 8 : 2; };
  raised.cpus = [](double now) { return now < kFirstS * 1e3 ? 2 : 8; };
  changes("TheQuotaIsCut", base, two, cut);
  changes("TheQuotaIsRaised", two, base, raised);
  Model slow = base, faster = base, slower = base;
  slow.step = always(40);
  faster.step = [](double now) { return now < kFirstS * 1e3 ? 40.0 : 2.0; };
  slower.step = [](double now) { return now < kFirstS * 1e3 ? 2.0 : 40.0; };
  changes("TheConsumerBecomesFaster", slow, base, faster);
  changes("TheConsumerBecomesSlower", base, slow, slower);
  // A neighbour takes a third of the machine for a while, now and then.
  for (const int64_t batches : {30, 100, 300}) {
    Model shared = base;
    shared.cpus = cpus(2);
    shared.work = [batches](int64_t batch) {
      return std::mt19937_64(static_cast<uint64_t>(batch / batches))() % 3 == 0 ? 15.0 : 10.0;
    };
    all.push_back({"ANoisyNeighbour", shared, {2, 4}, best_rate(shared), 0});
    all.back().best_then = all.back().best_first;
  }
  // Up and down for ever: compared with what the best would get of both halves.
  Model tide = base;
  tide.step = [](double now) { return static_cast<int64_t>(now / 10e3) % 2 == 0 ? 2.0 : 40.0; };
  const double mean = (best_rate(base) + best_rate(slow)) / 2;
  all.push_back({"ATide", tide, {1, 4}, mean, mean});
  // Every fourth second the consumer does something else for half a second, or for two.
  for (const double pause_ms : {500.0, 2000.0}) {
    Model paused = base;
    paused.step = [pause_ms](double now) { return std::fmod(now, 4e3) < 4 ? pause_ms : 2.0; };
    all.push_back({"Pauses", paused, {1, 4}, 0, 0});
    ModelJob still(paused, {8, 16}, kMost, 1, Tune::kWatch);
    all.back().best_first = all.back().best_then = still.run(kFirstS + kThenS);
  }
  return all;
}

struct Outcome {
  double first = 0, then = 0, worst_first = 1, worst_then = 1, changes = 0;
  std::vector<double> shares;
};

Outcome outcome(const std::vector<Case>& all, const TuneRules& rules) {
  Outcome sum;
  const double runs = static_cast<double>(all.size() * kSeeds);
  for (const Case& one : all) {
    double first = 0, then = 0;
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
      ModelJob job(one.model, one.start, kMost, seed, Tune::kOn, rules);
      first += job.run(kFirstS) / one.best_first / kSeeds;
      then += job.run(kThenS) / one.best_then / kSeeds;
      sum.changes += static_cast<double>(job.tuner().changes()) / runs;
    }
    sum.first += first / static_cast<double>(all.size());
    sum.then += then / static_cast<double>(all.size());
    sum.worst_first = std::min(sum.worst_first, first);
    sum.worst_then = std::min(sum.worst_then, then);
    sum.shares.push_back(first);
    sum.shares.push_back(then);
  }
  return sum;
}

// A rule that is a share stays one; a count stays a count.
template <typename T>
std::function<void(TuneRules&, double)> scaled(T TuneRules::*rule) {
  return [rule](TuneRules& rules, double by) {
    const double value = static_cast<double>(rules.*rule) * by;
    rules.*rule = static_cast<T>(value < 1 && static_cast<double>(rules.*rule) >= 1 ? 1 : value);
  };
}
std::function<void(TuneRules&, double)> nearer_to_one(double TuneRules::*rule) {
  return [rule](TuneRules& rules, double by) { rules.*rule = 1 - (1 - rules.*rule) * by; };
}

void print(const char* name, const Outcome& now, const Outcome& as_is) {
  double moved = 0;
  for (size_t i = 0; i < now.shares.size(); ++i)
    moved = std::max(moved, std::abs(now.shares[i] - as_is.shares[i]));
  printf("%-24s first %.4f (worst %.3f)  then %.4f (worst %.3f)  changes %5.1f  a job moved by %.3f\n", name,
         now.first, now.worst_first, now.then, now.worst_then, now.changes, moved);
  fflush(stdout);
}

struct Rule {
  const char* name;
  std::function<void(TuneRules&, double)> scale;
  std::function<void(TuneRules&, double)> set;
};
template <typename T>
Rule rule(const char* name, T TuneRules::*member) {
  return {name, scaled(member),
          [member](TuneRules& rules, double value) { rules.*member = static_cast<T>(value); }};
}
Rule rule_near_one(const char* name, double TuneRules::*member) {
  return {name, nearer_to_one(member), [member](TuneRules& rules, double value) { rules.*member = value; }};
}

const Rule kRules[] = {rule("waits", &TuneRules::waits),
                       rule("sure", &TuneRules::sure),
                       rule("sharp", &TuneRules::sharp),
                       rule_near_one("hopeless", &TuneRules::hopeless),
                       rule("odd", &TuneRules::odd),
                       rule("stretch_batches", &TuneRules::stretch_batches),
                       rule("few_stretches", &TuneRules::few_stretches),
                       rule("many_stretches", &TuneRules::many_stretches),
                       rule("window_stretches", &TuneRules::window_stretches),
                       rule("settle_ns", &TuneRules::settle_ns),
                       rule("quiet_ns", &TuneRules::quiet_ns)};

int run(int count, char** words) {
  TuneRules wanted;
  for (int w = 1; w < count; ++w) {
    const std::string_view word = words[w];
    const auto* found = std::find_if(std::begin(kRules), std::end(kRules), [&](const Rule& one) {
      return word.starts_with(std::string(one.name) + "=");
    });
    if (found == std::end(kRules)) {
      fprintf(stderr, "dataline_tune_rules: expected RULE=VALUE, got \"%s\"\n", words[w]);
      return 2;
    }
    found->set(wanted, std::atof(words[w] + word.find('=') + 1));
  }
  const std::vector<Case> all = cases();
  const Outcome as_is = outcome(all, {});
  print("as they are", as_is, as_is);
  if (count > 1) {
    print("with these values", outcome(all, wanted), as_is);
    return 0;
  }
  for (const Rule& one : kRules) {
    for (const double by : {0.5, 2.0}) {
      TuneRules changed;
      one.scale(changed, by);
      print((std::string(one.name) + (by < 1 ? " halved" : " doubled")).c_str(), outcome(all, changed),
            as_is);
    }
  }
  return 0;
}

}  // namespace
}  // namespace dataline::tests

int main(int count, char** words) { return dataline::tests::run(count, words); }
