/* The library as a guest in a process: opened late, twice, beside a linked copy; the host's allocator stays the
 * host's own.
 *   guests late LIB            opened after threads run, closed while idle, opened again
 *   guests twice LIB COPY      two copies at once
 *   guests beside LIB          (linked with a copy) the linked one and an opened one
 *   guests allocator           (linked) malloc is libc's, operator new is the C++ run time's
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <dataline.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_epoch.h"

static int fail(const char* what, const char* why) {
  fprintf(stderr, "%s: %s\n", what, why);
  return 1;
}

/* dlsym gives void *; POSIX says its bytes are those of a function pointer. */
static int find(void* library, const char* name, void* out) {
  void* address = dlsym(library, name);
  memcpy(out, &address, sizeof address);
  return address != NULL;
}

static int open_copy(const char* path, void** library, struct epoch_api* api) {
  *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (*library == NULL) return fail(path, dlerror());
  if (!find(*library, "dl_options_create", &api->options_create) ||
      !find(*library, "dl_options_set", &api->options_set) ||
      !find(*library, "dl_options_destroy", &api->options_destroy) ||
      !find(*library, "dl_dataset_from_arrays", &api->from_arrays) ||
      !find(*library, "dl_dataset_destroy", &api->dataset_destroy) ||
      !find(*library, "dl_loader_create", &api->loader_create) ||
      !find(*library, "dl_loader_next", &api->loader_next) ||
      !find(*library, "dl_loader_destroy", &api->loader_destroy) ||
      !find(*library, "dl_batch_views", &api->batch_views) ||
      !find(*library, "dl_batch_release", &api->batch_release)) {
    return fail(path, "a function is missing");
  }
  return 0;
}

static void* epochs(void* context) {
  static char failures[2][600];
  const struct epoch_api* apis = context;
  for (int i = 0; i < 20; ++i) {
    if (!run_epoch(&apis[0], failures[0], sizeof failures[0])) return failures[0];
  }
  return NULL;
}

/* Both copies at work at the same time. */
static int run_both(const struct epoch_api* first, const struct epoch_api* second) {
  pthread_t thread;
  char failure[600];
  void* other = NULL;
  int bad = 0;
  if (pthread_create(&thread, NULL, epochs, (void*)first) != 0) return fail("thread", "cannot start");
  for (int i = 0; i < 20 && !bad; ++i) {
    if (!run_epoch(second, failure, sizeof failure)) bad = fail("second copy", failure);
  }
  pthread_join(thread, &other);
  return other != NULL ? fail("first copy", other) : bad;
}

static int late(const char* path) {
  for (int round = 0; round < 3; ++round) {
    void* library = NULL;
    struct epoch_api api;
    char failure[600];
    if (open_copy(path, &library, &api) != 0) return 1;
    if (!run_epoch(&api, failure, sizeof failure)) return fail("late", failure);
    if (dlclose(library) != 0) return fail("dlclose", dlerror());
  }
  return 0;
}

static void* late_in_thread(void* path) { return late(path) == 0 ? NULL : path; }

static int owner_is(const char* symbol, const char* library) {
  Dl_info info;
  void* address = dlsym(RTLD_DEFAULT, symbol);
  if (address == NULL || dladdr(address, &info) == 0) return fail(symbol, "not found");
  return strstr(info.dli_fname, library) != NULL ? 0 : fail(symbol, info.dli_fname);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "late") == 0) {
    pthread_t thread;
    void* bad = NULL;
    if (pthread_create(&thread, NULL, late_in_thread, argv[2]) != 0) return fail("thread", "cannot start");
    pthread_join(thread, &bad);
    return bad == NULL ? late(argv[2]) : 1;
  }
  if (strcmp(what, "twice") == 0) {
    void* libraries[2];
    struct epoch_api apis[2];
    if (open_copy(argv[2], &libraries[0], &apis[0]) != 0 || open_copy(argv[3], &libraries[1], &apis[1]) != 0)
      return 1;
    if (apis[0].loader_next == apis[1].loader_next) return fail("twice", "both names gave one copy");
    return run_both(&apis[0], &apis[1]);
  }
#ifdef WITH_LINKED_COPY
  if (strcmp(what, "beside") == 0) {
    const struct epoch_api linked = EPOCH_API_LINKED;
    void* library;
    struct epoch_api opened;
    if (open_copy(argv[2], &library, &opened) != 0) return 1;
    if (linked.loader_next == opened.loader_next) return fail("beside", "the opened copy is the linked one");
    return run_both(&linked, &opened);
  }
  if (strcmp(what, "allocator") == 0) {
    const struct epoch_api linked = EPOCH_API_LINKED;
    char failure[600];
    if (!run_epoch(&linked, failure, sizeof failure)) return fail("allocator", failure);
    return owner_is("malloc", "libc.so") | owner_is("free", "libc.so") | owner_is("_Znwm", "libstdc++.so") |
           owner_is("_ZdlPv", "libstdc++.so");
  }
#else
  (void)owner_is;
#endif
  return fail(what, "no such test");
}
