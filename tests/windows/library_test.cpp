// libdataline.dll as a host meets it that loads it at run time.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <windows.h>

#include <string>

#include "capi/dataline.h"

namespace dataline::library_test {
namespace {

template <typename Function>
Function* exported(HMODULE library, const char* name) {
  return reinterpret_cast<Function*>(reinterpret_cast<void (*)()>(GetProcAddress(library, name)));
}

TEST(WindowsLibrary, ExportsTheFunctionsOfTheHeaderAndStaysLoaded) {
  const HMODULE library = LoadLibraryA(DATALINE_DLL);
  ASSERT_NE(library, nullptr) << GetLastError();
  const auto version = exported<decltype(dl_version_string)>(library, "dl_version_string");
  ASSERT_NE(version, nullptr);
  EXPECT_NE(exported<decltype(dl_loader_plan_at)>(library, "dl_loader_plan_at"), nullptr);
  EXPECT_EQ(GetProcAddress(library, "_ZN8dataline12monotonic_nsEv"), nullptr);
  const std::string before = version();
  FreeLibrary(library);
  FreeLibrary(library);
  ASSERT_EQ(GetModuleHandleA(DATALINE_DLL), library);
  EXPECT_EQ(version(), before);
}

}  // namespace
}  // namespace dataline::library_test
