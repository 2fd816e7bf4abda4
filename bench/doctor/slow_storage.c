/* A plug-in with a storage slow:// whose reads wait: SLOW_US microseconds each, and SLOW_MB_S megabytes a second for all threads
 * together (environment). The bytes are those of the file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capi/dataline.h"

static struct {
  dl_status (*file_open)(const char*, const dl_options*, dl_file**, dl_error*);
  int64_t (*file_bytes)(const dl_file*);
  dl_status (*file_read)(const dl_file*, int64_t, int64_t, void*, const int32_t*, dl_error*);
  void (*file_destroy)(dl_file*);
  dl_status (*add_storage)(dl_extensions*, const dl_storage*, dl_error*);
} dl;

enum {
  kBurstNs = 2000000
}; /* of the link's time are carried at once: a sleep for each small read would take longer than it */
static int64_t delay_ns, ns_a_megabyte;
static atomic_llong free_at_ns; /* when the link has carried what was asked for */

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void wait_for(int64_t bytes) {
  const int64_t now = now_ns(), takes = bytes * ns_a_megabyte / 1000000;
  int64_t until = now + delay_ns;
  if (takes > 0) {
    long long begins = atomic_load(&free_at_ns), ends;
    do ends = (begins > now ? begins : now) + takes;
    while (!atomic_compare_exchange_weak(&free_at_ns, &begins, ends));
    if (ends - now > kBurstNs && ends > until) until = ends;
  }
  if (until == now) return;
  const struct timespec at = {until / 1000000000LL, until % 1000000000LL};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

static dl_status open_slow(void* context, dl_storage_object* object, dl_error* error) {
  (void)context;
  dl_file* file = NULL;
  const dl_status status = dl.file_open(object->path + strlen("slow://"), object->options, &file, error);
  if (status != DL_OK) return status;
  object->object = file;
  object->bytes = dl.file_bytes(file);
  return DL_OK;
}

static dl_status read_slow(void* context, dl_storage_read* request, dl_error* error) {
  (void)context;
  wait_for(request->bytes);
  return dl.file_read(request->object, request->offset, request->bytes, request->out, request->cancelled,
                      error);
}

static void close_slow(void* context, void* object) {
  (void)context;
  dl.file_destroy(object);
}

static int64_t number_of(const char* name) {
  const char* text = getenv(name);
  return text == NULL ? 0 : atoll(text);
}

DL_API dl_status dl_plugin_register(dl_plugin* plugin, dl_error* error);
dl_status dl_plugin_register(dl_plugin* plugin, dl_error* error) {
  const struct {
    const char* name;
    void* to;
  } wanted[] = {{"dl_file_open", &dl.file_open},
                {"dl_file_bytes", &dl.file_bytes},
                {"dl_file_read", &dl.file_read},
                {"dl_file_destroy", &dl.file_destroy},
                {"dl_extensions_add_storage", &dl.add_storage}};
  plugin->built_for = DL_ABI_VERSION;
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; ++i) {
    void (*found)(void) = plugin->find(wanted[i].name);
    if (found == NULL) return DL_ERR_UNSUPPORTED;
    memcpy(wanted[i].to, &found, sizeof found);
  }
  delay_ns = 1000 * number_of("SLOW_US");
  if (number_of("SLOW_MB_S") > 0) ns_a_megabyte = 1000000000 / number_of("SLOW_MB_S");
  dl_storage storage = {0};
  storage.struct_size = sizeof storage;
  storage.scheme = "slow";
  storage.doc = "files whose reads wait, for bench/doctor";
  storage.open = open_slow;
  storage.read = read_slow;
  storage.close = close_slow;
  return dl.add_storage(plugin->extensions, &storage, error);
}
