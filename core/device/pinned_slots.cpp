// SPDX-License-Identifier: Apache-2.0
#include "core/device/pinned_slots.h"

#include <utility>

#include "core/memory/pages.h"

namespace dataline {

PinnedSlots::PinnedSlots(std::shared_ptr<CudaContext> context, Log log)
    : context_(std::move(context)), log_(log) {}

PinnedSlots::~PinnedSlots() { release(); }

bool PinnedSlots::lock_range(std::byte* memory, int64_t bytes, bool count_foreign) {
  const CudaCode code = context_->ask(context_->driver().cuMemHostRegister, memory,
                                      static_cast<size_t>(bytes), kCudaHostRegisterPortable);
  if (code == kCudaSuccess) {
    ranges_.push_back(memory);
    return true;
  }
  if (code == kCudaAlreadyRegistered && count_foreign) return true;
  refusal_ = concat("cuMemHostRegister: ", context_->code_text(code));
  return false;
}

int64_t PinnedSlots::lock(std::byte* first, int64_t stride, int64_t count) {
  if (count <= 0 || !context_->usable()) return 0;
  const CurrentContext current(*context_);
  int64_t locked = 0;
  if (!current.status().is_ok()) {
    refusal_ = current.status().message();
  } else {
    ranges_.reserve(static_cast<size_t>(count));
    // The driver returns the same code for a partly and a fully registered range, so a registration by the host is
    // accepted only slot by slot.
    if (lock_range(first, stride * count, count == 1)) return count;
    const int64_t page = page_bytes();
    const bool apart =
        stride % page == 0 && static_cast<int64_t>(reinterpret_cast<uintptr_t>(first)) % page == 0;
    if (count > 1 && apart) {
      while (locked < count && lock_range(first + locked * stride, stride, true)) ++locked;
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

}  // namespace dataline
