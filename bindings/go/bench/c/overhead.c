/* What a batch costs a C program by the three calls: next, views, release. Batches of one byte, made by the calling
 * thread; prints ns a batch, the least of a few rounds. Built and run by `go run ./bench`.
 * SPDX-License-Identifier: Apache-2.0 */
#include <dataline.h>
#include <stdio.h>
#include <time.h>

enum { SAMPLES = 65536, BATCHES = 100000, ROUNDS = 5 };

static double now_ns(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec * 1e9 + (double)at.tv_nsec;
}

static int run(dl_loader* loader) {
  int sum = 0;
  for (int batches = 0; batches < BATCHES;) {
    dl_batch* batch = NULL;
    dl_error error = DL_ERROR_INIT;
    const dl_status status = dl_loader_next(loader, -1, &batch, &error);
    if (status == DL_END_OF_EPOCH) continue;
    if (status != DL_OK) return -1;
    int32_t count = 0;
    sum += *(const unsigned char*)dl_batch_views(batch, &count)->data;
    dl_batch_release(batch);
    ++batches;
  }
  return sum;
}

int main(void) {
  static unsigned char data[SAMPLES];
  const int64_t shape[1] = {SAMPLES};
  for (int at = 0; at < SAMPLES; ++at) data[at] = 1;
  dl_array array = {0};
  array.struct_size = sizeof array;
  array.name = "x";
  array.dtype = DL_DTYPE_U8;
  array.rank = 1;
  array.shape = shape;
  array.data = data;
  dl_error error = DL_ERROR_INIT;
  dl_dataset* dataset = NULL;
  dl_loader* loader = NULL;
  dl_options* options = NULL;
  dl_status status = dl_dataset_from_arrays(&array, 1, NULL, NULL, NULL, &dataset, &error);
  if (status == DL_OK) status = dl_options_create(&options, &error);
  if (status == DL_OK) status = dl_options_set(options, "batch_size", "1", &error);
  if (status == DL_OK) status = dl_options_set(options, "num_workers", "0", &error);
  if (status == DL_OK) status = dl_loader_create(dataset, options, &loader, &error);
  if (status != DL_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  double least = 1e18;
  for (int round = 0; round < ROUNDS; ++round) {
    const double began = now_ns();
    if (run(loader) != BATCHES) return 1;
    const double each = (now_ns() - began) / BATCHES;
    if (each < least) least = each;
  }
  printf("%.1f\n", least);
  dl_loader_destroy(loader), dl_options_destroy(options), dl_dataset_destroy(dataset);
  return 0;
}
