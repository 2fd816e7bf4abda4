// The kernels of a device: which tails they support, and their launch.
// Threads: load() once, before anything else; then immutable until unload(), after which nothing is launched.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/device/cuda_context.h"
#include "core/device/device.h"

namespace dataline {

// The compiled kernels, a fat binary (the build names its file in DATALINE_KERNEL_IMAGE); empty in a build without the
// CUDA compiler.
std::span<const std::byte> kernel_image();

class KernelSet {
 public:
  // Loads `image` (a fat binary) into the current context. With an empty image (a build without kernels), or one that the
  // driver or device rejects, no tail runs and why_not() says why.
  Status load(CudaContext& context, std::span<const std::byte> image);
  void unload(CudaContext& context) noexcept;

  const std::string& why_not() const { return why_not_; }  // empty: kernels are loaded
  bool runs(const Tail& tail) const;
  // Queues one call; its offsets are relative to `slot` in device memory. The context must be current.
  Status launch(CudaContext& context, CudaStream stream, std::byte* slot, const TailCall& call) const;

 private:
  CudaModule module_ = nullptr;
  std::vector<CudaFunction> functions_;  // as kernel_names()
  int64_t max_blocks_ = 1;
  std::string why_not_ = "this build has no kernels";
};

}  // namespace dataline
