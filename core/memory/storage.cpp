// SPDX-License-Identifier: Apache-2.0
#include "core/memory/storage.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/base/checked.h"
#include "core/base/status.h"
#include "core/memory/file_error.h"

#ifdef __linux__
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#endif

namespace dataline {
namespace {

// From statfs(2) and the kernel's magic.h; GPFS, Lustre, BeeGFS, WekaFS and PanFS from their own sources.
constexpr std::array<uint64_t, 21> kRemoteMagics = {
    0x6969,      // NFS
    0x517b,      // SMB
    0xff534d42,  // CIFS
    0xfe534d42,  // SMB2
    0x564c,      // NCP
    0x65735546,  // FUSE, and with it virtiofs, sshfs, s3fs, gcsfuse, JuiceFS
    0x01021997,  // 9P
    0x0bd00bd0,  // Lustre
    0x0bd00bd1,  // Lustre, server side
    0x00c36400,  // Ceph
    0x5346414f,  // AFS (in-kernel)
    0x6b414653,  // AFS (kAFS)
    0x73757245,  // Coda
    0x47504653,  // GPFS
    0x19830326,  // BeeGFS
    0xaad7aaea,  // PanFS
    0x01161970,  // GFS2
    0x7461636f,  // OCFS2
    0x786f4256,  // VirtualBox shared folders
    0xbacbacbc,  // VMware shared folders
    0x20030528,  // OrangeFS (PVFS2)
};

// Local file systems for which stat shows no block device.
constexpr std::array<uint64_t, 8> kLocalMagics = {
    0x01021994,  // tmpfs
    0x858458f6,  // ramfs
    0x958458f6,  // hugetlbfs
    0x9123683e,  // btrfs
    0x2fc12fc1,  // ZFS
    0xca451a4e,  // bcachefs
    0x794c7630,  // overlayfs
    0x61756673,  // aufs
};

}  // namespace

bool is_remote_file_system(uint64_t magic) {
  return std::find(kRemoteMagics.begin(), kRemoteMagics.end(), magic) != kRemoteMagics.end();
}

bool is_local_without_device(uint64_t magic) {
  return std::find(kLocalMagics.begin(), kLocalMagics.end(), magic) != kLocalMagics.end();
}

bool others_may_write(uint64_t magic, uint32_t device_major) {
  return is_remote_file_system(magic) || (device_major == 0 && !is_local_without_device(magic));
}

bool others_may_write(int fd) {
#ifdef __linux__
  struct statfs system;
  struct stat file;
  if (::fstatfs(fd, &system) != 0 || ::fstat(fd, &file) != 0) return false;
  // f_type is signed on some architectures: a magic with the high bit set must not be sign-extended.
  return others_may_write(static_cast<uint32_t>(system.f_type), major(file.st_dev));
#else
  static_cast<void>(fd);
  return false;
#endif
}

int64_t read_ahead_bytes(uint64_t device) {
#ifdef __linux__
  return read_ahead_bytes(major(device), minor(device));
#else
  static_cast<void>(device);
  return kDefaultReadAheadBytes;
#endif
}

int64_t read_ahead_bytes(uint32_t device_major, uint32_t device_minor, const std::string& root) {
  std::string device = concat(device_major, ":", device_minor);
  // A disk; a partition, which uses its parent's queue; a file system without one block device (btrfs, NFS).
  const std::array<std::string, 3> paths = {root + "/sys/dev/block/" + device + "/queue/read_ahead_kb",
                                            root + "/sys/dev/block/" + device + "/../queue/read_ahead_kb",
                                            root + "/sys/class/bdi/" + device + "/read_ahead_kb"};
  for (const std::string& path : paths) {
    std::optional<int64_t> kib = read_kernel_number(path);
    std::optional<int64_t> bytes = kib ? checked_multiply(*kib, 1024) : std::nullopt;
    if (bytes && *bytes > 0) return *bytes;
  }
  return kDefaultReadAheadBytes;
}

}  // namespace dataline
