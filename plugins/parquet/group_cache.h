// Decoded row groups, the most recently used ones, within a budget.
//
// Ownership: an Entry belongs to the map and to the threads that look at it. Who finds none makes one in the state kDecoding
// under the lock and alone decodes it, without the lock; the others wait for the state to change, so that a group is decoded
// once however many ask. After that an entry is never written again. Leaving the map frees a group when the last thread
// that copies rows of it has let go: what is held is at most the budget and one group for each thread that reads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "parquet_file.h"

namespace dataline_parquet {

inline bool is_set(const int32_t* cancelled) {
  return cancelled != nullptr && __atomic_load_n(cancelled, __ATOMIC_RELAXED) != 0;
}

class GroupCache {
 public:
  using GroupRef = std::shared_ptr<const Group>;

  explicit GroupCache(int64_t budget) : budget_(budget) {}

  // The group with this number, decoded by `decode(GroupRef*)` if it is not here.
  template <typename Decode>
  Failure get(int64_t number, const int32_t* cancelled, const Decode& decode, GroupRef* out) {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (is_set(cancelled)) return failure(DL_CANCELLED, "cancelled");
      const auto found = entries_.find(number);
      if (found == entries_.end()) return decode_here(number, decode, lock, out);
      const EntryRef entry = found->second;
      if (entry->state == State::kDecoding) {
        changed_.wait_for(lock, std::chrono::milliseconds(20));  // looks at `cancelled` now and then
        continue;
      }
      if (entry->state == State::kFailed) return entry->failed;
      recent_.splice(recent_.begin(), recent_, entry->place);
      *out = entry->group;
      return {};
    }
  }

 private:
  enum class State { kDecoding, kReady, kFailed };
  struct Entry {
    State state = State::kDecoding;
    GroupRef group;
    Failure failed;
    std::list<int64_t>::iterator place;  // in recent_, if ready
  };
  using EntryRef = std::shared_ptr<Entry>;

  template <typename Decode>
  Failure decode_here(int64_t number, const Decode& decode, std::unique_lock<std::mutex>& lock,
                      GroupRef* out) {
    const auto entry = std::make_shared<Entry>();
    entries_.emplace(number, entry);
    lock.unlock();
    Failure failed = decode(out);
    lock.lock();
    if (!failed) {
      recent_.push_front(number);
      entry->place = recent_.begin();
      entry->group = *out;
      entry->state = State::kReady;
      held_ += entry->group->bytes();
      evict();
    } else if (lasts(failed.code)) {
      entry->failed = failed;
      entry->state = State::kFailed;
    } else {
      entries_.erase(number);
    }
    changed_.notify_all();
    return failed;
  }

  // What the file says stays so; what the machine or a cancelled call says does not.
  static bool lasts(dl_status code) {
    return code == DL_ERR_CORRUPT || code == DL_ERR_UNSUPPORTED || code == DL_ERR_TOO_LARGE;
  }

  void evict() {
    while (held_ > budget_ && !recent_.empty()) {
      const auto oldest = entries_.find(recent_.back());
      held_ -= oldest->second->group->bytes();
      entries_.erase(oldest);
      recent_.pop_back();
    }
  }

  const int64_t budget_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::unordered_map<int64_t, EntryRef> entries_;  // mutex_, as all below
  std::list<int64_t> recent_;                      // numbers of the ready ones, the latest first
  int64_t held_ = 0;
};

}  // namespace dataline_parquet
