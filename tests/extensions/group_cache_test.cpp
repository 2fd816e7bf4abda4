// The cache of decoded row groups of libdataline-parquet, with groups that are decoded by the test: who decodes what, and when.
// SPDX-License-Identifier: Apache-2.0
#include "plugins/parquet/group_cache.h"

#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <map>
#include <thread>

namespace dataline_parquet::group_cache_test {
namespace {

using GroupRef = GroupCache::GroupRef;

constexpr int64_t kRows = 8;
constexpr int64_t kBytes = 100;  // of a group

class EmptyGroup final : public Group {
 public:
  int64_t bytes() const override { return kBytes; }
  const uint8_t* plain(size_t) const override { return nullptr; }
  size_t find(size_t, std::span<const int64_t>, Found*, Failure*) const override { return 0; }
};

// A cache of 6 groups with room for some, and what is decoded for it.
class Decoded {
 public:
  explicit Decoded(int64_t room) : cache(room * kBytes, std::vector<GroupCache::Size>(6, {kRows, kBytes})) {}

  // Reads `rows` of group `number`.
  Failure read(size_t number, int64_t rows = 1) {
    const auto decode = [this](size_t which, GroupRef* out) -> Failure {
      std::function<Failure()> first;
      {
        const std::lock_guard lock(mutex_);
        order_.push_back(which);
        if (const auto found = before_.find(which); found != before_.end()) first = found->second;
      }
      if (first) {
        if (Failure failed = first()) return failed;
      }
      *out = std::make_shared<EmptyGroup>();
      return {};
    };
    GroupRef out;
    return cache.get({number, rows}, nullptr, decode, nullptr, &out);
  }
  bool is_ready(size_t number) {
    GroupRef out;
    const GroupCache::Wanted wanted[] = {{number, 0}};
    cache.find_ready(wanted, &out);
    return out != nullptr;
  }
  // What decoding it begins with.
  void before(size_t number, std::function<Failure()> what) { before_[number] = std::move(what); }
  std::vector<size_t> order() {
    const std::lock_guard lock(mutex_);
    return order_;
  }

  GroupCache cache;

 private:
  std::mutex mutex_;
  std::vector<size_t> order_;
  std::map<size_t, std::function<Failure()>> before_;
};

// Group 0 is decoded by one thread, which ends when another that also wants it has decoded `last`.
void read_from_two_threads(Decoded& decoded, size_t last) {
  std::promise<void> begun, done;
  decoded.before(0, [&] {
    begun.set_value();
    done.get_future().wait();
    return Failure();
  });
  decoded.before(last, [&] {
    done.set_value();
    return Failure();
  });
  std::thread first([&] { EXPECT_FALSE(decoded.read(0)); });
  begun.get_future().wait();
  EXPECT_FALSE(decoded.read(0));
  first.join();
}

TEST(GroupCacheAhead, WhoWouldWaitDecodesWhatIsWantedNextInOrder) {
  Decoded decoded(6);
  for (const size_t number : {3, 1, 4}) decoded.cache.advise(number);
  read_from_two_threads(decoded, 4);
  EXPECT_EQ(decoded.order(), (std::vector<size_t>{0, 3, 1, 4}));
  for (const size_t number : {0, 1, 3, 4}) EXPECT_TRUE(decoded.is_ready(number));
  EXPECT_FALSE(decoded.read(3, kRows));
  EXPECT_EQ(decoded.order().size(), 4u) << "read, not decoded again";
}

TEST(GroupCacheAhead, NothingLeavesThatIsStillNeeded) {
  Decoded decoded(4);
  for (const size_t number : {1, 2}) EXPECT_FALSE(decoded.read(number));
  for (const size_t number : {3, 4, 5}) decoded.cache.advise(number);
  read_from_two_threads(decoded, 3);  // 0, 1, 2 and 3 fill it
  for (const size_t number : {0, 1, 2, 3}) EXPECT_TRUE(decoded.is_ready(number));
  EXPECT_FALSE(decoded.is_ready(4));
}

TEST(GroupCacheAhead, AGroupOfWhichEveryRowWasReadMakesRoom) {
  Decoded decoded(3);
  EXPECT_FALSE(decoded.read(1, kRows));
  EXPECT_FALSE(decoded.read(2, kRows - 1));
  decoded.cache.advise(3);
  read_from_two_threads(decoded, 3);
  EXPECT_FALSE(decoded.is_ready(1));
  for (const size_t number : {0, 2, 3}) EXPECT_TRUE(decoded.is_ready(number));
}

TEST(GroupCacheAhead, AGroupThatWasDecodedMeanwhileIsNotDecodedAgain) {
  Decoded decoded(2);
  for (const size_t number : {1, 2, 3}) decoded.cache.advise(number);
  for (const size_t number : {1, 2}) EXPECT_FALSE(decoded.read(number, kRows));
  read_from_two_threads(decoded, 3);
  EXPECT_EQ(decoded.order(), (std::vector<size_t>{1, 2, 0, 3}));
}

TEST(GroupCacheAhead, WhatGoesWrongIsToldToWhoReadsIt) {
  Decoded decoded(6);
  for (const size_t number : {1, 2, 3}) decoded.cache.advise(number);
  int tries = 0;
  decoded.before(1, [] { return failure(DL_ERR_CORRUPT, "bad pages"); });
  decoded.before(2, [&] { return ++tries == 1 ? failure(DL_ERR_IO, "a moment") : Failure(); });
  read_from_two_threads(decoded, 3);
  EXPECT_EQ(decoded.read(1).text, "bad pages");
  EXPECT_FALSE(decoded.read(2)) << "tried again";
  EXPECT_EQ(tries, 2);
}

TEST(GroupCacheAhead, OfMoreThanItNotesTheOldestAreForgotten) {
  std::vector<GroupCache::Size> sizes(200, {kRows, kBytes});
  GroupCache cache(200 * kBytes, sizes);
  for (size_t number = 1; number < 200; ++number) cache.advise(number);
  std::promise<void> begun, done;
  std::vector<size_t> ahead;
  const auto decode = [&](size_t number, GroupRef* out) -> Failure {
    if (number == 0) {
      begun.set_value();
      done.get_future().wait();
    } else {
      ahead.push_back(number);
      if (number == 199) done.set_value();
    }
    *out = std::make_shared<EmptyGroup>();
    return {};
  };
  GroupRef first, second;
  std::thread other([&] { EXPECT_FALSE(cache.get({0, 1}, nullptr, decode, nullptr, &first)); });
  begun.get_future().wait();
  EXPECT_FALSE(cache.get({0, 1}, nullptr, decode, nullptr, &second));
  other.join();
  ASSERT_EQ(ahead.size(), 64u);
  EXPECT_EQ(ahead.front(), 136u);
}

}  // namespace
}  // namespace dataline_parquet::group_cache_test
