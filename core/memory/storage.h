// What lies under an open file: a local device or a network mount, and how much it reads ahead.
// Threads: plain functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace dataline {

// Whether file-system type `magic` (statfs f_type) is a network or user-space file system: one whose files others may
// write, cut or take away without this machine knowing, on which mapped files are slow and fail by signals.
bool is_remote_file_system(uint64_t magic);
// Whether it is known to be a local one that needs no block device of its own: memory, a pool of disks, layers.
// Layers (overlay) count: what a container writes there is its own, and layers below must not change by overlayfs' rules.
bool is_local_without_device(uint64_t magic);
// Whether files of a file system are read by pread unless the user says otherwise: remote ones, and those on no block
// device (device_major 0) that are not known to be local, as network file systems unknown here are.
bool others_may_write(uint64_t magic, uint32_t device_major);
// The same for an open file; false where it cannot be told.
bool others_may_write(int fd);

constexpr int64_t kDefaultReadAheadBytes = 128 << 10;  // Linux's own default

// The read-ahead window of a block device, from /sys; kDefaultReadAheadBytes where it is unknown or 0. Advice
// for more than this in one call is silently cut by the kernel. `root` stands before /sys, for tests.
int64_t read_ahead_bytes(uint32_t device_major, uint32_t device_minor, const std::string& root = "");

}  // namespace dataline
