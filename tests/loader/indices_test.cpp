// The caller's own order, changed while the job runs: from which epoch a change holds, when what was lent comes back, and
// what a saved state says of it.
// SPDX-License-Identifier: Apache-2.0

#include "tests/support/job.h"

namespace dataline::tests::indices_test {
namespace {

// Arrays that are lent, and how often each came back.
class Lender {
 public:
  struct Loan {
    std::vector<int64_t> values;
    int returned = 0;
  };
  Loan& lend(std::vector<int64_t> values) {
    loans_.push_back(std::make_unique<Loan>(Loan{std::move(values)}));
    return *loans_.back();
  }
  static void give_back(void* loan) { ++static_cast<Loan*>(loan)->returned; }
  std::vector<int> returned() const {
    std::vector<int> out;
    for (const auto& loan : loans_) out.push_back(loan->returned);
    return out;
  }

 private:
  std::vector<std::unique_ptr<Loan>> loans_;
};

class CallersOrder : public ::testing::TestWithParam<const char*> {
 protected:
  Loader loader_of(const std::vector<int64_t>& indices, Settings settings = {}) {
    settings.emplace_back("num_workers", GetParam());
    settings.emplace_back("batch_size", "2");
    Options options = make_options(settings);
    Lender::Loan& loan = lender_.lend(indices);
    Error error;
    EXPECT_EQ(dl_options_set_indices(options.get(), loan.values.data(), static_cast<int64_t>(indices.size()),
                                     &Lender::give_back, &loan, &error),
              DL_OK);
    dl_loader* handle = nullptr;
    EXPECT_EQ(dl_loader_create(dataset_.get(), options.get(), &handle, &error), DL_OK) << error.message;
    return Loader(handle);
  }
  dl_status change(const Loader& loader, const std::vector<int64_t>& indices) {
    Lender::Loan& loan = lender_.lend(indices);
    Error error;
    return dl_loader_set_indices(loader.get(), loan.values.data(), static_cast<int64_t>(indices.size()),
                                 &Lender::give_back, &loan, &error);
  }

  Dataset dataset_ = counting_dataset(100);
  Lender lender_;
};

std::vector<uint64_t> as_values(const std::vector<int64_t>& indices) {
  return {indices.begin(), indices.end()};
}

TEST_P(CallersOrder, ChangedInEveryEpochHoldsFromTheNext) {
  const auto order_of = [](int64_t epoch) {
    return std::vector<int64_t>{epoch, epoch + 10, epoch + 20, epoch + 30, epoch + 40, epoch + 50};
  };
  Loader loader = loader_of(order_of(0));
  for (int64_t epoch = 0; epoch < 12; ++epoch) {
    std::vector<uint64_t> got = next(loader).values;
    ASSERT_EQ(change(loader, order_of(epoch + 1)), DL_OK);
    for (uint64_t value : epoch_samples(loader)) got.push_back(value);
    EXPECT_EQ(got, as_values(order_of(epoch))) << "epoch " << epoch;
  }
  // The first one is the loader's own option, and stays as long as it; the one before the last change stays for the states
  // that were saved under it.
  const std::vector<int> returned = lender_.returned();
  EXPECT_EQ(std::vector<int>(returned.begin() + 1, returned.begin() + 10), std::vector<int>(9, 1))
      << "what no epoch needs any more came back, once";
  EXPECT_EQ(returned[10], 0);
  EXPECT_EQ(returned[12], 0);
  loader.reset();
  EXPECT_EQ(lender_.returned(), std::vector<int>(13, 1));
}

TEST_P(CallersOrder, ChangedBeforeAnEpochBeginsHoldsForItAndTheLastChangeWins) {
  Loader loader = loader_of({1, 2, 3, 4});
  ASSERT_EQ(change(loader, {5, 6, 7, 8}), DL_OK);
  ASSERT_EQ(change(loader, {11, 12, 13, 14}), DL_OK);
  EXPECT_EQ(epoch_samples(loader), (std::vector<uint64_t>{11, 12, 13, 14}));
  ASSERT_EQ(change(loader, {21, 22, 23, 24}), DL_OK);
  EXPECT_EQ(next(loader).values, (std::vector<uint64_t>{21, 22}));
  ASSERT_EQ(change(loader, {31, 32, 33, 34}), DL_OK);
  ASSERT_EQ(change(loader, {41, 42, 43, 44}), DL_OK);
  EXPECT_EQ(epoch_samples(loader), (std::vector<uint64_t>{23, 24}));
  EXPECT_EQ(epoch_samples(loader), (std::vector<uint64_t>{41, 42, 43, 44}));
  EXPECT_EQ(epoch_samples(loader), (std::vector<uint64_t>{41, 42, 43, 44}))
      << "each epoch until it is changed";
}

TEST_P(CallersOrder, AChangeThatIsRefusedTakesNothingAndChangesNothing) {
  Loader loader = loader_of({1, 2, 3, 4});
  EXPECT_EQ(next(loader).values, (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(change(loader, {1, 2, 3, 100}), DL_ERR_OUT_OF_RANGE);
  EXPECT_EQ(change(loader, {1, 2, 3, -1}), DL_ERR_OUT_OF_RANGE);
  EXPECT_EQ(change(loader, {1, 2, 3}), DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(change(loader, {1, 2, 3, 4, 5}), DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(epoch_samples(loader), (std::vector<uint64_t>{3, 4}));
  EXPECT_EQ(epoch_samples(loader), (std::vector<uint64_t>{1, 2, 3, 4}));
  loader.reset();
  EXPECT_EQ(lender_.returned(), (std::vector<int>{1, 0, 0, 0, 0}));
}

std::string line_of(const std::string& state, const std::string& key) {
  const size_t begin = state.find("\n" + key + ": ");
  EXPECT_NE(begin, std::string::npos) << key << " in " << state;
  return state.substr(begin + 1, state.find('\n', begin + 1) - begin - 1);
}

TEST_P(CallersOrder, AStateNamesTheOrderOfItsEpoch) {
  Loader loader = loader_of({1, 2, 3, 4});
  const std::string first = line_of(save_state(loader), "sample_indices");
  EXPECT_EQ(first.size(), std::string("sample_indices: 0123456789abcdef").size()) << first;
  EXPECT_EQ(line_of(save_state(loader_of({1, 2, 3, 4})), "sample_indices"), first) << "by content";
  EXPECT_NE(line_of(save_state(loader_of({1, 2, 4, 3})), "sample_indices"), first) << "and order";
  next(loader);
  ASSERT_EQ(change(loader, {5, 6, 7, 8}), DL_OK);
  EXPECT_EQ(line_of(save_state(loader), "sample_indices"), first) << "the epoch that runs keeps its own";
  const std::string middle = save_state(loader);
  EXPECT_EQ(epoch_samples(loader).size(), 2u);
  const std::string changed = line_of(save_state(loader), "sample_indices");
  EXPECT_NE(changed, first);
  EXPECT_EQ(changed, line_of(save_state(loader_of({5, 6, 7, 8})), "sample_indices"));
  // Whoever has the order of the state goes on with it.
  Loader again = loader_of({1, 2, 3, 4});
  Error error;
  ASSERT_EQ(dl_loader_state_load(again.get(), middle.c_str(), &error), DL_OK) << error.message;
  EXPECT_EQ(epoch_samples(again), (std::vector<uint64_t>{3, 4}));
  Loader other = loader_of({5, 6, 7, 8});
  EXPECT_EQ(dl_loader_state_load(other.get(), middle.c_str(), &error), DL_ERR_STATE_REFUSED);
  Loader without = make_loader(dataset_, {{"batch_size", "2"}});
  EXPECT_EQ(line_of(save_state(without), "sample_indices"), "sample_indices: none");
}

TEST_P(CallersOrder, StatesOfAnEpochUnderTwoOrdersAreBothLoadedUntilTheNextChange) {
  Loader loader = loader_of({1, 2, 3, 4});
  Error error;
  ASSERT_EQ(dl_loader_seek(loader.get(), 1, 1, &error), DL_OK) << error.message;
  const std::string under_the_first = save_state(loader);
  ASSERT_EQ(dl_loader_seek(loader.get(), 0, 1, &error), DL_OK) << error.message;
  ASSERT_EQ(change(loader, {5, 6, 7, 8}), DL_OK);
  EXPECT_EQ(epoch_samples(loader), (std::vector<uint64_t>{3, 4}));
  EXPECT_EQ(next(loader).values, (std::vector<uint64_t>{5, 6}));
  const std::string under_the_second = save_state(loader);
  ASSERT_EQ(change(loader, {11, 12, 13, 14}), DL_OK);
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(dl_loader_state_load(loader.get(), under_the_second.c_str(), &error), DL_OK) << error.message;
    EXPECT_EQ(epoch_samples(loader), (std::vector<uint64_t>{7, 8}));
    EXPECT_EQ(epoch_samples(loader), (std::vector<uint64_t>{11, 12, 13, 14}));
    ASSERT_EQ(dl_loader_state_load(loader.get(), under_the_first.c_str(), &error), DL_OK) << error.message;
    EXPECT_EQ(epoch_samples(loader), (std::vector<uint64_t>{3, 4}));
    EXPECT_EQ(epoch_samples(loader), (std::vector<uint64_t>{11, 12, 13, 14}));
  }
  ASSERT_EQ(dl_loader_seek(loader.get(), 0, 0, &error), DL_OK) << error.message;
  EXPECT_EQ(epoch_samples(loader), (std::vector<uint64_t>{1, 2, 3, 4})) << "the epoch before keeps its own";
  loader.reset();
  EXPECT_EQ(lender_.returned(), std::vector<int>(3, 1));
}

INSTANTIATE_TEST_SUITE_P(Workers, CallersOrder, ::testing::Values("0", "2"));

}  // namespace
}  // namespace dataline::tests::indices_test
