/* A guarded set that is cut to nothing while its rows are copied, through the C API alone: linked into a test with the
 * static library, and into a module with the shared one, so that both copies can be in one process.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <unistd.h>

#include "capi/dataline.h"

typedef struct cutter {
  const char* path;
  int done;
} cutter;

/* Called when the rows of the set are located and none is copied. */
static int32_t cut(void* context, dl_reader_request* request) {
  cutter* self = context;
  for (int32_t i = 0; i < request->record_count; ++i) *(uint8_t*)dl_reader_cell_at(request, i, 0)->data = 0;
  if (self->done) return 0;
  self->done = 1;
  return truncate(self->path, 0) == 0 ? 0 : 1;
}

static int64_t skipped(dl_dataset* const parts[2], int64_t rows) {
  static const char* const names[] = {"rows", "beside"};
  dl_error error = DL_ERROR_INIT;
  dl_options* options = NULL;
  dl_dataset* both = NULL;
  dl_loader* loader = NULL;
  dl_stats stats;
  memset(&stats, 0, sizeof stats);
  stats.struct_size = sizeof stats;
  stats.skipped = -1;
  dl_status status = dl_options_create(&options, &error);
  if (status == DL_OK) status = dl_options_set_i64(options, "batch_size", rows, &error);
  if (status == DL_OK) status = dl_options_set_i64(options, "epochs", 1, &error);
  if (status == DL_OK) status = dl_options_set_i64(options, "num_workers", 1, &error);
  if (status == DL_OK) status = dl_dataset_zip(parts, names, 2, NULL, &both, &error);
  if (status == DL_OK) status = dl_loader_create(both, options, &loader, &error);
  while (status == DL_OK || status == DL_END_OF_EPOCH || status == DL_ERR_BAD_SAMPLE) {
    dl_batch* batch = NULL;
    status = dl_loader_next(loader, -1, &batch, &error);
    dl_batch_release(batch);
  }
  if (status == DL_END && dl_loader_stats(loader, &stats, &error) != DL_OK) stats.skipped = -1;
  dl_loader_destroy(loader);
  dl_dataset_destroy(both);
  dl_options_destroy(options);
  return stats.skipped;
}

__attribute__((visibility("default"))) int64_t guarded_job(const char* path, const char* uri, int64_t rows) {
  dl_error error = DL_ERROR_INIT;
  dl_options* options = NULL;
  dl_dataset* parts[2] = {NULL, NULL};
  cutter context = {path, 0};
  dl_view field;
  memset(&field, 0, sizeof field);
  field.struct_size = sizeof field;
  field.name = "data";
  field.dtype = DL_DTYPE_U8;
  dl_reader reader;
  memset(&reader, 0, sizeof reader);
  reader.struct_size = sizeof reader;
  reader.field_count = 1;
  reader.fields = &field;
  reader.record_count = rows;
  reader.context = &context;
  reader.read = cut;
  int64_t result = -1;
  if (dl_options_create(&options, &error) == DL_OK &&
      dl_options_set(options, "fault_guard", "true", &error) == DL_OK &&
      dl_options_set(options, "io", "mmap", &error) == DL_OK &&
      dl_dataset_open(uri, options, &parts[0], &error) == DL_OK &&
      dl_dataset_from_reader(&reader, NULL, &parts[1], &error) == DL_OK)
    result = skipped(parts, rows);
  dl_dataset_destroy(parts[1]);
  dl_dataset_destroy(parts[0]);
  dl_options_destroy(options);
  return result;
}
