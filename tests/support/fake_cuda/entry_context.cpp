// The driver's start, its devices and contexts. SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "tests/support/fake_cuda/world.h"

using namespace fake_cuda;

namespace {

enum Attribute {
  kMultiprocessors = 16,
  kIntegrated = 18,
  kCanMapHostMemory = 19,
  kMajor = 75,
  kMinor = 76,
  kHostRegisterSupported = 99,
  kMemoryPools = 115
};

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

CUresult cuInit(unsigned flags) {
  Call call("cuInit", Needs::kNothing);
  if (call.code != kSuccess) return call.code;
  if (flags != 0) return kInvalidValue;
  if (call.w.devices.empty()) return kNoDevice;
  call.w.initialized = true;
  return kSuccess;
}

CUresult cuDriverGetVersion(int* version) {
  Call call("cuDriverGetVersion", Needs::kNothing);
  if (call.code == kSuccess) *version = call.w.version;
  return call.code;
}

CUresult cuGetErrorName(CUresult code, const char** name) {
  Call call("cuGetErrorName", Needs::kNothing);
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
  Call call("cuDeviceGetCount", Needs::kDriver);
  if (call.code == kSuccess) *count = static_cast<int>(call.w.devices.size());
  return call.code;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  Call call("cuDeviceGet", Needs::kDriver);
  if (call.code == kSuccess && known_device(call, ordinal)) *device = ordinal;
  return call.code;
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  Call call("cuDeviceGetName", Needs::kDriver);
  if (call.code == kSuccess && known_device(call, device))
    std::strncpy(name, "Fake Device", static_cast<size_t>(length));
  return call.code;
}

CUresult cuDeviceGetAttribute(int* value, int attribute, CUdevice device) {
  Call call("cuDeviceGetAttribute", Needs::kDriver);
  if (call.code != kSuccess || !known_device(call, device)) return call.code;
  switch (attribute) {
    case kMemoryPools:
      *value = call.w.memory_pools ? 1 : 0;
      break;
    case kIntegrated:
      *value = call.w.integrated ? 1 : 0;
      break;
    case kHostRegisterSupported:
      *value = call.w.host_register ? 1 : 0;
      break;
    case kMajor:
      *value = call.w.capability / 10;
      break;
    case kMinor:
      *value = call.w.capability % 10;
      break;
    case kMultiprocessors:
    case kCanMapHostMemory:
      *value = 1;
      break;
    default:
      return kInvalidValue;
  }
  return kSuccess;
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  Call call("cuDeviceTotalMem", Needs::kDriver);
  if (call.code == kSuccess && known_device(call, device))
    *bytes = call.w.devices[static_cast<size_t>(device)].bytes;
  return call.code;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  Call call("cuDevicePrimaryCtxGetState", Needs::kDriver);
  if (call.code != kSuccess || !known_device(call, device)) return call.code;
  *flags = 0;
  *active = call.w.devices[static_cast<size_t>(device)].retained > 0 ? 1 : 0;
  return kSuccess;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  Call call("cuDevicePrimaryCtxRetain", Needs::kDriver);
  call.blocks();
  if (call.code != kSuccess || !known_device(call, device)) return call.code;
  Device& d = call.w.devices[static_cast<size_t>(device)];
  if (d.lost != kSuccess) return call.tell(device);
  ++d.retained;
  *context = context_of(device);
  return kSuccess;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  Call call("cuDevicePrimaryCtxRelease", Needs::kDriver);
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
  Call call("cuCtxGetCurrent", Needs::kDriver);
  if (call.code == kSuccess) *context = call.device < 0 ? nullptr : context_of(call.device);
  return call.code;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  Call call("cuCtxSetCurrent", Needs::kDriver);
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
  Call call("cuCtxPushCurrent", Needs::kDriver);
  if (call.code != kSuccess) return call.code;
  const int32_t device = device_of(call, context);
  if (device < 0) return call.code;
  if (call.w.devices[static_cast<size_t>(device)].lost != kSuccess) return call.tell(device);
  context_stack().push_back(device);
  return kSuccess;
}

CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  Call call("cuCtxPopCurrent", Needs::kDriver);
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
