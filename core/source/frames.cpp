// SPDX-License-Identifier: Apache-2.0
#include "core/source/frames.h"

#include <limits>

#include "core/base/bytes.h"
#include "core/base/checked.h"

#ifdef DATALINE_HAS_LIBLZ4
#include <lz4frame.h>
#endif
#ifdef DATALINE_HAS_LIBZSTD
#include <zstd.h>
#endif

namespace dataline {
namespace {

// LZ4: a byte of a match's length stands for 255. Zstandard: a block of 3 bytes and one that is repeated 128 KiB times.
constexpr int64_t kMaxLz4Ratio = 255, kMaxZstdRatio = (int64_t{128} << 10) / 4;

constexpr uint32_t kZstdMagic = 0xfd2fb528, kSkippableMagic = 0x184d2a50, kSkippableMask = ~uint32_t{15};

bool is_skippable_frame(Bytes first) {
  return first.size() >= sizeof(uint32_t) &&
         (load_little<uint32_t>(first.data()) & kSkippableMask) == kSkippableMagic;
}

#if defined(DATALINE_HAS_LIBLZ4) || defined(DATALINE_HAS_LIBZSTD)
Status damaged(FrameCodec codec, const std::string& name, const char* reason) {
  return error(Code::kCorrupt, name, ": its ", frame_codec_name(codec), " data is damaged or truncated (",
               reason, ")");
}

Status inflates_to_more(const std::string& name, std::span<std::byte> out) {
  return error(Code::kCorrupt, name, ": decompresses to more than ", out.size(), " bytes");
}
#endif

Status inflates_to_less(const std::string& name, size_t bytes, std::span<std::byte> out) {
  return error(Code::kCorrupt, name, ": decompresses to ", bytes, " bytes, expected ", out.size());
}

#if !defined(DATALINE_HAS_LIBLZ4) || !defined(DATALINE_HAS_LIBZSTD)
Status not_built_in(const std::string& name, FrameCodec codec) {
  const bool lz4 = codec == FrameCodec::kLz4;
  return error(Code::kUnsupported, name, ": is compressed with ", frame_codec_name(codec),
               ", and this build has no ",
               lz4 ? "liblz4 (DATALINE_WITH_LIBLZ4)" : "libzstd (DATALINE_WITH_LIBZSTD)");
}
#endif

#ifdef DATALINE_HAS_LIBLZ4
struct FreeLz4 {
  void operator()(LZ4F_dctx* one) const { LZ4F_freeDecompressionContext(one); }
};
using Lz4Context = std::unique_ptr<LZ4F_dctx, FreeLz4>;

Status inflate_lz4(Lz4Context& context, const std::string& name, Bytes compressed, std::span<std::byte> out) {
  if (context == nullptr) {
    LZ4F_dctx* made = nullptr;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&made, LZ4F_VERSION)) != 0)
      return error(Code::kNoMemory, name, ": no memory to decompress it");
    context.reset(made);
  }
  LZ4F_resetDecompressionContext(context.get());
  LZ4F_decompressOptions_t options = {};
  options.stableDst = 1;  // what is written stays where it is: no copy of it is kept
  size_t read = 0, written = 0, wanted = 1;
  while (read < compressed.size()) {
    size_t some = compressed.size() - read, room = out.size() - written;
    wanted = LZ4F_decompress(context.get(), out.data() + written, &room, compressed.data() + read, &some,
                             &options);
    if (LZ4F_isError(wanted) != 0) return damaged(FrameCodec::kLz4, name, LZ4F_getErrorName(wanted));
    read += some;
    written += room;
    if (some == 0 && room == 0) return inflates_to_more(name, out);
  }
  // What is wanted for more than this frame, or for data that no room was left for.
  if (wanted != 0 && written == out.size()) {
    std::byte more;
    size_t some = 0, room = 1;
    LZ4F_decompress(context.get(), &more, &room, compressed.data(), &some, &options);
    if (room > 0) return inflates_to_more(name, out);
  }
  if (wanted != 0) return damaged(FrameCodec::kLz4, name, "the frame has no end");
  return written == out.size() ? Status::ok() : inflates_to_less(name, written, out);
}
#endif

#ifdef DATALINE_HAS_LIBZSTD
struct FreeZstd {
  void operator()(ZSTD_DCtx* one) const { ZSTD_freeDCtx(one); }
};
using ZstdContext = std::unique_ptr<ZSTD_DCtx, FreeZstd>;

Result<int64_t> inflate_frames(ZstdContext& context, const std::string& name, Bytes compressed,
                               std::span<std::byte> out) {
  if (context == nullptr) context.reset(ZSTD_createDCtx());
  if (context == nullptr) return error(Code::kNoMemory, name, ": no memory to decompress it");
  const size_t written =
      ZSTD_decompressDCtx(context.get(), out.data(), out.size(), compressed.data(), compressed.size());
  if (ZSTD_isError(written) == 0) return static_cast<int64_t>(written);
  const unsigned long long says = ZSTD_getFrameContentSize(compressed.data(), compressed.size());
  const bool known = says != ZSTD_CONTENTSIZE_UNKNOWN && says != ZSTD_CONTENTSIZE_ERROR;
  if (known && says > out.size()) return inflates_to_more(name, out);
  return damaged(FrameCodec::kZstd, name, ZSTD_getErrorName(written));
}
#endif

// Walks over frames: RFC 8878, 3.1. The numbers of a header and its blocks are little-endian.
class FrameWalk {
 public:
  FrameWalk(const std::string& path, Bytes compressed) : path_(path), bytes_(compressed) {}

  Result<int64_t> bound() {
    while (at_ < bytes_.size()) {
      const size_t begin = at_;
      DL_ASSIGN_OR_RETURN(const uint64_t magic, number(4));
      if ((magic & kSkippableMask) == kSkippableMagic) {
        DL_ASSIGN_OR_RETURN(const uint64_t skipped, number(4));
        DL_RETURN_IF_ERROR(skip(skipped));
      } else if (magic == kZstdMagic) {
        DL_RETURN_IF_ERROR(frame());
      } else {
        return error(Code::kCorrupt, path_, ": offset ", begin, ": expected a Zstandard frame, got ",
                     bytes_.size() - begin, " other bytes");
      }
    }
    return bound_;
  }

 private:
  static constexpr int64_t kBlockBytes = int64_t{128} << 10;

  Result<uint64_t> number(size_t bytes) {
    if (bytes > bytes_.size() - at_) return cut();
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; ++i) value |= std::to_integer<uint64_t>(bytes_[at_ + i]) << (8 * i);
    at_ += bytes;
    return value;
  }
  Status skip(uint64_t bytes) {
    if (bytes > bytes_.size() - at_) return cut();
    at_ += static_cast<size_t>(bytes);
    return Status::ok();
  }
  Status cut() const {
    return error(Code::kTruncated, path_, ": offset ", at_, ": its Zstandard data is truncated after ",
                 bytes_.size(), " bytes");
  }

  Status frame() {
    DL_ASSIGN_OR_RETURN(const uint64_t descriptor, number(1));
    const bool single = (descriptor & 0x20) != 0, checksum = (descriptor & 4) != 0;
    constexpr size_t kIdBytes[] = {0, 1, 2, 4}, kSizeBytes[] = {0, 2, 4, 8};
    DL_RETURN_IF_ERROR(skip((single ? 0 : 1) + kIdBytes[descriptor & 3]));  // window, dictionary
    const size_t size_bytes = descriptor >> 6 == 0 && single ? 1 : kSizeBytes[descriptor >> 6];
    DL_ASSIGN_OR_RETURN(uint64_t size, number(size_bytes));
    if (size_bytes == 2) size += 256;
    int64_t blocks = 0;
    for (bool last = false; !last; ++blocks) {
      DL_ASSIGN_OR_RETURN(const uint64_t block, number(3));
      last = (block & 1) != 0;
      const bool repeated = (block >> 1 & 3) == 1;  // one byte
      DL_RETURN_IF_ERROR(skip(repeated ? 1 : block >> 3));
    }
    if (checksum) DL_RETURN_IF_ERROR(skip(4));
    // A block of 4 bytes inflates to 128 KiB at most, so that this fits.
    const int64_t most = blocks * kBlockBytes;
    bound_ += size_bytes > 0 && size < static_cast<uint64_t>(most) ? static_cast<int64_t>(size) : most;
    return Status::ok();
  }

  const std::string& path_;
  const Bytes bytes_;
  size_t at_ = 0;
  int64_t bound_ = 0;
};

}  // namespace

bool is_zstd_frame(Bytes first) {
  return first.size() >= sizeof(uint32_t) && load_little<uint32_t>(first.data()) == kZstdMagic;
}

bool is_zstd(Bytes first) { return is_zstd_frame(first) || is_skippable_frame(first); }

std::optional<int64_t> skippable_frame_bytes(Bytes first) {
  if (std::ssize(first) < kSkippableHeaderBytes || !is_skippable_frame(first)) return std::nullopt;
  return kSkippableHeaderBytes + load_little<uint32_t>(first.data() + sizeof(uint32_t));
}

Result<int64_t> zstd_frames_bound(const std::string& path, Bytes compressed) {
  return FrameWalk(path, compressed).bound();
}

const char* frame_codec_name(FrameCodec codec) { return codec == FrameCodec::kLz4 ? "LZ4" : "Zstandard"; }

int64_t max_inflated_frame_bytes(FrameCodec codec, int64_t compressed_bytes) {
  return checked_multiply(compressed_bytes, codec == FrameCodec::kLz4 ? kMaxLz4Ratio : kMaxZstdRatio)
      .value_or(std::numeric_limits<int64_t>::max());
}

struct FrameInflater::Libraries {
#ifdef DATALINE_HAS_LIBLZ4
  Lz4Context lz4;
#endif
#ifdef DATALINE_HAS_LIBZSTD
  ZstdContext zstd;
#endif
};

FrameInflater::FrameInflater() : libraries_(std::make_unique<Libraries>()) {}
FrameInflater::~FrameInflater() = default;

Status FrameInflater::inflate(FrameCodec codec, const std::string& name, Bytes compressed,
                              std::span<std::byte> out) {
  if (codec == FrameCodec::kZstd) {
    DL_ASSIGN_OR_RETURN(const int64_t written, inflate_zstd(name, compressed, out));
    return written == std::ssize(out) ? Status::ok()
                                      : inflates_to_less(name, static_cast<size_t>(written), out);
  }
#ifdef DATALINE_HAS_LIBLZ4
  return inflate_lz4(libraries_->lz4, name, compressed, out);
#else
  return not_built_in(name, codec);
#endif
}

Result<int64_t> FrameInflater::inflate_zstd(const std::string& name, Bytes compressed,
                                            std::span<std::byte> out) {
#ifdef DATALINE_HAS_LIBZSTD
  return inflate_frames(libraries_->zstd, name, compressed, out);
#else
  static_cast<void>(compressed);
  static_cast<void>(out);
  return not_built_in(name, FrameCodec::kZstd);
#endif
}

}  // namespace dataline
