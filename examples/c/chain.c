/*
 * A part of a stream: goes on from a saved position, delivers some batches, saves where it is.
 *
 *   example_chain URI STATE_IN STATE_OUT BATCHES FIELD [key=value...]
 *
 * STATE_IN and STATE_OUT are files, or - for none. BATCHES may end epochs, which do not count; -1: to the end. The bytes of
 * FIELD go to standard output. The same program exists in each language: a job can be handed from one to the next.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dataline.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char* what, const char* why) {
  fprintf(stderr, "example_chain: %s: %s\n", what, why);
  return 1;
}

/* "batch_size=32" */
static dl_status set(dl_options* options, const char* setting, dl_error* error) {
  const char* equals = strchr(setting, '=');
  char key[64];
  if (equals == NULL || (size_t)(equals - setting) >= sizeof key)
    return dl_options_set(options, setting, "", error);
  memcpy(key, setting, (size_t)(equals - setting));
  key[equals - setting] = '\0';
  return dl_options_set(options, key, equals + 1, error);
}

static int load_state(dl_loader* loader, const char* path, dl_error* error) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) return fail(path, "cannot be opened");
  const long bytes = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  char* text = bytes < 0 ? NULL : calloc(1, (size_t)bytes + 1);
  rewind(file);
  const int whole = text != NULL && fread(text, 1, (size_t)bytes, file) == (size_t)bytes;
  fclose(file);
  int status = whole ? 0 : fail(path, "cannot be read");
  if (whole && dl_loader_state_load(loader, text, error) != DL_OK) status = fail(path, error->message);
  free(text);
  return status;
}

static int save_state(dl_loader* loader, const char* path, dl_error* error) {
  size_t bytes = 0;
  if (dl_loader_state_save(loader, NULL, &bytes, error) != DL_OK) return fail("saving", error->message);
  char* text = malloc(bytes);
  if (text == NULL) return fail("saving", "out of memory");
  const dl_status saved = dl_loader_state_save(loader, text, &bytes, error);
  FILE* file = saved == DL_OK ? fopen(path, "wb") : NULL;
  const int whole = file != NULL && fputs(text, file) >= 0;
  const int closed = file != NULL && fclose(file) == 0;
  free(text);
  if (saved != DL_OK) return fail("saving", error->message);
  return whole && closed ? 0 : fail(path, "cannot be written");
}

/* The packed bytes of one field of a batch. */
static int write_field(const dl_batch* batch, const char* name) {
  int32_t count = 0;
  const dl_view* views = dl_batch_views(batch, &count);
  for (int32_t i = 0; i < count; ++i) {
    const dl_view* view = dl_view_at(views, i);
    if (strcmp(view->name, name) != 0) continue;
    const char* data = (const char*)view->data + view->byte_offset;
    return fwrite(data, 1, (size_t)view->bytes, stdout) == (size_t)view->bytes
               ? 0
               : fail("standard output", "full");
  }
  return fail(name, "no such field");
}

/* Of `wanted` batches (-1: all that are left). */
static int deliver(dl_loader* loader, long wanted, const char* field, dl_error* error) {
  dl_batch* batch = NULL;
  for (long delivered = 0; delivered != wanted;) {
    const dl_status status = dl_loader_next(loader, -1, &batch, error);
    if (status == DL_END_OF_EPOCH) continue;
    if (status == DL_END) return 0;
    if (status != DL_OK) return fail(dl_status_name(status), error->message);
    const int failed = write_field(batch, field);
    dl_batch_release(batch);
    if (failed) return failed;
    ++delivered;
  }
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 6) {
    fprintf(stderr, "usage: example_chain URI STATE_IN STATE_OUT BATCHES FIELD [key=value...]\n");
    return 2;
  }
  dl_error error = DL_ERROR_INIT;
  dl_options* options = NULL;
  dl_dataset* dataset = NULL;
  dl_loader* loader = NULL;
  dl_status status = dl_options_create(&options, &error);
  for (int i = 6; i < argc && status == DL_OK; ++i) status = set(options, argv[i], &error);
  if (status == DL_OK) status = dl_dataset_open(argv[1], options, &dataset, &error);
  if (status == DL_OK) status = dl_loader_create(dataset, options, &loader, &error);
  int failed = status == DL_OK ? 0 : fail(argv[1], error.message);
  if (!failed && strcmp(argv[2], "-") != 0) failed = load_state(loader, argv[2], &error);
  if (!failed) failed = deliver(loader, strtol(argv[4], NULL, 10), argv[5], &error);
  if (!failed && strcmp(argv[3], "-") != 0) failed = save_state(loader, argv[3], &error);
  dl_loader_destroy(loader);
  dl_dataset_destroy(dataset);
  dl_options_destroy(options);
  return failed;
}
