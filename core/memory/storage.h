// The storage under an open file: local or network, and its read-ahead window.
// Threads: plain functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace dataline {

// Whether file-system type `magic` (statfs f_type) is a network or user-space file system: its files may be written,
// truncated or removed without this machine's knowledge, and mappings of them are slow and fail with signals.
bool is_remote_file_system(uint64_t magic);
// Whether it is a known local file system without a block device of its own: in memory, on a pool of disks, or overlays.
// Overlays count: a container's writes are its own, and overlayfs does not allow the lower layers to change.
bool is_local_without_device(uint64_t magic);
// Whether files are read with pread by default: on remote file systems, and on those without a block device
// (device_major 0) that are not known to be local, which may be network file systems not listed here.
bool others_may_write(uint64_t magic, uint32_t device_major);
// The same for an open file; false where it is unknown.
bool others_may_write(int fd);

constexpr int64_t kDefaultReadAheadBytes = 128 << 10;  // Linux's own default

// The read-ahead window of a block device, from /sys; kDefaultReadAheadBytes where it is unknown or 0. The kernel
// silently truncates advice for more than this in one call. `root` is prepended to /sys, for tests.
int64_t read_ahead_bytes(uint32_t device_major, uint32_t device_minor, const std::string& root = "");
int64_t read_ahead_bytes(uint64_t device);  // st_dev of a file on it

}  // namespace dataline
