// The simple calls of a loader by their names.
//
// Generated from capi/api.json by capi/api/generate.py; do not edit.
//
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <dataline.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// The status of a call. *found: whether there is one of that name.
static dl_status simple_call(dl_loader* loader, const char* name, const int64_t* numbers, int* found) {
  (void)loader, (void)name, (void)numbers;
  *found = 1;
  if (strcmp(name, "set_workers") == 0) return dl_loader_set_workers(loader, (int64_t)numbers[0], NULL);
  *found = 0;
  return DL_OK;
}

// Writes the member; 0: there is none of that name.
static int simple_get(const dl_loader* loader, const char* name, char* text) {
  dl_stats stats = {0};
  stats.struct_size = sizeof stats;
  if (dl_loader_stats(loader, &stats, NULL) != DL_OK) return 0;
  if (strcmp(name, "stats.num_workers") == 0) return sprintf(text, "%" PRId32, stats.num_workers);
  if (strcmp(name, "stats.batches") == 0) return sprintf(text, "%" PRId64, stats.batches);
  if (strcmp(name, "stats.samples") == 0) return sprintf(text, "%" PRId64, stats.samples);
  if (strcmp(name, "stats.bytes") == 0) return sprintf(text, "%" PRId64, stats.bytes);
  if (strcmp(name, "stats.skipped") == 0) return sprintf(text, "%" PRId64, stats.skipped);
  if (strcmp(name, "stats.dropped") == 0) return sprintf(text, "%" PRId64, stats.dropped);
  if (strcmp(name, "stats.padded") == 0) return sprintf(text, "%" PRId64, stats.padded);
  if (strcmp(name, "stats.replaced") == 0) return sprintf(text, "%" PRId64, stats.replaced);
  if (strcmp(name, "stats.bad") == 0) return sprintf(text, "%" PRId64, stats.bad);
  if (strcmp(name, "stats.wait_ns") == 0) return sprintf(text, "%" PRId64, stats.wait_ns);
  if (strcmp(name, "stats.waits") == 0) return sprintf(text, "%" PRId64, stats.waits);
  if (strcmp(name, "stats.worker_cpu_ns") == 0) return sprintf(text, "%" PRId64, stats.worker_cpu_ns);
  if (strcmp(name, "stats.arena_bytes") == 0) return sprintf(text, "%" PRId64, stats.arena_bytes);
  if (strcmp(name, "stats.held_bytes") == 0) return sprintf(text, "%" PRId64, stats.held_bytes);
  if (strcmp(name, "stats.budget_bytes") == 0) return sprintf(text, "%" PRId64, stats.budget_bytes);
  if (strcmp(name, "stats.leases_held") == 0) return sprintf(text, "%" PRId64, stats.leases_held);
  if (strcmp(name, "stats.lease_copies") == 0) return sprintf(text, "%" PRId64, stats.lease_copies);
  if (strcmp(name, "stats.ready_batches") == 0) return sprintf(text, "%" PRId64, stats.ready_batches);
  if (strcmp(name, "stats.pinned_bytes") == 0) return sprintf(text, "%" PRId64, stats.pinned_bytes);
  if (strcmp(name, "stats.threads_abandoned") == 0) return sprintf(text, "%" PRId64, stats.threads_abandoned);
  if (strcmp(name, "stats.device_bytes") == 0) return sprintf(text, "%" PRId64, stats.device_bytes);
  if (strcmp(name, "stats.copied_bytes") == 0) return sprintf(text, "%" PRId64, stats.copied_bytes);
  if (strcmp(name, "stats.warned") == 0) return sprintf(text, "%" PRId64, stats.warned);
  if (strcmp(name, "stats.cache_read") == 0) return sprintf(text, "%" PRId64, stats.cache_read);
  if (strcmp(name, "stats.cache_made") == 0) return sprintf(text, "%" PRId64, stats.cache_made);
  dl_tuned tuned = {0};
  tuned.struct_size = sizeof tuned;
  if (dl_loader_tuned(loader, &tuned, NULL) != DL_OK) return 0;
  if (strcmp(name, "tuned.num_workers") == 0) return sprintf(text, "%" PRId64, tuned.num_workers);
  if (strcmp(name, "tuned.prefetch_depth") == 0) return sprintf(text, "%" PRId64, tuned.prefetch_depth);
  if (strcmp(name, "tuned.most_workers") == 0) return sprintf(text, "%" PRId64, tuned.most_workers);
  if (strcmp(name, "tuned.most_depth") == 0) return sprintf(text, "%" PRId64, tuned.most_depth);
  if (strcmp(name, "tuned.wanted_workers") == 0) return sprintf(text, "%" PRId64, tuned.wanted_workers);
  if (strcmp(name, "tuned.wanted_depth") == 0) return sprintf(text, "%" PRId64, tuned.wanted_depth);
  if (strcmp(name, "tuned.changes") == 0) return sprintf(text, "%" PRId64, tuned.changes);
  if (strcmp(name, "tuned.frozen") == 0) return sprintf(text, "%" PRId32, tuned.frozen);
  if (strcmp(name, "tuned.text") == 0) return sprintf(text, "%s", tuned.text);
  return 0;
}
