// resample and crop: samples to samples.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "container.h"
#include "operators.h"
#include "piece.h"
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
    int64_t rate = 0;
    if (Failure failed = arguments.integer(kRate, 1, kMaxRate, &rate)) return failed;
    if (Failure failed = read_seconds(arguments, kSeconds, rate, &wanted_)) return failed;
    if (Failure failed = arguments.boolean(kRandom, &is_random_)) return failed;
    if (Failure failed = read_short(arguments, kShort, &when_short_)) return failed;
    give(use, wanted_, channels_, samples_axes(channels_));
    use.draws = is_random_ ? 1 : 0;
    return {};
  }

  Failure apply(dl_operator_row& row) {
    const int64_t frame = std::max<int64_t>(channels_, 1) * kItem;
    const int64_t frames = row.input_bytes / frame, have = std::min(frames, wanted_);
    if (have < wanted_ && when_short_ == Short::kError)
      return failure(DL_ERR_MISMATCH, frames, " samples, expected at least ", wanted_);
    const uint64_t draw = is_random_ ? library.operator_random(&row, 0) : 0;
    const int64_t start = start_of(draw, frames, is_random_ ? wanted_ : frames);
    if (have > 0)
      std::memcpy(row.output, static_cast<const char*>(row.input) + start * frame,
                  static_cast<size_t>(have * frame));
    fill_up(row.output, have, wanted_, frame, when_short_);
    return {};
  }

 private:
  int64_t wanted_ = 0, channels_ = 0;
  Short when_short_ = Short::kPad;
  bool is_random_ = false;
};

constexpr dl_argument_info kResampleArguments[] = {
    argument("rate", "number", ""), argument("from", "number", ""), argument("quality", kQualityText, "hq")};
constexpr dl_argument_info kCropArguments[] = {
    argument("seconds", "number", ""), argument("rate", "number", "16000"),
    argument("random", "true or false", "false"), argument("short", kShortText, "pad")};
}  // namespace

dl_status add_resample(dl_extensions* extensions, dl_error* error) {
  return add_operator<Resample>(extensions, "resample",
                                "Resamples from the rate `from` to `rate`, with libsoxr.", "librosa.resample",
                                kResampleArguments, error);
}

dl_status add_crop(dl_extensions* extensions, dl_error* error) {
  return add_operator<Crop>(
      extensions, "crop",
      "Crops samples at `rate` to a number of seconds: the first ones, or with random=true at a random "
      "position. Shorter samples are padded with silence, repeated, or an error.",
      nullptr, kCropArguments, error);
}

}  // namespace dataline_audio
