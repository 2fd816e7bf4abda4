// Stands in for LibTorch's header of that name, in torch_device_test.cpp alone: LibTorch for the CPU makes tensors of
// device CUDA, but has no streams. The current one is what the test says.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>

#include <array>

namespace c10::cuda {

class CUDAStream {
 public:
  explicit CUDAStream(void* stream) : stream_(stream) {}
  void* stream() const { return stream_; }

 private:
  void* stream_;
};

inline std::array<void*, 4> current_streams{};  // by device
inline DeviceIndex current_ordinal = 0;

inline DeviceIndex current_device() { return current_ordinal; }
inline CUDAStream getCurrentCUDAStream(DeviceIndex index) {
  return CUDAStream(current_streams.at(static_cast<size_t>(index)));
}

}  // namespace c10::cuda
