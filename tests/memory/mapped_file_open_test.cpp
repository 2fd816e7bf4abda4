// What is not a readable regular file is refused, at once and by name.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <vector>

#include "core/memory/mapped_file.h"
#include "tests/memory/temp_files.h"

namespace dataline::mapped_file_open_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr IoMode kModes[] = {IoMode::kAuto, IoMode::kMmap, IoMode::kPread, IoMode::kMemory};

OpenContext context_for(IoMode io) {
  OpenContext context;
  context.memory = HostMemory::create({});
  context.io = io;
  return context;
}

void expect_refused(const std::string& path, Code code, const std::string& words) {
  for (IoMode io : kModes) {
    Result<MappedFile> file = MappedFile::open(path, context_for(io));
    ASSERT_FALSE(file.is_ok()) << path;
    EXPECT_EQ(file.status().code(), code) << file.status().message();
    EXPECT_THAT(file.status().message(), HasSubstr(words));
    EXPECT_THAT(file.status().message(), HasSubstr(path.substr(0, 20)));
  }
}

TEST(MappedFileOpen, MissingFile) {
  TempDir dir;
  expect_refused(dir.path("nothing"), Code::kNotFound, "no such file");
  expect_refused("", Code::kNotFound, "no such file");
  Status status = MappedFile::open(dir.path("nothing"), context_for(IoMode::kAuto)).take_status();
  EXPECT_EQ(status.os_error(), ENOENT);
}

TEST(MappedFileOpen, FileAsAFolder) {
  TempDir dir;
  expect_refused(dir.write("a", "x") + "/b", Code::kNotFound, "not a directory");
}

TEST(MappedFileOpen, Directory) {
  TempDir dir;
  expect_refused(dir.path("."), Code::kNotAFile, "a directory");
}

TEST(MappedFileOpen, FifoIsRefusedWithoutWaitingForAWriter) {
  TempDir dir;
  ASSERT_EQ(::mkfifo(dir.path("fifo").c_str(), 0600), 0);
  expect_refused(dir.path("fifo"), Code::kNotAFile, "a FIFO");
}

TEST(MappedFileOpen, Socket) {
  TempDir dir;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::string path = dir.path("s");
  ASSERT_LT(path.size(), sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  expect_refused(path, Code::kNotAFile, "a socket");
  ::close(fd);
}

TEST(MappedFileOpen, Devices) {
  expect_refused("/dev/zero", Code::kNotAFile, "a character device");
  expect_refused("/dev/null", Code::kNotAFile, "a character device");
}

TEST(MappedFileOpen, DanglingLinkAndLinkLoop) {
  TempDir dir;
  std::filesystem::create_symlink("gone", dir.path("dangling"));
  expect_refused(dir.path("dangling"), Code::kNotFound, "no such file");
  std::filesystem::create_symlink("loop", dir.path("loop"));
  expect_refused(dir.path("loop"), Code::kNotFound, "links");
}

TEST(MappedFileOpen, LinkToAFileIsTheFile) {
  TempDir dir;
  dir.write("a", "bytes");
  std::filesystem::create_symlink("a", dir.path("link"));
  EXPECT_EQ(MappedFile::open(dir.path("link"), context_for(IoMode::kAuto)).take().bytes(), 5);
}

TEST(MappedFileOpen, PathTooLongAndPathWithANulByte) {
  expect_refused("/tmp/" + std::string(5000, 'x'), Code::kNotFound, "too long");
  TempDir dir;
  dir.write("a", "x");
  std::string path = dir.path("a") + '\0' + "b";
  Result<MappedFile> file = MappedFile::open(path, context_for(IoMode::kAuto));
  ASSERT_FALSE(file.is_ok()) << "the C library would have opened 'a'";
  EXPECT_EQ(file.status().code(), Code::kNotFound);
  EXPECT_THAT(file.status().message(), HasSubstr("NUL"));
}

TEST(MappedFileOpen, UnreadableFile) {
  TempDir dir;
  std::string path = dir.write("a", "x");
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  // The directory above it is the test's own: others may pass through.
  ASSERT_EQ(::chmod(dir.path(".").c_str(), 0755), 0);
  int result = in_child([&] {
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0 && ::setuid(kNobody) != 0) return 77;
    Status status = MappedFile::open(path, context_for(IoMode::kAuto)).take_status();
    return status.code() == Code::kPermission && status.message() == path + ": permission denied" ? 0 : 1;
  });
  if (result == 77) GTEST_SKIP() << "cannot drop root's rights here";
  EXPECT_EQ(result, 0);
}

TEST(MappedFileOpen, FullDescriptorTable) {
  TempDir dir;
  std::string path = dir.write("a", "x");
  int result = in_child([&] {
    rlimit limit{16, 16};
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return 2;
    while (::open("/dev/null", O_RDONLY) >= 0) {
    }
    for (IoMode io : kModes) {
      Status status = MappedFile::open(path, context_for(io)).take_status();
      if (status.code() != Code::kTooManyFiles || status.os_error() != EMFILE) return 1;
      if (status.message().find("ulimit -n") == std::string::npos) return 3;
    }
    return 0;
  });
  EXPECT_EQ(result, 0);
}

TEST(MappedFileOpen, MoreMappedShardsThanDescriptors) {
  TempDir dir;
  for (int i = 0; i < 300; ++i) dir.write(std::to_string(i), "shard " + std::to_string(i));
  int result = in_child([&] {
    rlimit limit{64, 64};
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return 2;
    std::vector<MappedFile> files;
    for (int i = 0; i < 300; ++i) {
      Result<MappedFile> file = MappedFile::open(dir.path(std::to_string(i)), context_for(IoMode::kAuto));
      if (!file.is_ok()) return 3;
      files.push_back(file.take());
    }
    int own = ::open("/dev/null", O_RDONLY);
    if (own < 0 || own > 40) return 4;  // the host can still open files of its own
    for (int i = 0; i < 300; ++i) {
      std::string expected = "shard " + std::to_string(i);
      const MappedFile& file = files[static_cast<size_t>(i)];
      if (std::string(reinterpret_cast<const char*>(file.at(0)), expected.size()) != expected) return 5;
      if (!file.check_length().is_ok()) return 6;
    }
    // The last one has no descriptor; its shrinking is still seen, and another file under its name is not.
    if (::truncate(dir.path("299").c_str(), 2) != 0) return 7;
    if (files[299].check_length().code() != Code::kTruncated) return 8;
    if (::rename(dir.path("1").c_str(), dir.path("298").c_str()) != 0) return 9;
    if (::truncate(dir.path("298").c_str(), 1) != 0) return 10;
    return files[298].check_length().is_ok() ? 0 : 11;
  });
  EXPECT_EQ(result, 0);
}

TEST(MappedFileOpen, NoAddressSpaceLeft) {
  if (kSanitized) GTEST_SKIP() << "sanitizers need the address space themselves";
  TempDir dir;
  std::string path = dir.write("a", "");
  ASSERT_EQ(::truncate(path.c_str(), off_t{8} << 30), 0);
  int result = in_child([&] {
    rlimit limit{rlim_t{4} << 30, rlim_t{4} << 30};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) return 2;
    Status status = MappedFile::open(path, context_for(IoMode::kMmap)).take_status();
    if (status.code() != Code::kNoMemory) return 3;
    status = MappedFile::open(path, context_for(IoMode::kMemory)).take_status();
    if (status.code() != Code::kNoMemory) return 4;
    Result<MappedFile> file = MappedFile::open(path, context_for(IoMode::kAuto));
    return file.is_ok() && file.value().io() == IoMode::kPread ? 0 : 5;
  });
  EXPECT_EQ(result, 0);
}

TEST(MappedFileOpen, RefusedFilesLeaveNoDescriptors) {
  TempDir dir;
  int before = ::open("/dev/null", O_RDONLY);
  ::close(before);
  for (int i = 0; i < 50; ++i) {
    EXPECT_FALSE(MappedFile::open(dir.path("."), context_for(IoMode::kAuto)).is_ok());
    EXPECT_FALSE(MappedFile::open("/dev/zero", context_for(IoMode::kAuto)).is_ok());
    for (IoMode io : kModes) EXPECT_TRUE(MappedFile::open(dir.write("a", "x"), context_for(io)).is_ok());
  }
  int after = ::open("/dev/null", O_RDONLY);
  ::close(after);
  EXPECT_EQ(before, after);
}

}  // namespace
}  // namespace dataline::mapped_file_open_test
