// Bytes that pyarrow wrote.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "core/source/open.h"
#include "tests/source/located.h"

namespace dataline::arrow_golden_test {
namespace {

// A table of x = [1, 2, null] as int32, s = ["a", "bc", ""] and d = ["u", "v", "u"] as a dictionary, as pyarrow 26.0.1 writes
// it by ipc.new_stream: hexadecimal, (N) stands for N bytes of 0.
constexpr std::string_view kStreamOfPyarrow =
    "fffffffff8(3)10(5)0a000c000600050008000a(4)01040004(3)b4ffffff04(3)03(3)98(3)5c(3)14(3)100018000"
    "800060007000c001000140010(5)010514(3)34(3)1c(3)04(7)01(3)64(3)080008(3)040008(3)04(3)98ffffff(3)"
    "0120(3)dcffffffd8ffffff0000010510(3)18(3)04(7)01(3)73(3)0400040004(3)100014000800060007000c(3)10"
    "0010(5)010210(3)1c(3)04(7)01(3)78(3)08000c000800070008(6)0120(7)ffffffffa8(3)14(7)0c001400060005"
    "0008000c000c(4)02040014(3)18(7)08000a(3)040008(3)10(5)0a0018000c00040008000a(3)4c(3)10(3)02(11)0"
    "3(27)0c(7)10(7)02(11)01(3)02(19)01(3)02(7)7576(6)fffffffff8(3)14(7)0c0016000600050008000c000c(4)"
    "03040018(3)40(9)0a0018000c00040008000a(3)8c(3)10(3)03(11)07(11)01(7)08(7)0c(7)18(15)18(7)10(7)28"
    "(7)03(7)30(15)30(7)0c(11)03(3)03(7)01(7)03(15)03(15)03(7)01(3)02(15)01(3)03(3)03(3)616263(9)01(1"
    "1)ffffffff(4)";

std::string bytes_of(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '(') {
      const size_t end = text.find(')', at);
      out.append(std::stoul(std::string(text.substr(at + 1, end - at - 1))), '\0');
      at = end + 1;
    } else {
      out += static_cast<char>(std::stoul(std::string(text.substr(at, 2)), nullptr, 16));
      at += 2;
    }
  }
  return out;
}

TEST(ArrowOfPyarrow, ItsRowsAreRead) {
  TempDir dir;
  const std::string path = dir.write("a.arrow", bytes_of(kStreamOfPyarrow));
  for (const IoMode io : kIoModes) {
    const SourceRef source = open_source("arrow:" + path + "?nulls=fill(-1)", test_context(io)).take();
    const Fetched rows = fetch_all(*source);
    ASSERT_TRUE(rows.errors.empty());
    EXPECT_EQ(rows.bytes[0], (std::vector<std::string>{raw_bytes(1), raw_bytes(2), raw_bytes(-1)}));
    EXPECT_THAT(rows.bytes[1], testing::ElementsAre("a", "bc", ""));
    EXPECT_THAT(rows.bytes[2], testing::ElementsAre("u", "v", "u"));
  }
  EXPECT_EQ(open_source(path, test_context()).take()->info().format, "arrow");
}

}  // namespace
}  // namespace dataline::arrow_golden_test
