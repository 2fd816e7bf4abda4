// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/system.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>

#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

int open_again(const std::string& path, int flags) {
  int descriptor;
  do {
    descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

// The value of the first "key : value" line with this key.
std::string value_in(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  file.exceptions(std::ios::badbit);  // else running out of memory would look like the end of the file
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (colon != std::string::npos && trimmed(line.substr(0, colon)) == key)
      return trimmed(line.substr(colon + 1));
  }
  return "";
}

// The value of a line such as "VmHWM:  1234 kB" of a /proc file, in bytes; 0 if there is none.
int64_t kilobytes_in(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    int64_t value = 0;
    if (word == key && file >> value) return value * 1024;
  }
  return 0;
}

}  // namespace

std::vector<std::string> command_words(int count, char** words) {
  return {words + (count > 0 ? 1 : 0), words + count};
}

void prepare_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    // open() returns the lowest free descriptor, which is this one.
    const int opened = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    static_cast<void>(opened);
  }
  // write() fails instead: the program ends quietly without a reader, and names the file beyond `ulimit -f`.
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

const char* const* environment() { return environ; }

int open_to_read(const std::string& path) { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }
int open_to_replace(const std::string& path) {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}
int open_new(const std::string& path) { return open_again(path, O_WRONLY | O_CREAT | O_EXCL); }
void close_file(int descriptor) { ::close(descriptor); }
int64_t read_some(int descriptor, void* data, size_t bytes) { return ::read(descriptor, data, bytes); }
int64_t write_some(int descriptor, const void* data, size_t bytes) {
  return ::write(descriptor, data, bytes);
}
bool sync_file(int descriptor) { return fsync(descriptor) == 0; }

bool sync_data(int descriptor) {
  struct stat info {};
  if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) return true;
  return fdatasync(descriptor) == 0;
}

// The pipe may be non-blocking. It is shared with other processes, so its mode is not changed.
void wait_for_output_reader() {
  pollfd reader{STDOUT_FILENO, POLLOUT, 0};
  poll(&reader, 1, -1);
}

PathKind kind_of(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) == 0) return S_ISREG(info.st_mode) ? PathKind::kFile : PathKind::kOther;
  return errno == ENOENT ? PathKind::kAbsent : PathKind::kUnknown;
}

bool may_write_into(const std::string& folder) { return access(folder.c_str(), W_OK | X_OK) == 0; }

std::string without_links(const std::string& path) {
  char resolved[PATH_MAX];
  return realpath(path.c_str(), resolved) != nullptr ? resolved : path;
}

bool replace_file(const std::string& from, const std::string& to) {
  return rename(from.c_str(), to.c_str()) == 0;
}

void remove_file(const std::string& path) { unlink(path.c_str()); }

bool sync_folder(const std::string& folder) {
  const int descriptor = open_again(folder, O_RDONLY | O_DIRECTORY);
  if (descriptor < 0) return false;
  const bool synced =
      fsync(descriptor) == 0 || errno == EINVAL;  // EINVAL: the file system cannot sync a folder
  const int kept = errno;
  ::close(descriptor);
  errno = kept;
  return synced;
}

size_t terminal_columns(int descriptor) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = getenv(name);
    if (value == nullptr || *value == '\0') continue;
    return strcasestr(value, "utf-8") != nullptr || strcasestr(value, "utf8") != nullptr;
  }
  return false;
}

void* reserve_memory(size_t bytes, bool huge_pages) {
  void* data =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) return nullptr;
  madvise(data, bytes, huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  return data;
}

void release_memory(void* data, size_t bytes) { munmap(data, bytes); }

double process_cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double thread_cpu_seconds() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

int64_t anonymous_bytes() { return kilobytes_in("/proc/self/status", "RssAnon:"); }
int64_t peak_resident_bytes() { return kilobytes_in("/proc/self/status", "VmHWM:"); }
int64_t free_memory_bytes() { return kilobytes_in("/proc/meminfo", "MemAvailable:"); }
std::string cpu_model() { return value_in("/proc/cpuinfo", "model name"); }
int64_t machine_cores() { return sysconf(_SC_NPROCESSORS_ONLN); }

int64_t usable_cores() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : machine_cores();
}

std::string thread_limits_text() {
  std::string processes = "ulimit -u";
  rlimit limit{};
  if (getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    processes += " (" + std::to_string(limit.rlim_cur) + ")";
  return processes + ", ulimit -v and pids.max of the cgroup or container";
}

// From the NVIDIA driver's /proc files; no driver library is opened.
std::vector<Gpu> gpus() {
  constexpr char kFolder[] = "/proc/driver/nvidia/gpus";
  std::vector<Gpu> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(kFolder), closedir);
  while (const dirent* entry = folder ? readdir(folder.get()) : nullptr) {
    if (entry->d_name[0] == '.') continue;
    const std::string address = entry->d_name;
    found.push_back({value_in(std::string(kFolder) + "/" + address + "/information", "Model"), address});
  }
  std::sort(found.begin(), found.end(), [](const Gpu& a, const Gpu& b) { return a.address < b.address; });
  return found;
}

int cuda_driver_version() {
  void* const driver =
      dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);  // never closed: it does not survive that
  void* const entry = driver == nullptr ? nullptr : dlsym(driver, "cuDriverGetVersion");
  int version = 0;
  const bool known = entry != nullptr && reinterpret_cast<int (*)(int*)>(entry)(&version) == 0;
  return known ? version : 0;
}

}  // namespace dataline::cli
