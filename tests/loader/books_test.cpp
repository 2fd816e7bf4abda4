// The books, to the last sample: what each rank delivered, left out, dropped, padded and replaced after every epoch, by a
// second reckoning; the list of bad samples, field by field; what seek, load and a break leave of them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "tests/support/job.h"

namespace dataline::tests::books_test {
namespace {

bool is_bad(int64_t index) { return index % 7 == 2; }

struct Books {
  int64_t batches = 0, samples = 0, bytes = 0, skipped = 0, dropped = 0, padded = 0, replaced = 0, bad = 0;
  bool operator==(const Books&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Books& books) {
  return out << "batches " << books.batches << ", samples " << books.samples << ", bytes " << books.bytes
             << ", skipped " << books.skipped << ", dropped " << books.dropped << ", padded " << books.padded
             << ", replaced " << books.replaced << ", bad " << books.bad;
}

Books books_of(const Loader& loader) {
  const dl_stats s = stats_of(loader);
  return {s.batches, s.samples, s.bytes, s.skipped, s.dropped, s.padded, s.replaced, s.bad};
}

struct Job {
  int64_t n = 101, global = 12, world = 3, rank = 0;
  std::string last_batch = "keep", on_error = "raise";

  int64_t steps() const { return last_batch == "drop" ? n / global : (n + global - 1) / global; }

  // Slots of this rank in a step; pads have slots >= n. File order: the sample of a slot is its number.
  std::vector<int64_t> slots(int64_t step) const {
    const int64_t begin = step * global;
    const int64_t width = last_batch == "pad" ? global : std::min(global, n - begin);
    std::vector<int64_t> out;
    for (int64_t slot = begin + width * rank / world; slot < begin + width * (rank + 1) / world; ++slot)
      out.push_back(slot);
    return out;
  }

  // Adds one epoch, in which every bad sample can be replaced.
  void add_epoch(Books& books, std::set<int64_t>& known) const {
    for (int64_t step = 0; step < steps(); ++step) {
      int64_t rows = 0;
      for (int64_t slot : slots(step)) {
        const bool bad = is_bad(slot % n), pad = slot >= n;
        if (bad) known.insert(slot % n);
        const bool left_out = bad && on_error == "raise";
        rows += left_out ? 0 : 1;
        if (left_out && !pad) ++books.skipped;
        if (!left_out) ++(pad ? books.padded : books.samples);
        if (bad && !left_out && !pad) ++books.replaced;
      }
      books.bytes += rows * 8;
      // A step of a rank without slots is still a batch; one whose samples are all bad is passed over.
      if (rows > 0 || slots(step).empty()) ++books.batches;
    }
    for (int64_t slot = steps() * global; last_batch == "drop" && slot < n; ++slot) {
      const int64_t width = n - steps() * global, place = slot - steps() * global;
      if (place >= width * rank / world && place < width * (rank + 1) / world) ++books.dropped;
    }
    books.bad = static_cast<int64_t>(known.size());
  }

  Settings settings() const {
    return {{"global_batch_size", std::to_string(global)},
            {"world_size", std::to_string(world)},
            {"rank", std::to_string(rank)},
            {"last_batch", last_batch},
            {"on_error", on_error},
            {"epochs", "3"}};
  }
};

class LoaderBooks : public ::testing::TestWithParam<const char*> {
 protected:
  Settings with(Settings settings) const {
    settings.emplace_back("num_workers", GetParam());
    return settings;
  }
  LoaderBooks() { reader_.fails = is_bad; }
  TestReader reader_;
};

// Up to the next END_OF_EPOCH, through the errors.
void pass_epoch(const Loader& loader) {
  for (Delivered got; got.status != DL_END_OF_EPOCH;) {
    got = next(loader);
    ASSERT_TRUE(got.status == DL_OK || got.status == DL_ERR_BAD_SAMPLE || got.status == DL_END_OF_EPOCH)
        << got.message;
  }
}

TEST_P(LoaderBooks, AreExactAfterEveryEpochOnEveryRank) {
  for (const char* policy : {"raise", "replace", "quarantine"}) {
    for (const char* last : {"keep", "drop", "pad"}) {
      for (int64_t world : {1, 3, 16}) {
        for (int64_t rank = 0; rank<world; rank += world> 3 ? 5 : 1) {
          Job job{.world = world, .rank = rank, .last_batch = last, .on_error = policy};
          Dataset dataset = reader_.dataset(job.n);
          Loader loader = make_loader(dataset, with(job.settings()));
          Books expected;
          std::set<int64_t> known;
          for (int epoch = 0; epoch < 3; ++epoch) {
            pass_epoch(loader);
            job.add_epoch(expected, known);
            ASSERT_EQ(books_of(loader), expected)
                << policy << " " << last << ", rank " << rank << " of " << world << ", epoch " << epoch;
          }
          EXPECT_EQ(next(loader).status, DL_END);
          EXPECT_EQ(books_of(loader), expected) << "the end books nothing";
        }
      }
    }
  }
}

TEST_P(LoaderBooks, CountABatchWhenItGoesOutAndNotBefore) {
  Dataset dataset = counting_dataset(20);
  Loader loader = make_loader(dataset, with({{"batch_size", "8"}, {"epochs", "1"}, {"prefetch_depth", "3"}}));
  EXPECT_EQ(books_of(loader), Books());
  for (const Books& expected :
       {Books{1, 8, 64, 0, 0, 0, 0, 0}, Books{2, 16, 128, 0, 0, 0, 0, 0}, Books{3, 20, 160, 0, 0, 0, 0, 0}}) {
    EXPECT_EQ(next(loader).status, DL_OK);
    EXPECT_EQ(books_of(loader), expected);
  }
  EXPECT_EQ(next(loader).status, DL_END_OF_EPOCH);
  EXPECT_EQ(books_of(loader), (Books{3, 20, 160, 0, 0, 0, 0, 0}));
}

TEST_P(LoaderBooks, ABreakAtTheLastStepBooksWhatIsDropped) {
  Dataset dataset = counting_dataset(10);
  Loader loader = make_loader(dataset, with({{"batch_size", "4"}, {"last_batch", "drop"}}));
  Error error;
  next(loader), next(loader);
  EXPECT_EQ(stats_of(loader).dropped, 0);
  ASSERT_EQ(dl_loader_begin_epoch(loader.get(), &error), DL_OK);
  EXPECT_EQ(stats_of(loader).dropped, 2) << "the epoch was gone through, whoever saw its end";
  EXPECT_EQ(next(loader).epoch, 1);
  ASSERT_EQ(dl_loader_begin_epoch(loader.get(), &error), DL_OK);
  EXPECT_EQ(stats_of(loader).dropped, 2) << "of an epoch left in the middle nothing is dropped";
  EXPECT_EQ(next(loader).epoch, 2);
  ASSERT_EQ(dl_loader_seek(loader.get(), 5, 0, &error), DL_OK);
  EXPECT_EQ(stats_of(loader).dropped, 2);
  EXPECT_EQ(stats_of(loader).batches, 4);
}

TEST_P(LoaderBooks, ASeekBackBooksAgainWhatIsDeliveredAgainButABadSampleOnce) {
  Dataset dataset = reader_.dataset(10);  // 2 and 9 are bad
  for (const char* policy : {"raise", "replace"}) {
    Loader loader = make_loader(dataset, with({{"batch_size", "5"}, {"on_error", policy}}));
    Error error;
    const bool raises = policy == std::string("raise");
    for (int pass = 1; pass <= 3; ++pass) {
      ASSERT_EQ(dl_loader_seek(loader.get(), 0, 0, &error), DL_OK);
      if (raises) {
        EXPECT_EQ(next(loader).status, DL_ERR_BAD_SAMPLE) << "told once for every time the step is loaded";
        EXPECT_EQ(stats_of(loader).skipped, pass - 1) << "left out when the rest goes out";
      }
      EXPECT_EQ(next(loader).values.size(), raises ? 4u : 5u);
      EXPECT_EQ(books_of(loader), raises ? (Books{pass, 4 * pass, 32 * pass, pass, 0, 0, 0, 1})
                                         : (Books{pass, 5 * pass, 40 * pass, 0, 0, 0, pass, 1}));
    }
    EXPECT_EQ(dl_loader_bad_sample_count(loader.get()), 1);
  }
}

TEST_P(LoaderBooks, ASeekAwayFromARaisedStepForgetsIt) {
  Dataset dataset = reader_.dataset(20);
  Loader loader = make_loader(dataset, with({{"batch_size", "5"}}));
  Error error;
  EXPECT_EQ(next(loader).status, DL_ERR_BAD_SAMPLE);
  ASSERT_EQ(dl_loader_seek(loader.get(), 0, 2, &error), DL_OK);
  EXPECT_EQ(next(loader).values, (std::vector<uint64_t>{10, 11, 12, 13, 14}));
  EXPECT_EQ(stats_of(loader).skipped, 0);
  EXPECT_EQ(stats_of(loader).bad, 1);
}

TEST_P(LoaderBooks, TheListSaysWhereEachBadSampleWasFirstMet) {
  Dataset dataset = reader_.dataset(30);  // 2, 9, 16, 23
  Loader loader = make_loader(dataset, with({{"global_batch_size", "10"},
                                             {"world_size", "2"},
                                             {"rank", "1"},
                                             {"on_error", "quarantine"},
                                             {"start_epoch", "1"}}));
  for (int epoch = 0; epoch < 2; ++epoch) pass_epoch(loader);
  ASSERT_EQ(dl_loader_bad_sample_count(loader.get()), 2) << "those of rank 1, once each";
  Error error;
  const int64_t where[][2] = {{9, 0}, {16, 1}};
  for (int64_t i = 0; i < 2; ++i) {
    dl_bad_sample bad = {};
    bad.struct_size = sizeof bad;
    ASSERT_EQ(dl_loader_bad_sample_at(loader.get(), i, &bad, &error), DL_OK);
    EXPECT_EQ(bad.code, DL_ERR_READER);
    EXPECT_EQ(bad.index, where[i][0]);
    EXPECT_EQ(bad.slot, where[i][0]);
    EXPECT_EQ(bad.epoch, 1);
    EXPECT_EQ(bad.step, where[i][1]);
    EXPECT_FALSE(is_bad(bad.replacement)) << bad.replacement;
    EXPECT_GE(bad.replacement, 0);
    EXPECT_LT(bad.replacement, 30);
  }
  dl_bad_sample bad = {};
  bad.struct_size = sizeof bad;
  for (int64_t outside : {int64_t{-1}, int64_t{2}, INT64_MAX, INT64_MIN}) {
    EXPECT_EQ(dl_loader_bad_sample_at(loader.get(), outside, &bad, &error), DL_ERR_INVALID_ARGUMENT);
    EXPECT_NE(std::string(error.message).find("expected 0 to 2 exclusive"), std::string::npos)
        << error.message;
  }
}

TEST_P(LoaderBooks, AnErrorCountsAllOfAStepAndNamesEight) {
  reader_.fails = [](int64_t index) { return index < 11; };
  Dataset dataset = reader_.dataset(16);
  for (const char* batch : {"7", "8", "9", "12"}) {
    Loader loader = make_loader(dataset, with({{"batch_size", batch}}));
    Delivered got = next(loader);
    ASSERT_EQ(got.status, DL_ERR_BAD_SAMPLE);
    const int64_t bad = std::min<int64_t>(std::stoll(batch), 11);
    const std::string begin =
        "step 0: " + std::to_string(bad) + " of " + batch + " samples are bad: sample 0: ";
    EXPECT_EQ(got.message.substr(0, begin.size()), begin);
    EXPECT_EQ(got.message.find("; sample 7: ") == std::string::npos, bad < 8) << got.message;
    EXPECT_EQ(got.message.find("sample 8: "), std::string::npos) << got.message;
  }
}

TEST_P(LoaderBooks, MaxBadIsMetExactly) {
  Dataset dataset = reader_.dataset(30);  // 2, 9, 16, 23: four
  for (int64_t most : {3, 4}) {
    Loader loader = make_loader(dataset, with({{"batch_size", "6"},
                                               {"on_error", "replace"},
                                               {"max_bad", std::to_string(most)},
                                               {"epochs", "1"}}));
    dl_status status = DL_OK;
    int64_t steps = 0;
    for (; status == DL_OK; ++steps) status = next(loader).status;
    EXPECT_EQ(status, most == 4 ? DL_END_OF_EPOCH : DL_ERR_TOO_MANY_BAD);
    EXPECT_EQ(steps, most == 4 ? 6 : 4) << "sample 23 is in step 3";
    EXPECT_EQ(stats_of(loader).bad, 4);
    EXPECT_EQ(stats_of(loader).replaced, most == 4 ? 4 : 3);
  }
}

TEST_P(LoaderBooks, LoadingAStateLeavesThemAndEndsACancel) {
  Dataset dataset = counting_dataset(40);
  Loader loader = make_loader(dataset, with({{"batch_size", "10"}, {"epochs", "2"}}));
  next(loader);
  const std::string state = save_state(loader);
  next(loader), next(loader);
  dl_loader_cancel(loader.get());
  EXPECT_EQ(next(loader).status, DL_CANCELLED);
  EXPECT_EQ(next(loader).status, DL_CANCELLED) << "until a seek or a load";
  Error error;
  ASSERT_EQ(dl_loader_state_load(loader.get(), state.c_str(), &error), DL_OK);
  ASSERT_EQ(dl_loader_begin_epoch(loader.get(), &error), DL_OK) << "goes on where the state is";
  Delivered got = next(loader);
  EXPECT_EQ(got.status, DL_OK);
  EXPECT_EQ(std::pair(got.epoch, got.step), std::pair(int64_t{0}, int64_t{1}));
  EXPECT_EQ(books_of(loader), (Books{4, 40, 320, 0, 0, 0, 0, 0}));
  ASSERT_EQ(dl_loader_begin_epoch(loader.get(), &error), DL_OK);
  got = next(loader);
  EXPECT_EQ(std::pair(got.epoch, got.step), std::pair(int64_t{1}, int64_t{0}))
      << "a break after it is a break";
}

TEST_P(LoaderBooks, ALoadOrSeekToAnEpochsEndStillOwesItsEnd) {
  Dataset dataset = counting_dataset(20);
  Loader loader = make_loader(dataset, with({{"batch_size", "10"}, {"epochs", "3"}}));
  next(loader), next(loader);
  const std::string state = save_state(loader);
  Error error;
  for (int way = 0; way < 2; ++way) {
    ASSERT_EQ(way == 0 ? dl_loader_state_load(loader.get(), state.c_str(), &error)
                       : dl_loader_seek(loader.get(), 0, 2, &error),
              DL_OK);
    ASSERT_EQ(dl_loader_begin_epoch(loader.get(), &error), DL_OK);
    EXPECT_EQ(next(loader).status, DL_END_OF_EPOCH);
    EXPECT_EQ(next(loader).epoch, 1);
  }
}

TEST_P(LoaderBooks, LeasesAreCountedAsTheyAreHeld) {
  Dataset dataset = counting_dataset(100);
  Loader loader = make_loader(dataset, with({{"batch_size", "10"}, {"max_leases", "2"}, {"epochs", "1"}}));
  std::vector<Delivered> held;
  for (int64_t i = 1; i <= 4; ++i) {
    held.push_back(next(loader));
    EXPECT_EQ(stats_of(loader).leases_held, i);
    EXPECT_EQ(stats_of(loader).lease_copies, std::max<int64_t>(i - 2, 0));
  }
  const int64_t with_copies = stats_of(loader).held_bytes;
  held.pop_back();
  EXPECT_EQ(stats_of(loader).leases_held, 3);
  EXPECT_LT(stats_of(loader).held_bytes, with_copies) << "a copy's memory is given back";
  held.erase(held.begin());
  EXPECT_EQ(stats_of(loader).leases_held, 2);
  held.push_back(next(loader));
  EXPECT_EQ(stats_of(loader).lease_copies, 2) << "a slot was free again";
  held.clear();
  EXPECT_EQ(stats_of(loader).leases_held, 0);
}

TEST_P(LoaderBooks, ACopyBeyondTheLeasesTellsItsPadsToo) {
  Dataset dataset = counting_dataset(10);
  Loader loader = make_loader(
      dataset, with({{"batch_size", "8"}, {"last_batch", "pad"}, {"max_leases", "1"}, {"epochs", "1"}}));
  Delivered first = next(loader), copy = next(loader);
  EXPECT_EQ(stats_of(loader).lease_copies, 1);
  EXPECT_EQ(copy.valid, 2);
  EXPECT_EQ(copy.values, (std::vector<uint64_t>{8, 9, 0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(std::pair(copy.epoch, copy.step), std::pair(int64_t{0}, int64_t{1}));
  EXPECT_EQ(books_of(loader), (Books{2, 10, 128, 0, 0, 6, 0, 0}));
}

TEST_P(LoaderBooks, ANumberSetAsANumberCounts) {
  Dataset dataset = counting_dataset(100);
  Options options = make_options(with({{"epochs", "1"}}));
  Error error;
  ASSERT_EQ(dl_options_set_i64(options.get(), "batch_size", 30, &error), DL_OK) << error.message;
  for (const auto& [shuffle, in_order] : {std::pair(0, true), std::pair(1, false)}) {
    ASSERT_EQ(dl_options_set_i64(options.get(), "shuffle", shuffle, &error), DL_OK) << error.message;
    dl_loader* handle = nullptr;
    ASSERT_EQ(dl_loader_create(dataset.get(), options.get(), &handle, &error), DL_OK) << error.message;
    Loader loader(handle);
    EXPECT_EQ(dl_loader_steps(handle), 4);
    const std::vector<uint64_t> samples = epoch_samples(loader);
    EXPECT_EQ(std::is_sorted(samples.begin(), samples.end()), in_order);
  }
}

TEST_P(LoaderBooks, ReadyBatchesAndWaitsAreThoseOfWorkers) {
  Dataset dataset = counting_dataset(1000);
  Loader loader =
      make_loader(dataset, with({{"batch_size", "10"}, {"prefetch_depth", "3"}, {"epochs", "1"}}));
  const bool alone = GetParam() == std::string("0");
  EXPECT_EQ(stats_of(loader).num_workers, std::stoi(GetParam()));
  while (!alone && stats_of(loader).ready_batches < 3) std::this_thread::yield();
  EXPECT_EQ(stats_of(loader).ready_batches, alone ? 0 : 3);
  EXPECT_EQ(epoch_samples(loader).size(), 1000u);
  if (!alone) return;
  EXPECT_EQ(stats_of(loader).waits, 0);
  EXPECT_EQ(stats_of(loader).wait_ns, 0);
  EXPECT_EQ(stats_of(loader).worker_cpu_ns, 0);
}

INSTANTIATE_TEST_SUITE_P(Workers, LoaderBooks, ::testing::Values("0", "1", "3"));

}  // namespace
}  // namespace dataline::tests::books_test
