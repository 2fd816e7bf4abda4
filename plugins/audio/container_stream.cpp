// Ogg and MP3, which are made of pages and frames: all are walked, so that a file that is cut or damaged is seen. libsndfile
// takes what it finds.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>

#include "container.h"

namespace dataline_audio {
namespace {

constexpr std::array<uint32_t, 256> make_crc_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i << 24;
    for (int bit = 0; bit < 8; ++bit) value = value << 1 ^ ((value >> 31) != 0 ? 0x04c11db7u : 0u);
    table[i] = value;
  }
  return table;
}
constexpr std::array<uint32_t, 256> kCrc = make_crc_table();

// The checksum of a page, whose own four bytes count as 0.
uint32_t page_crc(Bytes page) {
  uint32_t crc = 0;
  for (size_t i = 0; i < page.size(); ++i)
    crc = crc << 8 ^ kCrc[crc >> 24 ^ (i >= 22 && i < 26 ? 0 : page[i])];
  return crc;
}

Failure check_codec(Bytes packet) {
  if (says(packet, 0, "OpusHead")) {
    if (packet.size() < 19)
      return failure(DL_ERR_TRUNCATED, "Ogg: an Opus header of ", packet.size(), " bytes, expected 19");
    return check_channels("Ogg", packet[9]);  // its rate is a note; 0 is said where it is not known
  }
  if (says(packet, 0, "\x01vorbis")) {
    if (packet.size() < 30)
      return failure(DL_ERR_TRUNCATED, "Ogg: a Vorbis header of ", packet.size(), " bytes, expected 30");
    if (Failure failed = check_channels("Ogg", packet[11])) return failed;
    return check_rate("Ogg", little(packet, 12, 4));
  }
  return failure(DL_ERR_UNSUPPORTED, "Ogg: expected Opus or Vorbis in it");
}

// Of MPEG-1 layer 1, 2, 3, then of MPEG-2 and 2.5 layer 1, and both others; kbit/s. 0: free format, which is not taken.
constexpr int16_t kBitrates[5][15] = {{0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448},
                                      {0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384},
                                      {0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
                                      {0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256},
                                      {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}};
constexpr int32_t kRates[3] = {44100, 48000, 32000};

struct Mp3Frame {
  size_t bytes = 0;  // 0: not a frame
  size_t side = 0;   // where a Xing header would be
};

Mp3Frame read_frame(Bytes bytes, size_t at) {
  if (bytes.size() - at < 4 || bytes[at] != 0xFF || (bytes[at + 1] & 0xE0) != 0xE0) return {};
  const int version = bytes[at + 1] >> 3 & 3;  // 0: 2.5, 2: 2, 3: 1
  const int layer = 4 - (bytes[at + 1] >> 1 & 3);
  const int bitrate = bytes[at + 2] >> 4, rate = bytes[at + 2] >> 2 & 3, padding = bytes[at + 2] >> 1 & 1;
  if (version == 1 || layer == 4 || bitrate == 15 || bitrate == 0 || rate == 3) return {};
  const bool is_1 = version == 3, is_mono = bytes[at + 3] >> 6 == 3;
  const int64_t kbits = kBitrates[is_1 ? layer - 1 : layer == 1 ? 3 : 4][bitrate];
  const int64_t hertz = kRates[rate] / (is_1 ? 1 : version == 2 ? 2 : 4);
  Mp3Frame out;
  if (layer == 1) {
    out.bytes = static_cast<size_t>((12 * kbits * 1000 / hertz + padding) * 4);
  } else {
    const int64_t slots = layer == 3 && !is_1 ? 72 : 144;
    out.bytes = static_cast<size_t>(slots * kbits * 1000 / hertz + padding);
  }
  out.side = is_1 ? (is_mono ? 21 : 36) : (is_mono ? 13 : 21);
  return out;
}

// What writers put behind the last frame: tags, and zeros.
bool is_tail(Bytes bytes, size_t at) {
  for (const std::string_view tag : {"TAG", "APETAGEX", "LYRICSBEGIN", "ID3"}) {
    if (says(bytes, at, tag)) return true;
  }
  while (at < bytes.size() && bytes[at] == 0) ++at;
  return at == bytes.size();
}

}  // namespace

Failure check_ogg(Container& ogg) {
  const Bytes bytes = ogg.bytes;
  for (size_t at = 0; at < bytes.size();) {
    const size_t left = bytes.size() - at;
    if (!says(bytes, at, "OggS")) {
      if (left < 4) return failure(DL_ERR_TRUNCATED, "Ogg: the file ends in the page at offset ", at);
      return failure(DL_ERR_CORRUPT, "Ogg: no page at offset ", at);
    }
    size_t length = 27;
    if (left >= length) length += bytes[at + 26];
    const size_t head = length;
    for (size_t i = 27; i < head && head <= left; ++i) length += bytes[at + i];
    if (length > left) {
      return failure(DL_ERR_TRUNCATED, "Ogg: the page at offset ", at, " has at least ", length,
                     " bytes, the file ends after ", left);
    }
    const Bytes page = bytes.subspan(at, length);
    if (page_crc(page) != little(page, 22, 4))
      return failure(DL_ERR_CORRUPT, "Ogg: wrong checksum of the page at offset ", at);
    if (at == 0) {
      if (Failure failed = check_codec(page.subspan(head))) return failed;
    }
    at += length;
  }
  return {};
}

Failure check_mp3(Container& mp3) {
  const Bytes bytes = mp3.bytes;
  const Mp3Frame first = read_frame(bytes, 0);
  if (first.bytes == 0) return failure(DL_ERR_CORRUPT, "MP3: no frame at the start");
  int64_t expected = -1, frames = 0;
  for (size_t at = 0; at < bytes.size(); ++frames) {
    const Mp3Frame frame = read_frame(bytes, at);
    if (frame.bytes == 0) {
      if (bytes.size() - at < 4) return failure(DL_ERR_TRUNCATED, "MP3: the file ends in frame ", frames);
      if (is_tail(bytes, at)) break;
      return failure(DL_ERR_CORRUPT, "MP3: no frame at offset ", at, ", after ", frames, " frames");
    }
    if (frame.bytes > bytes.size() - at) {
      return failure(DL_ERR_TRUNCATED, "MP3: frame ", frames, " has ", frame.bytes,
                     " bytes, the file ends after ", bytes.size() - at);
    }
    const size_t xing = at + frame.side;
    if (frames == 0 && (says(bytes, xing, "Xing") || says(bytes, xing, "Info")) &&
        frame.bytes >= frame.side + 12 && (bytes[xing + 7] & 1) != 0)
      expected = int64_t{big(bytes, xing + 8, 4)} + 1;  // and that frame itself
    at += frame.bytes;
  }
  // One more or less is between writers that count the first frame, and those that do not.
  if (expected > 0 && frames + 1 < expected)
    return failure(DL_ERR_TRUNCATED, "MP3: ", frames, " frames, its header states ", expected);
  return {};
}

}  // namespace dataline_audio
