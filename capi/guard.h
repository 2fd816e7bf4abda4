// The barrier every function passes: no exception leaves the library, errors go to the caller's dl_error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>

#include "capi/dataline.h"
#include "core/base/status.h"

namespace dataline::capi {

// Writes as much of `from` as the caller's struct has room for; struct_size stays the caller's.
template <typename T>
Status copy_struct(const T& from, T* out) {
  const uint32_t size = out->struct_size;
  if (size < sizeof size)
    return error(Code::kInvalidArgument, "struct_size is ", size, ", expected ", sizeof(T));
  T copy = from;
  copy.struct_size = size;
  std::memcpy(out, &copy, std::min<size_t>(size, sizeof copy));
  return Status::ok();
}

// Copies a message into `room` bytes with its NUL; a cut never splits a UTF-8 sequence.
inline void copy_message(const std::string& message, char* out, size_t room) noexcept {
  size_t length = std::min(message.size(), room - 1);
  if (length < message.size()) {
    while (length > 0 && (static_cast<unsigned char>(message[length]) & 0xC0) == 0x80) --length;
  }
  std::memcpy(out, message.data(), length);
  out[length] = '\0';
}

inline dl_status report(const Status& status, dl_error* out) noexcept {
  const dl_status code = static_cast<dl_status>(status.code());
  if (code >= 0 || out == nullptr || out->struct_size < offsetof(dl_error, message) + 1) return code;
  out->code = code;
  out->os_error = status.os_error();
  out->column = static_cast<int32_t>(status.column());
  out->sample_index = status.sample_index();
  copy_message(status.message(), out->message,
               std::min<size_t>(out->struct_size, sizeof(dl_error)) - offsetof(dl_error, message));
  return code;
}

inline dl_status no_memory(dl_error* out) noexcept {
  if (out != nullptr && out->struct_size >= sizeof(dl_error)) {
    out->code = DL_ERR_NO_MEMORY;
    out->os_error = 0;
    out->column = 0;
    out->sample_index = -1;
    std::memcpy(out->message, "out of memory", sizeof "out of memory");
  }
  return DL_ERR_NO_MEMORY;
}

// Runs `body`, which returns a Status, behind the barrier.
template <typename Body>
dl_status guard(dl_error* out, Body body) noexcept {
  try {
    return report(body(), out);
  } catch (const std::bad_alloc&) {
    return no_memory(out);
  } catch (const std::exception& failure) {
    try {
      return report(error(Code::kInternal, "internal: ", failure.what()), out);
    } catch (...) {
      return no_memory(out);
    }
  } catch (...) {
    return no_memory(out);
  }
}

inline Status null_argument(const char* name) { return error(Code::kInvalidArgument, name, " is NULL"); }

}  // namespace dataline::capi

// Returns an error from a guard body when a pointer argument is NULL.
#define DL_REQUIRE(pointer) \
  if ((pointer) == nullptr) return ::dataline::capi::null_argument(#pointer)
