// What the shell asks of the system: in system.cpp by POSIX, in windows/system.cpp by Windows. Paths are UTF-8 there too.
// Calls that fail set errno.
// Threads: plain functions, callable from any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dataline::cli {

// Once, at the start: the words after the program's name; and descriptors 0, 1 and 2 ready for bytes. Those that the caller has
// closed are opened on nothing and in a mode that fails when used: else a file of ours would become standard output.
std::vector<std::string> command_words(int count, char** words);
void prepare_standard_streams();
const char* const* environment();  // "NAME=value" strings, ended by a null

// Files. Descriptors are not inherited; -1 on failure. The first two block on a FIFO until its other end is open; EINTR: a
// signal came meanwhile.
int open_to_read(const std::string& path);
int open_to_replace(const std::string& path);  // created or emptied
int open_new(const std::string& path);         // EEXIST
void close_file(int descriptor);
int64_t read_some(int descriptor, void* data, size_t bytes);         // 0: the end; -1
int64_t write_some(int descriptor, const void* data, size_t bytes);  // -1
bool sync_file(int descriptor);                                      // false: not on the disk
bool sync_data(int descriptor);  // false: not on the disk; true for what is no file
// Until a reader has made room in the pipe that is standard output, or a signal comes.
void wait_for_output_reader();

enum class PathKind { kAbsent, kFile, kOther, kUnknown };
PathKind kind_of(const std::string& path);           // kUnknown: see errno
bool may_write_into(const std::string& folder);      // false: see errno
std::string without_links(const std::string& path);  // where a file that exists lies
bool replace_file(const std::string& from, const std::string& to);
void remove_file(const std::string& path);
bool sync_folder(const std::string& folder);  // true where folders cannot be synced

// The width of the terminal that a descriptor is; 0 for anything else.
size_t terminal_columns(int descriptor);

// Whether texts are UTF-8 in this user's locale (LC_ALL, LC_CTYPE, LANG).
bool locale_is_utf8();

// Zeroed memory that takes RAM where it is touched, in pages of 2 MiB or as small as they are; null on failure.
void* reserve_memory(size_t bytes, bool huge_pages);
void release_memory(void* data, size_t bytes);

// The figures of this process and machine; 0 or "" where they are not told.
double process_cpu_seconds();  // user and system, all threads
double thread_cpu_seconds();   // of the calling one
int64_t anonymous_bytes();     // in RAM, of no file
int64_t peak_resident_bytes();
int64_t free_memory_bytes();  // of the machine
std::string cpu_model();
int64_t machine_cores();
int64_t usable_cores();            // by this process
std::string thread_limits_text();  // what bounds the number of threads: "ulimit -u (200), ..."

struct Gpu {
  std::string name;
  std::string address;  // on the PCI bus
};
std::vector<Gpu> gpus();  // by NVIDIA's driver, ordered by address
// The CUDA driver's version, 12040 for 12.4; 0 without one. It is asked without being started, which would take a second.
int cuda_driver_version();

}  // namespace dataline::cli
