// SPDX-License-Identifier: Apache-2.0
#include "resampler.h"

#include <algorithm>
#include <cstring>

namespace dataline_audio {
namespace {

constexpr unsigned long kRecipes[] = {SOXR_QQ, SOXR_LQ, SOXR_MQ, SOXR_HQ, SOXR_VHQ};

}  // namespace

int64_t resampled(int64_t frames, int64_t from, int64_t to) {
  // In two parts, so that nothing overflows.
  return frames / from * to + (frames % from * to + from - 1) / from;
}

Failure Resampler::begin(int64_t from, int64_t to, int64_t channels, Quality quality, float* out,
                         int64_t room) {
  soxr_.reset();
  from_ = from, to_ = to, channels_ = channels;
  out_ = out, room_ = room, fed_ = written_ = 0;
  if (from == to) return {};
  const soxr_quality_spec_t recipe = soxr_quality_spec(kRecipes[static_cast<size_t>(quality)], 0);
  const soxr_io_spec_t type = soxr_io_spec(SOXR_FLOAT32_I, SOXR_FLOAT32_I);
  const soxr_runtime_spec_t runtime = soxr_runtime_spec(1);
  soxr_error_t error = nullptr;
  soxr_.reset(soxr_create(static_cast<double>(from), static_cast<double>(to), static_cast<unsigned>(channels),
                          &error, &type, &recipe, &runtime));
  if (error != nullptr || !soxr_)
    return failure(DL_ERR_NO_MEMORY, "libsoxr: ", from, " to ", to,
                   " Hz: ", error == nullptr ? "out of memory" : error);
  return {};
}

Failure Resampler::feed(const float* frames, int64_t count, bool* fits) {
  fed_ += count;
  if (soxr_) return put(frames, count, fits);
  *fits = count <= room_ - written_;
  if (*fits) {
    std::memcpy(out_ + written_ * channels_, frames, static_cast<size_t>(count * channels_) * sizeof(float));
    written_ += count;
  }
  return {};
}

// Frames nullptr: what is still inside comes out.
Failure Resampler::put(const float* frames, int64_t count, bool* fits) {
  *fits = true;
  const int64_t most = frames == nullptr ? std::min(room_, resampled(fed_, from_, to_)) : room_;
  while (frames == nullptr ? written_ < most : count > 0) {
    size_t taken = 0, made = 0;
    const soxr_error_t error =
        soxr_process(soxr_.get(), frames, static_cast<size_t>(count), frames == nullptr ? nullptr : &taken,
                     out_ + written_ * channels_, static_cast<size_t>(most - written_), &made);
    if (error != nullptr) return failure(DL_ERR_NO_MEMORY, "libsoxr: ", error);
    written_ += static_cast<int64_t>(made);
    if (frames == nullptr && made == 0) return {};
    if (frames != nullptr && taken == 0 && made == 0) {
      *fits = false;
      return {};
    }
    if (frames != nullptr) frames += static_cast<int64_t>(taken) * channels_;
    count -= static_cast<int64_t>(taken);
  }
  return {};
}

Failure Resampler::end(bool* fits) {
  const int64_t wanted = resampled(fed_, from_, to_);
  *fits = wanted <= room_;
  return *fits ? end_within(wanted) : Failure{};
}

Failure Resampler::end_within(int64_t most) {
  if (!soxr_) return {};
  bool fits = true;
  if (Failure failed = put(nullptr, 0, &fits)) return failed;
  // soxr rounds to the nearest: the last frame may be missing, and is silence then, as in librosa.
  const int64_t wanted = std::min(most, resampled(fed_, from_, to_));
  if (written_ < wanted) std::fill(out_ + written_ * channels_, out_ + wanted * channels_, 0.0f);
  written_ = wanted;
  soxr_.reset();
  return {};
}

}  // namespace dataline_audio
