// MNIST through Dataline: a directory becomes a loader, a batch becomes floats and labels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline.h>
#include <stdbool.h>
#include <stdint.h>

enum { kClasses = 10 };

typedef struct mnist_options {
  const char* directory;  // the four MNIST files, .gz or not
  bool train;             // the training set, shuffled anew each epoch; else the test set, in order
  int64_t samples;        // only the first of the set; 0: all
  int64_t batch_size;
  int64_t epochs;
  int64_t seed;
  int64_t num_workers;  // -1: as many as fit the machine, 0: load in the caller's thread
} mnist_options;

// The caller destroys the loader; it keeps the dataset alive.
dl_status mnist_open(const mnist_options* options, dl_loader** out, dl_error* error);

// How many floats an image has, or -1 when the loader's data is no such thing.
int64_t mnist_inputs(const dl_loader* loader);

// A batch as a network wants it. The pointers live until dl_batch_release.
typedef struct mnist_batch {
  const float* images;    // [count][inputs], normalised
  const int64_t* labels;  // [count], 0 .. kClasses - 1
  int count;
} mnist_batch;

// 0, or -1 when a label is out of range.
int mnist_batch_of(const dl_batch* batch, mnist_batch* out);
