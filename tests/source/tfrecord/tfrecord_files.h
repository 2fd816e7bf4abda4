// TFRecord files and tf.train.Example messages as tests write them, byte by byte, by checksums of their own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dataline {

template <typename T>
std::string stored(T value) {
  std::string out(sizeof value, '\0');
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}
template <typename T>
std::string stored(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// Bit by bit, by the definition.
inline uint32_t slow_crc32c(std::string_view bytes) {
  uint32_t state = 0xffffffff;
  for (const unsigned char c : bytes) {
    state ^= c;
    for (int bit = 0; bit < 8; ++bit) state = (state >> 1) ^ ((state & 1) != 0 ? 0x82f63b78u : 0);
  }
  return ~state;
}

inline std::string masked_crc(std::string_view bytes) {
  const uint32_t crc = slow_crc32c(bytes);
  return stored(static_cast<uint32_t>((crc >> 15 | crc << 17) + 0xa282ead8u));
}

inline std::string record_header(uint64_t length) { return stored(length) + masked_crc(stored(length)); }
inline std::string record(std::string_view data) {
  return record_header(data.size()) + std::string(data) + masked_crc(data);
}

// The wire format of protobuf.
inline std::string wire_varint(uint64_t value) {
  std::string out;
  for (; value >= 128; value >>= 7) out += static_cast<char>(value | 128);
  return out + static_cast<char>(value);
}
inline std::string wire_tag(uint64_t number, uint64_t type) { return wire_varint(number << 3 | type); }
inline std::string wire_bytes(uint64_t number, std::string_view bytes) {
  return wire_tag(number, 2) + wire_varint(bytes.size()) + std::string(bytes);
}
inline std::string wire_int(uint64_t number, int64_t value) {
  return wire_tag(number, 0) + wire_varint(static_cast<uint64_t>(value));
}

inline std::string packed_ints(const std::vector<int64_t>& values) {
  std::string out;
  for (const int64_t value : values) out += wire_varint(static_cast<uint64_t>(value));
  return out;
}

// Features, as TensorFlow writes them: packed.
inline std::string int_feature(const std::vector<int64_t>& values) {
  return wire_bytes(3, values.empty() ? "" : wire_bytes(1, packed_ints(values)));
}
inline std::string float_feature(const std::vector<float>& values) {
  return wire_bytes(2, values.empty() ? "" : wire_bytes(1, stored(values)));
}
inline std::string bytes_feature(const std::vector<std::string>& values) {
  std::string list;
  for (const std::string& value : values) list += wire_bytes(1, value);
  return wire_bytes(1, list);
}

inline std::string map_entry(std::string_view name, std::string_view value) {
  return wire_bytes(1, wire_bytes(1, name) + wire_bytes(2, value));
}

using Features = std::vector<std::pair<std::string, std::string>>;  // in the order of the message
inline std::string features_message(const Features& features) {
  std::string out;
  for (const auto& [name, feature] : features) out += map_entry(name, feature);
  return out;
}
inline std::string example(const Features& features) { return wire_bytes(1, features_message(features)); }
inline std::string example_record(const Features& features) { return record(example(features)); }

}  // namespace dataline
