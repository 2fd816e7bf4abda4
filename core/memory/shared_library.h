// Shared libraries that the host asks for by name: plug-ins.
// Threads: plain functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/base/status.h"

namespace dataline {

// Address of `symbol` in the library at `path`; a path without `/` is looked for as the dynamic linker does. The library
// stays loaded until the process ends: what it gave out may be called until then. kNotFound with the linker's reason;
// kUnsupported: no such symbol.
Result<void*> symbol_of_library(const std::string& path, const char* symbol);

}  // namespace dataline
