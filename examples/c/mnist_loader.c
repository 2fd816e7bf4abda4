// Opening MNIST and looking at its batches.
// SPDX-License-Identifier: Apache-2.0
#include "mnist_loader.h"

#include <stdlib.h>
#include <string.h>

#include "command_line.h"

// Replaces *dataset by its first `count` samples.
static dl_status keep_first(dl_dataset** dataset, int64_t count, dl_error* error) {
  if (count == 0 || count >= dl_dataset_count(*dataset)) return DL_OK;
  int64_t* indices = malloc((size_t)count * sizeof *indices);
  if (indices == NULL) return DL_ERR_NO_MEMORY;
  for (int64_t i = 0; i < count; ++i) indices[i] = i;
  dl_dataset* part = NULL;
  const dl_status status =
      dl_dataset_subset(*dataset, indices, count, NULL, NULL, NULL, &part, error);  // copies them
  free(indices);
  if (status != DL_OK) return status;
  dl_dataset_destroy(*dataset);  // the part keeps its own reference
  *dataset = part;
  return DL_OK;
}

static dl_status set_options(dl_options* to, const mnist_options* from, dl_error* error) {
  dl_status status = dl_options_set_i64(to, "batch_size", from->batch_size, error);
  if (status == DL_OK) status = dl_options_set_i64(to, "num_workers", from->num_workers, error);
  if (status == DL_OK) status = dl_options_set_i64(to, "seed", from->seed, error);
  if (status == DL_OK) status = dl_options_set_i64(to, "epochs", from->epochs, error);
  if (status == DL_OK) status = dl_options_set(to, "shuffle", from->train ? "full" : "none", error);
  // u8 28x28 becomes f32 784, (x / 255 - 0.1307) / 0.3081, on its way into the batch.
  if (status == DL_OK) status = dl_options_set(to, "transform", "image: normalize(mnist), flatten", error);
  return status;
}

dl_status mnist_open(const mnist_options* options, dl_loader** out, dl_error* error) {
  dl_options* settings = NULL;
  dl_dataset* dataset = NULL;
  char* uri = uri_of_path("mnist", options->directory, options->train ? "split=train" : "split=test");
  dl_status status = uri != NULL ? dl_options_create(&settings, error) : DL_ERR_NO_MEMORY;
  if (status == DL_OK) status = set_options(settings, options, error);
  if (status == DL_OK) status = dl_dataset_open(uri, settings, &dataset, error);
  if (status == DL_OK) status = keep_first(&dataset, options->samples, error);
  if (status == DL_OK) status = dl_loader_create(dataset, settings, out, error);
  dl_dataset_destroy(dataset);  // the loader keeps its own reference
  dl_options_destroy(settings);
  free(uri);
  return status;
}

static const dl_view* find_view(const dl_view* views, int32_t count, const char* name) {
  for (int32_t i = 0; i < count; ++i) {
    const dl_view* view = dl_view_at(views, i);
    if (strcmp(view->name, name) == 0) return view;
  }
  return NULL;
}

int64_t mnist_inputs(const dl_loader* loader) {
  int32_t count = 0;
  const dl_view* fields = dl_loader_fields(loader, &count);
  const dl_view* image = find_view(fields, count, "image");
  const dl_view* label = find_view(fields, count, "label");
  if (image == NULL || image->dtype != DL_DTYPE_F32 || image->rank != 2) return -1;
  if (label == NULL || label->dtype != DL_DTYPE_I64 || label->rank != 1) return -1;
  return image->shape[1];
}

int mnist_batch_of(const dl_batch* batch, mnist_batch* out) {
  int32_t count = 0;
  const dl_view* views = dl_batch_views(batch, &count);
  const dl_view* image = find_view(views, count, "image");
  const dl_view* label = find_view(views, count, "label");
  out->images = (const float*)((const char*)image->data + image->byte_offset);
  out->labels = (const int64_t*)((const char*)label->data + label->byte_offset);
  out->count = (int)image->shape[0];
  for (int i = 0; i < out->count; ++i) {
    if (out->labels[i] < 0 || out->labels[i] >= kClasses) return -1;
  }
  return 0;
}
