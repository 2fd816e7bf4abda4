// Preloaded before a program: makes the n-th of one kind of call fail, once or for ever, and counts the calls.
//
//   CALL_FAULTS=KIND:N:ERRNO:once|ever|kill   KIND: open read pread mmap madvise fstat pthread_create eventfd write fsync
//                                        rename mkdir ftruncate unlink malloc. N counts from 1; ERRNO is a number; 0: none fails.
//                                        kill: the process is killed in place of the call.
//   CALL_FAULTS_FROM=open                counting begins with the first dl_dataset_open; without it, with the program.
//   CALL_FAULTS_COUNT=FILE               at the end the number of calls of each kind is written there, one a line.
//
// Calls of the C library to itself do not come by here, as they do not under any preload.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

enum Kind {
  OPEN,
  READ,
  PREAD,
  MMAP,
  MADVISE,
  FSTAT,
  THREAD,
  EVENTFD,
  WRITE,
  FSYNC,
  RENAME,
  MKDIR,
  FTRUNCATE,
  UNLINK,
  MALLOC,
  KINDS
};
const char* const kNames[KINDS] = {"open",   "read",           "pread",     "mmap",   "madvise",
                                   "fstat",  "pthread_create", "eventfd",   "write",  "fsync",
                                   "rename", "mkdir",          "ftruncate", "unlink", "malloc"};

using Body = void* (*)(void*);
int armed_kind = -1, armed_errno;
bool for_ever, by_kill;
long armed_at;
const char* count_file;
std::atomic<bool> counting;
std::atomic<long> calls[KINDS];
int (*real_thread)(pthread_t*, const pthread_attr_t*, Body, void*);
int (*real_dataset_open)(const char*, const void*, void**, void*);

template <typename Function>
void find(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

__attribute__((constructor)) void arm() {
  const char* text = getenv("CALL_FAULTS");
  find(real_thread, "pthread_create");
  find(real_dataset_open, "dl_dataset_open");
  count_file = getenv("CALL_FAULTS_COUNT");
  for (int k = 0; text != nullptr && k < KINDS; ++k) {
    const size_t length = strlen(kNames[k]);
    if (strncmp(text, kNames[k], length) != 0 || text[length] != ':') continue;
    char* end = nullptr;
    armed_at = strtol(text + length + 1, &end, 10);
    armed_errno = static_cast<int>(strtol(end + 1, &end, 10));
    for_ever = strcmp(end, ":ever") == 0;
    by_kill = strcmp(end, ":kill") == 0;
    armed_kind = k;
  }
  counting.store(getenv("CALL_FAULTS_FROM") == nullptr);
}

__attribute__((destructor)) void tell() {
  if (count_file == nullptr) return;
  counting.store(false);
  const int fd =
      static_cast<int>(syscall(SYS_openat, AT_FDCWD, count_file, O_WRONLY | O_CREAT | O_TRUNC, 0600));
  for (int k = 0; k < KINDS; ++k) {
    char line[64];
    size_t at = strlen(kNames[k]);
    memcpy(line, kNames[k], at);
    line[at++] = ' ';
    char digits[24];
    size_t count = 0;
    for (long left = calls[k].load(); count == 0 || left > 0; left /= 10)
      digits[count++] = static_cast<char>('0' + left % 10);
    while (count > 0) line[at++] = digits[--count];
    line[at++] = '\n';
    syscall(SYS_write, fd, line, at);
  }
  syscall(SYS_close, fd);
}

bool fails(Kind kind) {
  if (!counting.load()) return false;
  const long n = calls[kind].fetch_add(1) + 1;
  if (kind != armed_kind || armed_errno == 0 || !(for_ever ? n >= armed_at : n == armed_at)) return false;
  if (by_kill) kill(getpid(), SIGKILL);
  errno = armed_errno;
  return true;
}

int open_at(int directory, const char* path, int flags, mode_t mode) {
  return fails(OPEN) ? -1 : static_cast<int>(syscall(SYS_openat, directory, path, flags, mode));
}
mode_t mode_of(int flags, va_list rest) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
}

}  // namespace

extern "C" {

/* A static library's own calls bind before main; the shared library's and the host's come by here. */
int dl_dataset_open(const char* uri, const void* options, void** out, void* error) {
  counting.store(true);
  return real_dataset_open(uri, options, out, error);
}

int openat(int directory, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open_at(directory, path, flags, mode);
}
int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open_at(AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open_at(AT_FDCWD, path, flags, mode);
}

ssize_t read(int fd, void* out, size_t bytes) { return fails(READ) ? -1 : syscall(SYS_read, fd, out, bytes); }
ssize_t write(int fd, const void* from, size_t bytes) {
  return fails(WRITE) ? -1 : syscall(SYS_write, fd, from, bytes);
}
ssize_t pread(int fd, void* out, size_t bytes, off_t offset) {
  return fails(PREAD) ? -1 : syscall(SYS_pread64, fd, out, bytes, offset);
}
ssize_t pread64(int fd, void* out, size_t bytes, off_t offset) { return pread(fd, out, bytes, offset); }

int fsync(int fd) { return fails(FSYNC) ? -1 : static_cast<int>(syscall(SYS_fsync, fd)); }
int rename(const char* from, const char* to) noexcept {
  return fails(RENAME) ? -1 : static_cast<int>(syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to));
}
int mkdir(const char* path, mode_t mode) noexcept {
  return fails(MKDIR) ? -1 : static_cast<int>(syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}
int ftruncate(int fd, off_t bytes) noexcept {
  return fails(FTRUNCATE) ? -1 : static_cast<int>(syscall(SYS_ftruncate, fd, bytes));
}
int ftruncate64(int fd, off_t bytes) noexcept { return ftruncate(fd, bytes); }
int unlink(const char* path) noexcept {
  return fails(UNLINK) ? -1 : static_cast<int>(syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}

void* mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
  return fails(MMAP) ? MAP_FAILED
                     : reinterpret_cast<void*>(syscall(SYS_mmap, at, bytes, protection, flags, fd, offset));
}
void* mmap64(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
  return mmap(at, bytes, protection, flags, fd, offset);
}
int madvise(void* at, size_t bytes, int advice) noexcept {
  return fails(MADVISE) ? -1 : static_cast<int>(syscall(SYS_madvise, at, bytes, advice));
}
int fstat(int fd, struct stat* out) noexcept {
  return fails(FSTAT) ? -1 : static_cast<int>(syscall(SYS_newfstatat, fd, "", out, AT_EMPTY_PATH));
}
int eventfd(unsigned count, int flags) {
  return fails(EVENTFD) ? -1 : static_cast<int>(syscall(SYS_eventfd2, count, flags));
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, Body body, void* argument) noexcept {
  return fails(THREAD) ? armed_errno : real_thread(thread, attributes, body, argument);
}

void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* block, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

void __libc_free(void* block);

void free(void* block) noexcept { __libc_free(block); }
void* malloc(size_t bytes) noexcept { return fails(MALLOC) ? nullptr : __libc_malloc(bytes); }
void* calloc(size_t count, size_t bytes) noexcept {
  return fails(MALLOC) ? nullptr : __libc_calloc(count, bytes);
}
void* realloc(void* block, size_t bytes) noexcept {
  return fails(MALLOC) ? nullptr : __libc_realloc(block, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) noexcept {
  return fails(MALLOC) ? nullptr : __libc_memalign(alignment, bytes);
}
void* memalign(size_t alignment, size_t bytes) noexcept { return aligned_alloc(alignment, bytes); }
int posix_memalign(void** out, size_t alignment, size_t bytes) noexcept {
  if (fails(MALLOC)) return ENOMEM;
  *out = __libc_memalign(alignment, bytes);
  return *out == nullptr ? ENOMEM : 0;
}

// What the library asks mimalloc for.
void* mi_malloc_aligned(size_t bytes, size_t alignment) { return aligned_alloc(alignment, bytes); }
void mi_free(void* block) { free(block); }

}  // extern "C"

// Also where another allocator has put its own in place.
void* operator new(size_t bytes) {
  void* block = malloc(bytes);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
void* operator new[](size_t bytes) { return operator new(bytes); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return malloc(bytes); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept { return malloc(bytes); }
void operator delete(void* block) noexcept { free(block); }
void operator delete[](void* block) noexcept { free(block); }
void operator delete(void* block, size_t) noexcept { free(block); }
void operator delete[](void* block, size_t) noexcept { free(block); }
