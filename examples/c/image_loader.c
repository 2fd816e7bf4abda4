// Opening folders of pictures and looking at their batches.
// SPDX-License-Identifier: Apache-2.0
#include "image_loader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_line.h"

static dl_status set_options(dl_options* to, const image_options* from, dl_error* error) {
  char transform[256];
  if (from->train) {
    snprintf(transform, sizeof transform,
             "image: decode, random_resized_crop(%" PRId64
             ", scale=[0.7, 1.0]), hflip, vflip, normalize(imagenet)",
             from->side);
  } else {
    snprintf(transform, sizeof transform,
             "image: decode, resize([%" PRId64 ", %" PRId64 "]), normalize(imagenet)", from->side,
             from->side);
  }
  dl_status status = dl_options_set_i64(to, "batch_size", from->batch_size, error);
  if (status == DL_OK) status = dl_options_set_i64(to, "num_workers", from->num_workers, error);
  if (status == DL_OK) status = dl_options_set_i64(to, "seed", from->seed, error);
  if (status == DL_OK) status = dl_options_set_i64(to, "epochs", from->epochs, error);
  if (status == DL_OK) status = dl_options_set(to, "shuffle", from->train ? "full" : "none", error);
  if (status == DL_OK) status = dl_options_set(to, "transform", transform, error);
  return status;
}

dl_status images_open(const image_options* options, dl_dataset** dataset, dl_loader** loader,
                      dl_error* error) {
  dl_options* settings = NULL;
  char* uri = uri_of_path("folder", options->directory, "");
  dl_status status = uri != NULL ? dl_options_create(&settings, error) : DL_ERR_NO_MEMORY;
  if (status == DL_OK) status = set_options(settings, options, error);
  if (status == DL_OK) status = dl_dataset_open(uri, settings, dataset, error);
  if (status == DL_OK) status = dl_loader_create(*dataset, settings, loader, error);
  dl_options_destroy(settings);
  free(uri);
  return status;
}

static const dl_view* find_view(const dl_batch* batch, const char* name) {
  int32_t count = 0;
  const dl_view* views = dl_batch_views(batch, &count);
  for (int32_t i = 0; i < count; ++i) {
    const dl_view* view = dl_view_at(views, i);
    if (strcmp(view->name, name) == 0) return view;
  }
  return NULL;
}

int image_batch_of(const dl_batch* batch, int64_t side, int64_t classes, image_batch* out) {
  const dl_view* image = find_view(batch, "image");
  const dl_view* label = find_view(batch, "label");
  if (image == NULL || image->dtype != DL_DTYPE_F32 || image->rank != 4 || image->shape[1] != side ||
      image->shape[2] != side || image->shape[3] != 3 || label == NULL || label->dtype != DL_DTYPE_I64) {
    return -1;
  }
  out->images = (const float*)((const char*)image->data + image->byte_offset);
  out->labels = (const int64_t*)((const char*)label->data + label->byte_offset);
  out->count = (int)image->shape[0];
  for (int i = 0; i < out->count; ++i) {
    if (out->labels[i] < 0 || out->labels[i] >= classes) return -1;
  }
  return 0;
}
