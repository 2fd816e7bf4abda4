// dl_epoch beyond tests/languages/loops: its messages, its life after the loader, calls that fail, readers that interrupt.
// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "tests/support/job.h"

namespace dataline::tests::epoch_test {
namespace {

constexpr const char* kEnded =
    "this epoch was ended by a newer one, a seek, a loaded state or the end of its loader";

void expect_ended(const Epoch& epoch) {
  for (const int64_t timeout_ns : {int64_t{-1}, int64_t{0}, int64_t{1'000'000}}) {
    const Delivered got = next(epoch, timeout_ns);
    EXPECT_EQ(got.status, DL_ERR_WRONG_STATE);
    EXPECT_EQ(got.message, kEnded);
    EXPECT_EQ(got.batch, nullptr);
  }
}

// A dl_loader_epoch that begins nothing.
void expect_none(const Loader& loader, dl_status expected) {
  const Epoch other = make_epoch(make_loader(counting_dataset(1)));
  dl_epoch* out = other.get();
  EXPECT_EQ(dl_loader_epoch(loader.get(), &out, nullptr), expected);
  EXPECT_EQ(out, nullptr);
}

std::pair<int64_t, int64_t> position_of(const Loader& loader) {
  std::pair<int64_t, int64_t> at;
  EXPECT_EQ(dl_loader_position(loader.get(), &at.first, &at.second, nullptr), DL_OK);
  return at;
}

TEST(Epoch, IsEndedWithOneMessageWhateverEndsIt) {
  struct Case {
    const char* name;
    void (*end)(Loader& loader, const std::string& state);
  };
  const Case cases[] = {
      {"a newer epoch", [](Loader& loader, const std::string&) { make_epoch(loader); }},
      {"begin_epoch",
       [](Loader& loader, const std::string&) {
         EXPECT_EQ(dl_loader_begin_epoch(loader.get(), nullptr), DL_OK);
       }},
      {"a seek to where it is",
       [](Loader& loader, const std::string&) {
         EXPECT_EQ(dl_loader_seek(loader.get(), 0, 1, nullptr), DL_OK);
       }},
      {"a loaded state",
       [](Loader& loader, const std::string& state) {
         EXPECT_EQ(dl_loader_state_load(loader.get(), state.c_str(), nullptr), DL_OK);
       }},
      {"the end of its loader", [](Loader& loader, const std::string&) { loader.reset(); }},
  };
  const Dataset dataset = counting_dataset(40);
  for (const Case& one : cases) {
    for (const char* workers : {"0", "2"}) {
      SCOPED_TRACE(one.name);
      Loader loader = make_loader(dataset, {{"batch_size", "10"}, {"num_workers", workers}});
      const Epoch epoch = make_epoch(loader);
      EXPECT_EQ(next(epoch).status, DL_OK);
      one.end(loader, save_state(loader));
      expect_ended(epoch);
    }
  }
}

TEST(Epoch, AnInterruptOrAReleaseIsFineWhenTheLoaderIsGone) {
  Loader loader = make_loader(counting_dataset(20), {{"batch_size", "10"}});
  const Epoch finished = make_epoch(loader);
  while (next(finished).status == DL_OK) {
  }
  Epoch epoch = make_epoch(loader);
  const Delivered held = next(epoch);
  dl_epoch_interrupt(epoch.get());
  loader.reset();
  EXPECT_EQ(next(epoch).status, DL_INTERRUPTED) << "from before";
  expect_ended(epoch);
  dl_epoch_interrupt(epoch.get());
  EXPECT_EQ(next(epoch, 0).status, DL_INTERRUPTED);
  expect_ended(epoch);
  epoch.reset();
  EXPECT_EQ(next(finished, 0).status, DL_END_OF_EPOCH) << "it was over before";
  EXPECT_EQ(held.values.front(), 0u);
}

TEST(Epoch, ThatIsFinishedSaysSoWhateverTheTimeOut) {
  const Loader loader = make_loader(counting_dataset(20), {{"batch_size", "10"}, {"num_workers", "2"}});
  const Epoch epoch = make_epoch(loader);
  while (next(epoch).status == DL_OK) {
  }
  dl_loader_cancel(loader.get());
  for (const int64_t timeout_ns : {int64_t{0}, int64_t{1'000'000}, int64_t{-1}})
    EXPECT_EQ(next(epoch, timeout_ns).status, DL_END_OF_EPOCH);
  EXPECT_EQ(position_of(loader), std::pair(int64_t{1}, int64_t{0}));
}

TEST(Epoch, AfterTheLastOneThereIsNone) {
  const Loader loader = make_loader(counting_dataset(20), {{"batch_size", "10"}, {"epochs", "1"}});
  const Epoch epoch = make_epoch(loader);
  while (next(epoch).status == DL_OK) {
  }
  expect_none(loader, DL_END);
  EXPECT_EQ(next(epoch).status, DL_END_OF_EPOCH);
}

TEST(Epoch, OneThatACancelRefusesEndsNone) {
  const Loader loader = make_loader(counting_dataset(20), {{"batch_size", "10"}});
  const Epoch epoch = make_epoch(loader);
  EXPECT_EQ(next(epoch).status, DL_OK);
  dl_loader_cancel(loader.get());
  expect_none(loader, DL_CANCELLED);
  EXPECT_EQ(next(epoch).status, DL_CANCELLED) << "it is the current one yet";
  EXPECT_EQ(dl_loader_seek(loader.get(), 0, 1, nullptr), DL_OK);
  expect_ended(epoch);
}

TEST(Epoch, ATimeOutLosesNothing) {
  std::atomic<bool> open{false};
  TestReader reader;
  reader.before = [&](const int64_t*, int64_t) { open.wait(false); };
  const Dataset dataset = reader.dataset(20);
  const Loader loader = make_loader(dataset, {{"batch_size", "10"}, {"num_workers", "1"}});
  const Epoch epoch = make_epoch(loader);
  EXPECT_EQ(next(epoch, 0).status, DL_TIMEOUT);
  EXPECT_EQ(next(epoch, 1'000'000).status, DL_TIMEOUT);
  EXPECT_EQ(position_of(loader), std::pair(int64_t{0}, int64_t{0}));
  open.store(true);
  open.notify_all();
  EXPECT_EQ(next(epoch, 60'000'000'000).values.front(), 0u);
}

// --- A reader that returns DL_READER_INTERRUPTED ---

constexpr int64_t kRecords = 60, kBatch = 10;

// Sample i is the u64 i. The first `interrupts` calls that read record 25 return DL_READER_INTERRUPTED; `bad` is never read.
struct InterruptedReader {
  std::atomic<int> interrupts{1}, calls{0};
  int64_t interrupted_at = 25, bad = -1;

  Dataset dataset(int32_t prompt) {
    return reader_dataset({field_of("data", DL_DTYPE_U64)}, kRecords, &InterruptedReader::read, this, nullptr,
                          prompt);
  }

 private:
  static int32_t read(void* context, dl_reader_request* request) {
    auto* self = static_cast<InterruptedReader*>(context);
    for (int32_t i = 0; i < request->record_count; ++i) {
      const int64_t index = request->indices[i];
      dl_reader_cell& cell = *dl_reader_cell_at(request, i, 0);
      *static_cast<uint64_t*>(cell.data) = static_cast<uint64_t>(index);
      if (index == self->bad) cell.status = 7;
      if (index != self->interrupted_at) continue;
      ++self->calls;
      if (self->interrupts.fetch_sub(1) > 0) return DL_READER_INTERRUPTED;
    }
    return 0;
  }
};

struct Shape {
  const char *name, *workers;
  int32_t prompt;
};

class ReaderInterrupts : public ::testing::TestWithParam<Shape> {
 protected:
  Loader make(const Settings& settings = {}) {
    dataset_ = reader_.dataset(GetParam().prompt);
    return make_loader(
        dataset_,
        with({{"batch_size", "10"}, {"epochs", "1"}, {"num_workers", GetParam().workers}}, settings));
  }
  static void expect_interrupted(const Delivered& got, const Loader& loader) {
    EXPECT_EQ(got.status, DL_INTERRUPTED) << got.message;
    EXPECT_EQ(got.batch, nullptr);
    EXPECT_EQ(position_of(loader), std::pair(int64_t{0}, int64_t{2})) << "it stays";
    EXPECT_EQ(dl_loader_bad_sample_count(loader.get()), 0);
    EXPECT_EQ(stats_of(loader).skipped, 0);
  }

  InterruptedReader reader_;
  Dataset dataset_;
};

std::vector<uint64_t> from_to(uint64_t first, uint64_t end) {
  std::vector<uint64_t> values(end - first);
  std::iota(values.begin(), values.end(), first);
  return values;
}

TEST_P(ReaderInterrupts, TheNextCallDeliversTheSameBatch) {
  for (const char* on_error : {"raise", "replace", "quarantine"}) {
    for (const int interrupts : {1, 3}) {
      SCOPED_TRACE(on_error);
      reader_.interrupts = interrupts;
      const Loader loader = make({{"on_error", on_error}});
      for (uint64_t step = 0; step < 2; ++step)
        EXPECT_EQ(next(loader).values, from_to(step * 10, step * 10 + 10));
      for (int i = 0; i < interrupts; ++i) expect_interrupted(next(loader), loader);
      for (uint64_t step = 2; step < 6; ++step)
        EXPECT_EQ(next(loader).values, from_to(step * 10, step * 10 + 10));
      EXPECT_EQ(next(loader).status, DL_END_OF_EPOCH);
      const dl_stats stats = stats_of(loader);
      EXPECT_EQ(stats.samples, kRecords);
      EXPECT_EQ(stats.skipped + stats.replaced, 0);
      EXPECT_EQ(dl_loader_bad_sample_count(loader.get()), 0);
    }
  }
}

TEST_P(ReaderInterrupts, ALoopGoesOnWithTheSameBatch) {
  const Loader loader = make();
  const Epoch epoch = make_epoch(loader);
  EXPECT_EQ(next(epoch).step, 0);
  EXPECT_EQ(next(epoch).step, 1);
  expect_interrupted(next(epoch), loader);
  EXPECT_EQ(next(epoch).values, from_to(20, 30));
  for (int64_t step = 3; step < 6; ++step) EXPECT_EQ(next(epoch).step, step);
  EXPECT_EQ(next(epoch).status, DL_END_OF_EPOCH);
}

TEST_P(ReaderInterrupts, ABadSampleOfTheSameBatchIsCountedOnce) {
  for (const char* on_error : {"raise", "quarantine"}) {
    SCOPED_TRACE(on_error);
    reader_.bad = 21, reader_.interrupts = 2;
    const Loader loader = make({{"on_error", on_error}, {"batch_size", "60"}});
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(next(loader).status, DL_INTERRUPTED);
      EXPECT_EQ(dl_loader_bad_sample_count(loader.get()), 0);
    }
    const bool raises = std::string(on_error) == "raise";
    if (raises) {
      EXPECT_EQ(next(loader).status, DL_ERR_BAD_SAMPLE);
    }
    EXPECT_EQ(next(loader).values.size(), raises ? 59u : 60u);
    EXPECT_EQ(dl_loader_bad_sample_count(loader.get()), 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ReaderInterrupts,
                         ::testing::Values(Shape{"NoWorkers", "0", 0}, Shape{"NoWorkersPrompt", "0", 1},
                                           Shape{"Workers", "2", 0}, Shape{"WorkersPrompt", "2", 1}),
                         [](const auto& shape) { return std::string(shape.param.name); });

TEST(ReaderInterrupts, AConsumerThatHelpsIsInterruptedInItsOwnRead) {
  struct Context {
    std::thread::id consumer = std::this_thread::get_id();
    bool interrupted = false;
  } context;
  const auto read = [](void* of, dl_reader_request* request) -> int32_t {
    auto* self = static_cast<Context*>(of);
    for (int32_t i = 0; i < request->record_count; ++i)
      *static_cast<uint64_t*>(dl_reader_cell_at(request, i, 0)->data) =
          static_cast<uint64_t>(request->indices[i]);
    if (std::this_thread::get_id() != self->consumer || self->interrupted) return 0;
    self->interrupted = true;
    return DL_READER_INTERRUPTED;
  };
  const Dataset dataset = reader_dataset({field_of("data", DL_DTYPE_U64)}, 400, read, &context, nullptr, 1);
  const Loader loader = make_loader(dataset, {{"batch_size", "400"}, {"num_workers", "1"}});
  for (int64_t epoch = 0; epoch < 1'000'000 && !context.interrupted; ++epoch) {
    Delivered got = next(loader);
    ASSERT_EQ(got.status, context.interrupted ? DL_INTERRUPTED : DL_OK);
    if (context.interrupted) got = next(loader);
    EXPECT_EQ(got.epoch, epoch);
    ASSERT_EQ(got.values, from_to(0, 400));
    EXPECT_EQ(next(loader).status, DL_END_OF_EPOCH);
  }
  EXPECT_TRUE(context.interrupted);
}

TEST(ReaderInterrupts, ARecordWithThatCodeOfTheHostsIsABadSample) {
  TestReader reader;
  reader.fails = [](int64_t index) { return index == 3; };
  reader.code = DL_INTERRUPTED;  // EIO, on most systems
  const Dataset dataset = reader.dataset(10);
  for (const char* workers : {"0", "2"}) {
    const Loader loader = make_loader(dataset, {{"num_workers", workers}});
    const Delivered bad = next(loader);
    EXPECT_EQ(bad.status, DL_ERR_BAD_SAMPLE);
    EXPECT_NE(bad.message.find("failed with code 5"), std::string::npos) << bad.message;
    EXPECT_EQ(next(loader).values.size(), 9u);
  }
}

TEST(ReaderInterrupts, ACallThatReturnsEioIsNoInterrupt) {
  const auto read = [](void*, dl_reader_request*) -> int32_t { return DL_INTERRUPTED; };  // 5, as EIO
  const Dataset dataset = reader_dataset({field_of("data", DL_DTYPE_U64)}, 10, read, nullptr, nullptr, 0);
  for (const char* workers : {"0", "2"}) {
    const Loader loader = make_loader(dataset, {{"num_workers", workers}});
    EXPECT_EQ(next(loader).status, DL_ERR_BAD_SAMPLE);
    EXPECT_EQ(next(loader).status, DL_END_OF_EPOCH);
  }
}

TEST(ReaderInterrupts, ASampleReadByItselfIsInterruptedToo) {
  InterruptedReader reader;
  const Dataset dataset = reader.dataset(0);
  dl_batch* batch = nullptr;
  EXPECT_EQ(dl_dataset_read(dataset.get(), 25, nullptr, &batch, nullptr), DL_INTERRUPTED);
  EXPECT_EQ(batch, nullptr);
  EXPECT_EQ(dl_dataset_read(dataset.get(), 25, nullptr, &batch, nullptr), DL_OK);
  dl_batch_release(batch);
}

}  // namespace
}  // namespace dataline::tests::epoch_test
