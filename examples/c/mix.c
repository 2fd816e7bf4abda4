/* Draws from two datasets, three samples of the first for each of the second, and prints what each gave.
 *   example_mix URI URI        for example: tokens:web.bin tokens:code.bin
 * SPDX-License-Identifier: Apache-2.0 */
#include <dataline.h>
#include <stdio.h>

enum { kSteps = 32 };

static dl_status print_parts(const dl_loader* loader, dl_error* error) {
  dl_status status = DL_OK;
  for (int32_t i = 0; status == DL_OK && i < dl_loader_part_count(loader); ++i) {
    dl_part part = {.struct_size = sizeof part};
    status = dl_loader_part_at(loader, i, &part, error);
    if (status == DL_OK)
      printf("%s: %lld samples, %.2f epochs, asked %.4f, got %.4f\n", part.name, (long long)part.delivered,
             part.epochs, part.share_asked, part.share_got);
  }
  return status;
}

int main(int argc, char** argv) {
  dl_dataset *first = NULL, *second = NULL, *mix = NULL;
  dl_options* options = NULL;
  dl_loader* loader = NULL;
  dl_error error = DL_ERROR_INIT;
  if (argc != 3) return fprintf(stderr, "usage: example_mix URI URI\n"), 2;
  dl_status status = dl_dataset_open(argv[1], NULL, &first, &error);
  if (status == DL_OK) status = dl_dataset_open(argv[2], NULL, &second, &error);
  const dl_mix_part parts[] = {
      {.struct_size = sizeof(dl_mix_part), .name = "first", .dataset = first, .weight = 3},
      {.struct_size = sizeof(dl_mix_part), .name = "second", .dataset = second, .weight = 1}};
  if (status == DL_OK) status = dl_dataset_mix(parts, 2, NULL, 0, 32 * kSteps, NULL, &mix, &error);
  if (status == DL_OK) status = dl_options_create(&options, &error);
  if (status == DL_OK) status = dl_options_set(options, "shuffle", "full", &error);
  if (status == DL_OK) status = dl_loader_create(mix, options, &loader, &error);
  for (int step = 0; status == DL_OK && step < kSteps; ++step) { /* batches of 32 */
    dl_batch* batch = NULL;
    dl_batch_info info = {.struct_size = sizeof info};
    status = dl_loader_next(loader, -1, &batch, &error);
    if (status == DL_OK) status = dl_batch_get_info(batch, &info, &error);
    if (status == DL_OK && step == 0)
      printf("the first row is sample %lld of part %lld\n", (long long)info.sample_indices[0],
             (long long)info.sample_sources[0]);
    dl_batch_release(batch);
  }
  if (status == DL_OK) status = print_parts(loader, &error);
  if (status < 0) fprintf(stderr, "example_mix: %s\n", error.message);
  dl_loader_destroy(loader), dl_options_destroy(options), dl_dataset_destroy(mix);
  dl_dataset_destroy(second), dl_dataset_destroy(first); /* the mix had its own references */
  return status < 0;
}
