// FlatBuffers of a file, read as if each of their numbers lied: Arrow's metadata is in this form.
//
// A buffer begins with the u32 place of its root table. A table begins with an i32, how far before it its vtable lies; the
// vtable is u16s: its own size, the table's, and for each field where in the table it lies, 0 where it is absent. A field is
// a number, or the u32 distance to a table, to a vector (u32 count, elements) or to a string (a vector of bytes).
// Source: flatbuffers.dev, "FlatBuffer Internals" (2024).
//
// Failure: the first fault is kept (status()), and everything read from then on is absent, 0 or empty. So whoever reads a
// table may read all of it and ask once, before using it. kCorrupt names file and offset; kTooLarge: parts of the buffer are
// referred to so often that reading it would never end.
// Threads: externally synchronized. Lifetime: views go into the bytes, tables and vectors refer to the FlatBuffer.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/checked.h"
#include "core/base/status.h"

namespace dataline {

class FlatTable;
class FlatVector;

class FlatBuffer {
 public:
  // `offset`: of the bytes in the file.
  FlatBuffer(const std::string& path, int64_t offset, Bytes bytes)
      : path_(&path), offset_(offset), bytes_(bytes) {}
  FlatBuffer(const FlatBuffer&) = delete;
  FlatBuffer& operator=(const FlatBuffer&) = delete;

  FlatTable root();
  bool ok() const { return status_.is_ok(); }
  Status take_status() { return std::move(status_); }

  // Keeps the fault unless there was one; `at` counts from the start of the buffer.
  template <typename... Parts>
  void refuse(Code code, int64_t at, const Parts&... parts) {
    if (ok()) status_ = error(code, *path_, ": offset ", offset_ + at, ": ", parts...);
  }

 private:
  friend class FlatTable;
  friend class FlatVector;
  static constexpr int64_t kMaxVisits = int64_t{1} << 24;  // tables, vectors and strings

  int64_t size() const { return static_cast<int64_t>(bytes_.size()); }
  bool fits(int64_t at, int64_t bytes, std::string_view what);
  // Where the distance at `at` leads to; -1 after a fault.
  int64_t follow(int64_t at, std::string_view what);
  template <typename T>
  T load(int64_t at) const {
    return static_cast<T>(load_little<std::make_unsigned_t<T>>(bytes_.data() + at));
  }

  const std::string* path_;
  int64_t offset_;
  Bytes bytes_;
  Status status_;
  int64_t visits_ = 0;
};

class FlatTable {
 public:
  FlatTable() = default;  // absent
  bool present() const { return buffer_ != nullptr; }
  int64_t at() const { return at_; }
  FlatBuffer& buffer() const { return *buffer_; }

  // Fields by their number in the schema's definition.
  template <typename T>
  T number(int field, T fallback = 0) const {
    const int64_t at = place(field, sizeof(T));
    return at < 0 ? fallback : buffer_->load<T>(at);
  }
  FlatTable table(int field) const;
  FlatVector vector(int field, int64_t element_bytes) const;
  std::string_view text(int field) const;

 private:
  friend class FlatBuffer;
  friend class FlatVector;
  FlatTable(FlatBuffer* buffer, int64_t at);
  int64_t place(int field, int64_t bytes) const;  // -1: absent, or a fault

  FlatBuffer* buffer_ = nullptr;
  int64_t at_ = 0, table_bytes_ = 0, vtable_ = 0, vtable_bytes_ = 0;
};

class FlatVector {
 public:
  int64_t size() const { return size_; }
  int64_t at() const { return begin_; }
  // `offset` into element i < size().
  template <typename T>
  T number(int64_t i, int64_t offset = 0) const {
    return buffer_->load<T>(begin_ + i * element_bytes_ + offset);
  }
  FlatTable table(int64_t i) const;  // of a vector of tables, whose elements are distances

 private:
  friend class FlatTable;
  FlatBuffer* buffer_ = nullptr;
  int64_t begin_ = 0, size_ = 0, element_bytes_ = 0;
};

}  // namespace dataline
