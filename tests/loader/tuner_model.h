// A loader and its consumer as a model without threads or clock: workers that load the batches of a window, a
// consumer that takes them in order, and CPUs that all of them share. It moves by what a Tuner decides.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/loader/tuning/tuner.h"

namespace dataline::tests {

// Times in milliseconds.
struct Model {
  std::function<double(int64_t batch)> work = [](int64_t) {
    return 1.0;
  };  // of a worker's CPU, for one batch
  std::function<double(int64_t batch)> storage = [](int64_t) { return 0.0; };  // waited for, before that
  std::function<double(double now)> step = [](double) { return 0.0; };         // of the consumer
  double step_cpus = 1;                                                        // that it computes on
  std::function<int32_t(double now)> cpus = [](double) { return 8; };
  double noise = 0;           // +- of each of these times
  double reads_at_once = 64;  // storage: more get slower in proportion
};

class ModelJob {
 public:
  ModelJob(Model model, TuneSetting start, TuneSetting most, uint64_t seed = 1, Tune mode = Tune::kOn,
           const TuneRules& rules = {})
      : model_(std::move(model)), random_(seed), tuner_(mode, start, most, rules), setting_(start) {
    workers_.resize(static_cast<size_t>(most.workers));
  }

  Tuner& tuner() { return tuner_; }
  // Every text that was another one than before.
  const std::vector<std::string>& said() const { return said_; }

  // `seconds` of the job. Returns batches a second.
  double run(double seconds) {
    const double begin = now_, end = now_ + seconds * 1e3;
    const int64_t before = taken_;
    while (now_ < end) advance();
    return static_cast<double>(taken_ - before) / (now_ - begin) * 1e3;
  }
  // The consumer's next step takes so much longer.
  void pause(double seconds) { pause_ms_ = seconds * 1e3; }

 private:
  struct Worker {
    int64_t batch = -1;  // -1: it has none
    double storage_left = 0, work_left = 0;
  };
  double noisy(double ms) {
    return ms * (1 + model_.noise * std::uniform_real_distribution<double>(-1, 1)(random_));
  }

  // To the next moment at which somebody is done with something.
  void advance() {
    hand_out();
    double wanted = step_left_ > 0 ? model_.step_cpus : 0, reading = 0;
    for (const Worker& worker : workers_) {
      if (worker.batch < 0) continue;
      (worker.storage_left > 0 ? reading : wanted) += 1;
    }
    const double speed = std::min(1.0, model_.cpus(now_) / std::max(wanted, 1e-9));
    const double read_speed = std::min(1.0, model_.reads_at_once / std::max(reading, 1e-9));
    double ms = step_left_ > 0 ? step_left_ / speed : 1e9;
    for (const Worker& worker : workers_) {
      if (worker.batch < 0) continue;
      ms =
          std::min(ms, worker.storage_left > 0 ? worker.storage_left / read_speed : worker.work_left / speed);
    }
    now_ += ms;
    if (step_left_ <= 0) wait_ms_ += ms;
    step_left_ = step_left_ - ms * speed;
    for (Worker& worker : workers_) pass(worker, ms * speed, ms * read_speed);
    if (step_left_ <= kDone) take();
  }
  void hand_out() {
    for (int64_t w = 0; w < setting_.workers && opened_ - taken_ < setting_.depth; ++w) {
      Worker& worker = workers_[static_cast<size_t>(w)];
      if (worker.batch >= 0) continue;
      worker = {opened_, noisy(model_.storage(opened_)), noisy(model_.work(opened_)) + 2 * kDone};
      ++opened_;
    }
  }
  void pass(Worker& worker, double worked, double read) {
    if (worker.batch < 0) return;
    if (worker.storage_left > 0) {
      worker.storage_left -= read;
      if (worker.storage_left <= kDone) worker.storage_left = 0;
      return;
    }
    worker.work_left -= worked;
    cpu_ms_ += worked;
    if (worker.work_left > kDone) return;
    ready_[worker.batch] = true;
    worker.batch = -1;
  }
  void take() {
    step_left_ = 0;
    const auto head = ready_.find(taken_);
    if (head == ready_.end()) return;
    ready_.erase(head);
    ++taken_;
    if (tuner_.observe({.at_ns = static_cast<int64_t>(now_ * 1e6),
                        .batches = taken_,
                        .wait_ns = static_cast<int64_t>(wait_ms_ * 1e6),
                        .cpu_ns = static_cast<int64_t>(cpu_ms_ * 1e6),
                        .cpus = model_.cpus(now_)}))
      said_.push_back(tuner_.text());
    setting_ = tuner_.force();
    step_left_ = noisy(model_.step(now_)) + 2 * kDone + std::exchange(pause_ms_, 0.0);
  }

  static constexpr double kDone = 1e-6;
  Model model_;
  std::mt19937_64 random_;
  Tuner tuner_;
  TuneSetting setting_;
  std::vector<Worker> workers_;
  std::map<int64_t, bool> ready_;
  int64_t opened_ = 0, taken_ = 0;
  double now_ = 0, wait_ms_ = 0, cpu_ms_ = 0, step_left_ = 0, pause_ms_ = 0;
  std::vector<std::string> said_;
};

}  // namespace dataline::tests
