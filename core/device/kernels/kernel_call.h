// The kernel and its parameters for a tail and the location of its rows. Makes no driver calls.
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

// The names of all kernels; a kernel is an index into them.
std::span<const char* const> kernel_names();

// nullopt when no kernel supports this tail.
std::optional<size_t> kernel_of(const Tail& tail);

// One launch, or several when a call has more elements than a launch can count.
struct KernelLaunch {
  size_t kernel = 0;
  KernelParams params = {};     // from row 0 on
  int64_t rows = 0;             // of the call; contiguous rows merged into a long one count as one
  int64_t rows_each = 0;        // at most, per launch
  int64_t target_bytes = 0;     // of a row
  uint32_t chunk_elements = 1;  // per chunk (planes: pixels)

  // The parameters of the launch that begins at row `first`, and its number of chunks.
  KernelParams part(int64_t first) const;
  uint32_t chunks(const KernelParams& part) const;
};
// For a tail that kernel_of() supports. The call's offsets are relative to `slot` in device memory.
KernelLaunch kernel_launch(const TailCall& call, std::byte* slot);

constexpr uint32_t kBlockThreads = 256;

}  // namespace dataline
