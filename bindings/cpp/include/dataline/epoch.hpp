// The loops over one epoch: `for (Batch batch : loader)` and `for (Batch batch : epoch)`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/batch.hpp>
#include <dataline/duration.hpp>
#include <dataline/error.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>

namespace dataline {
inline namespace DATALINE_CPP_ABI {
namespace detail {

// The last owner releases the handle, so no call on it is in progress at that time.
using SharedEpoch = std::shared_ptr<dl_epoch>;

// Throws errors. Soft results stay in the Result.
inline Result<Batch> raised(Result<Batch> got) {
  if (got.status() < 0) fail(got.error());
  return got;
}

}  // namespace detail

class Epoch;

// An input iterator. *it is the iterator's own batch, which is released when the iterator advances. To keep the
// batch, copy it or move it out. `for (Batch& batch : loader)` avoids the reference counting of a copy. Copies of
// an iterator share one loop: each batch goes to one of them. An iterator may outlive the loader; the loader's
// destruction ends the loop.
class BatchIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Batch;
  using difference_type = std::ptrdiff_t;
  using pointer = Batch*;
  using reference = Batch&;
  struct End {};

  BatchIterator() noexcept = default;
  // Takes the first batch. If `epoch` is not NULL, it receives the result and must not move. Otherwise everything
  // except an end throws.
  BatchIterator(detail::SharedEpoch loop, Epoch* epoch) : loop_(std::move(loop)), epoch_(epoch) { ++*this; }

  Batch& operator*() const noexcept { return batch_; }
  Batch* operator->() const noexcept { return &batch_; }
  BatchIterator& operator++() {
    batch_.reset();
    Error error;
    dl_batch* next = nullptr;
    const dl_status status = dl_epoch_next(loop_.get(), -1, &next, error.raw());
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

  detail::SharedEpoch loop_;
  Epoch* epoch_ = nullptr;
  mutable Batch batch_;
};

// Returned by Loader::epoch: a loop that never throws and reports afterwards why it ended. For hosts without exceptions,
// and for code that treats a cancel as a normal end.
//   dataline::Epoch epoch = loader.epoch();
//   for (dataline::Batch& batch : epoch) train_step(batch);
//   if (!epoch.complete()) return epoch.error();
//
// Threads share an epoch by looping over the same Epoch, or by calling next. Each batch goes to one of them, and
// all see its end. Read the result after all loops have ended. An Epoch may outlive the loader; the loader's
// destruction ends it.
class Epoch {
 public:
  // Called by Loader::epoch. If `begun` is an error, `loop` is empty.
  Epoch(detail::SharedEpoch loop, Result<void> begun) noexcept
      : loop_(std::move(loop)), outcome_(std::move(begun)) {}
  // No loop over `other` may be in progress.
  Epoch(Epoch&& other) noexcept : loop_(std::move(other.loop_)), outcome_(std::move(other.outcome_)) {}

  // A second loop over the same Epoch continues where the first one ended, also after an interrupt.
  BatchIterator begin() {
    if (!resume()) return BatchIterator();
    return BatchIterator(loop_, this);
  }
  BatchIterator::End end() const noexcept { return {}; }

  // Like Loader::next, but for this epoch only: at its end every caller and every later call gets DL_END_OF_EPOCH.
  // DL_ERR_WRONG_STATE: another loop, a seek or a load_state has ended it. If Loader::epoch started no loop, returns
  // status(). Any thread. Does not change the result below, which describes the loops.
  Result<Batch> next() { return detail::raised(try_next()); }
  template <typename Rep, typename Period>
  Result<Batch> next(std::chrono::duration<Rep, Period> timeout) {
    return detail::raised(try_next(timeout));
  }
  Result<Batch> try_next() { return take(-1); }
  template <typename Rep, typename Period>
  Result<Batch> try_next(std::chrono::duration<Rep, Period> timeout) {
    return take(detail::nanoseconds(timeout));
  }

  // Ends the wait of every thread that waits for a batch of this Epoch: it gets DL_INTERRUPTED, which ends its
  // loop. If no thread waits, the next call is interrupted. Any thread, also in a signal handler; never blocks.
  void interrupt() noexcept { dl_epoch_interrupt(loop_.get()); }

  // Whether the loop reached the end of its epoch. False while it runs, after a break, and if it started after the last epoch.
  bool complete() const noexcept { return status() == DL_END_OF_EPOCH; }
  // DL_OK before the end; DL_END_OF_EPOCH; DL_END after the last epoch; DL_CANCELLED, DL_INTERRUPTED; or an error
  // code.
  dl_status status() const noexcept { return outcome_.status(); }
  const Error& error() const noexcept { return outcome_.error(); }

  dl_epoch* get() const noexcept { return loop_.get(); }

 private:
  friend class BatchIterator;
  // An interrupt does not end the epoch.
  bool continues() const noexcept { return outcome_ || outcome_.status() == DL_INTERRUPTED; }
  bool resume() {
    const std::lock_guard<std::mutex> lock(outcome_mutex_);
    if (!continues()) return false;
    outcome_ = {};
    return true;
  }
  // The first thread that meets an error or the end sets the result.
  void stop(const Error& error) {
    const std::lock_guard<std::mutex> lock(outcome_mutex_);
    if (continues()) outcome_ = error;
  }
  Result<Batch> take(int64_t timeout_ns) {
    if (loop_ == nullptr && !outcome_) return outcome_.error();
    return detail::make<Batch, dl_batch>(
        [&](dl_batch** out, dl_error* error) { return dl_epoch_next(loop_.get(), timeout_ns, out, error); });
  }

  detail::SharedEpoch loop_;
  std::mutex outcome_mutex_;
  Result<void> outcome_;
};

inline void BatchIterator::stop(dl_status status, Error& error) {
  error.finish(status);
  if (epoch_ != nullptr) {
    epoch_->stop(error);
  } else if (status != DL_END_OF_EPOCH) {
    detail::fail(error);
  }
}

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
