/* A job of a host that does not give up: reads a set through the C API and tries again when the machine falls short.
 *   fault_job URI WORKERS TRANSFORM|- [key=value of the dataset...]
 * Writes the bytes of all fields to standard output, in order. Ends with
 *   0  all was delivered, nothing was booked bad
 *   1  the machine fell short again and again, or at open or create; standard error says how
 *   3  something was booked bad, skipped or replaced, or an error came that is not the machine's
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capi/dataline.h"

enum { kMostErrors = 20 };

static int is_of_machine(const dl_error* error) {
  if (error->code <= DL_ERR_NO_MEMORY && error->code >= -39) return 1;
  switch (error->os_error) { /* a call that a sandbox or a device refuses is not the sample's fault either */
    case EINTR:
    case EAGAIN:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
    case EIO:
      return 1;
    default:
      return 0;
  }
}

static int end_with(const dl_error* error) {
  fprintf(stderr, "%s: %s\n", dl_status_name(error->code), error->message);
  return is_of_machine(error) ? 1 : 3;
}

static int run(dl_loader* loader) {
  dl_error error = DL_ERROR_INIT;
  int errors = 0;
  intptr_t handle = 0;
  if (dl_loader_wait_handle(loader, &handle, &error) != DL_OK && !is_of_machine(&error))
    return end_with(&error);
  for (;;) {
    dl_batch* batch = NULL;
    const dl_status status = dl_loader_next(loader, -1, &batch, &error);
    if (status == DL_END) break;
    if (status < 0) {
      if (!is_of_machine(&error) || ++errors > kMostErrors) return end_with(&error);
      continue;
    }
    if (status != DL_OK) continue;
    int32_t count = 0;
    const dl_view* views = dl_batch_views(batch, &count);
    for (int32_t f = 0; f < count; ++f) {
      const dl_view* view = dl_view_at(views, f);
      fwrite(view->data, 1, (size_t)view->bytes, stdout);
    }
    dl_batch_release(batch);
  }
  dl_stats stats;
  memset(&stats, 0, sizeof stats);
  stats.struct_size = sizeof stats;
  if (dl_loader_stats(loader, &stats, &error) != DL_OK) return end_with(&error);
  if (stats.bad == 0 && stats.skipped == 0 && stats.replaced == 0) return 0;
  fprintf(stderr, "%lld bad, %lld skipped, %lld replaced\n", (long long)stats.bad, (long long)stats.skipped,
          (long long)stats.replaced);
  return 3;
}

int main(int argc, char** argv) {
  static char buffer[1 << 20]; /* so that stdio allocates nothing */
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  dl_error error = DL_ERROR_INIT;
  dl_options* options = NULL;
  dl_dataset* set = NULL;
  dl_loader* loader = NULL;
  dl_status status = dl_options_create(&options, &error);
  const char* settings[][2] = {
      {"batch_size", "4"},     {"epochs", "2"},          {"shuffle", "full"},          {"seed", "5"},
      {"on_error", "replace"}, {"num_workers", argv[2]}, {"max_decoded_bytes", "4MiB"}};
  for (size_t i = 0; status == DL_OK && i < sizeof settings / sizeof settings[0]; ++i)
    status = dl_options_set(options, settings[i][0], settings[i][1], &error);
  if (status == DL_OK && strcmp(argv[3], "-") != 0)
    status = dl_options_set(options, "transform", argv[3], &error);
  for (int i = 4; status == DL_OK && i < argc; ++i) {
    char* equals = strchr(argv[i], '=');
    *equals = '\0';
    status = dl_options_set(options, argv[i], equals + 1, &error);
  }
  if (status == DL_OK) status = dl_dataset_open(argv[1], options, &set, &error);
  if (status == DL_OK) status = dl_loader_create(set, options, &loader, &error);
  const int result = status == DL_OK ? run(loader) : end_with(&error);
  dl_loader_destroy(loader);
  dl_dataset_destroy(set);
  dl_options_destroy(options);
  return fflush(stdout) == 0 || result != 0 ? result : 1;
}
