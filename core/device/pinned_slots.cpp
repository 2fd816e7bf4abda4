// SPDX-License-Identifier: Apache-2.0
#include "core/device/pinned_slots.h"

#include <utility>

#include "core/memory/pages.h"

namespace dataline {

Result<int64_t> PinnedSlots::lock(std::byte* first, int64_t stride, int64_t count) {
  if (count <= 0 || !context_->usable()) return int64_t{0};
  const CurrentContext current(*context_);
  int64_t locked = 0;
  if (!current.status().is_ok()) {
    refusal_ = current.status().message();
  } else {
    ranges_.reserve(static_cast<size_t>(count));
    // The driver returns the same code for a partly and a fully registered range, so a registration by the host is
    // accepted only slot by slot.
    CudaCode code = lock_range(first, stride * count);
    if (code == kCudaSuccess) return count;
    const int64_t page = page_bytes();
    const bool apart =
        stride % page == 0 && static_cast<int64_t>(reinterpret_cast<uintptr_t>(first)) % page == 0;
    for (; locked < count && (apart || count == 1); ++locked) {
      std::byte* const slot = first + locked * stride;
      if (count > 1) code = lock_range(slot, stride);
      if (code == kCudaAlreadyRegistered) DL_RETURN_IF_ERROR(check_foreign(slot, stride, locked, code));
      if (code != kCudaSuccess) break;
    }
  }
  if (locked < count) {
    log_(LogLevel::kWarning, concat("page-locked ", locked, " of ", count, " slots of ", stride, " bytes (",
                                    refusal_, "): copies from the rest are slower"));
  }
  return locked;
}

void PinnedSlots::release() noexcept {
  if (!context_->usable()) return;  // leaked: the pages stay locked while the driver lives
  Status waited = context_->wait_side_streams();
  if (!waited.is_ok()) {  // copies may still read the slots
    static_cast<void>(context_->lose(std::move(waited)));
    return;
  }
  if (ranges_.empty()) return;
  const CurrentContext current(*context_);
  for (std::byte* memory : ranges_) {
    if (!current.status().is_ok()) break;
    static_cast<void>(context_->call(context_->driver().cuMemHostUnregister, memory));
  }
  ranges_.clear();
}

CudaCode PinnedSlots::lock_range(std::byte* memory, int64_t bytes) {
  const CudaCode code = context_->ask(context_->driver().cuMemHostRegister, memory,
                                      static_cast<size_t>(bytes), kCudaHostRegisterPortable);
  if (code == kCudaSuccess) {
    ranges_.push_back(memory);
  } else {
    refusal_ = concat("cuMemHostRegister: ", context_->code_text(code));
  }
  return code;
}

// The driver says "already registered" where any page of the range is. `code` becomes success where both ends are: the
// slot is the host's to unlock.
Status PinnedSlots::check_foreign(std::byte* slot, int64_t bytes, int64_t number, CudaCode& code) {
  const auto is_registered = [this](std::byte* at) {
    uint32_t flags = 0;
    return context_->ask(context_->driver().cuMemHostGetFlags, &flags, at) == kCudaSuccess;
  };
  const bool begin = is_registered(slot), end = is_registered(slot + bytes - 1);
  if (begin && end) code = kCudaSuccess;
  if (begin == end) return Status::ok();
  return error(Code::kInvalidArgument, "slot ", number, " of ", bytes, " bytes: its ",
               begin ? "first" : "last", " byte is in memory that the host has page-locked, its ",
               begin ? "last" : "first",
               " byte is not, and the driver cannot copy such a range; page-lock all memory that the "
               "allocator returns, or none of it");
}

}  // namespace dataline
