// Reader: records from the host's own code.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/dtype.hpp>
#include <dataline/error.hpp>
#include <dataline/span.hpp>

#include <atomic>
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

// One field of a reader's records, or of a writer's rows.
struct Field {
  std::string name;
  int32_t dtype = 0;           // DL_DTYPE_*
  std::vector<int64_t> shape;  // of one record; ragged: of one row, whose count varies by record
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

namespace detail {

// Fields in the form that dataline.h expects. Borrows names and axes from them.
class FieldViews {
 public:
  explicit FieldViews(const std::vector<Field>& fields) {
    for (const Field& field : fields) {
      std::vector<int64_t>& shape = shapes_.emplace_back(field.shape);
      if (field.kind == DL_KIND_RAGGED) shape.insert(shape.begin(), -1);
      dl_view view = {};
      view.struct_size = sizeof view;
      view.kind = field.kind;
      view.name = field.name.c_str();
      view.dtype = field.dtype;
      view.rank = static_cast<int32_t>(shape.size());
      view.shape = shape.data();  // stays valid when `shapes_` grows and moves its vectors
      view.axes = field.axes.c_str();
      view.bytes = field.kind == DL_KIND_RAGGED ? field.max_bytes : 0;
      views_.push_back(view);
    }
  }
  const dl_view* data() const noexcept { return views_.data(); }
  int32_t size() const noexcept { return static_cast<int32_t>(views_.size()); }

 private:
  std::vector<std::vector<int64_t>> shapes_;
  std::vector<dl_view> views_;
};

// Objects that the records of one call keep until they have been converted. Created when the first record keeps
// one.
using Owners = std::vector<std::shared_ptr<const void>>;

// Whether a flag that another thread sets is set.
inline bool is_set(const int32_t* flag) noexcept {
  static_assert(sizeof(std::atomic<int32_t>) == sizeof(int32_t), "the library's flag is a plain int32_t");
  return reinterpret_cast<const std::atomic<int32_t>*>(flag)->load(std::memory_order_relaxed) != 0;
}

inline bool is_cancelled(const dl_reader_request& request) noexcept { return is_set(request.cancelled); }

}  // namespace detail

// Becomes true when the result of a callback is no longer wanted. Slow callbacks check it and return an error.
// Valid during the call.
class Cancelled {
 public:
  Cancelled() = default;  // never
  explicit Cancelled(const int32_t* flag) noexcept : flag_(flag) {}
  explicit operator bool() const noexcept { return flag_ != nullptr && detail::is_set(flag_); }
  const int32_t* raw() const noexcept { return flag_; }

 private:
  const int32_t* flag_ = nullptr;
};

// One record to fill, valid during the call of Reader::read. Fields are numbered as in Reader::fields.
class Record {
 public:
  // Writes a complete field. A wrong dtype, or for a dense field a wrong size, makes the record bad. A ragged
  // field that exceeds its space is too large (DL_ERR_TOO_LARGE).
  template <typename T>
  void put(int32_t field, const T* items, size_t count) {
    const int64_t bytes = static_cast<int64_t>(count * sizeof(T));
    if (!fits<T>(field, bytes)) return;
    dl_reader_cell& to = cell(field);
    to.borrowed = nullptr;
    if (bytes > 0 && bytes <= to.capacity) std::memcpy(to.data, items, static_cast<size_t>(bytes));
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

  // Like put, but without the copy: the library converts directly from `items`, at any alignment. They must not
  // change before the record has been converted. `owner` is kept until then, and released on the thread that
  // called Reader::read. Without an owner, `items` must live as long as the dataset and everything created from
  // it.
  template <typename T>
  void borrow(int32_t field, const T* items, size_t count, std::shared_ptr<const void> owner = nullptr) {
    if (!fits<T>(field, static_cast<int64_t>(count * sizeof(T)))) return;
    if (owner != nullptr) {
      if (owners_ == nullptr) owners_ = std::make_unique<detail::Owners>();
      owners_->push_back(std::move(owner));
    }
    cell(field).borrowed = count > 0 ? items : nullptr;
  }
  template <typename T>
  void borrow(int32_t field, Span<const T> items, std::shared_ptr<const void> owner = nullptr) {
    borrow(field, items.data(), items.size(), std::move(owner));
  }
  // Lends all of a vector, and keeps the vector.
  template <typename T>
  void borrow(int32_t field, std::shared_ptr<const std::vector<T>> items) {
    const T* const data = items->data();
    const size_t count = items->size();
    borrow(field, data, count, std::shared_ptr<const void>(std::move(items)));
  }

  // The record's place in the epoch's order, the epoch, and the loader's seed: the inputs for random draws. Slot
  // and epoch are -1 for a record that is read outside an epoch (Dataset::image_info; the upload of io=device).
  int64_t slot() const noexcept { return request_.slots[record_]; }
  int64_t epoch() const noexcept { return request_.epoch; }
  uint64_t seed() const noexcept { return request_.seed; }
  // True when the record is no longer wanted: the loader is being destroyed or was cancelled. Slow readers check
  // it and return.
  Cancelled cancelled() const noexcept { return Cancelled(request_.cancelled); }

  // A dense field to write directly, 64-byte aligned. With another dtype the record becomes bad and the span is
  // empty.
  template <typename T>
  Span<T> room(int32_t field) {
    if (!is<T>(field)) return {};
    dl_reader_cell& to = cell(field);
    to.borrowed = nullptr;
    return detail::span_of(static_cast<T*>(to.data), to.capacity / static_cast<int64_t>(sizeof(T)));
  }
  // The cell of dataline.h, for everything else.
  dl_reader_cell& cell(int32_t field) noexcept { return *dl_reader_cell_at(&request_, record_, field); }

  // Marks this record as bad; on_error decides what happens then. The error contains the text and `code` (not 0).
  void fail(std::string_view why, int32_t code = 1) {
    cell(0).status = code != 0 ? code : 1;
    failed_ = true;
    // Does not allocate, because the failure may be a lack of memory.
    const size_t room = static_cast<size_t>(request_.message_bytes);
    const int length = static_cast<int>(why.size() < room ? why.size() : room);
    std::snprintf(request_.messages + record_ * request_.message_bytes, room, "%.*s", length, why.data());
  }
  bool failed() const noexcept { return failed_; }

  Record(const std::vector<Field>& fields, const dl_reader_request& request, int32_t record,
         std::unique_ptr<detail::Owners>& owners) noexcept
      : fields_(fields), request_(request), record_(record), owners_(owners) {}
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

  // Sets the byte count of the field, if it is valid. Dense: the field's size. Ragged: any.
  template <typename T>
  bool fits(int32_t field, int64_t bytes) {
    if (!is<T>(field)) return false;
    dl_reader_cell& to = cell(field);
    if (fields_[static_cast<size_t>(field)].kind == DL_KIND_RAGGED) {
      to.bytes = bytes;
    } else if (bytes != to.bytes) {
      fail("field '" + name(field) + "': got " + std::to_string(bytes) + " bytes, expected " +
           std::to_string(to.bytes));
      return false;
    }
    return true;
  }

  const std::vector<Field>& fields_;
  const dl_reader_request& request_;
  int32_t record_;
  std::unique_ptr<detail::Owners>& owners_;
  bool failed_ = false;
};

// Derive from it, or pass a callable to Dataset::from_reader. Threading: worker threads call read concurrently
// (with num_workers=0 the thread in next calls it). read must not call Dataline. The reader is destroyed on any
// thread, after the last call.
class Reader {
 public:
  virtual ~Reader() = default;
  // Called once, when the dataset is created.
  virtual std::vector<Field> fields() const = 0;
  virtual int64_t count() const = 0;
  // A text that changes when the data changes; "" for none. Saved states and the option `cache` compare it. Called
  // once.
  virtual std::string fingerprint() const { return ""; }
  // The files that the records are read from, in order: local paths, or paths of storages in the options. Each
  // must exist. The library records their state when the dataset is created. Saved states, the option `cache` and
  // Dataset::identity compare it, as for files that the library reads. Called once; empty: none.
  virtual std::vector<std::string> files() const { return {}; }
  // One number per file, ascending: the index after the file's last record. The last number is count(). A changed
  // file then invalidates only its own samples in a cache. Empty: any file may contain any record. Called once.
  virtual std::vector<int64_t> file_ends() const { return {}; }
  // Blocks of records that are cheap to read together, such as a compressed group. Block i ends before record
  // block_ends()[i]; the numbers ascend, and the last one is count(). shuffle=window reads each block within a
  // short part of an epoch. Empty: no blocks. Called once.
  virtual std::vector<int64_t> block_ends() const { return {}; }
  // The number of blocks that the reader can keep open (0: any number). With 4 or more, shuffle=window never needs
  // more at a time. Called once.
  virtual int64_t held_blocks() const { return 0; }
  // Whether read is as fast as copying its records. A consumer that waits for a batch then also calls read. Called
  // once.
  virtual bool prompt() const { return false; }
  // A hint: block `block` will be read soon. Note the number and return immediately, so that a thread can open the
  // block while others read. Some blocks are never announced. Called concurrently, as read is; an exception is
  // ignored.
  virtual void advise(int64_t block) { static_cast<void>(block); }
  // Fills record `index`, 0 <= index < count(). An exception makes the record bad; the error contains its what().
  virtual void read(int64_t index, Record& record) = 0;
};

namespace detail {

// The reader's state held by the library.
struct ReaderState {
  std::unique_ptr<Reader> reader;
  std::vector<Field> fields;

  static void destroy(void* context) noexcept { delete static_cast<ReaderState*>(context); }
  static int32_t read(void* context, dl_reader_request* request) noexcept {
    ReaderState& self = *static_cast<ReaderState*>(context);
    std::unique_ptr<Owners> owners;
    for (int32_t i = 0; i < request->record_count; ++i) {
      if (is_cancelled(*request)) break;
      Record record(self.fields, *request, i, owners);
      self.read_one(request->indices[i], record);
    }
    if (owners != nullptr) {
      request->release_context = owners.release();
      request->release = [](void* kept) { delete static_cast<Owners*>(kept); };
    }
    return is_cancelled(*request) ? 1 : 0;
  }
  static void advise(void* context, int64_t block) noexcept {
    Reader& reader = *static_cast<ReaderState*>(context)->reader;
#if DATALINE_CPP_EXCEPTIONS
    try {
      reader.advise(block);
    } catch (...) {  // the block is opened when it is read
    }
#else
    reader.advise(block);
#endif
  }

 private:
  void read_one(int64_t index, Record& record) {
#if DATALINE_CPP_EXCEPTIONS
    try {
      reader->read(index, record);
    } catch (const std::exception& error) {
      record.fail(error.what());
    } catch (...) {
      record.fail("an exception that is not a std::exception");
    }
#else
    reader->read(index, record);
#endif
  }
};

// Wraps a callable (int64_t index, Record&) as a Reader.
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
