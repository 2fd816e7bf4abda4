// A file that is cut at any moment of a job: before, while and after it is opened, and between and inside of batches.
// With io=pread and io=memory no signal ever comes (one would end this program), every row that is delivered is the
// file's, every row that is not is named with file and offset, and all rows are counted.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "core/base/status.h"
#include "tests/conformance/files.h"
#include "tests/support/fresh_seed.h"

namespace dataline::tests::truncation_test {
namespace {

constexpr int64_t kRows = 96, kRowBytes = 700, kHeaderBytes = 128;
constexpr int kRuns = 1000;

// Cuts a file after so many steps of the consumer, and a moment later; at once when the moment is 0: then the consumer
// waits until the file is cut.
class Cutter {
 public:
  Cutter(std::string path, int64_t bytes, int64_t at_step, int64_t moment)
      : path_(std::move(path)), at_step_(at_step), moment_(moment), thread_([this, bytes] {
          steps_.wait(-1);
          for (int64_t now = steps_.load(); now < at_step_; now = steps_.load()) steps_.wait(now);
          while (spun_.fetch_add(1) < moment_) {
          }
          EXPECT_EQ(::truncate(path_.c_str(), bytes), 0);
          cut_.store(true);
          cut_.notify_all();
        }) {}
  ~Cutter() {
    step(kNever);
    thread_.join();
  }
  void step(int64_t step) {
    steps_.store(step);
    steps_.notify_all();
    if (step >= at_step_ && moment_ == 0) cut_.wait(false);
  }
  static constexpr int64_t kNever = 1 << 30;

 private:
  const std::string path_;
  const int64_t at_step_, moment_;
  std::atomic<int64_t> steps_{-1}, spun_{0};
  std::atomic<bool> cut_{false};
  std::thread thread_;
};

struct Seen {
  int refused_at_open = 0, with_rows_missing = 0, whole = 0;
};

class Truncation : public ::testing::Test {
 protected:
  Truncation()
      : data_(pattern_bytes(kRows * kRowBytes)),
        file_(npy_file("|u1", concat("(", kRows, ", ", kRowBytes, ")"), data_)) {
    EXPECT_EQ(file_.size(), data_.size() + kHeaderBytes);
  }

  void expect_truncated(const std::string& message, const std::string& path) {
    EXPECT_NE(message.find(path), std::string::npos) << message;
    EXPECT_NE(message.find("offset "), std::string::npos) << message;
  }

  void check_rows(const Delivered& got) {
    int32_t count = 0;
    const dl_view& view = dl_batch_views(got.batch.get(), &count)[0];
    ASSERT_EQ(view.shape[0], static_cast<int64_t>(got.indices.size()));
    for (size_t row = 0; row < got.indices.size(); ++row) {
      const std::string_view bytes(static_cast<const char*>(view.data) + row * kRowBytes, kRowBytes);
      const std::string_view mine =
          std::string_view(data_).substr(static_cast<size_t>(got.indices[row]) * kRowBytes, kRowBytes);
      ASSERT_TRUE(bytes == mine) << "row " << got.indices[row] << " is not the file's";
    }
  }

  // delivered + skipped = the epoch's slots; each skipped or replaced sample is listed.
  void check_books(const Loader& loader, const std::string& path) {
    const dl_stats stats = stats_of(loader);
    EXPECT_EQ(stats.samples + stats.skipped + stats.dropped, kRows);
    EXPECT_EQ(stats.bad, dl_loader_bad_sample_count(loader.get()));
    int64_t without_stand_in = 0;
    for (int64_t i = 0; i < stats.bad; ++i) {
      dl_bad_sample bad = {};
      bad.struct_size = sizeof bad;
      Error error;
      ASSERT_EQ(dl_loader_bad_sample_at(loader.get(), i, &bad, &error), DL_OK);
      EXPECT_EQ(bad.code, DL_ERR_TRUNCATED) << bad.message;
      expect_truncated(bad.message, path);
      EXPECT_NE(std::string(bad.message).find(concat("expected ", kRowBytes, " bytes, got ")),
                std::string::npos)
          << bad.message;
      without_stand_in += bad.replacement < 0 ? 1 : 0;
    }
    EXPECT_EQ(stats.skipped, without_stand_in);
  }

  void run(const char* io, uint64_t seed, Seen& seen) {
    const std::string path = dir_.write(concat("cut-", seed, ".npy"), file_);
    run_on(path, io, seed, seen);
    std::filesystem::remove(path);
  }

  void run_on(const std::string& path, const char* io, uint64_t seed, Seen& seen) {
    SCOPED_TRACE(concat(io, ", run ", seed));
    Draws draws(seed);
    // A third: within the header or the first row; the others anywhere.
    const int64_t left = draws.below(3) == 0 ? draws.below(kHeaderBytes + kRowBytes)
                                             : draws.below(static_cast<int64_t>(file_.size()));
    const int64_t at_step = draws.below(8);  // 0: the open, 1: create, then the batches
    const int64_t moment = draws.below(4) == 0 ? 0 : draws.below(1 << draws.below(17));
    const char* policy[] = {"raise", "replace", "quarantine"};
    const Settings job = {{"batch_size", "16"},
                          {"shuffle", draws.below(2) == 0 ? "none" : "full"},
                          {"epochs", "1"},
                          {"num_workers", std::to_string(draws.below(3))},
                          {"prefetch_depth", std::to_string(1 + draws.below(3))},
                          {"on_error", policy[draws.below(3)]}};
    Cutter cutter(path, left, at_step, moment);
    cutter.step(0);
    Opened opened = open_dataset("npy:" + path, {{"io", io}});
    if (opened.status != DL_OK) {
      ++seen.refused_at_open;
      EXPECT_EQ(opened.status, DL_ERR_TRUNCATED) << opened.error.message;
      return expect_truncated(opened.error.message, path);
    }
    cutter.step(1);
    Loader loader = make_loader(opened.dataset, job);
    bool ended = false;
    for (int64_t step = 2; !ended; ++step) {
      cutter.step(step);
      Delivered got = next(loader);
      ended = got.status == DL_END;
      if (got.status == DL_OK) check_rows(got);
      if (got.status == DL_ERR_BAD_SAMPLE) {
        expect_truncated(got.message, path);
      } else {
        ASSERT_GE(got.status, 0) << got.message;
      }
    }
    check_books(loader, path);
    ++(stats_of(loader).bad > 0 ? seen.with_rows_missing : seen.whole);
  }

  Seen run_all(const char* io) {
    Seen seen;
    for (uint64_t seed = 0; seed < kRuns && !HasFailure(); ++seed) run(io, seed, seen);
    RecordProperty("refused_at_open", seen.refused_at_open);
    RecordProperty("with_rows_missing", seen.with_rows_missing);
    RecordProperty("whole", seen.whole);
    return seen;
  }

  TempDir dir_;
  const std::string data_, file_;
};

// What the seeds make happen for certain (the consumer waits for the cut) is counted; the rest may go either way.
TEST_F(Truncation, ReadByPreadEndsInTheFilesBytesOrInErrorsThatNameIt) {
  const Seen seen = run_all("pread");
  EXPECT_GT(seen.refused_at_open, 20);
  EXPECT_GT(seen.with_rows_missing, 100);
}

TEST_F(Truncation, HeldInMemoryIsRefusedAtOpenOrDeliveredWhole) {
  const Seen seen = run_all("memory");
  EXPECT_GT(seen.refused_at_open, 20);
  EXPECT_GT(seen.whole, 500);
  EXPECT_EQ(seen.with_rows_missing, 0);
}

}  // namespace
}  // namespace dataline::tests::truncation_test
