// Encoded files to samples: libsndfile decodes from memory, block by block; each block is mixed to mono and resampled at once,
// so that no more than a block of a file is held besides its row.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "container.h"
#include "piece.h"
#include "resampler.h"

namespace dataline_audio {

struct DecodeSettings {
  int64_t rate = 16000;
  int64_t channels = 1;    // of the result
  bool mono = true;        // the mean of as many as a file has
  double max_seconds = 0;  // 0: as many as there is room for
  int64_t piece = 0;       // frames of the result, all of the same length; 0: the whole file
  bool is_random = false;  // the piece begins anywhere, else at the start
  Short when_short = Short::kPad;
  Quality quality = Quality::kHigh;
};

struct DecodeScratch {
  std::vector<float> frames;  // a block, of all channels
  std::vector<float> mixed;   // of one
  Resampler resampler;
};

// `room`, *written: frames of the result. A file that does not fit says how many frames it has, with *written above `room`.
// Of a piece no more is decoded than it needs. `draw`: where a random one begins.
Failure decode(const DecodeSettings& settings, Bytes file, uint64_t draw, DecodeScratch& scratch, float* out,
               int64_t room, int64_t* written);

}  // namespace dataline_audio
