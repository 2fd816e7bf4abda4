// SPDX-License-Identifier: Apache-2.0
#include "core/source/gzip.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/checked.h"

#ifdef DATALINE_HAS_LIBDEFLATE
#include <libdeflate.h>
#endif

namespace dataline {
namespace {

constexpr std::byte kGzipMagic0{0x1f};
constexpr std::byte kGzipMagic1{0x8b};
constexpr int64_t kMinMemberBytes = 18;  // a header of 10, an empty stream, a trailer of 8

}  // namespace

bool is_gzip(Bytes first) { return first.size() >= 2 && first[0] == kGzipMagic0 && first[1] == kGzipMagic1; }

int64_t max_inflated_bytes(int64_t compressed_bytes) {
  constexpr int64_t kMaxRatio = 258 * 8 / 2;
  return checked_multiply(compressed_bytes, kMaxRatio).value_or(std::numeric_limits<int64_t>::max());
}

#ifdef DATALINE_HAS_LIBDEFLATE
namespace {

constexpr size_t kTrailerBytes = 8;  // CRC-32 and length, little-endian
// libdeflate copies a stored block (at most 65,535 bytes) entirely or not at all, so the buffer needs room for one
// beyond the bytes that are wanted.
constexpr size_t kStartBufferBytes = kInflateStartBytes + 65535;

struct Free {
  void operator()(libdeflate_decompressor* one) const { libdeflate_free_decompressor(one); }
};
using Decompressor = std::unique_ptr<libdeflate_decompressor, Free>;

Status no_memory(const std::string& path) {
  return error(Code::kNoMemory, path, ": no memory to decompress it");
}

Status wrong(Code code, const std::string& path, size_t offset, std::string_view what) {
  return error(code, path, ": offset ", offset, ": ", what);
}

// The length of a member's header; nothing when the header is cut. The caller has checked kMinMemberBytes, magic, method
// and flags.
std::optional<size_t> header_bytes(Bytes member) {
  constexpr size_t kFixedBytes = 10;
  static_assert(kFixedBytes + sizeof(uint16_t) <= kMinMemberBytes);
  auto flags = std::to_integer<uint32_t>(member[3]);
  size_t at = kFixedBytes;
  // extra fields, preceded by their length
  if ((flags & 4) != 0) at += sizeof(uint16_t) + load_little<uint16_t>(member.data() + at);
  for (uint32_t flag : {8u, 16u}) {  // name, comment: up to a zero byte
    if ((flags & flag) == 0) continue;
    while (at < member.size() && member[at] != std::byte{0}) ++at;
    ++at;
  }
  if ((flags & 2) != 0) at += 2;  // checksum of the header
  return at <= member.size() ? std::optional(at) : std::nullopt;
}

// Why a member did not inflate: inflates the raw deflate stream and compares the trailer by hand.
Status diagnose(libdeflate_decompressor* decompressor, const std::string& path, Bytes compressed,
                size_t offset, std::span<std::byte> out) {
  Bytes member = compressed.subspan(offset);
  bool deflate = member[2] == std::byte{8} && (member[3] & std::byte{0xe0}) == std::byte{0};
  if (!deflate)
    return wrong(Code::kCorrupt, path, offset, "gzip member with an unknown method or unknown flags");
  std::optional<size_t> header = header_bytes(member);
  if (!header)
    return wrong(Code::kTruncated, path, offset, "gzip header is truncated at the end of the file");
  Bytes data = member.subspan(*header);
  size_t used = 0, written = 0;
  libdeflate_result result = libdeflate_deflate_decompress_ex(decompressor, data.data(), data.size(),
                                                              out.data(), out.size(), &used, &written);
  size_t at = offset + *header;
  if (result != LIBDEFLATE_SUCCESS)
    return wrong(Code::kCorrupt, path, at, "gzip data is damaged or truncated");
  Bytes trailer = data.subspan(used);
  at += used;
  if (trailer.size() < kTrailerBytes) {
    return wrong(Code::kTruncated, path, at,
                 concat("gzip trailer needs 8 bytes, the file has ", trailer.size()));
  }
  uint32_t expected = load_little<uint32_t>(trailer.data());
  uint32_t got = libdeflate_crc32(0, out.data(), written);
  if (expected != got)
    return wrong(Code::kCorrupt, path, at, concat("gzip CRC-32: expected ", expected, ", got ", got));
  return wrong(
      Code::kCorrupt, path, at + 4,
      concat("gzip length: expected ", load_little<uint32_t>(trailer.data() + 4), ", got ", written));
}

struct Inflated {
  size_t read = 0;
  size_t written = 0;
};

// Inflates the next member. kTooLarge: `out` is full.
Status inflate_member(libdeflate_decompressor* decompressor, const std::string& path, Bytes compressed,
                      std::span<std::byte> out, Inflated& done) {
  Bytes rest = compressed.subspan(done.read);
  if (!is_gzip(rest)) {
    const bool cut = rest.empty() || (rest.size() == 1 && rest[0] == kGzipMagic0);
    return wrong(cut ? Code::kTruncated : Code::kCorrupt, path, done.read,
                 concat("expected a gzip member, got ", rest.size(), " other bytes"));
  }
  if (rest.size() < static_cast<size_t>(kMinMemberBytes)) {
    return wrong(
        Code::kTruncated, path, done.read,
        concat("gzip member needs at least ", kMinMemberBytes, " bytes, the file has ", rest.size()));
  }
  std::span<std::byte> free = out.subspan(done.written);
  size_t used = 0, written = 0;
  switch (libdeflate_gzip_decompress_ex(decompressor, rest.data(), rest.size(), free.data(), free.size(),
                                        &used, &written)) {
    case LIBDEFLATE_SUCCESS:
      break;
    case LIBDEFLATE_INSUFFICIENT_SPACE:
      return wrong(Code::kTooLarge, path, done.read,
                   concat("decompresses to more than ", out.size(), " bytes"));
    default:
      return diagnose(decompressor, path, compressed, done.read, free);
  }
  done.read += used;
  done.written += written;
  return Status::ok();
}

// Tapes and some writers pad members with zeros.
size_t leading_zeros(Bytes rest) {
  return static_cast<size_t>(
      std::find_if(rest.begin(), rest.end(), [](std::byte b) { return b != std::byte{0}; }) - rest.begin());
}

// The size of a bgzip member of this many bytes, from its extra field "BC"; nothing: another member.
std::optional<size_t> bgzip_member_bytes(Bytes member) {
  constexpr size_t kExtraAt = 10, kFieldAt = 12;  // bytes of the extra field; its first subfield
  if (member.size() < static_cast<size_t>(kMinMemberBytes) || !is_gzip(member)) return std::nullopt;
  const bool is_bgzip = (member[3] & std::byte{4}) != std::byte{0} &&
                        load_little<uint16_t>(member.data() + kExtraAt) >= 6 &&
                        member[kFieldAt] == std::byte{'B'} && member[kFieldAt + 1] == std::byte{'C'} &&
                        load_little<uint16_t>(member.data() + kFieldAt + 2) == 2;
  if (!is_bgzip) return std::nullopt;
  const size_t bytes = size_t{1} + load_little<uint16_t>(member.data() + kFieldAt + 4);
  if (bytes < static_cast<size_t>(kMinMemberBytes) || bytes > member.size()) return std::nullopt;
  return bytes;
}

// What a file may inflate to, exact where it is one member below 4 GiB or bgzip's: the last four bytes of a member are its
// inflated size modulo 2^32.
int64_t size_guess(Bytes compressed) {
  constexpr size_t kSizeBytes = sizeof(uint32_t);
  const auto size_before = [&](size_t end) -> int64_t {
    return load_little<uint32_t>(compressed.data() + end - kSizeBytes);
  };
  int64_t sum = 0;
  size_t at = 0;
  while (const auto bytes = bgzip_member_bytes(compressed.subspan(at))) {
    at += *bytes;
    sum += size_before(at);
  }
  if (at > 0) return sum;
  return compressed.size() < kSizeBytes ? 0 : size_before(compressed.size());
}

constexpr int64_t kMinGrownBytes = int64_t{64} << 10;

// Inflates members until the data ends, `out` is full (kTooLarge) or something is wrong. context: null for a look at the
// start, which is no progress.
Status inflate_members(libdeflate_decompressor* decompressor, const std::string& path, Bytes compressed,
                       std::span<std::byte> out, const OpenContext* context, Inflated& done) {
  do {
    if (context != nullptr && context->cancelled()) {
      return error(Code::kCancelled, path, ": cancelled after ", done.read, " of ", compressed.size(),
                   " bytes");
    }
    const size_t written = done.written;
    DL_RETURN_IF_ERROR(inflate_member(decompressor, path, compressed, out, done));
    done.read += leading_zeros(compressed.subspan(done.read));
    if (context == nullptr) continue;
    context->progress->add_bytes(static_cast<int64_t>(done.written - written));
    context->report("decompressing ", path);
  } while (done.read < compressed.size());
  return Status::ok();
}

}  // namespace

Result<std::string> inflate_start(const std::string& path, Bytes compressed) {
  Decompressor decompressor(libdeflate_alloc_decompressor());
  if (decompressor == nullptr) return no_memory(path);
  // libdeflate does not specify what it leaves in a buffer that is too small. Bytes that come out the same over two
  // different fillings were written by it.
  std::string filled[2] = {std::string(kStartBufferBytes, '\x00'), std::string(kStartBufferBytes, '\xff')};
  for (std::string& text : filled) {
    Inflated done;
    std::span<std::byte> out = std::as_writable_bytes(std::span(text));
    Status status = inflate_members(decompressor.get(), path, compressed, out, nullptr, done);
    if (status.is_ok()) return text.substr(0, done.written);
    if (status.code() != Code::kTooLarge) return status;
  }
  auto end = std::mismatch(filled[0].begin(), filled[0].end(), filled[1].begin()).first;
  if (end - filled[0].begin() < static_cast<ptrdiff_t>(kInflateStartBytes)) {
    return error(Code::kInternal, path,
                 ": this version of libdeflate does not return the first bytes of a stream");
  }
  return std::string(filled[0].begin(), end);
}

Status inflate_exactly(const std::string& path, Bytes compressed, std::span<std::byte> out,
                       const OpenContext& context) {
  context.progress->expect_bytes(static_cast<int64_t>(out.size()));
  Decompressor decompressor(libdeflate_alloc_decompressor());
  if (decompressor == nullptr) return no_memory(path);
  Inflated done;
  Status status = inflate_members(decompressor.get(), path, compressed, out, &context, done);
  if (status.code() == Code::kTooLarge) return Status(Code::kCorrupt, status.message());
  DL_RETURN_IF_ERROR(std::move(status));
  if (done.written < out.size()) {
    return wrong(Code::kTruncated, path, done.read,
                 concat("decompresses to ", done.written, " bytes, expected ", out.size()));
  }
  return Status::ok();
}

Result<InflatedGzip> inflate_gzip(const std::string& path, Bytes compressed, const OpenContext& context) {
  Decompressor decompressor(libdeflate_alloc_decompressor());
  if (decompressor == nullptr) return no_memory(path);
  const auto room_for = [&](int64_t bytes) {
    return context.memory->allocate(bytes, 64, MemoryKind::kData, path.c_str());
  };
  const int64_t limit = max_inflated_bytes(std::ssize(compressed));
  const int64_t guess = size_guess(compressed);
  int64_t room = guess <= limit ? guess : 0;  // more than is possible: not the end of a member
  context.progress->expect_bytes(room);
  DL_ASSIGN_OR_RETURN(Block block, room_for(room));
  for (Inflated done;;) {
    const std::span<std::byte> out(block.data(), static_cast<size_t>(room));
    Status status = inflate_members(decompressor.get(), path, compressed, out, &context, done);
    const auto written = static_cast<int64_t>(done.written);
    if (status.is_ok()) {
      if (written == room) return InflatedGzip{std::move(block), written};
      DL_ASSIGN_OR_RETURN(Block fitting, room_for(written));
      std::copy_n(block.data(), written, fitting.data());
      return InflatedGzip{std::move(fitting), written};
    }
    if (status.code() != Code::kTooLarge) return status;
    if (room == limit) return Status(Code::kCorrupt, status.message());
    // The members that fitted stay; the next one is inflated again.
    room = std::min(limit, std::max(checked_multiply(room, 2).value_or(limit), kMinGrownBytes));
    DL_ASSIGN_OR_RETURN(Block larger, room_for(room));
    std::copy_n(block.data(), written, larger.data());
    block = std::move(larger);
  }
}

Status inflate_stream(const std::string& name, Bytes compressed, std::span<std::byte> out, uint32_t crc32) {
  Decompressor decompressor(libdeflate_alloc_decompressor());
  if (decompressor == nullptr) return no_memory(name);
  size_t used = 0, written = 0;
  const libdeflate_result result = libdeflate_deflate_decompress_ex(
      decompressor.get(), compressed.data(), compressed.size(), out.data(), out.size(), &used, &written);
  if (result == LIBDEFLATE_INSUFFICIENT_SPACE)
    return error(Code::kCorrupt, name, ": decompresses to more than ", out.size(), " bytes");
  if (result != LIBDEFLATE_SUCCESS)
    return error(Code::kCorrupt, name, ": its deflate data is damaged or truncated");
  if (written != out.size())
    return error(Code::kCorrupt, name, ": decompresses to ", written, " bytes, expected ", out.size());
  if (used != compressed.size()) {
    return error(Code::kCorrupt, name, ": its deflate data ends after ", used, " bytes, expected ",
                 compressed.size());
  }
  const uint32_t got = libdeflate_crc32(0, out.data(), out.size());
  if (got == crc32) return Status::ok();
  return error(Code::kCorrupt, name, ": CRC-32: expected ", crc32, ", got ", got);
}

#else

namespace {

Status no_libdeflate(const std::string& path, std::string_view what = "gzip data") {
  return error(Code::kUnsupported, path, ": is ", what,
               ", and this build has no libdeflate (DATALINE_WITH_LIBDEFLATE)");
}

}  // namespace

Result<std::string> inflate_start(const std::string& path, Bytes) { return no_libdeflate(path); }

Status inflate_exactly(const std::string& path, Bytes, std::span<std::byte>, const OpenContext&) {
  return no_libdeflate(path);
}

Result<InflatedGzip> inflate_gzip(const std::string& path, Bytes, const OpenContext&) {
  return no_libdeflate(path);
}

Status inflate_stream(const std::string& name, Bytes, std::span<std::byte>, uint32_t) {
  return no_libdeflate(name, "deflated");
}

#endif

}  // namespace dataline
