// Which container a file is; tags before it; WAV and FLAC, whose headers say how much is to come.
// SPDX-License-Identifier: Apache-2.0
#include "container.h"

#include <string>

namespace dataline_audio {
namespace {

// The first bytes as a person would like to see them.
std::string head_of(Bytes bytes) {
  std::string out;
  constexpr const char* kHex = "0123456789abcdef";
  for (size_t i = 0; i < bytes.size() && i < 8; ++i) {
    if (i > 0) out += ' ';
    out += kHex[bytes[i] >> 4];
    out += kHex[bytes[i] & 15];
  }
  return out;
}

// Bytes of ID3v2 tags at the front, or an error where one says more than there is.
Failure skip_tags(Bytes& bytes) {
  while (says(bytes, 0, "ID3")) {
    if (bytes.size() < 10) return failure(DL_ERR_TRUNCATED, "ID3 tag: expected 10 bytes, got ", bytes.size());
    size_t length = 0;
    for (size_t i = 6; i < 10; ++i) {
      if (bytes[i] > 127) return failure(DL_ERR_CORRUPT, "ID3 tag: its length has a byte of ", +bytes[i]);
      length = length << 7 | bytes[i];
    }
    length += (bytes[5] & 0x10) != 0 ? 20 : 10;
    if (length > bytes.size())
      return failure(DL_ERR_TRUNCATED, "ID3 tag of ", length, " bytes, the file has ", bytes.size());
    bytes = bytes.subspan(length);
  }
  return {};
}

struct WavFormat {
  int64_t channels = 0;
  int64_t frame_bytes = 0;  // 0: compressed
};

Failure read_format(Bytes wav, size_t at, uint32_t length, bool is_big, WavFormat& out) {
  if (length < 16)
    return failure(DL_ERR_CORRUPT, "WAV: fmt chunk of ", length, " bytes, expected at least 16");
  const auto number = [&](size_t place, size_t count) {
    return is_big ? big(wav, at + place, count) : little(wav, at + place, count);
  };
  const uint32_t tag = number(0, 2);
  out.channels = number(2, 2);
  const int64_t bits = number(14, 2);
  if (Failure failed = check_channels("WAV", out.channels)) return failed;
  if (Failure failed = check_rate("WAV", number(4, 4))) return failed;
  const bool has_frames = tag == 1 || tag == 3 || tag == 0xFFFE;  // integers, floats, either with a mask
  if (!has_frames) return {};
  if (bits < 8 || bits > 64 || bits % 8 != 0)
    return failure(DL_ERR_CORRUPT, "WAV: ", bits, " bits per sample, expected 8, 16, 24, 32 or 64");
  out.frame_bytes = out.channels * (bits / 8);
  if (number(12, 2) != out.frame_bytes)
    return failure(DL_ERR_CORRUPT, "WAV: frames of ", number(12, 2), " bytes, expected ", out.frame_bytes,
                   " for ", out.channels, " channels of ", bits, " bits");
  return {};
}

}  // namespace

Failure check_channels(const char* name, int64_t channels) {
  if (channels >= 1 && channels <= kMaxChannels) return {};
  return failure(channels < 1 ? DL_ERR_CORRUPT : DL_ERR_TOO_LARGE, name, ": ", channels,
                 " channels, expected 1 to ", kMaxChannels);
}

Failure check_rate(const char* name, int64_t rate) {
  if (rate >= kMinRate && rate <= kMaxRate) return {};
  return failure(rate < kMinRate ? DL_ERR_CORRUPT : DL_ERR_TOO_LARGE, name, ": a rate of ", rate,
                 " Hz, expected ", kMinRate, " to ", kMaxRate);
}

Failure check_wav(Container& wav) {
  const Bytes bytes = wav.bytes;
  const bool is_big = says(bytes, 0, "RIFX"), is_64 = says(bytes, 0, "RF64");
  if (!says(bytes, 8, "WAVE")) return failure(DL_ERR_UNSUPPORTED, "a RIFF file that is not WAVE");
  const auto word = [&](size_t at) { return is_big ? big(bytes, at, 4) : little(bytes, at, 4); };
  WavFormat format;
  uint64_t long_data = 0;
  for (uint64_t at = 12; at + 8 <= bytes.size();) {
    const uint64_t left = bytes.size() - at - 8;
    uint64_t length = word(at + 4);
    const bool is_data = says(bytes, at, "data");
    if (is_data && length == UINT32_MAX) length = is_64 ? long_data : left;  // a stream does not know
    if (length > left) {
      return failure(DL_ERR_TRUNCATED, "WAV: the chunk at offset ", at, " has ", length,
                     " bytes, the file ends after ", left);
    }
    if (says(bytes, at, "ds64") && length >= 16)
      long_data = uint64_t{little(bytes, at + 20, 4)} << 32 | little(bytes, at + 16, 4);
    if (says(bytes, at, "fmt ")) {
      if (Failure failed = read_format(bytes, at + 8, static_cast<uint32_t>(length), is_big, format))
        return failed;
    }
    if (is_data) {
      if (format.channels == 0) return failure(DL_ERR_CORRUPT, "WAV: no fmt chunk before the data");
      if (length == 0) return failure(DL_ERR_EMPTY, "WAV: no samples in it");
      if (format.frame_bytes > 0) wav.frames = static_cast<int64_t>(length) / format.frame_bytes;
      return {};
    }
    at += 8 + length + (length & 1);
  }
  return failure(DL_ERR_TRUNCATED, "WAV: no data chunk in ", bytes.size(), " bytes");
}

Failure check_flac(Container& flac) {
  const Bytes bytes = flac.bytes;
  if (bytes.size() < 42)
    return failure(DL_ERR_TRUNCATED, "FLAC: expected 42 bytes of headers, got ", bytes.size());
  if ((bytes[4] & 0x7F) != 0 || big(bytes, 5, 3) != 34)
    return failure(DL_ERR_CORRUPT, "FLAC: the first block is not STREAMINFO");
  if (Failure failed = check_rate("FLAC", big(bytes, 18, 3) >> 4)) return failed;
  const int64_t frames = static_cast<int64_t>(bytes[21] & 15) << 32 | big(bytes, 22, 4);
  if (frames > 0) flac.frames = frames;  // 0: a stream does not know
  return {};
}

Failure check_container(Bytes file, Container* out) {
  out->bytes = file;
  if (file.empty()) return failure(DL_ERR_EMPTY, "the file is empty");
  if (Failure failed = skip_tags(out->bytes)) return failed;
  const Bytes bytes = out->bytes;
  if (says(bytes, 0, "RIFF") || says(bytes, 0, "RIFX") || says(bytes, 0, "RF64")) {
    out->name = "WAV";
    return check_wav(*out);
  }
  if (says(bytes, 0, "fLaC")) {
    out->name = "FLAC";
    return check_flac(*out);
  }
  if (says(bytes, 0, "OggS")) {
    out->name = "Ogg";
    out->is_ogg = true;
    return check_ogg(*out);
  }
  if (bytes.size() >= 2 && bytes[0] == 0xFF && (bytes[1] & 0xE0) == 0xE0) {
    out->name = "MP3";
    return check_mp3(*out);
  }
  return failure(DL_ERR_UNSUPPORTED, "expected WAV, FLAC, Ogg (Opus, Vorbis) or MP3, got ", file.size(),
                 " bytes that start with ", head_of(bytes));
}

}  // namespace dataline_audio
