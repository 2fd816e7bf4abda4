// A tree of class folders that is spoilt before it is listed, or between listing and reading.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <functional>

#include "tests/source/folder/folder_files.h"
#include "tests/support/peak_growth.h"

namespace dataline {
namespace folder_trees {

namespace fs = std::filesystem;
using Act = std::function<void(const TempDir&)>;

inline void nothing(const TempDir&) {}
inline void make_fifo(const std::string& path) { ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0); }
inline void make_socket(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path.size(), sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  const int handle = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(::bind(handle, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(handle);
}
inline Act link(const std::string& to, const std::string& name) {
  return [=](const TempDir& dir) { fs::create_symlink(to, dir.path(name)); };
}
// Something else in the place of a file.
inline Act instead(const std::string& name, std::function<void(const std::string&)> make) {
  return [=](const TempDir& dir) {
    fs::remove_all(dir.path(name));
    make(dir.path(name));
  };
}
inline Act resized(const std::string& name, uintmax_t bytes) {
  return [=](const TempDir& dir) {
    if (!fs::exists(dir.path(name))) dir.write(name, "");
    fs::resize_file(dir.path(name), bytes);
  };
}
inline Act without(const std::string& name) {
  return [=](const TempDir& dir) { fs::remove_all(dir.path(name)); };
}
// A directory so deep that its own path is too long, made step by step.
inline void make_deep(const TempDir& dir) {
  const fs::path before = fs::current_path();
  fs::current_path(dir.path("pets/cat"));
  for (int i = 0; i < 22; ++i) {
    fs::create_directory(std::string(200, 'd'));
    fs::current_path(std::string(200, 'd'));
  }
  std::ofstream("a.jpg") << "deep";
  fs::current_path(before);
}
inline void remove_deep(const TempDir& dir) {
  for (int i = 0; i < 22; ++i) {  // from above: what is inside is drawn out before it is removed
    const std::string top = dir.path("pets/cat/" + std::string(200, 'd'));
    if (!fs::exists(top + "/" + std::string(200, 'd'))) break;
    fs::rename(top + "/" + std::string(200, 'd'), dir.path("rest"));
    fs::remove_all(top);
    fs::rename(dir.path("rest"), top);
  }
}

struct BadTree {
  std::string name;
  std::string uri;  // below the temporary directory
  Act before;       // the set is opened
  Act after;        // it was opened, before it is read; null: it is refused at open
  std::string bad;  // the sample that fails, by its relative path
  Code code;
  std::vector<std::string> parts;  // of the message
};

// Every sample but the bad one says its own name.
inline void expect_one_bad(const BadTree& tree, const Source& source, const TempDir& dir) {
  FetchOptions options;
  options.max_bytes_per_sample = 64;
  Fetched fetched = fetch_all(source, options);
  ASSERT_EQ(fetched.errors.size(), 1u);
  const auto& [row, status] = *fetched.errors.begin();
  EXPECT_EQ(status.code(), tree.code) << status.message();
  EXPECT_EQ(status.sample_index(), row);
  EXPECT_EQ(status.message().rfind(dir.path("pets/" + tree.bad) + ": ", 0), 0u) << status.message();
  for (const std::string& part : tree.parts) {
    EXPECT_NE(status.message().find(part), std::string::npos)
        << "'" << part << "' is not in: " << status.message();
  }
  size_t good = 0;
  for (const std::string& bytes : fetched.bytes[0]) good += bytes.starts_with("bytes of pets/") ? 1 : 0;
  EXPECT_EQ(good + 1, fetched.bytes[0].size()) << "the others";
  EXPECT_GE(good, 3u);
}

inline void check(const BadTree& tree, IoMode io) {
  TempDir dir;
  write_pets(dir);
  ASSERT_TRUE(open_at(dir, "pets").is_ok()) << "before the damage";
  tree.before(dir);
  OpenContext context = test_context(io);
  Result<SourceRef> source = open_at(dir, tree.uri, context);
  if (tree.after == nullptr) {
    expect_error(source, tree.code, tree.parts);
    EXPECT_EQ(context.memory->in_use_bytes(), 0);
  } else {
    ASSERT_TRUE(source.is_ok()) << source.status().message();
    tree.after(dir);
    expect_one_bad(tree, *source.value(), dir);
  }
  EXPECT_LT(context.memory->peak_bytes(), kMostGrowthBytes);
  if (tree.name.starts_with("deep")) remove_deep(dir);
}

inline void check_all(const std::vector<BadTree>& table, IoMode io) {
  PeakGrowth growth;
  for (const BadTree& tree : table) {
    SCOPED_TRACE(tree.name);
    check(tree, io);
  }
  EXPECT_LT(growth.bytes(), kMostGrowthBytes);
  ::testing::Test::RecordProperty("cases", static_cast<int>(table.size()));
}

}  // namespace folder_trees
}  // namespace dataline
