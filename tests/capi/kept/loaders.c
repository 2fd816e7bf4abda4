/* The stream of batches: order, position, state, and what ends a wait.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kept.h"

/* The samples of the epochs that are left, in order of delivery. */
static int drain(dl_loader* loader, int64_t* out, int room) {
  int count = 0;
  dl_batch* batch = NULL;
  dl_status status;
  while ((status = dl_loader_next(loader, -1, &batch, &last)) == DL_OK) {
    dl_batch_info info = {.struct_size = sizeof info};
    OK(dl_batch_get_info(batch, &info, &last));
    for (int64_t i = 0; i < info.valid && count < room; ++i) {
      CHECK(info.sample_sources[i] == 0);
      out[count++] = info.sample_indices[i];
    }
    dl_batch_release(batch);
  }
  CHECK(status == DL_END_OF_EPOCH);
  return count;
}

/* A seed gives the same order in every release. */
static void check_order(void) {
  static const int64_t kOrder[kSamples] = {6, 0, 4, 8, 5, 2, 3, 7, 1, 9};
  static const char* const settings[] = {"shuffle", "full",        "seed", "7", "batch_size",
                                         "3",       "num_workers", "2",    NULL};
  int64_t got[2 * kSamples];
  dl_dataset* dataset = open_numbers(NULL);
  dl_loader* loader = loader_of(dataset, settings);
  CHECK(dl_loader_steps(loader) == 4);
  CHECK(drain(loader, got, 2 * kSamples) == kSamples);
  CHECK(memcmp(got, kOrder, sizeof kOrder) == 0);
  dl_loader_destroy(loader), dl_dataset_destroy(dataset);
}

static void check_position(void) {
  static const char* const settings[] = {"batch_size", "4", "epochs", "2", NULL};
  int64_t epoch = -1, step = -1, got[2 * kSamples];
  dl_dataset* dataset = open_numbers(NULL);
  dl_loader* loader = loader_of(dataset, settings);
  OK(dl_loader_seek(loader, 1, 2, &last));
  OK(dl_loader_position(loader, &epoch, &step, &last));
  CHECK(epoch == 1 && step == 2 && drain(loader, got, kSamples) == 2 && got[0] == 8);
  dl_batch* batch = NULL;
  CHECK(dl_loader_next(loader, 0, &batch, &last) == DL_END && batch == NULL);
  OK(dl_loader_seek(loader, 0, 1, &last));
  OK(dl_loader_next(loader, -1, &batch, &last));
  dl_batch_release(batch);
  OK(dl_loader_begin_epoch(loader, &last));
  OK(dl_loader_position(loader, &epoch, &step, &last));
  CHECK(epoch == 1 && step == 0);
  dl_loader_destroy(loader), dl_dataset_destroy(dataset);
}

/* A job saved by this release goes on in every later one. */
static void check_state(void) {
  static const char kSaved[] = /* by release 0.3 */
      "dataline state 2\n"
      "epoch: 5\n"
      "step: 3\n"
      "samples: 10\n"
      "fields: x i32[3], y u8\n"
      "data: cdaf2747de020216\n"
      "file_names: 0 files, 9e3779b97f4a7c15\n"
      "file_sizes: 0 bytes, 9e3779b97f4a7c15\n"
      "contents: 2a4bfffc6a37aa30\n"
      "seed: 7\n"
      "shuffle: full\n"
      "sample_indices: none\n"
      "weights: none\n"
      "epoch_slots: 10\n"
      "global_batch_size: 3\n"
      "last_batch: keep\n"
      "on_error: raise\n"
      "checksum: c9bb41f0a36175ca\n";
  static const char* const settings[] = {"shuffle", "full", "seed", "7", "batch_size", "3", NULL};
  char* text = NULL;
  size_t bytes = 0, short_of = 4;
  int64_t epoch = 0, step = 0;
  dl_dataset* dataset = open_numbers(NULL);
  dl_loader* loader = loader_of(dataset, settings);
  OK(dl_loader_seek(loader, 5, 3, &last));
  OK(dl_loader_state_save(loader, NULL, &bytes, &last));
  CHECK(dl_loader_state_save(loader, (char[4]){0}, &short_of, &last) == DL_ERR_INVALID_ARGUMENT &&
        short_of == bytes);
  CHECK((text = malloc(bytes)) != NULL);
  OK(dl_loader_state_save(loader, text, &bytes, &last));
  CHECK(strlen(text) + 1 == bytes);
  OK(dl_loader_seek(loader, 0, 0, &last));
  OK(dl_loader_state_load(loader, text, &last));
  OK(dl_loader_position(loader, &epoch, &step, &last));
  CHECK(epoch == 5 && step == 3);
  OK(dl_loader_seek(loader, 0, 0, &last));
  OK(dl_loader_state_load(loader, kSaved, &last));
  OK(dl_loader_position(loader, &epoch, &step, &last));
  CHECK(epoch == 5 && step == 3);
  CHECK(dl_loader_state_load(loader, "nonsense", &last) == DL_ERR_BAD_STATE);
  free(text);
  dl_loader_destroy(loader), dl_dataset_destroy(dataset);
}

static void check_given_order(void) {
  static const int64_t kFirst[] = {4, 4, 1}, kThen[] = {9, 8, 7};
  static const double kWeights[kSamples] = {0, 0, 0, 0, 0, 0, 1, 0, 0, 0};
  int64_t got[kSamples];
  dl_loader* loader = NULL;
  dl_dataset* dataset = open_numbers(NULL);
  dl_options* options = options_of(NULL);
  OK(dl_options_set_indices(options, kFirst, 3, NULL, NULL, &last));
  OK(dl_loader_create(dataset, options, &loader, &last));
  dl_options_destroy(options);
  CHECK(drain(loader, got, kSamples) == 3 && memcmp(got, kFirst, sizeof kFirst) == 0);
  OK(dl_loader_set_indices(loader, kThen, 3, NULL, NULL, &last));
  CHECK(drain(loader, got, kSamples) == 3 && memcmp(got, kThen, sizeof kThen) == 0);
  dl_loader_destroy(loader);

  static const char* const settings[] = {"samples_per_epoch", "4", NULL};
  options = options_of(settings);
  OK(dl_options_set_weights(options, kWeights, kSamples, NULL, NULL, &last));
  OK(dl_loader_create(dataset, options, &loader, &last));
  dl_options_destroy(options);
  CHECK(drain(loader, got, kSamples) == 4 && got[0] == 6 && got[3] == 6);
  dl_loader_destroy(loader), dl_dataset_destroy(dataset);
}

/* Batches by length: each of one bucket, as many rows as fit. */
static void check_lengths(void) {
  static const int64_t kLengths[kSamples] = {1, 9, 2, 8, 3, 9, 4, 9, 5, 6};
  static const char* const settings[] = {"bucket_edges", "5,10", "max_tokens", "10", NULL};
  int64_t got[kSamples] = {0};
  dl_dataset* dataset = open_numbers(NULL);
  dl_options* options = options_of(settings);
  dl_loader* loader = NULL;
  OK(dl_options_set_lengths(options, kLengths, kSamples, NULL, NULL, &last));
  OK(dl_loader_create(dataset, options, &loader, &last));
  dl_options_destroy(options);
  CHECK(dl_loader_steps(loader) == 8); /* two rows of at most 5, or one of at most 10 */
  CHECK(drain(loader, got, kSamples) == kSamples && got[0] == 0 && got[1] == 2 && got[2] == 1);
  dl_loader_destroy(loader), dl_dataset_destroy(dataset);
}

/* A frame loop: work until something is due, then next does not wait. */
static void check_frames(void) {
  static const char* const settings[] = {"num_workers", "0", "batch_size", "5", NULL};
  dl_dataset* dataset = open_numbers(NULL);
  dl_loader* loader = loader_of(dataset, settings);
  dl_batch* batch = NULL;
  dl_status status = DL_TIMEOUT;
  while (status == DL_TIMEOUT) status = dl_loader_work(loader, 1000000, &last);
  CHECK(status == DL_OK);
  OK(dl_loader_next(loader, 0, &batch, &last));
  dl_batch_release(batch);
  dl_loader_destroy(loader), dl_dataset_destroy(dataset);
}

/* A loop is one epoch; a newer one ends it, the stream does not; an interrupt is not lost; handles may outlive their loader. */
static void check_loops(void) {
  static const char* const settings[] = {"batch_size", "5", "epochs", "3", NULL};
  dl_batch* batch = NULL;
  dl_epoch *first = NULL, *second = NULL, *stream = NULL, *none = NULL;
  dl_dataset* dataset = open_numbers(NULL);
  dl_loader* loader = loader_of(dataset, settings);
  OK(dl_loader_epoch(loader, &first, &last));
  for (int step = 0; step < 2; ++step) {
    OK(dl_epoch_next(first, -1, &batch, &last));
    dl_batch_release(batch);
  }
  for (int call = 0; call < 2; ++call) CHECK(dl_epoch_next(first, -1, &batch, &last) == DL_END_OF_EPOCH);
  dl_epoch_release(first);
  OK(dl_loader_epoch(loader, &first, &last));
  OK(dl_loader_epoch(loader, &second, &last));
  CHECK(dl_epoch_next(first, -1, &batch, &last) == DL_ERR_WRONG_STATE && batch == NULL);
  dl_epoch_interrupt(second);
  CHECK(dl_epoch_next(second, -1, &batch, &last) == DL_INTERRUPTED);
  OK(dl_epoch_next(second, -1, &batch, &last));
  dl_batch_release(batch);
  OK(dl_loader_stream(loader, &stream, &last));
  dl_epoch_interrupt(stream);
  CHECK(dl_epoch_next(stream, -1, &batch, &last) == DL_INTERRUPTED);
  OK(dl_epoch_next(stream, -1, &batch, &last)); /* the second epoch's last batch */
  dl_batch_release(batch);
  OK(dl_loader_seek(loader, 3, 0, &last));
  CHECK(dl_loader_epoch(loader, &none, &last) == DL_END && none == NULL);
  dl_loader_destroy(loader), dl_dataset_destroy(dataset);
  CHECK(dl_epoch_next(second, 0, &batch, &last) == DL_ERR_WRONG_STATE);
  dl_epoch_release(first), dl_epoch_release(second), dl_epoch_release(stream), dl_epoch_release(NULL);
}

static void check_ends_of_waits(void) {
  dl_batch* batch = NULL;
  dl_dataset* dataset = open_numbers(NULL);
  dl_loader* loader = loader_of(dataset, NULL);
  dl_loader_interrupt(loader); /* the cancel comes first, and the seek clears it */
  dl_loader_cancel(loader);
  CHECK(dl_loader_next(loader, -1, &batch, &last) == DL_CANCELLED && batch == NULL);
  OK(dl_loader_seek(loader, 0, 0, &last));
  OK(dl_loader_next(loader, -1, &batch, &last));
  dl_batch_release(batch);
  dl_loader_destroy(loader);

  dl_cancel_token* token = NULL;
  dl_options* options = options_of(NULL);
  OK(dl_cancel_token_create(&token, &last));
  OK(dl_options_set_cancel_token(options, token, &last));
  OK(dl_loader_create(dataset, options, &loader, &last));
  dl_options_destroy(options);
  dl_cancel_token_cancel(token);
  CHECK(dl_loader_next(loader, -1, &batch, &last) == DL_CANCELLED);
  dl_cancel_token_destroy(token);
  dl_loader_destroy(loader), dl_dataset_destroy(dataset);
}

static void check_figures(void) {
  int64_t got[kSamples];
  intptr_t handle = -1;
  dl_dataset* dataset = open_numbers(NULL);
  dl_loader* loader = loader_of(dataset, NULL);
  const dl_status made = dl_loader_wait_handle(loader, &handle, &last);
  CHECK(made == DL_ERR_UNSUPPORTED || (made == DL_OK && handle >= 0));
  int32_t fields = 0;
  CHECK(strcmp(dl_view_at(dl_loader_fields(loader, &fields), 1)->name, "y") == 0 && fields == 2);
  CHECK(drain(loader, got, kSamples) == kSamples);
  dl_stats stats = {.struct_size = sizeof stats};
  OK(dl_loader_stats(loader, &stats, &last));
  CHECK(stats.samples == kSamples && stats.bad == 0 && stats.leases_held == 0 && stats.held_bytes > 0);
  dl_loader_destroy(loader), dl_dataset_destroy(dataset);
}

void check_loaders(void) {
  check_order();
  check_position();
  check_state();
  check_given_order();
  check_lengths();
  check_frames();
  check_loops();
  check_ends_of_waits();
  check_figures();
}
