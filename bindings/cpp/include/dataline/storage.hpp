// Storages that the host adds. They store the bytes of `scheme://` paths.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/extensions.hpp>
#include <dataline/format.hpp>
#include <dataline/reader.hpp>
#include <dataline/span.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace dataline {
inline namespace DATALINE_CPP_ABI {

// A stored object. Several threads read from it concurrently. It is destroyed on any thread, after the last read.
class StoredObject {
 public:
  virtual ~StoredObject() = default;
  virtual int64_t bytes() const = 0;
  // A text that changes when the object's bytes change, such as a version or an ETag. Empty: unknown; the option
  // `cache` and conversions that resume then reject the object. Lives as long as the object.
  virtual const char* fingerprint() const { return ""; }
  // Fills all of `out` from `offset`; the range is within the object.
  virtual Result<void> read(int64_t offset, Span<std::byte> out, Cancelled cancelled) const = 0;
};

// A request to open an object. Valid during the call.
class StorageRequest {
 public:
  explicit StorageRequest(const dl_storage_object& raw) noexcept : raw_(raw), options_(raw.options) {}
  // The complete path, with its scheme.
  std::string path() const { return raw_.path; }
  Cancelled cancelled() const noexcept { return Cancelled(raw_.cancelled); }
  // The caller's options: a storage that wraps another one opens a File with them.
  const Options& options() const noexcept { return options_.get(); }

 private:
  const dl_storage_object& raw_;
  detail::LentOptions options_;
};

struct Storage {
  std::string scheme;  // the same rules as for a format's name; may also contain +
  std::string doc;
  std::function<Result<std::unique_ptr<StoredObject>>(const StorageRequest& request)> open;
};

namespace detail {

inline dl_status open_object_for(void* context, dl_storage_object* object, dl_error* error) noexcept {
  return guarded(error, [&]() -> dl_status {
    const StorageRequest request(*object);
    Result<std::unique_ptr<StoredObject>> made = static_cast<const Storage*>(context)->open(request);
    if (!made) return dl_error_set(error, made.status(), made.error().message());
    if (*made == nullptr) return dl_error_set(error, DL_ERR_READER, "open returned no object");
    object->bytes = (*made)->bytes();
    object->fingerprint = (*made)->fingerprint();
    object->object = made->release();
    return DL_OK;
  });
}

inline dl_status read_object_for(void*, dl_storage_read* request, dl_error* error) noexcept {
  return guarded(error, [&]() -> dl_status {
    const Result<void> done =
        static_cast<const StoredObject*>(request->object)
            ->read(request->offset, span_of(static_cast<std::byte*>(request->out), request->bytes),
                   Cancelled(request->cancelled));
    return done ? DL_OK : dl_error_set(error, done.status(), done.error().message());
  });
}

inline void close_object_for(void*, void* object) noexcept { delete static_cast<StoredObject*>(object); }

}  // namespace detail

inline Result<void> Extensions::try_add_storage(Storage storage) {
  auto context = std::make_unique<Storage>(std::move(storage));
  dl_storage table = {};
  table.struct_size = sizeof table;
  table.scheme = context->scheme.c_str();
  table.doc = context->doc.c_str();
  table.context = context.get();
  table.open = context->open ? &detail::open_object_for : nullptr;
  table.read = &detail::read_object_for;
  table.close = &detail::close_object_for;
  table.destroy = &detail::delete_context<Storage>;
  return detail::give(std::move(context), [&](dl_error* error) {
    return dl_extensions_add_storage(extensions_.get(), &table, error);
  });
}
inline Extensions& Extensions::add_storage(Storage storage) {
  return try_add_storage(std::move(storage)).value(), *this;
}

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
