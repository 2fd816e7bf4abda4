// Decoded row groups within a budget: those of which the most recent epoch has given every row leave first, then those that were
// used the longest ago.
//
// Ownership: an Entry belongs to the map and to the threads that look at it. Who finds none makes one in the state kDecoding
// under the lock and alone decodes it, without the lock; the others wait for the state to change, so that a group is decoded
// once however many ask. After that only `spent` changes, under the lock. Leaving the map frees a group when the last thread
// that needs rows of it has let go: what is held is at most the budget, and what threads are decoding or copying rows of.
//
// Read-ahead: a new group stops every batch that is near, for each has rows of it, so one thread would decode and all others
// would wait. Who would wait decodes one that is wanted next instead, as long as no group leaves that is still needed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "parquet_file.h"

namespace dataline_parquet {

inline bool is_set(const int32_t* cancelled) {
  return cancelled != nullptr && __atomic_load_n(cancelled, __ATOMIC_RELAXED) != 0;
}

class GroupCache {
 public:
  using GroupRef = std::shared_ptr<const Group>;

  struct Size {
    int64_t rows = 0;
    int64_t bytes = 0;  // about, decoded
  };

  // `sizes`: of each group.
  GroupCache(int64_t budget, std::vector<Size> sizes)
      : budget_(budget), sizes_(std::move(sizes)), entries_(sizes_.size()) {
    for (const Size& size : sizes_) left_.push_back(size.rows);
  }

  struct Wanted {
    size_t number = 0;
    int64_t rows = 0;  // how many of it are read now
  };

  // Of these groups those that are here, each at its place in `out`.
  void find_ready(std::span<const Wanted> wanted, GroupRef* out) {
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < wanted.size(); ++i) {
      Entry* const entry = entries_[wanted[i].number].get();
      if (entry == nullptr || entry->state != State::kReady) continue;
      out[i] = entry->group;
      count_read(wanted[i], *entry);
    }
  }

  // The group is wanted soon, after those of which this was said before.
  void advise(size_t number) {
    const std::lock_guard lock(mutex_);
    if (entries_[number] != nullptr) return;
    if (ahead_.size() == kMostAhead) ahead_.pop_front();
    ahead_.push_back(number);
  }

  // One group, decoded by `decode(number, GroupRef*)` if it is not here. While another thread decodes it: decodes those that
  // are wanted next and waits, or if `busy` is given, sets it and returns.
  template <typename Decode>
  Failure get(const Wanted& wanted, const int32_t* cancelled, const Decode& decode, bool* busy,
              GroupRef* out) {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (is_set(cancelled)) return failure(DL_CANCELLED, "cancelled");
      const EntryRef entry = entries_[wanted.number];
      if (entry == nullptr) return decode_here(wanted, decode, lock, out);
      if (entry->state == State::kFailed) return entry->failed;
      if (entry->state == State::kReady) {
        *out = entry->group;
        count_read(wanted, *entry);
        return {};
      }
      if (busy != nullptr) return *busy = true, Failure();
      if (const std::optional<size_t> next = next_ahead()) {
        GroupRef kept_here;
        static_cast<void>(decode_here({*next, 0}, decode, lock, &kept_here));  // who reads it is told
        continue;
      }
      changed_.wait_for(lock, std::chrono::milliseconds(20));  // looks at `cancelled` now and then
    }
  }

 private:
  enum class State { kDecoding, kReady, kFailed };
  struct Entry {
    State state = State::kDecoding;
    GroupRef group;
    Failure failed;
    std::list<size_t>::iterator place;  // in recent_, if ready
    bool spent = false;                 // every row of it was read
  };
  using EntryRef = std::shared_ptr<Entry>;

  // So many as the loader tells of at once, and those that it told of before; after a seek they are forgotten in time.
  static constexpr size_t kMostAhead = 64;

  template <typename Decode>
  Failure decode_here(const Wanted& wanted, const Decode& decode, std::unique_lock<std::mutex>& lock,
                      GroupRef* out) {
    // What may throw comes first: an entry that stayed in kDecoding would be waited for without end.
    const auto entry = std::make_shared<Entry>();
    std::list<size_t> node(1, wanted.number);
    entries_[wanted.number] = entry;
    std::erase(ahead_, wanted.number);
    const int64_t expected = sizes_[wanted.number].bytes;
    needed_ += expected;
    lock.unlock();
    Failure failed;
    try {
      failed = decode(wanted.number, out);
    } catch (...) {
      failed.code = DL_ERR_NO_MEMORY;  // text: none, for there is no room
    }
    lock.lock();
    needed_ -= expected;
    if (!failed) {
      entry->place = node.begin();
      recent_.splice(recent_.begin(), node);
      entry->group = *out;
      entry->state = State::kReady;
      held_ += entry->group->bytes();
      needed_ += entry->group->bytes();
      count_read(wanted, *entry);
      evict();
    } else if (lasts(failed.code)) {
      entry->failed = failed;
      entry->state = State::kFailed;
    } else {
      entries_[wanted.number].reset();
    }
    changed_.notify_all();
    return failed;
  }

  // What the file says stays so; what the machine or a cancelled call says does not.
  static bool lasts(dl_status code) {
    return code == DL_ERR_CORRUPT || code == DL_ERR_UNSUPPORTED || code == DL_ERR_TOO_LARGE;
  }

  // To the front, or where every row was read, to the end: an epoch reads each once.
  void count_read(const Wanted& wanted, Entry& entry) {
    int64_t& left = left_[wanted.number];
    left -= wanted.rows;
    const bool spent = left <= 0;
    if (spent) left = sizes_[wanted.number].rows;
    if (spent != entry.spent) needed_ += (spent ? -1 : 1) * entry.group->bytes();
    entry.spent = spent;
    recent_.splice(spent ? recent_.end() : recent_.begin(), recent_, entry.place);
  }

  // The first that is wanted next, is not here, and fits beside all that are still needed.
  std::optional<size_t> next_ahead() {
    while (!ahead_.empty()) {
      const size_t number = ahead_.front();
      if (entries_[number] == nullptr && sizes_[number].bytes > budget_ - needed_) return std::nullopt;
      ahead_.pop_front();
      if (entries_[number] == nullptr) return number;
    }
    return std::nullopt;
  }

  void evict() {
    while (held_ > budget_ && !recent_.empty()) {
      EntryRef& oldest = entries_[recent_.back()];
      held_ -= oldest->group->bytes();
      if (!oldest->spent) needed_ -= oldest->group->bytes();
      oldest.reset();
      recent_.pop_back();
    }
  }

  const int64_t budget_;
  std::mutex mutex_;
  std::condition_variable changed_;
  const std::vector<Size> sizes_;
  std::vector<int64_t> left_;      // rows to be read in this epoch; mutex_, as all below
  std::vector<EntryRef> entries_;  // by number; null: not here
  std::list<size_t> recent_;       // numbers of the ready ones, the latest first, those that are done last
  std::deque<size_t> ahead_;       // numbers of those that are wanted next, in order
  int64_t held_ = 0;               // bytes of the ready ones
  int64_t needed_ = 0;             // of those that are not spent, and about, of those that are decoded now
};

}  // namespace dataline_parquet
