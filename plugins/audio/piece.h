// A piece of a recording: where it begins, and what fills it up.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace dataline_audio {

// When a recording has less than is wanted.
enum class Short : int32_t { kPad, kRepeat, kError };

// Where a random piece of `wanted` of so many frames begins. `draw`: any 64 bits.
inline int64_t start_of(uint64_t draw, int64_t frames, int64_t wanted) {
  return frames <= wanted ? 0 : static_cast<int64_t>(draw % static_cast<uint64_t>(frames - wanted + 1));
}

// `have` frames are there; the rest becomes silence, or those again.
inline void fill_up(void* piece, int64_t have, int64_t wanted, int64_t frame_bytes, Short rule) {
  auto* const out = static_cast<char*>(piece);
  if (rule != Short::kRepeat || have == 0) {
    std::memset(out + have * frame_bytes, 0, static_cast<size_t>((wanted - have) * frame_bytes));
    return;
  }
  for (int64_t done = have; done < wanted;) {
    const int64_t some = std::min(have, wanted - done);
    std::memcpy(out + done * frame_bytes, out, static_cast<size_t>(some * frame_bytes));
    done += some;
  }
}

}  // namespace dataline_audio
