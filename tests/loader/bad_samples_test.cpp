// Samples that cannot be delivered: raise, replace, quarantine; the books always balance.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "tests/support/job.h"

namespace dataline::tests::bad_samples_test {
namespace {

class BadSamples : public ::testing::TestWithParam<const char*> {
 protected:
  Settings with(Settings settings) const {
    settings.emplace_back("num_workers", GetParam());
    return settings;
  }
};

TEST_P(BadSamples, RaiseTellsOnceThenDeliversTheGoodOnes) {
  TestReader reader;
  reader.fails = [](int64_t index) { return index == 4 || index == 7; };
  Dataset dataset = reader.dataset(12);
  Loader loader = make_loader(dataset, with({{"batch_size", "4"}, {"epochs", "1"}}));
  EXPECT_EQ(next(loader).values, (std::vector<uint64_t>{0, 1, 2, 3}));
  Error error;
  dl_batch* batch = nullptr;
  ASSERT_EQ(dl_loader_next(loader.get(), -1, &batch, &error), DL_ERR_BAD_SAMPLE);
  EXPECT_EQ(error.sample_index, 4);
  const std::string message = error.message;
  for (const char* part : {"step 1", "2 of 4", "sample 4", "sample 7", "the test says no"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << " in: " << message;
  }
  EXPECT_NE(save_state(loader).find("\nstep: 1\n"), std::string::npos)
      << "the position stays before the step";
  Delivered shorter = next(loader);
  EXPECT_EQ(shorter.values, (std::vector<uint64_t>{5, 6}));
  EXPECT_EQ(shorter.indices, (std::vector<int64_t>{5, 6}));
  EXPECT_EQ(shorter.step, 1);
  EXPECT_EQ(epoch_samples(loader), (std::vector<uint64_t>{8, 9, 10, 11}));
  dl_stats stats = stats_of(loader);
  EXPECT_EQ(stats.samples, 10);
  EXPECT_EQ(stats.skipped, 2);
  EXPECT_EQ(stats.bad, 2);
}

TEST_P(BadSamples, AStepWithoutGoodSamplesIsPassedOver) {
  TestReader reader;
  reader.fails = [](int64_t index) { return index >= 4 && index < 8; };
  Dataset dataset = reader.dataset(12);
  for (const char* depth : {"1", "4"}) {
    Loader loader =
        make_loader(dataset, with({{"batch_size", "4"}, {"epochs", "1"}, {"prefetch_depth", depth}}));
    EXPECT_EQ(next(loader).status, DL_OK);
    EXPECT_EQ(next(loader).status, DL_ERR_BAD_SAMPLE);
    EXPECT_EQ(next(loader).values, (std::vector<uint64_t>{8, 9, 10, 11}));
    EXPECT_EQ(next(loader).status, DL_END_OF_EPOCH);
    EXPECT_EQ(stats_of(loader).skipped, 4);
  }
}

TEST_P(BadSamples, ReplaceKeepsShapeAndIsTheSameForAnyWorkers) {
  TestReader reader;
  reader.fails = [](int64_t index) { return index % 10 == 3; };
  Dataset dataset = reader.dataset(200);
  const Settings job = {{"batch_size", "16"}, {"shuffle", "full"}, {"on_error", "replace"}, {"epochs", "1"}};
  Loader loader = make_loader(dataset, with(job));
  std::vector<uint64_t> values = epoch_samples(loader);
  ASSERT_EQ(values.size(), 200u);
  for (uint64_t value : values) EXPECT_NE(value % 10, 3u);
  Settings plain = job;
  plain.emplace_back("num_workers", "0");
  EXPECT_EQ(epoch_samples(make_loader(dataset, plain)), values);
  dl_stats stats = stats_of(loader);
  EXPECT_EQ(stats.samples, 200);
  EXPECT_EQ(stats.replaced, 20);
  EXPECT_EQ(stats.skipped, 0);
  ASSERT_EQ(dl_loader_bad_sample_count(loader.get()), 20);
  std::set<int64_t> listed;
  for (int64_t i = 0; i < 20; ++i) {
    dl_bad_sample bad = {};
    bad.struct_size = sizeof bad;
    Error error;
    ASSERT_EQ(dl_loader_bad_sample_at(loader.get(), i, &bad, &error), DL_OK);
    EXPECT_EQ(bad.code, DL_ERR_READER);
    EXPECT_NE(bad.replacement % 10, 3);
    EXPECT_NE(std::string(bad.message).find("the test says no"), std::string::npos);
    listed.insert(bad.index);
  }
  EXPECT_EQ(listed.size(), 20u);
}

TEST_P(BadSamples, WhenNothingCanStandInTheStepIsRaised) {
  TestReader reader;
  reader.fails = [](int64_t) { return true; };
  Dataset dataset = reader.dataset(8);
  Loader loader =
      make_loader(dataset, with({{"batch_size", "4"}, {"on_error", "quarantine"}, {"epochs", "1"}}));
  EXPECT_EQ(next(loader).status, DL_ERR_BAD_SAMPLE);
  EXPECT_EQ(next(loader).status, DL_ERR_BAD_SAMPLE)
      << "the first step had nothing left, the second raises too";
  EXPECT_EQ(next(loader).status, DL_END_OF_EPOCH);
  EXPECT_EQ(stats_of(loader).skipped, 8);
}

TEST_P(BadSamples, MaxBadCountsDistinctSamplesOverEpochs) {
  TestReader reader;
  reader.fails = [](int64_t index) { return index == 1 || index == 9; };
  Dataset dataset = reader.dataset(10);
  Loader two = make_loader(
      dataset, with({{"batch_size", "2"}, {"on_error", "replace"}, {"max_bad", "2"}, {"epochs", "3"}}));
  for (int epoch = 0; epoch < 3; ++epoch) EXPECT_EQ(epoch_samples(two).size(), 10u);
  Loader one = make_loader(dataset, with({{"batch_size", "2"}, {"on_error", "replace"}, {"max_bad", "1"}}));
  for (int step = 0; step < 4; ++step) EXPECT_EQ(next(one).status, DL_OK);
  Delivered over = next(one);
  EXPECT_EQ(over.status, DL_ERR_TOO_MANY_BAD);
  EXPECT_NE(over.message.find("max_bad is 1"), std::string::npos) << over.message;
  EXPECT_EQ(next(one).status, DL_ERR_TOO_MANY_BAD) << "the job does not creep on";
  Loader none = make_loader(dataset, with({{"batch_size", "2"}, {"max_bad", "0"}}));
  EXPECT_EQ(next(none).status, DL_ERR_TOO_MANY_BAD);
}

TEST_P(BadSamples, TheBooksBalanceUnderEveryPolicyAndLastBatch) {
  for (const char* policy : {"raise", "replace", "quarantine"}) {
    for (const char* last : {"keep", "drop", "pad"}) {
      TestReader reader;
      reader.fails = [](int64_t index) { return index * 2654435761 % 7 < 2; };
      Dataset dataset = reader.dataset(101);
      int64_t delivered = 0, skipped = 0, dropped = 0;
      for (const char* rank : {"0", "1", "2"}) {
        Loader loader = make_loader(dataset, with({{"global_batch_size", "12"},
                                                   {"world_size", "3"},
                                                   {"rank", rank},
                                                   {"shuffle", "full"},
                                                   {"on_error", policy},
                                                   {"last_batch", last},
                                                   {"epochs", "2"}}));
        for (Delivered got; got.status != DL_END;) got = next(loader);
        dl_stats stats = stats_of(loader);
        delivered += stats.samples, skipped += stats.skipped, dropped += stats.dropped;
      }
      EXPECT_EQ(delivered + skipped + dropped, 2 * 101) << policy << " " << last;
    }
  }
}

TEST_P(BadSamples, AFailedCallFailsItsRecordsOnly) {
  TestReader reader;
  std::atomic<bool> fail{true};
  reader.fails = [&](int64_t) { return fail.load(); };
  Dataset dataset = reader.dataset(8);
  Loader loader = make_loader(dataset, with({{"batch_size", "4"}}));
  EXPECT_EQ(next(loader).status, DL_ERR_BAD_SAMPLE);
  fail.store(false);
  Error error;
  ASSERT_EQ(dl_loader_seek(loader.get(), 0, 0, &error), DL_OK);
  EXPECT_EQ(epoch_samples(loader).size(), 8u) << "the loader stays usable";
}

// A loader of 40 samples in file order by the caller's indices, sample 5 bad: step 1 of 10.
Loader with_indices(const Dataset& dataset, const Settings& settings, const std::vector<int64_t>& indices) {
  Options options = make_options(settings);
  Error error;
  EXPECT_EQ(dl_options_set_indices(options.get(), indices.data(), static_cast<int64_t>(indices.size()),
                                   nullptr, nullptr, &error),
            DL_OK);
  dl_loader* made = nullptr;
  EXPECT_EQ(dl_loader_create(dataset.get(), options.get(), &made, &error), DL_OK) << error.message;
  return Loader(made);
}

TEST_P(BadSamples, NewIndicesDoNotTellAStepAgain) {
  TestReader reader;
  reader.fails = [](int64_t index) { return index == 5; };
  Dataset dataset = reader.dataset(8);
  std::vector<int64_t> indices(8);
  std::iota(indices.begin(), indices.end(), 0);
  Loader loader = with_indices(dataset, with({{"batch_size", "4"}}), indices);
  EXPECT_EQ(next(loader).status, DL_OK);
  ASSERT_EQ(next(loader).status, DL_ERR_BAD_SAMPLE);
  // What is loaded ahead is of the old order: all of it, this step too, is loaded again.
  Error error;
  ASSERT_EQ(dl_loader_set_indices(loader.get(), indices.data(), 8, nullptr, nullptr, &error), DL_OK);
  EXPECT_EQ(next(loader).values, (std::vector<uint64_t>{4, 6, 7})) << "it was told";
  EXPECT_EQ(stats_of(loader).skipped, 1);
}

TEST_P(BadSamples, ASeekBackTellsAStepAgain) {
  TestReader reader;
  reader.fails = [](int64_t index) { return index == 5; };
  Dataset dataset = reader.dataset(8);
  Loader loader = make_loader(dataset, with({{"batch_size", "4"}}));
  next(loader);
  Error error;
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(next(loader).status, DL_ERR_BAD_SAMPLE);
    ASSERT_EQ(dl_loader_seek(loader.get(), 0, 1, &error), DL_OK);
  }
  EXPECT_EQ(next(loader).status, DL_ERR_BAD_SAMPLE);
  EXPECT_EQ(next(loader).values, (std::vector<uint64_t>{4, 6, 7}));
}

TEST_P(BadSamples, WhatAwaitsALeaseIsNotInTheBooksYet) {
  TestReader reader;
  reader.fails = [](int64_t index) { return index == 5; };
  Dataset dataset = reader.dataset(8);
  for (const char* policy : {"raise", "replace"}) {
    Loader loader = make_loader(
        dataset,
        with({{"batch_size", "4"}, {"max_leases", "1"}, {"lease_overflow", "error"}, {"on_error", policy}}));
    Delivered held = next(loader);
    Error error;
    for (int again = 0; again < 3; ++again) {
      if (*policy == 'r' && policy[1] == 'a') {
        ASSERT_EQ(next(loader).status, DL_ERR_BAD_SAMPLE);
      }
      ASSERT_EQ(next(loader).status, DL_ERR_LEASES_HELD);
      ASSERT_EQ(dl_loader_seek(loader.get(), 0, 1, &error), DL_OK) << "left behind, and loaded again";
    }
    EXPECT_EQ(stats_of(loader).skipped + stats_of(loader).replaced, 0)
        << "nothing of that step was delivered";
    held.batch.reset();
    while (next(loader).status != DL_OK) continue;
    EXPECT_EQ(stats_of(loader).skipped + stats_of(loader).replaced, 1) << policy;
    EXPECT_EQ(stats_of(loader).samples + stats_of(loader).skipped, 8);
  }
}

INSTANTIATE_TEST_SUITE_P(Workers, BadSamples, ::testing::Values("0", "1", "3"));

}  // namespace
}  // namespace dataline::tests::bad_samples_test
