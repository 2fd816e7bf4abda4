// SPDX-License-Identifier: Apache-2.0
#include "core/memory/file.h"

#include <sys/stat.h>

#ifdef __linux__
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#endif

#include <algorithm>
#include <string_view>

#include "core/base/checked.h"
#include "core/base/text.h"

namespace dataline {
namespace {

FileFacts to_facts(const struct stat& info) {
#ifdef __APPLE__
  const timespec &changed = info.st_mtimespec, &status = info.st_ctimespec;
#else
  const timespec &changed = info.st_mtim, &status = info.st_ctim;
#endif
  const auto nanoseconds = [](const timespec& time) {
    return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
  };
  FileFacts facts;
  facts.is_file = S_ISREG(info.st_mode);
  facts.is_directory = S_ISDIR(info.st_mode);
  facts.mode = static_cast<uint32_t>(info.st_mode);
  facts.bytes = static_cast<int64_t>(info.st_size);
  facts.device = static_cast<uint64_t>(info.st_dev);
  facts.inode = static_cast<uint64_t>(info.st_ino);
  facts.names = static_cast<uint64_t>(info.st_nlink);
  facts.changed_ns = nanoseconds(changed);
  facts.status_ns = nanoseconds(status);
  return facts;
}

// From statfs(2) and the kernel's magic.h; GPFS, Lustre, BeeGFS, WekaFS and PanFS from their own sources.
constexpr uint64_t kRemoteMagics[] = {
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
constexpr uint64_t kLocalMagics[] = {
    0x01021994,  // tmpfs
    0x858458f6,  // ramfs
    0x958458f6,  // hugetlbfs
    0x9123683e,  // btrfs
    0x2fc12fc1,  // ZFS
    0xca451a4e,  // bcachefs
    0x794c7630,  // overlayfs
    0x61756673,  // aufs
};

template <size_t kCount>
bool lists(const uint64_t (&magics)[kCount], uint64_t magic) {
  return std::find(std::begin(magics), std::end(magics), magic) != std::end(magics);
}

}  // namespace

Descriptor Descriptor::open(const std::string& path, int flags) {
  return Descriptor(retry_interrupted([&] { return ::open(path.c_str(), flags); }));
}

Status write_all(const Descriptor& descriptor, const std::string& path, Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        retry_interrupted([&] { return ::write(descriptor.get(), bytes.data(), bytes.size()); });
    if (written < 0) return file_error(path, errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return Status::ok();
}

Status sync_file(const Descriptor& descriptor, const std::string& path) {
  return retry_interrupted([&] { return ::fsync(descriptor.get()); }) == 0 ? Status::ok()
                                                                           : file_error(path, errno);
}

// File systems without directory sync answer EINVAL.
Status sync_directory(const std::string& path) {
  const Descriptor descriptor = Descriptor::open(path, kDirectoryFlags);
  if (!descriptor) return file_error(path, errno);
  const int synced = retry_interrupted([&] { return ::fsync(descriptor.get()); });
  return synced == 0 || errno == EINVAL ? Status::ok() : file_error(path, errno);
}

Status sync_directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return sync_directory(slash == std::string::npos ? "." : path.substr(0, slash + 1));
}

int facts_of(int descriptor, FileFacts& out) {
  struct stat info;
  if (::fstat(descriptor, &info) != 0) return errno;
  out = to_facts(info);
  return 0;
}

int facts_of_path(const std::string& path, FileFacts& out) {
  return facts_of_entry(AT_FDCWD, path.c_str(), out);
}

int facts_of_entry(int directory, const char* name, FileFacts& out) {
  struct stat info;
  if (::fstatat(directory, name, &info, 0) != 0) return errno;
  out = to_facts(info);
  return 0;
}

ReadResult read_at(int descriptor, int64_t offset, int64_t bytes, std::byte* out) {
  ReadResult result;
  while (result.bytes < bytes) {
    const ssize_t got = retry_interrupted([&] {
      return ::pread(descriptor, out + result.bytes, static_cast<size_t>(bytes - result.bytes),
                     static_cast<off_t>(offset + result.bytes));
    });
    if (got < 0) result.number = errno;
    if (got <= 0) break;
    result.bytes += got;
  }
  return result;
}

bool is_cached(int descriptor, int64_t offset) {
#ifdef __linux__
  std::byte one;
  iovec target{&one, 1};
  // RWF_NOWAIT: EAGAIN when the page is not in the page cache.
  return ::preadv2(descriptor, &target, 1, static_cast<off_t>(offset), RWF_NOWAIT) >= 0 || errno != EAGAIN;
#else
  static_cast<void>(descriptor), static_cast<void>(offset);
  return true;
#endif
}

std::optional<std::string> read_kernel_file(const std::string& path) {
  const Descriptor file = Descriptor::open(path, O_RDONLY | O_CLOEXEC);
  if (!file) return std::nullopt;
  std::string text;
  char piece[4096];
  for (;;) {
    const ssize_t got = retry_interrupted([&] { return ::read(file.get(), piece, sizeof piece); });
    if (got < 0) return std::nullopt;
    if (got == 0) return text;
    text.append(piece, static_cast<size_t>(got));
  }
}

std::optional<int64_t> read_kernel_number(const std::string& path) {
  const std::optional<std::string> text = read_kernel_file(path);
  return text ? parse_i64(std::string_view(*text).substr(0, text->find('\n'))) : std::nullopt;
}

bool others_may_write(uint64_t magic, uint32_t device_major) {
  return lists(kRemoteMagics, magic) || (device_major == 0 && !lists(kLocalMagics, magic));
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

int64_t read_ahead_bytes(uint64_t device, const std::string& root) {
#ifdef __linux__
  const std::string name = concat(major(device), ":", minor(device));
  // A disk; a partition, which uses its parent's queue; a file system without one block device (btrfs, NFS).
  for (const std::string& path : {concat(root, "/sys/dev/block/", name, "/queue/read_ahead_kb"),
                                  concat(root, "/sys/dev/block/", name, "/../queue/read_ahead_kb"),
                                  concat(root, "/sys/class/bdi/", name, "/read_ahead_kb")}) {
    const std::optional<int64_t> kib = read_kernel_number(path);
    const std::optional<int64_t> bytes = kib ? checked_multiply(*kib, 1024) : std::nullopt;
    if (bytes && *bytes > 0) return *bytes;
  }
#else
  static_cast<void>(device), static_cast<void>(root);
#endif
  return kDefaultReadAheadBytes;
}

}  // namespace dataline
