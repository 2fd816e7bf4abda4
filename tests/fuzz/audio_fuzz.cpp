// Any bytes as a file of the plug-in for audio: refused with a reason, or samples within the limit, finite, and (but for Ogg)
// the same every time. Pages of Ogg are tried under right checksums too, for few changes keep those.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "plugins/audio/container.h"
#include "plugins/audio/decode.h"
#include "plugins/audio/mel.h"
#include "tests/fuzz/target.h"

namespace dataline_audio {
namespace {

constexpr int64_t kRoom = 1 << 16;

void require(bool promise) {
  if (!promise) std::abort();
}

// The frames; -1 when refused.
int64_t decode_once(const DecodeSettings& settings, Bytes file, std::vector<float>& out) {
  DecodeScratch scratch;
  out.assign(static_cast<size_t>(kRoom * settings.channels), -2e30f);
  int64_t written = 0;
  const Failure failed = decode(settings, file, /*draw=*/12345, scratch, out.data(), kRoom, &written);
  if (failed) {
    require(!failed.text.empty());
    return -1;
  }
  require(written > 0);
  if (written > kRoom) return written;
  out.resize(static_cast<size_t>(written * settings.channels));
  for (const float value : out) require(std::isfinite(value) && value > -1e30f);
  return written;
}

void try_file(Bytes bytes) {
  const auto copy = dataline::fuzz::exact_copy({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const Bytes file(reinterpret_cast<const uint8_t*>(copy.get()), bytes.size());
  DecodeSettings settings;
  std::vector<float> first, again;
  const int64_t frames = decode_once(settings, file, first);
  // libvorbis and libopus make some samples of damaged streams from memory that nobody wrote.
  if (!says(file, 0, "OggS")) {
    require(decode_once(settings, file, again) == frames);
    require(frames < 0 || frames > kRoom || first == again);
  }
  settings.piece = 700;
  for (const bool is_random : {false, true}) {
    settings.is_random = is_random;
    settings.when_short = is_random ? Short::kRepeat : Short::kPad;
    const int64_t some = decode_once(settings, file, again);
    require(some == settings.piece || some == -1);
  }
  settings.piece = 0;
  settings.mono = false;
  for (settings.channels = 1; settings.channels <= 2; ++settings.channels) {
    settings.rate = settings.channels == 1 ? 8000 : 48000;
    static_cast<void>(decode_once(settings, file, again));
  }
  if (frames < 1 || frames > kRoom) return;
  const Mel mel({});
  int64_t rows = 0;
  if (mel.frames_of(frames, &rows)) return;
  std::vector<float> bands(static_cast<size_t>(rows * 80));
  require(!mel.apply(first.data(), frames, bands.data(), rows));
}

uint32_t crc_of(Bytes page) {
  uint32_t crc = 0;
  for (const uint8_t byte : page) {
    crc ^= uint32_t{byte} << 24;
    for (int bit = 0; bit < 8; ++bit) crc = crc << 1 ^ ((crc >> 31) != 0 ? 0x04c11db7u : 0u);
  }
  return crc;
}

// The pages that follow each other from the start, with the checksums that their bytes have.
std::vector<uint8_t> repaired(Bytes file) {
  std::vector<uint8_t> out(file.begin(), file.end());
  for (size_t at = 0; says(out, at, "OggS") && out.size() - at >= 27;) {
    size_t length = 27 + out[at + 26];
    for (size_t i = 27; i < size_t{27} + out[at + 26] && at + i < out.size(); ++i) length += out[at + i];
    if (length > out.size() - at) break;
    uint8_t* const crc = out.data() + at + 22;
    std::memset(crc, 0, 4);
    const uint32_t value = crc_of(Bytes(out).subspan(at, length));
    for (int i = 0; i < 4; ++i) crc[i] = static_cast<uint8_t>(value >> 8 * i);
    at += length;
  }
  return out;
}

void run(std::string_view input) {
  if (input.size() > 1 << 16) return;
  const Bytes bytes(reinterpret_cast<const uint8_t*>(input.data()), input.size());
  try_file(bytes);
  if (says(bytes, 0, "OggS")) try_file(repaired(bytes));
}

const dataline::fuzz::Target kTarget("audio", run);

}  // namespace
}  // namespace dataline_audio

// libsndfile 1.2 leaks a few kilobytes where the headers of a Vorbis stream are damaged under right checksums.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:vorbis_info_init\nleak:vorbis_synthesis_headerin";
}
