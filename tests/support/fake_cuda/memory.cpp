// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_cuda/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace fake_cuda {
namespace {

constexpr uint64_t kPage = 4096;

uint64_t pages(uint64_t bytes) { return (bytes + kPage) / kPage * kPage; }  // at least a byte beyond: a guard

std::string place(const Access& access) {
  return std::string(access.what) + " of stream " + std::to_string(access.stream) + " (operation " +
         std::to_string(access.sequence) + ")";
}

}  // namespace

DeviceMemory::~DeviceMemory() {
  for (const auto& [address, bytes] : reserved_) munmap(reinterpret_cast<void*>(address), pages(bytes));
}

Allocation* DeviceMemory::allocate(int32_t device, uint64_t bytes) {
  void* reserved = mmap(nullptr, pages(bytes), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return nullptr;
  const auto address = reinterpret_cast<uint64_t>(reserved);
  reserved_[address] = bytes;
  Allocation& made = live_[address];
  made.address = address;
  made.bytes = bytes;
  made.device = device;
  made.memory.reset(static_cast<std::byte*>(std::aligned_alloc(kPage, pages(bytes))));
  std::memset(made.memory.get(), kFreshPoison, bytes);
  return &made;
}

Allocation* DeviceMemory::find(uint64_t address, uint64_t bytes) {
  auto after = live_.upper_bound(address);
  if (after == live_.begin()) return nullptr;
  Allocation& found = std::prev(after)->second;
  const uint64_t offset = address - found.address;
  return offset <= found.bytes && bytes <= found.bytes - offset ? &found : nullptr;
}

bool DeviceMemory::was_freed(uint64_t address) const {
  auto after = reserved_.upper_bound(address);
  if (after == reserved_.begin()) return false;
  const auto& [start, bytes] = *std::prev(after);
  return address < start + bytes && live_.count(start) == 0;
}

void DeviceMemory::free(uint64_t address) { live_.erase(address); }

uint64_t DeviceMemory::used(int32_t device) const {
  uint64_t sum = 0;
  for (const auto& [address, allocation] : live_) sum += allocation.device == device ? allocation.bytes : 0;
  return sum;
}

std::string use(Allocation& allocation, const Access& access, const Clock& clock) {
  std::string fault;
  std::vector<Access>& all = allocation.accesses;
  for (const Access& earlier : all) {
    const bool overlap = earlier.begin < access.end && access.begin < earlier.end;
    const bool ordered = clock.of(earlier.stream) >= earlier.sequence;
    if (!overlap || ordered || !(earlier.write || access.write)) continue;
    const char* kind = !access.write   ? "read-before-ready"
                       : earlier.write ? "written-twice"
                                       : "rewritten-before-done";
    fault = std::string(kind) + ": " + place(access) + " is not ordered after " + place(earlier);
    break;
  }
  // What this one covers need not be remembered: whoever comes after it comes after that too.
  std::erase_if(all, [&](const Access& earlier) {
    const bool inside = access.begin <= earlier.begin && earlier.end <= access.end;
    return inside && (access.write || (!earlier.write && earlier.stream == access.stream));
  });
  all.push_back(access);
  return fault;
}

std::string use_by_host(const Allocation& allocation, const Clock& clock) {
  for (const Access& earlier : allocation.accesses) {
    if (clock.of(earlier.stream) < earlier.sequence)
      return "freed-in-use: the host does not know that " + place(earlier) + " is done";
  }
  return "";
}

uint64_t HostRanges::begin_of(uint64_t address) const { return pages_ ? address / kPage * kPage : address; }
uint64_t HostRanges::end_of(uint64_t address) const {
  return pages_ ? (address + kPage - 1) / kPage * kPage : address;
}

bool HostRanges::add(const void* memory, uint64_t bytes, unsigned flags, int32_t device) {
  const auto start = reinterpret_cast<uint64_t>(memory);
  const uint64_t begin = begin_of(start), end = end_of(start + bytes);
  for (const auto& [other, range] : ranges_) {
    if (begin_of(other) < end && begin < end_of(other + range.bytes)) return false;
  }
  ranges_[start] = {bytes, flags, device};
  return true;
}

bool HostRanges::remove(const void* memory) { return ranges_.erase(reinterpret_cast<uint64_t>(memory)) == 1; }

HostRanges::Cover HostRanges::cover(const void* memory, uint64_t bytes) const {
  const auto begin = reinterpret_cast<uint64_t>(memory);
  auto at = ranges_.upper_bound(begin);
  if (at != ranges_.begin()) {
    const auto& [start, range] = *std::prev(at);
    if (begin + bytes <= start + range.bytes) return Cover::kWhole;
    if (begin < start + range.bytes) return Cover::kPart;
  }
  return at != ranges_.end() && at->first < begin + bytes ? Cover::kPart : Cover::kNone;
}

const HostRanges::Range* HostRanges::find(const void* memory) const {
  const auto address = reinterpret_cast<uint64_t>(memory);
  for (const auto& [start, range] : ranges_) {
    if (begin_of(start) <= address && address < end_of(start + range.bytes)) return &range;
  }
  return nullptr;
}

uint64_t HostRanges::bytes() const {
  uint64_t sum = 0;
  for (const auto& [start, range] : ranges_) sum += range.bytes;
  return sum;
}

size_t HostRanges::count(unsigned flags) const {
  return static_cast<size_t>(std::count_if(ranges_.begin(), ranges_.end(), [flags](const auto& range) {
    return (range.second.flags & flags) == flags;
  }));
}

}  // namespace fake_cuda
