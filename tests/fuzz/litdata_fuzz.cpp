// Any bytes as a chunk of LitData, then its index: the first two bytes are where they part. Refused by name, or each item's fields fill
// the item, the same from a mapped file and by reads.
// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/both_ways.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* input, size_t size) {
  using namespace dataline;
  static const fuzz::Folder folder;
  if (size < 2) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(input) + 2, size - 2);
  const size_t chunk = std::min(rest.size(), static_cast<size_t>(input[0] << 8 | input[1]));
  folder.write("c.bin", rest.substr(0, chunk));
  const std::string uri = "litdata:" + folder.write("index.json", rest.substr(chunk));
  fuzz::open_both_ways(uri, folder.path(""), fuzz::RaggedU8::kBytes);
  return 0;
}
