// Shared libraries that the host asks for by name: plug-ins.
// Threads: plain functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/base/status.h"

namespace dataline {

// Before the linker maps it: a library that was cut would end the process by SIGBUS, and opening a FIFO would block. kTruncated:
// shorter than its ELF headers state; kCorrupt: it ends in zeros; other damage is not detected; kNotAFile. Ok for what is no ELF file of this machine, or cannot be opened or found: the
// linker says so. A name without `/` is looked for in the linker's directories. On Windows the system checks it.
Status check_library_file(const std::string& path);

// Address of `symbol` in the library at `path`; a path without `/` is looked for as the dynamic linker does. The library
// stays loaded until the process ends: what it gave out may be called until then. kNotFound with the linker's reason; check_library_file();
// kUnsupported: no such symbol.
Result<void*> symbol_of_library(const std::string& path, const char* symbol);

}  // namespace dataline
