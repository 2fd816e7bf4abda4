// A small mapped file that is cut, grown back, grown, replaced or taken away at random moments of a job, by another thread.
// Rows that are delivered are the file's; the others are told, and all are counted. The file lies in one page, so that no
// load can fail: what the library does not notice would be zeros with DL_OK (790 of 2,000 such runs, before it looked again
// after each batch).
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "core/base/status.h"
#include "tests/conformance/files.h"
#include "tests/support/fresh_seed.h"

namespace dataline::tests::cut_at_random_test {
namespace {

constexpr int64_t kRows = 96, kRowBytes = 32, kBytes = kRows * kRowBytes;

enum class Act { kCut, kCutAndGrowBack, kGrow, kReplace, kUnlink };

class CutAtRandom : public ::testing::TestWithParam<const char*> {
 protected:
  CutAtRandom() : data_(pattern_bytes(kBytes)) {}

  void act(Act what, const std::string& path, int64_t left) {
    if (what == Act::kCut || what == Act::kCutAndGrowBack) {
      EXPECT_EQ(::truncate(path.c_str(), left), 0);
    }
    if (what == Act::kCutAndGrowBack) {
      EXPECT_EQ(::truncate(path.c_str(), kBytes), 0);
    }
    if (what == Act::kGrow) {
      EXPECT_EQ(::truncate(path.c_str(), kBytes + 1 + left), 0);
    }
    if (what == Act::kReplace) std::filesystem::rename(dir_.path("other"), path);
    if (what == Act::kUnlink) std::filesystem::remove(path);
  }

  // Whether rows were told as missing.
  bool run(uint64_t seed, int round) {
    Draws draws(seed * 1'000'003 + static_cast<uint64_t>(round));
    const std::string path = dir_.write("rows.bin", data_);
    dir_.write("other", std::string(static_cast<size_t>(kBytes), 'x'));
    const timespec old[2] = {{1'600'000'000, 123}, {1'600'000'000, 123}};
    EXPECT_EQ(::utimensat(AT_FDCWD, path.c_str(), old, 0), 0);
    const auto what = draws.below(2) == 0 ? Act::kCut : static_cast<Act>(draws.below(5));
    const int64_t left = 1 + draws.below(kBytes - 1), moment = draws.below(1 << draws.below(15));
    const char* policies[] = {"raise", "replace", "quarantine"};
    Opened set = open_dataset(concat("raw:", path, "?dtype=u8&shape=", kRowBytes), {{"io", GetParam()}});
    EXPECT_EQ(set.status, DL_OK) << set.error.message;
    Loader loader = make_loader(set.dataset, {{"batch_size", std::to_string(1 + draws.below(32))},
                                              {"epochs", "2"},
                                              {"shuffle", draws.below(2) == 0 ? "none" : "full"},
                                              {"num_workers", std::to_string(draws.below(3))},
                                              {"on_error", policies[draws.below(3)]}});
    std::atomic<bool> go{false};
    std::thread other([&] {
      while (!go.load()) {
      }
      for (int64_t i = 0; i < moment; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
      act(what, path, left);
    });
    go.store(true);
    std::string told;
    for (Delivered got; got.status != DL_END;) {
      got = next(loader);
      EXPECT_TRUE(got.status >= 0 || got.status == DL_ERR_BAD_SAMPLE) << got.message;
      if (got.status < 0) told += got.message;
      if (got.status != DL_OK) continue;
      const std::string bytes = row_bytes(got.batch.get(), 0);
      for (size_t i = 0; i < got.indices.size(); ++i) {
        EXPECT_TRUE(bytes.compare(i * kRowBytes, kRowBytes, data_,
                                  static_cast<size_t>(got.indices[i]) * kRowBytes, kRowBytes) == 0)
            << "row " << got.indices[i] << " is not the file's";
      }
    }
    other.join();
    const dl_stats stats = stats_of(loader);
    EXPECT_EQ(stats.samples + stats.skipped, 2 * kRows);
    const bool may_miss = what == Act::kCut || what == Act::kCutAndGrowBack;
    EXPECT_TRUE(may_miss || stats.bad == 0) << told;
    EXPECT_TRUE(told.empty() || told.find(path) != told.npos) << told;
    return stats.bad > 0;
  }

  TempDir dir_;
  const std::string data_;
};

TEST_P(CutAtRandom, RowsAreTheFilesOrAreTold) {
  const uint64_t seed = fresh_seed();
  const int runs = run_count(500);
  int with_errors = 0;
  for (int round = 0; round < runs && !HasFailure(); ++round) {
    SCOPED_TRACE(concat("seed ", seed, ", round ", round));
    with_errors += run(seed, round) ? 1 : 0;
  }
  RecordProperty("with_errors", with_errors);
  EXPECT_GT(with_errors, runs / 20) << "the damage comes in time";
}

INSTANTIATE_TEST_SUITE_P(Io, CutAtRandom, ::testing::Values("auto", "mmap", "pread"));

}  // namespace
}  // namespace dataline::tests::cut_at_random_test
