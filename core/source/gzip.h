// Inflating a whole .gz file that is in memory: several members, checksums checked, output bounded by the
// caller. Built with libdeflate; without it every call is kUnsupported and names the build option.
//
// Threads: plain functions.
// Failure: offsets in messages are those of the compressed file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/base/bytes.h"
#include "core/base/cancel.h"
#include "core/base/status.h"

namespace dataline {

bool is_gzip(Bytes first);  // by the two bytes of its magic

// What deflate can make of compressed bytes at most: a code of 2 bits for 258 bytes, 1032 for each byte. A
// claim above it is a lie.
int64_t most_inflated_bytes(int64_t compressed_bytes);

// The start of the inflated data without inflating the rest: kInflateStartBytes at least, or all when there
// is less. Not checksummed: good for sizing and refusing, and to be read again from the complete data.
constexpr size_t kInflateStartBytes = 1024;
Result<std::string> inflate_start(const std::string& path, Bytes compressed);

// Inflates everything into `out`, which it must fill exactly. kTruncated: it ends earlier, or the last member
// is visibly cut. kCorrupt: there is more, a checksum or length is wrong, the deflate data is damaged or
// breaks off, or something follows that is neither a member nor zeros. kCancelled: seen between members.
Status inflate_exactly(const std::string& path, Bytes compressed, std::span<std::byte> out,
                       const CancelTokenRef& cancel);

}  // namespace dataline
