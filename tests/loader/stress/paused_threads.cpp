// SPDX-License-Identifier: Apache-2.0
#include "tests/loader/stress/paused_threads.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

namespace {

constexpr int kPause = SIGUSR2;
constexpr long kPauseNs = 150'000;  // several times what a worker needs for a batch of 8 rows
constexpr long kEveryNs = 10'000;

std::atomic<int64_t> pauses_made{0};

void sleep_ns(long ns) {
  const timespec time = {0, ns};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
}

// The sleep is the test: the thread stands still wherever the signal met it.
void pause_here(int) {
  const int saved = errno;
  pauses_made.fetch_add(1);
  sleep_ns(kPauseNs);
  errno = saved;
}

}  // namespace

// The library blocks all signals on its threads. Linked into the test, this stands in for libc's.
extern "C" int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) {
  using Function = int (*)(int, const sigset_t*, sigset_t*);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "pthread_sigmask"));
  if (set == nullptr) return real(how, set, before);
  sigset_t others = *set;
  if (how != SIG_UNBLOCK) sigdelset(&others, kPause);
  return real(how, &others, before);
}

namespace dataline::tests {

PausedThreads::PausedThreads(uint64_t seed, size_t count) {
  struct sigaction action = {};
  action.sa_handler = pause_here;
  action.sa_flags = SA_RESTART;
  sigaction(kPause, &action, nullptr);
  // A thread names itself when it starts.
  while (threads_.size() < count) {
    threads_.clear();
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
      std::string name;
      std::getline(std::ifstream(entry.path() / "comm"), name);
      if (name.starts_with("dataline-")) threads_.push_back(std::stoi(entry.path().filename()));
    }
  }
  sender_ = std::thread([this, seed] { send_signals(seed); });
}

PausedThreads::~PausedThreads() {
  stop_.store(true);
  sender_.join();
}

int64_t PausedThreads::pauses() const { return pauses_made.load(); }

void PausedThreads::send_signals(uint64_t seed) {
  prctl(PR_SET_TIMERSLACK, 1);  // ns; else the kernel makes 60 us of 10
  std::mt19937_64 random(seed);
  while (!stop_.load()) {
    syscall(SYS_tgkill, getpid(), threads_[random() % threads_.size()], kPause);
    sleep_ns(kEveryNs);
  }
}

}  // namespace dataline::tests
