// resample and crop: samples to samples.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>

#include "container.h"
#include "operators.h"
#include "pool.h"
#include "samples.h"

namespace dataline_audio {
namespace {

class Resample {
 public:
  enum Argument : int32_t { kRate, kFrom, kQuality };

  Failure prepare(dl_operator_use& use) {
    if (Failure failed = want_samples(use, &channels_)) return failed;
    Arguments arguments(use);
    if (Failure failed = arguments.integer(kRate, kMinRate, kMaxRate, &rate_)) return failed;
    if (Failure failed = arguments.integer(kFrom, kMinRate, kMaxRate, &from_)) return failed;
    if (Failure failed = read_quality(arguments, kQuality, &quality_)) return failed;
    give(use, use.kind == DL_KIND_RAGGED ? -1 : resampled(use.shape[0], from_, rate_), channels_,
         samples_axes(channels_));
    use.heavy = 1;
    return {};
  }

  Failure apply(dl_operator_row& row) {
    const Pool<Scratch>::Lease scratch(pool_);
    const int64_t width = std::max<int64_t>(channels_, 1), frame = width * kItem;
    const int64_t frames = row.input_bytes / frame;
    row.bytes = resampled(frames, from_, rate_) * frame;
    if (row.bytes > row.capacity) return {};
    Resampler& resampler = scratch->resampler;
    bool fits = true;
    if (Failure failed = resampler.begin(from_, rate_, width, quality_, static_cast<float*>(row.output),
                                         row.capacity / frame))
      return failed;
    if (Failure failed = resampler.feed(floats_of(row, scratch->copy), frames, &fits)) return failed;
    return fits ? resampler.end(&fits) : Failure{};
  }

 private:
  struct Scratch {
    Resampler resampler;
    std::vector<float> copy;
  };
  int64_t rate_ = 0, from_ = 0, channels_ = 0;
  Quality quality_ = Quality::kHigh;
  Pool<Scratch> pool_;
};

class Crop {
 public:
  enum Argument : int32_t { kSeconds, kRate, kRandom, kShort };

  Failure prepare(dl_operator_use& use) {
    if (Failure failed = want_samples(use, &channels_)) return failed;
    Arguments arguments(use);
    double seconds = 0;
    int64_t rate = 0;
    if (Failure failed = arguments.number(kSeconds, 0, kMostSeconds, &seconds)) return failed;
    if (Failure failed = arguments.integer(kRate, 1, kMaxRate, &rate)) return failed;
    if (Failure failed = arguments.boolean(kRandom, &is_random_)) return failed;
    if (Failure failed = arguments.word(kShort, {"pad", "repeat", "error"}, &when_short_)) return failed;
    wanted_ = std::llround(seconds * static_cast<double>(rate));
    if (wanted_ < 1) return arguments.wrong(kSeconds, "at least one sample");
    give(use, wanted_, channels_, samples_axes(channels_));
    use.draws = is_random_ ? 1 : 0;
    return {};
  }

  Failure apply(dl_operator_row& row) {
    const int64_t frame = std::max<int64_t>(channels_, 1) * kItem;
    const int64_t frames = row.input_bytes / frame, have = std::min(frames, wanted_);
    if (have < wanted_ && when_short_ == 2)
      return failure(DL_ERR_MISMATCH, "expected at least ", wanted_, " samples, got ", frames);
    int64_t start = 0;
    if (is_random_ && frames > wanted_) {
      const auto places = static_cast<uint64_t>(frames - wanted_ + 1);
      start = static_cast<int64_t>(library.operator_random(&row, 0) % places);
    }
    auto* const out = static_cast<char*>(row.output);
    if (have > 0)
      std::memcpy(out, static_cast<const char*>(row.input) + start * frame,
                  static_cast<size_t>(have * frame));
    const bool repeats = when_short_ == 1 && have > 0;
    for (int64_t done = have; done < wanted_;) {
      const int64_t some = repeats ? std::min(have, wanted_ - done) : wanted_ - done;
      const auto bytes = static_cast<size_t>(some * frame);
      if (repeats) {
        std::memcpy(out + done * frame, out, bytes);
      } else {
        std::memset(out + done * frame, 0, bytes);
      }
      done += some;
    }
    return {};
  }

 private:
  int64_t wanted_ = 0, channels_ = 0;
  int32_t when_short_ = 0;
  bool is_random_ = false;
};

constexpr dl_argument_info kResampleArguments[] = {
    argument("rate", "number", ""), argument("from", "number", ""), argument("quality", kQualityText, "hq")};
constexpr dl_argument_info kCropArguments[] = {
    argument("seconds", "number", ""), argument("rate", "number", "16000"),
    argument("random", "true or false", "false"), argument("short", "pad, repeat or error", "pad")};
}  // namespace

dl_status add_resample(dl_extensions* extensions, dl_error* error) {
  return add_operator<Resample>(extensions, "resample",
                                "Samples at the rate `from` to samples at `rate`, by libsoxr.",
                                "librosa.resample", kResampleArguments, error);
}

dl_status add_crop(dl_extensions* extensions, dl_error* error) {
  return add_operator<Crop>(
      extensions, "crop",
      "So many seconds of samples at `rate`: the first, or with random=true from anywhere. Shorter ones "
      "are filled up with silence, or repeated, or an error.",
      nullptr, kCropArguments, error);
}

}  // namespace dataline_audio
