// SPDX-License-Identifier: Apache-2.0
#include "core/memory/shared_library.h"

#include "core/memory/windows/system.h"

namespace dataline {

Status check_library_file(const std::string&) { return Status::ok(); }

Result<void*> symbol_of_library(const std::string& path, const char* symbol) {
  HMODULE library = nullptr;
  const std::optional<std::wstring> name = windows::wide(path);
  if (name) library = ::LoadLibraryW(name->c_str());
  if (library == nullptr) return error(Code::kNotFound, path, ": system error ", ::GetLastError());
  // Never unloaded: what it gave out may be called until the process ends.
  ::GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_PIN, name->c_str(), &library);
  void* const address = reinterpret_cast<void*>(::GetProcAddress(library, symbol));
  if (address != nullptr) return address;
  return error(Code::kUnsupported, path, ": does not export ", symbol, ": not a plug-in");
}

}  // namespace dataline
