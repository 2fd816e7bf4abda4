// The order tables of the epochs ahead: who builds them, and that they are ready in time and the same whoever does.
// SPDX-License-Identifier: Apache-2.0
#include "core/loader/epochs.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <vector>

#include "tests/support/job.h"

namespace dataline::tests::epoch_tables_test {
namespace {

constexpr int64_t kSamples = 1000, kRuns = 100;

class Tables : public ::testing::Test {
 protected:
  Tables() {
    OrderSpec spec;
    spec.sample_count = kSamples;
    spec.shuffle = Shuffle::kFull;
    spec.seed = 7;
    spec.memory = HostMemory::create({}, 1 << 20);
    order_ = Order::create(spec).take();
    const int64_t count = EpochTables::count_for(4, kRuns);
    stride_ = (order_->table_bytes() + 63) / 64 * 64;
    memory_ = spec.memory->allocate(count * stride_, 64, MemoryKind::kArena, "tables").take();
    tables_.plan(*order_, memory_.data(), count, stride_, kRuns);
    now_ = tables_.reserve(0, true);
    tables_.ensure_ready(*now_);
  }

  // Of epoch 1, which reserve() began.
  int64_t done() { return ahead().table.done; }
  EpochTables::Entry& ahead() {
    if (ahead_ == nullptr) ahead_ = tables_.reserve(1, false);
    return *ahead_;
  }
  std::vector<int64_t> samples(const EpochTables::Entry& entry, int64_t epoch) {
    std::vector<int64_t> out(kSamples);
    order_->samples(epoch, &entry.table, 0, kSamples, out.data());
    return out;
  }

  std::unique_ptr<const Order> order_;
  int64_t stride_ = 0;
  Block memory_;
  EpochTables tables_;
  EpochTables::Entry *now_ = nullptr, *ahead_ = nullptr;
};

TEST_F(Tables, AreReadyBeforeTheEpochsEndWhoeverCalls) {
  for (int32_t run = 0; run < kRuns; ++run) {
    EXPECT_TRUE(run < kRuns * 9 / 10 || ahead().ready.load()) << "after " << run << " runs";
    tables_.work_ahead(run % 3);
  }
}

TEST_F(Tables, AreBuiltByOneThreadToWhichTheOthersLeaveTheirSlices) {
  while (done() == 0) tables_.work_ahead(1);
  const int64_t begun = done();
  tables_.work_ahead(0);
  tables_.work_ahead(2);
  EXPECT_EQ(done(), begun) << "it is thread 1 that builds";
  tables_.work_ahead(1);
  const int64_t three_slices = done() - begun;
  tables_.work_ahead(1);
  EXPECT_EQ(3 * (done() - begun - three_slices), three_slices) << "its own and those of the two others";
}

TEST_F(Tables, AreBuiltByAnotherThreadOnceTheBuilderStaysAway) {
  while (done() == 0) tables_.work_ahead(1);
  const int64_t begun = done();
  int calls = 0;
  while (done() == begun && calls < kRuns) ++calls, tables_.work_ahead(2);
  EXPECT_GT(calls, 1) << "it is waited for";
  EXPECT_LT(calls, kRuns / 10) << "but not for long";
  const int64_t taken_over = done();
  tables_.work_ahead(1);
  EXPECT_EQ(done(), taken_over) << "thread 2 builds from now on";
  tables_.work_ahead(2);
  EXPECT_GT(done(), taken_over);
}

TEST_F(Tables, HoldTheSameOrderInSlicesAndAtOnce) {
  for (int32_t run = 0; !ahead().ready.load() && run < 10 * kRuns; ++run) tables_.work_ahead(run % 4);
  const std::vector<int64_t> in_slices = samples(ahead(), 1);
  EpochTables others;
  const int64_t count = EpochTables::count_for(4, kRuns);
  std::vector<std::byte> room(static_cast<size_t>(count * stride_) + 64);
  void* at = room.data();
  size_t left = room.size();
  std::byte* const aligned =
      static_cast<std::byte*>(std::align(64, static_cast<size_t>(count * stride_), at, left));
  others.plan(*order_, aligned, count, stride_, kRuns);
  EpochTables::Entry* const at_once = others.reserve(1, false);
  others.ensure_ready(*at_once);
  EXPECT_EQ(in_slices, samples(*at_once, 1));
  EXPECT_NE(in_slices, samples(*now_, 0));
}

TEST_F(Tables, ThatAreInUseAreNotGivenToAnotherEpoch) {
  const int64_t count = EpochTables::count_for(4, kRuns);
  EXPECT_EQ(tables_.reserve(count, false), nullptr) << "epoch 0 is read";
  tables_.release(now_);
  EXPECT_NE(tables_.reserve(count, false), nullptr);
}

// The host's memory of a loader, looked at from outside: how many tables of `samples` 16-bit words have been written.
struct Arena {
  const uint16_t* words = nullptr;
  size_t count = 0;

  static void* allocate(void* context, size_t bytes, size_t alignment, int32_t kind) {
    void* memory = ::operator new (bytes, std::align_val_t{alignment}, std::nothrow);
    if (kind == DL_MEMORY_ARENA) {
      auto* self = static_cast<Arena*>(context);
      self->words = static_cast<const uint16_t*>(memory), self->count = bytes / sizeof(uint16_t);
    }
    return memory;
  }
  int64_t tables_written(int64_t samples) const {
    const auto zeros = std::count(words, words + count, 0);
    return (static_cast<int64_t>(count) - zeros + samples / 2) / samples;
  }
};

TEST(TablesOfAJob, AreThoseOfItsEpochsTheNextBeforeItIsNeededAndNoneBehindTheLast) {
  constexpr int64_t kWords = 20'000;
  const Dataset dataset = counting_dataset(kWords);
  struct Job {
    const char* epochs;
    int run;  // of them
    int64_t tables;
  };
  for (const Job& job : {Job{"1", 1, 1}, Job{"2", 1, 2}, Job{"2", 2, 2}, Job{"0", 1, 2}}) {
    Arena arena;
    dl_allocator table = {};
    table.struct_size = sizeof table;
    table.context = &arena;
    table.allocate = &Arena::allocate;
    table.release = [](void*, void* block, size_t, size_t alignment, int32_t) {
      ::operator delete (block, std::align_val_t{alignment}, std::nothrow);
    };
    const Options options = make_options(
        {{"batch_size", "10"}, {"num_workers", "0"}, {"shuffle", "full"}, {"epochs", job.epochs}});
    Error error;
    ASSERT_EQ(dl_options_set_allocator(options.get(), &table, &error), DL_OK);
    dl_loader* made = nullptr;
    ASSERT_EQ(dl_loader_create(dataset.get(), options.get(), &made, &error), DL_OK) << error.message;
    const Loader loader(made);
    EXPECT_EQ(arena.tables_written(kWords), 0);
    for (int epoch = 0; epoch < job.run; ++epoch) EXPECT_EQ(epoch_samples(loader).size(), size_t{kWords});
    EXPECT_EQ(arena.tables_written(kWords), job.tables) << job.run << " of " << job.epochs << " epochs";
  }
}

}  // namespace
}  // namespace dataline::tests::epoch_tables_test
