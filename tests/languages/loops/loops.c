/* The driver of loops.json on dataline.h alone (README.md).
 * SPDX-License-Identifier: Apache-2.0 */
#include <dataline.h>

#include <ctype.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"

enum { kNames = 26, kHeld = 16, kText = 4096 };

/* What a command works on. Threads that are spawned use the loader and the loops, which do not change until they are joined. */
static dl_dataset* dataset;
static dl_loader* loader;
static dl_epoch* loops[kNames]; /* by their letter */
static dl_batch* held[kHeld];
static int held_count;
static char state[4096];

typedef struct {
  pthread_t thread;
  char command[64], said[kText];
} Spawned;
static Spawned spawned[kNames];

static void fail(const char* what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}

/* As README.md prints it. */
static void say_status(dl_status status, char* said) {
  const char* name = dl_status_name(status) + strlen("DL_");
  if (strncmp(name, "ERR_", 4) == 0) name += 4;
  size_t i = 0;
  for (; name[i] != 0; ++i) said[i] = (char)tolower((unsigned char)name[i]);
  said[i] = 0;
}

static void say_done(dl_status status, char* said) {
  if (status == DL_OK)
    strcpy(said, "ok");
  else
    say_status(status, said);
}

static void say_batch(const dl_batch* batch, char* said) {
  dl_batch_info info = {0};
  info.struct_size = sizeof info;
  if (dl_batch_get_info(batch, &info, NULL) != DL_OK) fail("a batch says nothing of itself");
  said += sprintf(said, "%" PRId64 ":", info.epoch);
  for (int64_t i = 0; i < info.samples; ++i)
    said += sprintf(said, "%s%" PRId64, i > 0 ? "," : "", info.sample_indices[i]);
}

/* `loop`: null for the loader's own next. `keep`: where the batch goes; null: it is released. */
static dl_status take(dl_epoch* loop, dl_batch** keep, char* said) {
  dl_batch* batch = NULL;
  const dl_status status =
      loop != NULL ? dl_epoch_next(loop, -1, &batch, NULL) : dl_loader_next(loader, -1, &batch, NULL);
  if (status != DL_OK) return say_status(status, said), status;
  say_batch(batch, said);
  if (keep != NULL)
    *keep = batch;
  else
    dl_batch_release(batch);
  return status;
}

static dl_epoch** loop_of(const char* name) { return &loops[name[0] - 'a']; }

static void close_all(void) {
  while (held_count > 0) dl_batch_release(held[--held_count]);
  dl_loader_destroy(loader);
  for (int i = 0; i < kNames; ++i)
    dl_epoch_release(loops[i]), loops[i] = NULL; /* after their loader: any order will do */
  dl_dataset_destroy(dataset);
  loader = NULL, dataset = NULL;
}

static void open_job(char* options_text) {
  static int64_t rows[1024];
  close_all();
  char* word = strtok(options_text, " ");
  const int64_t samples = strtoll(word, NULL, 10);
  for (int64_t i = 0; i < samples; ++i) rows[i] = i;
  dl_array array = {0};
  array.struct_size = sizeof array;
  array.name = "x", array.dtype = DL_DTYPE_I64, array.rank = 1, array.shape = &samples, array.data = rows;
  dl_options* options = NULL;
  if (dl_options_create(&options, NULL) != DL_OK) fail("no options");
  while ((word = strtok(NULL, " ")) != NULL) {
    char* value = strchr(word, '=');
    *value = 0;
    if (dl_options_set(options, word, value + 1, NULL) != DL_OK) fail(word);
  }
  if (dl_dataset_from_arrays(&array, 1, NULL, NULL, NULL, &dataset, NULL) != DL_OK) fail("no dataset");
  if (dl_loader_create(dataset, options, &loader, NULL) != DL_OK) fail("no loader");
  dl_options_destroy(options);
}

/* C's loop statement is a `while` over the calls. */
static void loop_statement(const char* count, char* said) {
  const long limit = strcmp(count, "all") == 0 ? -1 : strtol(count, NULL, 10);
  dl_epoch* loop = NULL;
  dl_batch* batch = NULL;
  char* const begin = said;
  dl_status status = dl_loader_epoch(loader, &loop, NULL);
  for (long taken = 0; status == DL_OK && taken != limit; ++taken) {
    status = dl_epoch_next(loop, -1, &batch, NULL);
    if (status != DL_OK) break;
    if (taken > 0) *said++ = ' ';
    say_batch(batch, said), said += strlen(said);
    dl_batch_release(batch);
  }
  dl_epoch_release(loop);
  if (status != DL_OK && status != DL_END_OF_EPOCH && status != DL_END)
    say_status(status, begin);
  else if (said == begin)
    strcpy(begin, "nothing");
}

typedef struct {
  pthread_t thread;
  dl_epoch* loop;
  int counts[1024];
  dl_status status;
} Sharer;

static void* share_thread(void* argument) {
  Sharer* self = argument;
  dl_batch* batch = NULL;
  while ((self->status = dl_epoch_next(self->loop, -1, &batch, NULL)) == DL_OK) {
    dl_batch_info info = {0};
    info.struct_size = sizeof info;
    if (dl_batch_get_info(batch, &info, NULL) != DL_OK) fail("a batch says nothing of itself");
    for (int64_t i = 0; i < info.samples; ++i) ++self->counts[info.sample_indices[i]];
    dl_batch_release(batch);
  }
  return NULL;
}

static void share(const char* name, int threads, char* said) {
  static Sharer sharers[8];
  int samples = 0, different = 0, ends = 0;
  dl_status wrong = DL_OK;
  memset(sharers, 0, sizeof sharers);
  for (int t = 0; t < threads; ++t) {
    sharers[t].loop = *loop_of(name);
    if (pthread_create(&sharers[t].thread, NULL, share_thread, &sharers[t]) != 0) fail("no thread");
  }
  for (int t = 0; t < threads; ++t) {
    pthread_join(sharers[t].thread, NULL);
    if (sharers[t].status == DL_END_OF_EPOCH)
      ++ends;
    else
      wrong = sharers[t].status;
  }
  for (int i = 0; i < 1024; ++i) {
    int times = 0;
    for (int t = 0; t < threads; ++t) times += sharers[t].counts[i];
    samples += times, different += times > 0;
  }
  if (wrong != DL_OK)
    say_status(wrong, said);
  else
    sprintf(said, "%d samples, %d different, %d ends", samples, different, ends);
}

static void run(const char* command, char* said);
static void* spawned_thread(void* argument) {
  Spawned* self = argument;
  run(self->command, self->said);
  return NULL;
}

static void call(const char* name, const char* command, char* said) {
  int64_t numbers[4] = {0};
  int found = 0;
  sscanf(command, "%*s %*s %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64, &numbers[0], &numbers[1],
         &numbers[2], &numbers[3]);
  say_done(simple_call(loader, name, numbers, &found), said);
  if (!found) fail(command);
}

static void run(const char* command, char* said) {
  char verb[16] = "", name[64] = "", more[16] = "";
  if (sscanf(command, "%15s %63s %15s", verb, name, more) < 1) fail(command);
  strcpy(said, "ok");
  if (strcmp(verb, "next") == 0) {
    take(*loop_of(name), NULL, said);
  } else if (strcmp(verb, "take") == 0) {
    take(NULL, NULL, said);
  } else if (strcmp(verb, "hold") == 0) {
    if (take(*loop_of(name), &held[held_count], said) == DL_OK) ++held_count;
  } else if (strcmp(verb, "release") == 0) {
    while (held_count > 0) dl_batch_release(held[--held_count]);
  } else if (strcmp(verb, "begin") == 0) {
    dl_epoch* loop = NULL;
    say_done(dl_loader_epoch(loader, &loop, NULL), said);
    dl_epoch_release(*loop_of(name));
    *loop_of(name) = loop;
  } else if (strcmp(verb, "drop") == 0) {
    dl_epoch_release(*loop_of(name));
    *loop_of(name) = NULL;
  } else if (strcmp(verb, "for") == 0) {
    loop_statement(name, said);
  } else if (strcmp(verb, "share") == 0) {
    share(name, atoi(more), said);
  } else if (strcmp(verb, "seek") == 0) {
    say_done(dl_loader_seek(loader, strtoll(name, NULL, 10), strtoll(more, NULL, 10), NULL), said);
  } else if (strcmp(verb, "position") == 0) {
    int64_t epoch = 0, step = 0;
    if (dl_loader_position(loader, &epoch, &step, NULL) != DL_OK) fail("no position");
    sprintf(said, "%" PRId64 " %" PRId64, epoch, step);
  } else if (strcmp(verb, "save") == 0) {
    size_t bytes = sizeof state;
    say_done(dl_loader_state_save(loader, state, &bytes, NULL), said);
  } else if (strcmp(verb, "load") == 0) {
    say_done(dl_loader_state_load(loader, state, NULL), said);
  } else if (strcmp(verb, "interrupt") == 0) {
    if (name[0] != 0)
      dl_epoch_interrupt(*loop_of(name));
    else
      dl_loader_interrupt(loader);
  } else if (strcmp(verb, "call") == 0) {
    call(name, command, said);
  } else if (strcmp(verb, "get") == 0) {
    if (!simple_get(loader, name, said)) fail(command);
  } else if (strcmp(verb, "cancel") == 0) {
    dl_loader_cancel(loader);
  } else if (strcmp(verb, "spawn") == 0) {
    Spawned* const to = &spawned[name[0] - 'a'];
    snprintf(to->command, sizeof to->command, "%s", strstr(command, more));
    if (pthread_create(&to->thread, NULL, spawned_thread, to) != 0) fail("no thread");
  } else if (strcmp(verb, "join") == 0) {
    Spawned* const from = &spawned[name[0] - 'a'];
    pthread_join(from->thread, NULL);
    strcpy(said, from->said);
  } else {
    fail(command);
  }
}

int main(void) {
  static char line[256], said[kText];
  setvbuf(stdout, NULL, _IOLBF, 0);
  while (fgets(line, sizeof line, stdin) != NULL) {
    line[strcspn(line, "\n")] = 0;
    if (strncmp(line, "open ", 5) == 0) {
      open_job(line + 5);
      strcpy(said, "ok");
    } else {
      run(line, said);
    }
    puts(said);
  }
  close_all();
  return 0;
}
