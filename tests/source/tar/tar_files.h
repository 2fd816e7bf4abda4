// Tar archives as tests write them, header by header.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace dataline {

inline std::string tar_octal(int64_t value, size_t digits) {
  std::string out(digits, '0');
  for (size_t i = digits; i > 0; value /= 8) out[--i] = static_cast<char>('0' + value % 8);
  return out;
}

// Puts the sum of the header's bytes in its place.
inline std::string with_checksum(std::string header) {
  header.replace(148, 8, "        ");
  int64_t sum = 0;
  for (unsigned char c : header.substr(0, 512)) sum += c;
  return header.replace(148, 8, tar_octal(sum, 6) + std::string("\0 ", 2));
}

// A POSIX header of 512 bytes.
inline std::string tar_header(std::string_view name, int64_t bytes, char type = '0') {
  std::string out(512, '\0');
  out.replace(0, name.size(), name);
  out.replace(100, 8, std::string("0000644\0", 8));
  out.replace(108, 8, std::string("0001000\0", 8));
  out.replace(116, 8, std::string("0001000\0", 8));
  out.replace(124, 11, tar_octal(bytes, 11));
  out.replace(136, 11, tar_octal(1700000000, 11));
  out[156] = type;
  out.replace(257, 8, std::string("ustar\00000", 8));
  return with_checksum(out);
}

// A header with some of its bytes replaced and the checksum made right again.
inline std::string tar_header_with(std::string header, size_t offset, std::string_view bytes) {
  return with_checksum(header.replace(offset, bytes.size(), bytes));
}

inline std::string tar_padded(std::string_view data) {
  std::string out(data);
  return out.append((512 - out.size() % 512) % 512, '\0');
}

inline std::string tar_member(std::string_view name, std::string_view data, char type = '0') {
  return tar_header(name, static_cast<int64_t>(data.size()), type) + tar_padded(data);
}

inline std::string tar_end(size_t blocks = 2) { return std::string(blocks * 512, '\0'); }

// "<length> key=value\n"
inline std::string pax_record(std::string_view key, std::string_view value) {
  const size_t rest = key.size() + value.size() + 3;
  size_t length = rest + 1;
  while (std::to_string(length).size() + rest != length) ++length;
  return std::to_string(length) + " " + std::string(key) + "=" + std::string(value) + "\n";
}

inline std::string pax_header(std::string_view records, char type = 'x') {
  return tar_member("PaxHeaders/x", records, type);
}

// GNU's `././@LongLink`: the name, then a NUL.
inline std::string gnu_long(std::string_view name, char type = 'L') {
  std::string data(name);
  return tar_member("././@LongLink", data + '\0', type);
}

}  // namespace dataline
