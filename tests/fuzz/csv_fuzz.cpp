// Any bytes as CSV. Refused by name, or each record is a sample or a bad one, the same from a mapped file and by reads, and text is
// UTF-8.
// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/both_ways.h"

namespace dataline::fuzz {
namespace {

constexpr std::string_view kKeys[] = {"", "?nulls=fill(1)", "?fields=t:text",
                                      "?header=false&delimiter=semicolon",
                                      "?fields=t:text,a:f32[2],b:bool&nulls=fill(0)"};

}  // namespace
}  // namespace dataline::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* input, size_t size) {
  using namespace dataline;
  static const fuzz::Folder folder;
  if (size < 1) return 0;
  const std::string path = folder.write("fuzz.csv", {reinterpret_cast<const char*>(input) + 1, size - 1});
  const std::string uri = "csv:" + path + std::string(fuzz::kKeys[input[0] % std::size(fuzz::kKeys)]);
  fuzz::open_both_ways(uri, "fuzz.csv", fuzz::RaggedU8::kText);
  return 0;
}
