// Extensions: formats, operators, storages, threads and plug-ins that the host adds.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/error.hpp>

#include <memory>
#include <new>
#include <string>
#include <utility>

namespace dataline {
inline namespace DATALINE_CPP_ABI {

struct Format;    // format.hpp
struct Operator;  // operator.hpp
struct Storage;   // storage.hpp
struct Threads;   // threads.hpp

// Adds the host's code to the library. It applies to datasets and loaders whose options have it (Options::set_extensions):
//   dataline::Extensions extensions;
//   extensions.add_format(records).add_operator(offset).load("/opt/plugins/libdataline-wav.so");
//   dataline::Options options;
//   options.set_extensions(extensions);
//   dataline::Dataset dataset("rec:data/a.rec", options);
//
// The library calls the added functions from several threads concurrently. An exception that leaves one becomes
// the error of that call: an Error keeps its code and message; any other exception contributes its what()
// (DL_ERR_READER). The functions are destroyed once, on any thread, when no extensions, options, dataset or loader
// needs them, also if the call that adds them fails. A name that the library or this object already has is
// DL_ERR_INVALID_ARGUMENT. Add from one thread at a time.
class Extensions {
 public:
  Extensions() : Extensions(try_create().value()) {}
  explicit Extensions(dl_extensions* taken) noexcept : extensions_(taken) {}
  static Result<Extensions> try_create() {
    return detail::make<Extensions, dl_extensions>(dl_extensions_create);
  }
  explicit operator bool() const noexcept { return extensions_ != nullptr; }

  Result<void> try_add_format(Format format);
  Extensions& add_format(Format format);
  Result<void> try_add_operator(Operator given);
  Extensions& add_operator(Operator given);
  Result<void> try_add_storage(Storage storage);
  Extensions& add_storage(Storage storage);
  // Replaces the threads set before.
  Result<void> try_set_threads(Threads threads);
  Extensions& set_threads(Threads threads);
  // Loads a plug-in: a path, or a name without `/`. For a name, the dynamic linker searches for
  // libdataline-NAME.so. The plug-in stays loaded until the process ends. DL_ERR_NOT_FOUND, DL_ERR_UNSUPPORTED.
  Result<void> try_load(const std::string& path) {
    return detail::result_of(
        [&](dl_error* error) { return dl_extensions_load(extensions_.get(), path.c_str(), error); });
  }
  Extensions& load(const std::string& path) { return try_load(path).value(), *this; }

  dl_extensions* get() const noexcept { return extensions_.get(); }

 private:
  std::unique_ptr<dl_extensions, detail::Destroyer<dl_extensions, dl_extensions_destroy>> extensions_;
};

namespace detail {

// Runs the host's function `call` for the library. An exception becomes the error.
template <typename Call>
dl_status guarded(dl_error* error, Call&& call) noexcept {
#if DATALINE_CPP_EXCEPTIONS
  try {
    return call();
  } catch (const Error& failed) {
    return dl_error_set(error, failed.code(), failed.message());
  } catch (const std::bad_alloc&) {
    return dl_error_set(error, DL_ERR_NO_MEMORY, "out of memory");
  } catch (const std::exception& failed) {
    return dl_error_set(error, DL_ERR_READER, failed.what());
  } catch (...) {
    return dl_error_set(error, DL_ERR_READER, "an exception that is not a std::exception");
  }
#else
  static_cast<void>(error);
  return call();
#endif
}

// The `destroy` of a table whose context is a T.
template <typename T>
void delete_context(void* context) noexcept {
  delete static_cast<T*>(context);
}

// `call(error)` passes a table with `context` to the library, which deletes `context` later. If the call fails,
// the caller still owns it.
template <typename T, typename Call>
Result<void> give(std::unique_ptr<T> context, Call&& call) {
  Result<void> given = result_of(std::forward<Call>(call));
  if (given) static_cast<void>(context.release());
  return given;
}

}  // namespace detail

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
