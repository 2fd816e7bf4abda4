/* A job that can be killed at any moment: all ranks of a world in one process, step by step, as a trainer's are. After
 * each step it appends what was delivered to a journal, and then saves its state in place of the old one.
 *
 *   job URI STATE JOURNAL EPOCHS WORLD_SIZE [KEY=VALUE]...
 *
 * A line of the journal: "epoch step: index index ...", or "epoch end". Goes on from STATE where there is one. Ends with
 * 0 after the last epoch.
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capi/dataline.h"

enum { kMaxWorld = 8, kLineBytes = 1 << 16 };

static dl_error error = DL_ERROR_INIT;

static void need(int ok, const char* what) {
  if (ok) return;
  fprintf(stderr, "%s: %s\n", what, error.message);
  exit(1);
}

static dl_loader* make_rank(dl_dataset* dataset, int rank, char** arguments, int count, const char* epochs,
                            const char* world) {
  dl_options* options = NULL;
  dl_loader* loader = NULL;
  char number[16];
  need(dl_options_create(&options, &error) == DL_OK, "options");
  snprintf(number, sizeof number, "%d", rank);
  need(dl_options_set(options, "rank", number, &error) == DL_OK, "rank");
  need(dl_options_set(options, "world_size", world, &error) == DL_OK, "world_size");
  need(dl_options_set(options, "epochs", epochs, &error) == DL_OK, "epochs");
  for (int i = 0; i < count; ++i) {
    char* equal = strchr(arguments[i], '=');
    need(equal != NULL, arguments[i]);
    *equal = '\0';
    need(dl_options_set(options, arguments[i], equal + 1, &error) == DL_OK, arguments[i]);
    *equal = '=';
  }
  need(dl_loader_create(dataset, options, &loader, &error) == DL_OK, "create");
  dl_options_destroy(options);
  return loader;
}

static void load(dl_loader* loader, const char* path) {
  char text[4096] = "";
  const int file = open(path, O_RDONLY);
  if (file < 0) return;
  need(read(file, text, sizeof text - 1) > 0, "the state is empty");
  close(file);
  need(dl_loader_state_load(loader, text, &error) == DL_OK, "load");
}

/* The old state or the new one, whenever the process ends. */
static void save(const dl_loader* loader, const char* path) {
  char text[4096], part[4096];
  size_t bytes = sizeof text;
  need(dl_loader_state_save(loader, text, &bytes, &error) == DL_OK, "save");
  snprintf(part, sizeof part, "%s.part", path);
  const int file = open(part, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  need(file >= 0 && write(file, text, bytes - 1) == (ssize_t)(bytes - 1), part);
  close(file);
  need(rename(part, path) == 0, path);
}

/* Appends the rows of a batch; each has to hold what its index says. */
static size_t tell(char* line, size_t used, const dl_batch* batch) {
  dl_batch_info info = {.struct_size = sizeof info};
  int32_t count = 0;
  const dl_view* view = dl_batch_views(batch, &count);
  need(dl_batch_get_info(batch, &info, &error) == DL_OK, "info");
  if (used == 0) used = (size_t)snprintf(line, kLineBytes, "%" PRId64 " %" PRId64 ":", info.epoch, info.step);
  for (int64_t row = 0; row < info.samples; ++row) {
    uint64_t value;
    memcpy(&value, (const char*)view->data + row * 8, sizeof value);
    need(value == (uint64_t)info.sample_indices[row], "a row is not its sample");
    need(used + 32 < kLineBytes, "a step is too long");
    used += (size_t)snprintf(line + used, kLineBytes - used, " %" PRId64, info.sample_indices[row]);
  }
  return used;
}

int main(int argc, char** argv) {
  static char line[kLineBytes];
  dl_dataset* dataset = NULL;
  dl_loader* ranks[kMaxWorld] = {NULL};
  need(argc >= 6, "usage: job URI STATE JOURNAL EPOCHS WORLD_SIZE [KEY=VALUE]...");
  const int world = atoi(argv[5]);
  need(world >= 1 && world <= kMaxWorld, "world size");
  need(dl_dataset_open(argv[1], NULL, &dataset, &error) == DL_OK, "open");
  const int journal = open(argv[3], O_WRONLY | O_CREAT | O_APPEND, 0600);
  need(journal >= 0, argv[3]);
  for (int r = 0; r < world; ++r) {
    ranks[r] = make_rank(dataset, r, argv + 6, argc - 6, argv[4], argv[5]);
    load(ranks[r], argv[2]);
  }
  for (;;) {
    size_t used = 0;
    dl_status first = DL_OK;
    int64_t epoch = 0;
    need(dl_loader_position(ranks[0], &epoch, NULL, &error) == DL_OK, "position");
    for (int r = 0; r < world; ++r) {
      dl_batch* batch = NULL;
      const dl_status status = dl_loader_next(ranks[r], -1, &batch, &error);
      need(status >= 0, "next");
      if (r == 0) first = status;
      need(status == first, "ranks do not agree");
      if (batch != NULL) used = tell(line, used, batch);
      dl_batch_release(batch);
    }
    if (first == DL_END) break;
    if (first == DL_END_OF_EPOCH) used = (size_t)snprintf(line, sizeof line, "%" PRId64 " end", epoch);
    line[used++] = '\n';
    need(write(journal, line, used) == (ssize_t)used, "journal");
    save(ranks[0], argv[2]);
  }
  for (int r = 0; r < world; ++r) dl_loader_destroy(ranks[r]);
  dl_dataset_destroy(dataset);
  return 0;
}
