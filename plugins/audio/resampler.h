// Another sample rate, by libsoxr, frame by frame: n frames become ceil(n * to / from), as librosa and torchaudio count them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <soxr.h>

#include <cstdint>
#include <memory>

#include "library.h"

namespace dataline_audio {

// soxr's recipes, as librosa's soxr_hq, ... are. For f32 results hq and vhq differ below the noise of 16 bits.
enum class Quality : int32_t { kQuick, kLow, kMedium, kHigh, kVeryHigh };

// Frames that `frames` become; both rates are at most kMaxRate.
int64_t resampled(int64_t frames, int64_t from, int64_t to);

// Frames of interleaved channels, some at a time, into one output.
class Resampler {
 public:
  // `room`: frames that fit in `out`.
  Failure begin(int64_t from, int64_t to, int64_t channels, Quality quality, float* out, int64_t room);
  // False in *fits: there is no room for what comes out.
  Failure feed(const float* frames, int64_t count, bool* fits);
  Failure end(bool* fits);
  // The end of a piece: what is beyond `most` frames is left.
  Failure end_within(int64_t most);
  int64_t written() const { return written_; }

 private:
  Failure put(const float* frames, int64_t count, bool* fits);

  struct Free {
    void operator()(soxr_t soxr) const { soxr_delete(soxr); }
  };
  std::unique_ptr<soxr, Free> soxr_;  // empty: the rates are the same
  int64_t from_ = 0, to_ = 0, channels_ = 0;
  float* out_ = nullptr;
  int64_t room_ = 0, fed_ = 0, written_ = 0;
};

}  // namespace dataline_audio
