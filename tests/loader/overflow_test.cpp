// A batch beyond max_leases is copied while nobody else has to wait for it, and belongs to one consumer all the time.
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <new>
#include <thread>

#include "tests/support/job.h"

namespace dataline::tests::overflow_test {
namespace {

constexpr int32_t kOverflow = DL_MEMORY_OVERFLOW;

// The host's memory for copies, which can be held up or refused. What is held up goes on by itself after a while, so that
// a loader that waits for it fails the test instead of hanging.
class HeldUpMemory {
 public:
  dl_allocator table() {
    dl_allocator allocator = {};
    allocator.struct_size = sizeof allocator;
    allocator.context = this;
    allocator.allocate = [](void* context, size_t bytes, size_t alignment, int32_t kind) -> void* {
      auto* self = static_cast<HeldUpMemory*>(context);
      if (kind == kOverflow && !self->pass()) return nullptr;
      return ::operator new (bytes, std::align_val_t{alignment}, std::nothrow);
    };
    allocator.release = [](void*, void* memory, size_t, size_t alignment, int32_t) {
      ::operator delete (memory, std::align_val_t{alignment}, std::nothrow);
    };
    return allocator;
  }
  void hold_up() { set(false, true); }
  void let_go(bool refuse = false) { set(true, !refuse); }
  void until_someone_is_held_up() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return held_up_ > 0; });
  }
  bool held_up() {
    std::lock_guard lock(mutex_);
    return held_up_ > 0;
  }

 private:
  bool pass() {
    std::unique_lock lock(mutex_);
    ++held_up_;
    changed_.notify_all();
    changed_.wait_for(lock, std::chrono::seconds(10), [&] { return open_; });
    --held_up_;
    return grant_;
  }
  void set(bool open, bool grant) {
    std::lock_guard lock(mutex_);
    open_ = open, grant_ = grant;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true, grant_ = true;
  int held_up_ = 0;
};

struct Shape {
  const char *name, *workers, *depth;
  bool reader;  // whose records a consumer that waits never reads itself
};

class Overflow : public ::testing::TestWithParam<Shape> {
 protected:
  // One batch is held, and another thread waits for memory for a copy of the next one.
  void SetUp() override {
    Options options = make_options({{"batch_size", "10"},
                                    {"max_leases", "1"},
                                    {"prefetch_depth", GetParam().depth},
                                    {"num_workers", GetParam().workers}});
    const dl_allocator table = memory_.table();
    dataset_ = GetParam().reader ? reader_.dataset(100) : counting_dataset(100);
    Error error;
    ASSERT_EQ(dl_options_set_allocator(options.get(), &table, &error), DL_OK);
    dl_loader* made = nullptr;
    ASSERT_EQ(dl_loader_create(dataset_.get(), options.get(), &made, &error), DL_OK) << error.message;
    loader_.reset(made);
    held_ = next(loader_);
    memory_.hold_up();
    copier_ = std::thread([this] { copied_ = next(loader_); });
    memory_.until_someone_is_held_up();
  }
  void TearDown() override {
    if (!copier_.joinable()) return;
    memory_.let_go();
    copier_.join();
  }
  // After finish(): another thread waits for memory for a copy of the next batch of `loop`.
  void copy_for(const Epoch& loop) {
    copied_.batch.reset();
    memory_.hold_up();
    copier_ = std::thread([this, &loop] { copied_ = next(loop); });
    memory_.until_someone_is_held_up();
  }
  const Delivered& finish(bool refuse = false) {
    memory_.let_go(refuse);
    copier_.join();
    return copied_;
  }
  void seek(int64_t epoch, int64_t step) {
    Error error;
    ASSERT_EQ(dl_loader_seek(loader_.get(), epoch, step, &error), DL_OK) << error.message;
  }

  HeldUpMemory memory_;
  TestReader reader_;
  Dataset dataset_;
  Loader loader_;
  Delivered held_, copied_;
  std::thread copier_;
};

TEST_P(Overflow, OtherCallsDoNotWaitForTheCopy) {
  EXPECT_EQ(stats_of(loader_).batches, 1);
  save_state(loader_);
  dl_loader_interrupt(loader_.get());
  EXPECT_EQ(next(loader_).status, DL_INTERRUPTED);
  held_.batch.reset();
  EXPECT_TRUE(memory_.held_up()) << "the calls above came back while the copy had no memory";
  const Delivered& copied = finish();
  EXPECT_EQ(copied.status, DL_OK) << copied.message;
  EXPECT_EQ(copied.values.front(), 10u);
  EXPECT_EQ(next(loader_).values.front(), 20u);
}

TEST_P(Overflow, AnotherConsumerGetsTheBatchAfterIt) {
  Delivered after;
  std::thread other([&] { after = next(loader_); });
  const Delivered& copied = finish();
  other.join();
  EXPECT_EQ(copied.step + after.step, 1 + 2);
  EXPECT_EQ(copied.values.front() + after.values.front(), 10u + 20u);
}

TEST_P(Overflow, ASeekMeanwhileLeavesItBehind) {
  seek(2, 5);
  EXPECT_TRUE(memory_.held_up());
  const Delivered& copied = finish();
  EXPECT_EQ(copied.status, DL_OK) << copied.message;
  EXPECT_EQ(copied.epoch, 2);
  EXPECT_EQ(copied.values.front(), 50u) << "the first batch of the place that was sought";
  EXPECT_EQ(next(loader_).values.front(), 60u);
  EXPECT_EQ(stats_of(loader_).batches, 3) << "what was left behind is not in the books";
}

TEST_P(Overflow, ManySeeksMeanwhileFindEverySlotAgain) {
  for (int64_t step = 0; step < 9; ++step) seek(1, step);
  EXPECT_TRUE(memory_.held_up());
  EXPECT_EQ(finish().values.front(), 80u);
  held_.batch.reset();
  copied_.batch.reset();
  for (int64_t i = 0; i < 30; ++i) {
    const Delivered got = next(loader_, 60'000'000'000);
    ASSERT_TRUE(got.status == DL_OK || got.status == DL_END_OF_EPOCH) << got.message;
  }
}

TEST_P(Overflow, NoMemoryForItIsAnErrorAndTheBatchStaysNext) {
  const Delivered& copied = finish(/*refuse=*/true);
  EXPECT_EQ(copied.status, DL_ERR_NO_MEMORY) << copied.message;
  memory_.let_go();
  EXPECT_EQ(stats_of(loader_).batches, 1);
  EXPECT_EQ(next(loader_).values.front(), 10u);
  held_.batch.reset();
  EXPECT_EQ(next(loader_).values.front(), 20u);
}

TEST_P(Overflow, WithoutMemoryAfterASeekItGoesOnThere) {
  seek(1, 3);
  held_.batch.reset();
  const Delivered& copied = finish(/*refuse=*/true);
  EXPECT_EQ(copied.status, DL_OK) << "the slot is free again, and no copy is needed";
  EXPECT_EQ(copied.values.front(), 30u);
}

TEST_P(Overflow, ABatchForALoopThatEndsMeanwhileGoesToTheNextConsumer) {
  finish();
  for (const bool refuse : {false, true}) {
    const Epoch older = make_epoch(loader_);
    copy_for(older);
    const int64_t batches = stats_of(loader_).batches;
    const Epoch newer = make_epoch(loader_);  // the same epoch again: nothing of it was taken
    EXPECT_TRUE(memory_.held_up());
    EXPECT_EQ(finish(refuse).status, DL_ERR_WRONG_STATE) << copied_.message;
    EXPECT_EQ(copied_.batch, nullptr);
    EXPECT_EQ(stats_of(loader_).batches, batches);
    EXPECT_EQ(stats_of(loader_).leases_held, 1);
    memory_.let_go();
    for (uint64_t step = 0; step < 10; ++step) EXPECT_EQ(next(newer).values.front(), step * 10);
    EXPECT_EQ(next(newer).status, DL_END_OF_EPOCH);
  }
}

TEST_P(Overflow, ASeekMeanwhileEndsTheLoopAndLeavesTheBatchBehind) {
  finish();
  const Epoch loop = make_epoch(loader_);
  copy_for(loop);
  seek(2, 5);
  EXPECT_EQ(finish().status, DL_ERR_WRONG_STATE) << copied_.message;
  EXPECT_EQ(next(loader_).values.front(), 50u);
}

// With a depth of 1 the slot that is copied is the only one that a seek could load into.
INSTANTIATE_TEST_SUITE_P(Shapes, Overflow,
                         ::testing::Values(Shape{"NoWorkers", "0", "3", false},
                                           Shape{"Workers", "2", "3", false},
                                           Shape{"OneSlotAndAReader", "1", "1", true}),
                         [](const auto& shape) { return std::string(shape.param.name); });

}  // namespace
}  // namespace dataline::tests::overflow_test
