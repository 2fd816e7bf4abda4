// A copy of options: every value, what was set and what was not, arrays, tables, extensions and the token; and independent.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "tests/support/job.h"

namespace dataline::tests::options_copy_test {
namespace {

Options copy_of(const Options& options) {
  Error error;
  dl_options* copy = nullptr;
  EXPECT_EQ(dl_options_copy(options.get(), &copy, &error), DL_OK) << error.message;
  EXPECT_NE(copy, options.get());
  return Options(copy);
}

std::string value_of(const Options& options, const char* key) {
  const char* text = nullptr;
  EXPECT_EQ(dl_options_get(options.get(), key, &text, nullptr), DL_OK) << key;
  return text == nullptr ? "" : text;
}

// Another value than the default; "" for what has none to offer.
std::string other_value(const dl_option_info& info) {
  const std::string standard = info.default_value;
  switch (info.type) {
    case DL_OPTION_BOOL:
      return standard == "true" ? "false" : "true";
    case DL_OPTION_INT:
    case DL_OPTION_SIZE:
      return std::to_string(info.has_range != 0 ? info.maximum : 3);
    case DL_OPTION_WORD: {
      const std::string choices = info.choices;
      return choices.substr(choices.rfind('|') + 1);
    }
    case DL_OPTION_TEXT:
      return "cast(f32)";
    default:
      return "";
  }
}

TEST(OptionsCopy, HasEveryValueOfTheTable) {
  const Options options = make_options();
  int changed = 0;
  for (int32_t i = 0; i < dl_option_count(); ++i) {
    dl_option_info info = {};
    info.struct_size = sizeof info;
    ASSERT_EQ(dl_option_at(i, &info, nullptr), DL_OK);
    const std::string value = other_value(info);
    if (value.empty() || dl_options_set(options.get(), info.key, value.c_str(), nullptr) != DL_OK) continue;
    const Options copy = copy_of(options);
    EXPECT_EQ(value_of(copy, info.key), value_of(options, info.key)) << info.key;
    changed += value_of(copy, info.key) != info.default_value ? 1 : 0;
  }
  EXPECT_GT(changed, 20);
}

TEST(OptionsCopy, ALaterChangeOfOneIsNoneOfTheOther) {
  const Options options = make_options({{"batch_size", "8"}});
  const Options copy = copy_of(options);
  ASSERT_EQ(dl_options_set(options.get(), "batch_size", "16", nullptr), DL_OK);
  ASSERT_EQ(dl_options_set(copy.get(), "seed", "5", nullptr), DL_OK);
  // What `get` lends belongs to the one that was asked.
  const char *original_text = nullptr, *copied_text = nullptr;
  ASSERT_EQ(dl_options_get(options.get(), "batch_size", &original_text, nullptr), DL_OK);
  ASSERT_EQ(dl_options_get(copy.get(), "batch_size", &copied_text, nullptr), DL_OK);
  EXPECT_STREQ(original_text, "16");
  EXPECT_STREQ(copied_text, "8");
  EXPECT_EQ(value_of(options, "seed"), "0");
}

Loader loader_of(const Dataset& dataset, const Options& options) {
  Error error;
  dl_loader* loader = nullptr;
  EXPECT_EQ(dl_loader_create(dataset.get(), options.get(), &loader, &error), DL_OK) << error.message;
  return Loader(loader);
}

TEST(OptionsCopy, WhatWasSetToItsDefaultIsStillSet) {
  const Options options = make_options({{"batch_size", "32"}, {"global_batch_size", "64"}});
  const Options copy = copy_of(options);
  const Dataset dataset = counting_dataset(4);
  for (const dl_options* tried : {options.get(), copy.get()}) {
    Error error;
    dl_loader* loader = nullptr;
    EXPECT_EQ(dl_loader_create(dataset.get(), tried, &loader, &error), DL_ERR_BAD_OPTION);
    EXPECT_NE(std::string(error.message).find("global_batch_size"), std::string::npos) << error.message;
  }
}

// What the host lends or hands in is counted back here.
std::atomic<int> given_back;
void give_back(void*) { given_back.fetch_add(1); }

TEST(OptionsCopy, ArraysAreSharedAndReleasedOnceWhenNeitherNeedsThem) {
  given_back = 0;
  const int64_t indices[] = {3, 1};
  const double weights[] = {0, 0, 1, 0};
  const Dataset dataset = counting_dataset(4);
  Options options = make_options();
  ASSERT_EQ(dl_options_set_indices(options.get(), indices, 2, give_back, nullptr, nullptr), DL_OK);
  Options copy = copy_of(options);
  options.reset();
  EXPECT_EQ(given_back, 0) << "the copy needs them";
  EXPECT_EQ(next(loader_of(dataset, copy)).values, (std::vector<uint64_t>{3, 1}));
  copy.reset();
  EXPECT_EQ(given_back, 1);

  options = make_options({{"samples_per_epoch", "3"}});
  ASSERT_EQ(dl_options_set_weights(options.get(), weights, 4, give_back, nullptr, nullptr), DL_OK);
  copy = copy_of(options);
  options.reset();
  EXPECT_EQ(next(loader_of(dataset, copy)).values, (std::vector<uint64_t>{2, 2, 2}));
  EXPECT_EQ(given_back, 1);
  copy.reset();
  EXPECT_EQ(given_back, 2);
}

TEST(OptionsCopy, TablesExtensionsAndTheTokenGoAlong) {
  given_back = 0;
  static std::atomic<int> blocks, rows;
  blocks = rows = 0;
  dl_allocator allocator = {};
  allocator.struct_size = sizeof allocator;
  allocator.allocate = [](void*, size_t bytes, size_t alignment, int32_t) {
    blocks.fetch_add(1);
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  };
  allocator.release = [](void*, void* memory, size_t, size_t, int32_t) { std::free(memory); };
  allocator.destroy = give_back;
  dl_log log = {};
  log.struct_size = sizeof log;
  log.write = [](void*, int32_t, const char*, size_t) {};
  log.destroy = give_back;
  dl_operator same = {};
  same.struct_size = sizeof same;
  same.name = "same";
  same.prepare = [](void*, dl_operator_use*, dl_error*) -> dl_status { return DL_OK; };
  same.apply = [](void*, dl_operator_row* row, dl_error*) -> dl_status {
    std::memcpy(row->output, row->input, static_cast<size_t>(row->input_bytes));
    rows.fetch_add(1);
    return DL_OK;
  };
  same.destroy = give_back;
  dl_cancel_token* token = nullptr;
  ASSERT_EQ(dl_cancel_token_create(&token, nullptr), DL_OK);
  dl_extensions* extensions = nullptr;
  ASSERT_EQ(dl_extensions_create(&extensions, nullptr), DL_OK);
  ASSERT_EQ(dl_extensions_add_operator(extensions, &same, nullptr), DL_OK);

  Options options = make_options({{"transform", "same"}, {"batch_size", "2"}});
  ASSERT_EQ(dl_options_set_allocator(options.get(), &allocator, nullptr), DL_OK);
  ASSERT_EQ(dl_options_set_log(options.get(), &log, nullptr), DL_OK);
  ASSERT_EQ(dl_options_set_cancel_token(options.get(), token, nullptr), DL_OK);
  ASSERT_EQ(dl_options_set_extensions(options.get(), extensions, nullptr), DL_OK);
  Options copy = copy_of(options);
  options.reset();
  dl_extensions_destroy(extensions);
  EXPECT_EQ(given_back, 0) << "the copy needs allocator, log and operator";

  const Dataset dataset = counting_dataset(4);
  Loader loader = loader_of(dataset, copy);
  EXPECT_EQ(next(loader).values, (std::vector<uint64_t>{0, 1}));
  EXPECT_GT(blocks, 0);
  EXPECT_GE(rows, 2);
  dl_cancel_token_cancel(token);
  EXPECT_EQ(next(loader).status, DL_CANCELLED);
  dl_cancel_token_destroy(token);
  copy.reset();
  loader.reset();
  EXPECT_EQ(given_back, 3);
}

}  // namespace
}  // namespace dataline::tests::options_copy_test
