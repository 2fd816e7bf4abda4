// All calls of a loader at random, from 1 to 8 consumers over 0 to 4 workers: each step of a pass is delivered once and is
// right, what is held is never written, all samples are counted, and nobody waits for ever. See oracle.h. In half of the rounds workers
// stand still at any instruction besides: see paused_threads.h.
//
// Runs for DATALINE_STRESS_SECONDS; DATALINE_SEED repeats the calls of the round that failed, which is the first.
// SPDX-License-Identifier: Apache-2.0
#include <poll.h>

#include <chrono>
#include <deque>
#include <random>
#include <thread>

#include "tests/loader/stress/oracle.h"
#include "tests/loader/stress/paused_threads.h"
#include "tests/loader/stress/watchdog.h"
#include "tests/support/fresh_seed.h"

namespace dataline::tests::random_calls_test {
namespace {

constexpr double kEverydaySeconds = 15;  // in each build: plain and under either sanitizer
constexpr auto kRound = std::chrono::milliseconds(120);

class Round {
 public:
  explicit Round(uint64_t seed) : seed_(seed), random_(seed) { choose(); }

  void run() {
    SCOPED_TRACE("DATALINE_SEED=" + std::to_string(seed_) + ": " + text());
    make();
    if (loader_ == nullptr) return;
    {
      Watchdog watchdog(loader_, "DATALINE_SEED=" + std::to_string(seed_) + ": " + text());
      watchdog_ = &watchdog;
      std::optional<PausedThreads> paused;
      if (paused_) paused.emplace(seed_, static_cast<size_t>(workers_));
      end_ = std::chrono::steady_clock::now() + kRound;
      std::vector<std::thread> threads;
      for (int64_t c = 0; c < consumers_; ++c)
        threads.emplace_back([this, c] { consume(consumer_[static_cast<size_t>(c)]); });
      if (moves_) threads.emplace_back([this] { move_about(); });
      for (std::thread& thread : threads) thread.join();
    }
    if (::testing::Test::HasFatalFailure()) return;
    check();
    destroy_while_batches_come_back();
  }

 private:
  struct Held {
    Delivered batch;
    const uint64_t* data = nullptr;
  };
  struct Consumer {
    std::mt19937_64 random;
    std::vector<Seen> seen;
    std::deque<Held> held;
  };

  int64_t draw(int64_t low, int64_t high) { return draw(random_, low, high); }
  static int64_t draw(std::mt19937_64& random, int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  }

  void choose() {
    consumers_ = draw(1, 8);
    batch_ = draw(1, 16);
    samples_ = draw(batch_, 300);
    moves_ = draw(0, 2) > 0;
    with_indices_ = draw(0, 3) == 0;
    with_bad_ = !with_indices_ && draw(0, 2) == 0;
    if (with_bad_) {  // fewer bad samples than any step has, so that none is passed without a batch
      batch_ = std::max<int64_t>(batch_, 4);
      samples_ = std::max<int64_t>(samples_ / batch_, 1) * batch_;
    }
    const char* const lasts[] = {"keep", "drop", "pad"};
    last_ = lasts[draw(0, 2)];
    overflow_ = draw(0, 3) > 1 ? "copy" : draw(0, 1) == 0 ? "error" : "wait";
    job_ = {{"batch_size", std::to_string(batch_)},
            {"last_batch", last_},
            {"on_error", draw(0, 1) == 0 ? "raise" : "replace"}};
    if (!with_indices_) job_.emplace_back("shuffle", draw(0, 1) == 0 ? "none" : "full");
    workers_ = draw(0, 4);
    paused_ = workers_ > 0 && draw(0, 1) == 0;
    here_ = {{"num_workers", std::to_string(workers_)},
             {"prefetch_depth", std::to_string(draw(1, 6))},
             {"max_leases", std::to_string(draw(1, 4))},
             {"lease_overflow", overflow_}};
    with_handle_ = draw(0, 2) == 0;
  }

  std::string text() const {
    std::string text = std::to_string(samples_) + " samples, " + std::to_string(consumers_) + " consumers";
    for (const Settings& settings : {job_, here_}) {
      for (const auto& [key, value] : settings) text += ", " + key + "=" + value;
    }
    return text + (moves_ ? ", moves" : "") + (with_indices_ ? ", indices" : "") +
           (with_bad_ ? ", bad" : "") + (paused_ ? ", paused" : "");
  }

  std::vector<int64_t> rotated(int64_t by) const {
    std::vector<int64_t> indices(static_cast<size_t>(samples_));
    for (int64_t i = 0; i < samples_; ++i) indices[static_cast<size_t>(i)] = (i + by) % samples_;
    return indices;
  }

  void make() {
    reader_.fails = [this](int64_t index) {
      return with_bad_ && (index == 0 || index == samples_ / 2 || index == samples_ - 1);
    };
    reads_ = with_bad_ || draw(0, 2) == 0;
    dataset_ = reads_ ? reader_.dataset(samples_) : counting_dataset(samples_);
    Settings settings = job_;
    settings.emplace_back("num_workers", "0");
    reference_ = std::make_unique<Reference>(dataset_, make_options(settings).get());
    settings = job_;
    settings.insert(settings.end(), here_.begin(), here_.end());
    Options options = make_options(settings);
    Error error;
    if (with_indices_) {
      const std::vector<int64_t> indices = rotated(0);
      ASSERT_EQ(dl_options_set_indices(options.get(), indices.data(), samples_, nullptr, nullptr, &error),
                DL_OK);
    }
    dl_loader* made = nullptr;
    ASSERT_EQ(dl_loader_create(dataset_.get(), options.get(), &made, &error), DL_OK) << error.message;
    loader_.reset(made);
    steps_ = dl_loader_steps(made);
    if (with_handle_) {
      ASSERT_EQ(dl_loader_wait_handle(made, &handle_, &error), DL_OK);
    }
    consumer_ = std::vector<Consumer>(static_cast<size_t>(consumers_));
    for (Consumer& consumer : consumer_) consumer.random.seed(random_());
  }

  void consume(Consumer& me) {
    while (std::chrono::steady_clock::now() < end_ && !failed_.load()) {
      const int64_t what = draw(me.random, 0, 99);
      if (what < 70) {
        take(me);
      } else if (what < 90) {
        const int64_t keep = draw(me.random, 0, 3);
        while (static_cast<int64_t>(me.held.size()) > keep) give_back(me);
      } else if (what < 92) {
        EXPECT_GE(stats_of(loader_).batches, 0);
      } else if (what < 95) {
        std::string state = save_state(loader_);
        std::lock_guard lock(states_mutex_);
        states_.push_back(std::move(state));
      } else if (what < 97) {
        dl_loader_interrupt(loader_.get());
      } else if (what < 98 && with_indices_) {
        const std::vector<int64_t> indices = rotated(draw(me.random, 0, samples_ - 1));
        Error error;
        EXPECT_EQ(dl_loader_set_indices(loader_.get(), indices.data(), samples_, nullptr, nullptr, &error),
                  DL_OK)
            << error.message;
      } else if (with_handle_) {
        pollfd wanted = {static_cast<int>(handle_), POLLIN, 0};
        poll(&wanted, 1, 1);
      }
      watchdog_->moved();
      if (::testing::Test::HasFailure()) failed_.store(true);
    }
  }

  // For ever only where the other consumers' leases cannot be what it waits for.
  void take(Consumer& me) {
    const int64_t timeouts[] = {0, 100'000, 5'000'000, overflow_ == "wait" ? 5'000'000 : -1};
    const int64_t timeout = timeouts[draw(me.random, 0, 3)];
    if (draw(me.random, 0, 7) == 0) {
      const dl_status worked = dl_loader_work(loader_.get(), draw(me.random, 0, 1) * 100'000, nullptr);
      EXPECT_TRUE(worked == DL_OK || worked == DL_TIMEOUT || worked == DL_INTERRUPTED ||
                  (worked == DL_CANCELLED && moves_))
          << worked;
    }
    const int64_t before = passes_.now();
    Delivered got = next(loader_, timeout);
    Seen seen = Passes::seen_between(before, passes_.now());
    seen.status = got.status;
    seen.place = {got.epoch, got.step};
    seen.samples = static_cast<int64_t>(got.indices.size());
    seen.valid = got.valid;
    switch (got.status) {
      case DL_OK:
        check_batch(got);
        me.held.push_back({std::move(got), nullptr});
        remember_data(me.held.back());
        [[fallthrough]];
      case DL_END_OF_EPOCH:
      case DL_ERR_BAD_SAMPLE:
        me.seen.push_back(seen);
        return;
      case DL_ERR_LEASES_HELD:
        EXPECT_EQ(overflow_, "error") << got.message;
        return;
      case DL_TIMEOUT:
        EXPECT_NE(timeout, -1);
        return;
      default:
        EXPECT_TRUE(got.status == DL_INTERRUPTED || (got.status == DL_CANCELLED && moves_))
            << got.status << ": " << got.message;
    }
  }

  void check_batch(const Delivered& got) {
    ASSERT_EQ(std::vector<int64_t>(got.values.begin(), got.values.end()), got.indices);
    bool bad = false;
    std::vector<int64_t> expected = reference_->indices({got.epoch, got.step}, &bad);
    if (with_indices_ && !expected.empty()) {  // the same rotation for all rows
      const int64_t by = got.indices.empty() ? 0 : (got.indices[0] - expected[0] + samples_) % samples_;
      for (int64_t& index : expected) index = (index + by) % samples_;
    }
    EXPECT_EQ(got.indices, expected) << "epoch " << got.epoch << ", step " << got.step;
  }

  static void remember_data(Held& held) {
    int32_t count = 0;
    held.data = static_cast<const uint64_t*>(dl_batch_views(held.batch.batch.get(), &count)[0].data);
  }
  static void expect_unwritten(const Held& held) {
    const std::vector<uint64_t>& values = held.batch.values;
    EXPECT_TRUE(std::equal(values.begin(), values.end(), held.data)) << "a batch that is held was written";
  }
  static void give_back(Consumer& me) {
    const auto at = me.held.begin() + draw(me.random, 0, static_cast<int64_t>(me.held.size()) - 1);
    expect_unwritten(*at);
    me.held.erase(at);
  }

  // Seeks, loads, begins epochs and cancels, now and then.
  void move_about() {
    std::mt19937_64 random(seed_ ^ 0x6d6f7665);
    while (std::chrono::steady_clock::now() < end_ && !failed_.load()) {
      passes_.make([&] { return move(random); });
      watchdog_->moved();
      const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(draw(random, 0, 1500));
      while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
    }
  }

  std::optional<Place> move(std::mt19937_64& random) {
    Error error;
    const int64_t what = draw(random, 0, 9);
    if (what < 2) {
      EXPECT_EQ(dl_loader_begin_epoch(loader_.get(), &error), DL_OK) << error.message;
      return std::nullopt;
    }
    if (what < 4) {
      std::lock_guard lock(states_mutex_);
      if (states_.empty()) return std::nullopt;
      const std::string& state =
          states_[static_cast<size_t>(draw(random, 0, static_cast<int64_t>(states_.size()) - 1))];
      const dl_status status = dl_loader_state_load(loader_.get(), state.c_str(), &error);
      if (with_indices_ && status == DL_ERR_STATE_REFUSED) return std::nullopt;  // of indices that are gone
      EXPECT_EQ(status, DL_OK) << error.message;
      return Place{std::stoll(state.substr(state.find("\nepoch: ") + 8)),
                   std::stoll(state.substr(state.find("\nstep: ") + 7))};
    }
    if (what < 5) dl_loader_cancel(loader_.get());
    const Place to = {draw(random, 0, 5), draw(random, 0, steps_)};
    EXPECT_EQ(dl_loader_seek(loader_.get(), to.first, to.second, &error), DL_OK) << error.message;
    return to;
  }

  void check() {
    std::vector<Seen> seen;
    int64_t held = 0;
    for (Consumer& consumer : consumer_) {
      seen.insert(seen.end(), consumer.seen.begin(), consumer.seen.end());
      held += static_cast<int64_t>(consumer.held.size());
    }
    Place end;
    Error error;
    ASSERT_EQ(dl_loader_position(loader_.get(), &end.first, &end.second, &error), DL_OK);
    check_books(seen, held);
    // With on_error=replace too: of few samples, most of them bad, no draw may be a good one.
    OnceEach(passes_, steps_, std::move(seen), end, with_bad_ ? reference_.get() : nullptr).check();
  }

  void check_books(const std::vector<Seen>& all, int64_t held) {
    int64_t batches = 0, valid = 0, padded = 0, slots = 0, ends = 0;
    for (const Seen& seen : all) {
      ends += seen.status == DL_END_OF_EPOCH ? 1 : 0;
      if (seen.status != DL_OK) continue;
      ++batches, valid += seen.valid, padded += seen.samples - seen.valid;
      slots += std::min(batch_, samples_ - seen.place.second * batch_);
    }
    const dl_stats stats = stats_of(loader_);
    EXPECT_EQ(stats.batches, batches);
    EXPECT_EQ(stats.samples, valid);
    EXPECT_EQ(stats.padded, padded);
    EXPECT_EQ(stats.samples + stats.skipped, slots)
        << "delivered + skipped are the slots of the steps that were passed";
    EXPECT_EQ(stats.leases_held, held);
    const int64_t dropped = last_ == "drop" ? samples_ % batch_ : 0;
    if (moves_) {  // begin_epoch passes ends that nobody is told of
      EXPECT_GE(stats.dropped, ends * dropped);
      EXPECT_EQ(dropped == 0 ? stats.dropped : stats.dropped % dropped, 0);
    } else {
      EXPECT_EQ(stats.dropped, ends * dropped);
    }
  }

  void destroy_while_batches_come_back() {
    std::thread releaser([this] {
      while (!consumer_[0].held.empty()) give_back(consumer_[0]);
    });
    loader_.reset();
    releaser.join();
    for (Consumer& consumer : consumer_) {
      while (!consumer.held.empty()) give_back(consumer);
    }
    reference_.reset();
    dataset_.reset();
    // A worker that a busy machine kept in the reader for a second was left behind, and lets go of it later.
    while (reads_ && reader_.destroyed == 0) std::this_thread::yield();
  }

  uint64_t seed_;
  std::mt19937_64 random_;
  int64_t consumers_ = 1, workers_ = 0, batch_ = 1, samples_ = 1, steps_ = 1;
  bool moves_ = false, with_indices_ = false, with_bad_ = false, with_handle_ = false, paused_ = false;
  bool reads_ = false;
  std::string last_, overflow_;
  Settings job_, here_;
  TestReader reader_;
  Dataset dataset_;
  std::unique_ptr<Reference> reference_;
  Loader loader_;
  intptr_t handle_ = -1;
  Passes passes_;
  std::vector<Consumer> consumer_;
  std::mutex states_mutex_;
  std::vector<std::string> states_;
  std::atomic<bool> failed_{false};
  Watchdog* watchdog_ = nullptr;
  std::chrono::steady_clock::time_point end_;
};

TEST(RandomCalls, DeliverEachStepOnceAndRightAndNobodyWaitsForEver) {
  const uint64_t seed = fresh_seed();
  int64_t rounds = 0;
  for (const auto end = stress_end(kEverydaySeconds); std::chrono::steady_clock::now() < end; ++rounds) {
    Round(seed + static_cast<uint64_t>(rounds)).run();
    if (HasFailure()) return;
  }
  std::printf("%lld rounds\n", static_cast<long long>(rounds));
}

}  // namespace
}  // namespace dataline::tests::random_calls_test
