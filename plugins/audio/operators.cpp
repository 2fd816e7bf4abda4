// decode_audio, resample, crop and mel as operators of dataline.h. Each is a class: prepare() reads the arguments of a use and
// says what comes out, apply() makes a row; its objects are shared by all threads. Over 300 lines: what meets the C ABI is
// in one place.
// SPDX-License-Identifier: Apache-2.0
#include "operators.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "arguments.h"
#include "decode.h"
#include "library.h"
#include "mel.h"
#include "pool.h"
#include "resampler.h"

namespace dataline_audio {
namespace {

constexpr int64_t kItem = sizeof(float);
constexpr int64_t kMostSeconds = 1000000;

// ---- What goes in and comes out ---------------------------------------------------------------------------------------

std::string type_text(const dl_operator_use& use) {
  std::string out = concat(use.kind == DL_KIND_RAGGED ? "ragged " : "", library.dtype_name(use.dtype), "[");
  for (int32_t d = 0; d < use.rank; ++d) {
    if (d > 0) out += 'x';
    out += use.shape[d] < 0 ? std::string("?") : std::to_string(use.shape[d]);
  }
  return out + ']';
}

// Samples as f32: the first dim is time, a second one channels. *channels: 0 if there is no second.
Failure want_samples(const dl_operator_use& use, int64_t* channels) {
  const std::string_view axes(use.axes, strnlen(use.axes, sizeof use.axes));
  if (use.dtype == DL_DTYPE_U8 && use.kind == DL_KIND_RAGGED)
    return failure(DL_ERR_BAD_TRANSFORM, "expected samples of f32, got ", type_text(use),
                   "; decode_audio makes samples of encoded files");
  if (use.dtype != DL_DTYPE_F32)
    return failure(DL_ERR_BAD_TRANSFORM, "expected samples of f32, got ", type_text(use),
                   "; cast(f32) and scale make f32 of integers");
  const bool has_time_first =
      use.rank == 1 || (use.rank == 2 && (use.kind == DL_KIND_RAGGED || axes == "TC"));
  if (!has_time_first)
    return failure(DL_ERR_BAD_TRANSFORM,
                   "expected samples as f32[time], or f32[time x channels] with axes TC, got ",
                   type_text(use), " with axes '", axes, "'");
  *channels = use.rank == 2 ? use.shape[1] : 0;
  if (use.rank == 2 && (*channels < 1 || *channels > kMaxChannels))
    return failure(DL_ERR_BAD_TRANSFORM, "expected 1 to ", kMaxChannels, " channels, got ", *channels);
  return {};
}

// The field after: f32, `time` rows (-1: they vary) of `width` items (0: no second dim).
void give(dl_operator_use& use, int64_t time, int64_t width, const char* axes) {
  use.kind = time < 0 ? DL_KIND_RAGGED : DL_KIND_DENSE;
  use.dtype = DL_DTYPE_F32;
  use.rank = width > 0 ? 2 : 1;
  use.shape[0] = time;
  if (width > 0) use.shape[1] = width;
  std::memset(use.axes, 0, sizeof use.axes);
  std::memcpy(use.axes, axes, std::strlen(axes));
  use.max_bytes = -1;
}

const char* samples_axes(int64_t channels) { return channels > 0 ? "TC" : "T"; }

// The input as floats, copied where it lies at an odd address.
const float* floats_of(const dl_operator_row& row, std::vector<float>& copy) {
  if (reinterpret_cast<uintptr_t>(row.input) % alignof(float) == 0)
    return static_cast<const float*>(row.input);
  copy.resize(static_cast<size_t>(row.input_bytes / kItem));
  std::memcpy(copy.data(), row.input, copy.size() * sizeof(float));
  return copy.data();
}

constexpr const char* kQualityText = "qq, lq, mq, hq or vhq";

Failure read_quality(Arguments& arguments, int32_t index, Quality* out) {
  int32_t word = 0;
  Failure failed = arguments.word(index, {"qq", "lq", "mq", "hq", "vhq"}, &word);
  *out = static_cast<Quality>(word);
  return failed;
}

// ---- decode_audio -----------------------------------------------------------------------------------------------------

class DecodeAudio {
 public:
  enum Argument : int32_t { kRate, kMono, kChannels, kMaxSeconds, kQuality };

  Failure prepare(dl_operator_use& use) {
    if (use.dtype != DL_DTYPE_U8 || use.kind != DL_KIND_RAGGED || use.rank != 1)
      return failure(DL_ERR_BAD_TRANSFORM, "expected the bytes of files, ragged u8, got ", type_text(use));
    Arguments arguments(use);
    DecodeSettings& to = settings_;
    if (Failure failed = arguments.integer(kRate, kMinRate, kMaxRate, &to.rate)) return failed;
    if (Failure failed = arguments.boolean(kMono, &to.mono)) return failed;
    if (arguments.has(kChannels)) {
      if (to.mono) return arguments.wrong(kChannels, "mono=false where channels are kept");
      if (Failure failed = arguments.integer(kChannels, 1, kMaxChannels, &to.channels)) return failed;
    } else if (!to.mono) {
      return arguments.wrong(kMono, "channels=N beside mono=false: how many the files have");
    }
    if (arguments.has(kMaxSeconds)) {
      if (Failure failed = arguments.number(kMaxSeconds, 0.001, kMostSeconds, &to.max_seconds)) return failed;
    }
    if (Failure failed = read_quality(arguments, kQuality, &to.quality)) return failed;
    const int64_t channels = to.mono ? 0 : to.channels;
    give(use, -1, channels, samples_axes(channels));
    if (to.max_seconds > 0) {
      const auto frames = static_cast<int64_t>(std::ceil(to.max_seconds * static_cast<double>(to.rate))) + 1;
      use.max_bytes = frames * to.channels * kItem;
    }
    use.heavy = 1;
    return {};
  }

  Failure apply(dl_operator_row& row) {
    const Pool<DecodeScratch>::Lease scratch(pool_);
    const int64_t frame = settings_.channels * kItem;
    int64_t written = 0;
    const Bytes file(static_cast<const uint8_t*>(row.input), static_cast<size_t>(row.input_bytes));
    if (Failure failed = decode(settings_, file, *scratch, static_cast<float*>(row.output),
                                row.capacity / frame, &written))
      return failed;
    row.bytes = written * frame;  // more than there is room for: the library says so
    return {};
  }

 private:
  DecodeSettings settings_;
  Pool<DecodeScratch> pool_;
};

// ---- resample ---------------------------------------------------------------------------------------------------------

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

// ---- crop -------------------------------------------------------------------------------------------------------------

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

// ---- mel --------------------------------------------------------------------------------------------------------------

class MelOperator {
 public:
  enum Argument : int32_t {
    kBands,
    kFft,
    kHop,
    kWindow,
    kRate,
    kLow,
    kHigh,
    kPower,
    kScale,
    kNorm,
    kCenter,
    kPadMode,
    kLog,
    kFloor,
    kAxes
  };

  Failure prepare(dl_operator_use& use) {
    int64_t channels = 0;
    if (Failure failed = want_samples(use, &channels)) return failed;
    if (channels > 0)
      return failure(DL_ERR_BAD_TRANSFORM, "expected one channel, got ", type_text(use),
                     "; mono=true mixes them");
    Arguments arguments(use);
    MelSettings to;
    if (Failure failed = read_sizes(arguments, to)) return failed;
    if (Failure failed = read_words(arguments, to)) return failed;
    const bool varies = use.kind == DL_KIND_RAGGED;
    if (to.bands_first && varies)
      return arguments.wrong(kAxes, "TF, for the samples vary in length (crop or pad_to make them equal)");
    mel_ = std::make_unique<Mel>(to);
    bands_ = to.n_mels;
    int64_t frames = -1;
    if (!varies) {
      if (Failure failed = mel_->frames_of(use.shape[0], &frames)) {
        failed.code = DL_ERR_BAD_TRANSFORM;
        return failed;
      }
    }
    give(use, frames, bands_, "TF");
    if (to.bands_first) {
      std::swap(use.shape[0], use.shape[1]);
      std::swap(use.axes[0], use.axes[1]);
    }
    use.heavy = 1;
    return {};
  }

  Failure apply(dl_operator_row& row) {
    const int64_t samples = row.input_bytes / kItem;
    int64_t frames = 0;
    if (Failure failed = mel_->frames_of(samples, &frames)) return failed;
    row.bytes = frames * bands_ * kItem;
    if (row.bytes > row.capacity) return {};
    const Pool<std::vector<float>>::Lease copy(pool_);
    return mel_->apply(floats_of(row, *copy), samples, static_cast<float*>(row.output), frames);
  }

 private:
  static Failure read_sizes(Arguments& arguments, MelSettings& to) {
    if (Failure failed = arguments.integer(kBands, 1, 4096, &to.n_mels)) return failed;
    if (Failure failed = arguments.integer(kFft, 4, 65536, &to.n_fft)) return failed;
    if (to.n_fft % 2 != 0) return arguments.wrong(kFft, "an even number");
    if (Failure failed = arguments.integer(kHop, 1, 65536, &to.hop_length)) return failed;
    to.win_length = to.n_fft;
    if (arguments.has(kWindow)) {
      if (Failure failed = arguments.integer(kWindow, 1, to.n_fft, &to.win_length)) return failed;
    }
    if (Failure failed = arguments.integer(kRate, 1, kMaxRate, &to.rate)) return failed;
    const double half = static_cast<double>(to.rate) / 2;
    if (Failure failed = arguments.number(kLow, 0, half, &to.f_min)) return failed;
    to.f_max = half;
    if (arguments.has(kHigh)) {
      if (Failure failed = arguments.number(kHigh, 0, half, &to.f_max)) return failed;
    }
    if (to.f_min >= to.f_max) return arguments.wrong(kLow, concat("less than f_max=", to.f_max));
    if (Failure failed = arguments.number(kFloor, 1e-30, 1, &to.floor)) return failed;
    return arguments.integer(kPower, 1, 2, &to.power);
  }

  static Failure read_words(Arguments& arguments, MelSettings& to) {
    int32_t scale = 0, norm = 0, mode = 0, log = 0, axes = 0;
    if (Failure failed = arguments.word(kScale, {"htk", "slaney"}, &scale)) return failed;
    if (Failure failed = arguments.word(kNorm, {"none", "slaney"}, &norm)) return failed;
    if (Failure failed = arguments.boolean(kCenter, &to.center)) return failed;
    if (Failure failed = arguments.word(kPadMode, {"constant", "reflect"}, &mode)) return failed;
    if (Failure failed = arguments.word(kLog, {"none", "ln", "log10", "db"}, &log)) return failed;
    if (Failure failed = arguments.word(kAxes, {"TF", "FT"}, &axes)) return failed;
    to.scale = static_cast<MelScale>(scale);
    to.has_norm = norm == 1;
    to.reflects = mode == 1;
    to.log = static_cast<MelLog>(log);
    to.bands_first = axes == 1;
    return {};
  }

  std::unique_ptr<Mel> mel_;
  int64_t bands_ = 0;
  Pool<std::vector<float>> pool_;
};

// ---- The C ABI --------------------------------------------------------------------------------------------------------

template <typename Call>
dl_status guarded(dl_error* error, Call call) noexcept {
  try {
    const Failure failed = call();
    return failed ? library.error_set(error, failed.code, failed.text.c_str()) : DL_OK;
  } catch (const std::bad_alloc&) {
    return library.error_set(error, DL_ERR_NO_MEMORY, "out of memory");
  } catch (const std::exception& thrown) {
    return library.error_set(error, DL_ERR_READER, thrown.what());
  } catch (...) {
    return library.error_set(error, DL_ERR_READER, "an unknown exception");
  }
}

template <typename Use>
dl_status prepare(void*, dl_operator_use* use, dl_error* error) {
  return guarded(error, [&]() -> Failure {
    auto made = std::make_unique<Use>();
    if (Failure failed = made->prepare(*use)) return failed;
    use->state = made.release();
    return {};
  });
}

template <typename Use>
dl_status apply(void*, dl_operator_row* row, dl_error* error) {
  return guarded(error, [&] { return static_cast<Use*>(row->state)->apply(*row); });
}

template <typename Use>
void forget(void*, void* state) {
  delete static_cast<Use*>(state);
}

constexpr dl_argument_info argument(const char* name, const char* type, const char* default_value) {
  return {sizeof(dl_argument_info), 0, name, type, default_value};
}

constexpr dl_argument_info kDecodeArguments[] = {
    argument("rate", "number", "16000"), argument("mono", "true or false", "true"),
    argument("channels", "number", "none"), argument("max_seconds", "number", "none"),
    argument("quality", kQualityText, "hq")};
constexpr dl_argument_info kResampleArguments[] = {
    argument("rate", "number", ""), argument("from", "number", ""), argument("quality", kQualityText, "hq")};
constexpr dl_argument_info kCropArguments[] = {
    argument("seconds", "number", ""), argument("rate", "number", "16000"),
    argument("random", "true or false", "false"), argument("short", "pad, repeat or error", "pad")};
constexpr dl_argument_info kMelArguments[] = {argument("n_mels", "number", "80"),
                                              argument("n_fft", "number", "400"),
                                              argument("hop_length", "number", "160"),
                                              argument("win_length", "number", "none"),
                                              argument("rate", "number", "16000"),
                                              argument("f_min", "number", "0"),
                                              argument("f_max", "number", "none"),
                                              argument("power", "1 or 2", "2"),
                                              argument("mel_scale", "htk or slaney", "htk"),
                                              argument("norm", "none or slaney", "none"),
                                              argument("center", "true or false", "true"),
                                              argument("pad_mode", "reflect or constant", "reflect"),
                                              argument("log", "none, ln, log10 or db", "none"),
                                              argument("floor", "number", "1e-10"),
                                              argument("axes", "TF or FT", "TF")};

template <typename Use, size_t kCount>
dl_status add(dl_extensions* extensions, const char* name, const char* doc, const char* source,
              const dl_argument_info (&arguments)[kCount], dl_error* error) {
  dl_operator table = {};
  table.struct_size = sizeof table;
  table.argument_count = static_cast<int32_t>(kCount);
  table.name = name;
  table.doc = doc;
  table.source = source;
  table.arguments = arguments;
  table.prepare = prepare<Use>;
  table.apply = apply<Use>;
  table.forget = forget<Use>;
  return library.add_operator(extensions, &table, error);
}

}  // namespace

dl_status add_operators(dl_extensions* extensions, dl_error* error) {
  dl_status status = add<DecodeAudio>(
      extensions, "decode_audio",
      "WAV, FLAC, Ogg (Opus, Vorbis) and MP3 to f32 at one rate: the mean of the channels, or with "
      "mono=false "
      "all, whose number channels says, as time x channels. A file longer than max_seconds is an error.",
      "librosa.load", kDecodeArguments, error);
  if (status != DL_OK) return status;
  status =
      add<Resample>(extensions, "resample", "Samples at the rate `from` to samples at `rate`, by libsoxr.",
                    "librosa.resample", kResampleArguments, error);
  if (status != DL_OK) return status;
  status = add<Crop>(
      extensions, "crop",
      "So many seconds of samples at `rate`: the first, or with random=true from anywhere. Shorter ones "
      "are filled up with silence, or repeated, or an error.",
      nullptr, kCropArguments, error);
  if (status != DL_OK) return status;
  return add<MelOperator>(
      extensions, "mel",
      "A spectrogram on the mel scale, time x bands (axes=FT: bands x time, of samples of "
      "one length).",
      "torchaudio.transforms.MelSpectrogram", kMelArguments, error);
}

}  // namespace dataline_audio
