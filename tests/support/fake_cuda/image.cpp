// Which images a driver takes: a fat binary has machine code for some devices, and PTX, which is compiled for the others.
//
// The container is not documented by NVIDIA; its fields are known from public tools that read it (ZLUDA, cricket,
// GrigoryEvko/nvopen-tools). What drivers take: nvcc's manual (--compress-mode: nothing but the old compression before 12.4),
// "Minor version compatibility" (code of a toolkit 12.x runs with every driver from 12.0 on, PTX only with those of its own
// version on), the PTX manual's release notes (which ISA came with which CUDA). Code of ABI 8 is what the toolkits write from 13.0
// on, and 12.8 for the generations that it was the first to know.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "tests/support/fake_cuda/world.h"

namespace fake_cuda {
namespace {

constexpr uint32_t kMagic = 0xBA55ED50;
constexpr uint16_t kPtx = 1, kCode = 2;
constexpr uint64_t kZstd = 0x8000;

struct Header {
  uint32_t magic;
  uint16_t version, bytes;
  uint64_t rest;  // of the file
};
struct ImageEntry {
  uint16_t kind, unknown;
  uint32_t header_bytes;
  uint64_t bytes;
  uint32_t compressed_bytes, options;
  uint16_t minor, major;  // of the ISA of PTX; of code 1.ABI
  uint32_t architecture;  // 90
  uint32_t name, name_bytes;
  uint64_t flags;
};
static_assert(sizeof(ImageEntry) == 48);

// The first CUDA whose driver takes PTX of this version.
int32_t version_of_isa(const ImageEntry& entry) {
  if (entry.major >= 9) return 13000 + 10 * entry.minor;
  constexpr int32_t kMinors[] = {0, 1, 2, 3, 4, 5, 7, 8, 9};  // of 8.0 to 8.8
  if (entry.major < 8) return 0;
  return 12000 + 10 * (entry.minor < std::size(kMinors) ? kMinors[entry.minor] : 9);
}

CUresult take_code(const ImageEntry& entry, int32_t driver) {
  constexpr uint16_t kNewAbi = 8;
  constexpr uint32_t kBlackwell = 100;
  const int32_t least = entry.minor < kNewAbi ? 0 : entry.architecture < kBlackwell ? 13000 : 12080;
  return driver < least ? kInvalidImage : kSuccess;
}

}  // namespace

CUresult judge_image(const void* image, int32_t capability, int32_t driver) {
  const auto* at = static_cast<const std::byte*>(image);
  Header header;
  std::memcpy(&header.magic, at, sizeof header.magic);
  if (header.magic != kMagic) return kSuccess;  // a test's own, for which there are twins alone
  std::memcpy(&header, at, sizeof header);
  CUresult code = kNoBinaryForGpu, ptx = kNoBinaryForGpu;
  const std::byte* const end = at + header.bytes + header.rest;
  for (at += header.bytes; at < end;) {
    ImageEntry entry;
    std::memcpy(&entry, at, sizeof entry);
    const auto architecture = static_cast<int32_t>(entry.architecture);
    const bool older = architecture <= capability;
    const bool readable = (entry.flags & kZstd) == 0 || driver >= 12040;
    if (entry.kind == kCode && older && architecture / 10 == capability / 10)
      code = readable ? take_code(entry, driver) : kInvalidImage;
    else if (entry.kind == kPtx && older)
      ptx = !readable ? kInvalidImage : driver < version_of_isa(entry) ? kUnsupportedPtx : kSuccess;
    at += entry.header_bytes + entry.bytes;
  }
  return code == kNoBinaryForGpu ? ptx : code;
}

}  // namespace fake_cuda
