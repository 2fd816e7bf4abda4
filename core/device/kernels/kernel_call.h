// From a tail and the place of its rows to a kernel and its parameters. Calls no driver.
// Threads: no state.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/base/tail.h"
#include "core/device/device.h"
#include "core/device/kernels/kernel_params.h"

namespace dataline {

// Names of all kernels; a kernel is an index into them.
std::span<const char* const> kernel_names();

// Nothing when no kernel does this tail.
std::optional<size_t> kernel_of(const Tail& tail);

// One launch, or several where a call has more elements than one counts.
struct KernelLaunch {
  size_t kernel = 0;
  KernelParams params = {};     // of row 0 on
  int64_t rows = 0;             // of the call; rows that one long row stands for count as one
  int64_t rows_each = 0;        // of one launch, at most
  int64_t target_bytes = 0;     // of a row
  uint32_t chunk_elements = 1;  // that a thread does at a time (of planes: pixels)

  // The parameters of the launch that begins at row `first`, and the chunks it has.
  KernelParams part(int64_t first) const;
  uint32_t chunks(const KernelParams& part) const;
};
// A tail that kernel_of() knows. `slot`: device memory that the call's offsets count from.
KernelLaunch kernel_launch(const TailCall& call, std::byte* slot);

constexpr uint32_t kBlockThreads = 256;

}  // namespace dataline
