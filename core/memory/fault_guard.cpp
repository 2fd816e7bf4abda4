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

// One guarded range. The owner writes begin, end and fd while no load from it is possible, the handler the rest.
struct Entry {
  std::atomic<bool> taken{false};
  std::atomic<uintptr_t> begin{0};
  std::atomic<uintptr_t> end{0};  // 0: not in use; written last by add(), first by Release
  std::atomic<int> fd{-1};
  // Handlers running for it; while one does, there may be zeros that last_ns does not show yet.
  std::atomic<int32_t> patching{0};
  std::atomic<int64_t> last_ns{0};                   // when pages were replaced last; 0: never
  std::atomic<int64_t> healed_ns{0};                 // when heal() last mapped the file's pages
  std::atomic<uintptr_t> low{UINTPTR_MAX}, high{0};  // extent of all pages ever replaced
};

namespace {

constexpr size_t kEntries = 64;

// A list that only grows and is never freed: the handler may read it at any time.
struct Chunk {
  Entry entries[kEntries];
  std::atomic<Chunk*> next{nullptr};
};

static_assert(std::atomic<uintptr_t>::is_always_lock_free && std::atomic<int64_t>::is_always_lock_free);

enum Installed : int { kNot, kInstalling, kDone };

// The library's only mutable globals: a signal handler is process-wide.
constinit Chunk first_chunk;
constinit std::atomic<int> installed{kNot};
constinit struct sigaction earlier {};  // written before the handler is installed, constant from then on
constinit std::atomic<bool> earlier_is_spent{false};  // it was SA_RESETHAND and has run
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

// Bypasses libc's mmap, which sanitizers and others interpose with code that may lock.
bool map_zeros(uintptr_t begin, uintptr_t end) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
#if defined(__linux__) && defined(SYS_mmap)
  return ::syscall(SYS_mmap, begin, end - begin, PROT_READ, kFlags, -1, 0) == static_cast<long>(begin);
#else
  return ::mmap(reinterpret_cast<void*>(begin), end - begin, PROT_READ, kFlags, -1, 0) != MAP_FAILED;
#endif
}

void lower_to(std::atomic<uintptr_t>& minimum, uintptr_t value) {
  uintptr_t now = minimum.load();
  while (value < now && !minimum.compare_exchange_weak(now, value)) {
  }
}
template <typename T>
void raise_to(std::atomic<T>& maximum, T value) {
  T now = maximum.load();
  while (value > now && !maximum.compare_exchange_weak(now, value)) {
  }
}

// Called by the handler. In a truncated file everything past the end is replaced at once: page by page each would be a
// fault and a mapping of its own, of which a process may have 65,530.
bool map_zeros_at(Entry& entry, uintptr_t address) {
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
  raise_to(entry.last_ns,
           monotonic_ns());  // after the mapping: no earlier than the start of a read that races with it
  entry.patching.fetch_sub(1);
  return done;
}

// Does what would have happened without this handler.
void forward(int number, siginfo_t* info, void* context) {
  const bool sent = info->si_code <= 0;  // by kill or the like: it does not recur when the handler returns
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
  // The default action: a load faults again right after the return, a sent signal is raised again.
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
  if (entry == nullptr || !map_zeros_at(*entry, address)) forward(number, info, context);
  errno = saved_errno;
}

// A signal may reach this code at any time, so it must not be unloaded. dlopen fails for the main program's name, which
// is never unloaded anyway.
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

// The handler was installed before: installs it again where it was reset, warns where it was replaced.
void check_handler(const Log& log) {
  struct sigaction now {};
  ::sigaction(SIGBUS, nullptr, &now);
  const bool with_info = (now.sa_flags & SA_SIGINFO) != 0;
  if (with_info && now.sa_sigaction == &on_fault) return;
  if (!with_info && now.sa_handler == SIG_DFL) {
    // The host reset all handlers, as programs do after a fork: nothing is overridden and nothing to forward to.
    earlier_is_spent.store(true);
    static_cast<void>(put_handler());
    return;
  }
  log(LogLevel::kWarning,
      "fault_guard: another SIGBUS handler was installed after Dataline's; it must forward the faults that "
      "it does not handle");
}

Status install(const Log& log) {
  int expected = kNot;
  if (!installed.compare_exchange_strong(expected, kInstalling)) {
    // Spins only for the two system calls of the installing thread.
    while (installed.load() == kInstalling) {
    }
    if (installed.load() == kDone) check_handler(log);
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
      if (made == nullptr) return error(Code::kNoMemory, "fault_guard: out of memory");
      if (!chunk->next.compare_exchange_strong(next, made)) delete made;
      next = chunk->next.load(std::memory_order_acquire);
    }
    chunk = next;
  }
}

}  // namespace

void Release::operator()(Entry* entry) const noexcept {
  entry->end.store(0);
  entry->taken.store(false, std::memory_order_release);
}

}  // namespace fault_guard

Result<GuardedRange> GuardedRange::add(const std::byte* begin, int64_t bytes, int fd, const Log& log) {
  DL_RETURN_IF_ERROR(fault_guard::install(log));
  DL_ASSIGN_OR_RETURN(fault_guard::Entry * entry, fault_guard::take_entry());
  entry->fd.store(fd);
  entry->last_ns.store(0);
  entry->healed_ns.store(0);
  entry->low.store(UINTPTR_MAX);
  entry->high.store(0);
  const auto first = reinterpret_cast<uintptr_t>(begin);
  entry->begin.store(first);
  entry->end.store(first + static_cast<uintptr_t>(bytes), std::memory_order_release);
  GuardedRange range;
  range.entry_.reset(entry);
  return range;
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

// Zeros that a handler maps while this runs may stay: it then sets a later last_ns, which the next call sees.
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
