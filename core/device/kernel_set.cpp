// SPDX-License-Identifier: Apache-2.0
#include "core/device/kernel_set.h"

#include <algorithm>
#include <mutex>
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

// Why this driver and device do not take the image, for a user who may change one of the three.
std::string refusal(CudaContext& context, const KernelImage& image, int32_t capability, CudaCode code) {
  const int32_t version = context.driver().version, least = image.cuda / 1000 * 1000;
  const std::string driver = concat(" driver; this one is ", cuda_version_text(version));
  const std::string device = concat("; this device is sm_", capability);
  std::string why =
      concat("the kernels were compiled by CUDA ", cuda_version_text(image.cuda), " for ", image.code);
  if (version < least)
    why += concat(" and need a CUDA ", cuda_version_text(least), driver);
  else if (code == kCudaUnsupportedPtxVersion)
    why += concat(device, ", for which their PTX needs a CUDA ", cuda_version_text(image.cuda), driver);
  else
    why += concat(device, ", and its driver ", cuda_version_text(version));
  return concat(why, " (cuModuleLoadData: ", context.code_text(code), ")");
}

}  // namespace

KernelImage kernel_image() {
#if defined(DATALINE_KERNEL_IMAGE)
  return {.bytes = {&dataline_kernel_image_begin[0], &dataline_kernel_image_end[0]},
          .cuda = DATALINE_KERNEL_CUDA,
          .code = DATALINE_KERNEL_CODE};
#else
  return {};
#endif
}

Status KernelSet::load(CudaContext& context, const KernelImage& image) {
  if (image.bytes.empty()) return Status::ok();
  const CudaDriver& driver = context.driver();
  CudaOrdinal device = 0;
  int32_t multiprocessors = 0, major = 0, minor = 0;
  const auto ask = [&](int32_t attribute, int32_t& value) {
    return context.call(driver.cuDeviceGetAttribute, &value, attribute, device);
  };
  DL_RETURN_IF_ERROR(context.call(driver.cuDeviceGet, &device, context.ordinal()));
  DL_RETURN_IF_ERROR(ask(kCudaAttributeMultiprocessors, multiprocessors));
  DL_RETURN_IF_ERROR(ask(kCudaAttributeCapabilityMajor, major));
  DL_RETURN_IF_ERROR(ask(kCudaAttributeCapabilityMinor, minor));
  max_blocks_ = std::max(1, multiprocessors) * kBlocksEach;
  const CudaCode code = context.ask(driver.cuModuleLoadData, &module_, image.bytes.data());
  if (!context.usable()) return context.unusable();
  if (code == kCudaOutOfMemory) return context.failed("cuModuleLoadData", code);
  why_not_ = code == kCudaSuccess ? "" : refusal(context, image, major * 10 + minor, code);
  functions_.assign(kernel_names().size(), nullptr);
  return Status::ok();
}

Status KernelSet::prepare(CudaContext& context, std::byte* slot, std::span<const TailCall> calls) {
  const CudaDriver& driver = context.driver();
  SideStream& side = context.side(0);
  const std::lock_guard lock(side.mutex);
  Status status;
  for (TailCall call : calls) {
    call.rows = 1;
    const size_t kernel = kernel_launch(call, slot).kernel;
    CudaFunction& function = functions_[kernel];
    if (function != nullptr) continue;
    status = context.call(driver.cuModuleGetFunction, &function, module_, kernel_names()[kernel]);
    // A launch without rows, which does nothing, loads it in every driver; cuFuncLoad is only in those from 12.4 on.
    KernelParams nothing = {};
    void* arguments[] = {&nothing};
    if (status.is_ok())
      status = context.call(driver.cuLaunchKernel, function, 1, 1, 1, kBlockThreads, 1, 1, 0, side.stream,
                            &arguments[0], nullptr);
    if (!status.is_ok()) break;
  }
  if (status.is_ok() && !calls.empty()) status = context.call(driver.cuStreamSynchronize, side.stream);
  if (status.code() != Code::kNoMemory) return status;
  return error(Code::kNoMemory, "no device memory is left for the kernels: ", status.message());
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
  if (functions_[launch.kernel] == nullptr)
    return error(Code::kInternal, kernel_names()[launch.kernel], " was not prepared");
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
