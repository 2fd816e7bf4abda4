// Between our words and those of Windows: paths, handles, errors.
// Threads: plain functions, callable from any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <windows.h>

#include <optional>
#include <string>
#include <string_view>

#include "core/memory/file.h"

namespace dataline::windows {

// UTF-16 of UTF-8; nullopt and EILSEQ for what is none.
std::optional<std::wstring> wide(std::string_view text);
// UTF-8 of a name. Halves of surrogate pairs, which Windows allows in names, become U+FFFD: such a file cannot be opened.
std::string narrow(std::wstring_view text);
// As wide(), for a path that the system takes at any length: a long one is made absolute and gets the prefix \\?\.
std::optional<std::wstring> wide_path(std::string_view path);
// The path of `name` below an open directory. Empty and ".": the directory. nullopt: see errno.
std::optional<std::wstring> path_below(int directory, std::string_view name);
// Where an open file or directory lies, with every link resolved, as \\?\C:\...; nullopt: see errno.
std::optional<std::wstring> final_path(HANDLE file);

HANDLE handle_of(int descriptor);
// Takes the handle over: it is closed with the descriptor, at once where there is none left (EMFILE).
Descriptor descriptor_of(HANDLE handle);
// An open handle for reading, shared with those who read, write, rename and delete; works for directories too. None: see errno.
HANDLE open_shared(const std::wstring& path, DWORD access);

// errno for a code of GetLastError().
int errno_of(DWORD code);
// Sets errno by GetLastError().
void set_errno();

}  // namespace dataline::windows
