// The plug-in in C passes the cases of this folder.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <ostream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "capi/dataline.h"
#include "tests/support/places.h"

namespace dataline::cases_test {
namespace {

struct Case {
  std::string name, uri, options, expected;
};

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<Case> read_cases() {
  std::ifstream file(tests::in_repository("tests/extensions/cases.txt"));
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> parts;
    std::istringstream text(line);
    for (std::string part; std::getline(text, part, '|');) parts.push_back(trimmed(part));
    std::string& uri = parts[1];
    for (size_t at = uri.find('@'); at != std::string::npos; at = uri.find('@'))
      uri.replace(at, 1, tests::in_repository("tests/extensions/files"));
    cases.push_back({parts[0], uri, parts[2], parts.back()});
  }
  return cases;
}

using Handle = std::unique_ptr<dl_dataset, decltype(&dl_dataset_destroy)>;
using LoaderHandle = std::unique_ptr<dl_loader, decltype(&dl_loader_destroy)>;

void add(uint64_t& hash, const void* bytes, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    hash = (hash ^ static_cast<const unsigned char*>(bytes)[i]) * 0x100000001B3u;
}

void add_batch(uint64_t& hash, const dl_batch* batch) {
  dl_batch_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(dl_batch_get_info(batch, &info, nullptr), DL_OK);
  add(hash, info.sample_indices, info.samples * 8);
  int32_t count = 0;
  const dl_view* views = dl_batch_views(batch, &count);
  for (int32_t f = 0; f < count; ++f) {
    const dl_view* view = dl_view_at(views, f);
    add(hash, static_cast<const char*>(view->data) + view->byte_offset, view->bytes);
  }
}

std::string failure(dl_status status, const dl_error& error) {
  return std::string(dl_status_name(status)) + " " + error.message;
}

// The digest of the stream, or the first error.
std::string result_of(const Case& example, const dl_extensions* extensions) {
  dl_error error = DL_ERROR_INIT;
  dl_options* raw = nullptr;
  EXPECT_EQ(dl_options_create(&raw, &error), DL_OK);
  const std::unique_ptr<dl_options, decltype(&dl_options_destroy)> options(raw, dl_options_destroy);
  EXPECT_EQ(dl_options_set_extensions(raw, extensions, &error), DL_OK) << error.message;
  std::istringstream settings(example.options);
  for (std::string setting; settings >> setting;) {
    const size_t equals = setting.find('=');
    EXPECT_EQ(
        dl_options_set(raw, setting.substr(0, equals).c_str(), setting.substr(equals + 1).c_str(), &error),
        DL_OK)
        << error.message;
  }
  dl_dataset* dataset = nullptr;
  dl_status status = dl_dataset_open(example.uri.c_str(), raw, &dataset, &error);
  const Handle owner(dataset, dl_dataset_destroy);
  if (status != DL_OK) return failure(status, error);
  dl_loader* loader = nullptr;
  status = dl_loader_create(dataset, raw, &loader, &error);
  const LoaderHandle loader_owner(loader, dl_loader_destroy);
  if (status != DL_OK) return failure(status, error);
  uint64_t hash = 0xCBF29CE484222325u;
  for (;;) {
    dl_batch* batch = nullptr;
    status = dl_loader_next(loader, -1, &batch, &error);
    if (status == DL_END) break;
    if (status == DL_END_OF_EPOCH) continue;
    if (status != DL_OK) return failure(status, error);
    add_batch(hash, batch);
    dl_batch_release(batch);
  }
  std::ostringstream hex;
  hex << std::hex;
  hex.width(16);
  hex.fill('0');
  hex << hash;
  return hex.str();
}

void PrintTo(const Case& example, std::ostream* out) { *out << example.name; }

class ExtensionCases : public ::testing::TestWithParam<Case> {};

// An error's expectation is its code, then a part of its message.
void expect_result(const std::string& got, const std::string& expected) {
  if (!expected.starts_with("DL_")) {
    EXPECT_EQ(got, expected);
    return;
  }
  const size_t space = expected.find(' ');
  EXPECT_EQ(got.substr(0, got.find(' ')), expected.substr(0, space)) << got;
  EXPECT_NE(got.find(expected.substr(space + 1)), std::string::npos)
      << got << "\nexpected: " << expected.substr(space + 1);
}

TEST_P(ExtensionCases, OfThePluginInCGiveWhatIsExpected) {
  dl_error error = DL_ERROR_INIT;
  dl_extensions* extensions = nullptr;
  ASSERT_EQ(dl_extensions_create(&extensions, &error), DL_OK);
  ASSERT_EQ(dl_extensions_load(extensions, tests::in_build(SAMPLES).c_str(), &error), DL_OK) << error.message;
  expect_result(result_of(GetParam(), extensions), GetParam().expected);
  dl_extensions_destroy(extensions);
}

INSTANTIATE_TEST_SUITE_P(Cases, ExtensionCases, ::testing::ValuesIn(read_cases()),
                         [](const ::testing::TestParamInfo<Case>& example) {
                           std::string name;
                           for (char c : example.param.name) name += std::isalnum(c) != 0 ? c : '_';
                           return name;
                         });

std::set<std::string> names_in(const std::string& path, const char* pattern) {
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::regex name(pattern);
  std::set<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at) names.insert((*at)[1]);
  return names;
}

TEST(Plugins, FindEveryFunctionOfTheHeader) {
  const std::set<std::string> declared =
      names_in(tests::in_repository("capi/dataline.h"), R"(DL_API[^;(]*?\b(dl_\w+)\()");
  EXPECT_GT(declared.size(), 90u);
  EXPECT_EQ(names_in(tests::in_repository("capi/functions.def"), R"(FUNCTION\((dl_\w+)\))"), declared);
}

TEST(ExtensionCases, AreAsManyAsTheFileHas) { EXPECT_GE(read_cases().size(), 25u); }

}  // namespace
}  // namespace dataline::cases_test
