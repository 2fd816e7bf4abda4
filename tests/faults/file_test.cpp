// Reads that fail, come short or are interrupted, at every one of them; maps whose disk fails; files replaced under
// their names; a full table of descriptors.
// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include <filesystem>

#include "core/base/random.h"
#include "core/base/status.h"
#include "tests/conformance/files.h"
#include "tests/support/file_faults.h"

namespace dataline::tests::file_test {
namespace {

constexpr int64_t kRows = 40, kRowBytes = 500;

class FaultyFile : public ::testing::Test {
 protected:
  FaultyFile()
      : data_(pattern_bytes(kRows * kRowBytes)),
        path_(dir_.write("rows.npy", npy_file("|u1", concat("(", kRows, ", ", kRowBytes, ")"), data_))) {}

  // The job of these tests, to its end: rows by sample, "" where none came. Errors in data are collected.
  std::vector<std::string> run(const Dataset& dataset, const char* workers) {
    std::vector<std::string> rows(kRows);
    Loader loader = make_loader(
        dataset, {{"batch_size", "8"}, {"epochs", "1"}, {"shuffle", "full"}, {"num_workers", workers}});
    for (Delivered got; got.status != DL_END;) {
      got = next(loader);
      EXPECT_TRUE(got.status >= 0 || got.status == DL_ERR_BAD_SAMPLE) << got.message;
      if (got.status != DL_OK) continue;
      const std::string bytes = row_bytes(got.batch.get(), 0);
      for (size_t i = 0; i < got.indices.size(); ++i)
        rows[static_cast<size_t>(got.indices[i])] = bytes.substr(i * kRowBytes, kRowBytes);
    }
    const dl_stats stats = stats_of(loader);
    EXPECT_EQ(stats.samples + stats.skipped, kRows);
    for (int64_t i = 0; i < stats.bad; ++i) {
      dl_bad_sample bad = {};
      bad.struct_size = sizeof bad;
      EXPECT_EQ(dl_loader_bad_sample_at(loader.get(), i, &bad, nullptr), DL_OK);
      bad_.push_back(bad);
    }
    return rows;
  }
  std::string row(int64_t index) const {
    return data_.substr(static_cast<size_t>(index * kRowBytes), kRowBytes);
  }
  Opened open(const char* io) { return open_dataset("npy:" + path_, {{"io", io}}); }

  TempDir dir_;
  const std::string data_, path_;
  std::vector<dl_bad_sample> bad_;
  NoMoreFileFaults at_the_end_;
};

TEST_F(FaultyFile, ReadsThatAreInterruptedOrComeShortDeliverTheSameBytes) {
  std::atomic<uint64_t> calls{0};
  file_faults.pread_errno = [&](int64_t) { return calls.fetch_add(1) % 3 == 1 ? EINTR : 0; };
  file_faults.pread_gives = [&](size_t bytes) {
    return static_cast<size_t>(1 + random_below(random_bits(7, calls.load()), bytes));
  };
  for (const char* io : {"mmap", "pread", "memory"}) {
    for (const char* workers : {"0", "2"}) {
      Opened opened = open(io);
      ASSERT_EQ(opened.status, DL_OK) << opened.error.message;
      const std::vector<std::string> rows = run(opened.dataset, workers);
      for (int64_t i = 0; i < kRows; ++i) EXPECT_TRUE(rows[static_cast<size_t>(i)] == row(i)) << io << i;
    }
  }
  EXPECT_TRUE(bad_.empty());
}

// At open the cause is told; later the read is done again, and nobody is the wiser.
TEST_F(FaultyFile, EveryReadMayFailOnceAndAllIsDeliveredOrTheOpenSaysWhy) {
  for (const char* io : {"mmap", "pread", "memory"}) {
    std::atomic<int64_t> calls{0}, fails_at{-1}, failed_offset{-1};
    file_faults.pread_errno = [&](int64_t offset) {
      if (calls.fetch_add(1) != fails_at.load()) return 0;
      failed_offset.store(offset);
      return EIO;
    };
    run(open(io).dataset, "0");
    const int64_t total = calls.load();
    ASSERT_GT(total, 1) << io;
    for (int64_t n = 0; n < total; ++n) {
      SCOPED_TRACE(concat(io, ": read ", n, " of ", total));
      calls.store(0), fails_at.store(n), bad_.clear();
      Opened opened = open(io);
      if (opened.status != DL_OK) {
        EXPECT_EQ(opened.status, DL_ERR_IO);
        EXPECT_EQ(opened.error.os_error, EIO);
        EXPECT_EQ(std::string(opened.error.message),
                  concat(path_, ": offset ", failed_offset.load(), ": the device reported an error"));
        continue;
      }
      const std::vector<std::string> rows = run(opened.dataset, "0");
      ASSERT_GE(calls.load(), n) << "the fault came";
      EXPECT_TRUE(bad_.empty());
      for (int64_t i = 0; i < kRows; ++i) EXPECT_TRUE(rows[static_cast<size_t>(i)] == row(i)) << i;
    }
  }
}

TEST_F(FaultyFile, EachCauseOfAFailedReadHasItsCode) {
  const std::vector<std::pair<int, dl_status>> causes = {{EIO, DL_ERR_IO},
                                                         {ESTALE, DL_ERR_IO},
                                                         {ETIMEDOUT, DL_ERR_IO},
                                                         {ENOTCONN, DL_ERR_IO},
                                                         {EBADMSG, DL_ERR_IO},
                                                         {EREMOTEIO, DL_ERR_IO},
                                                         {EACCES, DL_ERR_PERMISSION},
                                                         {EISDIR, DL_ERR_NOT_A_FILE},
                                                         {ENOMEM, DL_ERR_NO_MEMORY}};
  for (const auto& [number, code] : causes) {
    file_faults.pread_errno = [number = number](int64_t) { return number; };
    Opened opened = open("pread");
    EXPECT_EQ(opened.status, code) << number << ": " << opened.error.message;
    EXPECT_EQ(opened.error.os_error, number);
    EXPECT_NE(std::string(opened.error.message).find(path_ + ": offset 0: "), std::string::npos);
  }
}

// A disk that fails under a map: the pages cannot be made present, and the kernel's EFAULT stands for the signal that
// a load would have been. As long as it gives nothing at all, that is no fault of the samples.
TEST_F(FaultyFile, AMapWhoseDiskFailsIsAnErrorThatNamesTheOffset) {
  Opened opened = open("mmap");
  for (const bool fault : {true, false}) {
    Loader loader = make_loader(opened.dataset, {{"batch_size", "8"}, {"epochs", "1"}, {"num_workers", "0"}});
    file_faults.nothing_is_resident = true;
    file_faults.populate_errno = [fault] { return fault ? EFAULT : EIO; };
    file_faults.pread_errno = [](int64_t) { return EIO; };
    for (int call = 0; call < 3; ++call) {
      Delivered got = next(loader);
      EXPECT_EQ(got.status, DL_ERR_IO);
      EXPECT_NE(got.message.find(concat("step 0: sample 0: ", path_, ": offset 128: ")), std::string::npos)
          << got.message;
    }
    EXPECT_EQ(stats_of(loader).bad, 0);
    file_faults = {};
    EXPECT_TRUE(epoch_bytes(loader) == data_) << "the disk is back";
  }
}

TEST_F(FaultyFile, AFileReplacedUnderItsNameStaysTheOldOneUntilItIsOpenedAgain) {
  const std::string other = pattern_bytes(kRows / 2 * kRowBytes, 9);
  for (const char* io : {"mmap", "pread", "memory"}) {
    for (const char* workers : {"0", "2"}) {
      SCOPED_TRACE(concat(io, ", ", workers, " workers"));
      Opened opened = open(io);
      Loader loader = make_loader(opened.dataset, {{"batch_size", "8"}, {"num_workers", workers}});
      std::string begun = row_bytes(next(loader).batch.get(), 0);
      const std::string newer =
          dir_.write("newer", npy_file("|u1", concat("(", kRows / 2, ", ", kRowBytes, ")"), other));
      std::filesystem::rename(newer, path_);
      EXPECT_TRUE(begun + epoch_bytes(loader) == data_);
      EXPECT_TRUE(epoch_bytes(loader) == data_) << "the next epoch too";
      EXPECT_TRUE(epoch_bytes(make_loader(opened.dataset, {{"num_workers", workers}})) == data_)
          << "another loader of the dataset that is open";
      Opened again = open(io);
      EXPECT_TRUE(epoch_bytes(make_loader(again.dataset, {{"num_workers", workers}})) == other);
      dir_.write("rows.npy", npy_file("|u1", concat("(", kRows, ", ", kRowBytes, ")"), data_));
    }
  }
}

TEST_F(FaultyFile, AFullTableOfDescriptorsIsToldAndOverWhenOneIsFree) {
  Opened opened = open("pread");
  Loader loader = make_loader(opened.dataset, {{"batch_size", "8"}, {"num_workers", "1"}});
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  Opened refused = open("pread");
  Error error;
  intptr_t handle = -1;
  const dl_status handle_status = dl_loader_wait_handle(loader.get(), &handle, &error);
  const std::string bytes = epoch_bytes(loader);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(refused.status, DL_ERR_TOO_MANY_FILES);
  EXPECT_EQ(refused.error.os_error, EMFILE);
  EXPECT_NE(std::string(refused.error.message).find(path_), std::string::npos) << refused.error.message;
  EXPECT_EQ(handle_status, DL_ERR_TOO_MANY_FILES) << error.message;
  EXPECT_EQ(handle, -1);
  EXPECT_TRUE(bytes == data_) << "what is open goes on";
  EXPECT_EQ(open("pread").status, DL_OK);
  EXPECT_EQ(dl_loader_wait_handle(loader.get(), &handle, &error), DL_OK) << error.message;
}

}  // namespace
}  // namespace dataline::tests::file_test
