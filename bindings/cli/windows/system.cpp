// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/system.h"

#include <windows.h>

#include <fcntl.h>
#include <io.h>
#include <psapi.h>
#include <shellapi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>

namespace dataline::cli {
namespace {

constexpr size_t kMaxCallBytes = size_t{1} << 30;  // of one read or write, which count in 32 bits

std::wstring wide(const std::string& text) {
  const int bytes = static_cast<int>(text.size());
  std::wstring out(static_cast<size_t>(MultiByteToWideChar(CP_UTF8, 0, text.data(), bytes, nullptr, 0)),
                   L'\0');
  MultiByteToWideChar(CP_UTF8, 0, text.data(), bytes, out.data(), static_cast<int>(out.size()));
  return out;
}

std::string narrow(const wchar_t* text) {
  const int bytes = WideCharToMultiByte(CP_UTF8, 0, text, -1, nullptr, 0, nullptr, nullptr);
  std::string out(static_cast<size_t>(std::max(bytes, 1)), '\0');
  WideCharToMultiByte(CP_UTF8, 0, text, -1, out.data(), bytes, nullptr, nullptr);
  out.pop_back();  // the NUL
  return out;
}

int open_wide(const std::string& path, int flags) {
  return _wopen(wide(path).c_str(), flags | _O_BINARY | _O_NOINHERIT, _S_IREAD | _S_IWRITE);
}

HANDLE handle_of(int descriptor) { return reinterpret_cast<HANDLE>(_get_osfhandle(descriptor)); }

// The reader of the pipe is gone, or Ctrl-C has ended a write that took too long: as POSIX says it.
int number_of_write_error() {
  switch (GetLastError()) {
    case ERROR_NO_DATA:
    case ERROR_BROKEN_PIPE:
    case ERROR_PIPE_NOT_CONNECTED:
      return EPIPE;
    case ERROR_OPERATION_ABORTED:
      return EINTR;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
      return ENOSPC;
    case ERROR_INVALID_HANDLE:
      return EBADF;
    default:
      return EIO;
  }
}

int64_t joined(DWORD high, DWORD low) { return static_cast<int64_t>(high) << 32 | static_cast<int64_t>(low); }

PROCESS_MEMORY_COUNTERS_EX memory_counters() {
  PROCESS_MEMORY_COUNTERS_EX counters{};
  GetProcessMemoryInfo(GetCurrentProcess(), reinterpret_cast<PROCESS_MEMORY_COUNTERS*>(&counters),
                       sizeof counters);
  return counters;
}

}  // namespace

std::vector<std::string> command_words(int, char**) {
  int count = 0;
  wchar_t** const words = CommandLineToArgvW(GetCommandLineW(), &count);
  std::vector<std::string> out;
  for (int i = 1; words != nullptr && i < count; ++i) out.push_back(narrow(words[i]));
  LocalFree(words);
  return out;
}

void prepare_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (_get_osfhandle(descriptor) < 0) {
      const int opened = open_wide("NUL", descriptor == STDIN_FILENO ? _O_WRONLY : _O_RDONLY);
      if (opened >= 0 && opened != descriptor) {
        _dup2(opened, descriptor);
        _close(opened);
      }
    }
    _setmode(descriptor, _O_BINARY);
  }
  SetConsoleOutputCP(CP_UTF8);
}

const char* const* environment() { return _environ; }

int open_to_read(const std::string& path) { return open_wide(path, _O_RDONLY); }
int open_to_replace(const std::string& path) { return open_wide(path, _O_WRONLY | _O_CREAT | _O_TRUNC); }
int open_new(const std::string& path) { return open_wide(path, _O_WRONLY | _O_CREAT | _O_EXCL); }
void close_file(int descriptor) { _close(descriptor); }
int64_t read_some(int descriptor, void* data, size_t bytes) {
  return _read(descriptor, data, static_cast<unsigned>(std::min(bytes, kMaxCallBytes)));
}

// Not by _write, which does not tell a closed pipe from a wrong argument.
int64_t write_some(int descriptor, const void* data, size_t bytes) {
  DWORD written = 0;
  if (WriteFile(handle_of(descriptor), data, static_cast<DWORD>(std::min(bytes, kMaxCallBytes)), &written,
                nullptr) != 0)
    return static_cast<int64_t>(written);
  errno = number_of_write_error();
  return -1;
}

bool sync_file(int descriptor) { return _commit(descriptor) == 0; }
bool sync_data(int descriptor) {
  return GetFileType(handle_of(descriptor)) != FILE_TYPE_DISK || _commit(descriptor) == 0;
}
void wait_for_output_reader() {}  // writes to pipes wait by themselves

PathKind kind_of(const std::string& path) {
  struct _stat64 info {};
  if (_wstat64(wide(path).c_str(), &info) == 0)
    return (info.st_mode & _S_IFMT) == _S_IFREG ? PathKind::kFile : PathKind::kOther;
  return errno == ENOENT ? PathKind::kAbsent : PathKind::kUnknown;
}

bool may_write_into(const std::string& folder) {
  constexpr int kWrite = 2;
  if (_waccess(wide(folder).c_str(), kWrite) != 0) return false;
  if (kind_of(folder) == PathKind::kOther) return true;
  errno = ENOTDIR;
  return false;
}

std::string without_links(const std::string& path) { return path; }  // a link is replaced

bool replace_file(const std::string& from, const std::string& to) {
  const DWORD how = MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH;
  if (MoveFileExW(wide(from).c_str(), wide(to).c_str(), how) != 0) return true;
  errno = GetLastError() == ERROR_ACCESS_DENIED ? EACCES : EIO;
  return false;
}

void remove_file(const std::string& path) { DeleteFileW(wide(path).c_str()); }
bool sync_folder(const std::string&) { return true; }  // MOVEFILE_WRITE_THROUGH has done it

size_t terminal_columns(int descriptor) {
  CONSOLE_SCREEN_BUFFER_INFO info;
  if (GetConsoleScreenBufferInfo(handle_of(descriptor), &info) == 0) return 0;
  return static_cast<size_t>(std::max(info.srWindow.Right - info.srWindow.Left + 1, 0));
}

bool locale_is_utf8() { return true; }  // prepare_standard_streams() has set the console's

// Large pages need a privilege that few processes have.
void* reserve_memory(size_t bytes, bool) {
  return VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}
void release_memory(void* data, size_t) { VirtualFree(data, 0, MEM_RELEASE); }

namespace {

double cpu_seconds(const FILETIME& kernel, const FILETIME& user) {
  const auto ticks = [](const FILETIME& time) { return joined(time.dwHighDateTime, time.dwLowDateTime); };
  return static_cast<double>(ticks(kernel) + ticks(user)) * 1e-7;
}

}  // namespace

double process_cpu_seconds() {
  FILETIME created, ended, kernel, user;
  if (GetProcessTimes(GetCurrentProcess(), &created, &ended, &kernel, &user) == 0) return 0;
  return cpu_seconds(kernel, user);
}

double thread_cpu_seconds() {
  FILETIME created, ended, kernel, user;
  if (GetThreadTimes(GetCurrentThread(), &created, &ended, &kernel, &user) == 0) return 0;
  return cpu_seconds(kernel, user);
}

int64_t anonymous_bytes() { return static_cast<int64_t>(memory_counters().PrivateUsage); }
int64_t peak_resident_bytes() { return static_cast<int64_t>(memory_counters().PeakWorkingSetSize); }

int64_t free_memory_bytes() {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  return GlobalMemoryStatusEx(&status) != 0 ? static_cast<int64_t>(status.ullAvailPhys) : 0;
}

std::string cpu_model() {
  wchar_t name[256] = L"";
  DWORD bytes = sizeof name;
  constexpr wchar_t kKey[] = L"HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0";
  if (RegGetValueW(HKEY_LOCAL_MACHINE, kKey, L"ProcessorNameString", RRF_RT_REG_SZ, nullptr, name, &bytes) !=
      0)
    return "";
  const std::string text = narrow(name);
  const size_t begin = std::min(text.find_first_not_of(' '), text.size());
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

int64_t machine_cores() { return static_cast<int64_t>(GetActiveProcessorCount(ALL_PROCESSOR_GROUPS)); }

int64_t usable_cores() {
  DWORD_PTR mine = 0, all = 0;
  if (GetProcessAffinityMask(GetCurrentProcess(), &mine, &all) == 0 || mine == 0) return machine_cores();
  return std::popcount(static_cast<uint64_t>(mine));
}

std::string thread_limits_text() { return "the memory and the page file of this machine"; }

std::vector<Gpu> gpus() { return {}; }  // the driver tells them to those who open it alone

int cuda_driver_version() {
  const HMODULE driver = LoadLibraryA("nvcuda.dll");
  const FARPROC entry = driver == nullptr ? nullptr : GetProcAddress(driver, "cuDriverGetVersion");
  int version = 0;
  const bool known =
      entry != nullptr && reinterpret_cast<int (*)(int*)>(reinterpret_cast<void (*)()>(entry))(&version) == 0;
  return known ? version : 0;
}

}  // namespace dataline::cli
