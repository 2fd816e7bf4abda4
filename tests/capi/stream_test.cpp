// dl_loader_stream: dl_loader_next through a handle that is interrupted alone.
// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "tests/support/job.h"

namespace dataline::tests::stream_test {
namespace {

Epoch make_stream(const Loader& loader) {
  Error error;
  dl_epoch* stream = nullptr;
  EXPECT_EQ(dl_loader_stream(loader.get(), &stream, &error), DL_OK) << error.message;
  return Epoch(stream);
}

TEST(Stream, TakesWhatTheLoaderDeliversToTheEndOfTheJob) {
  for (const char* workers : {"0", "2"}) {
    const Loader loader =
        make_loader(counting_dataset(20), {{"batch_size", "10"}, {"epochs", "2"}, {"num_workers", workers}});
    const Epoch stream = make_stream(loader);
    for (int64_t epoch = 0; epoch < 2; ++epoch) {
      EXPECT_EQ(next(stream).values.front(), 0u);
      EXPECT_EQ(next(loader).values.front(), 10u);
      EXPECT_EQ(next(stream).status, DL_END_OF_EPOCH);
    }
    EXPECT_EQ(next(stream).status, DL_END);
    EXPECT_EQ(next(stream, 0).status, DL_END);
  }
}

TEST(Stream, AnInterruptEndsOneCallOfItsOwn) {
  for (const char* workers : {"0", "2"}) {
    const Loader loader = make_loader(counting_dataset(80), {{"batch_size", "10"}, {"num_workers", workers}});
    const Epoch stream = make_stream(loader), other = make_stream(loader), loop = make_epoch(loader);
    dl_epoch_interrupt(stream.get());
    EXPECT_EQ(next(loader).step, 0);
    EXPECT_EQ(next(other).step, 1);
    EXPECT_EQ(next(loop).step, 2);
    EXPECT_EQ(next(stream).status, DL_INTERRUPTED);
    EXPECT_EQ(next(stream).step, 3);
    dl_loader_interrupt(loader.get());
    EXPECT_EQ(next(stream).status, DL_INTERRUPTED);
    EXPECT_EQ(next(stream).step, 4);
  }
}

TEST(Stream, AnInterruptEndsNoOtherWait) {
  const Loader loader = make_loader(
      counting_dataset(40),
      {{"batch_size", "10"}, {"num_workers", "1"}, {"max_leases", "1"}, {"lease_overflow", "wait"}});
  Delivered held = next(loader);
  const Epoch stream = make_stream(loader), other = make_stream(loader);
  Delivered got, interrupted;
  std::thread waits([&] { got = next(other); });
  std::thread ends([&] { interrupted = next(stream); });
  dl_epoch_interrupt(stream.get());
  ends.join();
  EXPECT_EQ(interrupted.status, DL_INTERRUPTED);
  held.batch.reset();
  waits.join();
  EXPECT_EQ(got.step, 1);
}

TEST(Stream, ThatCannotBeStoredIsAnError) {
  const Loader loader = make_loader(counting_dataset(1));
  EXPECT_EQ(dl_loader_stream(loader.get(), nullptr, nullptr), DL_ERR_INVALID_ARGUMENT);
}

TEST(Stream, EndsNoLoopAndOnlyTheEndOfItsLoaderEndsIt) {
  Loader loader = make_loader(counting_dataset(80), {{"batch_size", "10"}});
  const Epoch loop = make_epoch(loader), stream = make_stream(loader);
  EXPECT_EQ(next(stream).step, 0);
  EXPECT_EQ(next(loop).step, 1);
  EXPECT_EQ(dl_loader_seek(loader.get(), 3, 5, nullptr), DL_OK);
  EXPECT_EQ(next(loop).status, DL_ERR_WRONG_STATE);
  EXPECT_EQ(next(stream).step, 5);
  EXPECT_EQ(next(make_epoch(loader)).epoch, 4);
  EXPECT_EQ(next(stream).epoch, 4);
  loader.reset();
  EXPECT_EQ(next(stream).status, DL_CANCELLED);
  dl_epoch_interrupt(stream.get());
  EXPECT_EQ(next(stream, 0).status, DL_INTERRUPTED);
}

}  // namespace
}  // namespace dataline::tests::stream_test
