// Inflating in memory what LZ4 and Zstandard made: the buffers of Arrow files, shards of MDS, chunks of LitData, .zst files. The
// output is limited by the caller.
//
// Sources: LZ4 Frame Format Description 1.6.3, RFC 8878. Needs liblz4 and libzstd; a build without one of them answers
// kUnsupported, naming the build option.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/base/bytes.h"
#include "core/base/status.h"

namespace dataline {

enum class FrameCodec : uint8_t { kLz4, kZstd };

const char* frame_codec_name(FrameCodec codec);  // "LZ4", "Zstandard"

// The most that so many bytes can inflate to: a header that claims more is wrong.
int64_t max_inflated_frame_bytes(FrameCodec codec, int64_t compressed_bytes);

// By the four bytes of a magic: that of a frame, or of a skippable frame, which may come before it.
bool is_zstd(Bytes first);
bool is_zstd_frame(Bytes first);
// The bytes of the skippable frame that begins here, with its header; nothing: no such frame.
constexpr int64_t kSkippableHeaderBytes = 8;
std::optional<int64_t> skippable_frame_bytes(Bytes first);

// The most that these frames of Zstandard inflate to: exactly that where each says its size, else up to 128 KiB more for each
// block. kTruncated, kCorrupt: frames that cannot be, with the offset.
Result<int64_t> zstd_frames_bound(const std::string& path, Bytes compressed);

// Keeps what the libraries work with, so that one object does for many buffers.
// Threads: externally synchronized.
class FrameInflater {
 public:
  FrameInflater();
  ~FrameInflater();

  // All of `compressed`, one frame or several, into `out`, which they must fill. kCorrupt: they are damaged, break off, or hold
  // more or less. kNoMemory. `name`: for messages.
  Status inflate(FrameCodec codec, const std::string& name, Bytes compressed, std::span<std::byte> out);
  // Of Zstandard: fills `out` as far as the frames go, and returns how far. kCorrupt: there is more.
  Result<int64_t> inflate_zstd(const std::string& name, Bytes compressed, std::span<std::byte> out);

 private:
  struct Libraries;
  std::unique_ptr<Libraries> libraries_;
};

}  // namespace dataline
