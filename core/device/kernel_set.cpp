// SPDX-License-Identifier: Apache-2.0
#include "core/device/kernel_set.h"

namespace dataline {

Status KernelSet::load(CudaContext& context, std::span<const std::byte> image) {
  if (image.empty()) return Status::ok();
  DL_RETURN_IF_ERROR(context.call("cuModuleLoadData", context.driver().cuModuleLoadData, &module_,
                                  static_cast<const void*>(image.data())));
  return Status::ok();
}

void KernelSet::unload(CudaContext& context) noexcept {
  if (module_ == nullptr) return;
  static_cast<void>(context.call("cuModuleUnload", context.driver().cuModuleUnload, module_));
  module_ = nullptr;
}

bool KernelSet::runs(const Tail&) const { return false; }

Status KernelSet::launch(CudaContext&, CudaStream, std::byte*, const TailCall&) const {
  return error(Code::kUnsupported, why_not_);
}

}  // namespace dataline
