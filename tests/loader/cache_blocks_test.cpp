// Blocks of a reader behind the option `cache`: the reader learns of each block that it must open, and of no other.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/loader/loader.h"
#include "core/loader/options.h"
#include "core/source/host/host.h"
#include "tests/support/temp_folder.h"

namespace dataline::cache_blocks_test {
namespace {

constexpr int64_t kForEver = -1, kRecords = 40, kBlockRecords = 4;

// 40 records in blocks of 4. Notes the blocks that are announced and the records that are read before theirs is.
struct Blocks {
  std::vector<int64_t> announced;
  std::set<int64_t> open;
  int64_t reads = 0, unannounced = 0;

  SourceRef source() {
    std::vector<int64_t> ends;
    for (int64_t end = kBlockRecords; end <= kRecords; end += kBlockRecords) ends.push_back(end);
    ReaderTable table;
    table.context = this;
    table.record_count = kRecords;
    table.fingerprint = "forty records";
    table.block_ends = ends.data();
    table.block_count = static_cast<int64_t>(ends.size());
    table.advise = [](void* context, int64_t block) {
      auto* self = static_cast<Blocks*>(context);
      self->announced.push_back(block);
      self->open.insert(block);
    };
    table.read = [](void* context, ReaderRequest* request) {
      auto* self = static_cast<Blocks*>(context);
      for (int32_t r = 0; r < request->record_count; ++r) {
        const int64_t index = request->indices[r];
        *static_cast<uint8_t*>(request->cells[r].data) = static_cast<uint8_t>(index);
        self->unannounced += self->open.count(index / kBlockRecords) == 0 ? 1 : 0;
        ++self->reads;
      }
      return int32_t{0};
    };
    return reader_source({{"x", FieldKind::kDense, DType::kU8, {}, "", -1}}, std::move(table),
                         *HostMemory::create({}))
        .take();
  }
};

class CacheBlocks : public ::testing::Test {
 protected:
  ~CacheBlocks() override { std::filesystem::remove_all(folder_); }

  void read_an_epoch(const SourceRef& source, bool cached) const {
    Options options;
    std::vector<std::pair<std::string, std::string>> settings = {
        {"num_workers", "0"},  {"batch_size", "4"}, {"epochs", "1"},
        {"shuffle", "window"}, {"seed", "3"},       {"shuffle_blocks", "2"}};
    if (cached) settings.emplace_back("cache", folder_ + "/cache");
    for (const auto& [key, value] : settings) ASSERT_TRUE(options.set(key, value).is_ok()) << key;
    auto loader = Loader::create(source, options);
    ASSERT_TRUE(loader.is_ok()) << loader.status().message();
    Batch* batch = nullptr;
    Status status;
    while ((status = loader.value()->next(kForEver, &batch)).is_ok()) batch->release();
    EXPECT_EQ(status.code(), Code::kEndOfEpoch) << status.message();
  }

  const std::string folder_ = make_temp_folder("dataline-blocks");
};

TEST_F(CacheBlocks, AreAnnouncedWhileTheCacheIsFilledAsWithoutOne) {
  Blocks plain, cached;
  read_an_epoch(plain.source(), false);
  read_an_epoch(cached.source(), true);
  EXPECT_FALSE(plain.announced.empty());
  EXPECT_EQ(cached.announced, plain.announced);
  EXPECT_EQ(cached.unannounced, plain.unannounced);
  EXPECT_EQ(cached.reads, kRecords);
}

TEST_F(CacheBlocks, AreNotAnnouncedWhereAllTheirRecordsAreKept) {
  Blocks first, second;
  read_an_epoch(first.source(), true);
  read_an_epoch(second.source(), true);
  EXPECT_EQ(second.announced, std::vector<int64_t>());
  EXPECT_EQ(second.reads, 0);
}

}  // namespace
}  // namespace dataline::cache_blocks_test
