// SPDX-License-Identifier: Apache-2.0
#include "core/device/kernel_set.h"

#include <algorithm>
#include <utility>

#include "core/device/kernels/kernel_call.h"

#if defined(DATALINE_KERNEL_IMAGE)
// The assembler's .incbin takes the file in: no huge array to compile, and no exported symbol.
// clang-format off
asm(".pushsection .rodata.dataline_kernels, \"a\"\n"
    ".balign 64\n"
    ".globl dataline_kernel_image_begin\n.hidden dataline_kernel_image_begin\ndataline_kernel_image_begin:\n"
    ".incbin \"" DATALINE_KERNEL_IMAGE "\"\n"
    ".globl dataline_kernel_image_end\n.hidden dataline_kernel_image_end\ndataline_kernel_image_end:\n"
    ".popsection\n");
// clang-format on

// NOLINTBEGIN(readability-identifier-naming): names of the assembler
extern "C" [[gnu::visibility("hidden")]] const std::byte dataline_kernel_image_begin[];
extern "C" [[gnu::visibility("hidden")]] const std::byte dataline_kernel_image_end[];
// NOLINTEND(readability-identifier-naming)
#endif

namespace dataline {
namespace {

// Blocks per multiprocessor. Threads loop over chunks, so a few waves of blocks hide the tail of the launch; more only
// cost start-up time.
constexpr int64_t kBlocksEach = 32;

bool is_fatal(const Status& status) {
  return status.code() == Code::kDeviceLost || status.code() == Code::kForked ||
         status.code() == Code::kNoMemory;
}

}  // namespace

std::span<const std::byte> kernel_image() {
#if defined(DATALINE_KERNEL_IMAGE)
  return {&dataline_kernel_image_begin[0], &dataline_kernel_image_end[0]};
#else
  return {};
#endif
}

Status KernelSet::load(CudaContext& context, std::span<const std::byte> image) {
  if (image.empty()) return Status::ok();
  const CudaDriver& driver = context.driver();
  CudaOrdinal device = 0;
  int32_t multiprocessors = 0;
  DL_RETURN_IF_ERROR(context.call(driver.cuDeviceGet, &device, context.ordinal()));
  DL_RETURN_IF_ERROR(
      context.call(driver.cuDeviceGetAttribute, &multiprocessors, kCudaAttributeMultiprocessors, device));
  max_blocks_ = std::max(1, multiprocessors) * kBlocksEach;
  Status status = context.call(driver.cuModuleLoadData, &module_, image.data());
  functions_.assign(kernel_names().size(), nullptr);
  for (size_t i = 0; status.is_ok() && i < functions_.size(); ++i)
    status = context.call(driver.cuModuleGetFunction, &functions_[i], module_, kernel_names()[i]);
  if (is_fatal(status)) return status;
  why_not_ = status.is_ok() ? "" : "the kernels do not load: " + std::string(status.message());
  return Status::ok();
}

void KernelSet::unload(CudaContext& context) noexcept {
  if (module_ == nullptr) return;
  static_cast<void>(context.call(context.driver().cuModuleUnload, module_));
  module_ = nullptr;
}

bool KernelSet::runs(const Tail& tail) const { return why_not_.empty() && kernel_of(tail).has_value(); }

Status KernelSet::launch(CudaContext& context, CudaStream stream, std::byte* slot,
                         const TailCall& call) const {
  if (!why_not_.empty()) return error(Code::kUnsupported, why_not_);
  const KernelLaunch launch = kernel_launch(call, slot);
  for (int64_t first = 0; first < launch.rows; first += launch.rows_each) {
    KernelParams params = launch.part(first);
    const int64_t chunks = launch.chunks(params);
    const auto blocks =
        static_cast<uint32_t>(std::min((chunks + kBlockThreads - 1) / kBlockThreads, max_blocks_));
    void* arguments[] = {&params};
    DL_RETURN_IF_ERROR(context.call(context.driver().cuLaunchKernel, functions_[launch.kernel], blocks, 1, 1,
                                    kBlockThreads, 1, 1, 0, stream, &arguments[0], nullptr));
  }
  return Status::ok();
}

}  // namespace dataline
