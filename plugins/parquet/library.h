// The functions of the library that the plug-in calls, found by dl_plugin.find: the plug-in links with no libdataline, so it
// also works where the host has the library linked statically.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/plugin.h"

namespace dataline_parquet {

using dataline_plugin::concat;
using dataline_plugin::Failure;
using dataline_plugin::failure;
using dataline_plugin::find;

// Written once, by dl_plugin_register, before any callback runs; the same values each time.
struct Library {
  decltype(&dl_error_set) error_set = nullptr;
  decltype(&dl_options_copy) options_copy = nullptr;
  decltype(&dl_options_destroy) options_destroy = nullptr;
  decltype(&dl_options_set_cancel_token) set_cancel_token = nullptr;
  decltype(&dl_cancel_token_create) token_create = nullptr;
  decltype(&dl_cancel_token_destroy) token_destroy = nullptr;
  decltype(&dl_file_open) file_open = nullptr;
  decltype(&dl_file_bytes) file_bytes = nullptr;
  decltype(&dl_file_read) file_read = nullptr;
  decltype(&dl_file_destroy) file_destroy = nullptr;
  decltype(&dl_dataset_from_reader) from_reader = nullptr;
  decltype(&dl_extensions_add_format) add_format = nullptr;
};

extern Library library;

}  // namespace dataline_parquet
