// Any bytes as JSON lines: the first chooses the fields. Refused by name, or each line is a sample or a bad one that names its line,
// the same from a mapped file and by reads, and text is UTF-8.
// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/both_ways.h"

namespace dataline::fuzz {
namespace {

constexpr std::string_view kKeys[] = {"", "?nulls=fill(1)", "?fields=a:text",
                                      "?fields=a:u8,m/b:f32[2],t:text&nulls=fill(0)",
                                      "?fields=n:i64[],f:f64,b:bool"};

}  // namespace
}  // namespace dataline::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* input, size_t size) {
  using namespace dataline;
  static const fuzz::Folder folder;
  if (size < 1) return 0;
  const std::string path = folder.write("fuzz.jsonl", {reinterpret_cast<const char*>(input) + 1, size - 1});
  const std::string uri = "jsonl:" + path + std::string(fuzz::kKeys[input[0] % std::size(fuzz::kKeys)]);
  fuzz::open_both_ways(uri, "fuzz.jsonl", fuzz::RaggedU8::kText);
  return 0;
}
