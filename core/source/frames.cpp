// SPDX-License-Identifier: Apache-2.0
#include "core/source/frames.h"

#include <limits>

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

Status damaged(FrameCodec codec, const std::string& name, const char* reason) {
  return error(Code::kCorrupt, name, ": its ", frame_codec_name(codec), " data are damaged or break off (",
               reason, ")");
}

Status inflates_to_more(const std::string& name, std::span<std::byte> out) {
  return error(Code::kCorrupt, name, ": inflates to more than ", out.size(), " bytes");
}

Status inflates_to_less(const std::string& name, size_t bytes, std::span<std::byte> out) {
  return error(Code::kCorrupt, name, ": inflates to ", bytes, " bytes, expected ", out.size());
}

#ifdef DATALINE_HAS_LIBLZ4
struct FreeLz4 {
  void operator()(LZ4F_dctx* one) const { LZ4F_freeDecompressionContext(one); }
};
using Lz4Context = std::unique_ptr<LZ4F_dctx, FreeLz4>;

Status inflate_lz4(Lz4Context& context, const std::string& name, Bytes compressed, std::span<std::byte> out) {
  if (context == nullptr) {
    LZ4F_dctx* made = nullptr;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&made, LZ4F_VERSION)) != 0)
      return error(Code::kNoMemory, name, ": no memory to inflate it");
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

Status inflate_zstd(ZstdContext& context, const std::string& name, Bytes compressed,
                    std::span<std::byte> out) {
  if (context == nullptr) context.reset(ZSTD_createDCtx());
  if (context == nullptr) return error(Code::kNoMemory, name, ": no memory to inflate it");
  const size_t written =
      ZSTD_decompressDCtx(context.get(), out.data(), out.size(), compressed.data(), compressed.size());
  if (ZSTD_isError(written) == 0)
    return written == out.size() ? Status::ok() : inflates_to_less(name, written, out);
  const unsigned long long says = ZSTD_getFrameContentSize(compressed.data(), compressed.size());
  const bool known = says != ZSTD_CONTENTSIZE_UNKNOWN && says != ZSTD_CONTENTSIZE_ERROR;
  if (known && says > out.size()) return inflates_to_more(name, out);
  return damaged(FrameCodec::kZstd, name, ZSTD_getErrorName(written));
}
#endif

}  // namespace

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
#ifdef DATALINE_HAS_LIBLZ4
  if (codec == FrameCodec::kLz4) return inflate_lz4(libraries_->lz4, name, compressed, out);
#endif
#ifdef DATALINE_HAS_LIBZSTD
  if (codec == FrameCodec::kZstd) return inflate_zstd(libraries_->zstd, name, compressed, out);
#endif
  const char* const library = codec == FrameCodec::kLz4 ? "liblz4" : "libzstd";
  return error(Code::kUnsupported, name, ": is compressed with ", frame_codec_name(codec),
               ", and this build has no ", library, " (DATALINE_WITH_",
               codec == FrameCodec::kLz4 ? "LIBLZ4" : "LIBZSTD", ")");
}

}  // namespace dataline
