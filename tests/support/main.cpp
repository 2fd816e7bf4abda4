// The main function of the tests' programs: GoogleTest's and GoogleMock's, and
//   --file=PATH   only the tests that this file of the repository defines, where a program holds many (dataline_tests). A compiler may
//                 have been given another path to it, whose end this is.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <string_view>

namespace {

bool is_the_file(std::string_view compiled, std::string_view file) {
  if (!compiled.ends_with(file)) return false;
  compiled.remove_suffix(file.size());
  return compiled.empty() || compiled.ends_with('/');
}

// The tests of `file`, as a filter; empty: there is none.
std::string tests_of(std::string_view file) {
  std::string filter;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int k = 0; k < suite.total_test_count(); ++k) {
      const testing::TestInfo& test = *suite.GetTestInfo(k);
      if (is_the_file(test.file(), file))
        filter += (filter.empty() ? "" : ":") + std::string(suite.name()) + "." + test.name();
    }
  }
  return filter;
}

}  // namespace

int main(int count, char** arguments) {
  constexpr std::string_view kFile = "--file=";
  testing::InitGoogleMock(&count, arguments);
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    if (argument.substr(0, kFile.size()) != kFile) continue;
    // A death test starts this program again, with the name of one test.
    if (GTEST_FLAG_GET(filter) != "*") continue;
    const std::string filter = tests_of(argument.substr(kFile.size()));
    if (filter.empty()) {
      std::fprintf(stderr, "%s: no test of this program is from %s\n", arguments[0],
                   arguments[i] + kFile.size());
      return 1;
    }
    GTEST_FLAG_SET(filter, filter);
  }
  return RUN_ALL_TESTS();
}
