/* The structs of Arrow's C data interface, and the names of their capsules (Arrow's PyCapsule interface).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DATALINE_PYTHON_ARROW_H
#define DATALINE_PYTHON_ARROW_H

#include <stdint.h>

#define ARROW_SCHEMA "arrow_schema"
#define ARROW_ARRAY "arrow_array"
#define ARROW_STREAM "arrow_array_stream"

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*); /* NULL: released, or moved elsewhere */
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
  void (*release)(struct ArrowArray*); /* NULL: released, or moved elsewhere */
  void* private_data;
};

#endif
