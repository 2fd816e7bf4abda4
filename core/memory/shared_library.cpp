// SPDX-License-Identifier: Apache-2.0
#include "core/memory/shared_library.h"

#include <dlfcn.h>

namespace dataline {

Result<void*> symbol_of_library(const std::string& path, const char* symbol) {
  // RTLD_NODELETE is for a library that was found to be none of ours: it is closed, but may have left something behind.
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* const reason = ::dlerror();
    return error(Code::kNotFound, path, ": ", reason != nullptr ? reason : "the dynamic linker refused it");
  }
  void* const address = ::dlsym(library, symbol);
  ::dlclose(library);
  if (address != nullptr) return address;
  return error(Code::kUnsupported, path, ": exports no ", symbol, ": not a plug-in");
}

}  // namespace dataline
