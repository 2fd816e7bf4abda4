// Any bytes as a .gz file: inflated once more they are the same, the start is theirs, and what is wrong is told with the
// offset. The last member's own length and CRC-32 are computed here a second time.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/gzip.h"

#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/target.h"

namespace dataline::fuzz {
namespace {

constexpr int64_t kMostBytes = 1 << 20;

uint32_t crc32(std::string_view bytes) {
  uint32_t crc = ~uint32_t{0};
  for (char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0xedb88320u & (0 - (crc & 1)));
  }
  return ~crc;
}

// The compressed bytes without the zeros that may follow the last member.
size_t members_end(std::string_view bytes) {
  size_t end = bytes.size();
  while (end > 0 && bytes[end - 1] == '\0') --end;
  return end;
}

Status inflate(std::string_view bytes, std::string& out) {
  return inflate_exactly("fuzz.gz", std::as_bytes(std::span(bytes)), std::as_writable_bytes(std::span(out)),
                         OpenContext());
}

void check_exact(std::string_view bytes, size_t length) {
  std::string out(length, '\x5a'), again(length, '\x00');
  const Status status = inflate(bytes, out);
  if (!status.is_ok()) return check_names(status, "fuzz.gz: offset ");
  check(inflate(bytes, again).is_ok() && again == out, "the same bytes inflate to the same");
  check(static_cast<int64_t>(length) <= max_inflated_bytes(static_cast<int64_t>(bytes.size())),
        "no more comes out than deflate can make");
  // One byte of room less or more is not exactly.
  std::string more(length + 1, '\0');
  check(!inflate(bytes, more).is_ok(), "data that ends early is told");
  if (length > 0) {
    std::string less(length - 1, '\0');
    check(!inflate(bytes, less).is_ok(), "data that goes on is told");
  }
  const Result<std::string> start = inflate_start("fuzz.gz", std::as_bytes(std::span(bytes)));
  check(start.is_ok(), "what inflates whole has a start", start.is_ok() ? "" : start.status().message());
  check(start.value().size() >= std::min(length, kInflateStartBytes) && out.starts_with(start.value()),
        "the start is that of the whole");
  // With a single member the trailer is about all that came out. Its last bytes may be zeros themselves.
  const bool single = bytes.find("\x1f\x8b\x08", 1) == std::string_view::npos;
  if (!single) return;
  bool trailer_fits = false;
  for (size_t end = members_end(bytes); end <= bytes.size() && !trailer_fits; ++end) {
    trailer_fits = end >= 8 && number_at(bytes, end - 8, 4, false) == crc32(out) &&
                   number_at(bytes, end - 4, 4, false) == (length & 0xffffffff);
  }
  check(trailer_fits, "length and CRC-32 are those of what came out");
}

void run(std::string_view bytes) {
  const Bytes compressed = std::as_bytes(std::span(bytes));
  Result<std::string> start = inflate_start("fuzz.gz", compressed);
  if (!start.is_ok()) check_names(start.status(), "fuzz.gz");
  if (bytes.size() < 8) return;
  // The lengths it may have: what its last trailer says, and what the start found.
  for (size_t end = members_end(bytes); end <= std::min(bytes.size(), members_end(bytes) + 4); ++end) {
    if (end < 4) continue;
    const uint64_t claimed = number_at(bytes, end - 4, 4, false);
    if (claimed <= kMostBytes) check_exact(bytes, claimed);
  }
  if (start.is_ok()) check_exact(bytes, start.value().size());
}

const Target kTarget("gzip", run);

}  // namespace
}  // namespace dataline::fuzz
