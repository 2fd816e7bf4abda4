// The structs of Arrow's C data and C stream interfaces, by which arrays pass between libraries in one process. dataline.h only
// names them.
// Sources: Apache Arrow, "The Arrow C data interface", "The Arrow C stream interface"; whoever includes another copy of these definitions has the same ones.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

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

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

extern "C" {

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);  // 0, or an error number
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);     // a released array: the end
  const char* (*get_last_error)(struct ArrowArrayStream*);               // null: there is none
  void (*release)(struct ArrowArrayStream*);                             // null: released, or moved elsewhere
  void* private_data;
};

}  // extern "C"

#endif  // ARROW_C_STREAM_INTERFACE

namespace dataline {

// One of the structs, with the duty to release it. The interface's rule: it is moved by copying its bytes, and the one left
// behind is marked as released.
template <typename Struct>
struct ArrowOwned {
  Struct raw = {};

  ArrowOwned() = default;
  // Takes it from the host.
  explicit ArrowOwned(Struct& given) noexcept : raw(given) { given.release = nullptr; }
  ArrowOwned(ArrowOwned&& other) noexcept : ArrowOwned(other.raw) {}
  ArrowOwned& operator=(ArrowOwned&& other) noexcept {
    std::swap(raw, other.raw);
    return *this;
  }
  ~ArrowOwned() {
    if (raw.release != nullptr) raw.release(&raw);
  }
  void hand_on(Struct* out) noexcept {
    *out = raw;
    raw.release = nullptr;
  }
};

}  // namespace dataline
