// Options by key, arrays lent to them, tables, tokens, the host's tables.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <set>
#include <string_view>

#include "tests/cpp/support.h"

namespace dataline::cpp_tests::options_test {
namespace {

TEST(CppOptions, TakeTextIntegersAndBooleansOfAnyWidth) {
  const Options options{{"batch_size", uint8_t{200}}, {"prefetch_depth", 3L},
                        {"drop_last", true},          {"shuffle", true},
                        {"memory_budget", "64MiB"},   {"seed", size_t{7}},
                        {"transform", std::string()}, {"lease_overflow", std::string_view("error")}};
  EXPECT_EQ(options.get("batch_size"), "200");
  EXPECT_EQ(options.get("prefetch_depth"), "3");
  EXPECT_EQ(options.get("drop_last"), "true");
  EXPECT_EQ(options.get("shuffle"), "full");
  EXPECT_EQ(options.get("memory_budget"), std::to_string(64 << 20));
  EXPECT_EQ(options.get("seed"), "7");
  EXPECT_EQ(options.get("lease_overflow"), "error");
}

TEST(CppOptions, AnIntegerBeyondI64IsRefusedByItsOwnDigits) {
  const Error error = thrown_by([] { Options().set("seed", UINT64_MAX); });
  EXPECT_EQ(error.code(), DL_ERR_BAD_OPTION);
  EXPECT_TRUE(says(error, {"seed", "18446744073709551615"}));
}

TEST(CppOptions, ABooleanIsNoNumberAndNoText) {
  const std::vector<dl_option_info> table = option_table();
  for (const dl_option_info& info : table) {
    const bool takes_booleans = info.type == DL_OPTION_BOOL || info.key == std::string_view("shuffle");
    for (const bool value : {false, true}) {
      Options options;
      const Result<void> done = options.try_set(info.key, value);
      EXPECT_EQ(done.status(), takes_booleans ? DL_OK : DL_ERR_BAD_OPTION) << info.key;
      EXPECT_TRUE(takes_booleans || says(done.error(), {info.key, "expected"})) << info.key;
    }
  }
}

TEST(CppOptions, TryCreateGivesTheFirstFault) {
  EXPECT_TRUE(Options::try_create({{"batch_size", 4}, {"shuffle", "full"}}));
  EXPECT_EQ(Options::try_create({{"batch_size", 4}, {"shuffel", "full"}}).status(), DL_ERR_UNKNOWN_OPTION);
}

TEST(CppOptions, AnArrayGoesOnlyToAKeyOfItsKind) {
  const std::vector<int64_t> indices = {2, 0};
  Options options{{"sample_indices", indices}, {"epochs", 1}};
  Loader loader(counting(3), options);
  EXPECT_EQ(loop(loader), (std::vector<uint64_t>{2, 0}));
  EXPECT_EQ(options.try_set("weights", indices).status(), DL_ERR_BAD_OPTION);
  EXPECT_EQ(options.try_set("batch_size", indices).status(), DL_ERR_BAD_OPTION);
  EXPECT_EQ(options.try_set("sample_indicess", indices).status(), DL_ERR_UNKNOWN_OPTION);
  EXPECT_EQ(options.try_set("sample_indices", std::vector<double>{1.0}).status(), DL_ERR_BAD_OPTION);
}

TEST(CppOptions, EveryKeyOfTheTableIsTakenWithItsDefault) {
  const std::vector<dl_option_info> table = option_table();
  ASSERT_EQ(table.size(), static_cast<size_t>(dl_option_count()));
  std::set<std::string> keys;
  for (const dl_option_info& info : table) {
    EXPECT_TRUE(keys.insert(info.key).second);
    if (info.type == DL_OPTION_INDICES || info.type == DL_OPTION_WEIGHTS || info.type == DL_OPTION_LENGTHS ||
        *info.default_value == '\0')
      continue;
    Options options;
    EXPECT_TRUE(options.try_set(info.key, info.default_value)) << info.key;
    EXPECT_NE(options.get(info.key), "") << info.key;
  }
  EXPECT_TRUE(keys.count("batch_size") == 1 && keys.count("transform") == 1);
}

TEST(CppOptions, TransformsAreListedWithTheirArguments) {
  const std::vector<Transform> table = transform_table();
  ASSERT_EQ(table.size(), static_cast<size_t>(dl_transform_count(nullptr)));
  bool found = false;
  for (const Transform& entry : table) {
    EXPECT_EQ(entry.arguments.size(), static_cast<size_t>(entry.info.argument_count));
    found = found || (std::string_view(entry.info.name) == "cast" &&
                      std::string_view(entry.arguments.at(0).name) == "dtype");
  }
  EXPECT_TRUE(found);
}

TEST(CppOptions, LentArraysComeBackOnceWhenNothingNeedsThem) {
  std::atomic<int> returned{0}, alive{0};
  const std::vector<int64_t> indices = {1, 0};
  Options options;
  options.borrow_indices(indices, Loan(&returned, &alive));
  Loader loader(counting(2), options);
  options = Options();
  EXPECT_EQ(returned, 0) << "the loader needs it";
  EXPECT_EQ(alive, 1);
  EXPECT_EQ(loader.next()->sample_indices()[0], 1);
  loader = Loader();
  EXPECT_EQ(returned, 1);
  EXPECT_EQ(alive, 0);
  const std::vector<double> weights = {1.0, 0.0};
  Options().borrow_weights(weights, Loan(&returned, &alive));
  EXPECT_EQ(returned, 2);
  EXPECT_EQ(alive, 0);
}

TEST(CppOptions, ACopySharesWhatWasLentAndChangesAlone) {
  std::atomic<int> returned{0}, alive{0};
  const std::vector<int64_t> indices = {1, 0};
  Options options{{"batch_size", 1}};
  options.borrow_indices(indices, Loan(&returned, &alive));
  Options copy = options.copy();
  copy.set("batch_size", 2);
  EXPECT_EQ(options.get("batch_size"), "1");
  options = Options();
  EXPECT_EQ(returned, 0) << "the copy needs it";
  Loader loader(counting(2), copy);
  const Result<Batch> batch = loader.next();
  EXPECT_EQ(std::vector<int64_t>(batch->sample_indices().begin(), batch->sample_indices().end()), indices);
  loader = Loader();
  copy = Options();
  EXPECT_EQ(returned, 1);
  EXPECT_EQ(alive, 0);
  EXPECT_FALSE(Options().copy()) << "nothing set, nothing made";
}

TEST(CppOptions, ALoanThatIsRefusedIsNotTaken) {
  std::atomic<int> returned{0}, alive{0};
  Options options;
  EXPECT_EQ(options.try_borrow_indices(detail::span_of<const int64_t>(nullptr, 0), Loan(&returned, &alive))
                .status(),
            DL_OK);
  EXPECT_EQ(options
                .try_borrow_indices(Span<const int64_t>(static_cast<const int64_t*>(nullptr), size_t{1}),
                                    Loan(&returned, &alive))
                .status(),
            DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(returned, 0);
  EXPECT_EQ(alive, 1) << "that of the first";
}

TEST(CppOptions, ATokenEndsTheWaitsOfItsLoaders) {
  const CancelToken token;
  Options options{{"num_workers", 1}};
  options.set_cancel_token(token);
  const Dataset dataset = counting(8);
  Loader loader(dataset, options);
  EXPECT_EQ(loader.next().status(), DL_OK);
  token.cancel();
  EXPECT_EQ(loader.next().status(), DL_CANCELLED);
  EXPECT_STREQ(loader.next().error().message(), "DL_CANCELLED");
}

TEST(CppOptions, TheHostsAllocatorIsUsedAndRefusedWhenIncomplete) {
  std::atomic<int64_t> blocks{0};
  dl_allocator allocator = {};
  allocator.struct_size = sizeof allocator;
  allocator.context = &blocks;
  allocator.allocate = [](void* context, size_t bytes, size_t alignment, int32_t) {
    ++*static_cast<std::atomic<int64_t>*>(context);
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  };
  Options options;
  EXPECT_EQ(options.try_set_allocator(allocator).status(), DL_ERR_INVALID_ARGUMENT) << "no release";
  allocator.release = [](void* context, void* memory, size_t, size_t, int32_t) {
    --*static_cast<std::atomic<int64_t>*>(context);
    std::free(memory);
  };
  options.set_allocator(allocator);
  {
    Loader loader(counting(8), options);
    EXPECT_GT(blocks, 0);
    loop(loader);
  }
  EXPECT_EQ(blocks, 0);
}

TEST(CppOptions, AutoIsWhatTheLauncherSaysWhenTheLoaderIsMade) {
  const auto first = [](const char* rank, const char* size) {
    Options options{{"rank", rank}, {"world_size", size}, {"global_batch_size", 6}};
    Loader loader(counting(30), options);
    EXPECT_EQ(options.get("rank"), rank);
    const auto indices = loader.next()->info().sample_indices;
    return std::vector<int64_t>(indices, indices + 2);
  };
  for (const char* name : {"LOCAL_RANK", "LOCAL_WORLD_SIZE"}) unsetenv(name);
  setenv("RANK", "2", 1);
  setenv("WORLD_SIZE", "3", 1);
  EXPECT_EQ(launcher().family, "torchrun");
  EXPECT_EQ(launcher().rank, 2);
  EXPECT_EQ(launcher().local_rank, -1);
  EXPECT_EQ(first("auto", "auto"), first("2", "3"));
  unsetenv("WORLD_SIZE");
  EXPECT_EQ(try_launcher().status(), DL_ERR_INVALID_ARGUMENT);
  const Options half{{"rank", "auto"}, {"world_size", "auto"}};
  EXPECT_EQ(Loader::try_create(counting(30), half).status(), DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(first("0", "3"), (std::vector<int64_t>{0, 1})) << "numbers ask nobody";
  unsetenv("RANK");
  EXPECT_EQ(launcher().family, "none");
}

}  // namespace
}  // namespace dataline::cpp_tests::options_test
