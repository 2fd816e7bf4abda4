// The tables bindings are made from: options, transforms, dtypes; and what setting an option accepts.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <set>

#include "tests/support/job.h"

namespace dataline::tests::tables_test {
namespace {

dl_option_info option_at(int32_t index) {
  dl_option_info info = {};
  info.struct_size = sizeof info;
  Error error;
  EXPECT_EQ(dl_option_at(index, &info, &error), DL_OK) << error.message;
  return info;
}

std::vector<dl_option_info> all_options() {
  std::vector<dl_option_info> all;
  for (int32_t i = 0; i < dl_option_count(); ++i) all.push_back(option_at(i));
  return all;
}

bool is_number(const dl_option_info& info) {
  return info.type == DL_OPTION_BOOL || info.type == DL_OPTION_INT || info.type == DL_OPTION_SIZE;
}

std::string value_of(const Options& options, const char* key) {
  const char* text = nullptr;
  Error error;
  EXPECT_EQ(dl_options_get(options.get(), key, &text, &error), DL_OK) << error.message;
  return text == nullptr ? "" : text;
}

// What a refused set says; "" and a failure when it was accepted.
std::string refusal(const char* key, const std::string& value, dl_status expected = DL_ERR_BAD_OPTION) {
  Error error;
  EXPECT_EQ(dl_options_set(make_options().get(), key, value.c_str(), &error), expected)
      << key << "=" << value;
  return error.message;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(OptionTable, EntriesAreCompleteAndKeysUnique) {
  std::set<std::string> keys;
  for (const dl_option_info& info : all_options()) {
    EXPECT_TRUE(keys.insert(info.key).second) << info.key;
    EXPECT_GE(info.type, DL_OPTION_BOOL);
    EXPECT_LE(info.type, DL_OPTION_LENGTHS);
    EXPECT_TRUE(info.scope >= DL_SCOPE_DATASET && info.scope <= 3) << info.key;
    EXPECT_GT(std::strlen(info.doc), 10u) << info.key;
    EXPECT_STREQ(info.since, "0.1") << info.key;
    EXPECT_EQ(info.type == DL_OPTION_WORD, info.choices[0] != '\0') << info.key;
    EXPECT_TRUE(info.type != DL_OPTION_SIZE || std::string(info.unit) == "bytes") << info.key;
    EXPECT_TRUE(info.has_range == 0 || info.minimum <= info.maximum) << info.key;
  }
  for (int32_t outside : {-1, dl_option_count(), INT32_MAX, INT32_MIN}) {
    dl_option_info info = {};
    info.struct_size = sizeof info;
    EXPECT_EQ(dl_option_at(outside, &info, nullptr), DL_ERR_INVALID_ARGUMENT);
  }
}

TEST(OptionTable, NoKeyIsAWordOfTheShell) {
  const std::set<std::string> taken = {"json",   "field",      "indices",    "batches", "seconds",
                                       "output", "save_state", "load_state", "plan",    "images",
                                       "sample", "repeat",     "help",       "version"};
  for (const dl_option_info& info : all_options()) EXPECT_FALSE(taken.contains(info.key)) << info.key;
}

TEST(OptionTable, DefaultsAreInForceAndParse) {
  for (const dl_option_info& info : all_options()) {
    const std::string standard = info.default_value;
    EXPECT_EQ(value_of(make_options(), info.key), standard) << info.key;
    if (standard.empty()) continue;
    Options options = make_options({{info.key, standard}});
    const std::string now = value_of(options, info.key);
    if (info.type == DL_OPTION_SIZE && standard != "auto") {
      EXPECT_EQ(value_of(make_options({{info.key, now}}), info.key), now) << info.key;
    } else {
      EXPECT_EQ(now, standard) << info.key;
    }
  }
}

TEST(OptionTable, NumbersAreAcceptedInTheirRangeAndRefusedBeyondByName) {
  for (const dl_option_info& info : all_options()) {
    if (!is_number(info)) continue;
    ASSERT_NE(info.has_range, 0) << info.key;
    Options options = make_options();
    Error error;
    for (int64_t value : {info.minimum, info.maximum}) {
      EXPECT_EQ(dl_options_set_i64(options.get(), info.key, value, &error), DL_OK)
          << info.key << ": " << error.message;
    }
    const std::string at_maximum = value_of(options, info.key);
    EXPECT_EQ(dl_options_set_i64(options.get(), info.key, info.minimum - 1, &error), DL_ERR_BAD_OPTION)
        << info.key;
    EXPECT_TRUE(contains(error.message, info.key)) << error.message;
    const bool is_bool = info.type == DL_OPTION_BOOL;
    EXPECT_TRUE(contains(error.message, is_bool ? "true or false" : "from " + std::to_string(info.minimum)))
        << error.message;
    if (info.maximum < INT64_MAX) {
      EXPECT_EQ(dl_options_set_i64(options.get(), info.key, info.maximum + 1, &error), DL_ERR_BAD_OPTION)
          << info.key;
      EXPECT_TRUE(is_bool || contains(error.message, "to " + std::to_string(info.maximum))) << error.message;
    }
    EXPECT_EQ(value_of(options, info.key), at_maximum) << "a refused value changes nothing";
    if (info.type == DL_OPTION_INT) {
      for (int64_t value : {info.minimum, info.maximum}) {
        EXPECT_EQ(value_of(make_options({{info.key, std::to_string(value)}}), info.key),
                  value == -1 && std::string(info.default_value) == "auto" ? "auto" : std::to_string(value));
      }
      EXPECT_TRUE(contains(refusal(info.key, std::to_string(info.minimum - 1)), info.key));
    }
    for (const char* wrong :
         {"", " ", "1x", "9223372036854775808", "-9223372036854775809", "0x10", "1,5", "nan"}) {
      EXPECT_TRUE(contains(refusal(info.key, wrong), info.key)) << wrong;
    }
  }
}

TEST(OptionTable, WordsTakeTheirChoicesOnly) {
  for (const dl_option_info& info : all_options()) {
    if (info.type != DL_OPTION_WORD) continue;
    std::string choices = info.choices;
    for (size_t begin = 0; begin <= choices.size();) {
      const size_t end = std::min(choices.find('|', begin), choices.size());
      make_options({{info.key, choices.substr(begin, end - begin)}});
      begin = end + 1;
    }
    const std::string said = refusal(info.key, "keep|drop");
    EXPECT_TRUE(contains(said, info.key) && contains(said, info.choices)) << said;
    Error error;
    if (std::string(info.key) != "shuffle") {
      EXPECT_EQ(dl_options_set_i64(make_options().get(), info.key, 0, &error), DL_ERR_BAD_OPTION) << info.key;
    }
  }
  EXPECT_EQ(value_of(make_options({{"shuffle", "true"}}), "shuffle"), "full");
  EXPECT_EQ(value_of(make_options({{"shuffle", "false"}}), "shuffle"), "none");
}

TEST(OptionTable, ArraysAndTextsAreNotNumbers) {
  for (const dl_option_info& info : all_options()) {
    if (is_number(info) || info.type == DL_OPTION_WORD) continue;
    Error error;
    EXPECT_EQ(dl_options_set_i64(make_options().get(), info.key, 1, &error), DL_ERR_BAD_OPTION) << info.key;
    EXPECT_TRUE(contains(error.message, info.key)) << error.message;
    if (info.type == DL_OPTION_TEXT) continue;
    EXPECT_TRUE(contains(refusal(info.key, "1"), "an array")) << info.key;
  }
}

TEST(OptionTable, UnknownKeysNameTheNearest) {
  for (const auto& [wrong, nearest] :
       std::vector<std::pair<const char*, const char*>>{{"batchsize", "'batch_size'"},
                                                        {"num_worker", "'num_workers'"},
                                                        {"shufle", "'shuffle'"},
                                                        {"Seed", "'seed'"}}) {
    const std::string said = refusal(wrong, "1", DL_ERR_UNKNOWN_OPTION);
    EXPECT_TRUE(contains(said, wrong) && contains(said, nearest)) << said;
  }
  EXPECT_FALSE(contains(refusal("qqqqqqqqqq", "1", DL_ERR_UNKNOWN_OPTION), "did you mean"));
  EXPECT_FALSE(contains(refusal("", "1", DL_ERR_UNKNOWN_OPTION), "did you mean"));
  const char* text = "kept";
  EXPECT_EQ(dl_options_get(make_options().get(), "batchsize", &text, nullptr), DL_ERR_UNKNOWN_OPTION);
  EXPECT_EQ(text, nullptr);
}

TEST(Options, SizesTakeUnits) {
  EXPECT_EQ(value_of(make_options({{"memory_budget", "64MiB"}}), "memory_budget"), "67108864");
  EXPECT_EQ(value_of(make_options({{"memory_budget", "1.5GiB"}}), "memory_budget"), "1610612736");
  EXPECT_EQ(value_of(make_options({{"max_bytes_per_sample", "512"}}), "max_bytes_per_sample"), "512");
  refusal("memory_budget", "64MB2");
}

TEST(Options, TheLastValueHolds) {
  Dataset dataset = counting_dataset(10);
  EXPECT_EQ(value_of(make_options({{"seed", "1"}, {"seed", "2"}}), "seed"), "2");
  Loader loader = make_loader(
      dataset, {{"batch_size", "3"}, {"batch_size", "5"}, {"drop_last", "true"}, {"drop_last", "false"}});
  EXPECT_EQ(next(loader).values.size(), 5u);
  Options reused = make_options({{"batch_size", "2"}});
  dl_loader* made = nullptr;
  ASSERT_EQ(dl_loader_create(dataset.get(), reused.get(), &made, nullptr), DL_OK);
  Loader two(made);
  ASSERT_EQ(dl_options_set_i64(reused.get(), "batch_size", 7, nullptr), DL_OK);
  EXPECT_EQ(next(two).values.size(), 2u) << "create copied the options";
}

TEST(Options, ThoseThatContradictEachOtherAreRefusedByName) {
  Dataset dataset = counting_dataset(10);
  const std::vector<Settings> contradictions = {
      {{"batch_size", "4"}, {"global_batch_size", "4"}},
      {{"drop_last", "true"}, {"last_batch", "keep"}},
      {{"last_batch", "drop"}, {"drop_last", "false"}},
      {{"drop_last", "true"}, {"last_batch", "pad"}},
      {{"rank", "2"}, {"world_size", "2"}},
  };
  for (const Settings& settings : contradictions) {
    auto [status, said] = create_error(dataset, settings);
    EXPECT_EQ(status, DL_ERR_BAD_OPTION) << said;
    for (const auto& [key, value] : settings) EXPECT_TRUE(contains(said, key)) << said;
  }
  for (const Settings& settings :
       std::vector<Settings>{{{"samples_per_epoch", "5"}}, {{"replacement", "false"}}}) {
    auto [status, said] = create_error(dataset, settings);
    EXPECT_EQ(status, DL_ERR_BAD_OPTION);
    EXPECT_TRUE(contains(said, settings[0].first) && contains(said, "weights")) << said;
  }
  for (const char* key : {"shuffle_block", "shuffle_blocks"}) {
    for (const char* shuffle : {"none", "full"}) {
      auto [status, said] = create_error(dataset, {{key, "64"}, {"shuffle", shuffle}});
      EXPECT_EQ(status, DL_ERR_BAD_OPTION);
      EXPECT_EQ(said, std::string("option ") + key + ": needs shuffle=window");
    }
  }
  make_loader(dataset, {{"batch_size", "4"}, {"drop_last", "true"}, {"last_batch", "drop"}});
  make_loader(dataset, {{"drop_last", "false"}, {"last_batch", "pad"}});
}

TEST(Options, OrdersOfTheCallerGoWithNoOther) {
  Dataset dataset = counting_dataset(3);
  const int64_t indices[] = {2, 1, 0};
  const double weights[] = {1, 2, 3};
  auto create = [&](const Options& options) {
    Error error;
    dl_loader* loader = nullptr;
    EXPECT_EQ(dl_loader_create(dataset.get(), options.get(), &loader, &error), DL_ERR_BAD_OPTION);
    return std::string(error.message);
  };
  Options both = make_options();
  ASSERT_EQ(dl_options_set_indices(both.get(), indices, 3, nullptr, nullptr, nullptr), DL_OK);
  ASSERT_EQ(dl_options_set_weights(both.get(), weights, 3, nullptr, nullptr, nullptr), DL_OK);
  EXPECT_TRUE(contains(create(both), "sample_indices and weights"));
  Options shuffled = make_options({{"shuffle", "full"}});
  ASSERT_EQ(dl_options_set_indices(shuffled.get(), indices, 3, nullptr, nullptr, nullptr), DL_OK);
  EXPECT_TRUE(contains(create(shuffled), "shuffle and sample_indices"));
  Options shorter = make_options();
  ASSERT_EQ(dl_options_set_weights(shorter.get(), weights, 2, nullptr, nullptr, nullptr), DL_OK);
  EXPECT_TRUE(contains(create(shorter), "expected 3, one per sample, got 2"));
  EXPECT_EQ(dl_options_set_indices(both.get(), indices, -1, nullptr, nullptr, nullptr),
            DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(dl_options_set_weights(both.get(), weights, -1, nullptr, nullptr, nullptr),
            DL_ERR_INVALID_ARGUMENT);
}

TEST(TransformTable, EnumeratesOperatorsAndArguments) {
  std::set<std::string> names;
  ASSERT_GT(dl_transform_count(nullptr), 5);
  for (int32_t i = 0; i < dl_transform_count(nullptr); ++i) {
    dl_transform_info info = {};
    info.struct_size = sizeof info;
    Error error;
    ASSERT_EQ(dl_transform_at(nullptr, i, &info, &error), DL_OK) << error.message;
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_GT(std::strlen(info.doc), 0u) << info.name;
    EXPECT_GT(std::strlen(info.source), 0u) << info.name;
    EXPECT_STREQ(info.since, "0.1") << info.name;
    for (int32_t a = 0; a < info.argument_count; ++a) {
      dl_argument_info argument = {};
      argument.struct_size = sizeof argument;
      ASSERT_EQ(dl_transform_argument_at(nullptr, i, a, &argument, &error), DL_OK) << error.message;
      EXPECT_GT(std::strlen(argument.name), 0u) << info.name;
      EXPECT_GT(std::strlen(argument.type), 0u) << info.name;
      EXPECT_NE(argument.default_value, nullptr) << info.name;
    }
    dl_argument_info none = {};
    none.struct_size = sizeof none;
    EXPECT_EQ(dl_transform_argument_at(nullptr, i, info.argument_count, &none, &error),
              DL_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(dl_transform_argument_at(nullptr, i, -1, &none, &error), DL_ERR_INVALID_ARGUMENT);
  }
  for (const char* name :
       {"cast", "scale", "normalize", "one_hot", "reshape", "flatten", "hwc", "chw", "pad_to"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
  for (int32_t outside : {-1, dl_transform_count(nullptr)}) {
    dl_transform_info info = {};
    info.struct_size = sizeof info;
    EXPECT_EQ(dl_transform_at(nullptr, outside, &info, nullptr), DL_ERR_INVALID_ARGUMENT);
  }
}

TEST(Dtypes, NamesAndSizesAreThoseOfTheUris) {
  const std::vector<std::pair<const char*, int32_t>> dtypes = {
      {"bool", 1}, {"u8", 1},  {"u16", 2},  {"u32", 4}, {"u64", 8}, {"i8", 1},  {"i16", 2},  {"i32", 4},
      {"i64", 8},  {"f16", 2}, {"bf16", 2}, {"f32", 4}, {"f64", 8}, {"c64", 8}, {"c128", 16}};
  for (int32_t dtype = 1; dtype <= DL_DTYPE_C128; ++dtype) {
    const auto& [name, bytes] = dtypes[static_cast<size_t>(dtype) - 1];
    EXPECT_STREQ(dl_dtype_name(dtype), name);
    EXPECT_EQ(dl_dtype_bytes(dtype), bytes) << name;
    EXPECT_EQ(dl_dtype_from_name(name), dtype);
  }
  for (int32_t unknown : {0, -1, 16, INT32_MAX, INT32_MIN}) {
    EXPECT_STREQ(dl_dtype_name(unknown), "?");
    EXPECT_EQ(dl_dtype_bytes(unknown), 0);
  }
  for (const char* unknown : {"", "U8", "float32", "u8 ", "?"})
    EXPECT_EQ(dl_dtype_from_name(unknown), 0) << unknown;
}

TEST(Version, NumberStringAndHeaderAgree) {
  EXPECT_EQ(dl_version_number(), DL_VERSION_MAJOR * 10000 + DL_VERSION_MINOR * 100 + DL_VERSION_PATCH);
  EXPECT_EQ(dl_version_string(), std::to_string(DL_VERSION_MAJOR) + "." + std::to_string(DL_VERSION_MINOR) +
                                     "." + std::to_string(DL_VERSION_PATCH));
  EXPECT_EQ(dl_abi_version(), DL_ABI_VERSION);
  EXPECT_TRUE(contains(dl_build_info(), "; "));
}

}  // namespace
}  // namespace dataline::tests::tables_test
