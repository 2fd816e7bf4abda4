// Modules and kernels: image.cpp says which images are taken, a kernel is its twin. SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "tests/support/fake_cuda/world.h"

using namespace fake_cuda;

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  Call call("cuModuleLoadData");
  call.blocks();
  if (call.code != kSuccess) return call.code;
  if (image == nullptr) return kInvalidImage;
  const CUresult judged = judge_image(image, call.w.capability, call.w.version);
  if (judged != kSuccess) return judged;
  const uint64_t handle = kModuleBase + uint64_t{call.w.next_id++} * 16;
  call.w.modules[handle] = call.device;
  *module = handle_of<CUmodule>(handle);
  return kSuccess;
}

CUresult cuModuleUnload(CUmodule module) {
  Call call("cuModuleUnload");
  call.blocks();
  if (call.code != kSuccess) return call.code;
  const auto found = call.w.modules.find(value_of(module));
  if (found == call.w.modules.end()) {
    call.wrong("unknown-module", "unloaded, or never loaded");
    return kInvalidHandle;
  }
  Device& device = call.w.devices[static_cast<size_t>(found->second)];
  auto& functions = call.w.functions;
  for (auto function = functions.begin(); function != functions.end();) {
    if (function->second.module != found->first) {
      ++function;
      continue;
    }
    if (function->second.loaded) device.code_bytes -= kFunctionBytes;
    function = functions.erase(function);
  }
  call.w.modules.erase(found);
  return kSuccess;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  Call call("cuModuleGetFunction");
  if (call.code != kSuccess) return call.code;
  if (call.w.modules.count(value_of(module)) == 0) {
    call.wrong("unknown-module", "unloaded, or never loaded");
    return kInvalidHandle;
  }
  const std::vector<Twin>& all = twins();
  for (const Twin& twin : all) {
    if (std::strcmp(twin.name, name) != 0) continue;
    const uint64_t handle = kFunctionBase + uint64_t{call.w.next_id++} * 16;
    call.w.functions[handle] = {&twin, value_of(module), false};
    *function = handle_of<CUfunction>(handle);
    return kSuccess;
  }
  return kNotFound;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned,
                        CUstream stream_handle, void** parameters, void**) {
  Call call("cuLaunchKernel");
  Stream* stream = call.to_queue(stream_handle);
  if (stream == nullptr) return call.code;
  if (stream->device != call.device) {
    call.wrong("wrong-context", "a launch in a stream of another device");
    return kInvalidHandle;
  }
  const auto found = call.w.functions.find(value_of(function));
  if (found == call.w.functions.end()) {
    call.wrong("unknown-function", "never looked up, or its module was unloaded");
    return kInvalidHandle;
  }
  constexpr unsigned kMostThreads = 1024, kMostBlocks = 65535;
  const uint64_t threads = uint64_t{block_x} * block_y * block_z;
  if (threads == 0 || threads > kMostThreads || grid_x == 0 || grid_x > INT32_MAX || grid_y == 0 ||
      grid_y > kMostBlocks || grid_z == 0 || grid_z > kMostBlocks || block_z > 64) {
    call.wrong("bad-launch", "no device has such a grid");
    return kInvalidValue;
  }
  if (!found->second.loaded) {
    if (kFunctionBytes > call.w.free_bytes(call.device)) return kOutOfMemory;
    call.w.devices[static_cast<size_t>(call.device)].code_bytes += kFunctionBytes;
    found->second.loaded = true;
  }
  const Twin& twin = *found->second.twin;
  std::vector<std::vector<std::byte>> values;
  for (size_t i = 0; i < twin.parameter_bytes.size(); ++i) {
    const auto* from = static_cast<const std::byte*>(parameters[i]);
    values.emplace_back(from, from + twin.parameter_bytes[i]);
  }
  Operation operation;
  operation.told.kind = FAKE_CUDA_KERNEL;
  operation.run = [&twin, values = std::move(values), grid = Dimensions{grid_x, grid_y, grid_z},
                   block = Dimensions{block_x, block_y, block_z}](Operation&) mutable {
    std::vector<void*> addresses;
    for (auto& value : values) addresses.push_back(value.data());
    twin.run(addresses.data(), grid, block);
  };
  queue_operation(call.w, *stream, std::move(operation));
  return kSuccess;
}
