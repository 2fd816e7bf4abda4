/*
 * A rank of a job, under any launcher: mpirun, srun, torchrun --no-python. It may be killed at any moment.
 *
 *   example_rank URI STATE JOURNAL STEPS [key=value...]
 *
 * Rank and world size are what the launcher says. Goes on from the file STATE, if it is there, and delivers STEPS batches (-1: to
 * the end of the job). Each is one record at the end of the file JOURNAL.RANK, written at once: the line
 * "epoch step samples bytes state_bytes", then the bytes of the first field, then the state, from which ranks of any number go on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include <dataline.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char** environ;

static dl_error error = DL_ERROR_INIT;

static void need(int ok, const char* what) {
  if (ok) return;
  fprintf(stderr, "example_rank: %s: %s\n", what, error.message);
  exit(1);
}

static void* room(size_t bytes) {
  void* memory = malloc(bytes);
  need(memory != NULL, "out of memory");
  return memory;
}

/* "batch_size=32" */
static void set(dl_options* options, const char* setting) {
  const size_t length = strcspn(setting, "=");
  char key[64];
  need(setting[length] == '=' && length < sizeof key, setting);
  memcpy(key, setting, length);
  key[length] = '\0';
  need(dl_options_set(options, key, setting + length + 1, &error) == DL_OK, setting);
}

static dl_loader* open_loader(const char* uri, char** settings, int count) {
  dl_options* options = NULL;
  dl_dataset* dataset = NULL;
  dl_loader* loader = NULL;
  need(dl_options_create(&options, &error) == DL_OK, "options");
  set(options, "rank=auto");
  set(options, "world_size=auto");
  for (int i = 0; i < count; ++i) set(options, settings[i]);
  /* What the launcher set is in the environment, which the library does not read by itself. */
  need(dl_options_set_environment(options, (const char* const*)environ, &error) == DL_OK, "environment");
  need(dl_dataset_open(uri, options, &dataset, &error) == DL_OK, uri);
  need(dl_loader_create(dataset, options, &loader, &error) == DL_OK, "loader");
  dl_dataset_destroy(dataset);
  dl_options_destroy(options);
  return loader;
}

static void load(dl_loader* loader, const char* path) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) return; /* the beginning of the job */
  char* text = room(1 << 20);
  const size_t bytes = fread(text, 1, (1 << 20) - 1, file);
  fclose(file);
  text[bytes] = '\0';
  need(dl_loader_state_load(loader, text, &error) == DL_OK, path);
  free(text);
}

static int open_journal(const char* name) {
  dl_launcher launcher = {.struct_size = sizeof launcher};
  char path[4096];
  need(dl_launcher_detect((const char* const*)environ, &launcher, &error) == DL_OK, "launcher");
  snprintf(path, sizeof path, "%s.%" PRId64, name, launcher.rank);
  const int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
  need(file >= 0, path);
  return file;
}

/* One record by one write: it is there whole or not at all, or cut at the end of the file, where the header tells. */
static void record(int journal, const dl_loader* loader, const dl_batch* batch) {
  dl_batch_info info = {.struct_size = sizeof info};
  const dl_view* view = dl_batch_views(batch, NULL);
  size_t state = 0;
  need(dl_batch_get_info(batch, &info, &error) == DL_OK, "info");
  need(dl_loader_state_save(loader, NULL, &state, &error) == DL_OK, "state");
  char* text = room(128 + (size_t)view->bytes + state);
  size_t used = (size_t)sprintf(text, "%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %zu\n", info.epoch,
                                info.step, info.samples, view->bytes, state - 1);
  memcpy(text + used, (const char*)view->data + view->byte_offset, (size_t)view->bytes);
  used += (size_t)view->bytes;
  need(dl_loader_state_save(loader, text + used, &state, &error) == DL_OK, "state");
  used += state - 1; /* without the NUL */
  need(write(journal, text, used) == (ssize_t)used, "journal");
  free(text);
}

int main(int argc, char** argv) {
  if (argc < 5) {
    fprintf(stderr, "usage: example_rank URI STATE JOURNAL STEPS [key=value...]\n");
    return 2;
  }
  dl_loader* loader = open_loader(argv[1], argv + 5, argc - 5);
  const int journal = open_journal(argv[3]);
  load(loader, argv[2]);
  for (long left = strtol(argv[4], NULL, 10); left != 0;) {
    dl_batch* batch = NULL;
    const dl_status status = dl_loader_next(loader, -1, &batch, &error);
    if (status == DL_END) break;
    if (status == DL_END_OF_EPOCH) continue;
    need(status == DL_OK, "next");
    record(journal, loader, batch);
    dl_batch_release(batch);
    --left;
  }
  dl_loader_destroy(loader);
  return 0;
}
