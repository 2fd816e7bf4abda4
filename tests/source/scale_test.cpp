// Sets of 10^9 records open at once and in little memory; many shards stay cheap.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "core/base/thread.h"
#include "core/source/composed/composed.h"
#include "core/source/open.h"
#include "tests/source/bad_files/bad_file_table.h"
#include "tests/source/composed/compose_support.h"
#include "tests/source/tokens/token_files.h"
#include "tests/support/peak_growth.h"

namespace dataline::scale_test {
namespace {

constexpr int64_t kBillion = 1'000'000'000;
constexpr int64_t kLimitNs =
    20'000'000'000;  // far above what O(1) takes, below what O(n) would, also on a busy machine

class ScaleTest : public testing::Test {
 protected:
  // `start` and then a hole up to `bytes`; false where the file system has no such files.
  bool make_sparse(const std::string& name, const std::string& start, int64_t bytes) {
    dir_.write(name, start);
    return ::truncate(dir_.path(name).c_str(), bytes) == 0;
  }

  // Opens a set of `count` records, fetches from both ends, and checks what that cost.
  void expect_cheap(const std::string& uri, int64_t count) {
    PeakGrowth growth;
    int64_t begin_ns = monotonic_ns();
    OpenContext context = test_context();
    Result<SourceRef> source = open_source(uri, context);
    ASSERT_TRUE(source.is_ok()) << source.status().message();
    EXPECT_EQ(source.value()->count(), count);
    Fetched rows = fetch(*source.value(), {0, count / 2, count - 1});
    EXPECT_TRUE(rows.errors.empty());
    EXPECT_LT(monotonic_ns() - begin_ns, kLimitNs);
    EXPECT_LT(context.memory->peak_bytes(), 1 << 20);
    EXPECT_LT(growth.bytes(), kMostGrowthBytes);
  }

  TempDir dir_;
};

TEST_F(ScaleTest, ABillionRawRecordsOpenAtOnce) {
  if (!make_sparse("a.bin", "", kBillion * 784)) GTEST_SKIP() << "no sparse file of 784 GB here";
  expect_cheap("raw:" + dir_.path("a.bin") + "?dtype=u8&shape=28x28", kBillion);
  expect_cheap("raw:" + dir_.path("a.bin") + "?fields=label:u8,image:u8[783]", kBillion);
}

TEST_F(ScaleTest, ABillionNpyRowsOpenAtOnce) {
  std::string header = npy_file("<f4", "(1000000000, 196)", "");
  if (!make_sparse("a.npy", header, static_cast<int64_t>(header.size()) + kBillion * 784)) {
    GTEST_SKIP() << "no sparse file of 784 GB here";
  }
  expect_cheap(dir_.path("a.npy"), kBillion);
}

TEST_F(ScaleTest, ABillionTokenWindowsOpenAtOnce) {
  if (!make_sparse("a.bin", "", 2 * (kBillion * 16 + 1))) GTEST_SKIP() << "no sparse file of 32 GB here";
  expect_cheap("tokens:" + dir_.path("a.bin") + "?length=16&views=true", kBillion);
}

TEST_F(ScaleTest, ABillionRecordsInAThousandShardsOpenAtOnce) {
  for (int i = 0; i < 1000; ++i) {
    if (!make_sparse(concat("d/", i, ".bin"), "", kBillion / 1000 * 784))
      GTEST_SKIP() << "no sparse files here";
  }
  expect_cheap("raw:" + dir_.path("d") + "?dtype=u8&shape=784", kBillion);
}

TEST(Scale, AHundredThousandPartsAreFoundWithoutALoopOverThem) {
  std::vector<Part> parts;
  uint8_t value = 0;
  auto memory = HostMemory::create({});
  for (int i = 0; i < 100'000; ++i) {
    ArrayField array;
    array.field.name = "data";
    array.data = reinterpret_cast<const std::byte*>(&value);
    HostOwner owner{nullptr, [](void*) {}};
    parts.push_back({"", array_source({array}, i % 3 == 0 ? 0 : 1, owner, *memory).take(), ""});
  }
  SourceRef source = concat_sources(std::move(parts)).take();
  ASSERT_EQ(source->count(), 66'666);
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < 200'000; ++i) indices.push_back(i * 7919 % source->count());
  int64_t begin_ns = monotonic_ns();
  EXPECT_TRUE(fetch(*source, indices).errors.empty());
  // A loop over the parts for each row would take minutes.
  EXPECT_LT(monotonic_ns() - begin_ns, kLimitNs);
}

}  // namespace
}  // namespace dataline::scale_test
