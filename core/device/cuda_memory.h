// A device memory allocation, freed with its last user; leaked when the device is lost.
// Threads: internally synchronized; the destructor may run on any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/device/cuda_context.h"

namespace dataline {

class CudaMemory {
 public:
  // Synchronizes like cuMemAlloc: only during create. kNoMemory with the message of CudaContext::no_memory(). In both
  // functions the context must be current.
  static Result<std::shared_ptr<CudaMemory>> make(std::shared_ptr<CudaContext> context, const char* what,
                                                  int64_t bytes);
  // Allocated and freed in the order of `side`; like make() where the device has no memory pools.
  static Result<std::shared_ptr<CudaMemory>> make_in_stream(std::shared_ptr<CudaContext> context,
                                                            const char* what, int64_t bytes, CudaStream side);
  CudaMemory(std::shared_ptr<CudaContext> context, CudaAddress address, int64_t bytes, CudaStream freed_in);
  ~CudaMemory();
  CudaMemory(const CudaMemory&) = delete;
  CudaMemory& operator=(const CudaMemory&) = delete;

  CudaAddress address() const { return address_; }
  bool in_stream() const { return freed_in_ != nullptr; }
  // Never free it: it is unknown when the device has finished with it.
  void leak() { leaked_.store(true); }

 private:
  std::shared_ptr<CudaContext> context_;
  const CudaAddress address_;
  const int64_t bytes_;
  const CudaStream freed_in_;  // null: cuMemFree
  std::atomic<bool> leaked_{false};
};

inline std::byte* cuda_pointer(CudaAddress address) { return reinterpret_cast<std::byte*>(address); }
inline CudaAddress cuda_address(const std::byte* pointer) { return reinterpret_cast<CudaAddress>(pointer); }

}  // namespace dataline
