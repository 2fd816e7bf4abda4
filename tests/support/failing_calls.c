/* Calls that fail on purpose, in a program that is run unchanged: LD_PRELOAD this library and say which in the
 * environment, DATALINE_FAILING=malloc:N (the Nth allocation fails), malloc:N+ (it and all later ones) or
 * pthread_create:N, pthread_create:N+, or openat:N, openat:N+ (too many open files). Counted is from the start of the program's own code; DATALINE_FAILING_COUNT=FILE gets
 * the number of allocations when the program ends normally. Linux with glibc.
 * Threads: any.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* glibc's own, which need no dlsym(), which allocates. */
extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

struct failing {
  long first; /* 0: none */
  int for_ever;
  atomic_long calls;
};
static struct failing allocations, threads, opens;
static atomic_int counting;

static void read_setting(const char* setting, const char* name, struct failing* out) {
  const size_t length = strlen(name);
  if (setting == NULL || strncmp(setting, name, length) != 0) return;
  char* end = NULL;
  out->first = strtol(setting + length, &end, 10);
  out->for_ever = *end == '+';
}

__attribute__((constructor)) static void start(void) {
  read_setting(getenv("DATALINE_FAILING"), "malloc:", &allocations);
  read_setting(getenv("DATALINE_FAILING"), "pthread_create:", &threads);
  read_setting(getenv("DATALINE_FAILING"), "openat:", &opens);
  atomic_store(&counting, 1);
}

__attribute__((destructor)) static void stop(void) {
  const char* path = getenv("DATALINE_FAILING_COUNT");
  const long calls = atomic_load(&allocations.calls);
  atomic_store(&counting, 0);
  FILE* file = path != NULL ? fopen(path, "w") : NULL;
  if (file == NULL) return;
  fprintf(file, "%ld\n", calls);
  fclose(file);
}

static int fails(struct failing* call) {
  if (!atomic_load(&counting)) return 0;
  const long number = atomic_fetch_add(&call->calls, 1) + 1;
  return call->first > 0 && (call->for_ever ? number >= call->first : number == call->first);
}

static void* none(void) {
  errno = ENOMEM;
  return NULL;
}

void* malloc(size_t bytes) { return fails(&allocations) ? none() : __libc_malloc(bytes); }
void* calloc(size_t count, size_t bytes) {
  return fails(&allocations) ? none() : __libc_calloc(count, bytes);
}
void* realloc(void* old, size_t bytes) { return fails(&allocations) ? none() : __libc_realloc(old, bytes); }
void* memalign(size_t alignment, size_t bytes) {
  return fails(&allocations) ? none() : __libc_memalign(alignment, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void** out, size_t alignment, size_t bytes) {
  *out = memalign(alignment, bytes);
  return *out == NULL ? ENOMEM : 0;
}

int openat(int folder, const char* path, int flags, ...) {
  typedef int (*open_function)(int, const char*, int, ...);
  mode_t mode = 0;
  if ((flags & O_CREAT) != 0) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
  }
  if (fails(&opens)) {
    errno = EMFILE;
    return -1;
  }
  open_function real;
  *(void**)&real = dlsym(RTLD_NEXT, "openat");
  return real(folder, path, flags, mode);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                   void* argument) {
  typedef int (*create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  if (fails(&threads)) return EAGAIN;
  create real;
  *(void**)&real = dlsym(RTLD_NEXT, "pthread_create");
  return real(thread, attributes, body, argument);
}
