// Kernels in the fake: each is a function of the host that does what the kernel does, found by the kernel's name.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fake_cuda {

struct Dimensions {
  uint32_t x = 1, y = 1, z = 1;
};

struct Twin {
  const char* name;
  std::vector<size_t> parameter_bytes;  // copied when the kernel is launched, as the driver does
  void (*run)(void** parameters, Dimensions grid, Dimensions block);  // by the stream's thread
};

// Those of core/device/kernels, and two of the fake's own for tests that act as a consumer:
//   fake_fill(u64 to, u64 bytes, u32 value)     sets bytes
//   fake_sum(u64 from, u64 bytes, u64 to)       stores the sum of bytes as u64
const std::vector<Twin>& twins();

// What a twin has in place of a device pointer: the memory behind an address, as long as it runs. The range counts as
// read or written by the kernel, which orders it against other streams. An address that is not of the device
// ends the kernel as an illegal access does: the device is lost.
const std::byte* device_read(uint64_t address, uint64_t bytes);
std::byte* device_write(uint64_t address, uint64_t bytes);
// To be asked before so many bytes are accessed at once: that memory is aligned as its address is, and where it is not
// aligned to them the kernel ends as a misaligned access does: the device is lost.
void check_aligned(const void* at, uint64_t bytes);

}  // namespace fake_cuda
