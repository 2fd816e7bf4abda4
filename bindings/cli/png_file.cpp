// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/png_file.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace dataline::cli {
namespace {

constexpr size_t kMostStored = 65535;  // bytes of a stored block
constexpr uint32_t kAdlerModulus = 65521;
constexpr size_t kAdlerRun = 5552;  // sums of so many bytes fit 32 bits

constexpr auto kCrcTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t n = 0; n < 256; ++n) {
    uint32_t value = n;
    for (int bit = 0; bit < 8; ++bit) value = (value & 1) != 0 ? 0xedb88320u ^ (value >> 1) : value >> 1;
    table[n] = value;
  }
  return table;
}();

uint32_t crc_of(std::string_view bytes) {
  uint32_t crc = ~0u;
  for (char c : bytes) crc = kCrcTable[(crc ^ static_cast<uint8_t>(c)) & 255] ^ (crc >> 8);
  return ~crc;
}

uint32_t adler_of(std::string_view bytes) {
  uint32_t a = 1, b = 0;
  for (size_t at = 0; at < bytes.size(); at += kAdlerRun) {
    for (char c : bytes.substr(at, kAdlerRun)) {
      a += static_cast<uint8_t>(c);
      b += a;
    }
    a %= kAdlerModulus;
    b %= kAdlerModulus;
  }
  return b << 16 | a;
}

void append_big(std::string& out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
}

void append_chunk(std::string& out, std::string_view type, std::string_view data) {
  append_big(out, static_cast<uint32_t>(data.size()));
  const size_t begin = out.size();
  out.append(type).append(data);
  append_big(out, crc_of(std::string_view(out).substr(begin)));
}

// Each row begins with its filter: 0, none.
std::string filtered_rows(const Picture& picture) {
  const auto row_bytes = static_cast<size_t>(picture.width) * 3;
  std::string out;
  out.reserve((row_bytes + 1) * static_cast<size_t>(picture.height));
  for (int64_t y = 0; y < picture.height; ++y) {
    out.push_back('\0');
    out.append(reinterpret_cast<const char*>(picture.at(0, y)), row_bytes);
  }
  return out;
}

std::string zlib_stored(std::string_view data) {
  std::string out("\x78\x01", 2);
  out.reserve(data.size() + data.size() / kMostStored * 5 + 16);
  for (size_t at = 0; at < data.size(); at += kMostStored) {
    const std::string_view block = data.substr(at, kMostStored);
    const auto bytes = static_cast<uint32_t>(block.size());
    out.push_back(at + kMostStored >= data.size() ? '\1' : '\0');  // the last one is marked
    for (const uint32_t word : {bytes, ~bytes}) {
      out.push_back(static_cast<char>(word));
      out.push_back(static_cast<char>(word >> 8));
    }
    out.append(block);
  }
  append_big(out, adler_of(data));
  return out;
}

}  // namespace

std::string png_bytes(const Picture& picture) {
  std::string header;
  append_big(header, static_cast<uint32_t>(picture.width));
  append_big(header, static_cast<uint32_t>(picture.height));
  header.append("\x08\x02\0\0\0", 5);  // 8 bits, RGB, no interlacing
  std::string out("\x89PNG\r\n\x1a\n", 8);
  append_chunk(out, "IHDR", header);
  constexpr size_t kChunkBytes = size_t{1} << 30;  // a chunk's length is below 2^31
  const std::string data = zlib_stored(filtered_rows(picture));
  for (size_t at = 0; at < data.size(); at += kChunkBytes)
    append_chunk(out, "IDAT", std::string_view(data).substr(at, kChunkBytes));
  append_chunk(out, "IEND", "");
  return out;
}

}  // namespace dataline::cli
