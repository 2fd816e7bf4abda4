// What a loader tells the host's reader, and what becomes of memory that the reader lends for a call.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include "tests/support/job.h"

namespace dataline::tests::reader_test {
namespace {

bool cancelled(const dl_reader_request* request) {
  return __atomic_load_n(request->cancelled, __ATOMIC_RELAXED) != 0;
}

// A reader of one field, dense or ragged, whose calls a function of the test's answers. Must outlive its dataset.
struct Answering {
  using Read = std::function<int32_t(dl_reader_request* request)>;
  Read read;
  std::atomic<int> lent{0}, released{0}, destroyed{0};

  Dataset dataset(int64_t n, int32_t dtype, const std::vector<int64_t>& shape = {}) {
    const auto answer = [](void* context, dl_reader_request* request) {
      return static_cast<Answering*>(context)->read(request);
    };
    return reader_dataset({field_of("data", dtype, shape)}, n, answer, this,
                          [](void* context) { static_cast<Answering*>(context)->destroyed.fetch_add(1); });
  }

  // Record i is the u64 i, in memory of the call's own that is overwritten when it goes back.
  int32_t lend_numbers(dl_reader_request* request) {
    struct Loan {
      Answering* owner;
      std::vector<uint64_t> values;
    };
    auto* loan = new Loan{this, {}};
    for (int32_t r = 0; r < request->record_count; ++r)
      loan->values.push_back(static_cast<uint64_t>(request->indices[r]));
    for (int32_t r = 0; r < request->record_count; ++r)
      dl_reader_cell_at(request, r, 0)->borrowed = &loan->values[static_cast<size_t>(r)];
    request->release_context = loan;
    request->release = [](void* context) {
      auto* back = static_cast<Loan*>(context);
      std::fill(back->values.begin(), back->values.end(), ~uint64_t{0});
      back->owner->released.fetch_add(1);
      delete back;
    };
    lent.fetch_add(1);
    return 0;
  }
};

class LoaderReader : public ::testing::TestWithParam<const char*> {
 protected:
  Settings with(Settings settings) const {
    settings.emplace_back("num_workers", GetParam());
    return settings;
  }
  Answering reader_;
};

TEST_P(LoaderReader, IsToldThePlaceOfEachRecordInItsEpoch) {
  std::mutex mutex;
  std::map<uint64_t, int64_t> epochs;  // of a seed's calls, the last
  reader_.read = [&](dl_reader_request* request) {
    std::lock_guard lock(mutex);
    epochs[request->seed] = std::max(epochs[request->seed], request->epoch);
    for (int32_t r = 0; r < request->record_count; ++r) {
      const uint64_t value = static_cast<uint64_t>(request->epoch * 1000 + request->slots[r]);
      std::memcpy(dl_reader_cell_at(request, r, 0)->data, &value, sizeof value);
    }
    return 0;
  };
  Dataset dataset = reader_.dataset(100, DL_DTYPE_U64);
  Loader loader =
      make_loader(dataset, with({{"batch_size", "7"}, {"shuffle", "full"}, {"seed", "77"}, {"epochs", "3"}}));
  for (uint64_t epoch = 0; epoch < 3; ++epoch) {
    const std::vector<uint64_t> places = epoch_samples(loader);
    ASSERT_EQ(places.size(), 100u);
    for (uint64_t i = 0; i < places.size(); ++i) EXPECT_EQ(places[i], epoch * 1000 + i);
  }
  EXPECT_EQ(epochs, (std::map<uint64_t, int64_t>{{77, 2}}));
}

TEST_P(LoaderReader, ARecordThatStandsInHasTheSlotOfTheBadOne) {
  std::mutex mutex;
  std::map<int64_t, std::vector<int64_t>> read;  // records, by slot
  reader_.read = [&](dl_reader_request* request) {
    std::lock_guard lock(mutex);
    for (int32_t r = 0; r < request->record_count; ++r) {
      read[request->slots[r]].push_back(request->indices[r]);
      dl_reader_cell_at(request, r, 0)->status = request->indices[r] == 11;
      std::memcpy(dl_reader_cell_at(request, r, 0)->data, &request->indices[r], 8);
    }
    return 0;
  };
  Dataset dataset = reader_.dataset(20, DL_DTYPE_U64);
  Loader loader = make_loader(dataset, with({{"batch_size", "6"}, {"on_error", "replace"}, {"epochs", "1"}}));
  const std::vector<uint64_t> values = epoch_samples(loader);
  ASSERT_EQ(read[11].size(), 2u);
  EXPECT_EQ(read[11][0], 11);
  EXPECT_EQ(read[11][1], static_cast<int64_t>(values[11]));
  EXPECT_EQ(read[values[11]].size(), 1u) << "its own slot read it for itself";
}

TEST_P(LoaderReader, LentRowsAreConvertedBeforeTheyGoBack) {
  reader_.read = [this](dl_reader_request* request) { return reader_.lend_numbers(request); };
  Dataset dataset = reader_.dataset(200, DL_DTYPE_U64);
  {
    Loader loader = make_loader(dataset, with({{"batch_size", "100"}, {"epochs", "1"}}));
    std::vector<uint64_t> expected(200);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(epoch_samples(loader), expected);
  }
  EXPECT_GT(reader_.lent.load(), 3);
  EXPECT_EQ(reader_.released.load(), reader_.lent.load());
}

TEST_P(LoaderReader, LentRowsGoBackOnceWhenALoaderIsLeftInTheMiddle) {
  reader_.read = [this](dl_reader_request* request) {
    const int32_t status = request->indices[0] % 3 == 0 ? 7 : 0;
    reader_.lend_numbers(request);
    return status;
  };
  Dataset dataset = reader_.dataset(1000, DL_DTYPE_U64);
  for (int taken = 0; taken < 4; ++taken) {
    Loader loader =
        make_loader(dataset, with({{"batch_size", "10"}, {"on_error", "replace"}, {"shuffle", "full"}}));
    for (int b = 0; b < taken; ++b) EXPECT_EQ(next(loader).values.size(), 10u);
    loader.reset();
    EXPECT_EQ(reader_.released.load(), reader_.lent.load()) << taken;
  }
  EXPECT_GT(reader_.lent.load(), 0);
}

TEST_P(LoaderReader, ASlowOneSeesThatItsLoaderIsDestroyed) {
  std::atomic<int> inside{0};
  reader_.read = [&](dl_reader_request* request) {
    inside.store(1);
    while (!cancelled(request)) std::this_thread::yield();
    reader_.lend_numbers(request);
    return 1;
  };
  Dataset dataset = reader_.dataset(1000, DL_DTYPE_U64);
  Loader loader = make_loader(dataset, with({{"batch_size", "10"}}));
  if (GetParam()[0] == '0') {
    std::thread other([&] {
      while (inside.load() == 0) std::this_thread::yield();
      dl_loader_cancel(loader.get());
    });
    EXPECT_EQ(next(loader).status, DL_CANCELLED);
    other.join();
  }
  while (inside.load() == 0) std::this_thread::yield();
  loader.reset();
  dataset.reset();
  EXPECT_EQ(reader_.destroyed.load(), 1) << "nobody was left behind";
  EXPECT_EQ(reader_.released.load(), reader_.lent.load());
}

TEST_P(LoaderReader, RecordsThatACancelCutShortAreNotBad) {
  std::atomic<bool> hold{true};
  std::atomic<int> inside{0};
  reader_.read = [&](dl_reader_request* request) {
    inside.store(1);
    while (hold.load() && !cancelled(request)) std::this_thread::yield();
    if (cancelled(request)) return 1;
    for (int32_t r = 0; r < request->record_count; ++r)
      std::memcpy(dl_reader_cell_at(request, r, 0)->data, &request->indices[r], 8);
    return 0;
  };
  Dataset dataset = reader_.dataset(40, DL_DTYPE_U64);
  for (const char* on_error : {"raise", "replace"}) {
    hold.store(true);
    inside.store(0);
    Loader loader =
        make_loader(dataset, with({{"batch_size", "10"}, {"on_error", on_error}, {"epochs", "1"}}));
    std::thread other([&] {
      while (inside.load() == 0) std::this_thread::yield();
      dl_loader_cancel(loader.get());
    });
    EXPECT_EQ(next(loader).status, DL_CANCELLED);
    other.join();
    hold.store(false);
    Error error;
    ASSERT_EQ(dl_loader_seek(loader.get(), 0, 0, &error), DL_OK);
    EXPECT_EQ(epoch_samples(loader).size(), 40u);
    EXPECT_EQ(stats_of(loader).bad, 0);
    EXPECT_EQ(stats_of(loader).replaced, 0);
  }
}

TEST(Reader, OneLeftBehindGivesItsLoanBackWhenItReturns) {
  Answering reader;
  std::atomic<bool> open{false};
  std::atomic<int> inside{0};
  reader.read = [&](dl_reader_request* request) {
    inside.store(1);
    while (!open.load()) std::this_thread::yield();
    return reader.lend_numbers(request);
  };
  Dataset dataset = reader.dataset(10, DL_DTYPE_U64);
  Loader loader = make_loader(dataset, {{"batch_size", "10"}, {"num_workers", "1"}});
  while (inside.load() == 0) std::this_thread::yield();
  loader.reset();
  dataset.reset();
  EXPECT_EQ(reader.destroyed.load(), 0) << "somebody is still inside";
  open.store(true);
  while (reader.destroyed.load() == 0) std::this_thread::yield();
  EXPECT_EQ(reader.released.load(), 1);
  EXPECT_EQ(reader.lent.load(), 1);
}

TEST(Reader, ASampleByItselfIsReadForTheFirstPlaceOfAnEpochAndAHeaderForNone) {
  std::vector<int64_t> told;
  Answering reader;
  static const std::string kNoImage = "no image";
  reader.read = [&](dl_reader_request* request) {
    told.insert(told.end(), {request->slots[0], request->epoch, static_cast<int64_t>(request->seed)});
    dl_reader_cell_at(request, 0, 0)->bytes = static_cast<int64_t>(kNoImage.size());
    dl_reader_cell_at(request, 0, 0)->borrowed = kNoImage.data();
    request->release_context = &reader;
    request->release = [](void* context) { static_cast<Answering*>(context)->released.fetch_add(1); };
    return 0;
  };
  Dataset dataset = reader.dataset(10, DL_DTYPE_U8, {-1});
  Error error;
  dl_image_info info = {};
  info.struct_size = sizeof info;
  EXPECT_EQ(dl_dataset_image_info(dataset.get(), "data", 4, &info, &error), DL_ERR_CORRUPT) << error.message;
  EXPECT_EQ(told, (std::vector<int64_t>{-1, -1, 0}));
  EXPECT_EQ(reader.released.load(), 1);
  told.clear();
  dl_batch* batch = nullptr;
  ASSERT_EQ(dl_dataset_read(dataset.get(), 4, make_options({{"seed", "6"}}).get(), &batch, &error), DL_OK)
      << error.message;
  const Batch held(batch);
  EXPECT_EQ(told, (std::vector<int64_t>{0, 0, 6}));
  EXPECT_EQ(reader.released.load(), 2);
}

INSTANTIATE_TEST_SUITE_P(Workers, LoaderReader, ::testing::Values("0", "1", "3"));

}  // namespace
}  // namespace dataline::tests::reader_test
