/* A program of a host's, in C, that calls every stable function of dataline.h and checks what it is promised. It is compiled
 * with today's header, with one whose structs have grown, and once for each release, of which the program is kept.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#define DL_STABLE_ONLY /* what may still change is not kept */
#include <dataline.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first promise that is not kept ends the program: later ones would fail for the same reason. */
#define CHECK(condition)                                                                \
  do {                                                                                  \
    if (!(condition)) {                                                                 \
      printf("%s:%d: %s is false: %s\n", __FILE__, __LINE__, #condition, last.message); \
      exit(1);                                                                          \
    }                                                                                   \
    ++checks;                                                                           \
  } while (0)
#define OK(call) CHECK((call) == DL_OK)

extern int checks;
extern dl_error last; /* of the last call that failed */

/* Ten samples: `x`, three i32 (3i, 3i + 1, 3i + 2), and `y`, one u8 (100 + i). */
enum { kSamples = 10, kRow = 3 };
dl_dataset* open_numbers(const dl_options* options);
/* Options with a key and its value for each pair of `settings`, which NULL ends. */
dl_options* options_of(const char* const* settings);
/* A loader of `dataset` with those settings. */
dl_loader* loader_of(dl_dataset* dataset, const char* const* settings);
/* View `field` of a batch, as a host finds it: by its name. */
const dl_view* field_of(const dl_view* views, int32_t count, const char* name);

void check_tables(void);
void check_datasets(void);
void check_loaders(void);
void check_batches(void);
