// The thread that receives the signals.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/interrupts.h"

#include <unistd.h>

#include <system_error>

#include "bindings/cli/failure.h"

namespace dataline::cli {
namespace {

constexpr std::chrono::seconds kWriteGrace{1};
// Repeated, because a write may block just after the main thread has checked for a signal.
constexpr timespec kNudgeInterval{0, 50'000'000};
constexpr int kNudge = SIGUSR1;

void ignore_nudge(int) {}  // only makes a blocked write return EINTR

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Interrupts::Interrupts() : main_thread_(pthread_self()) {
  dl_error error = DL_ERROR_INIT;
  dl_cancel_token* token = nullptr;
  check(dl_cancel_token_create(&token, &error), error);
  token_.reset(token);

  struct sigaction nudge {};
  nudge.sa_handler = ignore_nudge;  // no SA_RESTART
  sigaction(kNudge, &nudge, nullptr);

  sigemptyset(&watched_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (!is_ignored(signal)) sigaddset(&watched_, signal);
  }
  sigset_t blocked = watched_;
  sigaddset(&blocked, kNudge);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  try {
    watcher_ = std::thread([this] { watch(); });  // inherits the mask, and waits for all four signals
  } catch (const std::system_error& refused) {
    throw thread_failure("to watch for Ctrl-C", refused.code().value());
  }
  sigset_t nudge_alone;
  sigemptyset(&nudge_alone);
  sigaddset(&nudge_alone, kNudge);
  pthread_sigmask(SIG_UNBLOCK, &nudge_alone, nullptr);
}

Interrupts::~Interrupts() {
  ending_ = true;
  pthread_kill(watcher_.native_handle(), kNudge);
  watcher_.join();
}

void Interrupts::watch() {
  sigset_t awaited = watched_;
  sigaddset(&awaited, kNudge);
  while (!ending_) {
    const int signal =
        came() ? sigtimedwait(&awaited, nullptr, &kNudgeInterval) : sigwaitinfo(&awaited, nullptr);
    if (signal > 0 && signal != kNudge) {
      if (came()) _exit(kExitSignal + signal);
      deadline_ = std::chrono::steady_clock::now() + kWriteGrace;
      signal_ = signal;
      dl_cancel_token_cancel(token_.get());
    }
    if (came() && !ending_) pthread_kill(main_thread_, kNudge);
  }
}

}  // namespace dataline::cli
