// Runs the target that DATALINE_FUZZ_TARGET names.
// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/target.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

namespace dataline::fuzz {
namespace {

using Run = std::function<void(std::string_view)>;

std::map<std::string, Run>& targets() {
  static std::map<std::string, Run> all;
  return all;
}

const Run& chosen() {
  const char* const name = std::getenv("DATALINE_FUZZ_TARGET");
  const auto found = targets().find(name == nullptr ? "" : name);
  if (found != targets().end()) return found->second;
  std::fprintf(stderr, "DATALINE_FUZZ_TARGET='%s', expected one of:", name == nullptr ? "" : name);
  for (const auto& target : targets()) std::fprintf(stderr, " %s", target.first.c_str());
  std::fprintf(stderr, "\n");
  std::exit(2);
}

}  // namespace

Target::Target(const char* name, Run run) { targets().emplace(name, std::move(run)); }

}  // namespace dataline::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const dataline::fuzz::Run& run = dataline::fuzz::chosen();
  run({reinterpret_cast<const char*>(data), size});
  return 0;
}
