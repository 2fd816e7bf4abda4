// The checksum of TFRecord files on every target that runs here.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/tfrecord/crc32c.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/source/located.h"
#include "tests/source/tfrecord/tfrecord_files.h"

namespace dataline::crc32c_test {
namespace {

std::vector<SimdTarget> targets() {
  std::vector<SimdTarget> out;
  for (const SimdTarget target :
       {SimdTarget::kPlain, SimdTarget::kSse4, SimdTarget::kAvx2, SimdTarget::kAvx3, SimdTarget::kNeon}) {
    const bool neon = best_simd_target() == SimdTarget::kNeon;
    if (target == SimdTarget::kPlain || (neon ? target == SimdTarget::kNeon : target <= best_simd_target()))
      out.push_back(target);
  }
  return out;
}

uint32_t crc_of(const Crc32c& crc, std::string_view text) {
  return crc.extend(0, reinterpret_cast<const std::byte*>(text.data()), static_cast<int64_t>(text.size()));
}

// RFC 3720, B.4, and the check value of the catalogue of CRCs.
TEST(Crc32cTest, PublishedValuesComeOut) {
  std::string ascending;
  for (char c = 0; c < 32; ++c) ascending += c;
  for (const SimdTarget target : targets()) {
    const Crc32c crc(target);
    EXPECT_EQ(crc_of(crc, ""), 0u);
    EXPECT_EQ(crc_of(crc, "123456789"), 0xe3069283u);
    EXPECT_EQ(crc_of(crc, std::string(32, '\0')), 0x8a9136aau);
    EXPECT_EQ(crc_of(crc, std::string(32, '\xff')), 0x62a8ab43u);
    EXPECT_EQ(crc_of(crc, ascending), 0x46dd794eu);
  }
}

TEST(Crc32cTest, EveryTargetGivesTheBitwiseChecksumAtEveryLengthAndAlignment) {
  const std::string bytes = pattern_bytes(1100);
  for (const SimdTarget target : targets()) {
    const Crc32c crc(target);
    for (size_t length = 0; length <= 700; ++length) {
      const size_t begin = length * 7 % 64;
      const std::string_view part = std::string_view(bytes).substr(begin, length);
      ASSERT_EQ(crc_of(crc, part), slow_crc32c(part)) << simd_target_name(target) << " " << length;
    }
    const std::string large = pattern_bytes(100'003);
    EXPECT_EQ(crc_of(crc, large), slow_crc32c(large));
  }
}

TEST(Crc32cTest, ChecksumsOfPiecesJoinToThatOfTheWhole) {
  const Crc32c checksum(best_simd_target());
  std::vector<std::byte> bytes(5000);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 31 + i / 7);
  const Bytes all(bytes);
  for (const size_t cut : {0, 1, 7, 128, 1000, 4096, 4999, 5000}) {
    EXPECT_EQ(join_crc32c(checksum.of(all.first(cut)), checksum.of(all.subspan(cut)),
                          static_cast<int64_t>(all.size() - cut)),
              checksum.of(all))
        << cut;
  }
  // A long second piece, whose checksum is found by joining: 2^40 zeros.
  uint32_t zeros = checksum.of(Bytes(std::vector<std::byte>(1)));
  for (int64_t bytes_of = 1; bytes_of < int64_t{1} << 40; bytes_of *= 2)
    zeros = join_crc32c(zeros, zeros, bytes_of);
  EXPECT_EQ(join_crc32c(join_crc32c(7, zeros, int64_t{1} << 40), zeros, int64_t{1} << 40),
            join_crc32c(7, join_crc32c(zeros, zeros, int64_t{1} << 40), int64_t{1} << 41));
}

TEST(Crc32cTest, PiecesExtendToTheWhole) {
  const std::string bytes = pattern_bytes(900);
  const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
  for (const SimdTarget target : targets()) {
    const Crc32c crc(target);
    for (const int64_t cut : {0, 1, 8, 127, 128, 450, 899, 900})
      EXPECT_EQ(crc.extend(crc.extend(0, data, cut), data + cut, 900 - cut), slow_crc32c(bytes)) << cut;
  }
}

}  // namespace
}  // namespace dataline::crc32c_test
