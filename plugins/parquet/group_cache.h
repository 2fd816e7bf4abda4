// Decoded row groups within a budget: those of which the most recent epoch has given every row leave first, then those that were
// used the longest ago.
//
// Ownership: an Entry belongs to the map and to the threads that look at it. Who finds none makes one in the state kDecoding
// under the lock and alone decodes it, without the lock; the others wait for the state to change, so that a group is decoded
// once however many ask. After that an entry is never written again. Leaving the map frees a group when the last thread
// that needs rows of it has let go: what is held is at most the budget, and what threads are decoding or copying rows of.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
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

  // `rows`: of each group.
  GroupCache(int64_t budget, std::vector<int64_t> rows)
      : budget_(budget), rows_(rows), left_(rows), entries_(rows.size()) {}

  struct Wanted {
    size_t number = 0;
    int64_t rows = 0;  // how many of it are read now
  };

  // Of these groups those that are here, each at its place in `out`.
  void find_ready(std::span<const Wanted> wanted, GroupRef* out) {
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < wanted.size(); ++i) {
      const Entry* entry = entries_[wanted[i].number].get();
      if (entry == nullptr || entry->state != State::kReady) continue;
      out[i] = entry->group;
      count_read(wanted[i], *entry);
    }
  }

  // One group, decoded by `decode(GroupRef*)` if it is not here. While another thread decodes it: waits, or if `busy` is
  // given, sets it and returns.
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
  };
  using EntryRef = std::shared_ptr<Entry>;

  template <typename Decode>
  Failure decode_here(const Wanted& wanted, const Decode& decode, std::unique_lock<std::mutex>& lock,
                      GroupRef* out) {
    // What may throw comes first: an entry that stayed in kDecoding would be waited for without end.
    const auto entry = std::make_shared<Entry>();
    std::list<size_t> node(1, wanted.number);
    entries_[wanted.number] = entry;
    lock.unlock();
    Failure failed;
    try {
      failed = decode(out);
    } catch (...) {
      failed.code = DL_ERR_NO_MEMORY;  // text: none, for there is no room
    }
    lock.lock();
    if (!failed) {
      entry->place = node.begin();
      recent_.splice(recent_.begin(), node);
      entry->group = *out;
      entry->state = State::kReady;
      held_ += entry->group->bytes();
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
  void count_read(const Wanted& wanted, const Entry& entry) {
    int64_t& left = left_[wanted.number];
    left -= wanted.rows;
    const bool done = left <= 0;
    if (done) left = rows_[wanted.number];
    recent_.splice(done ? recent_.end() : recent_.begin(), recent_, entry.place);
  }

  void evict() {
    while (held_ > budget_ && !recent_.empty()) {
      EntryRef& oldest = entries_[recent_.back()];
      held_ -= oldest->group->bytes();
      oldest.reset();
      recent_.pop_back();
    }
  }

  const int64_t budget_;
  std::mutex mutex_;
  std::condition_variable changed_;
  const std::vector<int64_t> rows_;
  std::vector<int64_t> left_;      // to be read in this epoch; mutex_, as all below
  std::vector<EntryRef> entries_;  // by number; null: not here
  std::list<size_t> recent_;       // numbers of the ready ones, the latest first, those that are done last
  int64_t held_ = 0;
};

}  // namespace dataline_parquet
