// The part of the CUDA driver API that we call, declared here so that no toolkit is needed to build: names, versions,
// signatures and constants as fixed by the driver's ABI. Nothing is linked: the driver is opened at run time, so that one
// binary runs with and without a GPU. Opening does not initialize it. It is never closed: drivers do not survive dlclose.
// Threads: immutable once open.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/status.h"

namespace dataline {

using CudaCode = int32_t;  // CUresult
using CudaAddress = uint64_t;
using CudaOrdinal = int32_t;  // CUdevice
using CudaContextHandle = struct CudaContextTag*;
using CudaStream = struct CudaStreamTag*;
using CudaEvent = struct CudaEventTag*;
using CudaModule = struct CudaModuleTag*;
using CudaFunction = struct CudaFunctionTag*;

constexpr int32_t kMinCudaVersion = 12000;

constexpr CudaCode kCudaSuccess = 0;
constexpr CudaCode kCudaInvalidValue = 1;
constexpr CudaCode kCudaOutOfMemory = 2;
constexpr CudaCode kCudaDeinitialized = 4;
constexpr CudaCode kCudaStubLibrary = 34;
constexpr CudaCode kCudaNoDevice = 100;
constexpr CudaCode kCudaInvalidContext = 201;
constexpr CudaCode kCudaUnsupportedPtxVersion = 222;
constexpr CudaCode kCudaInvalidHandle = 400;
constexpr CudaCode kCudaNotReady = 600;
constexpr CudaCode kCudaContextIsDestroyed = 709;
constexpr CudaCode kCudaAlreadyRegistered = 712;

// Codes after which this process can no longer use the device (or the driver). We name them ourselves, because a driver
// that returned one is not called again.
struct CudaStickyCode {
  CudaCode code;
  const char* name;
};
constexpr CudaStickyCode kCudaStickyCodes[] = {
    {4, "CUDA_ERROR_DEINITIALIZED"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE"},
    {220, "CUDA_ERROR_NVLINK_UNCORRECTABLE"},
    {226, "CUDA_ERROR_CONTAINED"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT"},
    {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED"},
    {710, "CUDA_ERROR_ASSERT"},
    {714, "CUDA_ERROR_HARDWARE_STACK_ERROR"},
    {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION"},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS"},
    {717, "CUDA_ERROR_INVALID_ADDRESS_SPACE"},
    {718, "CUDA_ERROR_INVALID_PC"},
    {719, "CUDA_ERROR_LAUNCH_FAILED"},
    {721, "CUDA_ERROR_TENSOR_MEMORY_LEAK"},
    {810, "CUDA_ERROR_MPS_CLIENT_TERMINATED"},
    {911, "CUDA_ERROR_EXTERNAL_DEVICE"},
    {999, "CUDA_ERROR_UNKNOWN"},
};
// Null: not one of them.
constexpr const char* cuda_sticky_name(CudaCode code) {
  for (const CudaStickyCode& sticky : kCudaStickyCodes) {
    if (sticky.code == code) return sticky.name;
  }
  return nullptr;
}
constexpr bool cuda_code_is_sticky(CudaCode code) { return cuda_sticky_name(code) != nullptr; }

// What a CUDA graph capture forbids, of this thread or of another: not now, but later.
constexpr bool cuda_code_is_of_capture(CudaCode code) { return code >= 900 && code <= 908; }

constexpr uint32_t kCudaHostRegisterPortable = 1;  // every context of the process sees the pages as pinned
constexpr uint32_t kCudaStreamNonBlocking = 1;     // no hidden order with the legacy stream
constexpr uint32_t kCudaEventBlockingSync = 1;     // a host thread that waits sleeps
constexpr uint32_t kCudaEventDisableTiming = 2;
constexpr int32_t kCudaCaptureRelaxed = 2;
constexpr int32_t kCudaAttributeMultiprocessors = 16;
constexpr int32_t kCudaAttributeCapabilityMajor = 75;
constexpr int32_t kCudaAttributeCapabilityMinor = 76;
constexpr int32_t kCudaAttributeMemoryPools = 115;  // cuMemAllocAsync works

}  // namespace dataline

// X(name, version, parameters): version is that of the ABI declared here, which cuGetProcAddress is asked for.
#define DL_CUDA_ENTRY_POINTS(X)                                                                       \
  X(cuInit, 2000, (uint32_t flags))                                                                   \
  X(cuDriverGetVersion, 2020, (int32_t * version))                                                    \
  X(cuGetErrorName, 6000, (CudaCode code, const char** name))                                         \
  X(cuDeviceGetCount, 2000, (int32_t * count))                                                        \
  X(cuDeviceGet, 2000, (CudaOrdinal * device, int32_t ordinal))                                       \
  X(cuDeviceGetName, 2000, (char* name, int32_t length, CudaOrdinal device))                          \
  X(cuDeviceGetAttribute, 2000, (int32_t * value, int32_t attribute, CudaOrdinal device))             \
  X(cuDevicePrimaryCtxGetState, 7000, (CudaOrdinal device, uint32_t * flags, int32_t * active))       \
  X(cuDevicePrimaryCtxRetain, 7000, (CudaContextHandle * context, CudaOrdinal device))                \
  X(cuDevicePrimaryCtxRelease, 11000, (CudaOrdinal device))                                           \
  X(cuCtxGetCurrent, 4000, (CudaContextHandle * context))                                             \
  X(cuCtxGetDevice, 2000, (CudaOrdinal * device))                                                     \
  X(cuCtxPushCurrent, 4000, (CudaContextHandle context))                                              \
  X(cuCtxPopCurrent, 4000, (CudaContextHandle * context))                                             \
  X(cuCtxSynchronize, 2000, ())                                                                       \
  X(cuThreadExchangeStreamCaptureMode, 10010, (int32_t * mode))                                       \
  X(cuMemGetInfo, 3020, (size_t * free, size_t * total))                                              \
  X(cuMemAlloc, 3020, (CudaAddress * address, size_t bytes))                                          \
  X(cuMemFree, 3020, (CudaAddress address))                                                           \
  X(cuMemAllocAsync, 11020, (CudaAddress * address, size_t bytes, CudaStream stream))                 \
  X(cuMemFreeAsync, 11020, (CudaAddress address, CudaStream stream))                                  \
  X(cuMemHostRegister, 6050, (void* memory, size_t bytes, uint32_t flags))                            \
  X(cuMemHostUnregister, 4000, (void* memory))                                                        \
  X(cuMemHostGetFlags, 2030, (uint32_t * flags, void* memory))                                        \
  X(cuMemcpyHtoDAsync, 3020, (CudaAddress to, const void* from, size_t bytes, CudaStream stream))     \
  X(cuMemcpyDtoDAsync, 3020, (CudaAddress to, CudaAddress from, size_t bytes, CudaStream stream))     \
  X(cuStreamCreate, 2000, (CudaStream * stream, uint32_t flags))                                      \
  X(cuStreamDestroy, 4000, (CudaStream stream))                                                       \
  X(cuStreamSynchronize, 2000, (CudaStream stream))                                                   \
  X(cuStreamWaitEvent, 3020, (CudaStream stream, CudaEvent event, uint32_t flags))                    \
  X(cuStreamGetCtx, 9020, (CudaStream stream, CudaContextHandle * context))                           \
  X(cuStreamGetId, 12000, (CudaStream stream, unsigned long long* id))                                \
  X(cuStreamIsCapturing, 10000, (CudaStream stream, int32_t * status))                                \
  X(cuEventCreate, 2000, (CudaEvent * event, uint32_t flags))                                         \
  X(cuEventDestroy, 4000, (CudaEvent event))                                                          \
  X(cuEventRecord, 2000, (CudaEvent event, CudaStream stream))                                        \
  X(cuEventQuery, 2000, (CudaEvent event))                                                            \
  X(cuEventSynchronize, 2000, (CudaEvent event))                                                      \
  X(cuEventElapsedTime, 2000, (float* milliseconds, CudaEvent begin, CudaEvent end))                  \
  X(cuModuleLoadData, 2000, (CudaModule * module, const void* image))                                 \
  X(cuModuleUnload, 2000, (CudaModule module))                                                        \
  X(cuModuleGetFunction, 2000, (CudaFunction * function, CudaModule module, const char* name))        \
  X(cuLaunchKernel, 4000,                                                                             \
    (CudaFunction function, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z, uint32_t block_x,      \
     uint32_t block_y, uint32_t block_z, uint32_t shared_bytes, CudaStream stream, void** parameters, \
     void** extra))

namespace dataline {

// A function of the driver, and its name for messages.
template <typename... Parameters>
struct CudaEntry {
  const char* name;
  CudaCode (*function)(Parameters...) = nullptr;

  CudaCode operator()(Parameters... parameters) const { return function(parameters...); }
};
template <typename... Parameters>
CudaEntry<Parameters...> cuda_entry_type(CudaCode (*)(Parameters...));

struct CudaDriver {
  int32_t version = 0;  // 13000 is 13.0

#define DL_CUDA_MEMBER(name, min_version, parameters) \
  decltype(cuda_entry_type(static_cast<CudaCode(*) parameters>(nullptr))) name = {#name};
  DL_CUDA_ENTRY_POINTS(DL_CUDA_MEMBER)
#undef DL_CUDA_MEMBER
};

std::string cuda_version_text(int32_t version);  // "13.0"

// `library` empty: libcuda.so.1, which on Windows stands for nvcuda.dll. kNoDevice names the missing library, entry point or minimum version.
Result<std::shared_ptr<const CudaDriver>> open_cuda_driver(std::string_view library);

}  // namespace dataline
