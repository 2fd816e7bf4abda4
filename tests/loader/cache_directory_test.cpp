// The directory of a cache: how much it takes, which caches are removed for others, and that nothing else is harmed.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "tests/loader/sample_stores.h"

namespace dataline::cache_directory_test {
namespace {

using ::testing::HasSubstr;
using namespace dataline::tests;

using CacheDirectoryTest = SampleStores;

TEST_F(CacheDirectoryTest, AnIndexThatHoldsAnythingElseStaysAndTheJobContinuesWithoutTheCache) {
  open(settings())->keep(1, 7, view("x"));
  std::ifstream stream(path("index"), std::ios::binary);
  const std::string good(std::istreambuf_iterator<char>(stream), {});
  for (const std::string& text :
       {std::string(64, '\0') + "somebody's", std::string(40, '\0') + "x", good + "somebody's"}) {
    std::ofstream(path("index"), std::ios::binary) << text;
    warnings_.clear();
    EXPECT_EQ(open(settings()), nullptr);
    ASSERT_EQ(warnings_.size(), 1u);
    EXPECT_THAT(warnings_[0], HasSubstr("continues without it: " + path("index") +
                                        ": is not an index of this cache; remove"));
    std::ifstream after(path("index"), std::ios::binary);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(after), {}), text);
  }
}

TEST_F(CacheDirectoryTest, TheBudgetIsNeverExceededAndSaysSoOnce) {
  constexpr int64_t kBudget = 100'000;
  const auto first = open(settings(kKey, kBudget)), second = open(settings(kKey, kBudget));
  for (int64_t i = 0; i < 1000; ++i) {
    keep(i % 2 == 0 ? *first : *second, i, i + 1);
    ASSERT_LE(bytes_in_directory(), kBudget);
  }
  EXPECT_TRUE(first->full() && second->full());
  EXPECT_GT(count_kept(*first, 0, 1000), 300) << "what fitted is there";
  EXPECT_EQ(warnings_.size(), 2u);
  EXPECT_THAT(warnings_[0], HasSubstr("stores no more samples: cache_bytes=100000 is used up"));
}

TEST_F(CacheDirectoryTest, CachesThatNobodyUsesGoForOnesThatAreUsed) {
  constexpr int64_t kBudget = 300'000;
  open(settings(kOtherKey, kBudget))->keep(1, 7, view(std::string(150'000, 'x')));
  {
    const auto used = open(settings("00000000000000aa", kBudget));
    used->keep(1, 7, view("in use"));
    std::filesystem::create_directories(folder_ + "/cache/holiday");
    std::ofstream(folder_ + "/cache/holiday/photo") << std::string(5000, 'p');
    const auto store = open(settings(kKey, kBudget));
    for (int64_t i = 0; i < 1000; ++i) store->keep(i, 7, view(std::string(150, 'y')));
    EXPECT_FALSE(store->full());
    EXPECT_EQ(read(*used, 1), "in use");
    EXPECT_EQ(read(*store, 999), std::string(150, 'y'));
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/cache/" + kOtherKey));
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/cache/00000000000000aa"));
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/cache/holiday/photo")) << "somebody's own";
}

TEST_F(CacheDirectoryTest, NothingIsRemovedThatTheCacheDidNotMake) {
  namespace fs = std::filesystem;
  constexpr int64_t kBudget = 300'000;
  const std::string cache = folder_ + "/cache";
  const auto plant = [](const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << text;
  };
  open(settings(kOtherKey, kBudget))->keep(1, 7, view(std::string(100'000, 'x')));
  std::ifstream stream(path("index", kOtherKey), std::ios::binary);
  const std::string index(std::istreambuf_iterator<char>(stream), {});
  const std::string key = "00000000000000bb";
  std::vector<std::string> kept = {cache + "/site/index",                   // a name that is not a key
                                   cache + "/site/000001.samples",          //
                                   cache + "/0000000000000001/index",       // an index that is not ours
                                   cache + "/0000000000000001/photo.jpg",   //
                                   cache + "/" + key + "/index",            // the index of another key
                                   cache + "/" + key + "/000001.samples",   //
                                   cache + "/FEDCBA9876543210/index",       // capitals
                                   cache + "/" + kOtherKey + "/notes.txt",  // somebody's file in a cache
                                   cache + "/" + kOtherKey + "/1.samples",  //
                                   cache + "/" + kOtherKey + "/000001.samples.bak",
                                   cache + "/" + kOtherKey + "/000003.samples",  // a segment's name
                                   folder_ + "/elsewhere/index",
                                   folder_ + "/elsewhere/000001.samples"};
  for (const std::string& file : kept) plant(file, file.ends_with("index") ? index : "somebody's own");
  plant(cache + "/0000000000000001/index", "<html>");
  std::string named = index;
  named.replace(16, 16, "00000000000000cc");
  plant(folder_ + "/elsewhere/index", named);
  fs::create_directory_symlink(folder_ + "/elsewhere", cache + "/00000000000000cc");
  const std::string cached = cache + "/" + kOtherKey;
  fs::create_directories(cached + "/000002.samples");
  fs::create_symlink(folder_ + "/elsewhere/index", cached + "/000004.samples");
  fs::create_hard_link(cached + "/000001.samples", cached + "/000005.samples");
  for (const char* const name : {"/000001.samples", "/000002.samples", "/000004.samples", "/000005.samples"})
    kept.push_back(cached + name);
  kept.push_back(cache + "/00000000000000cc");
  const auto store = open(settings(kKey, kBudget));
  for (int64_t i = 0; i < 1000; ++i) store->keep(i, 7, view(std::string(1000, 'y')));
  EXPECT_FALSE(fs::exists(path("index", kOtherKey))) << "what the cache made has gone for room";
  for (const std::string& file : kept) EXPECT_TRUE(fs::exists(file)) << file;
}

TEST_F(CacheDirectoryTest, LinksThatArePlantedAreNotFollowed) {
  namespace fs = std::filesystem;
  const std::string mine = folder_ + "/mine", text = "somebody's own file, of some length";
  const auto plant_and_open = [&](const std::function<void()>& plant) {
    fs::remove_all(folder_ + "/cache");
    std::ofstream(mine, std::ios::binary) << text;
    fs::create_directories(folder_ + "/cache/" + kKey);
    plant();
    warnings_.clear();
    const std::unique_ptr<SampleStore> store = open(settings());
    if (store != nullptr) {
      keep(*store, 0, 20);
      EXPECT_EQ(count_kept(*store, 0, 20), 20) << "in another segment";
    }
    std::ifstream stream(mine, std::ios::binary);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(stream), {}), text);
    return store != nullptr ? std::string() : warnings_.size() == 1 ? warnings_[0] : "not one warning";
  };
  for (const char* const segment : {"000001.samples", "000002.samples"}) {
    EXPECT_EQ(plant_and_open([&] { fs::create_symlink(mine, path(segment)); }), "");
    EXPECT_EQ(plant_and_open([&] { fs::create_hard_link(mine, path(segment)); }), "");
    EXPECT_EQ(plant_and_open([&] { fs::copy_file(mine, path(segment)); }), "");
    EXPECT_EQ(plant_and_open([&] { fs::create_directory(path(segment)); }), "");
    EXPECT_EQ(plant_and_open([&] { fs::create_symlink(folder_ + "/none", path(segment)); }), "");
    EXPECT_FALSE(fs::exists(folder_ + "/none")) << "a dangling link is not followed either";
  }
  for (const std::string& file : {std::string("lock"), std::string(kKey) + "/index"}) {
    const std::string at = folder_ + "/cache/" + file;
    EXPECT_THAT(plant_and_open([&] { fs::create_symlink(mine, at); }),
                HasSubstr("continues without it: " + at + ": is a symbolic link, expected a file"));
    EXPECT_THAT(plant_and_open([&] { fs::create_hard_link(mine, at); }), HasSubstr("continues without it"));
  }
  const std::string directory = plant_and_open([&] {
    fs::create_directories(folder_ + "/elsewhere");
    fs::remove(folder_ + "/cache/" + kKey);
    fs::create_directory_symlink(folder_ + "/elsewhere", folder_ + "/cache/" + kKey);
  });
  EXPECT_THAT(directory, HasSubstr("is a symbolic link, expected a directory"));
  EXPECT_TRUE(fs::is_empty(folder_ + "/elsewhere"));
}

TEST_F(CacheDirectoryTest, ACacheOfAnEarlierReleaseIsRemovedWhenRoomIsNeeded) {
  constexpr int64_t kBudget = 300'000;
  open(settings(kOtherKey, kBudget))->keep(1, 7, view(std::string(150'000, 'x')));
  std::fstream(path("index", kOtherKey), std::ios::in | std::ios::out | std::ios::binary) << "DLCACHE1";
  const auto store = open(settings(kKey, kBudget));
  for (int64_t i = 0; i < 1000; ++i) store->keep(i, 7, view(std::string(150, 'y')));
  EXPECT_FALSE(store->full());
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/cache/" + kOtherKey));
}

TEST_F(CacheDirectoryTest, WithoutABudgetATenthOfTheDiskStaysFree) {
  const auto store = open(settings(kKey, -1));
  keep(*store, 0, 10);
  const std::filesystem::space_info disk = std::filesystem::space(folder_);
  const bool room = disk.available > disk.capacity / 10 + (uint64_t{65} << 20);
  EXPECT_EQ(count_kept(*store, 0, 10), room ? 10 : 0);
}

}  // namespace
}  // namespace dataline::cache_directory_test
