/* One epoch through a table of functions, so that linked and dlopen-ed copies of the library run the same check.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_EPOCH_H
#define RUN_EPOCH_H

#include <dataline.h>
#include <stdio.h>
#include <string.h>

struct epoch_api {
  dl_status (*options_create)(dl_options**, dl_error*);
  dl_status (*options_set)(dl_options*, const char*, const char*, dl_error*);
  void (*options_destroy)(dl_options*);
  dl_status (*from_arrays)(const dl_array*, int32_t, void (*)(void*), void*, const dl_options*, dl_dataset**,
                           dl_error*);
  void (*dataset_destroy)(dl_dataset*);
  dl_status (*loader_create)(dl_dataset*, const dl_options*, dl_loader**, dl_error*);
  dl_status (*loader_next)(dl_loader*, int64_t, dl_batch**, dl_error*);
  void (*loader_destroy)(dl_loader*);
  const dl_view* (*batch_views)(const dl_batch*, int32_t*);
  void (*batch_release)(dl_batch*);
};

#define EPOCH_API_LINKED                                                                               \
  {                                                                                                    \
    dl_options_create, dl_options_set, dl_options_destroy, dl_dataset_from_arrays, dl_dataset_destroy, \
        dl_loader_create, dl_loader_next, dl_loader_destroy, dl_batch_views, dl_batch_release          \
  }

/* Ten rows of four bytes, shuffled, in batches of four by one worker. 1 when each row came exactly once. */
static int run_epoch(const struct epoch_api* api, char* failure, size_t room) {
  unsigned char rows[10][4];
  const int64_t shape[2] = {10, 4};
  int seen[10] = {0}, i, rows_seen = 0, batches = 0;
  dl_array array;
  dl_error error = DL_ERROR_INIT;
  dl_options* options = NULL;
  dl_dataset* dataset = NULL;
  dl_loader* loader = NULL;
  dl_batch* batch = NULL;
  dl_status status;

  for (i = 0; i < 10; ++i) memset(rows[i], i, sizeof rows[i]);
  memset(&array, 0, sizeof array);
  array.struct_size = (uint32_t)sizeof array;
  array.name = "data";
  array.dtype = DL_DTYPE_U8;
  array.rank = 2;
  array.shape = shape;
  array.data = rows;

  status = api->options_create(&options, &error);
  if (status == DL_OK) status = api->options_set(options, "batch_size", "4", &error);
  if (status == DL_OK) status = api->options_set(options, "shuffle", "full", &error);
  if (status == DL_OK) status = api->options_set(options, "num_workers", "1", &error);
  if (status == DL_OK) status = api->from_arrays(&array, 1, NULL, NULL, NULL, &dataset, &error);
  if (status == DL_OK) status = api->loader_create(dataset, options, &loader, &error);
  while (status == DL_OK && (status = api->loader_next(loader, -1, &batch, &error)) == DL_OK) {
    int32_t fields = 0;
    const dl_view* view = api->batch_views(batch, &fields);
    const unsigned char* bytes = (const unsigned char*)view->data + view->byte_offset;
    ++batches;
    for (i = 0; i < (int)view->shape[0]; ++i, ++rows_seen) ++seen[bytes[4 * i] % 10];
    api->batch_release(batch);
  }
  api->loader_destroy(loader);
  api->dataset_destroy(dataset);
  api->options_destroy(options);

  for (i = 0; i < 10 && seen[i] == 1;) ++i;
  if (status < 0) {
    strncpy(failure, error.message, room - 1);
    failure[room - 1] = '\0';
    return 0;
  }
  sprintf(failure, "status %d, %d batches, %d rows, rows 0..%d once", (int)status, batches, rows_seen, i - 1);
  return status == DL_END_OF_EPOCH && batches == 3 && rows_seen == 10 && i == 10;
}

#endif
