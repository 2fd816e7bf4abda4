// Folders of pictures through Dataline: class folders become a loader, a batch becomes floats and labels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct image_options {
  const char* directory;  // class folders of JPEG, PNG or WebP files
  bool train;    // shuffled anew each epoch, a new crop of each picture every time; else whole, in order
  int64_t side;  // of the squares that all become
  int64_t batch_size;
  int64_t epochs;
  int64_t seed;
  int64_t num_workers;  // -1: as many as fit the machine, 0: load in the caller's thread
} image_options;

// The caller destroys both; the loader keeps what it needs of the dataset, whose class names may be asked for.
dl_status images_open(const image_options* options, dl_dataset** dataset, dl_loader** loader,
                      dl_error* error);

// A batch as a network wants it. The pointers live until dl_batch_release.
typedef struct image_batch {
  const float* images;    // [count][side][side][3], normalised
  const int64_t* labels;  // [count], in the order of the class folders' names
  int count;
} image_batch;

// 0, or -1 when the batch is no such thing, or a label is not below `classes`.
int image_batch_of(const dl_batch* batch, int64_t side, int64_t classes, image_batch* out);
