// The progress line of an epoch (../c/progress.h), with what the loader's statistics say.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <dataline.hpp>
#include <string>
#include <utility>

extern "C" {
#include "../c/progress.h"
}

class EpochLine {
 public:
  // Of an epoch that is about to begin, or goes on after `first` steps.
  EpochLine(const dataline::Loader& loader, std::string label, int64_t first = 0)
      : loader_(loader), label_(std::move(label)), before_(loader.stats()) {
    progress_begin(&bar_, label_.c_str(), "samples", first, loader.steps());
    at_.steps = first;
  }
  EpochLine(const EpochLine&) = delete;
  EpochLine& operator=(const EpochLine&) = delete;
  ~EpochLine() { end(); }

  // Also where an error ends the epoch: what follows stands on a line of its own.
  void end() {
    if (!ended_) progress_end(&bar_, &at_);
    ended_ = true;
  }

  bool visible() const { return bar_.visible; }
  void step(std::string remark = "") {
    ++at_.steps;
    if (!bar_.visible) return;
    const dl_stats now = loader_.stats();
    remark_ = std::move(remark);
    at_.samples = now.samples - before_.samples;
    at_.waited_s = 1e-9 * static_cast<double>(now.wait_ns - before_.wait_ns);
    at_.remark = remark_.c_str();
    progress_update(&bar_, &at_);
  }

 private:
  const dataline::Loader& loader_;
  const std::string label_;
  const dl_stats before_;
  std::string remark_;
  bool ended_ = false;
  progress bar_ = {};
  progress_point at_ = {0, 0, 0.0, ""};
};
