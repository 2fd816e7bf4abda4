/* Versions, names, and the tables that bindings are built from.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kept.h"

static void check_versions(void) {
  CHECK(dl_abi_version() == DL_ABI_VERSION);
  CHECK(dl_version_number() >= DL_VERSION_MAJOR * 10000 + DL_VERSION_MINOR * 100 + DL_VERSION_PATCH);
  CHECK(strlen(dl_version_string()) >= 5 && strlen(dl_build_info()) > 0);
}

static void check_names(void) {
  CHECK(strcmp(dl_status_name(DL_ERR_CORRUPT), "DL_ERR_CORRUPT") == 0 && dl_status_name(-12345) != NULL);
  CHECK(strcmp(dl_dtype_name(DL_DTYPE_BF16), "bf16") == 0 && dl_dtype_bytes(DL_DTYPE_C128) == 16);
  CHECK(dl_dtype_from_name("i64") == DL_DTYPE_I64 && dl_dtype_from_name("nothing") == 0);
}

static void check_errors(void) {
  dl_options* options = options_of(NULL);
  dl_error error;
  memset(&error, 0xA5, sizeof error);
  dl_error_init(&error, sizeof error);
  CHECK(error.struct_size == sizeof error && error.code == DL_OK && error.message[0] == '\0');
  CHECK(dl_options_set(options, "no_such_option", "1", &error) == DL_ERR_UNKNOWN_OPTION);
  CHECK(error.code == DL_ERR_UNKNOWN_OPTION && strstr(error.message, "no_such_option") != NULL);
  CHECK(error.sample_index == -1);
  CHECK(dl_options_set(options, "batch_size", "many", NULL) == DL_ERR_BAD_OPTION);
  dl_options_destroy(options);
}

static void check_options(void) {
  const char* value = NULL;
  int found = 0;
  dl_options* options = options_of(NULL);
  OK(dl_options_set_i64(options, "batch_size", 7, &last));
  OK(dl_options_get(options, "batch_size", &value, &last));
  CHECK(strcmp(value, "7") == 0);
  for (int32_t i = 0; i < dl_option_count(); ++i) {
    dl_option_info info = {.struct_size = sizeof info};
    OK(dl_option_at(i, &info, &last));
    CHECK(info.key != NULL && info.doc != NULL && info.since != NULL && info.choices != NULL);
    if (strcmp(info.key, "batch_size") != 0) continue;
    CHECK(info.type == DL_OPTION_INT && info.scope == DL_SCOPE_LOADER && info.has_range && info.minimum == 1);
    found = 1;
  }
  CHECK(found);
  dl_options_destroy(options);
}

static void check_copies(void) {
  const char* value = NULL;
  dl_options* options = options_of(NULL);
  dl_options* copy = NULL;
  OK(dl_options_set(options, "batch_size", "7", &last));
  OK(dl_options_copy(options, &copy, &last));
  OK(dl_options_set(options, "batch_size", "8", &last));
  OK(dl_options_get(copy, "batch_size", &value, &last));
  CHECK(strcmp(value, "7") == 0);
  dl_options_destroy(options), dl_options_destroy(copy);
}

/* The environment is the host's to give: of a process of torchrun's, and one without a launcher. */
static void check_launchers(void) {
  static const char* const kSecond[] = {"RANK=1", "WORLD_SIZE=2", "LOCAL_RANK=1", "LOCAL_WORLD_SIZE=2", NULL};
  static const char* const kNothing[] = {"HOME=/root", NULL};
  static const char* const kHalf[] = {"RANK=1", NULL};
  static const char* const settings[] = {"rank", "auto", "world_size", "auto", NULL};
  dl_launcher launcher = {.struct_size = sizeof launcher};
  OK(dl_launcher_detect(kSecond, &launcher, &last));
  CHECK(launcher.rank == 1 && launcher.world_size == 2 && launcher.local_rank == 1);
  CHECK(strcmp(launcher.family, "torchrun") == 0);
  OK(dl_launcher_detect(kNothing, &launcher, &last));
  CHECK(launcher.rank == 0 && launcher.world_size == 1 && strcmp(launcher.family, "none") == 0);
  CHECK(dl_launcher_detect(kHalf, &launcher, &last) == DL_ERR_INVALID_ARGUMENT);

  dl_options* options = options_of(settings);
  dl_dataset* dataset = open_numbers(NULL);
  dl_loader* loader = NULL;
  OK(dl_options_set_environment(options, kSecond, &last));
  OK(dl_options_set(options, "global_batch_size", "10", &last));
  OK(dl_loader_create(dataset, options, &loader, &last));
  dl_batch* batch = NULL;
  dl_batch_info info = {.struct_size = sizeof info};
  OK(dl_loader_next(loader, -1, &batch, &last));
  OK(dl_batch_get_info(batch, &info, &last));
  CHECK(info.samples == kSamples / 2 && info.sample_indices[0] == kSamples / 2);
  dl_batch_release(batch), dl_loader_destroy(loader), dl_dataset_destroy(dataset),
      dl_options_destroy(options);
}

static void check_operators(void) {
  int found = 0;
  for (int32_t i = 0; i < dl_transform_count(NULL); ++i) {
    dl_transform_info info = {.struct_size = sizeof info};
    OK(dl_transform_at(NULL, i, &info, &last));
    for (int32_t a = 0; a < info.argument_count; ++a) {
      dl_argument_info argument = {.struct_size = sizeof argument};
      OK(dl_transform_argument_at(NULL, i, a, &argument, &last));
      CHECK(argument.name != NULL && argument.type != NULL && argument.default_value != NULL);
    }
    found |= strcmp(info.name, "cast") == 0 && info.argument_count > 0;
  }
  CHECK(found);
}

void check_tables(void) {
  check_versions();
  check_names();
  check_errors();
  check_options();
  check_copies();
  check_launchers();
  check_operators();
}
