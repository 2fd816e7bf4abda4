// Checkpoints of a training job.
// SPDX-License-Identifier: Apache-2.0
//
//   offset  bytes
//        0      8  "MLPCKPT1"
//        8     40  training: epochs, batch_size, hidden, seed, samples (i64 each)
//       48      8  inputs, outputs (i32 each)
//       56      8  state_bytes (u64)
//       64         parameters, velocity (f32), the loader's state (text), digest of all before (u64)
#include "checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char kMagic[8] = {'M', 'L', 'P', 'C', 'K', 'P', 'T', '1'};
enum { kMaxUnits = 1 << 16, kMaxBatch = 1 << 20, kMaxStateBytes = 1 << 16 };

typedef struct header {
  char magic[8];
  training job;
  int32_t inputs;
  int32_t outputs;
  uint64_t state_bytes;
} header;
_Static_assert(sizeof(header) == 64, "the file's first 64 bytes");

static uint64_t digest(uint64_t hash, const void* data, size_t bytes) {  // FNV-1a
  const unsigned char* at = data;
  for (size_t i = 0; i < bytes; ++i) hash = (hash ^ at[i]) * 0x100000001B3u;
  return hash;
}
static const uint64_t kDigestStart = 0xCBF29CE484222325u;

static int complain(const char* path, const char* what) {
  fprintf(stderr, "%s: %s\n", path, what);
  return -1;
}

static int write_part(FILE* file, const void* data, size_t bytes, uint64_t* hash) {
  *hash = digest(*hash, data, bytes);
  return fwrite(data, 1, bytes, file) == bytes ? 0 : -1;
}

static int write_all(FILE* file, const training* job, const mlp* model, const char* state) {
  header head = {
      .job = *job, .inputs = model->inputs, .outputs = model->outputs, .state_bytes = strlen(state)};
  memcpy(head.magic, kMagic, sizeof head.magic);
  const size_t bytes = model->parameter_count * sizeof(float);
  uint64_t hash = kDigestStart;
  if (write_part(file, &head, sizeof head, &hash) != 0 ||
      write_part(file, model->parameters, bytes, &hash) != 0 ||
      write_part(file, model->velocity, bytes, &hash) != 0 ||
      write_part(file, state, head.state_bytes, &hash) != 0) {
    return -1;
  }
  return fwrite(&hash, sizeof hash, 1, file) == 1 && fflush(file) == 0 && fsync(fileno(file)) == 0 ? 0 : -1;
}

// The new name is in the directory for good only when the directory itself is synced.
static void sync_directory_of(char* path) {
  const int directory = open(dirname(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  (void)fsync(directory);
  close(directory);
}

int checkpoint_save(const char* path, const training* job, const mlp* model, const char* state) {
  const size_t room = strlen(path) + sizeof ".new";
  char* fresh = malloc(room);
  if (fresh == NULL) return complain(path, strerror(ENOMEM));
  snprintf(fresh, room, "%s.new", path);
  FILE* file = fopen(fresh, "wb");
  int failed = file == NULL || write_all(file, job, model, state) != 0;
  if (file != NULL && fclose(file) != 0) failed = 1;
  if (!failed && rename(fresh, path) != 0) failed = 1;
  if (failed) {
    const int cause = errno;
    (void)unlink(fresh);
    free(fresh);
    return complain(path, strerror(cause));
  }
  sync_directory_of(fresh);
  free(fresh);
  return 0;
}

static int read_part(FILE* file, void* data, size_t bytes, uint64_t* hash) {
  if (fread(data, 1, bytes, file) != bytes) return -1;
  *hash = digest(*hash, data, bytes);
  return 0;
}

static int in_range(int64_t value, int64_t least, int64_t most) { return value >= least && value <= most; }

// Limits first, so that a damaged header asks for no absurd amount of memory.
static int header_fits(const header* head, int64_t file_bytes) {
  if (memcmp(head->magic, kMagic, sizeof kMagic) != 0 || !in_range(head->inputs, 1, kMaxUnits) ||
      !in_range(head->outputs, 1, kMaxUnits) || !in_range(head->job.hidden, 1, kMaxUnits) ||
      !in_range(head->job.batch_size, 1, kMaxBatch) || head->state_bytes > kMaxStateBytes) {
    return 0;
  }
  const int64_t hidden = head->job.hidden;
  const int64_t parameters = (head->inputs + 1) * hidden + (hidden + 1) * head->outputs;
  return file_bytes == (int64_t)sizeof *head + 2 * 4 * parameters + (int64_t)head->state_bytes + 8;
}

static int read_all(FILE* file, checkpoint* out) {
  header head;
  struct stat info;
  uint64_t hash = kDigestStart, expected = 0;
  if (read_part(file, &head, sizeof head, &hash) != 0 || fstat(fileno(file), &info) != 0) return -1;
  if (!header_fits(&head, info.st_size)) return -1;
  out->job = head.job;
  out->state = calloc(1, head.state_bytes + 1);
  if (out->state == NULL || mlp_create(&out->model, head.inputs, (int)head.job.hidden, head.outputs,
                                       (int)head.job.batch_size, 0) != 0) {
    return -1;
  }
  const size_t bytes = out->model.parameter_count * sizeof(float);
  if (read_part(file, out->model.parameters, bytes, &hash) != 0 ||
      read_part(file, out->model.velocity, bytes, &hash) != 0 ||
      read_part(file, out->state, head.state_bytes, &hash) != 0) {
    return -1;
  }
  return fread(&expected, sizeof expected, 1, file) == 1 && expected == hash ? 0 : -1;
}

int checkpoint_load(const char* path, checkpoint* out) {
  *out = (checkpoint){0};
  FILE* file = fopen(path, "rb");
  if (file == NULL) return complain(path, strerror(errno));
  const int status = read_all(file, out);
  fclose(file);
  if (status == 0) return 0;
  mlp_destroy(&out->model);
  free(out->state);
  *out = (checkpoint){0};
  return complain(path, "not a checkpoint of this program, or damaged");
}
