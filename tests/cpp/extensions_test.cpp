// Extensions over dataline.hpp: the cases of tests/extensions, errors, lifetimes, threads, tables.
// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "tests/cpp/extension_samples.h"
#include "tests/cpp/support.h"
#include "tests/support/places.h"

namespace dataline::cpp_tests::extensions_test {
namespace {

// ---- The cases of tests/extensions ----

struct Case {
  std::string name, uri, options, expected;
};

std::vector<Case> read_cases() {
  const std::string folder = tests::in_repository("tests/extensions");
  std::ifstream file(folder + "/cases.txt");
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> parts;
    std::istringstream text(line);
    for (std::string part; std::getline(text, part, '|');) {
      part.erase(0, part.find_first_not_of(' '));
      parts.push_back(part.erase(part.find_last_not_of(' ') + 1));
    }
    for (size_t at; (at = parts.at(1).find('@')) != std::string::npos;)
      parts[1].replace(at, 1, folder + "/files");
    cases.push_back({parts[0], parts[1], parts.at(2), parts.at(3)});
  }
  return cases;
}

void add(uint64_t& hash, Span<const std::byte> bytes) {
  for (std::byte byte : bytes) hash = (hash ^ static_cast<uint64_t>(byte)) * 0x100000001B3u;
}

// FNV-1a-64 of all batches: their samples, then each field.
std::string digest(Loader& loader) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (;;) {
    Result<Batch> batch = loader.next();
    if (batch.status() == DL_END) break;
    if (batch.status() == DL_END_OF_EPOCH) continue;
    const Span<const int64_t> indices = batch.value().sample_indices();
    add(hash, {reinterpret_cast<const std::byte*>(indices.data()), indices.size() * sizeof(int64_t)});
    for (const View& view : batch->views()) add(hash, view.as<std::byte>());
  }
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

class CppExtensionCases : public ::testing::TestWithParam<Case> {};

TEST_P(CppExtensionCases, OfTheSamplesInCppGiveWhatIsExpected) {
  Extensions extensions;
  extensions.add_format(dlrec_format()).add_operator(offset_operator()).add_storage(xor_storage());
  Options options;
  options.set_extensions(extensions);
  std::istringstream settings(GetParam().options);
  for (std::string setting; settings >> setting;) {
    const size_t equals = setting.find('=');
    options.set(setting.substr(0, equals), setting.substr(equals + 1));
  }
  std::string got;
  try {
    const Dataset dataset(GetParam().uri, options);
    Loader loader(dataset, options);
    got = digest(loader);
  } catch (const Error& error) {
    got = std::string(error.name()) + " " + error.message();
  }
  const std::string& expected = GetParam().expected;
  const size_t space = expected.find(' ');
  EXPECT_EQ(got.substr(0, got.find(' ')), expected.substr(0, space)) << got;
  if (space == std::string::npos) return;
  EXPECT_NE(got.find(expected.substr(space + 1)), std::string::npos) << got;
}

INSTANTIATE_TEST_SUITE_P(Cases, CppExtensionCases, ::testing::ValuesIn(read_cases()),
                         [](const ::testing::TestParamInfo<Case>& of) {
                           std::string name;
                           for (char c : of.param.name) name += std::isalnum(c) != 0 ? c : '_';
                           return name;
                         });

TEST(CppExtensions, HaveCases) { EXPECT_GE(read_cases().size(), 20u); }

// ---- Errors and lifetimes ----

// A format whose dataset counts to 3, and which is alive as long as `token`.
Format counting_format(std::shared_ptr<int> token) {
  Format format;
  format.name = "three";
  format.open = [token](const FormatRequest&) -> Result<Dataset> { return counting(3); };
  return format;
}

Options with(const Extensions& extensions) {
  Options options;
  options.set_extensions(extensions);
  return options;
}

TEST(CppExtensions, AreDestroyedOnceWhenNothingNeedsThem) {
  auto token = std::make_shared<int>();
  {
    Dataset dataset;
    {
      Extensions extensions;
      extensions.add_format(counting_format(token));
      dataset = Dataset("three:anywhere", with(extensions));
    }
    EXPECT_EQ(token.use_count(), 2) << "the dataset has its format";
    EXPECT_EQ(dataset.size(), 3);
  }
  EXPECT_EQ(token.use_count(), 1);
  Extensions extensions;
  extensions.add_format(counting_format(token));
  EXPECT_EQ(extensions.try_add_format(counting_format(token)).status(), DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(token.use_count(), 2) << "what was refused is gone";
}

TEST(CppExtensions, AnExceptionIsTheErrorOfTheCall) {
  Extensions extensions;
  Format format;
  format.name = "thrower";
  format.open = [](const FormatRequest& request) -> Result<Dataset> {
    if (request.path() == "coded") throw Error(DL_ERR_CHANGED, "another time");
    throw std::runtime_error("no luck");
  };
  extensions.add_format(format);
  Operator refuses;
  refuses.name = "refuses";
  refuses.prepare = [](OperatorUse&) -> RowFunction { throw std::runtime_error("not today"); };
  Operator fails;
  fails.name = "fails";
  fails.prepare = [](OperatorUse&) -> RowFunction {
    return [](OperatorRow& row) {
      if (row.item<uint64_t>(0) == 1) return row.fail("the one");
      throw std::runtime_error("any other");
    };
  };
  extensions.add_operator(refuses).add_operator(fails);
  Options options = with(extensions);
  EXPECT_TRUE(says(Dataset::try_open("thrower:x", options).error(), {"x", "no luck"}));
  EXPECT_EQ(Dataset::try_open("thrower:x", options).status(), DL_ERR_READER);
  EXPECT_EQ(Dataset::try_open("thrower:coded", options).status(), DL_ERR_CHANGED);
  EXPECT_TRUE(
      says(Loader::try_create(counting(3), options.set("transform", "refuses")).error(), {"not today"}));
  options.set("transform", "fails").set("batch_size", 3);
  Loader loader(counting(3), options);
  const Error bad = thrown_by([&] { loader.next().value(); });
  EXPECT_EQ(bad.code(), DL_ERR_BAD_SAMPLE);
  EXPECT_TRUE(says(bad, {"any other"}));
}

TEST(CppExtensions, AFunctionThatMakesNothingIsAnError) {
  Extensions extensions;
  Operator empty;
  empty.name = "empty";
  empty.prepare = [](OperatorUse&) -> RowFunction { return nullptr; };
  Storage storage;
  storage.scheme = "void";
  storage.open = [](const StorageRequest&) -> Result<std::unique_ptr<StoredObject>> {
    return std::unique_ptr<StoredObject>();
  };
  extensions.add_operator(empty).add_storage(storage);
  Options options = with(extensions);
  EXPECT_TRUE(says(Dataset::try_open("npy:void://x", options).error(), {"open returned no object"}));
  EXPECT_TRUE(says(Loader::try_create(counting(3), options.set("transform", "empty")).error(),
                   {"prepare returned no function"}));
  EXPECT_EQ(extensions.try_add_format(Format()).status(), DL_ERR_INVALID_ARGUMENT);
}

TEST(CppExtensions, AnOperatorMayMakeRowsOfAnyLength) {
  Extensions extensions;
  Operator letters;
  letters.name = "letters";
  letters.prepare = [](OperatorUse& use) -> RowFunction {
    use.ragged(DL_DTYPE_U8, {-1}, 8);
    return [](OperatorRow& row) {
      const auto count = static_cast<size_t>(row.item<uint64_t>(0));
      for (size_t i = 0; i < count; ++i) row.output<uint8_t>()[i] = 'a';
      row.set_bytes(static_cast<int64_t>(count));
    };
  };
  extensions.add_operator(letters);
  Options options = with(extensions);
  options.set("transform", "letters").set("batch_size", 4);
  Loader loader(counting(4), options);
  const Batch batch = loader.next().value();
  const Rows<uint8_t> rows = batch["data"].rows<uint8_t>();
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(rows[i].size(), static_cast<size_t>(i));
}

// ---- Threads, plug-ins, tables ----

TEST(CppExtensions, ThreadsOfTheHostDoTheWork) {
  std::mutex mutex;
  std::vector<std::thread> threads;
  std::atomic<int> started{0}, ended{0};
  {
    Extensions extensions;
    Threads lent;
    lent.start = [&](int32_t, const char*) { ++started; };
    lent.end = [&](int32_t) { ++ended; };
    lent.run = [&](int32_t, const char*, std::function<void()> work) -> int32_t {
      const std::lock_guard<std::mutex> lock(mutex);
      threads.emplace_back(std::move(work));
      return 0;
    };
    extensions.set_threads(std::move(lent));
    Options options = with(extensions);
    options.set("num_workers", 2).set("epochs", 1);
    Loader loader(counting(100), options);
    EXPECT_EQ(loop(loader).size(), 100u);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(threads.size(), 2u);
  EXPECT_EQ(started, ended);
}

TEST(CppExtensions, ThreadsThatTheHostRefusesAreAnError) {
  Extensions extensions;
  Threads none;
  none.run = [](int32_t, const char*, const std::function<void()>&) -> int32_t { return 11; };
  extensions.set_threads(std::move(none));
  Options options = with(extensions);
  const Result<Loader> loader = Loader::try_create(counting(3), options.set("num_workers", 1));
  EXPECT_EQ(loader.status(), DL_ERR_THREAD);
  EXPECT_EQ(loader.error().os_error(), 11);
}

TEST(CppExtensions, TablesHaveThoseOfTheLibraryAndOfThePlugin) {
  Extensions extensions;
  extensions.load(tests::in_build("lib/libdataline-samples.so"));
  EXPECT_EQ(extensions.try_load("surely_not_there").status(), DL_ERR_NOT_FOUND);
  const auto formats = format_table(extensions.get());
  ASSERT_EQ(formats.size(), format_table().size() + 1);
  EXPECT_STREQ(formats.back().info.name, "dlrec");
  EXPECT_STREQ(formats.back().keys.at(0).name, "labels");
  EXPECT_STREQ(formats.back().keys.at(0).default_value, "none");
  EXPECT_STREQ(formats.front().info.name, format_table().front().info.name);
  const auto transforms = transform_table(extensions.get());
  ASSERT_EQ(transforms.size(), transform_table().size() + 1);
  EXPECT_STREQ(transforms.back().info.name, "offset");
  EXPECT_EQ(transforms.back().arguments.size(), 2u);
  ASSERT_EQ(storage_table(extensions.get()).size(), 1u);
  EXPECT_STREQ(storage_table(extensions.get())[0].scheme, "xor");
}

}  // namespace
}  // namespace dataline::cpp_tests::extensions_test
