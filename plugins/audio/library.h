// The functions of the library that the plug-in calls, found by dl_plugin.find: the plug-in links with no libdataline, so it
// also works where the host has the library linked statically.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/plugin.h"

namespace dataline_audio {

using dataline_plugin::concat;
using dataline_plugin::Failure;
using dataline_plugin::failure;
using dataline_plugin::find;

// Written once, by dl_plugin_register, before any callback runs; the same values each time.
struct Library {
  decltype(&dl_error_set) error_set = nullptr;
  decltype(&dl_dtype_name) dtype_name = nullptr;
  decltype(&dl_operator_random) operator_random = nullptr;
  decltype(&dl_extensions_add_operator) add_operator = nullptr;
};

extern Library library;

}  // namespace dataline_audio
