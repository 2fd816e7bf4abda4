// SPDX-License-Identifier: Apache-2.0
#include "mel.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

namespace dataline_audio {
namespace {

// Slaney's scale is linear below 1 kHz, and logarithmic above.
constexpr double kSlaneyHertz = 200.0 / 3, kSlaneyBreak = 1000;
const double kSlaneyStep = std::log(6.4) / 27;

double to_mel(MelScale scale, double hertz) {
  if (scale == MelScale::kHtk) return 2595 * std::log10(1 + hertz / 700);
  if (hertz < kSlaneyBreak) return hertz / kSlaneyHertz;
  return kSlaneyBreak / kSlaneyHertz + std::log(hertz / kSlaneyBreak) / kSlaneyStep;
}

double to_hertz(MelScale scale, double mel) {
  if (scale == MelScale::kHtk) return 700 * (std::pow(10, mel / 2595) - 1);
  const double knee = kSlaneyBreak / kSlaneyHertz;
  if (mel < knee) return mel * kSlaneyHertz;
  return kSlaneyBreak * std::exp((mel - knee) * kSlaneyStep);
}

}  // namespace

Mel::Mel(const MelSettings& settings) : settings_(settings) {
  const auto n_fft = static_cast<size_t>(settings.n_fft), length = static_cast<size_t>(settings.win_length);
  window_.assign(n_fft, 0.0f);
  for (size_t i = 0; i < length; ++i) {  // Hann's, periodic
    const double turn = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(length);
    window_[(n_fft - length) / 2 + i] = static_cast<float>(0.5 - 0.5 * std::cos(turn));
  }
  const double low = to_mel(settings.scale, settings.f_min), high = to_mel(settings.scale, settings.f_max);
  std::vector<double> edges(static_cast<size_t>(settings.n_mels) + 2);
  for (size_t i = 0; i < edges.size(); ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(edges.size() - 1);
    edges[i] = to_hertz(settings.scale, low + (high - low) * part);
  }
  bands_.resize(static_cast<size_t>(settings.n_mels));
  for (size_t m = 0; m < bands_.size(); ++m) {
    const double left = edges[m], middle = edges[m + 1], right = edges[m + 2];
    const double area = settings.has_norm ? 2 / (right - left) : 1;
    Band& band = bands_[m];
    for (size_t bin = 0; bin <= n_fft / 2; ++bin) {
      const double hertz =
          static_cast<double>(bin) * static_cast<double>(settings.rate) / static_cast<double>(n_fft);
      const double weight = std::min((hertz - left) / (middle - left), (right - hertz) / (right - middle));
      if (weight <= 0) continue;
      if (band.weights.empty()) band.first = bin;
      band.weights.push_back(static_cast<float>(weight * area));
    }
  }
}

Failure Mel::frames_of(int64_t samples, int64_t* frames) const {
  const int64_t n_fft = settings_.n_fft;
  const int64_t least = !settings_.center ? n_fft : settings_.reflects ? n_fft / 2 + 1 : 1;
  if (samples < least)
    return failure(DL_ERR_MISMATCH, "expected at least ", least, " samples for n_fft=", n_fft, ", got ",
                   samples);
  *frames = 1 + (settings_.center ? samples : samples - n_fft) / settings_.hop_length;
  return {};
}

Failure Mel::prepare(Scratch& scratch) const {
  if (scratch.fft != nullptr) return {};
  const auto n_fft = static_cast<size_t>(settings_.n_fft);
  scratch.frame.resize(n_fft);
  scratch.power.resize(n_fft / 2 + 1);
  scratch.spectrum.resize(n_fft / 2 + 1);
  scratch.bands.resize(bands_.size());
  size_t bytes = 0;
  static_cast<void>(kiss_fftr_alloc(static_cast<int>(n_fft), 0, nullptr, &bytes));
  scratch.memory.resize(bytes / sizeof(std::max_align_t) + 1);
  scratch.fft = kiss_fftr_alloc(static_cast<int>(n_fft), 0, scratch.memory.data(), &bytes);
  if (scratch.fft == nullptr) return failure(DL_ERR_UNSUPPORTED, "kissfft rejects n_fft=", n_fft);
  return {};
}

// n_fft samples from `start` on, which may lie outside, times the window.
void Mel::cut(const float* samples, int64_t count, int64_t start, float* frame) const {
  const int64_t n_fft = settings_.n_fft;
  if (start >= 0 && start + n_fft <= count) {
    for (int64_t i = 0; i < n_fft; ++i) frame[i] = samples[start + i] * window_[static_cast<size_t>(i)];
    return;
  }
  for (int64_t i = 0; i < n_fft; ++i) {
    int64_t at = start + i;
    if (settings_.reflects) {
      if (at < 0) at = -at;
      if (at >= count) at = 2 * (count - 1) - at;
    }
    const bool inside = at >= 0 && at < count;
    frame[i] = inside ? samples[at] * window_[static_cast<size_t>(i)] : 0;
  }
}

void Mel::measure(Scratch& scratch) const {
  kiss_fftr(scratch.fft, scratch.frame.data(), scratch.spectrum.data());
  for (size_t i = 0; i < scratch.power.size(); ++i) {
    const kiss_fft_cpx value = scratch.spectrum[i];
    const float power = value.r * value.r + value.i * value.i;
    scratch.power[i] = settings_.power == 2 ? power : std::sqrt(power);
  }
  for (size_t m = 0; m < bands_.size(); ++m) {
    const Band& band = bands_[m];
    const float* power = scratch.power.data() + band.first;
    float sum = 0;
    for (size_t i = 0; i < band.weights.size(); ++i) sum += band.weights[i] * power[i];
    scratch.bands[m] = sum;
  }
}

void Mel::finish(std::vector<float>& bands) const {
  if (settings_.log == MelLog::kNone) return;
  const auto floor = static_cast<float>(settings_.floor);
  const float decibels = settings_.power == 2 ? 10.0f : 20.0f;
  for (float& value : bands) {
    value = std::max(value, floor);
    if (settings_.log == MelLog::kNatural) {
      value = std::log(value);
    } else {
      value = std::log10(value) * (settings_.log == MelLog::kDecibel ? decibels : 1.0f);
    }
  }
}

Failure Mel::apply(const float* samples, int64_t count, float* out, int64_t frames) const {
  const Pool<Scratch>::Lease scratch(pool_);
  if (Failure failed = prepare(*scratch)) return failed;
  const int64_t first = settings_.center ? -(settings_.n_fft / 2) : 0;
  for (int64_t f = 0; f < frames; ++f) {
    cut(samples, count, first + f * settings_.hop_length, scratch->frame.data());
    measure(*scratch);
    finish(scratch->bands);
    const std::vector<float>& bands = scratch->bands;
    if (!settings_.bands_first) {
      std::memcpy(out + f * settings_.n_mels, bands.data(), bands.size() * sizeof(float));
    } else {
      for (size_t m = 0; m < bands.size(); ++m) out[static_cast<int64_t>(m) * frames + f] = bands[m];
    }
  }
  return {};
}

}  // namespace dataline_audio
