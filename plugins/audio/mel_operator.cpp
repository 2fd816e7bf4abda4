// mel: samples to spectrograms.
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "container.h"
#include "mel.h"
#include "operators.h"
#include "samples.h"

namespace dataline_audio {
namespace {

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
      return failure(DL_ERR_BAD_TRANSFORM, "expected one channel, got ", type_text(use), "; add mono=true");
    Arguments arguments(use);
    MelSettings to;
    if (Failure failed = read_sizes(arguments, to)) return failed;
    if (Failure failed = read_words(arguments, to)) return failed;
    const bool varies = use.kind == DL_KIND_RAGGED;
    if (to.bands_first && varies)
      return arguments.wrong(kAxes, "TF, because the samples vary in length (add crop or pad_to)");
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

}  // namespace

dl_status add_mel(dl_extensions* extensions, dl_error* error) {
  return add_operator<MelOperator>(
      extensions, "mel",
      "A spectrogram on the mel scale, time x bands (axes=FT: bands x time, of samples of "
      "one length).",
      "torchaudio.transforms.MelSpectrogram", kMelArguments, error);
}

}  // namespace dataline_audio
