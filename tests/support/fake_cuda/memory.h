// Device memory and registered host memory of the fake.
//
// A device address is a reserved page that nobody can read or write: what a program does with it on the host ends in a
// fault, and it is never given out twice. The bytes lie elsewhere. Each allocation remembers who read and wrote which
// of its bytes last, so that two uses that nothing orders are found whatever the delays were.
// Threads: under the world's mutex. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/fake_cuda/clock.h"

namespace fake_cuda {

constexpr unsigned char kFreshPoison = 0xA5;  // what memory holds that nobody wrote

struct Access {
  uint32_t stream;
  int64_t sequence;
  uint64_t begin, end;
  bool write;
  const char* what;
};

struct Allocation {
  uint64_t address = 0;
  uint64_t bytes = 0;
  int32_t device = 0;
  std::unique_ptr<std::byte, void (*)(void*)> memory{nullptr, std::free};  // aligned as the address is
  std::vector<Access> accesses;
};

class DeviceMemory {
 public:
  DeviceMemory() = default;
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    live_.swap(other.live_);
    reserved_.swap(other.reserved_);
    return *this;
  }
  Allocation* allocate(int32_t device, uint64_t bytes);
  Allocation* find(uint64_t address, uint64_t bytes);  // null: not wholly inside a live allocation
  bool was_freed(uint64_t address) const;              // it once belonged to one
  void free(uint64_t address);
  uint64_t used(int32_t device) const;
  size_t count() const { return live_.size(); }

 private:
  std::map<uint64_t, Allocation> live_;
  std::map<uint64_t, uint64_t> reserved_;  // address -> bytes, of all that were ever given out
};

// Notes that the operation (stream, sequence), which `clock` comes before, uses a range. What it does that an earlier
// use does not allow is returned in words; empty: nothing.
std::string use(Allocation& allocation, const Access& access, const Clock& clock);
// The same for the host, which frees it.
std::string use_by_host(const Allocation& allocation, const Clock& clock);

// What is registered, byte by byte: pages are locked whole, and two ranges may lie in one page as long as they share no
// byte (lupine#878 and #437 tried it on driver 590). CUDA 4.0 asked for whole pages: with by_pages() a range takes all of
// those that it touches.
class HostRanges {
 public:
  enum class Cover { kNone, kPart, kWhole };
  struct Range {
    uint64_t bytes = 0;
    unsigned flags = 0;
    int32_t device = 0;  // whose context registered it
  };
  void by_pages(bool on) { pages_ = on; }
  // false: overlaps what is registered.
  bool add(const void* memory, uint64_t bytes, unsigned flags, int32_t device);
  bool remove(const void* memory);
  Cover cover(const void* memory, uint64_t bytes) const;
  const Range* find(const void* memory) const;  // that the byte is in
  uint64_t bytes() const;
  size_t count(unsigned flags) const;  // with all of these flags

 private:
  uint64_t begin_of(uint64_t address) const;
  uint64_t end_of(uint64_t address) const;
  std::map<uint64_t, Range> ranges_;  // by start
  bool pages_ = false;
};

}  // namespace fake_cuda
