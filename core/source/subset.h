// Chosen samples of a dataset, in a chosen order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "core/memory/host_memory.h"
#include "core/source/host_owner.h"
#include "core/source/source.h"

namespace dataline {

// Sample i of the result is sample indices[i] of `source`; an index may occur more than once. Borrowed with
// `owner`, else copied into `memory` (kTable). kOutOfRange names the place and value of a bad index; one that
// the host changes later into a bad one fails its row with the same text.
Result<SourceRef> subset_source(SourceRef source, std::span<const int64_t> indices, HostOwner owner,
                                HostMemory& memory);

}  // namespace dataline
