// The loops over one epoch: `for (Batch batch : loader)` and `for (Batch batch : epoch)`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/batch.hpp>
#include <dataline/error.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

namespace dataline {
inline namespace DATALINE_CPP_ABI {

class Epoch;

// An input iterator. *it is the iterator's own batch, given up when it moves on: copy it or move it out to keep it.
// `for (Batch& batch : loader)` saves the copy's counting.
class BatchIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Batch;
  using difference_type = std::ptrdiff_t;
  using pointer = Batch*;
  using reference = Batch&;
  struct End {};

  BatchIterator() noexcept = default;
  // Takes the first batch. `epoch`, if not NULL, hears how it ended; else everything but an end is a failure.
  BatchIterator(dl_loader* loader, Epoch* epoch) : loader_(loader), epoch_(epoch) { ++*this; }

  Batch& operator*() const noexcept { return batch_; }
  Batch* operator->() const noexcept { return &batch_; }
  BatchIterator& operator++() {
    batch_.reset();
    Error error;
    dl_batch* next = nullptr;
    const dl_status status = dl_loader_next(loader_, -1, &next, error.raw());
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

  dl_loader* loader_ = nullptr;
  Epoch* epoch_ = nullptr;
  mutable Batch batch_;
};

// What Loader::epoch gives: a loop that never throws and tells afterwards why it ended. For hosts without exceptions,
// and where a cancel is no failure.
//   dataline::Epoch epoch = loader.epoch();
//   for (dataline::Batch& batch : epoch) train_step(batch);
//   if (!epoch.complete()) return epoch.error();
class Epoch {
 public:
  // Made by Loader::epoch.
  Epoch(dl_loader* loader, Result<void> begun) noexcept : loader_(loader), begun_(std::move(begun)) {}

  // Once: a second loop over the same Epoch goes on where the first ended.
  BatchIterator begin() {
    if (!begun_) return BatchIterator();
    return BatchIterator(loader_, this);
  }
  BatchIterator::End end() const noexcept { return {}; }

  // The loop came to the end of its epoch. False while it runs, after a break, and at the end of the last epoch.
  bool complete() const noexcept { return status() == DL_END_OF_EPOCH; }
  // DL_OK before an end was met; DL_END_OF_EPOCH; DL_END after the last epoch; DL_CANCELLED, DL_INTERRUPTED; or an
  // error's code.
  dl_status status() const noexcept { return begun_.status(); }
  const Error& error() const noexcept { return begun_.error(); }

 private:
  friend class BatchIterator;
  dl_loader* loader_;
  Result<void> begun_;  // then how it ended
};

inline void BatchIterator::stop(dl_status status, Error& error) {
  error.finish(status);
  if (epoch_ != nullptr) {
    epoch_->begun_ = error;
  } else if (status != DL_END_OF_EPOCH && status != DL_END) {
    detail::fail(error);
  }
}

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
