/* SPDX-License-Identifier: Apache-2.0 */
#include "kept.h"

#if defined(KEPT_LATER) != defined(DL_GROWN)
#error "compiled with another header than it should be"
#endif

int checks = 0;
dl_error last = DL_ERROR_INIT;

dl_dataset* open_numbers(const dl_options* options) {
  static int32_t x[kSamples * kRow];
  static uint8_t y[kSamples];
  static const int64_t kShape[] = {kSamples, kRow};
  for (int i = 0; i < kSamples * kRow; ++i) x[i] = i;
  for (int i = 0; i < kSamples; ++i) y[i] = (uint8_t)(100 + i);
  const dl_array arrays[] = {
      {.struct_size = sizeof(dl_array),
       .name = "x",
       .dtype = DL_DTYPE_I32,
       .rank = 2,
       .shape = kShape,
       .data = x},
      {.struct_size = sizeof(dl_array),
       .name = "y",
       .dtype = DL_DTYPE_U8,
       .rank = 1,
       .shape = kShape,
       .data = y},
  };
  dl_dataset* dataset = NULL;
  OK(dl_dataset_from_arrays(arrays, 2, NULL, NULL, options, &dataset, &last));
  return dataset;
}

dl_options* options_of(const char* const* settings) {
  dl_options* options = NULL;
  OK(dl_options_create(&options, &last));
  for (; settings != NULL && *settings != NULL; settings += 2)
    OK(dl_options_set(options, settings[0], settings[1], &last));
  return options;
}

dl_loader* loader_of(dl_dataset* dataset, const char* const* settings) {
  dl_options* options = options_of(settings);
  dl_loader* loader = NULL;
  OK(dl_loader_create(dataset, options, &loader, &last));
  dl_options_destroy(options);
  return loader;
}

const dl_view* field_of(const dl_view* views, int32_t count, const char* name) {
  for (int32_t f = 0; f < count; ++f)
    if (strcmp(dl_view_at(views, f)->name, name) == 0) return dl_view_at(views, f);
  return NULL;
}

int main(void) {
  check_tables();
  check_datasets();
  check_loaders();
  check_batches();
  printf("%d promises kept by %s\n", checks, dl_version_string());
  return 0;
}
