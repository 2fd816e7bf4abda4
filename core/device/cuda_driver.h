// The CUDA driver, opened at run time, so that one binary runs with and without a GPU. Opening does not initialize it. It
// is never closed: drivers do not survive dlclose.
// Threads: immutable once open.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/device/cuda_api.h"

namespace dataline {

struct CudaDriver {
  int32_t version = 0;  // 13000 is 13.0

#define DL_CUDA_MEMBER(name, min_version, parameters) CudaCode(*name) parameters = nullptr;
  DL_CUDA_ENTRY_POINTS(DL_CUDA_MEMBER)
#undef DL_CUDA_MEMBER
};

std::string cuda_version_text(int32_t version);  // "13.0"

// `library` empty: libcuda.so.1. kNoDevice names the missing library, entry point or minimum version.
Result<std::shared_ptr<const CudaDriver>> open_cuda_driver(std::string_view library);

}  // namespace dataline
