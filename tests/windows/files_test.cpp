// Files on Windows: UTF-8 and long paths, sharing, replacement, directories, errors in our own words.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <string>

#include "core/memory/atomic_file.h"
#include "core/memory/directory_listing.h"
#include "core/memory/mapped_file.h"
#include "core/memory/open_directory.h"
#include "core/memory/windows/system.h"
#include "tests/memory/temp_files.h"

namespace dataline::files_test {
namespace {

OpenContext context(IoMode io) {
  OpenContext out;
  out.memory = HostMemory::create({});
  out.io = io;
  return out;
}

std::string contents(const MappedFile& file) {
  std::string out(static_cast<size_t>(file.bytes()), '\0');
  const Status status = file.read(0, file.bytes(), reinterpret_cast<std::byte*>(out.data()));
  EXPECT_TRUE(status.is_ok()) << status.message();
  return out;
}

void write_atomically(const std::string& path, const std::string& text) {
  Result<AtomicFile> file = AtomicFile::create(path);
  ASSERT_TRUE(file.is_ok()) << file.status().message();
  ASSERT_TRUE(file.value().write(std::as_bytes(std::span(text))).is_ok());
  const Status status = file.value().commit();
  ASSERT_TRUE(status.is_ok()) << status.message();
}

void expect_read_in_every_mode(const std::string& path, const std::string& text) {
  for (const IoMode io : {IoMode::kAuto, IoMode::kMmap, IoMode::kPread, IoMode::kMemory}) {
    Result<MappedFile> file = MappedFile::open(path, context(io));
    ASSERT_TRUE(file.is_ok()) << file.status().message();
    EXPECT_EQ(contents(file.value()), text);
    if (file.value().addressable()) {
      EXPECT_EQ(std::string(reinterpret_cast<const char*>(file.value().at(0)), text.size()), text);
    }
    EXPECT_TRUE(file.value().change_since_open().status.is_ok());
  }
}

Status open_status(const std::string& path) {
  Result<MappedFile> file = MappedFile::open(path, context(IoMode::kAuto));
  return file.is_ok() ? Status::ok() : file.take_status();
}

TEST(WindowsFiles, PathsAreUtf8) {
  const TempDir dir;
  const std::string path = dir.path(
      "gr\xc3\xb6\xc3\x9f"
      "e \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x98\x80.bin");
  const std::string text = pattern_bytes(70'000);
  write_atomically(path, text);
  expect_read_in_every_mode(path, text);
  EXPECT_TRUE(std::filesystem::exists(*windows::wide(path)));
}

TEST(WindowsFiles, PathsMayBeLongerThan260) {
  const TempDir dir;
  std::string folder = dir.path("deep");
  while (folder.size() < 400) {
    ASSERT_NE(CreateDirectoryW(windows::wide_path(folder)->c_str(), nullptr), 0) << folder.size();
    folder += "/" + std::string(60, 'd');
  }
  folder.resize(folder.rfind('/'));
  const std::string text = pattern_bytes(5'000);
  write_atomically(folder + "/file.bin", text);
  expect_read_in_every_mode(folder + "/file.bin", text);
}

TEST(WindowsFiles, ErrorsHaveOurCodesAndErrno) {
  const TempDir dir;
  dir.write("folder/file", "x");
  struct Case {
    std::string path;
    Code code;
    int number;
  };
  for (const Case& wrong :
       {Case{dir.path("absent"), Code::kNotFound, ENOENT},
        Case{dir.path("absent/file"), Code::kNotFound, ENOENT},
        Case{dir.path("a<b>c|d"), Code::kNotFound, ENOENT}, Case{dir.path("folder"), Code::kNotAFile, 0},
        Case{dir.path("\xff\xfe"), Code::kNotFound, EILSEQ}}) {
    const Status status = open_status(wrong.path);
    EXPECT_EQ(code_name(status.code()), code_name(wrong.code)) << status.message();
    EXPECT_EQ(status.os_error(), wrong.number) << status.message();
    EXPECT_TRUE(status.message().starts_with(wrong.path)) << status.message();
  }
}

TEST(WindowsFiles, AFileThatAnotherDoesNotShareIsNamed) {
  const TempDir dir;
  const std::string path = dir.write("locked", "text");
  const HANDLE held = CreateFileW(windows::wide(path)->c_str(), GENERIC_READ | GENERIC_WRITE, 0, nullptr,
                                  OPEN_EXISTING, 0, nullptr);
  ASSERT_NE(held, INVALID_HANDLE_VALUE);
  const Status status = open_status(path);
  EXPECT_EQ(status.message(), path + ": another process has it open for itself");
  EXPECT_EQ(status.os_error(), EBUSY);
  CloseHandle(held);
  EXPECT_TRUE(open_status(path).is_ok());
}

TEST(WindowsFiles, AnOpenFileMayBeWrittenRenamedAndDeleted) {
  const TempDir dir;
  const std::string path = dir.write("data", pattern_bytes(9'000));
  const MappedFile file = MappedFile::open(path, context(IoMode::kPread)).take();
  std::filesystem::rename(path, dir.path("other"));
  std::ofstream(dir.path("other"), std::ios::binary | std::ios::app) << "more";
  std::filesystem::remove(dir.path("other"));
  EXPECT_EQ(contents(file), pattern_bytes(9'000));
  EXPECT_TRUE(file.change_since_open().status.is_ok());
}

TEST(WindowsFiles, ATruncatedFileIsAnErrorWithItsOffset) {
  const TempDir dir;
  const std::string path = dir.write("data", pattern_bytes(9'000));
  const MappedFile file = MappedFile::open(path, context(IoMode::kPread)).take();
  std::filesystem::resize_file(path, 4'000);
  std::byte room[9'000];
  const Status status = file.read(1'000, 8'000, room);
  EXPECT_EQ(code_name(status.code()), "DL_ERR_TRUNCATED");
  EXPECT_NE(status.message().find("offset 1000: expected 8000 bytes, got 3000"), std::string::npos)
      << status.message();
}

TEST(WindowsFiles, AMappedFileCannotBeTruncated) {
  const TempDir dir;
  const std::string path = dir.write("data", pattern_bytes(9'000));
  const MappedFile file = MappedFile::open(path, context(IoMode::kMmap)).take();
  std::error_code refused;
  std::filesystem::resize_file(path, 4'000, refused);
  EXPECT_TRUE(refused);
  EXPECT_EQ(contents(file), pattern_bytes(9'000));
}

TEST(WindowsFiles, AtomicFileReplacesTheOldOneAndLeavesNothingBehind) {
  const TempDir dir;
  const std::string path = dir.path("state");
  write_atomically(path, "first");
  write_atomically(path, "second");
  EXPECT_EQ(read_whole(path), "second");
  {
    AtomicFile abandoned = AtomicFile::create(path).take();
    ASSERT_TRUE(abandoned.write(std::as_bytes(std::span("third"))).is_ok());
  }
  EXPECT_EQ(read_whole(path), "second");
  const auto entries = std::filesystem::directory_iterator(dir.path(""));
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
}

TEST(WindowsFiles, ADirectoryListsItsEntriesInUtf8) {
  const TempDir dir;
  dir.write("plain.bin", "1");
  write_atomically(dir.path("\xc3\xa4.bin"), "2");
  dir.write("folder/inner.bin", "3");
  std::map<std::string, DirectoryEntry::Kind> found;
  DirectoryListing listing = DirectoryListing::open(dir.path("")).take();
  for (DirectoryEntry entry; listing.next(entry);) found[entry.name] = entry.kind;
  EXPECT_EQ(listing.failure(), 0);
  const std::map<std::string, DirectoryEntry::Kind> expected = {{"plain.bin", DirectoryEntry::Kind::kFile},
                                                                {"\xc3\xa4.bin", DirectoryEntry::Kind::kFile},
                                                                {"folder", DirectoryEntry::Kind::kDirectory}};
  EXPECT_EQ(found, expected);
  FileFacts facts;
  EXPECT_EQ(facts_of_entry(listing.descriptor(), "\xc3\xa4.bin", facts), 0);
  EXPECT_TRUE(facts.is_file);
  EXPECT_EQ(facts.bytes, 1);
  const Result<DirectoryListing> wrong = DirectoryListing::open(dir.path("plain.bin"));
  ASSERT_FALSE(wrong.is_ok());
  EXPECT_EQ(wrong.status().os_error(), ENOTDIR);
}

TEST(WindowsFiles, FilesAreOpenedRelativeToADirectoryAndNotOutsideIt) {
  const TempDir dir;
  dir.write("outside", "o");
  dir.write("root/a.bin", "aa");
  dir.write("root/sub/b.bin", "bbb");
  const OpenDirectory root = OpenDirectory::open(dir.path("root")).take();
  for (const auto& [name, bytes] : std::map<std::string, int64_t>{
           {"a.bin", 2}, {"sub/b.bin", 3}, {"sub\\b.bin", 3}, {"sub/../a.bin", 2}, {"./a.bin", 2}}) {
    const Result<FileHandle> file = root.open_file(name.c_str(), Links::kBeneath);
    ASSERT_TRUE(file.is_ok()) << file.status().message();
    EXPECT_EQ(file.value().bytes(), bytes) << name;
  }
  EXPECT_TRUE(root.open_file("../outside", Links::kFollow).is_ok());
  const Result<FileHandle> refused = root.open_file("../outside", Links::kBeneath);
  ASSERT_FALSE(refused.is_ok());
  EXPECT_EQ(code_name(refused.status().code()), "DL_ERR_PERMISSION") << refused.status().message();
  EXPECT_EQ(code_name(OpenDirectory::open(dir.path("outside")).status().code()), "DL_ERR_NOT_FOUND");
}

TEST(WindowsFiles, OneFileHasOneIdentityUnderEveryName) {
  const TempDir dir;
  dir.write("folder/file", "x");
  dir.write("other", "x");
  FileFacts one, same, other;
  ASSERT_EQ(facts_of_path(dir.path("folder/file"), one), 0);
  ASSERT_EQ(facts_of_path(dir.path("FOLDER\\FILE"), same), 0);
  ASSERT_EQ(facts_of_path(dir.path("other"), other), 0);
  EXPECT_TRUE(one.same_as(same));
  EXPECT_FALSE(one.same_as(other));
}

}  // namespace
}  // namespace dataline::files_test
