// The conversions of the kernels against those of the host's transforms, bit for bit: all values of 16 bits, and those
// of 32 and 64 around every rounding.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "core/base/random.h"
#include "core/device/kernels/fused_element.h"
#include "core/transform/elements/convert.h"

namespace dataline::element_test {
namespace {

template <typename T>
struct OnHost {
  using Type = T;
};
template <>
struct OnHost<kernel::f16> {
  using Type = Half;
};
template <>
struct OnHost<kernel::bf16> {
  using Type = Bfloat;
};

// Bits of a value.
template <typename T>
uint64_t bits_of(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <typename From, typename To>
int64_t faults_at(uint64_t bits) {
  From from;
  std::memcpy(&from, &bits, sizeof from);
  typename OnHost<From>::Type host;
  std::memcpy(&host, &bits, sizeof host);
  const uint64_t expected = bits_of(convert<typename OnHost<To>::Type>(host));
  const uint64_t got = bits_of(kernel::cast<To>(from));
  EXPECT_EQ(expected, got) << "of bits " << std::hex << bits;
  return expected == got ? 0 : 1;
}

// Every value of up to 16 bits; of wider types what lies within four of each power of two, of each half step of 11, 8
// and 24 bits, and random bits.
template <typename From>
std::vector<uint64_t> values() {
  std::vector<uint64_t> out;
  if constexpr (sizeof(From) <= 2) {
    for (uint64_t bits = 0; bits < uint64_t{1} << (8 * sizeof(From)); ++bits) out.push_back(bits);
    return out;
  }
  constexpr int kBits = 8 * sizeof(From);
  for (int power = 0; power < kBits; ++power) {
    for (int step : {0, 1, 8, 9, 11, 12, 24, 25, 53}) {
      const uint64_t middle = (uint64_t{1} << power) + (step <= power ? uint64_t{1} << (power - step) : 0);
      for (uint64_t near = 0; near < 9; ++near) {
        out.push_back(middle + near - 4);
        out.push_back(0 - (middle + near - 4));
      }
    }
  }
  for (uint64_t i = 0; i < 200'000; ++i) {
    const uint64_t bits = random_bits(3, i);
    out.push_back(bits >> (i % kBits));
    out.push_back(0 - (bits >> (i % kBits)));
  }
  return out;
}

template <typename From, typename To>
void expect_same() {
  int64_t faults = 0;
  for (uint64_t bits : values<From>()) {
    faults += faults_at<From, To>(bits);
    if (faults > 5) return;
  }
}

template <typename From>
void expect_same_to_floats() {
  expect_same<From, kernel::f32>();
  expect_same<From, kernel::f16>();
  expect_same<From, kernel::bf16>();
}

TEST(Element, IntegersBecomeFloatsAsOnTheHost) {
  expect_same_to_floats<kernel::u8>();
  expect_same_to_floats<kernel::u16>();
  expect_same_to_floats<kernel::i32>();
  expect_same_to_floats<kernel::i64>();
}

TEST(Element, FloatsBecomeFloatsAsOnTheHost) {
  expect_same_to_floats<kernel::f16>();
  expect_same_to_floats<kernel::bf16>();
  expect_same_to_floats<kernel::f32>();
}

TEST(Element, EverythingBecomesI64AsOnTheHost) {
  expect_same<kernel::u8, kernel::i64>();
  expect_same<kernel::u16, kernel::i64>();
  expect_same<kernel::i32, kernel::i64>();
  expect_same<kernel::f32, kernel::i64>();
  expect_same<kernel::f16, kernel::i64>();
}

TEST(Element, ProductAndSumAreRoundedApart) {
  // 1 + 2^-12 squared is 1 + 2^-11 + 2^-24: the last bit is lost when the product is rounded by itself.
  const float x = 1.0f + 0x1.0p-12f;
  EXPECT_EQ(kernel::affine<float>(x, x, -1.0f - 0x1.0p-11f), 0.0f);
}

}  // namespace
}  // namespace dataline::element_test
