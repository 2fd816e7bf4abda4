// Shows the first batch of any dataset: example_first_batch mnist:DIR
// SPDX-License-Identifier: Apache-2.0
#include <dataline.h>
#include <stdio.h>

static double value(const dl_view* view, int64_t index) {
  const void* first = (const char*)view->data + view->byte_offset;
  if (view->dtype == DL_DTYPE_U8) return ((const uint8_t*)first)[index];
  if (view->dtype == DL_DTYPE_U16) return ((const uint16_t*)first)[index];
  if (view->dtype == DL_DTYPE_I64) return (double)((const int64_t*)first)[index];
  return view->dtype == DL_DTYPE_F32 ? (double)((const float*)first)[index] : 0.0 / 0.0;
}

int main(int argc, char** argv) {
  dl_dataset* dataset = NULL;
  dl_loader* loader = NULL;
  dl_batch* batch = NULL;
  dl_error error = DL_ERROR_INIT;
  dl_status status = dl_dataset_open(argc == 2 ? argv[1] : "", NULL, &dataset, &error);
  if (status == DL_OK) status = dl_loader_create(dataset, NULL, &loader, &error);
  if (status == DL_OK) status = dl_loader_next(loader, -1, &batch, &error);
  int32_t count = 0;
  const dl_view* views = batch != NULL ? dl_batch_views(batch, &count) : NULL;
  for (int32_t f = 0; f < count; ++f) {
    const dl_view* view = dl_view_at(views, f);
    const int64_t values = view->bytes / dl_dtype_bytes(view->dtype);
    printf("%s: %s [", view->name, dl_dtype_name(view->dtype));
    for (int32_t d = 0; d < view->rank; ++d) printf("%s%d", d ? ", " : "", (int)view->shape[d]);
    printf("]");
    for (int64_t i = 0; i < values && i < 8; ++i) printf(" %g", value(view, i));
    printf(" ...\n");
  }
  if (status < 0) fprintf(stderr, "example_first_batch: %s\n", error.message);
  dl_batch_release(batch), dl_loader_destroy(loader), dl_dataset_destroy(dataset);
  return status == DL_OK ? 0 : 1;
}
