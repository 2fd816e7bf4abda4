// SPDX-License-Identifier: Apache-2.0
#include "core/memory/fault_guard.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <new>

#ifdef __linux__
#include <sys/syscall.h>
#endif

#include "core/base/checked.h"
#include "core/base/thread.h"
#include "core/memory/pages.h"

namespace dataline {
namespace fault_guard {

// One guarded range. Written by its owner (begin, end, fd) while no load can be in it, and by the handler.
struct Entry {
  std::atomic<bool> taken{false};
  std::atomic<uintptr_t> begin{0};
  std::atomic<uintptr_t> end{0};  // 0: not in use; written last by add(), first by reset()
  std::atomic<int> fd{-1};
  // Handlers at work in it: between the start and the end of one, zeros may be there that last_ns does not tell of.
  std::atomic<int32_t> patching{0};
  std::atomic<int64_t> last_ns{0};                   // when zeros came last; 0: never
  std::atomic<int64_t> healed_ns{0};                 // when the file's pages were put back last
  std::atomic<uintptr_t> low{UINTPTR_MAX}, high{0};  // what zeros have ever stood in for
};

namespace {

constexpr size_t kEntries = 64;

// Only grows, and is never freed: the handler may look at it at any moment.
struct Chunk {
  Entry entries[kEntries];
  std::atomic<Chunk*> next{nullptr};
};

static_assert(std::atomic<uintptr_t>::is_always_lock_free && std::atomic<int64_t>::is_always_lock_free);

enum Installed : int { kNot, kInstalling, kDone };

// The process' own, because a signal handler is: the only mutable globals of the library.
constinit Chunk first_chunk;
constinit std::atomic<int> installed{kNot};
constinit struct sigaction earlier {};  // written before the handler is installed, constant from then on
constinit std::atomic<bool> earlier_is_spent{false};  // it asked to be called once (SA_RESETHAND)
constinit std::atomic<uintptr_t> page_mask{0};

Entry* find(uintptr_t address) {
  for (Chunk* chunk = &first_chunk; chunk != nullptr; chunk = chunk->next.load(std::memory_order_acquire)) {
    for (Entry& entry : chunk->entries) {
      const uintptr_t end = entry.end.load(std::memory_order_acquire);
      if (end != 0 && address < end && address >= entry.begin.load(std::memory_order_relaxed)) return &entry;
    }
  }
  return nullptr;
}

// Without libc's part of it, which sanitizers and others replace by code that may lock.
bool map_zeros(uintptr_t begin, uintptr_t end) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
#if defined(__linux__) && defined(SYS_mmap)
  return ::syscall(SYS_mmap, begin, end - begin, PROT_READ, kFlags, -1, 0) == static_cast<long>(begin);
#else
  return ::mmap(reinterpret_cast<void*>(begin), end - begin, PROT_READ, kFlags, -1, 0) != MAP_FAILED;
#endif
}

void lower_to(std::atomic<uintptr_t>& least, uintptr_t value) {
  uintptr_t now = least.load();
  while (value < now && !least.compare_exchange_weak(now, value)) {
  }
}
template <typename T>
void raise_to(std::atomic<T>& most, T value) {
  T now = most.load();
  while (value > now && !most.compare_exchange_weak(now, value)) {
  }
}

// By the handler. Of a file that was cut, all that is cut off goes at once: each page by itself would be a fault and a
// map of its own, of which a process may have 65,530.
bool put_zeros(Entry& entry, uintptr_t address) {
  const uintptr_t mask = page_mask.load(std::memory_order_relaxed);
  const uintptr_t begin = address & mask, map_end = (entry.end.load() + ~mask) & mask;
  uintptr_t end = begin + ~mask + 1;
  struct stat facts;
  const int fd = entry.fd.load();
  if (fd >= 0 && ::fstat(fd, &facts) == 0 &&
      static_cast<uintptr_t>(facts.st_size) <= begin - entry.begin.load()) {
    end = map_end;
  }
  entry.patching.fetch_add(1);
  lower_to(entry.low, begin);
  raise_to(entry.high, end);
  const bool done = map_zeros(begin, end);
  raise_to(entry.last_ns, monotonic_ns());  // after the zeros: what is read from now on may be zeros
  entry.patching.fetch_sub(1);
  return done;
}

// What would have happened without this handler.
void hand_on(int number, siginfo_t* info, void* context) {
  const bool sent = info->si_code <= 0;  // by kill or the like: a return would not bring it again
  const bool handled = (earlier.sa_flags & SA_SIGINFO) != 0 ||
                       (earlier.sa_handler != SIG_DFL && earlier.sa_handler != SIG_IGN);
  if (handled && !earlier_is_spent.load()) {
    if ((earlier.sa_flags & SA_RESETHAND) != 0) earlier_is_spent.store(true);
    sigset_t mask = earlier.sa_mask, before;
    if ((earlier.sa_flags & SA_NODEFER) == 0) sigaddset(&mask, number);
    ::sigprocmask(SIG_BLOCK, &mask, &before);
    if ((earlier.sa_flags & SA_SIGINFO) != 0) {
      earlier.sa_sigaction(number, info, context);
    } else {
      earlier.sa_handler(number);
    }
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    return;
  }
  if (sent && !handled && earlier.sa_handler == SIG_IGN && !earlier_is_spent.load()) return;
  // The default action: a load faults again right after the return, a signal that was sent is sent again.
  struct sigaction fall {};
  fall.sa_handler = SIG_DFL;
  ::sigaction(SIGBUS, &fall, nullptr);
  if (sent) ::raise(SIGBUS);
}

void on_fault(int number, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  bool mine = info->si_code == BUS_ADRERR;
#ifdef BUS_MCEERR_AR
  mine = mine || info->si_code == BUS_MCEERR_AR;  // the page's memory is broken
#endif
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  Entry* entry = mine ? find(address) : nullptr;
  if (entry == nullptr || !put_zeros(*entry, address)) hand_on(number, info, context);
  errno = saved_errno;
}

// Code that a signal may reach at any time must stay where it is. The program itself, which dlopen does not find by its
// name, always does.
void stay_loaded() {
  Dl_info here;
  if (::dladdr(reinterpret_cast<void*>(&on_fault), &here) == 0 || here.dli_fname == nullptr) return;
  static_cast<void>(::dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE));
}

bool put_handler() {
  struct sigaction ours {};
  ours.sa_sigaction = &on_fault;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigemptyset(&ours.sa_mask);
  return ::sigaction(SIGBUS, &ours, nullptr) == 0;
}

// The handler was installed once: whether it still is, or can be again.
void look_after(const Log& log) {
  struct sigaction now {};
  ::sigaction(SIGBUS, nullptr, &now);
  const bool with_info = (now.sa_flags & SA_SIGINFO) != 0;
  if (with_info && now.sa_sigaction == &on_fault) return;
  if (!with_info && now.sa_handler == SIG_DFL) {
    // The host took all handlers away, as after a fork: there is none to stand over, and none to hand on to.
    earlier_is_spent.store(true);
    static_cast<void>(put_handler());
    return;
  }
  log(LogLevel::kWarning,
      "fault_guard: another SIGBUS handler was installed after ours; it must hand on faults it does not "
      "know");
}

Status install(const Log& log) {
  int expected = kNot;
  if (!installed.compare_exchange_strong(expected, kInstalling)) {
    // Two system calls of another thread; nothing else is waited for.
    while (installed.load() == kInstalling) {
    }
    if (installed.load() == kDone) look_after(log);
    return Status::ok();
  }
  page_mask.store(~(static_cast<uintptr_t>(page_bytes()) - 1));
  stay_loaded();
  const bool done = ::sigaction(SIGBUS, nullptr, &earlier) == 0 && put_handler();
  const int failure = errno;
  installed.store(done ? kDone : kNot);
  if (done) return Status::ok();
  return error(Code::kUnsupported, "fault_guard: no SIGBUS handler can be installed here")
      .with_os_error(failure);
}

Result<Entry*> take_entry() {
  for (Chunk* chunk = &first_chunk;;) {
    for (Entry& entry : chunk->entries) {
      if (!entry.taken.exchange(true)) return &entry;
    }
    Chunk* next = chunk->next.load(std::memory_order_acquire);
    if (next == nullptr) {
      auto* made = new (std::nothrow) Chunk;
      if (made == nullptr) return error(Code::kNoMemory, "fault_guard: memory ran out");
      if (!chunk->next.compare_exchange_strong(next, made)) delete made;
      next = chunk->next.load(std::memory_order_acquire);
    }
    chunk = next;
  }
}

}  // namespace
}  // namespace fault_guard

using fault_guard::Entry;

Result<GuardedRange> GuardedRange::add(const std::byte* begin, int64_t bytes, int fd, const Log& log) {
  DL_RETURN_IF_ERROR(fault_guard::install(log));
  DL_ASSIGN_OR_RETURN(Entry * entry, fault_guard::take_entry());
  entry->fd.store(fd);
  entry->last_ns.store(0);
  entry->healed_ns.store(0);
  entry->low.store(UINTPTR_MAX);
  entry->high.store(0);
  const auto first = reinterpret_cast<uintptr_t>(begin);
  entry->begin.store(first);
  entry->end.store(first + static_cast<uintptr_t>(bytes), std::memory_order_release);
  return GuardedRange(entry);
}

GuardedRange& GuardedRange::operator=(GuardedRange&& other) noexcept {
  if (this == &other) return *this;
  reset();
  entry_ = std::exchange(other.entry_, nullptr);
  return *this;
}

void GuardedRange::reset() noexcept {
  if (entry_ == nullptr) return;
  entry_->end.store(0);
  entry_->taken.store(false, std::memory_order_release);
  entry_ = nullptr;
}

bool GuardedRange::faulted(int64_t since_ns) const {
  return entry_ != nullptr && (entry_->patching.load() != 0 || entry_->last_ns.load() >= since_ns) &&
         entry_->high.load() != 0;
}

bool GuardedRange::faulted(int64_t since_ns, int64_t offset, int64_t bytes) const {
  if (!faulted(since_ns)) return false;
  const uintptr_t begin = entry_->begin.load() + static_cast<uintptr_t>(offset);
  return begin < entry_->high.load() && begin + static_cast<uintptr_t>(bytes) > entry_->low.load();
}

// Zeros that a handler puts in while this runs may stay: it says so after, by last_ns, and the next call sees it.
void GuardedRange::heal(int fd) const {
  if (entry_ == nullptr || fd < 0 || entry_->high.load() == 0) return;
  if (entry_->patching.load() == 0 && entry_->healed_ns.load() > entry_->last_ns.load()) return;
  const uintptr_t low = entry_->low.load(), high = entry_->high.load();
  const int64_t now_ns = monotonic_ns();
  void* const at = reinterpret_cast<void*>(low);
  const auto offset = static_cast<off_t>(low - entry_->begin.load());
  if (::mmap(at, high - low, PROT_READ, MAP_SHARED | MAP_FIXED, fd, offset) != MAP_FAILED)
    entry_->healed_ns.store(now_ns);
}

}  // namespace dataline
