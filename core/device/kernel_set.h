// The kernels of a device: which tails they support, and their launch.
// Threads: load() and prepare() before anything else; then immutable until unload(), after which nothing is launched.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/device/cuda_context.h"
#include "core/device/device.h"

namespace dataline {

// The compiled kernels, and what the build knows of them: a driver that refuses them does not say why.
struct KernelImage {
  std::span<const std::byte> bytes;  // a fat binary; empty in a build without the CUDA compiler
  // The compiler's version: 12000 is 12.0. Code runs with drivers from 12.0 on then, PTX with those of this version on.
  int32_t cuda = 0;
  std::string_view code = {};  // "sm_75 sm_80"
};
KernelImage kernel_image();

class KernelSet {
 public:
  // Loads `image` into the current context. With an empty image (a build without kernels), or one that the driver or device
  // rejects, no tail runs and why_not() says why.
  Status load(CudaContext& context, const KernelImage& image);
  // Makes ready what launch() of these calls takes, in a slot like this: drivers load a function at its first launch, when
  // device memory may have run out in the meantime. kNoMemory if it has now. The context must be current.
  Status prepare(CudaContext& context, std::byte* slot, std::span<const TailCall> calls);
  void unload(CudaContext& context) noexcept;

  const std::string& why_not() const { return why_not_; }  // empty: kernels are loaded
  bool runs(const Tail& tail) const;
  // Queues one call that prepare() was given; its offsets are relative to `slot` in device memory. The context must be
  // current.
  Status launch(CudaContext& context, CudaStream stream, std::byte* slot, const TailCall& call) const;

 private:
  CudaModule module_ = nullptr;
  std::vector<CudaFunction> functions_;  // as kernel_names(); null: not prepared
  int64_t max_blocks_ = 1;
  std::string why_not_ = "this build has no kernels";
};

}  // namespace dataline
