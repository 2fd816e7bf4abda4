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
    return failure(DL_ERR_CORRUPT, container.name, ": its headers state ", container.frames,
                   " frames, but libsndfile finds ", info.frames);
  }
  return {};
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

class Decoding {
 public:
  Decoding(const DecodeSettings& settings, Bytes bytes, DecodeScratch& scratch)
      : settings_(settings), scratch_(scratch), memory_{bytes} {}

  Failure open() {
    if (Failure failed = check_container(memory_.bytes, &container_)) return failed;
    memory_.bytes = container_.bytes;
    if (Failure failed = open_file(container_, memory_, file_, info_)) return failed;
    channels_ = info_.channels, rate_ = info_.samplerate;
    if (!settings_.mono && channels_ != settings_.channels)
      return fail(DL_ERR_MISMATCH, channels_, " channels, expected ", settings_.channels,
                  " (channels, or mono=true)");
    scratch_.frames.resize(static_cast<size_t>(kBlockFrames * channels_));
    if (settings_.mono) scratch_.mixed.resize(static_cast<size_t>(kBlockFrames));
    return container_.frames < 0 ? Failure{} : check_length(container_.frames);
  }

  Failure whole(float* out, int64_t room, int64_t* written) {
    if (container_.frames >= 0) {
      *written = resampled(container_.frames, rate_, settings_.rate);
      if (*written > room) return {};
    }
    bool fits = true;
    if (Failure failed = begin(out, room)) return failed;
    if (Failure failed = feed(INT64_MAX, &fits)) return failed;
    if (fits) {
      if (Failure failed = check_end(container_.frames)) return failed;
      if (Failure failed = scratch_.resampler.end(&fits)) return failed;
    }
    *written =
        fits ? scratch_.resampler.written() : std::max(room + 1, resampled(frames_, rate_, settings_.rate));
    return {};
  }

  Failure piece(uint64_t draw, float* out) {
    const int64_t wanted = settings_.piece, needed = resampled(wanted, settings_.rate, rate_);
    if (settings_.is_random) {
      if (info_.frames == SF_COUNT_MAX)
        return fail(DL_ERR_UNSUPPORTED, "its headers do not state its length; use crop(random=true)");
      const int64_t start = start_of(draw, info_.frames, needed);
      if (!skip(start))
        return fail(DL_ERR_CORRUPT, "frame ", start, " of ", info_.frames, " cannot be found");
    }
    bool fits = true;
    if (Failure failed = begin(out, wanted)) return failed;
    if (Failure failed = feed(needed, &fits)) return failed;
    if (Failure failed = check_end(std::min(needed, container_.frames))) return failed;
    if (fits) {  // else all of it is there
      if (Failure failed = scratch_.resampler.end_within(wanted)) return failed;
    }
    const int64_t have = scratch_.resampler.written();
    if (have < wanted && settings_.when_short == Short::kError)
      return fail(DL_ERR_MISMATCH, have, " samples at ", settings_.rate, " Hz, expected at least ", wanted);
    fill_up(out, have, wanted, settings_.channels * static_cast<int64_t>(sizeof(float)),
            settings_.when_short);
    return {};
  }

 private:
  template <typename... Parts>
  Failure fail(dl_status code, const Parts&... parts) const {
    return failure(code, container_.name, ": ", parts...);
  }

  Failure check_length(int64_t frames) const {
    if (settings_.max_seconds == 0) return {};
    const double seconds = static_cast<double>(frames) / static_cast<double>(rate_);
    if (seconds <= settings_.max_seconds) return {};
    return fail(DL_ERR_TOO_LARGE, seconds, " s or more, max_seconds is ", settings_.max_seconds);
  }

  Failure begin(float* out, int64_t room) {
    return scratch_.resampler.begin(rate_, settings_.rate, settings_.channels, settings_.quality, out, room);
  }

  // libsndfile 1.2 reads beyond its memory when it seeks in some damaged Vorbis streams: those of Ogg are decoded up to there.
  bool skip(int64_t frames) {
    if (!container_.is_ogg) return frames == 0 || sf_seek(file_.get(), frames, SEEK_SET) == frames;
    while (frames > 0) {
      const int64_t some =
          sf_readf_float(file_.get(), scratch_.frames.data(), std::min(kBlockFrames, frames));
      if (some <= 0) return false;
      frames -= some;
    }
    return true;
  }

  // At most so many frames of the file into the resampler, until it has no room.
  Failure feed(int64_t most, bool* fits) {
    const bool mixes = settings_.mono && channels_ > 1;
    while (*fits && frames_ < most) {
      const int64_t asked = std::min(kBlockFrames, most - frames_);
      const int64_t some = sf_readf_float(file_.get(), scratch_.frames.data(), asked);
      if (some <= 0) return {};
      if (Failure failed =
              check_samples(container_.name, scratch_.frames, some * channels_, channels_, frames_))
        return failed;
      frames_ += some;
      if (Failure failed = check_length(frames_)) return failed;
      if (mixes) mix(scratch_.frames, some, channels_, scratch_.mixed);
      const std::vector<float>& made = mixes ? scratch_.mixed : scratch_.frames;
      if (Failure failed = scratch_.resampler.feed(made.data(), some, fits)) return failed;
    }
    return {};
  }

  // After the last block. `expected`: frames that there must have been; -1: nobody knows.
  Failure check_end(int64_t expected) const {
    if (const int code = sf_error(file_.get()); code != SF_ERR_NO_ERROR)
      return fail(DL_ERR_CORRUPT, "after ", frames_, " frames: ", sf_error_number(code));
    if (frames_ < expected)
      return fail(DL_ERR_TRUNCATED, frames_, " frames, its headers state ", container_.frames);
    if (frames_ == 0) return fail(DL_ERR_EMPTY, "no samples in it");
    return {};
  }

  const DecodeSettings& settings_;
  DecodeScratch& scratch_;
  Memory memory_;
  Container container_;
  SF_INFO info_ = {};
  File file_;
  int64_t channels_ = 0, rate_ = 0;
  int64_t frames_ = 0;  // read so far
};

}  // namespace

Failure decode(const DecodeSettings& settings, Bytes file, uint64_t draw, DecodeScratch& scratch, float* out,
               int64_t room, int64_t* written) {
  Decoding decoding(settings, file, scratch);
  if (Failure failed = decoding.open()) return failed;
  if (settings.piece == 0) return decoding.whole(out, room, written);
  *written = settings.piece;
  return *written > room ? Failure{} : decoding.piece(draw, out);
}

}  // namespace dataline_audio
