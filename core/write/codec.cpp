// SPDX-License-Identifier: Apache-2.0
#include "core/write/codec.h"

#include <array>

#ifdef DATALINE_HAS_LIBLZ4
#include <lz4.h>
#include <lz4frame.h>
#endif
#ifdef DATALINE_HAS_LIBZSTD
#include <zstd.h>
#endif

namespace dataline {
namespace {

constexpr std::array<const char*, 3> kCodecNames = {"none", "lz4", "zstd"};
constexpr size_t kMaxCompressed = size_t{2'000'000'000};  // LZ4 counts in int

#ifdef DATALINE_HAS_LIBZSTD
// Zstandard's own default: the levels above gain a few percent at a third of the speed.
constexpr int kZstdLevel = 3;

struct FreeZstdWriter {
  void operator()(ZSTD_CCtx* one) const { ZSTD_freeCCtx(one); }
};
#endif

// Room for `bound` more bytes, of which `fill` returns how many it took; 0: it failed.
template <typename Fill>
Status append_compressed(std::vector<std::byte>& out, size_t bound, const char* library, const Fill& fill) {
  const size_t before = out.size();
  out.resize(before + bound);
  const size_t written = fill(out.data() + before);
  out.resize(before + written);
  return written > 0 ? Status::ok() : error(Code::kNoMemory, library, " could not compress");
}

}  // namespace

const char* write_codec_name(WriteCodec codec) { return kCodecNames[static_cast<size_t>(codec)]; }

std::optional<WriteCodec> find_write_codec(std::string_view name) {
  for (size_t c = 0; c < kCodecNames.size(); ++c) {
    if (name == kCodecNames[c]) return static_cast<WriteCodec>(c);
  }
  return std::nullopt;
}

Status check_write_codec([[maybe_unused]] WriteCodec codec) {
#ifndef DATALINE_HAS_LIBLZ4
  if (codec == WriteCodec::kLz4)
    return error(Code::kUnsupported, "codec=lz4: this build has no liblz4 (DATALINE_WITH_LIBLZ4)");
#endif
#ifndef DATALINE_HAS_LIBZSTD
  if (codec == WriteCodec::kZstd)
    return error(Code::kUnsupported, "codec=zstd: this build has no libzstd (DATALINE_WITH_LIBZSTD)");
#endif
  return Status::ok();
}

struct Compressor::Library {
#ifdef DATALINE_HAS_LIBZSTD
  std::unique_ptr<ZSTD_CCtx, FreeZstdWriter> zstd;
#endif
};

Compressor::Compressor(WriteCodec codec, Form form)
    : codec_(codec), form_(form), library_(std::make_unique<Library>()) {}
Compressor::~Compressor() = default;

Status Compressor::compress(Bytes bytes, std::vector<std::byte>& out) {
  if (bytes.size() > kMaxCompressed)
    return error(Code::kTooLarge, bytes.size(), " bytes to compress in one call, expected at most ",
                 kMaxCompressed);
#ifdef DATALINE_HAS_LIBZSTD
  if (codec_ == WriteCodec::kZstd) {
    if (library_->zstd == nullptr) library_->zstd.reset(ZSTD_createCCtx());
    ZSTD_CCtx* const context = library_->zstd.get();
    if (context == nullptr) return error(Code::kNoMemory, "libzstd: out of memory");
    const size_t bound = ZSTD_compressBound(bytes.size());
    return append_compressed(out, bound, "libzstd", [&](std::byte* to) -> size_t {
      const size_t written = ZSTD_compressCCtx(context, to, bound, bytes.data(), bytes.size(), kZstdLevel);
      return ZSTD_isError(written) != 0 ? 0 : written;
    });
  }
#endif
#ifdef DATALINE_HAS_LIBLZ4
  if (codec_ == WriteCodec::kLz4 && form_ == Form::kBlock) {
    const auto count = static_cast<int>(bytes.size());
    const int bound = LZ4_compressBound(count);
    return append_compressed(out, static_cast<size_t>(bound), "liblz4", [&](std::byte* to) {
      return static_cast<size_t>(LZ4_compress_default(reinterpret_cast<const char*>(bytes.data()),
                                                      reinterpret_cast<char*>(to), count, bound));
    });
  }
  if (codec_ == WriteCodec::kLz4) {
    const size_t bound = LZ4F_compressFrameBound(bytes.size(), nullptr);
    return append_compressed(out, bound, "liblz4", [&](std::byte* to) -> size_t {
      const size_t written = LZ4F_compressFrame(to, bound, bytes.data(), bytes.size(), nullptr);
      return LZ4F_isError(written) != 0 ? 0 : written;
    });
  }
#endif
  out.insert(out.end(), bytes.begin(), bytes.end());
  return Status::ok();
}

}  // namespace dataline
