// Registrations of the host's memory, which page-lock it. SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_cuda/world.h"

using namespace fake_cuda;

CUresult cuMemHostRegister_v2(void* memory, size_t bytes, unsigned flags) {
  constexpr unsigned kKnown = 15;
  Call call("cuMemHostRegister");
  call.blocks();
  if (call.code != kSuccess) return call.code;
  World& w = call.w;
  if (!w.host_register) return kNotSupported;
  if ((flags & ~kKnown) != 0) {
    call.wrong("unknown-flags", std::to_string(flags));
    return kInvalidValue;
  }
  if (memory == nullptr || bytes == 0) return kInvalidValue;
  if (w.pinned_limit >= 0 && w.host.bytes() + bytes > static_cast<uint64_t>(w.pinned_limit) &&
      w.host.cover(memory, bytes) == HostRanges::Cover::kNone)
    return kOutOfMemory;
  return w.host.add(memory, bytes, flags, call.device) ? kSuccess : kAlreadyRegistered;
}

CUresult cuMemHostUnregister(void* memory) {
  Call call("cuMemHostUnregister");
  call.blocks();
  if (call.code != kSuccess) return call.code;
  if (call.w.host.remove(memory)) return kSuccess;
  call.wrong("not-registered", "no registration starts there");
  // From inside a registration it is the wrong argument (lupine#605, driver 590).
  return call.w.host.find(memory) != nullptr ? kInvalidValue : kNotRegistered;
}

CUresult cuMemHostGetFlags(unsigned* flags, void* memory) {
  Call call("cuMemHostGetFlags");
  if (call.code != kSuccess) return call.code;
  const HostRanges::Range* found = call.w.host.find(memory);
  if (found == nullptr) return kInvalidValue;
  *flags = found->flags;
  return kSuccess;
}
