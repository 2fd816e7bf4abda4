// Leases: batches held, copied, refused or waited for; batches that outlive their loader.
// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "tests/support/job.h"

namespace dataline::tests::lease_test {
namespace {

TEST(Leases, AListOfAllBatchesWorksAndNothingIsOverwritten) {
  Dataset dataset = counting_dataset(1000);
  for (const char* workers : {"0", "2"}) {
    Loader loader = make_loader(dataset, {{"batch_size", "10"}, {"epochs", "1"}, {"num_workers", workers}});
    std::vector<Delivered> held;
    while (held.empty() || held.back().status == DL_OK) held.push_back(next(loader));
    ASSERT_EQ(held.size(), 101u);
    dl_stats stats = stats_of(loader);
    EXPECT_EQ(stats.lease_copies, 96) << "four in slots, the others are copies";
    EXPECT_EQ(stats.leases_held, 100);
    for (size_t b = 0; b < 100; ++b) {
      int32_t count = 0;
      const dl_view* views = dl_batch_views(held[b].batch.get(), &count);
      const auto* now = static_cast<const uint64_t*>(views[0].data);
      EXPECT_EQ(std::vector<uint64_t>(now, now + 10), held[b].values);
      EXPECT_EQ(held[b].values.front(), b * 10);
    }
  }
}

TEST(Leases, ErrorNamesCountAndOptionAndNothingIsLost) {
  Dataset dataset = counting_dataset(100);
  Loader loader =
      make_loader(dataset, {{"batch_size", "10"}, {"max_leases", "2"}, {"lease_overflow", "error"}});
  Delivered a = next(loader), b = next(loader), c = next(loader);
  EXPECT_EQ(c.status, DL_ERR_LEASES_HELD);
  EXPECT_NE(c.message.find("2 batches are held"), std::string::npos) << c.message;
  EXPECT_NE(c.message.find("max_leases"), std::string::npos) << c.message;
  a.batch.reset();
  EXPECT_EQ(next(loader).values.front(), 20u);
}

// 10^6 leases are a limit, not a plan: slots exist for some, and the others are copies while they are held.
TEST(Leases, AMillionAllowedLeasesTakeNoMemoryUntilTheyAreHeld) {
  Dataset dataset = counting_dataset(3000);
  for (const char* overflow : {"copy", "error", "wait"}) {
    Loader loader = make_loader(
        dataset,
        {{"batch_size", "1"}, {"epochs", "1"}, {"max_leases", "1000000"}, {"lease_overflow", overflow}});
    EXPECT_LT(stats_of(loader).arena_bytes, 16 << 20) << overflow;
    std::vector<Delivered> held;
    while (held.empty() || held.back().status == DL_OK) held.push_back(next(loader));
    ASSERT_EQ(held.size(), 3001u) << overflow << ": " << held.back().message;
    EXPECT_EQ(stats_of(loader).leases_held, 3000);
    for (uint64_t b = 0; b < 3000; ++b) ASSERT_EQ(held[b].values.front(), b);
  }
}

// Beyond the slots for leases the option still counts: the copies do, too.
TEST(Leases, ALimitBeyondTheSlotsForLeasesHolds) {
  Dataset dataset = counting_dataset(3000);
  const Settings job = {{"batch_size", "1"}, {"epochs", "1"}, {"max_leases", "2000"}};
  Loader refusing = make_loader(dataset, with(job, {{"lease_overflow", "error"}}));
  std::vector<Delivered> held;
  for (int i = 0; i < 2000; ++i) held.push_back(next(refusing));
  const Delivered beyond = next(refusing);
  EXPECT_EQ(beyond.status, DL_ERR_LEASES_HELD);
  EXPECT_NE(beyond.message.find("2000 batches are held"), std::string::npos) << beyond.message;
  held.pop_back();  // a copy
  EXPECT_EQ(next(refusing).values.front(), 2000u);
  held.clear();
  Loader waiting = make_loader(dataset, with(job, {{"lease_overflow", "wait"}}));
  for (int i = 0; i < 2000; ++i) held.push_back(next(waiting));
  std::thread releases([&] { held.pop_back(); });
  EXPECT_EQ(next(waiting).values.front(), 2000u) << "the release of a copy ends the wait";
  releases.join();
}

TEST(Leases, CopiesBeyondTheBudgetAreRefusedAsHeldLeases) {
  Dataset dataset = counting_dataset(100'000);
  Loader loader = make_loader(
      dataset,
      {{"batch_size", "10000"}, {"max_leases", "1"}, {"prefetch_depth", "1"}, {"memory_budget", "600KiB"}});
  std::vector<Delivered> held;
  while (held.empty() || held.back().status == DL_OK) held.push_back(next(loader));
  EXPECT_EQ(held.back().status, DL_ERR_LEASES_HELD) << held.back().message;
  EXPECT_NE(held.back().message.find("memory_budget"), std::string::npos);
  const size_t delivered = held.size() - 1;
  held.clear();
  EXPECT_EQ(next(loader).values.front(), delivered * 10'000) << "the batch waited for its turn";
}

TEST(Leases, WaitIsEndedByARelease) {
  Dataset dataset = counting_dataset(100);
  for (const char* workers : {"0", "1"}) {
    Loader loader = make_loader(
        dataset,
        {{"batch_size", "10"}, {"max_leases", "1"}, {"lease_overflow", "wait"}, {"num_workers", workers}});
    Delivered a = next(loader);
    EXPECT_EQ(next(loader, 0).status, DL_TIMEOUT);
    EXPECT_EQ(next(loader, 1'000'000).status, DL_TIMEOUT);
    std::thread releaser([&] { a.batch.reset(); });
    EXPECT_EQ(next(loader).values.front(), 10u);
    releaser.join();
  }
}

// The reader keeps the worker that fills what the seek left behind; the slot that comes back is for the other one.
TEST(Leases, ASlotGivenBackIsFilledAtOnceThoughABatchLeftBehindIsStillBeingRead) {
  std::atomic<bool> open{false}, entered{false};
  TestReader reader;
  reader.before = [&](const int64_t* indices, int64_t) {
    if (indices[0] != 1) return;
    entered.store(true);
    entered.notify_all();
    open.wait(false);
  };
  const Dataset dataset = reader.dataset(100);
  for (int round = 0; round < 5; ++round) {
    open.store(false), entered.store(false);
    const Loader loader = make_loader(
        dataset, {{"batch_size", "1"}, {"num_workers", "2"}, {"prefetch_depth", "1"}, {"max_leases", "1"}});
    Delivered held = next(loader);
    entered.wait(false);
    Error error;
    EXPECT_EQ(dl_loader_seek(loader.get(), 0, 50, &error), DL_OK) << error.message;
    EXPECT_EQ(next(loader, 5'000'000).status, DL_TIMEOUT) << "no slot is free";
    held.batch.reset();
    const Delivered got = next(loader, 20'000'000'000);
    open.store(true);
    open.notify_all();
    ASSERT_EQ(got.status, DL_OK) << got.message;
    EXPECT_EQ(got.values, (std::vector<uint64_t>{50}));
  }
}

TEST(Leases, ABatchOutlivesItsLoaderAndDataset) {
  Delivered held;
  {
    Dataset dataset = counting_dataset(100);
    Loader loader = make_loader(dataset, {{"batch_size", "50"}, {"num_workers", "2"}});
    held = next(loader);
  }
  int32_t count = 0;
  const dl_view* views = dl_batch_views(held.batch.get(), &count);
  EXPECT_EQ(static_cast<const uint64_t*>(views[0].data)[49], 49u);
}

TEST(Leases, RetainKeepsASlotUntilTheLastRelease) {
  Dataset dataset = counting_dataset(100);
  Loader loader =
      make_loader(dataset, {{"batch_size", "10"}, {"max_leases", "1"}, {"lease_overflow", "error"}});
  Delivered a = next(loader);
  dl_batch_retain(a.batch.get());
  dl_batch* other = a.batch.get();
  a.batch.reset();
  EXPECT_EQ(next(loader).status, DL_ERR_LEASES_HELD);
  dl_batch_release(other);
  EXPECT_EQ(next(loader).status, DL_OK);
}

TEST(Leases, ReleaseFromManyThreadsWhileOthersTake) {
  Dataset dataset = counting_dataset(6400);
  Loader loader = make_loader(
      dataset, {{"batch_size", "16"}, {"num_workers", "2"}, {"epochs", "4"}, {"shuffle", "full"}});
  std::atomic<int64_t> samples{0};
  std::vector<std::thread> consumers;
  for (int t = 0; t < 4; ++t) {
    consumers.emplace_back([&] {
      for (;;) {
        Delivered got = next(loader);
        if (got.status == DL_END) return;
        samples.fetch_add(static_cast<int64_t>(got.values.size()));
      }
    });
  }
  for (std::thread& consumer : consumers) consumer.join();
  EXPECT_EQ(samples.load(), 4 * 6400) << "each call got a different batch, and none was lost";
}

struct DlTensor {  // DLPack 1.1: the part of DLManagedTensorVersioned that is read here
  uint32_t major, minor;
  void* context;
  void (*deleter)(void*);
  uint64_t flags;
  void* data;
  int32_t device_type, device_id, ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};

TEST(Dlpack, ATensorHoldsItsBatchBeyondReleaseAndLoader) {
  DLManagedTensorVersioned* managed = nullptr;
  {
    Dataset dataset = counting_dataset(100);
    Loader loader = make_loader(dataset, {{"batch_size", "10"}});
    Delivered got = next(loader);
    Error error;
    ASSERT_EQ(dl_batch_dlpack_versioned(got.batch.get(), 0, &managed, &error), DL_OK) << error.message;
    DLManagedTensorVersioned* none = nullptr;
    EXPECT_EQ(dl_batch_dlpack_versioned(got.batch.get(), 5, &none, &error), DL_ERR_INVALID_ARGUMENT);
  }
  auto* tensor = reinterpret_cast<DlTensor*>(managed);
  EXPECT_EQ(tensor->major, 1u);
  EXPECT_EQ(tensor->ndim, 1);
  EXPECT_EQ(tensor->shape[0], 10);
  EXPECT_EQ(tensor->strides[0], 1);
  EXPECT_EQ(tensor->code, 1);
  EXPECT_EQ(tensor->bits, 64);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor->data) % 256, 0u);
  EXPECT_EQ(static_cast<uint64_t*>(tensor->data)[9], 9u);
  tensor->deleter(tensor);
}

}  // namespace
}  // namespace dataline::tests::lease_test
