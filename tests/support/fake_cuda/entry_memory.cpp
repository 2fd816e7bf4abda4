// Memory of the device, and copies between it and the host's. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "tests/support/fake_cuda/world.h"

using namespace fake_cuda;

namespace {

// Of what a copy reads: the host may change it only once the copy is done.
uint64_t digest(const void* memory, size_t bytes) {
  const auto* at = static_cast<const unsigned char*>(memory);
  uint64_t sum = bytes;
  for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, at + i, std::min(sizeof word, bytes - i));
    sum = (sum ^ word) * 0x9E3779B97F4A7C15U;
    sum ^= sum >> 29;
  }
  return sum;
}

// The range must be in a live allocation of the current device when the call is made.
bool check_range(Call& call, CUdeviceptr address, size_t bytes) {
  const Allocation* found = call.w.memory.find(address, bytes);
  if (found == nullptr) {
    const char* kind = call.w.memory.was_freed(address) ? "use-after-free" : "illegal-address";
    call.wrong(kind, std::to_string(bytes) + " bytes that are in no allocation");
    call.code = kInvalidValue;
  } else if (found->device != call.device) {
    call.wrong("wrong-context", "the memory is of device " + std::to_string(found->device));
  }
  return call.code == kSuccess;
}

Operation copy_operation(int32_t kind, CUdeviceptr address, const void* host, size_t bytes) {
  Operation operation;
  operation.told.kind = kind;
  operation.told.address = address;
  operation.told.host = reinterpret_cast<uint64_t>(host);
  operation.told.bytes = static_cast<int64_t>(bytes);
  return operation;
}

CUresult allocate(Call& call, CUdeviceptr* address, size_t bytes) {
  if (call.code != kSuccess) return call.code;
  if (bytes == 0) return kInvalidValue;
  if (bytes > call.w.free_bytes(call.device)) return kOutOfMemory;
  const Allocation* made = call.w.memory.allocate(call.device, bytes);
  if (made == nullptr) return kOutOfMemory;
  *address = made->address;
  return kSuccess;
}

bool is_start(Call& call, CUdeviceptr address) {
  const Allocation* found = call.w.memory.find(address, 1);
  if (found != nullptr && found->address == address) return true;
  call.wrong(call.w.memory.was_freed(address) ? "freed-twice" : "illegal-address",
             "no allocation starts there");
  call.code = kInvalidValue;
  return false;
}

// Whether copies take the range as pinned in the current context: it was registered there, or for all.
bool is_pinned(const Call& call, const void* memory, size_t bytes) {
  constexpr unsigned kPortable = 1;
  if (call.w.host.cover(memory, bytes) != HostRanges::Cover::kWhole) return false;
  const HostRanges::Range* range = call.w.host.find(memory);
  return range->device == call.device || (range->flags & kPortable) != 0;
}

// Host memory of a copy; false: refused.
bool check_host(Call& call, const void* memory, size_t bytes, bool* pinned) {
  const HostRanges::Cover cover = call.w.host.cover(memory, bytes);
  *pinned = is_pinned(call, memory, bytes);
  if (cover == HostRanges::Cover::kPart) {
    call.wrong("unpinned-copy", "only a part of the host range is registered, or it spans two registrations");
    call.code = kInvalidValue;
  } else if (!*pinned && call.w.require_pinned) {
    call.wrong("unpinned-copy", "the host range is not registered, or not for this device");
  }
  return call.code == kSuccess;
}

// A copy to the device. What is not registered is read at once, as the driver's staging does.
void queue_upload(Call& call, Stream& stream, CUdeviceptr to, const void* from, size_t bytes, bool pinned) {
  Operation operation = copy_operation(FAKE_CUDA_COPY_TO_DEVICE, to, from, bytes);
  operation.told.pinned = pinned ? 1 : 0;
  World& w = call.w;
  const uint32_t id = stream.id;
  if (pinned) {
    operation.run = [&w, id, to, from, bytes, before = digest(from, bytes)](Operation& self) {
      if (w.host.cover(from, bytes) != HostRanges::Cover::kWhole)
        w.misuse("unpinned-copy: the host range was unregistered while a copy was to read it");
      if (digest(from, bytes) != before)
        w.misuse("host-rewritten: the host changed what a copy was still to read");
      std::memcpy(use_range(w, self, id, to, bytes, true, "a copy to the device"), from, bytes);
    };
  } else {
    const auto* bytes_of = static_cast<const std::byte*>(from);
    operation.run = [&w, id, to,
                     staged = std::vector<std::byte>(bytes_of, bytes_of + bytes)](Operation& self) {
      std::memcpy(use_range(w, self, id, to, staged.size(), true, "a copy to the device"), staged.data(),
                  staged.size());
    };
  }
  queue_operation(w, stream, std::move(operation));
}

std::shared_ptr<Mark> queue_download(Call& call, Stream& stream, void* to, CUdeviceptr from, size_t bytes,
                                     bool pinned) {
  Operation operation = copy_operation(FAKE_CUDA_COPY_TO_HOST, from, to, bytes);
  operation.told.pinned = pinned ? 1 : 0;
  operation.mark = std::make_shared<Mark>();
  auto mark = operation.mark;
  World& w = call.w;
  const uint32_t id = stream.id;
  operation.run = [&w, id, to, from, bytes](Operation& self) {
    std::memcpy(to, use_range(w, self, id, from, bytes, false, "a copy to the host"), bytes);
  };
  queue_operation(w, stream, std::move(operation));
  return mark;
}

void wait_mark(Call& call, const std::shared_ptr<Mark>& mark) {
  call.wait([&] { return mark->done; });
  if (call.code == kSuccess) call.w.host_clock.join(mark->clock);
}

}  // namespace

CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
  Call call("cuMemGetInfo");
  if (call.code != kSuccess) return call.code;
  *total = call.w.devices[static_cast<size_t>(call.device)].bytes;
  *free = call.w.free_bytes(call.device);
  return kSuccess;
}

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  Call call("cuMemAlloc");
  call.blocks();
  return allocate(call, address, bytes);
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  Call call("cuMemFree");
  call.blocks();
  if (call.code != kSuccess || !is_start(call, address)) return call.code;
  std::string fault = use_by_host(*call.w.memory.find(address, 1), call.w.host_clock);
  if (!fault.empty()) call.w.misuse(std::move(fault));
  call.w.memory.free(address);
  return kSuccess;
}

CUresult cuMemAllocAsync(CUdeviceptr* address, size_t bytes, CUstream stream_handle) {
  Call call("cuMemAllocAsync");
  if (call.code == kSuccess && !call.w.memory_pools) return kNotSupported;
  Stream* stream = call.to_queue(stream_handle);
  if (stream == nullptr) return call.code;
  const CUresult code = allocate(call, address, bytes);
  if (code != kSuccess) return code;
  Operation operation = copy_operation(FAKE_CUDA_ALLOCATE, *address, nullptr, bytes);
  World& w = call.w;
  operation.run = [&w, id = stream->id, at = *address, bytes](Operation& self) {
    static_cast<void>(use_range(w, self, id, at, bytes, true, "an allocation"));
  };
  queue_operation(w, *stream, std::move(operation));
  return kSuccess;
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream_handle) {
  Call call("cuMemFreeAsync");
  if (call.code == kSuccess && !call.w.memory_pools) return kNotSupported;
  Stream* stream = call.to_queue(stream_handle);
  if (stream == nullptr || !is_start(call, address)) return call.code;
  const uint64_t bytes = call.w.memory.find(address, 1)->bytes;
  Operation operation = copy_operation(FAKE_CUDA_FREE, address, nullptr, bytes);
  World& w = call.w;
  operation.run = [&w, id = stream->id, address, bytes](Operation& self) {
    static_cast<void>(use_range(w, self, id, address, bytes, true, "a free"));
    w.memory.free(address);
  };
  queue_operation(w, *stream, std::move(operation));
  return kSuccess;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream_handle) {
  Call call("cuMemcpyHtoDAsync");
  Stream* stream = call.to_queue(stream_handle);
  bool pinned = false;
  if (stream == nullptr || !check_range(call, to, bytes) || !check_host(call, from, bytes, &pinned))
    return call.code;
  queue_upload(call, *stream, to, from, bytes, pinned);
  return kSuccess;
}

CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream_handle) {
  Call call("cuMemcpyDtoHAsync");
  Stream* stream = call.to_queue(stream_handle);
  if (stream == nullptr || !check_range(call, from, bytes)) return call.code;
  const bool pinned = is_pinned(call, to, bytes);
  if (!pinned && stream->capture != nullptr) {
    call.refuse(kCaptureUnsupported, stream->capture);
    return call.code;
  }
  const auto mark = queue_download(call, *stream, to, from, bytes, pinned);
  if (pinned) return kSuccess;
  call.blocks();  // as the driver: into pageable memory the call waits
  wait_mark(call, mark);
  return call.code;
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream_handle) {
  Call call("cuMemcpyDtoDAsync");
  Stream* stream = call.to_queue(stream_handle);
  if (stream == nullptr || !check_range(call, to, bytes) || !check_range(call, from, bytes)) return call.code;
  Operation operation = copy_operation(FAKE_CUDA_COPY_ON_DEVICE, to, nullptr, bytes);
  World& w = call.w;
  operation.run = [&w, id = stream->id, to, from, bytes](Operation& self) {
    const std::byte* source = use_range(w, self, id, from, bytes, false, "a copy's read");
    std::memcpy(use_range(w, self, id, to, bytes, true, "a copy's write"), source, bytes);
  };
  queue_operation(w, *stream, std::move(operation));
  return kSuccess;
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) {
  Call call("cuMemcpyHtoD");
  call.blocks();
  Stream* stream = call.to_queue(nullptr);
  if (stream == nullptr || !check_range(call, to, bytes)) return call.code;
  queue_upload(call, *stream, to, from, bytes, false);
  const auto held = stream->shared_from_this();
  call.wait([&] { return held->queue.empty(); });
  call.w.host_clock.join(held->clock);
  return call.code;
}

CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
  Call call("cuMemcpyDtoH");
  call.blocks();
  Stream* stream = call.to_queue(nullptr);
  if (stream == nullptr || !check_range(call, from, bytes)) return call.code;
  wait_mark(call, queue_download(call, *stream, to, from, bytes, false));
  return call.code;
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream_handle) {
  Call call("cuMemsetD8Async");
  Stream* stream = call.to_queue(stream_handle);
  if (stream == nullptr || !check_range(call, to, bytes)) return call.code;
  Operation operation = copy_operation(FAKE_CUDA_SET, to, nullptr, bytes);
  World& w = call.w;
  operation.run = [&w, id = stream->id, to, value, bytes](Operation& self) {
    std::memset(use_range(w, self, id, to, bytes, true, "a set"), value, bytes);
  };
  queue_operation(w, *stream, std::move(operation));
  return kSuccess;
}

CUresult cuPointerGetAttribute(void* value, int attribute, CUdeviceptr address) {
  constexpr int kMemoryType = 2, kOrdinal = 9, kDeviceMemory = 2;
  Call call("cuPointerGetAttribute", Needs::kDriver);
  if (call.code != kSuccess) return call.code;
  const Allocation* found = call.w.memory.find(address, 1);
  if (found == nullptr) return kInvalidValue;
  if (attribute != kMemoryType && attribute != kOrdinal) return kInvalidValue;
  *static_cast<int*>(value) = attribute == kMemoryType ? kDeviceMemory : found->device;
  return kSuccess;
}
