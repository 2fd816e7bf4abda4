// Ctrl-C on Windows: a handler that the system calls on a thread of its own. A write that blocks meanwhile is ended by the
// system too, once its time has passed.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/interrupts.h"

#include <windows.h>

#include <csignal>

#include "bindings/cli/failure.h"
#include "bindings/cli/messages.h"

namespace dataline::cli {
namespace {

constexpr std::chrono::seconds kWriteGrace{1};
constexpr DWORD kNudgeMs = 50;

}  // namespace

struct Interrupts::System {
  HANDLE main_thread = nullptr;
  HANDLE ending = CreateEventW(nullptr, TRUE, FALSE, nullptr);

  // The handler gets no argument of ours. A program has one Interrupts.
  static inline std::atomic<Interrupts*> current{nullptr};

  static BOOL WINAPI handle(DWORD event) {
    Interrupts* interrupts = current.load();
    if (interrupts == nullptr) return FALSE;
    const int signal = event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT ? SIGINT : SIGTERM;
    if (interrupts->came()) {
      if (messages().line_shown) write_error(kClearLine);
      ExitProcess(static_cast<UINT>(kExitSignal + signal));
    }
    interrupts->note(signal);
    const System& system = *interrupts->system_;
    while (WaitForSingleObject(system.ending, kNudgeMs) == WAIT_TIMEOUT) {
      if (interrupts->overdue()) CancelSynchronousIo(system.main_thread);
    }
    return TRUE;
  }
};

Interrupts::Interrupts() : system_(std::make_unique<System>()) {
  dl_error error = DL_ERROR_INIT;
  dl_cancel_token* token = nullptr;
  check(dl_cancel_token_create(&token, &error), error);
  token_.reset(token);
  DuplicateHandle(GetCurrentProcess(), GetCurrentThread(), GetCurrentProcess(), &system_->main_thread, 0,
                  FALSE, DUPLICATE_SAME_ACCESS);
  System::current = this;
  SetConsoleCtrlHandler(System::handle, TRUE);
}

// A handler that is running may still look at this: so the event stays, and so does what it stands in, while the process ends.
Interrupts::~Interrupts() {
  SetConsoleCtrlHandler(System::handle, FALSE);
  System::current = nullptr;
  SetEvent(system_->ending);
  if (came()) static_cast<void>(system_.release());
}

void Interrupts::note(int signal) {
  deadline_ = std::chrono::steady_clock::now() + kWriteGrace;
  signal_ = signal;
  dl_cancel_token_cancel(token_.get());
}

}  // namespace dataline::cli
