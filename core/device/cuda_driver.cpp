// SPDX-License-Identifier: Apache-2.0
#include "core/device/cuda_driver.h"

#include <dlfcn.h>

namespace dataline {
namespace {

// cuGetProcAddress_v2 (CUDA 12.0) returns every other function, in the requested version.
using GetProcAddress = CudaCode (*)(const char* name, void** function, int32_t version, uint64_t flags,
                                    int32_t* found);

template <typename Function>
Function symbol(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

Status too_old(const std::string& name, void* library) {
  std::string have;
  int32_t version = 0;
  // The only call made into an old driver; it needs no initialization.
  const auto get_version = symbol<CudaCode (*)(int32_t*)>(library, "cuDriverGetVersion");
  if (get_version == nullptr)
    return error(Code::kNoDevice, name, " is no CUDA driver: it has no cuGetProcAddress_v2");
  if (get_version(&version) == kCudaSuccess) have = concat(", this one is ", cuda_version_text(version));
  return error(Code::kNoDevice, name, " needs to be a CUDA ", cuda_version_text(kMinCudaVersion),
               " driver or newer", have);
}

}  // namespace

std::string cuda_version_text(int32_t version) { return concat(version / 1000, ".", version % 1000 / 10); }

Result<std::shared_ptr<const CudaDriver>> open_cuda_driver(std::string_view library) {
  const std::string name(library.empty() ? "libcuda.so.1" : library);
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = dlerror();
    return error(Code::kNoDevice, "no CUDA driver: ", why != nullptr ? why : name);
  }
  const auto get = symbol<GetProcAddress>(handle, "cuGetProcAddress_v2");
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
