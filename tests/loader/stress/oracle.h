// What several consumers of one loader may see while others move it: between two moves ("a pass") every step is delivered
// once and none is missing, and each is what a loader without threads makes of it.
//
// A call that overlaps a move may belong to the pass before it or to the one after: it fills a gap, and proves none.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tests/support/job.h"

namespace dataline::tests {

using Place = std::pair<int64_t, int64_t>;  // epoch, step

// What next() returned, and the passes that it may belong to.
struct Seen {
  int64_t first_pass = 0, last_pass = 0;
  dl_status status = DL_OK;  // of a batch, the end of an epoch, or a step told as bad
  Place place;               // of a batch
  int64_t samples = 0, valid = 0;
  bool certain() const { return first_pass == last_pass; }
};

// Counts moves: odd while one is in progress.
class Passes {
 public:
  int64_t now() const { return count_.load(); }
  static Seen seen_between(int64_t before, int64_t after) {
    Seen seen;
    seen.first_pass = before / 2, seen.last_pass = (after + 1) / 2;
    return seen;
  }
  // `move` returns where the next pass starts, if that is known.
  template <typename Move>
  void make(Move move) {
    std::lock_guard lock(mutex_);
    count_.fetch_add(1);
    starts_.push_back(move());
    count_.fetch_add(1);
  }
  const std::vector<std::optional<Place>>& starts() const { return starts_; }

 private:
  std::atomic<int64_t> count_{0};
  std::mutex mutex_;
  std::vector<std::optional<Place>> starts_{Place{0, 0}};
};

// The batches of a job by place, from a loader of the same options without threads.
class Reference {
 public:
  Reference(const Dataset& dataset, const dl_options* options) {
    Error error;
    dl_loader* made = nullptr;
    EXPECT_EQ(dl_loader_create(dataset.get(), options, &made, &error), DL_OK) << error.message;
    loader_.reset(made);
  }
  std::vector<int64_t> indices(Place at, bool* bad) {
    std::lock_guard lock(mutex_);
    auto& known = known_[at];
    if (!known.second) {
      Error error;
      EXPECT_EQ(dl_loader_seek(loader_.get(), at.first, at.second, &error), DL_OK) << error.message;
      Delivered got = next(loader_);
      bad_[at] = got.status == DL_ERR_BAD_SAMPLE;
      if (bad_[at]) got = next(loader_);
      EXPECT_EQ(got.status, DL_OK) << got.message;
      known = {got.indices, true};
    }
    *bad = bad_[at];
    return known.first;
  }
  bool is_bad(Place at) {
    bool bad = false;
    indices(at, &bad);
    return bad;
  }

 private:
  std::mutex mutex_;
  Loader loader_;
  std::map<Place, std::pair<std::vector<int64_t>, bool>> known_;
  std::map<Place, bool> bad_;
};

// Every step of every pass once. `end`: where the loader stands after the last pass. `reference`: to know which steps
// have to be told as bad; null: none.
class OnceEach {
 public:
  OnceEach(const Passes& passes, int64_t steps, std::vector<Seen> seen, Place end, Reference* reference)
      : passes_(passes), steps_(steps), seen_(std::move(seen)), end_(end), reference_(reference) {}

  void check() {
    const auto count = static_cast<int64_t>(passes_.starts().size());
    for (int64_t pass = 0; pass < count; ++pass) {
      SCOPED_TRACE("pass " + std::to_string(pass) + " of " + std::to_string(count));
      check_pass(pass, pass + 1 == count);
    }
  }

 private:
  // The end of an epoch has a place too, after its last step.
  int64_t number(Place at) const { return at.first * (steps_ + 1) + at.second; }
  Place place(int64_t number) const { return {number / (steps_ + 1), number % (steps_ + 1)}; }

  void check_pass(int64_t pass, bool is_last) {
    std::set<int64_t> certain;
    int64_t ends = 0, told = 0, maybe_ends = 0, maybe_told = 0, maybe_batches = 0;
    for (const Seen& seen : seen_) {
      if (seen.first_pass > pass || seen.last_pass < pass) continue;
      if (seen.status == DL_END_OF_EPOCH) ++(seen.certain() ? ends : maybe_ends);
      if (seen.status == DL_ERR_BAD_SAMPLE) ++(seen.certain() ? told : maybe_told);
      if (seen.status != DL_OK) continue;
      if (!seen.certain()) {
        ++maybe_batches;
        continue;
      }
      ASSERT_TRUE(certain.insert(number(seen.place)).second)
          << "epoch " << seen.place.first << ", step " << seen.place.second << " was delivered twice";
    }
    const std::optional<Place> start = passes_.starts()[static_cast<size_t>(pass)];
    if (certain.empty() && !(is_last && start)) return;
    const int64_t first = start ? number(*start) : *certain.begin();
    const int64_t last = is_last ? number(end_) - 1 : *certain.rbegin();
    if (!certain.empty()) {
      ASSERT_GE(*certain.begin(), first) << "delivered before the pass's start";
      ASSERT_LE(*certain.rbegin(), last) << "delivered, and the position is before it";
    }
    int64_t ends_due = 0, told_due = 0;
    for (int64_t at = first; at <= last; ++at) {
      if (place(at).second == steps_) {
        ++ends_due;
      } else {
        told_due += reference_ != nullptr && reference_->is_bad(place(at)) ? 1 : 0;
        ASSERT_TRUE(certain.contains(at) || take_uncertain(pass, at))
            << "epoch " << place(at).first << ", step " << place(at).second << " is missing";
      }
    }
    // One more of either may come after the last step that is known and before the first, and for each step that may be
    // of this pass.
    const int64_t unknown = (start ? 0 : 1) + maybe_batches;
    ASSERT_LE(ends, ends_due + (is_last ? 0 : 1) + unknown) << "ends of epochs";
    ASSERT_LE(told, told_due + 1 + unknown) << "steps told as bad";
    if (!start) return;
    ASSERT_GE(ends + maybe_ends, ends_due) << "ends of epochs";
    ASSERT_GE(told + maybe_told, told_due) << "steps told as bad";
  }

  // Of those that would do, the one that later passes can make least of.
  bool take_uncertain(int64_t pass, int64_t at) {
    Seen* best = nullptr;
    for (Seen& seen : seen_) {
      if (seen.certain() || seen.status != DL_OK || number(seen.place) != at) continue;
      if (seen.first_pass > pass || seen.last_pass < pass) continue;
      if (best == nullptr || seen.last_pass < best->last_pass) best = &seen;
    }
    if (best == nullptr) return false;
    best->status = DL_TIMEOUT;  // it fills one gap
    return true;
  }

  const Passes& passes_;
  int64_t steps_;
  std::vector<Seen> seen_;
  Place end_;
  Reference* reference_;
};

}  // namespace dataline::tests
