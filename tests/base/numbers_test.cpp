// Checked arithmetic, loads in a byte order, and the randomness and fingerprints that saved states rest on: the golden
// values were computed in Python from the definitions alone, and hold for ever.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/checked.h"
#include "core/base/digest.h"
#include "core/base/random.h"

namespace dataline::numbers_test {
namespace {

__extension__ typedef __int128 i128;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max(), kLeast = std::numeric_limits<int64_t>::min();

// Zero, one, and both sides of every limit that integers of files are near to.
const std::vector<int64_t>& limits() {
  static const std::vector<int64_t> all = [] {
    std::vector<int64_t> values = {0, kMost, kMost - 1, kLeast, kLeast + 1, 3037000499, 3037000500};
    for (int bit : {0, 1, 8, 16, 31, 32, 33, 61, 62}) {
      for (int64_t near : {-1, 0, 1}) {
        values.push_back((int64_t{1} << bit) + near);
        values.push_back(-(int64_t{1} << bit) + near);
      }
    }
    return values;
  }();
  return all;
}

std::optional<int64_t> exact(i128 value) {
  if (value < kLeast || value > kMost) return std::nullopt;
  return static_cast<int64_t>(value);
}

TEST(Checked, SumsAndProductsAreExactOrNothing) {
  for (int64_t a : limits()) {
    for (int64_t b : limits()) {
      EXPECT_EQ(checked_add(a, b), exact(i128{a} + b)) << a << " + " << b;
      EXPECT_EQ(checked_multiply(a, b), exact(i128{a} * b)) << a << " * " << b;
    }
  }
}

TEST(Checked, AProductOfDimsIsOfNonNegativeOnesInAnyOrder) {
  EXPECT_EQ(checked_product({}), 1);
  EXPECT_EQ(checked_product(std::array<int64_t, 3>{3, 32, 32}), 3072);
  EXPECT_EQ(checked_product(std::array<int64_t, 2>{0, kMost}), 0);
  EXPECT_EQ(checked_product(std::array<int64_t, 2>{1, kMost}), kMost);
  EXPECT_EQ(checked_product(std::array<int64_t, 2>{-1, -1}), std::nullopt);
  EXPECT_EQ(checked_product(std::array<int64_t, 2>{0, -1}), std::nullopt);
  EXPECT_EQ(checked_product(std::array<int64_t, 2>{int64_t{1} << 32, int64_t{1} << 31}), std::nullopt);
  EXPECT_EQ(checked_product(std::array<int64_t, 2>{int64_t{1} << 32, int64_t{1} << 32}), std::nullopt)
      << "2^64 wraps to 0";
}

TEST(Checked, AnExtentFitsWhenItsEndsDo) {
  for (int64_t offset : limits()) {
    for (int64_t bytes : limits()) {
      for (int64_t total : {int64_t{0}, int64_t{1}, int64_t{4096}, int64_t{1} << 32, kMost}) {
        const bool fits = offset >= 0 && bytes >= 0 && i128{offset} + bytes <= total;
        ASSERT_EQ(extent_fits(offset, bytes, total), fits) << offset << " " << bytes << " " << total;
      }
    }
  }
}

TEST(Checked, UnsignedValuesFitOrAreRefused) {
  EXPECT_EQ(to_i64(0), 0);
  EXPECT_EQ(to_i64(static_cast<uint64_t>(kMost)), kMost);
  EXPECT_EQ(to_i64(uint64_t{1} << 63), std::nullopt);
  EXPECT_EQ(to_i64(std::numeric_limits<uint64_t>::max()), std::nullopt);
}

TEST(Checked, RoundingUpGoesToTheNextMultiple) {
  for (int64_t unit : {int64_t{1}, int64_t{8}, int64_t{256}, int64_t{2} << 20}) {
    for (int64_t value : {int64_t{0}, int64_t{1}, unit - 1, unit, unit + 1, int64_t{1} << 62}) {
      const int64_t up = round_up(value, unit);
      EXPECT_TRUE(up >= value && up < value + unit && up % unit == 0) << value << " " << unit;
    }
  }
}

TEST(Bytes, LoadsAreOfTheStatedOrderFromAnyAddress) {
  const std::array<std::byte, 9> bytes = {std::byte{0xff}, std::byte{0x01}, std::byte{0x23},
                                          std::byte{0x45}, std::byte{0x67}, std::byte{0x89},
                                          std::byte{0xab}, std::byte{0xcd}, std::byte{0xef}};
  const std::byte* at = bytes.data() + 1;
  EXPECT_EQ(load_big<uint8_t>(at), 0x01);
  EXPECT_EQ(load_big<uint16_t>(at), 0x0123);
  EXPECT_EQ(load_big<uint32_t>(at), 0x01234567u);
  EXPECT_EQ(load_big<uint64_t>(at), 0x0123456789abcdefu);
  EXPECT_EQ(load_little<uint8_t>(at), 0x01);
  EXPECT_EQ(load_little<uint16_t>(at), 0x2301);
  EXPECT_EQ(load_little<uint32_t>(at), 0x67452301u);
  EXPECT_EQ(load_little<uint64_t>(at), 0xefcdab8967452301u);
}

TEST(Random, GoldenValues) {
  EXPECT_EQ(mix64(0), 0u);
  EXPECT_EQ(mix64(1), 0x5692161d100b05e5u);
  EXPECT_EQ(mix64(2), 0xdbd238973a2b148au);
  EXPECT_EQ(mix64(0x123456789abcdef0u), 0x9629f58e8ec5b906u);
  EXPECT_EQ(mix64(~uint64_t{0}), 0xb4d055fcf2cbbd7bu);
  EXPECT_EQ(random_key(0, 0, Domain::kPermutation), 0xd93ff4ee6fd64c1bu);
  EXPECT_EQ(random_key(0, 0, Domain::kFisherYates), 0x61932a0b6b0a7f16u);
  EXPECT_EQ(random_key(0, 1, Domain::kPermutation), 0xfdcb865d14efe13au);
  EXPECT_EQ(random_key(1, 0, Domain::kPermutation), 0x6abbb70a87c066dcu);
  EXPECT_EQ(random_key((uint64_t{1} << 63) - 1, uint64_t{1} << 40, Domain::kReplacement),
            0x2dfbf01ae39f764eu);
  const uint64_t key = random_key(7, 3, Domain::kAugment);
  EXPECT_EQ(key, 0x13b2f5e1ad7d0431u);
  EXPECT_EQ(random_bits(key, 0), 0x43efd6d5363ef7c5u);
  EXPECT_EQ(random_bits(key, 1), 0xe0410f01c531602fu);
  EXPECT_EQ(random_bits(key, 0, 1), 0xece0b6b3dc19b8e4u);
  EXPECT_EQ(random_bits(key, uint64_t{1} << 63, uint64_t{1} << 32), 0x4bcc59cd63408f45u);
  EXPECT_EQ(random_bits(key, ~uint64_t{0}, ~uint64_t{0}), 0x9baa8e99f901bbbbu);
}

TEST(Random, KeysOfNeighboursAndDomainsAreAllDifferent) {
  std::set<uint64_t> keys;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    for (uint64_t epoch = 0; epoch < 20; ++epoch) {
      for (uint64_t domain = 1; domain <= 5; ++domain)
        keys.insert(random_key(seed, epoch, static_cast<Domain>(domain)));
    }
  }
  EXPECT_EQ(keys.size(), 20u * 20 * 5);
}

TEST(Random, AUnitIsBelowOneAndABoundIsNeverReached) {
  EXPECT_EQ(random_unit(0), 0.0);
  EXPECT_EQ(random_unit(uint64_t{1} << 63), 0.5);
  EXPECT_EQ(random_unit(0x7ff), 0.0) << "53 bits count";
  EXPECT_LT(random_unit(~uint64_t{0}), 1.0);
  for (uint64_t bound : {uint64_t{1}, uint64_t{2}, uint64_t{1000}, uint64_t{1} << 32, ~uint64_t{0}}) {
    EXPECT_EQ(random_below(0, bound), 0u);
    EXPECT_EQ(random_below(~uint64_t{0}, bound), bound - 1);
  }
  std::array<int, 10> hits = {};
  for (uint64_t draw = 0; draw < 100'000; ++draw) ++hits[random_below(random_bits(1, draw), 10)];
  for (int count : hits) EXPECT_NEAR(count, 10'000, 500);  // five standard deviations
}

uint64_t digest_of(std::string_view text) {
  Digest digest;
  digest.add(text);
  return digest.value();
}

TEST(Digest, GoldenValues) {
  Digest digest;
  EXPECT_EQ(digest.value(), 0x9e3779b97f4a7c15u);
  digest.add(uint64_t{1});
  digest.add(uint64_t{2});
  EXPECT_EQ(digest.value(), 0xeb448dfc2f585999u);
  EXPECT_EQ(digest.hex(), "eb448dfc2f585999");
  EXPECT_EQ(digest_of(""), 0x1ed1749ddb7532e2u);
  EXPECT_EQ(digest_of("dataline"), 0x12aceb7225267545u);
  EXPECT_EQ(digest_of("dataline!"), 0x3e47bae998217f17u);
  std::array<std::byte, 13> bytes;
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  Digest of_bytes;
  of_bytes.add(Bytes(bytes));
  EXPECT_EQ(of_bytes.value(), 0x85bb9e6273777f00u);
  EXPECT_EQ(Digest().hex(), "9e3779b97f4a7c15") << "16 digits, zeros in front too";
}

TEST(Digest, OrderCountAndWhereATextEndsAllMatter) {
  std::set<uint64_t> values;
  const std::vector<std::vector<std::string>> lists = {{},
                                                       {""},
                                                       {"", ""},
                                                       {"ab"},
                                                       {"ba"},
                                                       {"a", "b"},
                                                       {"b", "a"},
                                                       {"ab", ""},
                                                       {"", "ab"},
                                                       {std::string("ab\0", 3)},
                                                       {"abcdefgh"},
                                                       {"abcdefgh", ""},
                                                       {"abcd", "efgh"}};
  for (const auto& list : lists) {
    Digest digest;
    for (const std::string& text : list) digest.add(std::string_view(text));
    values.insert(digest.value());
  }
  EXPECT_EQ(values.size(), lists.size());
}

TEST(Digest, EveryBitOfATextReachesIt) {
  const std::string text = "a state of three lines";
  std::set<uint64_t> values = {digest_of(text)};
  for (size_t bit = 0; bit < text.size() * 8; ++bit) {
    std::string flipped = text;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    values.insert(digest_of(flipped));
  }
  EXPECT_EQ(values.size(), text.size() * 8 + 1);
}

}  // namespace
}  // namespace dataline::numbers_test
