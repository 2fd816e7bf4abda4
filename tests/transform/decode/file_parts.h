// Putting files together from integers and parts, and changing them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace dataline {

inline std::string big16(uint32_t value) { return {static_cast<char>(value >> 8), static_cast<char>(value)}; }
inline std::string big32(uint32_t value) { return big16(value >> 16) + big16(value & 0xFFFF); }
inline std::string little32(uint32_t value) {
  const std::string big = big32(value);
  return {big.rbegin(), big.rend()};
}

// `bytes` with the part at `at` overwritten.
inline std::string with(std::string bytes, size_t at, const std::string& part) {
  return bytes.replace(at, part.size(), part);
}
inline std::string with_byte(std::string bytes, size_t at, int value) {
  bytes.at(at) = static_cast<char>(value);
  return bytes;
}
inline std::string inserted(std::string bytes, size_t at, const std::string& part) {
  return bytes.insert(at, part);
}
inline std::string cut(const std::string& bytes, size_t length) { return bytes.substr(0, length); }

}  // namespace dataline
