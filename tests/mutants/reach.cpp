// Linked into every GoogleTest program of the mutants' build. Says which places each case passed: a line of
// DATALINE_MUTANT_CASES is `case milliseconds number,number,...`.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

#include "mutant.h"

namespace {

class Reach : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override {
    if (dataline_mutants::reached != nullptr)
      std::memset(dataline_mutants::reached, 0, dataline_mutants::kMost);
  }

  void OnTestEnd(const testing::TestInfo& info) override {
    const char* path = std::getenv("DATALINE_MUTANT_CASES");
    if (path == nullptr || dataline_mutants::reached == nullptr || info.result()->Skipped()) return;
    std::FILE* out = std::fopen(path, "a");
    if (out == nullptr) return;
    std::fprintf(out, "%s.%s %s %lld ", info.test_suite_name(), info.name(),
                 info.result()->Passed() ? "ok" : "failed",
                 static_cast<long long>(info.result()->elapsed_time()));
    for (unsigned long n = 0; n < dataline_mutants::kMost; ++n) {
      if (dataline_mutants::reached[n] != 0) std::fprintf(out, "%lu,", n);
    }
    std::fprintf(out, "\n");
    std::fclose(out);
  }
};

const bool installed = [] {
  dataline_mutants::read_choice();
  if (std::getenv("DATALINE_MUTANT_CASES") != nullptr)
    testing::UnitTest::GetInstance()->listeners().Append(new Reach);  // which owns it
  return true;
}();

}  // namespace
