// The thread that receives the signals.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/interrupts.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <system_error>
#include <thread>

#include "bindings/cli/failure.h"
#include "bindings/cli/messages.h"

namespace dataline::cli {
namespace {

constexpr std::chrono::seconds kWriteGrace{1};
// Repeated, because a write may block just after the main thread has checked for a signal.
constexpr timespec kNudgeInterval{0, 50'000'000};
constexpr int kNudge = SIGUSR1;

void ignore_nudge(int) {}  // only makes a blocked write return EINTR

[[noreturn]] void end_at_once(int signal) {
  if (messages().line_shown) write_error(kClearLine);
  _exit(kExitSignal + signal);
}

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

struct Interrupts::System {
  sigset_t watched{};
  pthread_t main_thread = pthread_self();
  std::atomic<bool> ending{false};
  std::thread watcher;

  void watch(Interrupts& interrupts);
};

Interrupts::Interrupts() : system_(std::make_unique<System>()) {
  dl_error error = DL_ERROR_INIT;
  dl_cancel_token* token = nullptr;
  check(dl_cancel_token_create(&token, &error), error);
  token_.reset(token);

  struct sigaction nudge {};
  nudge.sa_handler = ignore_nudge;  // no SA_RESTART
  sigaction(kNudge, &nudge, nullptr);

  sigset_t& watched = system_->watched;
  sigemptyset(&watched);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (!is_ignored(signal)) sigaddset(&watched, signal);
  }
  sigset_t blocked = watched;
  sigaddset(&blocked, kNudge);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  try {
    system_->watcher =
        std::thread([this] { system_->watch(*this); });  // inherits the mask, and waits for all four signals
  } catch (const std::system_error& refused) {
    throw thread_failure("to watch for Ctrl-C", refused.code().value());
  }
  sigset_t nudge_alone;
  sigemptyset(&nudge_alone);
  sigaddset(&nudge_alone, kNudge);
  pthread_sigmask(SIG_UNBLOCK, &nudge_alone, nullptr);
}

Interrupts::~Interrupts() {
  system_->ending = true;
  pthread_kill(system_->watcher.native_handle(), kNudge);
  system_->watcher.join();
}

void Interrupts::note(int signal) {
  deadline_ = std::chrono::steady_clock::now() + kWriteGrace;
  signal_ = signal;
  dl_cancel_token_cancel(token_.get());
}

void Interrupts::System::watch(Interrupts& interrupts) {
  sigset_t awaited = watched;
  sigaddset(&awaited, kNudge);
  while (!ending) {
    const bool came = interrupts.came();
    const int signal =
        came ? sigtimedwait(&awaited, nullptr, &kNudgeInterval) : sigwaitinfo(&awaited, nullptr);
    if (signal > 0 && signal != kNudge) {
      if (came) end_at_once(signal);
      interrupts.note(signal);
    }
    if (interrupts.came() && !ending) pthread_kill(main_thread, kNudge);
  }
}

}  // namespace dataline::cli
