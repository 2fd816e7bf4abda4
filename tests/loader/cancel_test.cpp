// Cancel in every state of a loader: sticky, prompt, and after a seek the stream is as if nothing had been.
// SPDX-License-Identifier: Apache-2.0
#include <condition_variable>
#include <mutex>
#include <thread>

#include "tests/support/job.h"

namespace dataline::tests::cancel_test {
namespace {

constexpr int64_t kSamples = 40, kBatch = 8;

// What next() gives from here to the end, statuses and rows.
std::vector<std::pair<dl_status, std::vector<uint64_t>>> rest_of(const Loader& loader) {
  std::vector<std::pair<dl_status, std::vector<uint64_t>>> all;
  do {
    Delivered got = next(loader);
    all.emplace_back(got.status, got.values);
  } while (all.back().first != DL_END && all.size() < 100);
  return all;
}

std::pair<int64_t, int64_t> position_of(const Loader& loader) {
  int64_t epoch = -1, step = -1;
  EXPECT_EQ(dl_loader_position(loader.get(), &epoch, &step, nullptr), DL_OK);
  return {epoch, step};
}

// Brings a loader into a state; what has to live as long as the state goes into `held`.
struct State {
  const char* name;
  Settings settings;  // besides those of every state
  std::function<void(const Loader&, std::vector<Delivered>& held)> reach;
};

void take(const Loader& loader, int count, std::vector<Delivered>& held, bool keep) {
  for (int i = 0; i < count; ++i) {
    held.push_back(next(loader));
    if (!keep) held.pop_back();
  }
}

// The epoch has 5 steps; sample 19 is bad, in step 2 of file order.
const State kStates[] = {
    {"BeforeTheFirstNext", {}, [](const Loader&, std::vector<Delivered>&) {}},
    {"AfterABatch", {}, [](const Loader& l, std::vector<Delivered>& h) { take(l, 1, h, false); }},
    {"WithBatchesHeld", {}, [](const Loader& l, std::vector<Delivered>& h) { take(l, 2, h, true); }},
    {"WithAllLeasesHeldAndCopies",
     {{"max_leases", "1"}},
     [](const Loader& l, std::vector<Delivered>& h) { take(l, 2, h, true); }},
    {"WithLeasesRefused",
     {{"max_leases", "1"}, {"lease_overflow", "error"}},
     [](const Loader& l, std::vector<Delivered>& h) {
       take(l, 1, h, true);
       EXPECT_EQ(next(l).status, DL_ERR_LEASES_HELD);
     }},
    {"WithALeaseToWaitFor",
     {{"max_leases", "1"}, {"lease_overflow", "wait"}},
     [](const Loader& l, std::vector<Delivered>& h) {
       take(l, 1, h, true);
       EXPECT_EQ(next(l, 0).status, DL_TIMEOUT);
     }},
    {"WithBadSamplesTold",
     {},
     [](const Loader& l, std::vector<Delivered>& h) {
       take(l, 2, h, false);
       EXPECT_EQ(next(l).status, DL_ERR_BAD_SAMPLE);
     }},
    {"WithTooManyBad",
     {{"max_bad", "0"}},
     [](const Loader& l, std::vector<Delivered>& h) {
       take(l, 2, h, false);
       EXPECT_EQ(next(l).status, DL_ERR_TOO_MANY_BAD);
     }},
    {"BeforeTheEndOfAnEpoch",
     {{"on_error", "replace"}},
     [](const Loader& l, std::vector<Delivered>& h) {
       take(l, 5, h, false);
       EXPECT_EQ(position_of(l), std::pair(int64_t{0}, int64_t{5}));
     }},
    {"BetweenEpochs",
     {{"on_error", "quarantine"}},
     [](const Loader& l, std::vector<Delivered>& h) { take(l, 6, h, false); }},
    {"AtTheEndOfTheJob",
     {{"on_error", "replace"}},
     [](const Loader& l, std::vector<Delivered>& h) {
       take(l, 12, h, false);
       EXPECT_EQ(next(l).status, DL_END);
     }},
    {"AfterASeek",
     {},
     [](const Loader& l, std::vector<Delivered>&) {
       EXPECT_EQ(dl_loader_seek(l.get(), 1, 3, nullptr), DL_OK);
     }},
    {"AfterAnInterrupt",
     {},
     [](const Loader& l, std::vector<Delivered>& h) {
       take(l, 1, h, false);
       dl_loader_interrupt(l.get());
     }},
    {"AfterACancel",
     {},
     [](const Loader& l, std::vector<Delivered>& h) {
       take(l, 1, h, false);
       dl_loader_cancel(l.get());
     }},
};

class CancelIn : public ::testing::TestWithParam<State> {
 protected:
  CancelIn() {
    reader_.fails = [](int64_t index) { return index == 19; };
    dataset_ = reader_.dataset(kSamples);
  }
  Loader make(const char* workers) {
    Settings settings = {{"batch_size", std::to_string(kBatch)}, {"epochs", "2"}, {"num_workers", workers}};
    settings.insert(settings.end(), GetParam().settings.begin(), GetParam().settings.end());
    return make_loader(dataset_, settings);
  }
  TestReader reader_;
  Dataset dataset_;
};

TEST_P(CancelIn, EveryNextIsCancelledUntilASeekAndThenNothingIsMissing) {
  for (const char* workers : {"0", "1", "3"}) {
    SCOPED_TRACE(workers);
    std::vector<Delivered> held;
    Loader loader = make(workers);
    GetParam().reach(loader, held);
    const auto [epoch, step] = position_of(loader);
    const dl_stats before = stats_of(loader);
    dl_loader_cancel(loader.get());
    for (int64_t timeout_ns : {int64_t{-1}, int64_t{0}, int64_t{1'000'000}}) {
      Delivered got = next(loader, timeout_ns);
      EXPECT_EQ(got.status, DL_CANCELLED);
      EXPECT_EQ(got.batch, nullptr);
    }
    EXPECT_EQ(position_of(loader), std::pair(epoch, step)) << "a cancel delivers nothing";
    EXPECT_EQ(stats_of(loader).samples, before.samples);
    for (const Delivered& one : held) {
      int32_t count = 0;
      const auto* now = static_cast<const uint64_t*>(dl_batch_views(one.batch.get(), &count)[0].data);
      EXPECT_EQ(std::vector<uint64_t>(now, now + one.values.size()), one.values) << "batches held stay";
    }
    held.clear();
    Loader twin = make("0");
    ASSERT_EQ(dl_loader_seek(twin.get(), epoch, step, nullptr), DL_OK);
    Error error;
    ASSERT_EQ(dl_loader_seek(loader.get(), epoch, step, &error), DL_OK) << error.message;
    if (GetParam().name == std::string("WithTooManyBad")) {
      EXPECT_EQ(next(loader).status, DL_ERR_TOO_MANY_BAD) << "the job does not creep on";
    } else {
      EXPECT_EQ(rest_of(loader), rest_of(twin));
    }
  }
}

TEST_P(CancelIn, DestroyRightAfterItEndsAtOnceAndBatchesOutliveIt) {
  for (const char* workers : {"0", "1", "3"}) {
    std::vector<Delivered> held;
    Loader loader = make(workers);
    GetParam().reach(loader, held);
    dl_loader_cancel(loader.get());
    loader.reset();
    for (const Delivered& one : held) {
      int32_t count = 0;
      EXPECT_EQ(*static_cast<const uint64_t*>(dl_batch_views(one.batch.get(), &count)[0].data),
                one.values.front());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Every, CancelIn, ::testing::ValuesIn(kStates),
                         [](const auto& one) { return std::string(one.param.name); });

// A consumer that waits for a lease that nobody gives back is woken as well.
TEST(Cancel, EndsAWaitForALease) {
  Dataset dataset = counting_dataset(100);
  for (const char* workers : {"0", "1"}) {
    Loader loader = make_loader(
        dataset,
        {{"batch_size", "10"}, {"max_leases", "1"}, {"lease_overflow", "wait"}, {"num_workers", workers}});
    Delivered held = next(loader);
    std::thread other([&] { dl_loader_cancel(loader.get()); });
    EXPECT_EQ(next(loader).status, DL_CANCELLED);
    other.join();
    EXPECT_EQ(next(loader).status, DL_CANCELLED);
  }
}

// With num_workers=0 the caller is inside of the reader when another thread cancels: the call returns after the read.
TEST(Cancel, EndsACallThatLoadsItsBatchItself) {
  std::mutex mutex;
  std::condition_variable changed;
  bool inside = false, cancelled = false;
  TestReader reader;
  reader.before = [&](const int64_t*, int64_t) {
    std::unique_lock lock(mutex);
    inside = true;
    changed.notify_all();
    changed.wait(lock, [&] { return cancelled; });
  };
  Dataset dataset = reader.dataset(100);
  Loader loader = make_loader(dataset, {{"batch_size", "100"}, {"num_workers", "0"}});
  std::thread other([&] {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return inside; });
    dl_loader_cancel(loader.get());
    cancelled = true;
    changed.notify_all();
  });
  EXPECT_EQ(next(loader).status, DL_CANCELLED);
  other.join();
  ASSERT_EQ(dl_loader_seek(loader.get(), 0, 0, nullptr), DL_OK);
  EXPECT_EQ(next(loader).values.size(), 100u);
}

}  // namespace
}  // namespace dataline::tests::cancel_test
