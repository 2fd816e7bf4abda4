// How the bytes of a set are compressed while they are written.
// Sources: LZ4 Frame Format Description 1.6.3, LZ4 Block Format Description, RFC 8878. Needs liblz4 and libzstd; a build without one of
// them refuses the codec by name. What is inflated is in core/source/frames.h.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/status.h"

namespace dataline {

enum class WriteCodec : uint8_t { kNone, kLz4, kZstd };

const char* write_codec_name(WriteCodec codec);  // "none", "lz4", "zstd"
std::optional<WriteCodec> find_write_codec(std::string_view name);
Status check_write_codec(WriteCodec codec);  // kUnsupported: this build lacks its library

// Keeps what the libraries work with, so that one object does for many buffers.
// Threads: externally synchronized.
class Compressor {
 public:
  enum class Form : uint8_t { kFrame, kBlock };  // of LZ4; Zstandard has frames alone

  Compressor(WriteCodec codec, Form form);
  ~Compressor();

  WriteCodec codec() const { return codec_; }
  // Appends what `bytes` become. kNoMemory, kTooLarge (more than 2 GB at once).
  Status compress(Bytes bytes, std::vector<std::byte>& out);

 private:
  struct Library;
  const WriteCodec codec_;
  [[maybe_unused]] const Form form_;  // without liblz4
  std::unique_ptr<Library> library_;
};

}  // namespace dataline
