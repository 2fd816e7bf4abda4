// The CUDA part of dataline_torch.hpp: LibTorch's current stream.
//
// DATALINE_TORCH_CUDA is 1 if the CUDA headers of LibTorch and of the CUDA run-time are found, or if the build
// defines it. The target dataline::torch defines it; the program then links c10_cuda and torch_cuda. 0: tensors on
// a device are errors. All object files of a program must use the same value.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/version.h>

#include <cstdint>
#include <dataline.hpp>
#include <string>

#ifndef DATALINE_TORCH_CUDA
// CUDAStream.h alone is not enough: CPU packages contain it too.
#if __has_include(<c10/cuda/impl/cuda_cmake_macros.h>) && __has_include(<cuda_runtime_api.h>) && \
    __has_include(<crt/host_defines.h>)
#define DATALINE_TORCH_CUDA 1
#else
#define DATALINE_TORCH_CUDA 0
#endif
#endif

#if DATALINE_TORCH_CUDA
#include <c10/cuda/CUDAStream.h>
#endif

namespace dataline {
inline namespace DATALINE_CPP_ABI {

// The value of the option `device` for a device of LibTorch: {"device", device_option(device)}. CUDA without an
// index is LibTorch's current device. DL_ERR_UNSUPPORTED: neither the CPU nor CUDA.
inline Result<std::string> try_device_option(at::Device device) {
  if (device.is_cpu()) return std::string("cpu");
  if (!device.is_cuda()) {
    return Error(DL_ERR_UNSUPPORTED, "device '" + device.str() + "': expected cpu or cuda");
  }
  int index = device.has_index() ? device.index() : 0;
#if DATALINE_TORCH_CUDA
  if (!device.has_index()) index = c10::cuda::current_device();
#endif
  return "cuda:" + std::to_string(index);
}
inline std::string device_option(at::Device device) { return try_device_option(device).value(); }

#if DATALINE_TORCH_CUDA
// For tensors that are also used in a stream other than the current one. Call it before the first use there. Work
// queued in `stream` after this call starts when the batch is complete, and the batch's memory is not reused
// before that work is done. Replaces Tensor::record_stream, which has no effect on a batch's tensors.
inline Result<void> try_also_on(const Batch& batch, c10::cuda::CUDAStream stream) {
  return batch.try_wait(stream.stream());
}
inline void also_on(const Batch& batch, c10::cuda::CUDAStream stream) { try_also_on(batch, stream).value(); }
#endif

namespace detail {

// Makes LibTorch's current stream on the device of `view` wait for the batch. Does nothing on the cpu.
inline Result<void> wait_current([[maybe_unused]] const Batch& batch, const View& view) {
  if (view.device().is_cpu()) return {};
#if DATALINE_TORCH_CUDA
  if (view.device_type() == DL_DEVICE_CUDA) {
    const auto index = static_cast<c10::DeviceIndex>(view.device_index());
    return batch.try_wait(c10::cuda::getCurrentCUDAStream(index).stream());
  }
#endif
  return Error(DL_ERR_UNSUPPORTED, "field '" + std::string(view.name()) + "' is on " + view.device().name() +
                                       ", for which this program's LibTorch " TORCH_VERSION
                                       " has no support (DATALINE_TORCH_CUDA): load with device=cpu");
}

}  // namespace detail

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
