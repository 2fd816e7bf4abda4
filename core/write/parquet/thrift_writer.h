// Thrift's compact protocol as it is written: what heads the pages of a Parquet file, and its footer.
// Source: apache/thrift, doc/specs/thrift-compact-protocol.md (0.20).
// Threads: externally synchronized.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"

namespace dataline {

class ThriftWriter {
 public:
  enum class Element : uint8_t { kI32 = 5, kI64 = 6, kText = 8, kStruct = 12 };

  // Fields of the struct that is open, in the order of their numbers.
  void boolean(int field, bool value) { head(field, value ? 1 : 2); }
  void i8(int field, int8_t value) {
    head(field, 3);
    put(static_cast<uint8_t>(value));
  }
  void i32(int field, int32_t value) {
    head(field, 5);
    zigzag(value);
  }
  void i64(int field, int64_t value) {
    head(field, 6);
    zigzag(value);
  }
  void text(int field, std::string_view value) {
    head(field, 8);
    item(value);
  }
  void begin(int field) {
    head(field, 12);
    begin_item();
  }
  // So many items follow.
  void list(int field, Element element, size_t count) {
    head(field, 9);
    const auto kind = static_cast<uint8_t>(element);
    put(static_cast<uint8_t>((count < 15 ? count : 15) << 4 | kind));
    if (count >= 15) varint(count);
  }
  void empty(int field) {
    begin(field);
    end();
  }
  // Of the struct that begin(), begin_item() or nothing (the outermost) has opened.
  void end() {
    put(0);
    if (!outer_.empty()) {
      last_ = outer_.back();
      outer_.pop_back();
    }
  }

  void begin_item() {
    outer_.push_back(last_);
    last_ = 0;
  }
  void item(int32_t value) { zigzag(value); }
  void item(std::string_view value) {
    varint(value.size());
    for (const char c : value) put(static_cast<uint8_t>(c));
  }

  Bytes bytes() const { return bytes_; }

 private:
  void head(int field, uint8_t kind) {
    const int step = field - last_;
    last_ = field;
    if (step > 0 && step < 16) return put(static_cast<uint8_t>(step << 4 | kind));
    put(kind);
    zigzag(field);
  }
  void zigzag(int64_t value) {
    varint(static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63));
  }
  void varint(uint64_t value) {
    for (; value >= 128; value >>= 7) put(static_cast<uint8_t>(value | 128));
    put(static_cast<uint8_t>(value));
  }
  void put(uint8_t byte) { bytes_.push_back(static_cast<std::byte>(byte)); }

  std::vector<std::byte> bytes_;
  std::vector<int> outer_;  // the last field of each struct around the one that is open
  int last_ = 0;
};

}  // namespace dataline
