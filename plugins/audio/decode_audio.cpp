// decode_audio: bytes of files to samples.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "decode.h"
#include "operators.h"
#include "pool.h"
#include "samples.h"

namespace dataline_audio {
namespace {

class DecodeAudio {
 public:
  enum Argument : int32_t { kRate, kMono, kChannels, kSeconds, kRandom, kShort, kMaxSeconds, kQuality };

  Failure prepare(dl_operator_use& use) {
    if (use.dtype != DL_DTYPE_U8 || use.kind != DL_KIND_RAGGED || use.rank != 1)
      return failure(DL_ERR_BAD_TRANSFORM, "expected the bytes of files, ragged u8, got ", type_text(use));
    Arguments arguments(use);
    DecodeSettings& to = settings_;
    if (Failure failed = arguments.integer(kRate, kMinRate, kMaxRate, &to.rate)) return failed;
    if (Failure failed = arguments.boolean(kMono, &to.mono)) return failed;
    if (arguments.has(kChannels)) {
      if (to.mono) return arguments.wrong(kChannels, "mono=false with it");
      if (Failure failed = arguments.integer(kChannels, 1, kMaxChannels, &to.channels)) return failed;
    } else if (!to.mono) {
      return arguments.wrong(kMono, "channels=N with mono=false: how many the files have");
    }
    if (arguments.has(kMaxSeconds)) {
      if (Failure failed = arguments.number(kMaxSeconds, 0.001, kMostSeconds, &to.max_seconds)) return failed;
    }
    if (Failure failed = read_quality(arguments, kQuality, &to.quality)) return failed;
    if (Failure failed = read_piece(arguments)) return failed;
    const int64_t channels = to.mono ? 0 : to.channels;
    give(use, to.piece > 0 ? to.piece : -1, channels, samples_axes(channels));
    if (to.piece == 0 && to.max_seconds > 0) {
      const auto frames = static_cast<int64_t>(std::ceil(to.max_seconds * static_cast<double>(to.rate))) + 1;
      use.max_bytes = frames * to.channels * kItem;
    }
    use.draws = to.is_random ? 1 : 0;
    use.heavy = 1;
    return {};
  }

  Failure apply(dl_operator_row& row) {
    const Pool<DecodeScratch>::Lease scratch(pool_);
    const int64_t frame = settings_.channels * kItem;
    int64_t written = 0;
    const Bytes file(static_cast<const uint8_t*>(row.input), static_cast<size_t>(row.input_bytes));
    const uint64_t draw = settings_.is_random ? library.operator_random(&row, 0) : 0;
    if (Failure failed = decode(settings_, file, draw, *scratch, static_cast<float*>(row.output),
                                row.capacity / frame, &written))
      return failed;
    row.bytes = written * frame;  // more than there is room for: the library says so
    return {};
  }

 private:
  Failure read_piece(Arguments& arguments) {
    DecodeSettings& to = settings_;
    if (!arguments.has(kSeconds)) {
      if (arguments.given(kRandom)) return arguments.wrong(kRandom, "seconds=S with it");
      if (arguments.given(kShort)) return arguments.wrong(kShort, "seconds=S with it");
      return {};
    }
    if (Failure failed = read_seconds(arguments, kSeconds, to.rate, &to.piece)) return failed;
    if (Failure failed = arguments.boolean(kRandom, &to.is_random)) return failed;
    return read_short(arguments, kShort, &to.when_short);
  }

  DecodeSettings settings_;
  Pool<DecodeScratch> pool_;
};

constexpr dl_argument_info kDecodeArguments[] = {
    argument("rate", "number", "16000"),          argument("mono", "true or false", "true"),
    argument("channels", "number", "none"),       argument("seconds", "number", "none"),
    argument("random", "true or false", "false"), argument("short", kShortText, "pad"),
    argument("max_seconds", "number", "none"),    argument("quality", kQualityText, "hq")};

}  // namespace

dl_status add_decode_audio(dl_extensions* extensions, dl_error* error) {
  return add_operator<DecodeAudio>(
      extensions, "decode_audio",
      "Decodes WAV, FLAC, Ogg (Opus, Vorbis) and MP3 to f32 at one rate: the mean of the channels, or with "
      "mono=false all of them (channels: how many), as time x channels. With seconds, decodes only a piece "
      "of each file. A file longer than max_seconds is an error.",
      "librosa.load", kDecodeArguments, error);
}

}  // namespace dataline_audio
