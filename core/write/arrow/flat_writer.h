// FlatBuffers as they are written, from the root down: a table first, then what it refers to, whose distances are filled in when
// it is there. (References of a FlatBuffer point forward, vtables lie before their tables.)
// Source: flatbuffers.dev, "FlatBuffer Internals" (2024). What is read is in core/source/arrow/flatbuffer.h.
// Threads: externally synchronized.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"

namespace dataline {

class FlatBufferWriter {
 public:
  // A field of a table: a number of `bytes` bytes, or (reference) the distance to something that point() says later. Fields that
  // are left out have their default.
  struct FlatField {
    int number = 0;
    size_t bytes = 0;
    uint64_t value = 0;
  };
  static FlatField number(int field, size_t bytes, uint64_t value) { return {field, bytes, value}; }
  static FlatField reference(int field) { return {field, 4, 0}; }

  // The buffer begins with the place of its root table, which is written next.
  FlatBufferWriter() { put(uint32_t{0}); }

  // Writes a table and returns where each of its fields lies, in the order given.
  std::vector<size_t> table(std::initializer_list<FlatField> fields) {
    int last = -1;
    for (const FlatField& field : fields) last = std::max(last, field.number);
    const size_t vtable_bytes = 4 + 2 * static_cast<size_t>(last + 1);
    // The table is aligned to 8, the vtable lies right before it.
    while ((bytes_.size() + vtable_bytes) % 8 != 0) bytes_.push_back(std::byte{0});
    const size_t vtable = bytes_.size(), begin = vtable + vtable_bytes;
    std::vector<uint16_t> offsets(static_cast<size_t>(last + 1));
    std::vector<size_t> places;
    size_t end = 4;
    for (const FlatField& field : fields) {
      end = (end + field.bytes - 1) / field.bytes * field.bytes;
      offsets[static_cast<size_t>(field.number)] = static_cast<uint16_t>(end);
      places.push_back(begin + end);
      end += field.bytes;
    }
    put(static_cast<uint16_t>(vtable_bytes));
    put(static_cast<uint16_t>(end));
    for (const uint16_t offset : offsets) put(offset);
    bytes_.resize(begin + end);
    set(begin, static_cast<uint32_t>(vtable_bytes));
    auto place = places.begin();
    for (const FlatField& field : fields) store(*place++, field.value, field.bytes);
    last_table_ = begin;
    return places;
  }
  size_t last_table() const { return last_table_; }

  // The reference at `place` leads to what is at `target`.
  void point(size_t place, size_t target) { set(place, static_cast<uint32_t>(target - place)); }

  // Each returns where it begins.
  size_t text(std::string_view value) {
    const size_t at = vector(value.size(), 1);
    for (const char c : value) bytes_.push_back(static_cast<std::byte>(c));
    bytes_.push_back(std::byte{0});
    return at;
  }
  // The count of a vector, after which its elements are put, aligned to `align`.
  size_t vector(size_t count, size_t align) {
    while (bytes_.size() % 4 != 0 || (bytes_.size() + 4) % align != 0) bytes_.push_back(std::byte{0});
    const size_t at = bytes_.size();
    put(static_cast<uint32_t>(count));
    return at;
  }
  template <typename T>
  void put(T value) {
    store_at_end(static_cast<uint64_t>(value), sizeof value);
  }

  size_t size() const { return bytes_.size(); }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  void set(size_t place, uint32_t value) { store(place, value, 4); }
  void store(size_t place, uint64_t value, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) bytes_[place + i] = static_cast<std::byte>(value >> (8 * i));
  }
  void store_at_end(uint64_t value, size_t bytes) {
    bytes_.resize(bytes_.size() + bytes);
    store(bytes_.size() - bytes, value, bytes);
  }

  std::vector<std::byte> bytes_;
  size_t last_table_ = 0;
};

}  // namespace dataline
