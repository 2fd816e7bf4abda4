// Error, Result, and the failure hook for builds without exceptions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/config.hpp>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace dataline {
inline namespace DATALINE_CPP_ABI {

// A dl_error that can be thrown. Copying never allocates and never throws.
class Error : public std::exception {
 public:
  Error() noexcept { clear(); }
  Error(dl_status code, std::string_view message) noexcept {
    clear();
    raw_.code = code;
    set_message(message);
  }
  Error(const Error& other) noexcept : std::exception(other) { copy(other.raw_); }
  Error& operator=(const Error& other) noexcept {
    if (this != &other) copy(other.raw_);
    return *this;
  }

  // A DL_ERR_* code; DL_OK if there is no error; a soft result such as DL_CANCELLED if one ended a call.
  dl_status code() const noexcept { return raw_.code; }
  // "DL_ERR_CORRUPT"
  const char* name() const noexcept { return dl_status_name(raw_.code); }
  // One line with the file, offset, sample or option, the expected and the actual value.
  const char* message() const noexcept { return raw_.message; }
  const char* what() const noexcept override { return raw_.message; }
  // The (first) sample concerned, or -1.
  int64_t sample_index() const noexcept { return raw_.sample_index; }
  // The part of a mix that the sample belongs to; 0 without a mix.
  int64_t sample_source() const noexcept { return raw_.sample_source; }
  // errno, or 0.
  int os_error() const noexcept { return raw_.os_error; }
  // 1-based column in a URI or transform text, or 0.
  int column() const noexcept { return raw_.column; }

  // For direct calls of dataline.h: f(..., error.raw()), then error.finish(status).
  dl_error* raw() noexcept { return &raw_; }
  // Soft results do not write the dl_error, so the message is the name of the result.
  Error& finish(dl_status status) noexcept {
    if (status >= 0) set_message(dl_status_name(status));
    raw_.code = status;
    return *this;
  }

 private:
  // Leaves the rest of the message unchanged: clearing 512 bytes before every call would cost time.
  void clear() noexcept {
    raw_.struct_size = sizeof raw_;
    raw_.code = DL_OK;
    raw_.os_error = 0;
    raw_.column = 0;
    raw_.sample_index = -1;
    raw_.sample_source = 0;
    raw_.message[0] = '\0';
  }
  void set_message(std::string_view text) noexcept {
    const size_t length = text.size() < sizeof raw_.message ? text.size() : sizeof raw_.message - 1;
    if (length > 0) std::memcpy(raw_.message, text.data(), length);
    raw_.message[length] = '\0';
  }
  void copy(const dl_error& from) noexcept {
    raw_.struct_size = sizeof raw_;
    raw_.code = from.code;
    raw_.os_error = from.os_error;
    raw_.column = from.column;
    raw_.sample_index = from.sample_index;
    raw_.sample_source = from.sample_source;
    set_message(from.message);
  }

  dl_error raw_;
};

#if !DATALINE_CPP_EXCEPTIONS
// With exceptions off, a failing call without try_ calls this hook, then std::terminate. A hook may leave by
// longjmp or end the process. Without a hook the error is printed to stderr, as for an uncaught exception.
using FailureHook = void (*)(const Error& error);

namespace detail {
inline std::atomic<FailureHook> failure_hook{nullptr};
}  // namespace detail

// Returns the previous hook. nullptr removes the hook. Any thread.
inline FailureHook set_failure_hook(FailureHook hook) noexcept { return detail::failure_hook.exchange(hook); }
#endif

namespace detail {

[[noreturn]] DATALINE_CPP_COLD inline void fail(const Error& error) {
#if DATALINE_CPP_EXCEPTIONS
  throw error;
#else
  if (FailureHook hook = failure_hook.load()) {
    hook(error);
  } else {
    std::fprintf(stderr, "dataline: %s: %s\n", error.name(), error.message());
  }
  std::terminate();
#endif
}

}  // namespace detail

// A T or an error. For `next`, a soft result (DL_TIMEOUT, ...) counts as an error. As with std::optional,
// dereferencing a Result without a value is undefined; value() is checked.
template <typename T>
class [[nodiscard]] Result {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): as std::optional
  Result(T value) noexcept : value_(std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor): `return error;`
  Result(const Error& error) noexcept : error_(error) {}

  bool has_value() const noexcept { return value_.has_value(); }
  explicit operator bool() const noexcept { return value_.has_value(); }
  // DL_OK with a value; otherwise the soft result or the error code.
  dl_status status() const noexcept { return error_.code(); }
  const Error& error() const noexcept { return error_; }

  // Throws the error (or calls the failure hook) if there is no value.
  T& value() & {
    if (!value_) detail::fail(error_);
    return *value_;
  }
  T&& value() && {
    if (!value_) detail::fail(error_);
    return std::move(*value_);
  }
  T& operator*() & noexcept { return *value_; }
  const T& operator*() const& noexcept { return *value_; }
  T&& operator*() && noexcept { return std::move(*value_); }
  T* operator->() noexcept { return &*value_; }
  const T* operator->() const noexcept { return &*value_; }

 private:
  std::optional<T> value_;
  Error error_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() noexcept = default;
  // NOLINTNEXTLINE(google-explicit-constructor): `return error;`
  Result(const Error& error) noexcept : error_(error) {}

  bool has_value() const noexcept { return error_.code() == DL_OK; }
  explicit operator bool() const noexcept { return has_value(); }
  dl_status status() const noexcept { return error_.code(); }
  const Error& error() const noexcept { return error_; }
  void value() const {
    if (!has_value()) detail::fail(error_);
  }

 private:
  Error error_;
};

namespace detail {

// Runs `call(dl_error*)` and returns a Result.
template <typename Call>
Result<void> result_of(Call&& call) {
  Error error;
  const dl_status status = call(error.raw());
  if (status == DL_OK) return {};
  return error.finish(status);
}

// Runs `call(Raw** out, dl_error*)` and returns a Result of the owner T.
template <typename T, typename Raw, typename Call>
Result<T> make(Call&& call) {
  Error error;
  Raw* raw = nullptr;
  const dl_status status = call(&raw, error.raw());
  if (status == DL_OK) return T(raw);
  return error.finish(status);
}

// Returns the text of `call(char* room, size_t* bytes, dl_error*)`, which follows the protocol of
// dl_loader_state_save.
template <typename Call>
Result<std::string> text_of(Call&& call) {
  std::string text;
  size_t bytes = 0;
  Result<void> done = result_of([&](dl_error* error) { return call(nullptr, &bytes, error); });
  if (!done) return done.error();
  do {  // repeats if the text has grown since its length was returned
    text.resize(bytes);
    done = result_of([&](dl_error* error) { return call(text.data(), &bytes, error); });
  } while (!done && bytes > text.size());
  if (!done) return done.error();
  text.resize(bytes - 1);  // without the NUL
  return text;
}

// The deleter of std::unique_ptr. Destroy is the matching function of dataline.h.
template <typename Raw, void (*Destroy)(Raw*)>
struct Destroyer {
  void operator()(Raw* handle) const noexcept { Destroy(handle); }
};

}  // namespace detail

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
