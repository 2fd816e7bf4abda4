// How many cases of a sweep (each call that fails, each bit that flips, each seed) to go on by. Under a sanitizer, which makes a case up to 30
// times as long, not every case is tried everyday: every fifth, so that of bits each place in a byte has its turn. All with
// DATALINE_EVERY_CALL, which tests/run.sh --long sets.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>

namespace dataline {

inline int sweep_stride() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return std::getenv("DATALINE_EVERY_CALL") != nullptr ? 1 : 5;
#else
  return 1;
#endif
}

}  // namespace dataline
