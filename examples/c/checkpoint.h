// One file with everything a training job needs to go on: settings, weights, optimizer, and the loader's
// position. SPDX-License-Identifier: Apache-2.0
//
// The file appears whole or not at all: it is written beside its name, synced, then renamed. Byte order is
// the machine's; a digest at the end finds damage.
#pragma once

#include <stdint.h>

#include "mlp.h"

// What a resumed job must not change.
typedef struct training {
  int64_t epochs;
  int64_t batch_size;
  int64_t hidden;
  int64_t seed;
  int64_t samples;  // of the training set, from its start; 0: all
} training;

// 0, or -1 after one line on stderr. `state` is the text of dl_loader_state_save.
int checkpoint_save(const char* path, const training* job, const mlp* model, const char* state);

typedef struct checkpoint {
  training job;
  mlp model;    // the caller's, to destroy
  char* state;  // the caller's, to free
} checkpoint;
// 0, or -1 after one line on stderr; *out then owns nothing.
int checkpoint_load(const char* path, checkpoint* out);
