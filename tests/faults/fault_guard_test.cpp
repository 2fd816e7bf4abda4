// fault_guard=true: a mapped file that is cut or whose disk fails under a load ends in an error that names file and
// offset, never in the end of the process; and the handler that does it stands in nobody's way.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "core/base/status.h"
#include "tests/conformance/files.h"
#include "tests/support/fresh_seed.h"
#include "tests/support/places.h"

extern "C" int64_t guarded_job(const char* path, const char* uri, int64_t rows);

namespace dataline::tests::fault_guard_test {
namespace {

using GuardedJob = int64_t(const char* path, const char* uri, int64_t rows);

constexpr int64_t kRowBytes = 1000, kRows = 2048;  // 2 MB
constexpr int kKilledByBus = 128 + SIGBUS;

Opened open_guarded(const std::string& path) {
  return open_dataset(concat("raw:", path, "?dtype=u8&shape=", kRowBytes),
                      {{"io", "mmap"}, {"fault_guard", "true"}});
}

// A mapping of the test's own whose page is gone.
char* foreign_hole(const TempDir& dir) {
  const std::string path = dir.write("foreign", std::string(8192, 'x'));
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  void* map = ::mmap(nullptr, 8192, PROT_READ, MAP_SHARED, fd, 0);
  EXPECT_EQ(::ftruncate(fd, 0), 0);
  ::close(fd);
  return static_cast<char*>(map);
}

int load(char* from) { return std::atomic_ref<char>(*from).load(); }

class FaultGuard : public ::testing::Test {
 protected:
  FaultGuard() : data_(pattern_bytes(kRows * kRowBytes)), path_(dir_.write("rows.bin", data_)) {}

  // Every row that is delivered is the file's; returns what was told of the others.
  std::vector<Error> run_epoch(const Loader& loader) {
    std::vector<Error> told;
    for (;;) {
      Error error;
      dl_batch* taken = nullptr;
      const dl_status status = dl_loader_next(loader.get(), -1, &taken, &error);
      const Batch batch(taken);
      if (status == DL_END_OF_EPOCH || status == DL_END) return told;
      if (status < 0) told.push_back(error);
      if (status != DL_OK) continue;
      dl_batch_info info = {};
      info.struct_size = sizeof info;
      EXPECT_EQ(dl_batch_get_info(taken, &info, nullptr), DL_OK);
      const std::string bytes = row_bytes(taken, 0);
      for (int64_t i = 0; i < info.samples; ++i) {
        const bool same =
            bytes.compare(static_cast<size_t>(i * kRowBytes), kRowBytes, data_,
                          static_cast<size_t>(info.sample_indices[i] * kRowBytes), kRowBytes) == 0;
        EXPECT_TRUE(same) << "row " << info.sample_indices[i] << " is not the file's";
        if (!same) return told;
      }
    }
  }

  TempDir dir_;
  const std::string data_, path_;
};

// The interleaving is certain: a reader beside the file cuts it when the rows are located and not yet copied.
TEST_F(FaultGuard, PagesThatAreCutOffUnderTheCopyAreErrorsWithFileAndOffset) {
  for (const char* workers : {"0", "1"}) {
    for (const int64_t left : {int64_t{0}, int64_t{4096}, int64_t{1'000'500}}) {
      SCOPED_TRACE(concat(workers, " workers, cut to ", left));
      dir_.write("rows.bin", data_);
      Opened set = open_guarded(path_);
      ASSERT_EQ(set.status, DL_OK) << set.error.message;
      TestReader reader;
      std::atomic<bool> cut{false};
      reader.before = [&](const int64_t*, int64_t) {
        if (cut.exchange(true)) return;
        EXPECT_EQ(::truncate(path_.c_str(), left), 0);
      };
      Dataset beside = reader.dataset(kRows);
      dl_dataset* parts[] = {set.dataset.get(), beside.get()};
      const char* names[] = {"rows", "beside"};
      dl_dataset* both = nullptr;
      Error error;
      ASSERT_EQ(dl_dataset_zip(parts, names, 2, nullptr, &both, &error), DL_OK) << error.message;
      const Dataset zipped(both);
      Loader loader =
          make_loader(zipped, {{"batch_size", "2048"}, {"epochs", "1"}, {"num_workers", workers}});
      const std::vector<Error> told = run_epoch(loader);
      ASSERT_FALSE(told.empty());
      EXPECT_EQ(told[0].code, DL_ERR_BAD_SAMPLE);
      EXPECT_NE(std::string(told[0].message).find(path_ + ": offset "), std::string::npos) << told[0].message;
      const dl_stats stats = stats_of(loader);
      EXPECT_EQ(stats.skipped, kRows - left / kRowBytes);
      EXPECT_EQ(stats.samples, left / kRowBytes) << "what was not cut off is delivered";
    }
  }
}

TEST_F(FaultGuard, AHotFileThatIsCutAtRandomMomentsNeverEndsTheProcess) {
  const uint64_t seed = fresh_seed();
  const int runs = run_count(200);
  int with_errors = 0;
  for (int round = 0; round < runs && !HasFailure(); ++round) {
    SCOPED_TRACE(concat("round ", round));
    Draws draws(seed + static_cast<uint64_t>(round));
    dir_.write("rows.bin", data_);
    Opened set = open_guarded(path_);
    Loader loader = make_loader(set.dataset, {{"batch_size", "64"},
                                              {"epochs", "3"},
                                              {"shuffle", draws.below(2) == 0 ? "none" : "full"},
                                              {"num_workers", std::to_string(draws.below(3))}});
    std::atomic<bool> go{false};
    const int64_t moment = draws.below(1 << draws.below(20));
    const int64_t left = draws.below(3) == 0 ? 0 : draws.below(kRows * kRowBytes);
    const bool restored = draws.below(4) == 0;
    std::thread cutter([&] {
      go.wait(false);
      for (int64_t i = 0; i < moment; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
      EXPECT_EQ(::truncate(path_.c_str(), left), 0);
      if (!restored) return;
      EXPECT_EQ(::truncate(path_.c_str(), kRows * kRowBytes), 0);
    });
    go.store(true);
    go.notify_all();
    size_t told = 0;
    for (int epoch = 0; epoch < 3; ++epoch) told += run_epoch(loader).size();
    cutter.join();
    with_errors += told > 0 ? 1 : 0;
    const dl_stats stats = stats_of(loader);
    EXPECT_EQ(stats.samples + stats.skipped, 3 * kRows);
  }
  RecordProperty("with_errors", with_errors);
  EXPECT_GT(with_errors, runs / 10);
}

int in_clean_child(const std::function<int()>& body) {
  return in_child([&] {
    ::signal(SIGBUS, SIG_DFL);
    return body();
  });
}

TEST_F(FaultGuard, WithoutItTheHandlersOfTheProcessAreLeftAlone) {
  EXPECT_EQ(in_clean_child([&] {
              Opened set = open_dataset(concat("raw:", path_, "?dtype=u8&shape=1000"), {{"io", "mmap"}});
              run_epoch(make_loader(set.dataset, {{"epochs", "1"}}));
              struct sigaction now {};
              ::sigaction(SIGBUS, nullptr, &now);
              return now.sa_handler == SIG_DFL ? 0 : 1;
            }),
            0);
}

TEST_F(FaultGuard, AForeignFaultEndsTheProcessAsEver) {
  EXPECT_EQ(in_clean_child([&] {
              Opened set = open_guarded(path_);
              char* hole = foreign_hole(dir_);
              return load(hole);
            }),
            kKilledByBus);
}

TEST_F(FaultGuard, ASignalThatSomebodySentDoesWhatItDidBefore) {
  const auto sent = [&](void (*before)(int)) {
    return in_child([&] {
      ::signal(SIGBUS, before);
      Opened set = open_guarded(path_);
      ::raise(SIGBUS);
      return 7;
    });
  };
  EXPECT_EQ(sent(SIG_DFL), kKilledByBus);
  EXPECT_EQ(sent(SIG_IGN), 7);
  EXPECT_EQ(sent([](int) { ::_exit(3); }), 3);
}

sigjmp_buf back;
siginfo_t seen_info;
std::atomic<int> plain_calls{0};

TEST_F(FaultGuard, AForeignFaultGoesToTheHandlerThatWasThereBefore) {
  EXPECT_EQ(in_child([&] {
              struct sigaction mine {};
              mine.sa_flags = SA_SIGINFO;
              mine.sa_sigaction = [](int, siginfo_t* info, void*) {
                seen_info = *info;
                ::siglongjmp(back, 1);
              };
              ::sigaction(SIGBUS, &mine, nullptr);
              Opened set = open_guarded(path_);
              char* hole = foreign_hole(dir_);
              for (int i = 0; i < 3; ++i) {
                if (::sigsetjmp(back, 1) == 0) return load(hole) + 100;
                if (seen_info.si_addr != hole) return 2;
              }
              return 0;
            }),
            0);
  EXPECT_EQ(in_child([&] {
              struct sigaction once {};
              once.sa_flags = static_cast<int>(SA_RESETHAND);
              once.sa_handler = [](int) { plain_calls.fetch_add(1); };
              ::sigaction(SIGBUS, &once, nullptr);
              Opened set = open_guarded(path_);
              ::raise(SIGBUS);
              if (plain_calls.load() != 1) return 1;
              ::raise(SIGBUS);  // it asked to be called once
              return 2;
            }),
            kKilledByBus);
}

TEST_F(FaultGuard, AHandlerThatIsPutOverItIsToldToTheLog) {
  EXPECT_EQ(
      in_clean_child([&] {
        Opened first = open_guarded(path_);
        ::signal(SIGBUS, [](int) {});
        static std::string remarks;
        dl_log log = {};
        log.struct_size = sizeof log;
        log.write = [](void*, int32_t level, const char* message, size_t length) {
          if (level == DL_LOG_WARNING) remarks.append(message, length);
        };
        Options options = make_options({{"io", "mmap"}, {"fault_guard", "true"}});
        Error error;
        dl_dataset* set = nullptr;
        if (dl_options_set_log(options.get(), &log, &error) != DL_OK) return 1;
        if (dl_dataset_open(concat("raw:", path_, "?dtype=u8").c_str(), options.get(), &set, &error) != DL_OK)
          return 2;
        dl_dataset_destroy(set);
        return remarks.find("fault_guard: another SIGBUS handler") != std::string::npos ? 0 : 3;
      }),
      0);
}

TEST_F(FaultGuard, AForkedChildIsGuardedByItsOwnCopy) {
  Opened set = open_guarded(path_);
  EXPECT_EQ(in_child([&] {
              Loader loader =
                  make_loader(set.dataset, {{"batch_size", "64"}, {"epochs", "2"}, {"num_workers", "1"}});
              Delivered first = next(loader);
              if (first.status != DL_OK || ::truncate(path_.c_str(), 0) != 0) return 1;
              const bool told = run_epoch(loader).size() + run_epoch(loader).size() > 0;
              return told && !HasFailure() ? 0 : 2;
            }),
            0);
}

// The static library in this program, and the shared one in a module: each has its handler, and the later one hands on
// to the earlier.
TEST_F(FaultGuard, TwoCopiesInOneProcessBothWork) {
  struct sigaction now {};
  ASSERT_EQ(::sigaction(SIGBUS, nullptr, &now), 0);
  if (now.sa_handler != SIG_DFL) {
    GTEST_SKIP() << "another test of this process has installed the handler; ctest runs each in its own";
  }
  for (const bool static_first : {true, false}) {
    EXPECT_EQ(in_clean_child([&] {
                void* module =
                    ::dlopen(tests::in_build("tests/libguarded_job.so").c_str(), RTLD_NOW | RTLD_LOCAL);
                if (module == nullptr) return 1;
                auto* const in_module = reinterpret_cast<GuardedJob*>(::dlsym(module, "guarded_job"));
                const std::string uri = concat("raw:", path_, "?dtype=u8&shape=", kRowBytes);
                GuardedJob* const jobs[] = {guarded_job, in_module};
                for (int i = 0; i < 4; ++i) {
                  dir_.write("rows.bin", data_);
                  const int which = (i + (static_first ? 0 : 1)) % 2;
                  if (jobs[which](path_.c_str(), uri.c_str(), kRows) != kRows) return 10 + which;
                }
                return 0;
              }),
              0)
        << static_first;
  }
}

// The handler outlives the library's last user, so its code must stay: a fault afterwards ends as if it had never been.
TEST_F(FaultGuard, ALibraryThatIsUnloadedLeavesNoHandlerIntoNothing) {
  EXPECT_EQ(in_clean_child([&] {
              void* module =
                  ::dlopen(tests::in_build("tests/libguarded_job.so").c_str(), RTLD_NOW | RTLD_LOCAL);
              if (module == nullptr) return 1;
              auto* const in_module = reinterpret_cast<GuardedJob*>(::dlsym(module, "guarded_job"));
              const std::string uri = concat("raw:", path_, "?dtype=u8&shape=", kRowBytes);
              if (in_module(path_.c_str(), uri.c_str(), kRows) != kRows) return 2;
              ::dlclose(module);
              char* hole = foreign_hole(dir_);
              return load(hole);
            }),
            kKilledByBus);
}

// Many shards: the table of ranges grows, entries are used again, and none is left when the sets are gone.
TEST_F(FaultGuard, ManyFilesAreGuardedAndTheirPlacesUsedAgain) {
  for (int i = 0; i < 200; ++i) dir_.write(concat("s/", i, ".bin"), data_.substr(0, 2 * kRowBytes));
  for (int round = 0; round < 3; ++round) {
    Opened set = open_dataset(concat("raw:", dir_.path("s"), "?dtype=u8&shape=", kRowBytes),
                              {{"io", "mmap"}, {"fault_guard", "true"}});
    ASSERT_EQ(set.status, DL_OK) << set.error.message;
    Loader loader = make_loader(set.dataset, {{"batch_size", "8"}, {"epochs", "1"}, {"num_workers", "1"}});
    int64_t samples = 0;
    for (Delivered got = next(loader); got.status == DL_OK; got = next(loader))
      samples += static_cast<int64_t>(got.indices.size());
    EXPECT_EQ(samples, 400);
  }
  char* hole = foreign_hole(dir_);
  EXPECT_EQ(in_clean_child([&] { return load(hole); }), kKilledByBus);
}

}  // namespace
}  // namespace dataline::tests::fault_guard_test
