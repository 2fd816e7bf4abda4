// A loop over one epoch, shared by all consumers of one dl_epoch. The loader has one position and at most one loop that takes
// from it; a loop that is over stays over, whatever the loader does later.
// Threads: `state` under the loader's lock.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/loader/interrupts.h"

namespace dataline {

struct EpochLoop {
  enum class State : uint8_t {
    kCurrent,
    kFinished,  // END_OF_EPOCH was returned
    kEnded,     // before that, by a newer epoch, a seek, a load or the end of the loader
  };
  State state = State::kCurrent;
  Interrupts interrupts;
};

}  // namespace dataline
