// The driver's start, its devices and contexts. SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "tests/support/fake_cuda/world.h"

using namespace fake_cuda;

namespace {

constexpr bool kNoContext = false;
constexpr int kAttributeMemoryPools = 115, kAttributeMajor = 75, kAttributeMinor = 76;

bool known_device(Call& call, CUdevice device) {
  if (device >= 0 && device < static_cast<CUdevice>(call.w.devices.size())) return true;
  call.wrong("unknown-device", std::to_string(device));
  call.code = kInvalidDevice;
  return false;
}

// The device of a context's handle, or -1.
int32_t device_of(Call& call, CUcontext context) {
  for (size_t i = 0; i < call.w.devices.size(); ++i) {
    if (context_of(static_cast<int32_t>(i)) == context && call.w.devices[i].retained > 0)
      return static_cast<int32_t>(i);
  }
  call.wrong("wrong-context", "released, or never retained");
  call.code = kInvalidContext;
  return -1;
}

}  // namespace

CUresult cuInit(unsigned) {
  Call call("cuInit", kNoContext);
  if (call.code != kSuccess) return call.code;
  if (call.w.devices.empty()) return kNoDevice;
  call.w.initialized = true;
  return kSuccess;
}

CUresult cuDriverGetVersion(int* version) {
  Call call("cuDriverGetVersion", kNoContext);
  if (call.code == kSuccess) *version = call.w.version;
  return call.code;
}

CUresult cuGetErrorName(CUresult code, const char** name) {
  Call call("cuGetErrorName", kNoContext);
  if (call.code != kSuccess) return call.code;
  static const std::map<CUresult, const char*> kNames{{1, "CUDA_ERROR_INVALID_VALUE"},
                                                      {2, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                      {100, "CUDA_ERROR_NO_DEVICE"},
                                                      {201, "CUDA_ERROR_INVALID_CONTEXT"},
                                                      {400, "CUDA_ERROR_INVALID_HANDLE"},
                                                      {712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED"},
                                                      {801, "CUDA_ERROR_NOT_SUPPORTED"},
                                                      {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
                                                      {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
                                                      {905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION"}};
  const auto found = kNames.find(code);
  *name = found == kNames.end() ? nullptr : found->second;
  return found == kNames.end() ? kInvalidValue : kSuccess;
}

CUresult cuGetErrorString(CUresult code, const char** text) { return cuGetErrorName(code, text); }

CUresult cuDeviceGetCount(int* count) {
  Call call("cuDeviceGetCount", kNoContext);
  if (call.code == kSuccess) *count = static_cast<int>(call.w.devices.size());
  return call.code;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  Call call("cuDeviceGet", kNoContext);
  if (call.code == kSuccess && known_device(call, ordinal)) *device = ordinal;
  return call.code;
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  Call call("cuDeviceGetName", kNoContext);
  if (call.code == kSuccess && known_device(call, device))
    std::strncpy(name, "Fake Device", static_cast<size_t>(length));
  return call.code;
}

CUresult cuDeviceGetAttribute(int* value, int attribute, CUdevice device) {
  Call call("cuDeviceGetAttribute", kNoContext);
  if (call.code != kSuccess || !known_device(call, device)) return call.code;
  *value = attribute == kAttributeMemoryPools ? (call.w.memory_pools ? 1 : 0)
           : attribute == kAttributeMajor     ? 9
           : attribute == kAttributeMinor     ? 0
                                              : 1;
  return kSuccess;
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  Call call("cuDeviceTotalMem", kNoContext);
  if (call.code == kSuccess && known_device(call, device))
    *bytes = call.w.devices[static_cast<size_t>(device)].bytes;
  return call.code;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  Call call("cuDevicePrimaryCtxGetState", kNoContext);
  if (call.code != kSuccess || !known_device(call, device)) return call.code;
  *flags = 0;
  *active = call.w.devices[static_cast<size_t>(device)].retained > 0 ? 1 : 0;
  return kSuccess;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  Call call("cuDevicePrimaryCtxRetain", kNoContext);
  call.blocks();
  if (call.code != kSuccess || !known_device(call, device)) return call.code;
  Device& d = call.w.devices[static_cast<size_t>(device)];
  if (d.lost != kSuccess) return call.tell(device);
  ++d.retained;
  *context = context_of(device);
  return kSuccess;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  Call call("cuDevicePrimaryCtxRelease", kNoContext);
  call.blocks();
  if (call.code != kSuccess || !known_device(call, device)) return call.code;
  Device& d = call.w.devices[static_cast<size_t>(device)];
  if (d.retained == 0) {
    call.wrong("released-twice", "the context is not retained");
    return kInvalidContext;
  }
  --d.retained;
  return kSuccess;
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  Call call("cuCtxGetCurrent", kNoContext);
  if (call.code == kSuccess) *context = call.device < 0 ? nullptr : context_of(call.device);
  return call.code;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  Call call("cuCtxSetCurrent", kNoContext);
  if (call.code != kSuccess) return call.code;
  auto& stack = context_stack();
  const int32_t device = context == nullptr ? -1 : device_of(call, context);
  if (call.code != kSuccess) return call.code;
  if (!stack.empty()) stack.pop_back();
  if (device >= 0) stack.push_back(device);
  return kSuccess;
}

CUresult cuCtxGetDevice(CUdevice* device) {
  Call call("cuCtxGetDevice");
  if (call.code == kSuccess) *device = call.device;
  return call.code;
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  Call call("cuCtxPushCurrent", kNoContext);
  if (call.code != kSuccess) return call.code;
  const int32_t device = device_of(call, context);
  if (device < 0) return call.code;
  if (call.w.devices[static_cast<size_t>(device)].lost != kSuccess) return call.tell(device);
  context_stack().push_back(device);
  return kSuccess;
}

CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  Call call("cuCtxPopCurrent", kNoContext);
  if (call.in_child()) return call.code;
  auto& stack = context_stack();
  if (stack.empty()) {
    call.wrong("wrong-context", "nothing to pop");
    return kInvalidContext;
  }
  *context = context_of(stack.back());
  stack.pop_back();  // whatever else went wrong: it only changes the thread
  return call.code;
}
