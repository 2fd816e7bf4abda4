// Reads structs and tables that the host passes in, built for an older or a newer header than this library's.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "capi/dataline.h"
#include "core/base/status.h"

namespace dataline::capi {

// The struct's size in release 0.2, the first whose layouts are kept: up to and including its last member of then.
// Never changes when members are appended.
template <typename T>
struct FirstRelease;
#define DL_FIRST_RELEASE(type, last_member)                                                   \
  template <>                                                                                 \
  struct FirstRelease<type> {                                                                 \
    static constexpr const char* kName = #type;                                               \
    static constexpr size_t kBytes = offsetof(type, last_member) + sizeof(type::last_member); \
  }
DL_FIRST_RELEASE(dl_allocator, destroy);
DL_FIRST_RELEASE(dl_log, destroy);
DL_FIRST_RELEASE(dl_array, sample_count);
DL_FIRST_RELEASE(dl_view, reserved);
DL_FIRST_RELEASE(dl_reader, fingerprint);
DL_FIRST_RELEASE(dl_argument_info, default_value);
DL_FIRST_RELEASE(dl_format, destroy);
DL_FIRST_RELEASE(dl_format_key, doc);
DL_FIRST_RELEASE(dl_operator, destroy);
DL_FIRST_RELEASE(dl_storage, destroy);
DL_FIRST_RELEASE(dl_threads, destroy);
DL_FIRST_RELEASE(dl_mix_part, repeat);
DL_FIRST_RELEASE(dl_mix_stage, weights);
DL_FIRST_RELEASE(dl_trace_sink, write);
#undef DL_FIRST_RELEASE

// A copy of the host's struct as this library knows it; members that the host does not know are zero.
template <typename T>
Result<T> read_struct(const T& given) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= DL_STRUCT_MAX_BYTES);
  const size_t size = given.struct_size;
  if (size < FirstRelease<T>::kBytes || size > DL_STRUCT_MAX_BYTES) {
    return error(Code::kInvalidArgument, FirstRelease<T>::kName, ": expected struct_size ", sizeof(T),
                 " (at least ", FirstRelease<T>::kBytes, ", at most ", DL_STRUCT_MAX_BYTES, "), got ", size);
  }
  const char* bytes = reinterpret_cast<const char*>(&given);
  for (size_t at = sizeof(T); at < size; ++at) {
    if (bytes[at] == 0) continue;
    return error(Code::kUnsupported, FirstRelease<T>::kName, ": byte ", at, " of ", size,
                 " is not zero; this library (", dl_version_string(), ") knows ", sizeof(T),
                 " bytes: the host uses a feature of a newer release");
  }
  T copy = {};
  std::memcpy(static_cast<void*>(&copy), &given, std::min(size, sizeof(T)));
  return copy;
}

// Element `index` of the host's array, whose elements are as long as the first one says.
template <typename T>
Result<T> read_element(const T* array, int32_t index) {
  const char* first = reinterpret_cast<const char*>(array);
  const T& given = *reinterpret_cast<const T*>(first + static_cast<size_t>(index) * array->struct_size);
  // The first element is checked before any other is looked at: its struct_size is the step.
  DL_ASSIGN_OR_RETURN(T copy, read_struct(given));
  if (given.struct_size == array->struct_size) return copy;
  return error(Code::kInvalidArgument, FirstRelease<T>::kName, " ", index, ": struct_size is ",
               given.struct_size, ", the first element's is ", array->struct_size);
}

// A reserved member must be zero, so that a later release can give it a meaning.
template <typename T>
Status check_reserved(const char* name, bool zero) {
  if (zero) return Status::ok();
  return error(Code::kUnsupported, FirstRelease<T>::kName, ": ", name, " is not zero; this library (",
               dl_version_string(), ") does not define it");
}

}  // namespace dataline::capi
