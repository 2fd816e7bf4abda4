// A progress line as tqdm draws it, on a terminal; nothing elsewhere.
// SPDX-License-Identifier: Apache-2.0
//
//   epoch 2/5:  45%|████████▉           | 211/469 [00:01<00:01, 182.35it/s, loss=0.213]
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct progress {
  const char* label;
  int64_t total;
  int64_t first;  // steps that were done before: they do not count as speed
  double began_s;
  double drawn_s;
  bool visible;  // stderr is a terminal
  bool utf8;
} progress;

// Seconds of the monotonic clock.
double now_s(void);

void progress_begin(progress* bar, const char* label, int64_t first, int64_t total);
// Redraws at most ten times a second. `remark` stands at the end ("loss=0.213").
void progress_update(progress* bar, int64_t done, const char* remark);
// Draws the last state and goes to the next line.
void progress_end(progress* bar, int64_t done, const char* remark);
