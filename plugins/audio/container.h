// What the bytes of a file are: WAV, FLAC, Ogg or MP3, by their headers. Whatever a header says is checked here before
// libsndfile sees the bytes, so that its readers of some twenty older formats are never reached, and so that files that are
// cut or damaged are refused where libsndfile would deliver what is left of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "library.h"

namespace dataline_audio {

using Bytes = std::span<const uint8_t>;

// Limits of a file.
constexpr int64_t kMinRate = 1000;
constexpr int64_t kMaxRate = 768000;
constexpr int64_t kMaxChannels = 64;

struct Container {
  const char* name = "";
  Bytes bytes;  // from the first header on, without tags before it
  bool is_ogg = false;
  int64_t frames = -1;  // that the file must have; -1: the headers do not say
};

Failure check_container(Bytes file, Container* out);

Failure check_channels(const char* name, int64_t channels);
Failure check_rate(const char* name, int64_t rate);

// Of each kind: container_*.cpp.
Failure check_wav(Container& wav);
Failure check_flac(Container& flac);
Failure check_ogg(Container& ogg);
Failure check_mp3(Container& mp3);

// Little and big endian, of one to four bytes; the caller has compared with the size.
inline uint32_t little(Bytes bytes, size_t at, size_t count) {
  uint32_t out = 0;
  for (size_t i = count; i-- > 0;) out = out << 8 | bytes[at + i];
  return out;
}
inline uint32_t big(Bytes bytes, size_t at, size_t count) {
  uint32_t out = 0;
  for (size_t i = 0; i < count; ++i) out = out << 8 | bytes[at + i];
  return out;
}
inline bool says(Bytes bytes, size_t at, std::string_view text) {
  if (at > bytes.size() || bytes.size() - at < text.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (bytes[at + i] != static_cast<uint8_t>(text[i])) return false;
  }
  return true;
}

}  // namespace dataline_audio
