// SPDX-License-Identifier: Apache-2.0
#include "decode.h"

#include <sndfile.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

namespace dataline_audio {
namespace {

constexpr int64_t kBlockFrames = 4096;

// What libsndfile takes for a file.
struct Memory {
  Bytes bytes;
  sf_count_t at = 0;
};

sf_count_t size_of(void* user) { return static_cast<sf_count_t>(static_cast<Memory*>(user)->bytes.size()); }

sf_count_t seek_to(sf_count_t offset, int whence, void* user) {
  auto& memory = *static_cast<Memory*>(user);
  const sf_count_t size = size_of(user);
  const sf_count_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? memory.at : size;
  if (offset < -base || offset > size - base) return -1;
  memory.at = base + offset;
  return memory.at;
}

sf_count_t read_some(void* out, sf_count_t count, void* user) {
  auto& memory = *static_cast<Memory*>(user);
  const sf_count_t some = std::min(count, size_of(user) - memory.at);
  if (some <= 0) return 0;
  std::memcpy(out, memory.bytes.data() + memory.at, static_cast<size_t>(some));
  memory.at += some;
  return some;
}

sf_count_t write_nothing(const void*, sf_count_t, void*) { return 0; }
sf_count_t tell(void* user) { return static_cast<Memory*>(user)->at; }

struct Close {
  void operator()(SNDFILE* file) const { sf_close(file); }
};
using File = std::unique_ptr<SNDFILE, Close>;

Failure open_file(const Container& container, Memory& memory, File& file, SF_INFO& info) {
  SF_VIRTUAL_IO calls = {size_of, seek_to, read_some, write_nothing, tell};
  file.reset(sf_open_virtual(&calls, SFM_READ, &info, &memory));
  if (!file) {
    // The text is one for all threads: if two files fail at the same time, a reason may be that of the other.
    const int code = sf_error(nullptr);
    return failure(code == SF_ERR_UNSUPPORTED_ENCODING ? DL_ERR_UNSUPPORTED : DL_ERR_CORRUPT, container.name,
                   ": ", sf_error_number(code));
  }
  if (Failure failed = check_channels(container.name, info.channels)) return failed;
  if (Failure failed = check_rate(container.name, info.samplerate)) return failed;
  if (container.frames >= 0 && info.frames != container.frames) {
    return failure(DL_ERR_CORRUPT, container.name, ": its headers say ", container.frames,
                   " frames, libsndfile finds ", info.frames);
  }
  return {};
}

Failure check_length(const DecodeSettings& settings, const char* name, int64_t frames, int64_t rate) {
  if (settings.max_seconds == 0) return {};
  const double seconds = static_cast<double>(frames) / static_cast<double>(rate);
  if (seconds <= settings.max_seconds) return {};
  return failure(DL_ERR_TOO_LARGE, name, ": ", seconds, " s at least, max_seconds is ", settings.max_seconds);
}

// No NaN, no infinity, and nothing that becomes one when it is resampled or squared. Integers stored as floats pass.
constexpr float kMaxSample = 2147483648.0f;

Failure check_samples(const char* name, const std::vector<float>& block, int64_t count, int64_t channels,
                      int64_t before) {
  bool good = true;
  for (int64_t i = 0; i < count; ++i) good &= std::fabs(block[static_cast<size_t>(i)]) <= kMaxSample;
  if (good) return {};
  int64_t i = 0;
  while (std::fabs(block[static_cast<size_t>(i)]) <= kMaxSample) ++i;
  return failure(DL_ERR_CORRUPT, name, ": frame ", before + i / channels, ", channel ", i % channels, " is ",
                 block[static_cast<size_t>(i)], ", expected a finite number, at most 2^31");
}

// The mean of the channels of each frame.
void mix(const std::vector<float>& frames, int64_t count, int64_t channels, std::vector<float>& out) {
  const auto divisor = static_cast<float>(channels);
  const float* from = frames.data();
  for (int64_t i = 0; i < count; ++i, from += channels) {
    float sum = from[0];
    for (int64_t c = 1; c < channels; ++c) sum += from[c];
    out[static_cast<size_t>(i)] = sum / divisor;
  }
}

// After the last block.
Failure check_end(const Container& container, SNDFILE* file, int64_t frames) {
  if (const int code = sf_error(file); code != SF_ERR_NO_ERROR)
    return failure(DL_ERR_CORRUPT, container.name, ": after ", frames, " frames: ", sf_error_number(code));
  if (container.frames > frames) {
    return failure(DL_ERR_TRUNCATED, container.name, ": ", frames, " frames, its headers say ",
                   container.frames);
  }
  if (frames == 0) return failure(DL_ERR_EMPTY, container.name, ": no samples in it");
  return {};
}

}  // namespace

Failure decode(const DecodeSettings& settings, Bytes bytes, DecodeScratch& scratch, float* out, int64_t room,
               int64_t* written) {
  Container container;
  if (Failure failed = check_container(bytes, &container)) return failed;
  Memory memory{container.bytes};
  SF_INFO info = {};
  File file;
  if (Failure failed = open_file(container, memory, file, info)) return failed;
  const int64_t channels = info.channels, rate = info.samplerate;
  if (!settings.mono && channels != settings.channels) {
    return failure(DL_ERR_MISMATCH, container.name, ": ", channels, " channels, expected ", settings.channels,
                   " (channels, or mono=true)");
  }
  if (container.frames >= 0) {
    if (Failure failed = check_length(settings, container.name, container.frames, rate)) return failed;
    *written = resampled(container.frames, rate, settings.rate);
    if (*written > room) return {};
  }
  scratch.frames.resize(static_cast<size_t>(kBlockFrames * channels));
  if (settings.mono) scratch.mixed.resize(static_cast<size_t>(kBlockFrames));
  Resampler& resampler = scratch.resampler;
  if (Failure failed = resampler.begin(rate, settings.rate, settings.channels, settings.quality, out, room))
    return failed;
  int64_t frames = 0;
  bool fits = true;
  while (fits) {
    const int64_t some = sf_readf_float(file.get(), scratch.frames.data(), kBlockFrames);
    if (some <= 0) break;
    if (Failure failed = check_samples(container.name, scratch.frames, some * channels, channels, frames))
      return failed;
    frames += some;
    if (Failure failed = check_length(settings, container.name, frames, rate)) return failed;
    const bool mixes = settings.mono && channels > 1;
    if (mixes) mix(scratch.frames, some, channels, scratch.mixed);
    if (Failure failed = resampler.feed(mixes ? scratch.mixed.data() : scratch.frames.data(), some, &fits))
      return failed;
  }
  if (fits) {
    if (Failure failed = check_end(container, file.get(), frames)) return failed;
    if (Failure failed = resampler.end(&fits)) return failed;
  }
  *written = fits ? resampler.written() : std::max(room + 1, resampled(frames, rate, settings.rate));
  return {};
}

}  // namespace dataline_audio
