// A progress line as the shell `dataline` draws it, on a terminal; nothing elsewhere.
// SPDX-License-Identifier: Apache-2.0
//
//   epoch 2/5, step 211 of 469:  45%|████▌     | [00:01<00:02, 23.4 k samples/s, waited 0.3 %, loss=0.213]
//
// Position and share of the epoch; time since it began < time left; rate; share of the time in which data was waited for; what
// the program adds. On a narrow terminal the bar goes first, then what stands last.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct progress {
  const char* label;  // "epoch 2/5"
  const char* unit;   // "samples"
  int64_t total;
  int64_t first;  // steps that were done before: they do not count as speed
  double began_s;
  double drawn_s;
  bool visible;  // stderr is a terminal that can rewrite a line
  bool utf8;
} progress;

// Where an epoch is.
typedef struct progress_point {
  int64_t steps;       // those done before included
  int64_t samples;     // since progress_begin
  double waited_s;     // likewise
  const char* remark;  // "loss=0.213"
} progress_point;

// Seconds of the monotonic clock.
double now_s(void);

void progress_begin(progress* bar, const char* label, const char* unit, int64_t first, int64_t total);
// Redraws at most ten times a second.
void progress_update(progress* bar, const progress_point* at);
// Draws the last state and goes to the next line.
void progress_end(progress* bar, const progress_point* at);
