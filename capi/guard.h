// The barrier around every function: no exception leaves the library, and errors go to the caller's dl_error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

#include "capi/dataline.h"
#include "core/base/message_text.h"
#include "core/base/over_budget.h"
#include "core/base/status.h"

namespace dataline::capi {

// Copies as much of `from` as the caller's struct has room for; struct_size stays as the caller set it.
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

// Copies a message into `room` bytes including the NUL, truncated at a character boundary. Messages quote paths, options
// and file contents verbatim; message_text.h states how they are shown.
inline void copy_message(std::string_view message, char* out, size_t room) noexcept {
  char* const end = out + room - 1;
  while (!message.empty()) {
    const MessageCharacter next = take_message_character(message);
    if (next.count > static_cast<size_t>(end - out)) break;
    std::memcpy(out, next.bytes, next.count);
    out += next.count;
  }
  *out = '\0';
}

// Writes the members of the caller's dl_error that fit completely in its struct_size; only the message is truncated to
// the room there is.
inline void fill_error(dl_status code, int32_t os_error, int32_t column, int64_t sample_index,
                       int64_t sample_source, std::string_view message, dl_error* out) noexcept {
  if (out == nullptr) return;
  const size_t size = std::min<size_t>(out->struct_size, sizeof(dl_error));
  const auto member = [&](size_t offset, const auto& value) {
    if (offset + sizeof value <= size)
      std::memcpy(reinterpret_cast<char*>(out) + offset, &value, sizeof value);
  };
  member(offsetof(dl_error, code), code);
  member(offsetof(dl_error, os_error), os_error);
  member(offsetof(dl_error, column), column);
  member(offsetof(dl_error, sample_index), sample_index);
  member(offsetof(dl_error, sample_source), sample_source);
  if (size > offsetof(dl_error, message)) {
    copy_message(message, out->message, size - offsetof(dl_error, message));
  }
}

inline dl_status report(const Status& status, dl_error* out) noexcept {
  const dl_status code = static_cast<dl_status>(status.code());
  if (code < 0) {
    fill_error(code, status.os_error(), static_cast<int32_t>(status.column()), status.sample_index(),
               status.sample_source(), status.text(), out);
  }
  return code;
}

inline dl_status no_memory(dl_error* out) noexcept {
  fill_error(DL_ERR_NO_MEMORY, 0, 0, -1, 0, "out of memory", out);
  return DL_ERR_NO_MEMORY;
}

// Runs `body`, which returns a Status, inside the barrier.
template <typename Body>
dl_status guard(dl_error* out, Body body) noexcept {
  try {
    return report(body(), out);
  } catch (const OverBudget& refused) {
    try {
      return report(refused.status("a table of this call"), out);
    } catch (...) {
      return no_memory(out);
    }
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

inline Status check_index(const char* what, int64_t index, int64_t count) {
  if (index >= 0 && index < count) return Status::ok();
  return error(Code::kInvalidArgument, what, " ", index, ": expected 0 to ", count, " exclusive");
}

// Text of any length to the caller: *bytes is the room in `out`, then what the text needs with its NUL. Without `out` only that.
inline Status copy_text(const std::string& text, const char* what, char* out, size_t* bytes) {
  const size_t room = *bytes;
  *bytes = text.size() + 1;
  if (out == nullptr) return Status::ok();
  if (room < text.size() + 1)
    return error(Code::kInvalidArgument, what, ": expected room for ", text.size() + 1, " bytes, got ", room);
  std::memcpy(out, text.c_str(), text.size() + 1);
  return Status::ok();
}

inline Status check_array(const void* values, int64_t count, const char* what) {
  if (count < 0) return error(Code::kInvalidArgument, what, ": count is ", count);
  if (values == nullptr && count > 0) return null_argument(what);
  return Status::ok();
}

}  // namespace dataline::capi

// Returns an error from a guard body when a pointer argument is NULL.
#define DL_REQUIRE(pointer) \
  if ((pointer) == nullptr) return ::dataline::capi::null_argument(#pointer)
