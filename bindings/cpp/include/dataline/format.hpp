// Formats that the host adds, and the files that they and storages read.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/dataset.hpp>
#include <dataline/extensions.hpp>
#include <dataline/options.hpp>
#include <dataline/reader.hpp>
#include <dataline/span.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dataline {
inline namespace DATALINE_CPP_ABI {

// An open file: a local path, or `scheme://...` of a storage in `options`. Any thread may read.
class File {
 public:
  explicit File(const std::string& path, const Options& options = {})
      : File(try_open(path, options).value()) {}
  explicit File(dl_file* taken) noexcept : file_(taken) {}
  static Result<File> try_open(const std::string& path, const Options& options = {}) {
    return detail::make<File, dl_file>([&](dl_file** out, dl_error* error) {
      return dl_file_open(path.c_str(), options.raw(), out, error);
    });
  }
  explicit operator bool() const noexcept { return file_ != nullptr; }

  // The size when the file was opened.
  int64_t bytes() const noexcept { return dl_file_bytes(file_.get()); }
  // Reads `bytes` bytes at `offset`. DL_ERR_TRUNCATED, DL_ERR_CHANGED, DL_ERR_IO name path and offset. Pass the
  // `cancelled` of the callback that reads, for slow storages.
  Result<void> try_read(int64_t offset, void* out, int64_t bytes, Cancelled cancelled = {}) const {
    return detail::result_of([&](dl_error* error) {
      return dl_file_read(file_.get(), offset, bytes, out, cancelled.raw(), error);
    });
  }
  void read(int64_t offset, void* out, int64_t bytes, Cancelled cancelled = {}) const {
    try_read(offset, out, bytes, cancelled).value();
  }

 private:
  std::unique_ptr<dl_file, detail::Destroyer<dl_file, dl_file_destroy>> file_;
};

namespace detail {

// The caller's options, for calls that a callback makes.
class LentOptions {
 public:
  explicit LentOptions(const dl_options* lent) noexcept : options_(const_cast<dl_options*>(lent)) {}
  LentOptions(const LentOptions&) = delete;
  LentOptions& operator=(const LentOptions&) = delete;
  ~LentOptions() { static_cast<void>(options_.release()); }
  const Options& get() const noexcept { return options_; }

 private:
  Options options_;
};

}  // namespace detail

// A key of a format's URIs.
struct FormatKey {
  std::string name;
  std::string values;  // allowed words, "error|ignore" (others are rejected), or the kind of value, "INTEGER"
  std::optional<std::string> default_value;
  std::string doc;
};

// A request to open a path. Valid during the call.
class FormatRequest {
 public:
  explicit FormatRequest(const dl_format_request& raw) noexcept : raw_(raw), options_(raw.options) {}
  // One path of the URI. Several paths are opened one by one and concatenated.
  std::string path() const { return raw_.path; }
  // The value of a key, in the order of Format::keys: from the URI, else the default, else nothing.
  std::optional<std::string_view> value(size_t key) const noexcept {
    const char* text = raw_.values[key];
    return text == nullptr ? std::nullopt : std::optional<std::string_view>(text);
  }
  // The caller's options, for the file and the dataset that are opened.
  const Options& options() const noexcept { return options_.get(); }

 private:
  const dl_format_request& raw_;
  detail::LentOptions options_;
};

// Opened as `name:path?key=value`. A file without a scheme is matched by content or suffix, if no format of the
// library matches it with more certainty.
struct Format {
  std::string name;  // 2 to 32 characters of a-z 0-9 _, a letter first
  std::string doc;
  std::vector<FormatKey> keys;
  std::string suffixes;  // file-name suffixes, separated by spaces: ".wav .flac"
  // Returns DL_SNIFF_*, from the first bytes of a file (up to 512) and its size. May be empty. An exception counts
  // as DL_SNIFF_NO.
  std::function<int32_t(const char* path, Span<const std::byte> first, int64_t file_bytes)> sniff;
  // Creates the dataset, with any call that does.
  std::function<Result<Dataset>(const FormatRequest& request)> open;
};

namespace detail {

inline int32_t sniff_for(void* context, const char* path, const void* bytes, int64_t count,
                         int64_t file_bytes) noexcept {
  int32_t sure = DL_SNIFF_NO;
  static_cast<void>(guarded(nullptr, [&]() -> dl_status {
    sure = static_cast<const Format*>(context)->sniff(
        path, span_of(static_cast<const std::byte*>(bytes), count), file_bytes);
    return DL_OK;
  }));
  return sure;
}

inline dl_status open_for(void* context, const dl_format_request* request, dl_dataset** out,
                          dl_error* error) noexcept {
  return guarded(error, [&]() -> dl_status {
    const FormatRequest given(*request);
    Result<Dataset> made = static_cast<const Format*>(context)->open(given);
    if (!made) return dl_error_set(error, made.status(), made.error().message());
    *out = made->release();
    return DL_OK;
  });
}

}  // namespace detail

inline Result<void> Extensions::try_add_format(Format format) {
  auto context = std::make_unique<Format>(std::move(format));
  std::vector<dl_format_key> keys;
  for (const FormatKey& key : context->keys) {
    const char* preset = key.default_value ? key.default_value->c_str() : nullptr;
    keys.push_back({sizeof(dl_format_key), 0, key.name.c_str(), key.values.c_str(), preset, key.doc.c_str()});
  }
  dl_format table = {};
  table.struct_size = sizeof table;
  table.key_count = static_cast<int32_t>(keys.size());
  table.name = context->name.c_str();
  table.doc = context->doc.c_str();
  table.keys = keys.data();
  table.suffixes = context->suffixes.c_str();
  table.context = context.get();
  table.sniff = context->sniff ? &detail::sniff_for : nullptr;
  table.open = context->open ? &detail::open_for : nullptr;
  table.destroy = &detail::delete_context<Format>;
  return detail::give(std::move(context), [&](dl_error* error) {
    return dl_extensions_add_format(extensions_.get(), &table, error);
  });
}
inline Extensions& Extensions::add_format(Format format) {
  return try_add_format(std::move(format)).value(), *this;
}

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
