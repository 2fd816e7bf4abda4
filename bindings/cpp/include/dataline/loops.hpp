// Loops: which loop over a loader is current, and the synchronization of loops, seeks and loads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/error.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>

namespace dataline {
inline namespace DATALINE_CPP_ABI {
namespace detail {

// A loop is one epoch. A new loop, a seek or a load ends the current loop: its next call fails, so that no batch is lost
// between two loops. All iterators of one loop share it, each batch goes to one of them, and all see its end. The library
// has one position and no notion of loops; they are identified by a number here.
//
// Threads: any. `turn_` is held by a loop inside dl_loader_next, and by an operation that ends loops, which interrupts the
// former; that loop then finds its number outdated. So no batch is taken between the end of one loop and the start of
// another. Loader::next does not take the turn: its calls are counted, and a loop that sees some checks the loader's
// position.
// Lifetime: owned by its Loader; keeps its address when the Loader is moved.
class Loops {
 public:
  explicit Loops(dl_loader* loader) noexcept : loader_(loader) {}

  // Begins a loop; *number identifies it. DL_END after the last epoch.
  dl_status begin(uint64_t* number, dl_error* error) {
    return move(
        [&](dl_error* details) {
          const dl_status status = dl_loader_begin_epoch(loader_, details);
          if (status != DL_OK) return status;
          over_ = false;
          strangers_seen_ = strangers_.load();
          *number = number_ + 1;
          int64_t step = 0;
          return dl_loader_position(loader_, &epoch_, &step, details);
        },
        error);
  }

  // `call(dl_error*)` moves the position. If it succeeds, the current loop is ended.
  template <typename Call>
  dl_status move(Call&& call, dl_error* error) {
    if (const dl_status status = forked(error); status != DL_OK) return status;
    wanted_.fetch_add(1);
    while (!turn_.try_lock()) {
      evictions_begun_.fetch_add(1);
      dl_loader_interrupt(loader_);  // ends only a wait that has begun, so repeat until the turn is free
      evictions_done_.fetch_add(1);
      std::this_thread::yield();
    }
    const std::lock_guard<std::mutex> turn(turn_, std::adopt_lock);
    wanted_.fetch_sub(1);
    const dl_status status = call(error);
    if (status == DL_OK || status == DL_END) ++number_;
    return status;
  }

  // The next batch of a loop. DL_END_OF_EPOCH to each of its iterators.
  dl_status next(uint64_t number, dl_batch** out, Error& error) {
    for (;;) {
      const Calm before = calm();
      std::unique_lock<std::mutex> turn(turn_, std::try_to_lock);
      if (!turn.owns_lock() || wanted_.load() != 0) {
        if (turn.owns_lock()) turn.unlock();
        // In a forked child the thread that holds the turn does not exist.
        if (const dl_status status = forked(error.raw()); status != DL_OK) return status;
        while (wanted_.load() != 0) std::this_thread::yield();
        turn.lock();
      }
      if (number != number_) return ended(error);
      if (over_ || taken_to_its_end()) return DL_END_OF_EPOCH;
      const dl_status status = dl_loader_next(loader_, -1, out, error.raw());
      if (status == DL_INTERRUPTED && evicted(before)) continue;
      over_ = status == DL_END_OF_EPOCH || status == DL_END;
      if (status != DL_OK || is_ours(*out)) return status;
      dl_batch_release(*out);  // a call of Loader::next took the end of the epoch at the same time
      *out = nullptr;
      ++number_;
      return ended(error);
    }
  }

  // Loader::next.
  dl_status next_of_any(int64_t timeout_ns, dl_batch** out, dl_error* error) {
    using Clock = std::chrono::steady_clock;
    strangers_.fetch_add(1);
    const Clock::time_point begin = timeout_ns > 0 ? Clock::now() : Clock::time_point();
    for (int64_t left_ns = timeout_ns;;) {
      const Calm before = calm();
      const dl_status status = dl_loader_next(loader_, left_ns, out, error);
      if (status != DL_INTERRUPTED || !evicted(before)) return status;
      if (timeout_ns <= 0) continue;
      const std::chrono::nanoseconds passed = Clock::now() - begin;
      left_ns = passed.count() < timeout_ns ? timeout_ns - passed.count() : 0;
    }
  }

  void interrupt() noexcept {
    interrupts_.fetch_add(1);
    dl_loader_interrupt(loader_);
  }

 private:
  // Interrupts so far: by move() and by the host.
  struct Calm {
    uint64_t evictions, interrupts;
  };
  Calm calm() const noexcept { return {evictions_done_.load(), interrupts_.load()}; }
  // Whether a later interrupt came from move() rather than the host. One already in progress counts.
  bool evicted(const Calm& before) const noexcept {
    return evictions_begun_.load() != before.evictions && interrupts_.load() == before.interrupts;
  }
  dl_status forked(dl_error* error) const {
    int64_t epoch = 0, step = 0;
    return dl_loader_position(loader_, &epoch, &step, error);
  }
  DATALINE_CPP_COLD static dl_status ended(Error& error) {
    error = Error(DL_ERR_WRONG_STATE,
                  "this loop's epoch was ended by another loop over the same loader (begin_epoch, seek or "
                  "load_state)");
    return DL_ERR_WRONG_STATE;
  }
  // Whether calls of Loader::next have come to the end of the loop's epoch.
  bool taken_to_its_end() {
    const uint64_t strangers = strangers_.load();
    if (strangers == strangers_seen_) return false;
    strangers_seen_ = strangers;
    int64_t epoch = epoch_, step = 0;
    over_ = dl_loader_position(loader_, &epoch, &step, nullptr) == DL_OK && epoch != epoch_;
    return over_;
  }
  bool is_ours(const dl_batch* batch) const {
    if (strangers_.load() == 0) return true;
    dl_batch_info info = {};
    info.struct_size = sizeof info;
    return dl_batch_get_info(batch, &info, nullptr) != DL_OK || info.epoch == epoch_;
  }

  dl_loader* const loader_;
  std::mutex turn_;
  // Guarded by turn_; of the current loop.
  uint64_t number_ = 0;
  int64_t epoch_ = 0;
  bool over_ = false;
  uint64_t strangers_seen_ = 0;

  std::atomic<int> wanted_{0};  // calls of move() that wait for the turn
  std::atomic<uint64_t> evictions_begun_{0}, evictions_done_{0}, interrupts_{0};
  std::atomic<uint64_t> strangers_{0};  // calls of Loader::next; counted before they can take anything
};

}  // namespace detail
}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
