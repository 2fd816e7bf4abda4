// Options: settings of datasets and loaders.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/cancel_token.hpp>
#include <dataline/error.hpp>
#include <dataline/extensions.hpp>
#include <dataline/launcher.hpp>
#include <dataline/loan.hpp>
#include <dataline/setting.hpp>
#include <dataline/span.hpp>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace dataline {
inline namespace DATALINE_CPP_ABI {

// Key-value settings of datasets and loaders, copied on use. A moved-from or default object has no settings. One
// thread at a time.
//   dataline::Options options{{"batch_size", 256}, {"shuffle", "full"}, {"drop_last", true}};
class Options {
 public:
  Options() noexcept = default;
  Options(std::initializer_list<Setting> settings) {
    for (const Setting& setting : settings) set(setting.key, setting.value);
  }
  // Takes ownership of the handle.
  explicit Options(dl_options* taken) noexcept : options_(taken) {}
  static Result<Options> try_create(std::initializer_list<Setting> settings) {
    Options made;
    for (const Setting& setting : settings) {
      if (Result<void> done = made.try_set(setting.key, setting.value); !done) return done.error();
    }
    return made;
  }
  explicit operator bool() const noexcept { return options_ != nullptr; }

  // The same settings. Later changes of one object do not affect the other. Arrays, tables, extensions and the
  // token are shared.
  //   dataline::Options validation = options.copy();
  Result<Options> try_copy() const {
    if (!options_) return Options();
    Error error;
    dl_options* made = nullptr;
    const dl_status status = dl_options_copy(options_.get(), &made, error.raw());
    if (status != DL_OK) return error.finish(status);
    return Options(made);
  }
  Options copy() const { return try_copy().value(); }

  // If a key is set twice, the last value applies. DL_ERR_UNKNOWN_OPTION names the nearest key, DL_ERR_BAD_OPTION
  // the expected value.
  Result<void> try_set(const std::string& key, const SettingValue& value) {
    return std::visit([&](const auto& held) { return put(key, held); }, value.value_);
  }
  Options& set(const std::string& key, const SettingValue& value) {
    try_set(key, value).value();
    return *this;
  }

  // The arrays of sample_indices, weights and lengths, copied or borrowed. A borrowed array must not change.
  // `release` (any callable without arguments, moved here) is called once, from any thread, when neither these
  // options nor anything created with them needs the array. It is not called if the call fails. It must not throw.
  Result<void> try_set_indices(Span<const int64_t> indices) {
    return with_handle([&](dl_options* to, dl_error* error) {
      return dl_options_set_indices(to, indices.data(), count(indices), nullptr, nullptr, error);
    });
  }
  Options& set_indices(Span<const int64_t> indices) { return try_set_indices(indices).value(), *this; }
  Result<void> try_set_weights(Span<const double> weights) {
    return with_handle([&](dl_options* to, dl_error* error) {
      return dl_options_set_weights(to, weights.data(), count(weights), nullptr, nullptr, error);
    });
  }
  Options& set_weights(Span<const double> weights) { return try_set_weights(weights).value(), *this; }
  Result<void> try_set_lengths(Span<const int64_t> lengths) {
    return with_handle([&](dl_options* to, dl_error* error) {
      return dl_options_set_lengths(to, lengths.data(), count(lengths), nullptr, nullptr, error);
    });
  }
  Options& set_lengths(Span<const int64_t> lengths) { return try_set_lengths(lengths).value(), *this; }
  template <typename Release>
  Result<void> try_borrow_indices(Span<const int64_t> indices, Release&& release) {
    return with_handle([&](dl_options* to, dl_error* error) {
      return detail::lend(std::forward<Release>(release), [&](void (*give_back)(void*), void* context) {
        return dl_options_set_indices(to, indices.data(), count(indices), give_back, context, error);
      });
    });
  }
  template <typename Release>
  Options& borrow_indices(Span<const int64_t> indices, Release&& release) {
    return try_borrow_indices(indices, std::forward<Release>(release)).value(), *this;
  }
  template <typename Release>
  Result<void> try_borrow_weights(Span<const double> weights, Release&& release) {
    return with_handle([&](dl_options* to, dl_error* error) {
      return detail::lend(std::forward<Release>(release), [&](void (*give_back)(void*), void* context) {
        return dl_options_set_weights(to, weights.data(), count(weights), give_back, context, error);
      });
    });
  }
  template <typename Release>
  Options& borrow_weights(Span<const double> weights, Release&& release) {
    return try_borrow_weights(weights, std::forward<Release>(release)).value(), *this;
  }

  template <typename Release>
  Result<void> try_borrow_lengths(Span<const int64_t> lengths, Release&& release) {
    return with_handle([&](dl_options* to, dl_error* error) {
      return detail::lend(std::forward<Release>(release), [&](void (*give_back)(void*), void* context) {
        return dl_options_set_lengths(to, lengths.data(), count(lengths), give_back, context, error);
      });
    });
  }
  template <typename Release>
  Options& borrow_lengths(Span<const int64_t> lengths, Release&& release) {
    return try_borrow_lengths(lengths, std::forward<Release>(release)).value(), *this;
  }

  // The host's tables of dataline.h. The target of `context` must live until everything created with the table is
  // destroyed.
  Result<void> try_set_allocator(const dl_allocator& allocator) {
    return with_handle(
        [&](dl_options* to, dl_error* error) { return dl_options_set_allocator(to, &allocator, error); });
  }
  Options& set_allocator(const dl_allocator& allocator) {
    return try_set_allocator(allocator).value(), *this;
  }
  Result<void> try_set_log(const dl_log& log) {
    return with_handle([&](dl_options* to, dl_error* error) { return dl_options_set_log(to, &log, error); });
  }
  Options& set_log(const dl_log& log) { return try_set_log(log).value(), *this; }
  // Keeps its own reference to the token.
  Result<void> try_set_cancel_token(const CancelToken& token) {
    return with_handle(
        [&](dl_options* to, dl_error* error) { return dl_options_set_cancel_token(to, token.get(), error); });
  }
  Options& set_cancel_token(const CancelToken& token) { return try_set_cancel_token(token).value(), *this; }
  // Applies what was added so far; later additions have no effect on these options. An empty handle: none.
  Result<void> try_set_extensions(const Extensions& extensions) {
    return with_handle([&](dl_options* to, dl_error* error) {
      return dl_options_set_extensions(to, extensions.get(), error);
    });
  }
  Options& set_extensions(const Extensions& extensions) {
    return try_set_extensions(extensions).value(), *this;
  }

  // The current value as text: the default if not set, "" for none.
  Result<std::string> try_get(const std::string& key) const {
    if (!options_) {
      Options defaults;
      if (Result<void> made = defaults.ensure(); !made) return made.error();
      return defaults.try_get(key);
    }
    Error error;
    const char* text = nullptr;
    const dl_status status = dl_options_get(options_.get(), key.c_str(), &text, error.raw());
    if (status != DL_OK) return error.finish(status);
    return std::string(text);
  }
  std::string get(const std::string& key) const { return try_get(key).value(); }

  // For loaders. The library does not read the environment: it uses this copy when rank or world_size is auto.
  Result<void> give_environment() const {
    if (!options_) return {};
    return detail::result_of([&](dl_error* error) {
      return dl_options_set_environment(options_.get(), detail::environment(), error);
    });
  }

  // NULL if nothing is set; all functions of dataline.h accept NULL.
  dl_options* raw() const noexcept { return options_.get(); }
  // Transfers the handle to the caller.
  dl_options* release() noexcept { return options_.release(); }

 private:
  template <typename T>
  static int64_t count(const T& values) noexcept {
    return static_cast<int64_t>(values.size());
  }
  Result<void> ensure() {
    if (options_) return {};
    return detail::result_of([&](dl_error* error) {
      dl_options* made = nullptr;
      const dl_status status = dl_options_create(&made, error);
      options_.reset(made);
      return status;
    });
  }
  template <typename Call>
  Result<void> with_handle(Call&& call) {
    if (Result<void> made = ensure(); !made) return made;
    return detail::result_of([&](dl_error* error) { return call(options_.get(), error); });
  }
  Result<void> put(const std::string& key, int64_t value) {
    return with_handle(
        [&](dl_options* to, dl_error* error) { return dl_options_set_i64(to, key.c_str(), value, error); });
  }
  // A C++ bool is not a number, and not the name of a directory.
  Result<void> put(const std::string& key, bool value) {
    const char* const text = value ? "true" : "false";
    if (type_of(key) == DL_OPTION_TEXT)
      return Error(DL_ERR_BAD_OPTION, "option " + key + ": expected text, got " + text);
    return put(key, std::string(text));
  }
  Result<void> put(const std::string& key, const std::string& value) {
    return with_handle([&](dl_options* to, dl_error* error) {
      return dl_options_set(to, key.c_str(), value.c_str(), error);
    });
  }
  Result<void> put(const std::string& key, const std::vector<int64_t>& numbers) {
    if (takes_array(key, DL_OPTION_LENGTHS, "")) return try_set_lengths(numbers);
    if (Result<void> fits = takes_array(key, DL_OPTION_INDICES, "an array of integers"); !fits) return fits;
    return try_set_indices(numbers);
  }
  Result<void> put(const std::string& key, const std::vector<double>& weights) {
    if (Result<void> fits = takes_array(key, DL_OPTION_WEIGHTS, "an array of floats"); !fits) return fits;
    return try_set_weights(weights);
  }
  // The library has one call for each kind of array, without a key, so the key's kind is checked here.
  Result<void> takes_array(const std::string& key, int32_t type, const char* got) {
    const int32_t found = type_of(key);
    if (found == type) return {};
    if (found != 0) return Error(DL_ERR_BAD_OPTION, "option '" + key + "': does not accept " + got);
    return put(key, std::string());  // unknown: the library's own message
  }
  // The type of the option; 0 if there is no such option.
  static int32_t type_of(const std::string& key) noexcept {
    for (int32_t i = 0; i < dl_option_count(); ++i) {
      dl_option_info info = {};
      info.struct_size = sizeof info;
      if (dl_option_at(i, &info, nullptr) == DL_OK && key == info.key) return info.type;
    }
    return 0;
  }

  std::unique_ptr<dl_options, detail::Destroyer<dl_options, dl_options_destroy>> options_;
};

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
