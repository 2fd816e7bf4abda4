// Versions, build, and the names of codes and dtypes.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "capi/guard.h"
#include "core/base/dtype.h"

using namespace dataline;

#if defined(__clang__)
#define DL_COMPILER "clang " __clang_version__
#else
#define DL_COMPILER "gcc " __VERSION__
#endif

#if defined(DATALINE_BUILD_KERNELS)
#define DL_BUILT DATALINE_BUILD_FEATURES "; " DL_COMPILER "; kernels: " DATALINE_BUILD_KERNELS
#else
#define DL_BUILT DATALINE_BUILD_FEATURES "; " DL_COMPILER
#endif

extern "C" {

int32_t dl_version_number(void) {
  return DATALINE_VERSION_MAJOR * 10000 + DATALINE_VERSION_MINOR * 100 + DATALINE_VERSION_PATCH;
}

const char* dl_version_string(void) { return DATALINE_VERSION_STRING; }

int32_t dl_abi_version(void) { return DL_ABI_VERSION; }

const char* dl_build_info(void) {
  constexpr bool kWhole = sizeof(DATALINE_BUILD_MISSING) == 1;
  return kWhole ? DL_BUILT : DL_BUILT "; missing: " DATALINE_BUILD_MISSING;
}

const char* dl_status_name(dl_status status) { return code_name(static_cast<Code>(status)).data(); }

const char* dl_dtype_name(int32_t dtype) {
  return dl_dtype_bytes(dtype) == 0 ? "?" : dtype_name(static_cast<DType>(dtype)).data();
}

int32_t dl_dtype_bytes(int32_t dtype) {
  if (dtype < DL_DTYPE_BOOL || dtype > DL_DTYPE_C128) return 0;
  return static_cast<int32_t>(dtype_bytes(static_cast<DType>(dtype)));
}

int32_t dl_dtype_from_name(const char* name) {
  if (name == nullptr) return 0;
  std::optional<DType> dtype = dtype_from_name(name);
  return dtype ? static_cast<int32_t>(*dtype) : 0;
}

void dl_error_init(dl_error* out, uint32_t struct_size) {
  if (out == nullptr || struct_size < sizeof(uint32_t)) return;
  std::memset(out, 0, struct_size);
  out->struct_size = struct_size;
  if (struct_size >= offsetof(dl_error, message)) out->sample_index = -1;
}

}  // extern "C"
