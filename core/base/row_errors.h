// The failed rows of one run, each with its first error.
// Threads: externally synchronized. Costs nothing until a row fails.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/status.h"

namespace dataline {

struct RowError {
  int64_t row;  // within the run
  Status status;
};

class RowErrors {
 public:
  void fail(int64_t row, Status status) {
    if (!failed(row)) errors_.push_back({row, std::move(status)});
  }
  bool failed(int64_t row) const {
    for (const RowError& error : errors_) {
      if (error.row == row) return true;
    }
    return false;
  }
  bool empty() const { return errors_.empty(); }
  std::vector<RowError>& all() { return errors_; }
  const std::vector<RowError>& all() const { return errors_; }
  void clear() { errors_.clear(); }

 private:
  std::vector<RowError> errors_;
};

}  // namespace dataline
