// Windows of token files, for any count, length and stride.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/source/open.h"
#include "tests/source/tokens/token_files.h"

namespace dataline::token_property_test {
namespace {

// SURFACE: 0 if n < length + 1, else (n - length - 1) / stride + 1, rounded down.
RC_GTEST_PROP(TokenWindows, CountAndPlacesAreAsPromised, ()) {
  auto n = *rc::gen::inRange<int64_t>(0, 200);
  auto length = *rc::gen::inRange<int64_t>(1, 40);
  auto stride = *rc::gen::oneOf(rc::gen::inRange<int64_t>(1, 60), rc::gen::just(INT64_MAX));
  auto io = *rc::gen::element(IoMode::kMmap, IoMode::kPread, IoMode::kMemory);
  TempDir dir;
  std::vector<uint32_t> tokens = counting_tokens<uint32_t>(n);
  dir.write("t.bin", raw_bytes(tokens));
  std::string uri = concat("tokens:", dir.path("t.bin"), "?dtype=u32&length=", length, "&stride=", stride);
  Result<SourceRef> source = open_source(uri, test_context(io));
  RC_ASSERT(source.is_ok());
  int64_t windows = 0;
  for (int64_t begin = 0; begin + length + 1 <= n; begin = stride > n ? n : begin + stride) ++windows;
  RC_ASSERT(source.value()->count() == windows);
  Fetched rows = fetch_all(*source.value());
  RC_ASSERT(rows.errors.empty());
  for (int64_t w = 0; w < windows; ++w) {
    auto begin = tokens.begin() + w * (windows > 1 ? stride : 0);
    RC_ASSERT(values_of<uint32_t>(rows.bytes[0][static_cast<size_t>(w)]) ==
              std::vector<uint32_t>(begin, begin + length));
    RC_ASSERT(values_of<uint32_t>(rows.bytes[1][static_cast<size_t>(w)]) ==
              std::vector<uint32_t>(begin + 1, begin + length + 1));
  }
}

}  // namespace
}  // namespace dataline::token_property_test
