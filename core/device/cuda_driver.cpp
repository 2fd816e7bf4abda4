// SPDX-License-Identifier: Apache-2.0
#include "core/device/cuda_driver.h"

#if defined(_WIN32)
#include <windows.h>
#else
#include <dlfcn.h>
#endif

#include "core/memory/shared_library.h"

namespace dataline {
namespace {

// cuGetProcAddress_v2 (CUDA 12.0) returns every other function, in the requested version.
using GetEntryPoint = CudaCode (*)(const char* name, void** function, int32_t version, uint64_t flags,
                                   int32_t* found);

constexpr std::string_view kLinuxName =
    "libcuda.so.1";  // the default of the option cuda_library, on every system

#if defined(_WIN32)

constexpr std::string_view kDriver = "nvcuda.dll";

Result<void*> open_library(const std::string& name) {
  void* handle = LoadLibraryA(name.c_str());
  if (handle != nullptr) return handle;
  return error(Code::kNoDevice, "no CUDA driver: ", name, ": system error ", GetLastError());
}
template <typename Function>
Function symbol(void* library, const char* name) {
  void (*const found)() = reinterpret_cast<void (*)()>(GetProcAddress(static_cast<HMODULE>(library), name));
  return reinterpret_cast<Function>(found);
}

#else

constexpr std::string_view kDriver = kLinuxName;

Result<void*> open_library(const std::string& name) {
  if (Status status = check_library_file(name); !status.is_ok())
    return error(Code::kNoDevice, "no CUDA driver: ", status.text());
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return handle;
  const char* why = dlerror();
  return error(Code::kNoDevice, "no CUDA driver: ", why != nullptr ? why : name);
}
template <typename Function>
Function symbol(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

#endif

Status too_old(const std::string& name, void* library) {
  std::string have;
  int32_t version = 0;
  // The only call made into an old driver; it needs no initialization.
  const auto get_version = symbol<CudaCode (*)(int32_t*)>(library, "cuDriverGetVersion");
  if (get_version == nullptr)
    return error(Code::kNoDevice, name, " is not a CUDA driver: it does not export cuGetProcAddress_v2");
  if (get_version(&version) == kCudaSuccess) have = concat(", this one is ", cuda_version_text(version));
  return error(Code::kNoDevice, name, " needs to be a CUDA ", cuda_version_text(kMinCudaVersion),
               " driver or newer", have);
}

}  // namespace

std::string cuda_version_text(int32_t version) { return concat(version / 1000, ".", version % 1000 / 10); }

Result<std::shared_ptr<const CudaDriver>> open_cuda_driver(std::string_view library) {
  const std::string name(library.empty() || library == kLinuxName ? kDriver : library);
  DL_ASSIGN_OR_RETURN(void* const handle, open_library(name));
  const auto get = symbol<GetEntryPoint>(handle, "cuGetProcAddress_v2");
  if (get == nullptr) return too_old(name, handle);

  auto driver = std::make_shared<CudaDriver>();
  std::string missing;
  const auto find = [&](const char* entry, int32_t min_version, void** function) {
    int32_t found = 0;
    if (get(entry, function, min_version, 0, &found) == kCudaSuccess && *function != nullptr) return;
    missing = concat(missing, missing.empty() ? "" : ", ", entry);
  };
#define DL_CUDA_FIND(entry, min_version, parameters) \
  find(#entry, min_version, reinterpret_cast<void**>(&driver->entry.function));
  DL_CUDA_ENTRY_POINTS(DL_CUDA_FIND)
#undef DL_CUDA_FIND

  if (driver->cuDriverGetVersion.function != nullptr)
    static_cast<void>(driver->cuDriverGetVersion(&driver->version));
  if (!missing.empty()) {
    return error(Code::kNoDevice, name, " (CUDA ", cuda_version_text(driver->version), ") lacks ", missing,
                 "; a complete CUDA ", cuda_version_text(kMinCudaVersion), " driver or newer is needed");
  }
  if (driver->version < kMinCudaVersion) return too_old(name, handle);
  return std::shared_ptr<const CudaDriver>(std::move(driver));
}

}  // namespace dataline
