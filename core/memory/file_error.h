// Files of the operating system: its errors as a Status, one table for everything that opens and reads files, and reads that
// retry interrupted calls.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/status.h"

struct stat;

namespace dataline {

// "path: no such file or directory" with the code for errno `number`, which becomes os_error(). The text is our own, the
// same in every locale.
Status file_error(const std::string& path, int32_t number);
// The same for a read at an offset: "path: offset 4096: the device reported an error".
Status file_error_at(const std::string& path, int64_t offset, int32_t number);

// Retries of a call that fails with EINTR or EAGAIN; then it is an error like others, not a hang.
constexpr int kMaxInterruptions = 1000;

// call() until it does not fail with EINTR.
template <typename Call>
int retry_interrupted(Call call) {
  int result = -1;
  for (int attempt = 0; attempt < kMaxInterruptions; ++attempt) {
    result = call();
    if (result >= 0 || errno != EINTR) break;
  }
  return result;
}

struct ReadResult {
  int64_t bytes = 0;   // fewer than asked for at the end of the file
  int32_t number = 0;  // errno, or 0
};
ReadResult read_at(int descriptor, int64_t offset, int64_t bytes, std::byte* out);
// Whether the page at `offset` is in the page cache; true where that is unknown.
bool is_cached(int descriptor, int64_t offset);

// The contents of a file of /proc or /sys, or the number that it begins with; nullopt when it cannot be read.
std::optional<std::string> read_kernel_file(const std::string& path);
std::optional<int64_t> read_kernel_number(const std::string& path);

// Whether a failure is due to the machine rather than the data: memory, descriptors, threads, leases, and interrupted or
// would-block calls. The same call may succeed the next time.
bool is_machine_failure(const Status& status);

// Modification time in ns since 1970.
int64_t changed_ns_of(const struct stat& facts);

// "path: is a FIFO, a file is needed", from its st_mode.
Status not_a_file_error(const std::string& path, uint32_t mode);

// "no such file or directory", or "error 95" for what is not in the table.
std::string system_error_text(int32_t number);

}  // namespace dataline
