// The loops over one epoch: `for (Batch batch : loader)` and `for (Batch batch : epoch)`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/batch.hpp>
#include <dataline/error.hpp>
#include <dataline/loops.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <utility>

namespace dataline {
inline namespace DATALINE_CPP_ABI {

class Epoch;

// An input iterator. *it is the iterator's own batch, released when it advances: copy it or move it out to keep it.
// `for (Batch& batch : loader)` avoids the reference counting of a copy. Copies of an iterator share one loop: each batch
// goes to one of them. Valid as long as the loader.
class BatchIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Batch;
  using difference_type = std::ptrdiff_t;
  using pointer = Batch*;
  using reference = Batch&;
  struct End {};

  BatchIterator() noexcept = default;
  // Takes the first batch. `epoch`, if not NULL, receives the result; else everything except an end is a failure.
  BatchIterator(detail::Loops* loops, uint64_t loop, Epoch* epoch)
      : loops_(loops), loop_(loop), epoch_(epoch) {
    ++*this;
  }

  Batch& operator*() const noexcept { return batch_; }
  Batch* operator->() const noexcept { return &batch_; }
  BatchIterator& operator++() {
    batch_.reset();
    Error error;
    dl_batch* next = nullptr;
    const dl_status status = loops_->next(loop_, &next, error);
    if (status == DL_OK) {
      batch_ = Batch(next);
    } else {
      stop(status, error);
    }
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const BatchIterator& at, End) noexcept { return !at.batch_; }
  friend bool operator!=(const BatchIterator& at, End) noexcept { return static_cast<bool>(at.batch_); }

 private:
  void stop(dl_status status, Error& error);

  detail::Loops* loops_ = nullptr;
  uint64_t loop_ = 0;
  Epoch* epoch_ = nullptr;
  mutable Batch batch_;
};

// The result of Loader::epoch: a loop that never throws and reports afterwards why it ended. For hosts without exceptions,
// and where a cancel is not a failure.
//   dataline::Epoch epoch = loader.epoch();
//   for (dataline::Batch& batch : epoch) train_step(batch);
//   if (!epoch.complete()) return epoch.error();
//
// Threads share it by looping over the same Epoch: every batch of the epoch goes to one of them. Query the result when all
// loops are over.
class Epoch {
 public:
  // Made by Loader::epoch.
  Epoch(detail::Loops* loops, uint64_t loop, Result<void> begun) noexcept
      : loops_(loops), loop_(loop), outcome_(std::move(begun)) {}
  Epoch(Epoch&& other) noexcept
      : loops_(other.loops_), loop_(other.loop_), outcome_(std::move(other.outcome_)) {}

  // A second loop over the same Epoch continues where the first ended.
  BatchIterator begin() {
    if (!running()) return BatchIterator();
    return BatchIterator(loops_, loop_, this);
  }
  BatchIterator::End end() const noexcept { return {}; }

  // Whether the loop reached the end of its epoch. False while it runs, after a break, and at the end of the last epoch.
  bool complete() const noexcept { return status() == DL_END_OF_EPOCH; }
  // DL_OK before the end; DL_END_OF_EPOCH; DL_END after the last epoch; DL_CANCELLED, DL_INTERRUPTED; or an
  // error's code.
  dl_status status() const noexcept { return outcome_.status(); }
  const Error& error() const noexcept { return outcome_.error(); }

 private:
  friend class BatchIterator;
  bool running() {
    const std::lock_guard<std::mutex> lock(outcome_mutex_);
    return outcome_.has_value();
  }
  // The first of the sharing threads that meets an error or the end determines the result.
  void stop(const Error& error) {
    const std::lock_guard<std::mutex> lock(outcome_mutex_);
    if (outcome_) outcome_ = error;
  }

  detail::Loops* loops_;
  uint64_t loop_;
  std::mutex outcome_mutex_;
  Result<void> outcome_;
};

inline void BatchIterator::stop(dl_status status, Error& error) {
  error.finish(status);
  if (epoch_ != nullptr) {
    epoch_->stop(error);
  } else if (status != DL_END_OF_EPOCH && status != DL_END) {
    detail::fail(error);
  }
}

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
