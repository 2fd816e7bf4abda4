// Errors, results, and handles that are empty or were moved from.
// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <type_traits>

#include "tests/cpp/support.h"

namespace dataline::cpp_tests::errors_test {
namespace {

TEST(CppError, CarriesCodeNameMessageAndOsError) {
  const Error error = thrown_by([] { Dataset("idx:/no/such/file"); });
  EXPECT_EQ(error.code(), DL_ERR_NOT_FOUND);
  EXPECT_STREQ(error.name(), "DL_ERR_NOT_FOUND");
  EXPECT_EQ(error.os_error(), ENOENT);
  EXPECT_EQ(error.sample_index(), -1);
  EXPECT_STREQ(error.what(), error.message());
  EXPECT_TRUE(says(error, {"/no/such/file"}));
}

TEST(CppError, EachKindOfFaultHasItsCodeAndPlace) {
  const Error uri = thrown_by([] { Dataset("idx:train?trailing"); });
  EXPECT_EQ(uri.code(), DL_ERR_BAD_URI);
  EXPECT_GT(uri.column(), 0);
  EXPECT_EQ(thrown_by([] { Options().set("batch_sise", 8); }).code(), DL_ERR_UNKNOWN_OPTION);
  EXPECT_EQ(thrown_by([] { Options().set("shuffle", "perhaps"); }).code(), DL_ERR_BAD_OPTION);
  const Dataset dataset = counting(4);
  const Error transform = thrown_by([&] { Loader(dataset, {{"transform", "cast(f99)"}}); });
  EXPECT_EQ(transform.code(), DL_ERR_BAD_TRANSFORM);
  EXPECT_GT(transform.column(), 0);
  EXPECT_EQ(thrown_by([&] { dataset.subset(std::vector<int64_t>{4}); }).code(), DL_ERR_OUT_OF_RANGE);
  EXPECT_EQ(thrown_by([&] { Dataset::zip({dataset, counting(5)}); }).code(), DL_ERR_MISMATCH);
  Loader loader(dataset);
  EXPECT_EQ(thrown_by([&] { loader.load_state("nothing like it"); }).code(), DL_ERR_BAD_STATE);
}

TEST(CppError, IsAStdExceptionThatCopiesWithoutThrowing) {
  static_assert(std::is_nothrow_copy_constructible_v<Error> && std::is_nothrow_copy_assignable_v<Error>);
  try {
    Dataset("idx:/no/such/file");
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("/no/such/file"), std::string::npos);
  }
  const Error longest(DL_ERR_IO, std::string(2000, 'x'));
  const Error copy = longest;
  EXPECT_EQ(std::string(copy.message()), std::string(sizeof(dl_error::message) - 1, 'x'));
}

TEST(CppResult, HoldsTheValueOrTheError) {
  Result<Dataset> bad = Dataset::try_open("idx:/no/such/file");
  EXPECT_FALSE(bad);
  EXPECT_EQ(bad.status(), DL_ERR_NOT_FOUND);
  EXPECT_EQ(thrown_by([&] { bad.value(); }).code(), DL_ERR_NOT_FOUND);
  Result<Dataset> good = Dataset::try_copy_arrays({Array("data", count_to(3))});
  ASSERT_TRUE(good);
  EXPECT_EQ(good.status(), DL_OK);
  EXPECT_EQ(good->size(), 3);
  const Dataset taken = std::move(good).value();
  EXPECT_EQ(taken.size(), 3);
}

TEST(CppHandles, AreMoveOnlyButForBatches) {
  static_assert(!std::is_copy_constructible_v<Dataset> && std::is_nothrow_move_constructible_v<Dataset>);
  static_assert(!std::is_copy_constructible_v<Loader> && std::is_nothrow_move_constructible_v<Loader>);
  static_assert(!std::is_copy_constructible_v<Options> && std::is_nothrow_move_constructible_v<Options>);
  static_assert(!std::is_copy_constructible_v<CancelToken> &&
                std::is_nothrow_move_constructible_v<CancelToken>);
  static_assert(std::is_nothrow_copy_constructible_v<Batch> && std::is_nothrow_move_constructible_v<Batch>);
}

TEST(CppHandles, AMovedFromDatasetAnswersZeroAndFailsByName) {
  Dataset from = counting(4);
  const Dataset to = std::move(from);
  EXPECT_EQ(to.size(), 4);
  // NOLINTBEGIN(bugprone-use-after-move): what it does is the claim
  EXPECT_FALSE(from);
  EXPECT_EQ(from.size(), 0);
  EXPECT_TRUE(from.fields().empty());
  EXPECT_STREQ(from.format(), "");
  EXPECT_TRUE(from.notes().empty());
  EXPECT_EQ(Loader::try_create(from).status(), DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(Dataset::try_concat({to, from}).status(), DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(from.try_subset(std::vector<int64_t>{0}).status(), DL_ERR_INVALID_ARGUMENT);
  from = counting(2);
  EXPECT_EQ(from.size(), 2);
  // NOLINTEND(bugprone-use-after-move)
}

TEST(CppHandles, AMovedFromLoaderFailsEveryCall) {
  Loader from(counting(4));
  Loader to = std::move(from);
  // NOLINTBEGIN(bugprone-use-after-move): what it does is the claim
  EXPECT_FALSE(from);
  EXPECT_EQ(from.try_next().status(), DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(from.try_position().status(), DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(from.try_seek({0, 0}).status(), DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(from.try_save_state().status(), DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(from.try_load_state("").status(), DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(from.try_stats().status(), DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(from.try_wait_handle().status(), DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(from.try_set_indices(std::vector<int64_t>{0}).status(), DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(from.epoch().status(), DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(thrown_by([&] { loop(from); }).code(), DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(from.steps(), 0);
  EXPECT_TRUE(from.fields().empty());
  EXPECT_TRUE(from.bad_samples().empty());
  from.cancel();
  from.interrupt();
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_EQ(loop(to).size(), 4u);
}

TEST(CppHandles, AMovedFromBatchHasNoFieldsAndZeros) {
  Loader loader(counting(4));
  Batch from = loader.next().value();
  const Batch to = std::move(from);
  // NOLINTBEGIN(bugprone-use-after-move): what it does is the claim
  EXPECT_FALSE(from);
  EXPECT_TRUE(from.views().empty());
  EXPECT_EQ(from.samples(), 0);
  EXPECT_TRUE(from.sample_indices().empty());
  EXPECT_EQ(from.try_view("data").status(), DL_ERR_NO_SUCH_FIELD);
  EXPECT_EQ(from.try_wait(nullptr).status(), DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(from.try_release_on(nullptr).status(), DL_ERR_INVALID_ARGUMENT);
  from.reset();
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_EQ(values_of(to), count_to(4));
  EXPECT_EQ(View().try_as<float>().status(), DL_ERR_INVALID_ARGUMENT);
}

TEST(CppHandles, MovedFromOptionsAreOptionsInWhichNothingIsSet) {
  Options from{{"batch_size", 7}};
  Options to = std::move(from);
  EXPECT_EQ(to.get("batch_size"), "7");
  EXPECT_EQ(from.get("batch_size"),
            Options().get("batch_size"));  // NOLINT(bugprone-use-after-move): the claim
  from.set("batch_size", 9);
  EXPECT_EQ(from.get("batch_size"), "9");
}

}  // namespace
}  // namespace dataline::cpp_tests::errors_test
