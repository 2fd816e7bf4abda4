// io=device: the set lies on the device as long as the loader lives. What the host does to a sample is done once, at
// create; a batch then sends its sample indices, and where images are cropped or flipped at random their geometry, and
// kernels gather, convert and move the rows.
//
// Threads: at create only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/cancel.h"
#include "core/loader/filler.h"
#include "core/loader/pipeline.h"

namespace dataline {

// Reads every sample and sends it to `block`. `staging`: page-locked, at least staging_bytes of the plan. The first
// sample that cannot be read ends it: what the device holds has no gaps. `memory`: for what the programs keep
// meanwhile. kCancelled.
Status upload_resident(const Pipeline& pipeline, const LoaderConfig& config, const CancelToken* token,
                       std::span<std::byte> staging, WorkerScratch& scratch, HostMemory& memory,
                       DeviceBlock& block);

}  // namespace dataline
