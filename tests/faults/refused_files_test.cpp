// What is no readable file, in the place of one: refused at once by its exact code and name, in every format and way of
// reading, with nothing left open; and the next good file opens.
// SPDX-License-Identifier: Apache-2.0
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <filesystem>

#include "core/base/status.h"
#include "tests/conformance/files.h"

namespace dataline::tests::refused_files_test {
namespace {

namespace fs = std::filesystem;

struct NoFile {
  const char* name;
  dl_status code;
  const char* part;  // of the message
  std::function<void(const std::string& path)> make;
};

void make_socket(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path.size(), sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  const int handle = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(handle, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  close(handle);
}

const std::vector<NoFile>& no_files() {
  static const std::vector<NoFile> all = {
      {"Absent", DL_ERR_NOT_FOUND, "no such file", [](const std::string&) {}},
      {"Fifo", DL_ERR_NOT_A_FILE, "is a FIFO",
       [](const std::string& path) { ASSERT_EQ(mkfifo(path.c_str(), 0600), 0); }},
      {"Socket", DL_ERR_NOT_A_FILE, "is a socket", make_socket},
      {"Device", DL_ERR_NOT_A_FILE, "is a character device",
       [](const std::string& path) { fs::create_symlink("/dev/zero", path); }},
      {"DanglingLink", DL_ERR_NOT_FOUND, "no such file",
       [](const std::string& path) { fs::create_symlink("/nowhere/at/all", path); }},
      {"LinkLoop", DL_ERR_NOT_FOUND, "symbolic links",
       [](const std::string& path) { fs::create_symlink(path, path); }},
      {"EmptyDirectory", DL_ERR_EMPTY, "director",
       [](const std::string& path) { fs::create_directory(path); }},
  };
  return all;
}

struct Format {
  const char* prefix;
  const char* suffix;  // of the file
  const char* keys;
};
constexpr Format kFormats[] = {{"npy:", ".npy", ""},
                               {"npz:", ".npz", ""},
                               {"safetensors:", ".safetensors", ""},
                               {"idx:", "", ""},
                               {"raw:", ".bin", "?dtype=u8&shape=2"},
                               {"tokens:", ".bin", "?length=2"},
                               {"tar:", ".tar", ""},
                               {"jsonl:", ".jsonl", ""},
                               {"csv:", ".csv", ""},
                               {"tfrecord:", ".tfrecord", ""},
                               {"", ".npy", ""}};

size_t open_descriptors() {
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) count += entry.path().empty() ? 0 : 1;
  return count;
}

class RefusedFiles : public ::testing::TestWithParam<size_t> {};

TEST_P(RefusedFiles, AreNamedAtOnceInEveryFormatAndWayOfReading) {
  const NoFile& kind = no_files()[GetParam()];
  TempDir dir;
  const std::string good = dir.write("good.npy", npy_file("|u1", "(2,)", "ab"));
  const size_t before = open_descriptors();
  for (const Format& format : kFormats) {
    const std::string path = dir.path(concat("x", format.suffix));
    kind.make(path);
    for (const char* io : {"auto", "mmap", "pread", "memory"}) {
      SCOPED_TRACE(concat(format.prefix, path, " ", io));
      Opened opened = open_dataset(format.prefix + path + format.keys, {{"io", io}});
      EXPECT_EQ(opened.status, kind.code) << opened.error.message;
      const std::string message = opened.error.message;
      EXPECT_EQ(message.rfind(path + ": ", 0), 0u) << message;
      EXPECT_NE(message.find(kind.part), std::string::npos) << message;
      EXPECT_EQ(open_dataset(good, {{"io", io}}).status, DL_OK) << "the next good file";
    }
    fs::remove(path);
  }
  EXPECT_EQ(open_descriptors(), before);
}

INSTANTIATE_TEST_SUITE_P(Every, RefusedFiles, ::testing::Range<size_t>(0, no_files().size()),
                         [](const auto& one) { return std::string(no_files()[one.param].name); });

// Among shards, and as one of a zip, the part is named, not only the whole.
TEST(RefusedParts, AreNamedByTheirOwnPath) {
  TempDir dir;
  const std::string good = dir.write("d/1.npy", npy_file("|u1", "(2,)", "ab")), bad = dir.path("d/2.npy");
  for (const NoFile& kind : no_files()) {
    if (kind.code == DL_ERR_EMPTY || kind.name == std::string("Absent")) continue;
    kind.make(bad);
    for (const std::string& uri : {"npy:" + dir.path("d"), dir.path("d"), concat("npy:", good, ",", bad),
                                   concat("npy:x=", good, ",y=", bad)}) {
      Opened opened = open_dataset(uri);
      EXPECT_EQ(opened.status, kind.code) << kind.name << " in " << uri << ": " << opened.error.message;
      EXPECT_NE(std::string(opened.error.message).find(bad), std::string::npos) << opened.error.message;
    }
    fs::remove(bad);
  }
}

// Root may read everything: a child gives its rights up first.
TEST(RefusedFiles, WithoutTheRightToReadAreNamedWithTheSystemsReason) {
  TempDir dir;
  fs::permissions(dir.path("."), fs::perms::all);
  const std::string file = dir.write("closed.npy", npy_file("|u1", "(2,)", "ab"));
  const std::string inside = dir.write("closed/a.npy", npy_file("|u1", "(2,)", "ab"));
  fs::permissions(file, fs::perms::none);
  fs::permissions(dir.path("closed"), fs::perms::none);
  const int result = in_child([&] {
    if (geteuid() == 0 && setuid(65534) != 0) return 77;
    for (const std::string& path : {file, inside, dir.path("closed")}) {
      for (const char* io : {"auto", "mmap", "pread", "memory"}) {
        Opened opened = open_dataset("npy:" + path, {{"io", io}});
        if (opened.status != DL_ERR_PERMISSION) return 1;
        if (opened.error.os_error != EACCES) return 2;
        if (std::string(opened.error.message).rfind(path + ": permission denied", 0) != 0) return 3;
      }
    }
    return 0;
  });
  fs::permissions(dir.path("closed"), fs::perms::owner_all);
  if (result == 77) GTEST_SKIP() << "root's rights cannot be given up here";
  EXPECT_EQ(result, 0) << "1: another code, 2: another os_error, 3: other words";
}

}  // namespace
}  // namespace dataline::tests::refused_files_test
