// Spectrograms on the mel scale, as torchaudio.transforms.MelSpectrogram and librosa.feature.melspectrogram define them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kiss_fftr.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "library.h"
#include "pool.h"

namespace dataline_audio {

enum class MelScale : int32_t { kHtk, kSlaney };
enum class MelLog : int32_t { kNone, kNatural, kLog10, kDecibel };

struct MelSettings {
  int64_t n_mels = 80, n_fft = 400, hop_length = 160, win_length = 400, rate = 16000;
  double f_min = 0, f_max = 8000, floor = 1e-10;
  int64_t power = 2;  // 1: magnitudes
  MelScale scale = MelScale::kHtk;
  bool has_norm = false;  // slaney's: each band of the same area
  bool center = true, reflects = true;
  MelLog log = MelLog::kNone;
  bool bands_first = false;  // axes FT
};

class Mel {
 public:
  explicit Mel(const MelSettings& settings);

  // Of so many samples; with an error where they are too few.
  Failure frames_of(int64_t samples, int64_t* frames) const;
  Failure apply(const float* samples, int64_t count, float* out, int64_t frames) const;

 private:
  struct Scratch {
    std::vector<std::max_align_t> memory;  // where `fft` lies
    kiss_fftr_cfg fft = nullptr;           // has buffers of its own, so one thread at a time
    std::vector<float> frame, power, bands;
    std::vector<kiss_fft_cpx> spectrum;
  };
  struct Band {
    size_t first = 0;  // bin
    std::vector<float> weights;
  };

  Failure prepare(Scratch& scratch) const;
  void cut(const float* samples, int64_t count, int64_t start, float* frame) const;
  void measure(Scratch& scratch) const;  // a frame's bands
  void finish(std::vector<float>& bands) const;

  const MelSettings settings_;
  std::vector<float> window_;  // of n_fft, zeros on both sides of win_length
  std::vector<Band> bands_;
  mutable Pool<Scratch> pool_;
};

}  // namespace dataline_audio
