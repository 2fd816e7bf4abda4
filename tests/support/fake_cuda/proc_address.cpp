// cuGetProcAddress: which functions there are, from which version on. SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_cuda/world.h"

using namespace fake_cuda;

namespace {

struct Entry {
  const char* name;
  int version;  // of the ABI that is exported here
  void* function;
};

#define ENTRY(name, version) \
  Entry { #name, version, reinterpret_cast < void*>(&name) }
#define ENTRY_V2(name, version) \
  Entry { #name, version, reinterpret_cast < void*>(&name##_v2) }

// The header's names for the _v2 functions would end up in the table.
#undef cuDeviceTotalMem
#undef cuDevicePrimaryCtxRelease
#undef cuCtxPushCurrent
#undef cuCtxPopCurrent
#undef cuMemGetInfo
#undef cuMemAlloc
#undef cuMemFree
#undef cuMemHostRegister
#undef cuMemcpyHtoDAsync
#undef cuMemcpyDtoHAsync
#undef cuMemcpyDtoDAsync
#undef cuMemcpyHtoD
#undef cuMemcpyDtoH
#undef cuStreamBeginCapture
#undef cuStreamDestroy
#undef cuEventDestroy

const Entry* find_entry(const std::string& name) {
  static const Entry kEntries[] = {
      ENTRY(cuInit, 2000),
      ENTRY(cuDriverGetVersion, 2020),
      ENTRY(cuGetErrorName, 6000),
      ENTRY(cuGetErrorString, 6000),
      ENTRY(cuDeviceGetCount, 2000),
      ENTRY(cuDeviceGet, 2000),
      ENTRY(cuDeviceGetName, 2000),
      ENTRY(cuDeviceGetAttribute, 2000),
      ENTRY_V2(cuDeviceTotalMem, 3020),
      ENTRY(cuDevicePrimaryCtxGetState, 7000),
      ENTRY(cuDevicePrimaryCtxRetain, 7000),
      ENTRY_V2(cuDevicePrimaryCtxRelease, 11000),
      ENTRY(cuCtxGetCurrent, 4000),
      ENTRY(cuCtxSetCurrent, 4000),
      ENTRY(cuCtxGetDevice, 2000),
      ENTRY_V2(cuCtxPushCurrent, 4000),
      ENTRY_V2(cuCtxPopCurrent, 4000),
      ENTRY(cuCtxSynchronize, 2000),
      ENTRY(cuThreadExchangeStreamCaptureMode, 10010),
      ENTRY_V2(cuMemGetInfo, 3020),
      ENTRY_V2(cuMemAlloc, 3020),
      ENTRY_V2(cuMemFree, 3020),
      ENTRY(cuMemAllocAsync, 11020),
      ENTRY(cuMemFreeAsync, 11020),
      ENTRY_V2(cuMemHostRegister, 6050),
      ENTRY(cuMemHostUnregister, 4000),
      ENTRY(cuMemHostGetFlags, 2030),
      ENTRY_V2(cuMemcpyHtoDAsync, 3020),
      ENTRY_V2(cuMemcpyDtoHAsync, 3020),
      ENTRY_V2(cuMemcpyDtoDAsync, 3020),
      ENTRY_V2(cuMemcpyHtoD, 3020),
      ENTRY_V2(cuMemcpyDtoH, 3020),
      ENTRY(cuMemsetD8Async, 3020),
      ENTRY(cuPointerGetAttribute, 4000),
      ENTRY(cuStreamCreate, 2000),
      ENTRY_V2(cuStreamDestroy, 4000),
      ENTRY(cuStreamQuery, 2000),
      ENTRY(cuStreamSynchronize, 2000),
      ENTRY(cuStreamWaitEvent, 3020),
      ENTRY(cuStreamGetCtx, 9020),
      ENTRY(cuStreamGetId, 12000),
      ENTRY_V2(cuStreamBeginCapture, 10010),
      ENTRY(cuStreamEndCapture, 10000),
      ENTRY(cuStreamIsCapturing, 10000),
      ENTRY(cuGraphDestroy, 10000),
      ENTRY(cuEventCreate, 2000),
      ENTRY_V2(cuEventDestroy, 4000),
      ENTRY(cuEventRecord, 2000),
      ENTRY(cuEventQuery, 2000),
      ENTRY(cuEventSynchronize, 2000),
      ENTRY(cuEventElapsedTime, 2000),
      ENTRY(cuModuleLoadData, 2000),
      ENTRY(cuModuleUnload, 2000),
      ENTRY(cuModuleGetFunction, 2000),
      ENTRY(cuLaunchKernel, 4000),
  };
  for (const Entry& entry : kEntries) {
    if (name == entry.name) return &entry;
  }
  return nullptr;
}

}  // namespace

CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, uint64_t, int* found) {
  enum { kFound = 0, kUnknown = 1, kTooOld = 2 };
  Call call("cuGetProcAddress", Needs::kNothing);
  if (call.code != kSuccess) return call.code;
  const Entry* entry = call.w.hidden.count(symbol) != 0 ? nullptr : find_entry(symbol);
  *function = nullptr;
  if (found != nullptr) *found = entry == nullptr ? kUnknown : kFound;
  if (entry == nullptr) return kNotFound;
  // An older version would be another signature, a newer one is not what its caller declared.
  if (version != entry->version && version != call.w.version) {
    call.wrong("wrong-version", std::string(symbol) + " of version " + std::to_string(version));
    if (found != nullptr) *found = kTooOld;
    return kNotFound;
  }
  *function = entry->function;
  return kSuccess;
}
