// The structs of Arrow's C data interface, by which arrays pass between libraries in one process. dataline.h only names them.
// Source: Apache Arrow, "The Arrow C data interface"; whoever includes another copy of these definitions has the same ones.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
#define ARROW_FLAG_NULLABLE 2

extern "C" {

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);  // null: released, or moved elsewhere
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);  // null: released, or moved elsewhere
  void* private_data;
};

}  // extern "C"

#endif  // ARROW_C_DATA_INTERFACE
