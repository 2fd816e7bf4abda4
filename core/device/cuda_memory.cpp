// SPDX-License-Identifier: Apache-2.0
#include "core/device/cuda_memory.h"

#include <algorithm>
#include <utility>

namespace dataline {
namespace {

// The driver refuses allocations of 0 bytes.
size_t at_least_one(int64_t bytes) { return static_cast<size_t>(std::max<int64_t>(bytes, 1)); }

Result<std::shared_ptr<CudaMemory>> finish(std::shared_ptr<CudaContext> context, const char* what,
                                           int64_t bytes, Status status, CudaAddress address,
                                           CudaStream freed_in) {
  if (status.code() == Code::kNoMemory) return context->no_memory(what, bytes);
  if (!status.is_ok()) return status;
  return std::make_shared<CudaMemory>(std::move(context), address, bytes, freed_in);
}

}  // namespace

Result<std::shared_ptr<CudaMemory>> CudaMemory::make(std::shared_ptr<CudaContext> context, const char* what,
                                                     int64_t bytes) {
  CudaAddress address = 0;
  Status status = context->call("cuMemAlloc", context->driver().cuMemAlloc, &address, at_least_one(bytes));
  return finish(std::move(context), what, bytes, std::move(status), address, nullptr);
}

Result<std::shared_ptr<CudaMemory>> CudaMemory::make_in_stream(std::shared_ptr<CudaContext> context,
                                                               const char* what, int64_t bytes,
                                                               CudaStream side) {
  if (!context->memory_pools()) return make(std::move(context), what, bytes);
  CudaAddress address = 0;
  Status status = context->call("cuMemAllocAsync", context->driver().cuMemAllocAsync, &address,
                                at_least_one(bytes), side);
  return finish(std::move(context), what, bytes, std::move(status), address, side);
}

CudaMemory::CudaMemory(std::shared_ptr<CudaContext> context, CudaAddress address, int64_t bytes,
                       CudaStream freed_in)
    : context_(std::move(context)), address_(address), bytes_(bytes), freed_in_(freed_in) {
  context_->count_bytes(bytes_);
}

CudaMemory::~CudaMemory() {
  context_->count_bytes(-bytes_);
  if (leaked_.load() || !context_->usable()) return;
  CurrentContext current(*context_);
  if (!current.status().is_ok()) return;
  const CudaDriver& driver = context_->driver();
  // An error here leaks the memory; it cannot be reported.
  if (freed_in_ != nullptr) {
    static_cast<void>(context_->call("cuMemFreeAsync", driver.cuMemFreeAsync, address_, freed_in_));
  } else {
    static_cast<void>(context_->call("cuMemFree", driver.cuMemFree, address_));
  }
}

}  // namespace dataline
