// Owning handles of the library's objects, and its tables as C++ values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dataline::cli {

template <auto Function>
struct Call {
  template <typename T>
  void operator()(T* handle) const {
    Function(handle);
  }
};

using Extensions = std::unique_ptr<dl_extensions, Call<dl_extensions_destroy>>;
using Options = std::unique_ptr<dl_options, Call<dl_options_destroy>>;
using Dataset = std::unique_ptr<dl_dataset, Call<dl_dataset_destroy>>;
using Loader = std::unique_ptr<dl_loader, Call<dl_loader_destroy>>;
using Metrics = std::unique_ptr<dl_metrics, Call<dl_metrics_destroy>>;
using Batch = std::unique_ptr<dl_batch, Call<dl_batch_release>>;
using CancelToken = std::unique_ptr<dl_cancel_token, Call<dl_cancel_token_destroy>>;

inline dl_error no_error() { return DL_ERROR_INIT; }

// A zeroed struct of dataline.h with its struct_size set.
template <typename T>
T sized() {
  T value{};
  value.struct_size = sizeof(T);
  return value;
}

std::vector<dl_option_info> option_table();

struct TransformRow {
  dl_transform_info info;
  std::vector<dl_argument_info> arguments;
};
// The library's, then those of `extensions` (may be null).
std::vector<TransformRow> transform_table(const dl_extensions* extensions);

struct FormatRow {
  dl_format_info info;
  std::vector<dl_format_key> keys;
};
std::vector<FormatRow> format_table(const dl_extensions* extensions);
std::vector<dl_storage> storage_table(const dl_extensions* extensions);

// Whether a note, or a warning of the library, is about what a dataset lacks: files that were left out, and files that are damaged
// (dl_dataset_note).
bool is_loss(std::string_view note);
std::vector<std::string> losses_of(const dl_dataset* dataset);

// With these plug-ins loaded; null without any. Throws Failure.
Extensions load_plugins(const std::vector<std::string>& plugins);

// "bool", "int", "size", "text", "indices", "weights", or the choices of a word: "keep|drop|pad".
const char* option_type(const dl_option_info& option);
bool is_array_option(const dl_option_info& option);      // its value is a file of numbers
const char* option_scope(const dl_option_info& option);  // "dataset", "loader", "both"

}  // namespace dataline::cli
