/* The loop of a C program: next, views, release. Built and loaded by overhead.py and throughput.py.
 * SPDX-License-Identifier: Apache-2.0 */
#include <dataline.h>
#include <stddef.h>

/* Batches until `count` of them or, with count < 0, the end of one epoch; the sum of first bytes, -1 after an error. */
int64_t raw_batches(dl_loader* loader, int64_t count) {
  int64_t sum = 0;
  for (int64_t done = 0; done != count;) {
    dl_batch* batch = NULL;
    dl_status status = dl_loader_next(loader, -1, &batch, NULL);
    if (status == DL_END_OF_EPOCH) {
      if (count < 0) return sum;
      continue;
    }
    if (status != DL_OK) return -1;
    int32_t views = 0;
    sum += *(const unsigned char*)dl_batch_views(batch, &views)->data;
    dl_batch_release(batch);
    done++;
  }
  return sum;
}

/* A loader on `rows` of `row_bytes` u8, borrowed; options by text, as key, value, ..., NULL. */
dl_loader* raw_loader(const void* data, int64_t rows, int64_t row_bytes, const char* const* options) {
  int64_t shape[2] = {rows, row_bytes};
  dl_array array = {.struct_size = sizeof array, .name = "x", .dtype = DL_DTYPE_U8, .rank = 2};
  array.shape = shape;
  array.data = data;
  dl_dataset* dataset = NULL;
  dl_options* set = NULL;
  dl_loader* loader = NULL;
  dl_status status = dl_options_create(&set, NULL);
  for (; status == DL_OK && *options != NULL; options += 2)
    status = dl_options_set(set, options[0], options[1], NULL);
  if (status == DL_OK) status = dl_dataset_from_arrays(&array, 1, NULL, NULL, NULL, &dataset, NULL);
  if (status == DL_OK) status = dl_loader_create(dataset, set, &loader, NULL);
  dl_options_destroy(set);
  dl_dataset_destroy(dataset);
  return loader;
}

void raw_destroy(dl_loader* loader) { dl_loader_destroy(loader); }
