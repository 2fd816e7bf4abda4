// The DLL stays in memory once it is loaded, as libdataline.so does (-z nodelete): FreeLibrary must not unmap code that a
// batch's last release, on any thread, still needs.
// SPDX-License-Identifier: Apache-2.0
#include <windows.h>

extern "C" BOOL WINAPI DllMain(HINSTANCE, DWORD reason, LPVOID) {
  if (reason != DLL_PROCESS_ATTACH) return TRUE;
  HMODULE pinned;
  return GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS,
                            reinterpret_cast<LPCWSTR>(&DllMain), &pinned);
}
