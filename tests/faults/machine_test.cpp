// The machine falls short for a moment: descriptors, memory, a device that refuses. It is an error of the call that names
// the cause; no sample is booked bad, skipped or exchanged, and the next call brings the same bytes as if nothing had been.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/resource.h>

#include <filesystem>
#include <thread>

#include "core/base/status.h"
#include "tests/conformance/files.h"
#include "tests/support/file_faults.h"
#include "tests/support/fresh_seed.h"

namespace dataline::tests::machine_test {
namespace {

constexpr int64_t kFiles = 24;
const char* const kPolicies[] = {"raise", "replace", "quarantine"};

struct Outcome {
  std::string bytes;  // of the first field, and of the indices
  int errors = 0;
  std::vector<std::string> messages;
  dl_stats stats = {};
};

class Machine : public ::testing::Test {
 protected:
  Machine() {
    for (int64_t i = 0; i < kFiles; ++i) {
      dir_.write(concat("set/", i % 2 == 0 ? "a" : "b", "/", i, ".jpg"),
                 pattern_bytes(200 + i, static_cast<uint32_t>(i + 1)));
    }
    dir_.write("rows.npy", npy_file("|u1", "(40, 500)", pattern_bytes(40 * 500)));
  }

  // Runs a job to its end. Errors of the machine are tried again, as a host would, up to `most` in a row; `at_error` may
  // take the cause away. All others end the test.
  Outcome run(
      const Dataset& dataset, const char* workers, const char* on_error, dl_status code, int os_error,
      const std::function<void()>& at_error = [] {}, int most = 1000) {
    Loader loader = make_loader(dataset, {{"batch_size", "4"},
                                          {"epochs", "2"},
                                          {"shuffle", "full"},
                                          {"seed", "3"},
                                          {"num_workers", workers},
                                          {"on_error", on_error}});
    Outcome out;
    int in_a_row = 0;
    for (dl_status status = DL_OK; status != DL_END && in_a_row < most;) {
      Error error;
      dl_batch* taken = nullptr;
      int64_t epoch = -1, step = -1;
      EXPECT_EQ(dl_loader_position(loader.get(), &epoch, &step, nullptr), DL_OK);
      status = dl_loader_next(loader.get(), -1, &taken, &error);
      const Batch batch(taken);
      in_a_row = status < 0 ? in_a_row + 1 : 0;
      if (status < 0) {
        ++out.errors;
        out.messages.push_back(error.message);
        EXPECT_EQ(status, code) << error.message;
        EXPECT_EQ(error.os_error, os_error) << error.message;
        EXPECT_NE(std::string(error.message).find(dir_.path("")), std::string::npos) << error.message;
        EXPECT_EQ(
            std::string(error.message).find(concat("step ", step, ": sample ", error.sample_index, ": ")), 0u)
            << error.message;
        int64_t epoch_now = -1, step_now = -1;
        EXPECT_EQ(dl_loader_position(loader.get(), &epoch_now, &step_now, nullptr), DL_OK);
        EXPECT_TRUE(epoch_now == epoch && step_now == step) << "the position stays";
        at_error();
      }
      if (status != DL_OK) continue;
      dl_batch_info info = {};
      info.struct_size = sizeof info;
      EXPECT_EQ(dl_batch_get_info(taken, &info, nullptr), DL_OK);
      out.bytes += row_bytes(taken, 0);
      out.bytes.append(reinterpret_cast<const char*>(info.sample_indices),
                       static_cast<size_t>(info.samples) * sizeof(int64_t));
    }
    out.stats = stats_of(loader);
    return out;
  }
  Outcome run(const Dataset& dataset, const char* on_error) { return run(dataset, "0", on_error, DL_OK, 0); }
  static void expect_nothing_booked(const Outcome& out) {
    EXPECT_EQ(out.stats.bad, 0);
    EXPECT_EQ(out.stats.skipped, 0);
    EXPECT_EQ(out.stats.replaced, 0);
  }
  Opened folder() { return open_dataset("folder:" + dir_.path("set")); }

  TempDir dir_;
  NoMoreFileFaults at_the_end_;
};

TEST_F(Machine, AFileThatCannotBeOpenedForWantOfDescriptorsIsAnErrorOfTheCall) {
  const Opened set = folder();
  const std::string truth = run(set.dataset, "raise").bytes;
  for (int number : {EMFILE, ENFILE, ENOMEM}) {
    for (const char* on_error : kPolicies) {
      for (const char* workers : {"0", "1", "3"}) {
        SCOPED_TRACE(concat("errno ", number, ", ", on_error, ", ", workers, " workers"));
        std::atomic<int> opens{0};
        file_faults.open_errno = [&](const char*) { return opens.fetch_add(1) % 11 == 5 ? number : 0; };
        const Outcome out = run(set.dataset, workers, on_error,
                                number == ENOMEM ? DL_ERR_NO_MEMORY : DL_ERR_TOO_MANY_FILES, number);
        file_faults = {};
        EXPECT_GT(out.errors, 0);
        EXPECT_TRUE(out.bytes == truth) << "the same stream";
        expect_nothing_booked(out);
      }
    }
  }
}

TEST_F(Machine, AsLongAsTheTableIsFullEachCallSaysSoAndNothingIsLost) {
  const Opened set = folder();
  const std::string truth = run(set.dataset, "raise").bytes;
  for (const char* on_error : kPolicies) {
    std::atomic<bool> full{true};
    int errors = 0;
    file_faults.open_errno = [&](const char*) { return full.load() ? EMFILE : 0; };
    const Outcome out = run(set.dataset, "1", on_error, DL_ERR_TOO_MANY_FILES, EMFILE, [&] {
      if (++errors == 7) full.store(false);
    });
    EXPECT_GE(out.errors, 7) << on_error << ": a worker may have met one more before the table had room";
    EXPECT_TRUE(out.bytes == truth);
    expect_nothing_booked(out);
  }
}

// The stream must not depend on which stand-in could be opened at the moment.
TEST_F(Machine, AStandInThatCannotBeOpenedIsAnErrorOfTheCallToo) {
  const Opened set = folder();
  std::filesystem::resize_file(dir_.path("set/b/7.jpg"), 50);
  for (const char* on_error : {"replace", "quarantine"}) {
    const Outcome truth = run(set.dataset, on_error);
    EXPECT_EQ(truth.stats.bad, 1);
    // Behind the bad file come those of its batch, three at most, and then what stands in for it.
    for (int refused = 1; refused <= 4; ++refused) {
      for (int number : {EMFILE, EIO}) {
        SCOPED_TRACE(concat(on_error, ", errno ", number, ", file ", refused, " after the bad one"));
        int after_bad = -1;
        file_faults.open_errno = [&](const char* path) {
          if (after_bad < 0 && !std::string(path).ends_with("/7.jpg")) return 0;
          return ++after_bad == refused ? number : 0;
        };
        const Outcome out = run(set.dataset, "0", on_error, DL_ERR_TOO_MANY_FILES, EMFILE);
        file_faults = {};
        EXPECT_EQ(out.errors, number == EMFILE ? 1 : 0)
            << "a device that refuses once is asked again at once";
        EXPECT_TRUE(out.bytes == truth.bytes);
        EXPECT_EQ(out.stats.bad, 1);
        EXPECT_EQ(out.stats.replaced, truth.stats.replaced);
      }
    }
  }
}

TEST_F(Machine, AFileThatTheMachineCannotOpenNowIsNotLeftOutOfItsSet) {
  dir_.write("more.npy", npy_file("|u1", "(40, 500)", pattern_bytes(40 * 500)));
  const auto opened_with = [&](int number) {
    file_faults.open_errno = [number](const char* path) {
      return std::string(path).ends_with("more.npy") ? number : 0;
    };
    Opened out =
        open_dataset("npy:" + dir_.path("rows.npy") + "," + dir_.path("more.npy"), {{"bad_files", "skip"}});
    file_faults = {};
    return out;
  };
  for (int number : {EMFILE, ENFILE, ENOMEM, EAGAIN, ENOBUFS}) {
    const Opened out = opened_with(number);
    EXPECT_LT(out.status, 0) << number;
    EXPECT_EQ(out.error.os_error, number) << out.error.message;
  }
  for (int number : {EACCES, EIO}) {
    const Opened out = opened_with(number);
    ASSERT_EQ(out.status, DL_OK) << out.error.message;
    EXPECT_EQ(dl_dataset_count(out.dataset.get()), 40) << "left out, which is what it was asked for";
  }
}

TEST_F(Machine, AReadThatIsRefusedForAMomentBringsTheSameBytes) {
  for (const std::string& uri : {"folder:" + dir_.path("set"), "npy:" + dir_.path("rows.npy")}) {
    const Opened set = open_dataset(uri, {{"io", "pread"}});
    const std::string truth = run(set.dataset, "raise").bytes;
    for (const char* on_error : kPolicies) {
      for (int number : {EIO, EAGAIN, ENOMEM, ESTALE}) {
        SCOPED_TRACE(concat(uri, ", errno ", number, ", ", on_error));
        std::atomic<int> reads{0};
        file_faults.pread_errno = [&](int64_t) { return reads.fetch_add(1) % 13 == 6 ? number : 0; };
        const dl_status code = number == ENOMEM ? DL_ERR_NO_MEMORY : DL_ERR_IO;
        const Outcome out = run(set.dataset, "1", on_error, code, number);
        file_faults = {};
        EXPECT_TRUE(out.bytes == truth);
        expect_nothing_booked(out);
      }
    }
  }
}

TEST_F(Machine, ADeviceThatRefusesEverythingIsAnErrorOfTheCallUntilItIsBack) {
  const Opened set = open_dataset("npy:" + dir_.path("rows.npy"), {{"io", "pread"}});
  const std::string truth = run(set.dataset, "raise").bytes;
  for (const char* on_error : kPolicies) {
    std::atomic<bool> gone{true};
    int errors = 0;
    file_faults.pread_errno = [&](int64_t) { return gone.load() ? EIO : 0; };
    const Outcome out = run(set.dataset, "2", on_error, DL_ERR_IO, EIO, [&] {
      if (++errors == 5) gone.store(false);
    });
    file_faults = {};
    EXPECT_GE(out.errors, 5);
    EXPECT_TRUE(out.bytes == truth) << on_error;
    expect_nothing_booked(out);
  }
}

// Between which reads it comes back, the sample's own, its second one, or one of those that may stand in for it, changes nothing.
TEST_F(Machine, ADeviceThatComesBackBetweenAnyTwoReadsCostsNoSampleAndChangesNoStandIn) {
  std::filesystem::resize_file(dir_.path("set/b/7.jpg"), 50);
  for (const std::string& uri : {"npy:" + dir_.path("rows.npy"), "folder:" + dir_.path("set")}) {
    const Opened set = open_dataset(uri, {{"io", "pread"}});
    const bool whole = uri.starts_with("npy:");
    for (const char* on_error : kPolicies) {
      if (!whole && on_error == kPolicies[0]) continue;  // its cut file is an error of the job
      const Outcome truth = run(set.dataset, on_error);
      for (int after : {0, 9, 23}) {
        for (int refused = 1; refused <= 40; ++refused) {
          SCOPED_TRACE(concat(uri, ", ", on_error, ", ", refused, " reads after ", after));
          int reads = 0;
          file_faults.pread_errno = [&](int64_t) {
            ++reads;
            return reads > after && reads <= after + refused ? EIO : 0;
          };
          const Outcome out = run(set.dataset, "0", on_error, DL_ERR_IO, EIO);
          file_faults = {};
          EXPECT_TRUE(out.bytes == truth.bytes);
          EXPECT_EQ(out.stats.bad, truth.stats.bad);
          EXPECT_EQ(out.stats.replaced, truth.stats.replaced);
        }
      }
    }
  }
}

// One place of the disk is gone for good: a bad sample, as ever.
TEST_F(Machine, APlaceThatIsRefusedForGoodIsABadSample) {
  const Opened set = open_dataset("npy:" + dir_.path("rows.npy"), {{"io", "pread"}});
  for (const char* workers : {"0", "2"}) {
    file_faults.pread_errno = [](int64_t offset) { return offset == 128 + 17 * 500 ? EIO : 0; };
    const Outcome out = run(set.dataset, workers, "quarantine", DL_OK, 0);
    file_faults = {};
    EXPECT_EQ(out.errors, 0);
    EXPECT_EQ(out.stats.bad, 1);
    EXPECT_EQ(out.stats.replaced, 2) << "once an epoch";
    EXPECT_EQ(out.stats.samples, 80);
  }
}

TEST_F(Machine, AFileThatCannotBeLookedAtAfterItWasReadIsAnErrorOfTheCall) {
  const Opened set = open_dataset("npy:" + dir_.path("rows.npy"), {{"io", "mmap"}});
  const std::string truth = run(set.dataset, "raise").bytes;
  for (const char* on_error : kPolicies) {
    std::atomic<int> calls{0};
    file_faults.fstat_errno = [&] { return calls.fetch_add(1) % 5 == 3 ? ENOMEM : 0; };
    const Outcome out = run(set.dataset, "0", on_error, DL_ERR_NO_MEMORY, ENOMEM);
    file_faults = {};
    EXPECT_TRUE(out.bytes == truth) << on_error;
    expect_nothing_booked(out);
  }
}

// A thread of the host holds all descriptors for moments.
TEST_F(Machine, AHostThatHoldsAllDescriptorsForMomentsChangesNothing) {
  const Opened set = folder();
  const std::string truth = run(set.dataset, "replace").bytes;
  Draws draws(fresh_seed());
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = 40;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  std::atomic<bool> stop{false};
  std::thread host([&] {
    std::vector<int> held;
    while (!stop.load()) {
      for (int fd = ::dup(0); fd >= 0; fd = ::dup(0)) held.push_back(fd);
      const int64_t moment = draws.below(20'000);
      for (int64_t i = 0; i < moment && !stop.load(); ++i)
        std::atomic_signal_fence(std::memory_order_seq_cst);
      for (int fd : held) ::close(fd);
      held.clear();
      std::this_thread::yield();
    }
  });
  int errors = 0;
  for (const char* on_error : kPolicies) {
    for (int round = 0; round < run_count(3); ++round) {
      const Outcome out = run(
          set.dataset, "1", on_error, DL_ERR_TOO_MANY_FILES, EMFILE, [] {}, 1'000'000);
      EXPECT_TRUE(out.bytes == truth) << on_error;
      expect_nothing_booked(out);
      errors += out.errors;
    }
  }
  stop.store(true);
  host.join();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  RecordProperty("errors", errors);
}

}  // namespace
}  // namespace dataline::tests::machine_test
