// What lies under an open file: a local device or a network mount, and how much it reads ahead.
// Threads: plain functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace dataline {

// Whether file-system type `magic` (statfs f_type) is a network or user-space file system, on which mapped
// files are slow and fail by signals.
bool is_remote_file_system(uint64_t magic);
// The same for an open file; false where it cannot be told.
bool is_remote_file(int fd);

constexpr int64_t kDefaultReadAheadBytes = 128 << 10;  // Linux's own default

// The read-ahead window of a block device, from /sys; kDefaultReadAheadBytes where it is unknown or 0. Advice
// for more than this in one call is silently cut by the kernel. `root` stands before /sys, for tests.
int64_t read_ahead_bytes(uint32_t device_major, uint32_t device_minor, const std::string& root = "");

}  // namespace dataline
