// What a cache's files promise: what was kept is read back, whoever was killed when; what is damaged is not there; the directory
// never takes more than it may.
// SPDX-License-Identifier: Apache-2.0
#include "core/loader/cache/sample_store.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/in_child.h"
#include "tests/support/temp_folder.h"

namespace dataline::sample_store_test {
namespace {

using ::testing::HasSubstr;

constexpr char kKey[] = "0123456789abcdef", kOtherKey[] = "fedcba9876543210";

// What a sample's bytes are, by its number: of different lengths.
std::string bytes_of_sample(int64_t sample) {
  std::string bytes;
  for (int64_t i = 0; i < 100 + sample % 37; ++i) bytes += static_cast<char>(sample * 31 + i);
  return bytes;
}

Bytes view(const std::string& text) { return std::as_bytes(std::span(text)); }

class SampleStoreTest : public ::testing::Test {
 protected:
  ~SampleStoreTest() override { std::filesystem::remove_all(folder_); }

  StoreSettings settings(const char* key = kKey, int64_t budget = int64_t{1} << 30) {
    StoreSettings out{.directory = folder_ + "/cache", .budget_bytes = budget, .key = key, .samples = 1000};
    out.log.context = &warnings_;
    out.log.write = [](void* context, int32_t, const char* text, size_t length) {
      static_cast<std::vector<std::string>*>(context)->emplace_back(text, length);
    };
    return out;
  }
  static std::unique_ptr<SampleStore> open(StoreSettings settings) {
    Result<std::unique_ptr<SampleStore>> store = SampleStore::open(std::move(settings));
    EXPECT_TRUE(store.is_ok()) << store.status().message();
    return store.is_ok() ? store.take() : nullptr;
  }
  static std::string read(const SampleStore& store, int64_t sample, uint64_t stamp = 7) {
    std::string out(4096, '?');
    const int64_t bytes = store.read(sample, stamp, reinterpret_cast<std::byte*>(out.data()), 4096);
    return bytes < 0 ? "none" : out.substr(0, static_cast<size_t>(bytes));
  }
  static void keep(SampleStore& store, int64_t first, int64_t end, uint64_t stamp = 7) {
    for (int64_t i = first; i < end; ++i) store.keep(i, stamp, view(bytes_of_sample(i)));
  }
  static int64_t count_kept(const SampleStore& store, int64_t first, int64_t end) {
    int64_t count = 0;
    for (int64_t i = first; i < end; ++i) {
      const std::string got = read(store, i);
      if (got == "none") continue;
      EXPECT_EQ(got, bytes_of_sample(i)) << i;
      ++count;
    }
    return count;
  }
  std::string path(const std::string& name, const char* key = kKey) const {
    return folder_ + "/cache/" + key + "/" + name;
  }
  int64_t bytes_in_directory() const {
    int64_t bytes = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ + "/cache"))
      if (entry.is_regular_file()) bytes += static_cast<int64_t>(entry.file_size());
    return bytes;
  }
  void change_byte(const std::string& file, int64_t at) const {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(at);
    const char byte = static_cast<char>(stream.get());
    stream.seekp(at);
    stream.put(static_cast<char>(byte ^ 16));
  }

  const std::string folder_ = make_temp_folder("dataline-store");
  std::vector<std::string> warnings_;
};

TEST_F(SampleStoreTest, WhatIsKeptIsReadBackAlsoByTheNext) {
  {
    const auto store = open(settings());
    EXPECT_EQ(read(*store, 3), "none");
    keep(*store, 0, 1000);
    EXPECT_EQ(count_kept(*store, 0, 1000), 1000);
  }
  const auto next = open(settings());
  EXPECT_EQ(count_kept(*next, 0, 1000), 1000);
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(SampleStoreTest, AnotherStampIsAnotherSample) {
  const auto store = open(settings());
  keep(*store, 5, 6, 1);
  EXPECT_EQ(read(*store, 5, 2), "none");
  store->keep(5, 2, view("new"));
  EXPECT_EQ(read(*store, 5, 2), "new");
  EXPECT_EQ(read(*store, 5, 1), "none");
}

TEST_F(SampleStoreTest, NoMoreThanTheRoomIsWritten) {
  const auto store = open(settings());
  keep(*store, 0, 1);
  std::byte small[99];
  EXPECT_EQ(store->read(0, 7, small, 99), -1) << "it has 100";
}

TEST_F(SampleStoreTest, TwoAtOnceSeeWhatTheOtherKeeps) {
  const auto first = open(settings()), second = open(settings());
  keep(*first, 0, 100);
  keep(*second, 100, 200);
  keep(*first, 200, 300);
  EXPECT_EQ(count_kept(*first, 0, 300), 300);
  EXPECT_EQ(count_kept(*second, 0, 300), 300);
  EXPECT_TRUE(std::filesystem::exists(path("000002.samples"))) << "each writes its own";
  EXPECT_FALSE(std::filesystem::exists(path("000003.samples")));
}

TEST_F(SampleStoreTest, ThreadsKeepAndReadAtOnce) {
  const auto store = open(settings());
  std::vector<std::thread> threads;
  for (int64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int64_t i = 0; i < 250; ++i) {
        keep(*store, 4 * i + t, 4 * i + t + 1);
        EXPECT_EQ(read(*store, 4 * i + t), bytes_of_sample(4 * i + t));
        count_kept(*store, 4 * (i / 2), 4 * (i / 2) + 4);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count_kept(*store, 0, 1000), 1000);
}

TEST_F(SampleStoreTest, WhatAnotherKeptMeanwhileIsNotWrittenAgain) {
  const auto first = open(settings()), second = open(settings());
  keep(*first, 0, 500);
  const int64_t before = bytes_in_directory();
  keep(*second, 0, 500);
  EXPECT_EQ(bytes_in_directory(), before);
  keep(*second, 499, 501);
  EXPECT_GT(bytes_in_directory(), before);
}

TEST_F(SampleStoreTest, OnlyWhatIsKeptCanBeAskedFor) {
  const auto store = open(settings());
  keep(*store, 0, 1);
  EXPECT_EQ(store->cached(0), std::optional(true)) << "just written";
  EXPECT_EQ(store->cached(1), std::nullopt);
  EXPECT_TRUE(store->advise(0));
  EXPECT_FALSE(store->advise(1));
}

TEST_F(SampleStoreTest, AnotherWorkingDirectoryChangesNothing) {
  const std::filesystem::path here = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  StoreSettings relative = settings();
  relative.directory = "cache/";
  const auto first = open(relative), second = open(relative);
  std::filesystem::current_path(here);
  keep(*first, 0, 10);
  EXPECT_EQ(count_kept(*second, 0, 10), 10);
  EXPECT_TRUE(std::filesystem::exists(path("000001.samples")));
}

#if __has_include(<sys/wait.h>)
// A child is ended without a destructor, as by a kill: what it reserved is still in the file's length.
TEST_F(SampleStoreTest, AKilledWriterLeavesWhatItKeptAndNothingElse) {
  const auto fill = [&](int64_t first, int64_t end) {
    return in_child([&] {
      auto store = open(settings());
      keep(*store, first, end);
      static_cast<void>(store.release());  // not destroyed
      return 0;
    });
  };
  ASSERT_EQ(fill(0, 400), 0);
  EXPECT_GE(std::filesystem::file_size(path("000001.samples")), size_t{1} << 20) << "reserved";
  ASSERT_EQ(fill(400, 700), 0);
  EXPECT_FALSE(std::filesystem::exists(path("000002.samples"))) << "the lock went with the child";
  {
    const auto store = open(settings());
    EXPECT_EQ(count_kept(*store, 0, 700), 700);
    keep(*store, 700, 1000);
    EXPECT_EQ(count_kept(*store, 0, 1000), 1000);
  }
  EXPECT_LT(std::filesystem::file_size(path("000001.samples")), size_t{200} << 10) << "given back";
}

TEST_F(SampleStoreTest, AForkedChildLeavesTheParentsSegmentAlone) {
  auto store = open(settings());
  keep(*store, 0, 1);
  const auto reserved = std::filesystem::file_size(path("000001.samples"));
  EXPECT_EQ(in_child([&] {
              store.reset();
              return 0;
            }),
            0);
  EXPECT_EQ(std::filesystem::file_size(path("000001.samples")), reserved);
  keep(*store, 1, 100);
  EXPECT_EQ(count_kept(*store, 0, 100), 100);
}
#endif

TEST_F(SampleStoreTest, ADamagedByteIsNeverDelivered) {
  {
    const auto store = open(settings());
    keep(*store, 0, 3);
  }
  for (const auto& [file, begin, end] :
       {std::tuple("000001.samples", 192, 293), std::tuple("index", 64 + 32, 64 + 64)}) {
    for (int64_t at = begin; at < end; ++at) {
      change_byte(path(file), at);
      const auto store = open(settings());
      EXPECT_EQ(read(*store, 1), "none") << file << " " << at;
      EXPECT_EQ(read(*store, 0), bytes_of_sample(0));
      EXPECT_EQ(read(*store, 2), bytes_of_sample(2));
      change_byte(path(file), at);
    }
  }
}

TEST_F(SampleStoreTest, AnEntryOfAnotherSampleDoesNotCount) {
  {
    const auto store = open(settings());
    keep(*store, 0, 2);
  }
  std::string index(64 + 1000 * 32, '\0');
  std::ifstream(path("index"), std::ios::binary)
      .read(index.data(), static_cast<std::streamsize>(index.size()));
  index.replace(64 + 32 * 9, 32, index.substr(64, 32));
  std::ofstream(path("index"), std::ios::binary) << index;
  const auto store = open(settings());
  EXPECT_EQ(read(*store, 9), "none");
  EXPECT_EQ(read(*store, 0), bytes_of_sample(0));
}

TEST_F(SampleStoreTest, AFileThatIsCutOrGoneGivesNothingAndIsFilledAgain) {
  {
    const auto store = open(settings());
    keep(*store, 0, 10);
  }
  std::filesystem::resize_file(path("000001.samples"), 300);
  {
    const auto store = open(settings());
    EXPECT_EQ(count_kept(*store, 0, 10), 2);
    keep(*store, 0, 10);
    EXPECT_EQ(count_kept(*store, 0, 10), 10);
  }
  std::filesystem::remove(path("000001.samples"));
  const auto store = open(settings());
  EXPECT_EQ(count_kept(*store, 0, 10), 0);
  keep(*store, 0, 10);
  EXPECT_EQ(count_kept(*store, 0, 10), 10);
  EXPECT_TRUE(warnings_.empty());
}

// Its maker may have been killed after any call.
TEST_F(SampleStoreTest, AnIndexThatIsHalfMadeIsMadeWhole) {
  for (const int64_t bytes : {0, 1, 64, 5000}) {
    std::filesystem::remove_all(folder_ + "/cache");
    std::filesystem::create_directories(folder_ + "/cache/" + kKey);
    std::ofstream(path("index"), std::ios::binary) << std::string(static_cast<size_t>(bytes), '\0');
    const auto store = open(settings());
    keep(*store, 0, 1000);
    EXPECT_EQ(count_kept(*store, 0, 1000), 1000);
  }
}

TEST_F(SampleStoreTest, AFileThatIsNoIndexIsRefusedByName) {
  std::filesystem::create_directories(folder_ + "/cache/" + kKey);
  std::ofstream(path("index"), std::ios::binary) << "somebody's notes";
  const Result<std::unique_ptr<SampleStore>> store = SampleStore::open(settings());
  ASSERT_FALSE(store.is_ok());
  EXPECT_EQ(store.status().code(), Code::kCorrupt);
  EXPECT_THAT(std::string(store.status().message()),
              HasSubstr("option cache: " + path("index") + ": is no index of this cache; remove"));
}

TEST_F(SampleStoreTest, ADirectoryThatCannotBeMadeIsRefusedByName) {
  StoreSettings nowhere = settings();
  nowhere.directory = folder_ + "/no/such";
  const Result<std::unique_ptr<SampleStore>> store = SampleStore::open(nowhere);
  ASSERT_FALSE(store.is_ok());
  EXPECT_EQ(store.status().code(), Code::kNotFound);
  std::ofstream(folder_ + "/file") << "x";
  nowhere.directory = folder_ + "/file";
  EXPECT_EQ(SampleStore::open(nowhere).status().code(), Code::kNotFound);
}

// As of a medium that is only read, or of another user: root may write everything, and gives that up first.
TEST_F(SampleStoreTest, WhatMayNotBeWrittenIsReadAndSaysSoOnce) {
  namespace fs = std::filesystem;
  fs::permissions(folder_, fs::perms::all);
  keep(*open(settings()), 0, 100);
  const int64_t before = bytes_in_directory();
  const auto only_read = [&](bool yes) {
    const auto set = [yes](const fs::path& path) {
      const fs::perms written = fs::perms::owner_write | fs::perms::group_write | fs::perms::others_write;
      fs::permissions(path, yes ? fs::perms::all & ~written : fs::perms::all);
    };
    set(folder_ + "/cache");
    for (const auto& entry : fs::recursive_directory_iterator(folder_ + "/cache")) set(entry.path());
  };
  only_read(true);
  const int result = in_child([&] {
    if (::geteuid() == 0 && ::setuid(65534) != 0) return 77;
    const auto store = open(settings());
    if (store == nullptr || !store->full()) return 1;
    if (count_kept(*store, 0, 1000) != 100) return 2;
    store->keep(500, 7, view(bytes_of_sample(500)));
    if (read(*store, 500) != "none") return 3;
    const std::string refused = folder_ + "/cache/lock: permission denied";
    if (warnings_.size() != 1 || warnings_[0].find("no more samples are kept: ") == std::string::npos ||
        warnings_[0].find(refused) == std::string::npos)
      return 4;
    const Status other = SampleStore::open(settings(kOtherKey)).take_status();
    if (other.code() != Code::kPermission || other.os_error() != EACCES) return 5;
    return other.message() == "option cache: " + refused + ", and none of these samples is kept there" ? 0
                                                                                                       : 6;
  });
  only_read(false);
  if (result == 77) GTEST_SKIP() << "root's rights cannot be given up here";
  EXPECT_EQ(result, 0) << "1: not opened, 2: not all is read, 3: kept, 4: "
                       << ::testing::PrintToString(warnings_) << ", 5: another code, 6: other words";
  EXPECT_EQ(bytes_in_directory(), before);
}

TEST_F(SampleStoreTest, TheBudgetIsNeverExceededAndSaysSoOnce) {
  constexpr int64_t kBudget = 100'000;
  const auto first = open(settings(kKey, kBudget)), second = open(settings(kKey, kBudget));
  for (int64_t i = 0; i < 1000; ++i) {
    keep(i % 2 == 0 ? *first : *second, i, i + 1);
    ASSERT_LE(bytes_in_directory(), kBudget);
  }
  EXPECT_TRUE(first->full() && second->full());
  EXPECT_GT(count_kept(*first, 0, 1000), 300) << "what fitted is there";
  EXPECT_EQ(warnings_.size(), 2u);
  EXPECT_THAT(warnings_[0], HasSubstr("no more samples are kept: cache_bytes=100000 is used up"));
}

TEST_F(SampleStoreTest, CachesThatNobodyUsesGoForOnesThatAreUsed) {
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

// A directory that others use too: whatever looks like a cache in part is not one.
TEST_F(SampleStoreTest, NothingIsRemovedThatTheCacheDidNotMake) {
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
                                   folder_ + "/elsewhere/index",
                                   folder_ + "/elsewhere/000001.samples"};
  for (const std::string& file : kept) plant(file, file.ends_with("index") ? index : "somebody's own");
  plant(cache + "/0000000000000001/index", "<html>");
  std::string named = index;
  named.replace(16, 16, "00000000000000cc");
  plant(folder_ + "/elsewhere/index", named);
  fs::create_directory_symlink(folder_ + "/elsewhere", cache + "/00000000000000cc");
  fs::create_directories(cache + "/" + kOtherKey + "/000002.samples");  // a directory with a segment's name
  kept.push_back(cache + "/00000000000000cc");
  const auto store = open(settings(kKey, kBudget));
  for (int64_t i = 0; i < 1000; ++i) store->keep(i, 7, view(std::string(1000, 'y')));
  EXPECT_FALSE(fs::exists(path("000001.samples", kOtherKey))) << "what the cache made has gone for room";
  for (const std::string& file : kept) EXPECT_TRUE(fs::exists(file)) << file;
}

// What is written goes into files that the cache made, in its own directory.
TEST_F(SampleStoreTest, LinksThatArePlantedAreNotFollowed) {
  namespace fs = std::filesystem;
  const std::string mine = folder_ + "/mine", text = "somebody's own file, of some length";
  const auto plant_and_open = [&](const std::function<void()>& plant) {
    fs::remove_all(folder_ + "/cache");
    std::ofstream(mine, std::ios::binary) << text;
    fs::create_directories(folder_ + "/cache/" + kKey);
    plant();
    Result<std::unique_ptr<SampleStore>> store = SampleStore::open(settings());
    if (store.is_ok()) {
      keep(*store.value(), 0, 20);
      EXPECT_EQ(count_kept(*store.value(), 0, 20), 20) << "in another segment";
    }
    std::ifstream stream(mine, std::ios::binary);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(stream), {}), text);
    return store.is_ok() ? Status::ok() : store.take_status();
  };
  for (const char* const segment : {"000001.samples", "000002.samples"}) {
    EXPECT_TRUE(plant_and_open([&] { fs::create_symlink(mine, path(segment)); }).is_ok());
    EXPECT_TRUE(plant_and_open([&] { fs::create_hard_link(mine, path(segment)); }).is_ok());
    EXPECT_TRUE(plant_and_open([&] { fs::copy_file(mine, path(segment)); }).is_ok());
    EXPECT_TRUE(plant_and_open([&] { fs::create_directory(path(segment)); }).is_ok());
    EXPECT_TRUE(plant_and_open([&] { fs::create_symlink(folder_ + "/none", path(segment)); }).is_ok());
    EXPECT_FALSE(fs::exists(folder_ + "/none")) << "a dangling link is not followed either";
  }
  for (const std::string& file : {std::string("lock"), std::string(kKey) + "/index"}) {
    const std::string at = folder_ + "/cache/" + file;
    const Status linked = plant_and_open([&] { fs::create_symlink(mine, at); });
    EXPECT_EQ(linked.code(), Code::kNotAFile);
    EXPECT_THAT(std::string(linked.message()),
                HasSubstr("option cache: " + at + ": a symbolic link, a file"));
    EXPECT_EQ(plant_and_open([&] { fs::create_hard_link(mine, at); }).code(), Code::kNotAFile);
  }
  const Status directory = plant_and_open([&] {
    fs::create_directories(folder_ + "/elsewhere");
    fs::remove(folder_ + "/cache/" + kKey);
    fs::create_directory_symlink(folder_ + "/elsewhere", folder_ + "/cache/" + kKey);
  });
  EXPECT_EQ(directory.code(), Code::kNotAFile);
  EXPECT_TRUE(fs::is_empty(folder_ + "/elsewhere"));
}

TEST_F(SampleStoreTest, ACacheOfAnEarlierReleaseIsRemovedWhenRoomIsNeeded) {
  constexpr int64_t kBudget = 300'000;
  open(settings(kOtherKey, kBudget))->keep(1, 7, view(std::string(150'000, 'x')));
  std::fstream(path("index", kOtherKey), std::ios::in | std::ios::out | std::ios::binary) << "DLCACHE1";
  const auto store = open(settings(kKey, kBudget));
  for (int64_t i = 0; i < 1000; ++i) store->keep(i, 7, view(std::string(150, 'y')));
  EXPECT_FALSE(store->full());
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/cache/" + kOtherKey));
}

TEST_F(SampleStoreTest, WithoutABudgetATenthOfTheDiskStaysFree) {
  const auto store = open(settings(kKey, -1));
  keep(*store, 0, 10);
  const std::filesystem::space_info disk = std::filesystem::space(folder_);
  const bool room = disk.available > disk.capacity / 10 + (uint64_t{65} << 20);
  EXPECT_EQ(count_kept(*store, 0, 10), room ? 10 : 0);
}

}  // namespace
}  // namespace dataline::sample_store_test
