// Plug-ins: shared libraries that add extensions.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "capi/extensions.h"
#include "capi/guard.h"
#include "core/loader/extensions.h"

using namespace dataline;
using namespace dataline::capi;

namespace {

using AnyFunction = void (*)();

AnyFunction find_function(const char* name) {
  struct Entry {
    const char* name;
    AnyFunction function;
  };
  static const Entry kFunctions[] = {
#define FUNCTION(name) {#name, reinterpret_cast<AnyFunction>(name)},
#include "capi/functions.def"
#undef FUNCTION
  };
  for (const Entry& entry : kFunctions) {
    if (name != nullptr && std::strcmp(entry.name, name) == 0) return entry.function;
  }
  return nullptr;
}

// Lets the plug-in add to `extensions`.
Status register_plugin(const std::string& path, dl_extensions& extensions) {
  const Result<void*> found = symbol_of_library(path, "dl_plugin_register");
  if (!found.is_ok()) return with_build_advice(path, found.status());
  void* const symbol = found.value();
  dl_plugin plugin = {};
  plugin.struct_size = sizeof plugin;
  plugin.abi_version = DL_ABI_VERSION;
  plugin.extensions = &extensions;
  plugin.find = find_function;
  CallbackError failure;
  const auto entry = reinterpret_cast<dl_plugin_register_function>(symbol);
  const dl_status code = entry(&plugin, failure.get());
  if (code != DL_OK) return failure.status(code, "dl_plugin_register").in(path);
  if (plugin.built_for == DL_ABI_VERSION) return Status::ok();
  return error(Code::kUnsupported, path, ": the plug-in was built for ABI ", plugin.built_for,
               ", the library has ABI ", DL_ABI_VERSION);
}

}  // namespace

dl_status dl_extensions_load(dl_extensions* extensions, const char* path, dl_error* error) {
  return guard(error, [&]() -> Status {
    DL_REQUIRE(extensions);
    DL_REQUIRE(path);
    const std::string name = path;
    dl_extensions with_plugin = *extensions;  // nothing of a plug-in that fails half-way is kept
    const bool is_path = name.find('/') != std::string::npos;
    DL_RETURN_IF_ERROR(register_plugin(is_path ? name : concat("libdataline-", name, ".so"), with_plugin));
    *extensions = std::move(with_plugin);
    return Status::ok();
  });
}
