// What a cache's files promise: what was kept is read back, whoever was killed when; what is damaged is not there; the directory
// never takes more than it may.
// SPDX-License-Identifier: Apache-2.0
#include "core/loader/cache/sample_store.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "core/loader/cache/store_layout.h"
#include "tests/loader/sample_stores.h"
#include "tests/support/in_child.h"

namespace dataline::sample_store_test {
namespace {

using ::testing::HasSubstr;
using namespace dataline::tests;

using SampleStoreTest = SampleStores;

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
  using ::testing::HasSubstr;
  EXPECT_THAT(warnings_,
              ::testing::ElementsAre(
                  HasSubstr("a stored sample is damaged"),
                  HasSubstr("000001.samples: no such file or directory; the samples in it are made again")));
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

// Any bit of the index: the job runs, it is reported once, and all but a changed version is repaired without a loss.
TEST_F(SampleStoreTest, AFlippedBitOfTheIndexCostsAtMostASampleAndIsReportedOnce) {
  constexpr int64_t kSamples = 20, kVersionAt = 7;
  keep(*open(settings()), 0, kSamples);
  for (int64_t at = 0; at < kStoreHeaderBytes + kSamples * kStoreEntryBytes; ++at) {
    change_byte(path("index"), at);
    warnings_.clear();
    const auto store = open(settings());
    if (at == kVersionAt) {
      EXPECT_EQ(store, nullptr) << "as of another version, which is not written over";
      EXPECT_EQ(warnings_.size(), 1u);
      change_byte(path("index"), at);
      continue;
    }
    ASSERT_NE(store, nullptr) << at;
    const bool header = at < kStoreHeaderBytes;
    EXPECT_EQ(count_kept(*store, 0, kSamples), header ? kSamples : kSamples - 1) << at;
    EXPECT_EQ(count_kept(*store, 0, kSamples), header ? kSamples : kSamples - 1) << at;
    EXPECT_THAT(warnings_, ::testing::ElementsAre(::testing::HasSubstr("damaged"))) << at;
    if (!header) change_byte(path("index"), at);
    EXPECT_EQ(count_kept(*open(settings()), 0, kSamples), kSamples) << at;
  }
}

// As `rm -r` does while jobs begin: each opens, and those whose directory went away keep nothing.
TEST_F(SampleStoreTest, ADirectoryThatIsRemovedAllTheTimeFailsNobody) {
  std::atomic<bool> over{false};
  std::thread remover([&] {
    std::error_code ignored;
    while (!over.load()) std::filesystem::remove_all(folder_ + "/cache", ignored);
  });
  for (int round = 0; round < 300; ++round) {
    const Result<std::unique_ptr<SampleStore>> store = SampleStore::open(settings());
    EXPECT_TRUE(store.is_ok()) << store.status().message();
    if (store.is_ok() && store.value() != nullptr) keep(*store.value(), 0, 3);
  }
  over.store(true);
  remover.join();
}

// RLIMIT_NOFILE as small as it is, no descriptor is free: the loader that follows needs none of the cache.
TEST_F(SampleStoreTest, WithoutDescriptorsTheJobContinuesWithoutIt) {
  const int result = in_child([&] {
    const rlimit none{.rlim_cur = 3, .rlim_max = 3};
    if (::setrlimit(RLIMIT_NOFILE, &none) != 0) return 77;
    for (int fd = 3; fd < 64; ++fd) ::close(fd);
    const Result<std::unique_ptr<SampleStore>> store = SampleStore::open(settings());
    if (!store.is_ok() || store.value() != nullptr) return 1;
    return warnings_.size() == 1 && warnings_[0].find("too many open files") != std::string::npos ? 0 : 2;
  });
  EXPECT_EQ(result, 0);
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
    if (warnings_.size() != 1 || warnings_[0].find("stores no more samples: ") == std::string::npos ||
        warnings_[0].find(refused) == std::string::npos)
      return 4;
    if (open(settings(kOtherKey)) != nullptr) return 5;
    return warnings_.back() == "option cache: the job continues without it: " + refused ? 0 : 6;
  });
  only_read(false);
  if (result == 77) GTEST_SKIP() << "root's rights cannot be given up here";
  EXPECT_EQ(result, 0) << "1: not opened, 2: not all is read, 3: kept, 4: "
                       << ::testing::PrintToString(warnings_) << ", 5: kept without rights, 6: other words";
  EXPECT_EQ(bytes_in_directory(), before);
}

// A directory that others use too: whatever looks like a cache in part is not one.
// What is written goes into files that the cache made, in its own directory.

}  // namespace
}  // namespace dataline::sample_store_test
