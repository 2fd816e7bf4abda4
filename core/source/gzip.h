// Inflating in memory what deflate made: whole .gz files with any number of members, and members of zip archives. Checksums
// are verified, the output is limited by the caller. Needs libdeflate; a build without it answers kUnsupported, naming the
// build option.
//
// Threads: plain functions.
// Failure: offsets in messages are offsets in the compressed file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/memory/mapped_file.h"

namespace dataline {

bool is_gzip(Bytes first);  // by the two bytes of its magic

// The most that deflate can make of so many compressed bytes: 258 bytes from a 2-bit code, a factor of 1032. A header
// that claims more is wrong.
int64_t max_inflated_bytes(int64_t compressed_bytes);

// The start of the inflated data, without inflating the rest: at least kInflateStartBytes, or everything when there is
// less. Not checksummed: use it to size or refuse, and read it again from the complete data.
constexpr size_t kInflateStartBytes = 1024;
Result<std::string> inflate_start(const std::string& path, Bytes compressed);

// Inflates everything into `out`, which must be filled exactly. kTruncated: the data ends early, or the last member is
// visibly cut. kCorrupt: there is more data, a checksum or length is wrong, the deflate stream is damaged, or something
// follows that is neither a member nor the zeros that may pad one. kCancelled: checked between members, which is where progress is reported.
Status inflate_exactly(const std::string& path, Bytes compressed, std::span<std::byte> out,
                       const OpenContext& context);

// Inflates everything, for files that do not state how much that is: several members, and zeros after each. The block
// grows by doubling while the members do not fit, and ends as large as the data. Errors: those of inflate_exactly(),
// kNoMemory, kOverBudget.
struct InflatedGzip {
  Block block;
  int64_t bytes = 0;
};
Result<InflatedGzip> inflate_gzip(const std::string& path, Bytes compressed, const OpenContext& context);

// Inflates a bare deflate stream, which must be all of `compressed` and fill `out` exactly, and compares its CRC-32. kCorrupt.
// `name` is for messages.
Status inflate_stream(const std::string& name, Bytes compressed, std::span<std::byte> out, uint32_t crc32);

}  // namespace dataline
