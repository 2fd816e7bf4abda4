// Reader: records from the host's own code.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/dtype.hpp>
#include <dataline/error.hpp>
#include <dataline/span.hpp>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace dataline {
inline namespace DATALINE_CPP_ABI {

// One field of a reader's records.
struct Field {
  std::string name;
  int32_t dtype = 0;           // DL_DTYPE_*
  std::vector<int64_t> shape;  // of one record; ragged: of one row, the length varies by record
  std::string axes;            // "HWC", or "" when unknown
  int32_t kind = DL_KIND_DENSE;
  int64_t max_bytes = 0;  // ragged: maximum per record; 0: max_bytes_per_sample

  template <typename T>
  static Field dense(std::string name, std::vector<int64_t> shape = {}, std::string axes = "") {
    return {std::move(name), dtype_of<T>(), std::move(shape), std::move(axes), DL_KIND_DENSE, 0};
  }
  template <typename T>
  static Field ragged(std::string name, std::vector<int64_t> row_shape = {}, int64_t max_bytes = 0) {
    return {std::move(name), dtype_of<T>(), std::move(row_shape), "", DL_KIND_RAGGED, max_bytes};
  }
};

// One record to be filled, valid during the call of Reader::read. Fields are numbered as in Reader::fields.
class Record {
 public:
  // Writes a whole field. A field of another dtype or, dense, another size makes the record bad; a ragged one that does
  // not fit is too large (DL_ERR_TOO_LARGE).
  template <typename T>
  void put(int32_t field, const T* items, size_t count) {
    const int64_t bytes = static_cast<int64_t>(count * sizeof(T));
    if (!is<T>(field)) return;
    dl_reader_cell& cell = cells_[field];
    if (fields_[static_cast<size_t>(field)].kind == DL_KIND_RAGGED) {
      cell.bytes = bytes;
    } else if (bytes != cell.bytes) {
      return fail("field '" + name(field) + "': got " + std::to_string(bytes) + " bytes, expected " +
                  std::to_string(cell.bytes));
    }
    if (bytes > 0 && bytes <= cell.capacity) std::memcpy(cell.data, items, static_cast<size_t>(bytes));
  }
  template <typename T>
  void put(int32_t field, Span<const T> items) {
    put(field, items.data(), items.size());
  }
  template <typename T>
  void put(int32_t field, const std::vector<T>& items) {
    put(field, items.data(), items.size());
  }
  // A dense field of one element.
  template <typename T, typename = std::enable_if_t<DtypeOf<T>::value != 0>>
  void put(int32_t field, T value) {
    put(field, &value, size_t{1});
  }
  // Text or bytes: a ragged u8 field.
  void put(int32_t field, std::string_view text) {
    put(field, reinterpret_cast<const uint8_t*>(text.data()), text.size());
  }

  // A dense field to be written in place, 64-byte aligned. With another dtype the record becomes bad and the span is empty.
  template <typename T>
  Span<T> room(int32_t field) {
    if (!is<T>(field)) return {};
    const dl_reader_cell& cell = cells_[field];
    return detail::span_of(static_cast<T*>(cell.data), cell.capacity / static_cast<int64_t>(sizeof(T)));
  }
  // The cell of dataline.h, for everything else.
  dl_reader_cell& cell(int32_t field) noexcept { return cells_[field]; }

  // Marks this record as bad; on_error decides what happens then. The text and `code` (not 0) go into the error.
  void fail(std::string_view why, int32_t code = 1) {
    cells_[0].status = code != 0 ? code : 1;
    failed_ = true;
    if (message_bytes_ == 0) return;
    // There is one text per call, shown for all of its bad records, so later records are named in it. Nothing is
    // allocated, because the failure may be a lack of memory.
    const size_t used = std::strlen(message_);
    const int length = static_cast<int>(why.size() < message_bytes_ ? why.size() : message_bytes_);
    if (used == 0) {
      std::snprintf(message_, message_bytes_, "%.*s", length, why.data());
    } else {
      std::snprintf(message_ + used, message_bytes_ - used, "; sample %lld: %.*s",
                    static_cast<long long>(index_), length, why.data());
    }
  }
  bool failed() const noexcept { return failed_; }

  Record(const std::vector<Field>& fields, dl_reader_cell* cells, int64_t index, char* message,
         size_t bytes) noexcept
      : fields_(fields), cells_(cells), index_(index), message_(message), message_bytes_(bytes) {}
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

 private:
  const std::string& name(int32_t field) const { return fields_[static_cast<size_t>(field)].name; }
  template <typename T>
  bool is(int32_t field) {
    const int32_t dtype = fields_[static_cast<size_t>(field)].dtype;
    if (dtype == dtype_of<T>()) return true;
    fail("field '" + name(field) + "' is " + dl_dtype_name(dtype) + ", got " + dl_dtype_name(dtype_of<T>()));
    return false;
  }

  const std::vector<Field>& fields_;
  dl_reader_cell* cells_;
  int64_t index_;
  char* message_;
  size_t message_bytes_;
  bool failed_ = false;
};

// Derive from it, or give Dataset::from_reader a callable. Threading: read is called from worker threads (with
// num_workers=0 from the thread in next), concurrently; it must not call Dataline. Destroyed on any thread, when it
// will not be called again.
class Reader {
 public:
  virtual ~Reader() = default;
  // Called once, when the dataset is made.
  virtual std::vector<Field> fields() const = 0;
  virtual int64_t count() const = 0;
  // Text that identifies the data in a saved state; "" for none.
  virtual std::string fingerprint() const { return ""; }
  // Fills record `index`, 0 <= index < count(). An exception makes the record bad; its what() goes into the error.
  virtual void read(int64_t index, Record& record) = 0;
};

namespace detail {

// The reader's state held by the library.
struct ReaderState {
  std::unique_ptr<Reader> reader;
  std::vector<Field> fields;

  static void destroy(void* context) noexcept { delete static_cast<ReaderState*>(context); }
  static int32_t read(void* context, const int64_t* indices, int64_t count, dl_reader_cell* cells,
                      char* message, size_t message_bytes) noexcept {
    ReaderState& self = *static_cast<ReaderState*>(context);
    if (message_bytes > 0) message[0] = '\0';
    for (int64_t i = 0; i < count; ++i) {
      Record record(self.fields, cells + i * static_cast<int64_t>(self.fields.size()), indices[i], message,
                    message_bytes);
      self.read_one(indices[i], record);
    }
    return 0;
  }

 private:
  void read_one(int64_t index, Record& record) {
#if DATALINE_CPP_EXCEPTIONS
    try {
      reader->read(index, record);
    } catch (const std::exception& error) {
      record.fail(error.what());
    } catch (...) {
      record.fail("an exception that is no std::exception");
    }
#else
    reader->read(index, record);
#endif
  }
};

// A callable (int64_t index, Record&) as a Reader.
template <typename Call>
class CallReader final : public Reader {
 public:
  CallReader(std::vector<Field> fields, int64_t count, Call call, std::string fingerprint)
      : fields_(std::move(fields)),
        count_(count),
        call_(std::move(call)),
        fingerprint_(std::move(fingerprint)) {}
  std::vector<Field> fields() const override { return fields_; }
  int64_t count() const override { return count_; }
  std::string fingerprint() const override { return fingerprint_; }
  void read(int64_t index, Record& record) override { call_(index, record); }

 private:
  std::vector<Field> fields_;
  int64_t count_;
  Call call_;
  std::string fingerprint_;
};

}  // namespace detail

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
