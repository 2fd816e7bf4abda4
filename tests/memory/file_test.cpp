// SPDX-License-Identifier: Apache-2.0
#include "core/memory/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>

#include "tests/memory/temp_files.h"

namespace dataline::file_test {
namespace {

constexpr uint32_t kOnADisk = 8;  // a major device number

TEST(Storage, NetworkAndUserSpaceFileSystemsAreRemote) {
  struct {
    const char* name;
    uint64_t magic;
  } remote[] = {{"nfs", 0x6969},        {"cifs", 0xff534d42},  {"smb2", 0xfe534d42}, {"fuse", 0x65735546},
                {"lustre", 0x0bd00bd0}, {"ceph", 0x00c36400},  {"9p", 0x01021997},   {"afs", 0x5346414f},
                {"gpfs", 0x47504653},   {"beegfs", 0x19830326}};
  for (auto [name, magic] : remote) EXPECT_TRUE(others_may_write(magic, kOnADisk)) << name;
}

TEST(Storage, LocalFileSystemsAreNot) {
  struct {
    const char* name;
    uint64_t magic;
  } local[] = {{"ext4", 0xef53},      {"xfs", 0x58465342},     {"btrfs", 0x9123683e},
               {"tmpfs", 0x01021994}, {"overlay", 0x794c7630}, {"f2fs", 0xf2f52010},
               {"zfs", 0x2fc12fc1},   {"squashfs", 0x73717368}};
  for (auto [name, magic] : local) EXPECT_FALSE(others_may_write(magic, kOnADisk)) << name;
}

TEST(Storage, WhatIsNotAFileIsWrittenByNobody) { EXPECT_FALSE(others_may_write(-1)); }

TEST(Storage, AFileSystemOnNoDeviceIsReadByPreadUnlessItIsKnownToBeLocal) {
  constexpr uint64_t kUnknown = 0x77656b61, kExt4 = 0xef53, kNfs = 0x6969;
  EXPECT_TRUE(others_may_write(kUnknown, 0)) << "a network file system that the table does not have";
  EXPECT_FALSE(others_may_write(kUnknown, 8)) << "on a disk of this machine";
  EXPECT_FALSE(others_may_write(kExt4, 259));
  EXPECT_TRUE(others_may_write(kNfs, 0));
  EXPECT_TRUE(others_may_write(0x65735546, 8)) << "a user-space file system on a block device (ntfs-3g)";
  for (uint64_t local : {0x01021994u, 0x9123683eu, 0x2fc12fc1u, 0x794c7630u, 0xca451a4eu})
    EXPECT_FALSE(others_may_write(local, 0)) << local;
}

TEST(Storage, FilesOfTheKernelsOwnSystemsAreReadByPread) {
  const int fd = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  EXPECT_TRUE(others_may_write(fd)) << "procfs lies on no device and is not in the table";
  ::close(fd);
}

TEST(Storage, ReadAheadComesFromTheDisksQueue) {
  TempDir root;
  root.write("sys/dev/block/8:0/queue/read_ahead_kb", "512\n");
  EXPECT_EQ(read_ahead_bytes(makedev(8, 0), root.path("")), 512 << 10);
}

TEST(Storage, ReadAheadOfAPartitionComesFromItsDisk) {
  TempDir root;
  root.write("sys/devices/sda/queue/read_ahead_kb", "4096\n");
  root.write("sys/devices/sda/sda1/partition", "1\n");
  std::filesystem::create_directories(root.path("sys/dev/block"));
  std::filesystem::create_symlink("../../devices/sda/sda1", root.path("sys/dev/block/8:1"));
  EXPECT_EQ(read_ahead_bytes(makedev(8, 1), root.path("")), 4096 << 10);
}

TEST(Storage, ReadAheadWithoutABlockDeviceComesFromTheBackingDevice) {
  TempDir root;
  root.write("sys/class/bdi/0:52/read_ahead_kb", "15360\n");
  EXPECT_EQ(read_ahead_bytes(makedev(0, 52), root.path("")), 15360 << 10);
}

TEST(Storage, UnknownZeroAndNonsenseAreTheDefault) {
  TempDir root;
  EXPECT_EQ(read_ahead_bytes(makedev(8, 0), root.path("")), kDefaultReadAheadBytes);
  for (const char* text : {"0\n", "", "-4\n", "lots\n", "9223372036854775807\n"}) {
    root.write("sys/dev/block/8:0/queue/read_ahead_kb", text);
    EXPECT_EQ(read_ahead_bytes(makedev(8, 0), root.path("")), kDefaultReadAheadBytes) << text;
  }
}

TEST(FileError, EachCauseHasItsCodeAndWords) {
  struct {
    int32_t number;
    Code code;
    const char* words;
  } cases[] = {{ENOENT, Code::kNotFound, "no such file"},
               {ENOTDIR, Code::kNotFound, "not a directory"},
               {ELOOP, Code::kNotFound, "links"},
               {EACCES, Code::kPermission, "permission denied"},
               {EMFILE, Code::kTooManyFiles, "ulimit -n"},
               {ENFILE, Code::kTooManyFiles, "system"},
               {EISDIR, Code::kNotAFile, "directory"},
               {ENOMEM, Code::kNoMemory, "memory"},
               {EIO, Code::kIo, "device"},
               {ESTALE, Code::kIo, "file server"},
               {EXDEV, Code::kIo, "error 18"}};
  for (const auto& one : cases) {
    Status status = file_error("/data/x", one.number);
    EXPECT_EQ(status.code(), one.code) << one.words;
    EXPECT_EQ(status.os_error(), one.number);
    EXPECT_EQ(status.message().find("/data/x: "), 0u);
    EXPECT_NE(status.message().find(one.words), std::string::npos) << status.message();
  }
  EXPECT_EQ(file_error_at("/data/x", 4096, EIO).message(),
            "/data/x: offset 4096: the device reported an error");
}

// A call that fails for the machine's sake may work the next time: codes -20 to -39, also those that are not given out yet.
TEST(FileError, TellsWhatIsTheMachinesFromWhatIsTheDatas) {
  const auto tells = [](int code, int32_t os_error) {
    return is_machine_failure(Status(static_cast<Code>(code), "text").with_os_error(os_error));
  };
  for (int code = -20; code >= -39; --code) EXPECT_TRUE(tells(code, 0)) << code;
  for (const int code : {-1, -19, -40, -44, -99}) EXPECT_FALSE(tells(code, 0)) << code;
  for (const int32_t number : {EINTR, EAGAIN, ENOMEM, ENOBUFS, EMFILE, ENFILE})
    EXPECT_TRUE(tells(static_cast<int>(Code::kIo), number)) << number;
  for (const int32_t number : {EIO, ENOENT, ESTALE})
    EXPECT_FALSE(tells(static_cast<int>(Code::kIo), number)) << number;
}

}  // namespace
}  // namespace dataline::file_test
