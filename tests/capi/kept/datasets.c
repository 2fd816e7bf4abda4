/* Datasets of arrays, of a reader and of a file; composed ones; the host's memory and log.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kept.h"

typedef struct {
  int allocated, released, messages, destroyed, given_back;
} Counts;

static void* allocate(void* context, size_t bytes, size_t alignment, int32_t kind) {
  (void)kind;
  ++((Counts*)context)->allocated;
  void* memory = aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory != NULL) memset(memory, 0, bytes);
  return memory;
}
static void release(void* context, void* memory, size_t bytes, size_t alignment, int32_t kind) {
  (void)bytes, (void)alignment, (void)kind;
  ++((Counts*)context)->released;
  free(memory);
}
static void write_log(void* context, int32_t level, const char* message, size_t length) {
  (void)level;
  ((Counts*)context)->messages += message[length] == '\0';
}
static void destroyed(void* context) { ++((Counts*)context)->destroyed; }
static void given_back(void* context) { ++((Counts*)context)->given_back; }

/* The table of a host; what it points to outlives every use. */
static void check_host_tables(void) {
  Counts counts = {0};
  const dl_allocator allocator = {sizeof allocator, 0, &counts, allocate, release, destroyed};
  const dl_log log = {sizeof log, 0, &counts, write_log, destroyed};
  dl_options* options = options_of(NULL);
  OK(dl_options_set_allocator(options, &allocator, &last));
  OK(dl_options_set_log(options, &log, &last));
  dl_dataset* dataset = open_numbers(options);
  dl_loader* loader = NULL;
  OK(dl_loader_create(dataset, options, &loader, &last));
  dl_options_destroy(options);
  CHECK(counts.allocated > 0 && counts.destroyed == 0);
  dl_loader_destroy(loader);
  dl_dataset_destroy(dataset);
  CHECK(counts.allocated == counts.released && counts.destroyed == 2);
}

static void check_arrays(void) {
  static const uint16_t kItems[] = {1, 2, 3, 4, 5};
  static const int64_t kOffsets[] = {0, 2, 2, 5}, kItemShape[] = {5};
  static const float kColumn[] = {0, -1, 1, -1, 2, -1};
  static const int64_t kRows[] = {3};
  Counts counts = {0};
  const dl_array arrays[] = {
      {.struct_size = sizeof(dl_array),
       .kind = DL_KIND_RAGGED,
       .name = "words",
       .dtype = DL_DTYPE_U16,
       .rank = 1,
       .shape = kItemShape,
       .data = kItems,
       .offsets = kOffsets,
       .sample_count = 3},
      {.struct_size = sizeof(dl_array),
       .kind = DL_KIND_STRIDED,
       .name = "column",
       .dtype = DL_DTYPE_F32,
       .rank = 1,
       .shape = kRows,
       .data = kColumn,
       .row_stride_bytes = 2 * sizeof(float)},
  };
  dl_dataset* dataset = NULL;
  dl_batch* batch = NULL;
  int32_t count = 0;
  OK(dl_dataset_from_arrays(arrays, 2, given_back, &counts, NULL, &dataset, &last));
  CHECK(dl_dataset_count(dataset) == 3 && strcmp(dl_dataset_format(dataset), "arrays") == 0);
  CHECK(dl_dataset_uri(dataset)[0] == '\0' && dl_dataset_class_count(dataset) == 0);
  for (int32_t n = 0; n < dl_dataset_note_count(dataset); ++n) CHECK(dl_dataset_note(dataset, n) != NULL);
  CHECK(dl_dataset_class_name(dataset, 0)[0] == '\0');
  const dl_view* words = field_of(dl_dataset_fields(dataset, &count), 2, "words");
  CHECK(count == 2 && words != NULL && words->kind == DL_KIND_RAGGED && words->data == NULL);

  OK(dl_dataset_read(dataset, 2, NULL, &batch, &last));
  words = field_of(dl_batch_views(batch, &count), 2, "words");
  const dl_view* column = field_of(dl_batch_views(batch, NULL), 2, "column");
  CHECK(words->offsets[1] == 3 && memcmp(words->data, kItems + 2, 6) == 0 &&
        *(const float*)column->data == 2);
  dl_batch_release(batch);
  CHECK(dl_dataset_read(dataset, 3, NULL, &batch, &last) == DL_ERR_OUT_OF_RANGE && batch == NULL);
  dl_dataset_destroy(dataset);
  CHECK(counts.given_back == 1);
}

/* Row i of the reader is the i64 7i; 3 is bad; odd rows are lent. */
static int64_t lent[64];
static int32_t read_sevens(void* context, dl_reader_request* request) {
  (void)context;
  for (int32_t r = 0; r < request->record_count; ++r) {
    dl_reader_cell* cell = dl_reader_cell_at(request, r, 0);
    const int64_t value = 7 * request->indices[r];
    memcpy(cell->data, &value, sizeof value);
    if (request->indices[r] % 2 == 1) cell->borrowed = &lent[request->indices[r]];
    if (request->indices[r] != 3) continue;
    cell->status = 1;
    snprintf(request->messages + r * request->message_bytes, (size_t)request->message_bytes, "three is bad");
  }
  return 0;
}

static void check_reader(void) {
  Counts counts = {0};
  dl_batch* batch = NULL;
  dl_dataset* dataset = NULL;
  dl_view field = {.struct_size = sizeof field, .name = "seven", .dtype = DL_DTYPE_I64, .axes = ""};
  const dl_reader reader = {.struct_size = sizeof reader,
                            .field_count = 1,
                            .fields = &field,
                            .record_count = 64,
                            .context = &counts,
                            .read = read_sevens,
                            .destroy = destroyed,
                            .fingerprint = "sevens"};
  for (int i = 0; i < 64; ++i) lent[i] = 7 * i;
  OK(dl_dataset_from_reader(&reader, NULL, &dataset, &last));
  const char* const settings[] = {"batch_size", "64", "num_workers", "2", "on_error", "quarantine", NULL};
  dl_loader* loader = loader_of(dataset, settings);
  OK(dl_loader_next(loader, -1, &batch, &last));
  const int64_t* values = dl_view_at(dl_batch_views(batch, NULL), 0)->data;
  for (int i = 0; i < 64; ++i) CHECK(i == 3 || values[i] == 7 * i);
  dl_bad_sample bad = {.struct_size = sizeof bad};
  CHECK(dl_loader_bad_sample_count(loader) == 1);
  OK(dl_loader_bad_sample_at(loader, 0, &bad, &last));
  CHECK(bad.index == 3 && bad.code == DL_ERR_READER && strstr(bad.message, "three is bad") != NULL);
  CHECK(values[3] == 7 * bad.replacement);
  dl_batch_release(batch);
  dl_loader_destroy(loader);
  dl_dataset_destroy(dataset);
  CHECK(counts.destroyed == 1);
}

static void check_composed(void) {
  static const int64_t kEvery[] = {9, 0, 5};
  static const char* const kNames[] = {"left", "right"};
  Counts counts = {0};
  dl_options* options = options_of(NULL);
  dl_dataset *numbers = open_numbers(NULL), *both = NULL, *twice = NULL, *few = NULL;
  dl_dataset* const parts[] = {numbers, numbers};
  int32_t fields = 0;
  OK(dl_dataset_zip(parts, kNames, 2, options, &both, &last));
  OK(dl_dataset_concat(parts, 2, options, &twice, &last));
  OK(dl_dataset_subset(twice, kEvery, 3, given_back, &counts, options, &few, &last));
  dl_options_destroy(options);
  CHECK(dl_dataset_fields(both, &fields) != NULL && fields == 4 && dl_dataset_count(both) == kSamples);
  CHECK(dl_dataset_count(twice) == 2 * kSamples && dl_dataset_count(few) == 3);
  dl_dataset_destroy(both), dl_dataset_destroy(twice), dl_dataset_destroy(numbers);
  dl_batch* batch = NULL;
  OK(dl_dataset_read(few, 0, NULL, &batch, &last));
  CHECK(*(const uint8_t*)field_of(dl_batch_views(batch, NULL), 2, "y")->data == 109);
  dl_batch_release(batch), dl_dataset_destroy(few);
  CHECK(counts.given_back == 1);
}

/* A file of four u8 rows of two, as NumPy writes it. */
static void check_file(void) {
  static const char kPath[] = "kept.npy", kUri[] = "npy:kept.npy"; /* in a folder of this run's own */
  static const char kHeader[] = "{'descr': '|u1', 'fortran_order': False, 'shape': (4, 2), }";
  FILE* file = fopen(kPath, "wb");
  CHECK(file != NULL);
  fprintf(file, "\x93NUMPY%c%c%c%c%-117s\n", 1, 0, 118, 0, kHeader);
  for (int i = 0; i < 8; ++i) fputc(i, file);
  fclose(file);
  dl_dataset* dataset = NULL;
  OK(dl_dataset_open(kUri, NULL, &dataset, &last));
  CHECK(dl_dataset_count(dataset) == 4 && strcmp(dl_dataset_uri(dataset), kUri) == 0);
  dl_dataset_destroy(dataset);
  remove(kPath);
  CHECK(dl_dataset_open(kUri, NULL, &dataset, &last) == DL_ERR_NOT_FOUND && dataset == NULL &&
        last.os_error != 0);
}

void check_datasets(void) {
  check_host_tables();
  check_arrays();
  check_reader();
  check_composed();
  check_file();
}
