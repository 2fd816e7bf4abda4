// Class folders for tests: every file says its own name, and what a source delivers is read back as text.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "core/source/open.h"
#include "tests/source/source_support.h"

namespace dataline {

inline void write_files(const TempDir& dir, const std::vector<std::string>& names) {
  for (const std::string& name : names) dir.write(name, "bytes of " + name);
}

// Four files of two classes, and what ImageFolder makes of them.
inline void write_pets(const TempDir& dir) {
  write_files(dir, {"pets/dog/b.png", "pets/dog/a.jpg", "pets/cat/x/2.JPG", "pets/cat/1.jpeg"});
}

inline Result<SourceRef> open_at(const TempDir& dir, const std::string& rest,
                                 const OpenContext& context = test_context()) {
  return open_source("folder:" + dir.path() + "/" + rest, context);
}

// "cat/1.jpeg 0" of every sample, in order; "(CODE) ..." where it failed. What stands before `prefix` in a file's bytes
// is left out.
inline std::vector<std::string> samples_of(const Source& source,
                                           const std::string& prefix = "bytes of pets/") {
  FetchOptions options;
  options.run_records = 3;
  Fetched fetched = fetch_all(source, options);
  std::vector<std::string> out;
  for (size_t i = 0; i < static_cast<size_t>(source.count()); ++i) {
    auto failed = fetched.errors.find(static_cast<int64_t>(i));
    std::string text = fetched.bytes[0][i];
    if (failed != fetched.errors.end()) text = std::string(code_name(failed->second.code()));
    if (text.starts_with(prefix)) text = text.substr(prefix.size());
    if (fetched.bytes.size() > 1 && failed == fetched.errors.end()) {
      const std::string& label = fetched.bytes[1][i];
      text += " " + std::to_string(label.size() == 1 ? static_cast<unsigned char>(label[0])
                                                     : values_of<int64_t>(label)[0]);
    }
    out.push_back(text);
  }
  return out;
}

// Sets the times of directories back, as if they had been made long ago: what a clock's tick hides is over.
inline void make_old(const TempDir& dir, const std::string& name = "") {
  namespace fs = std::filesystem;
  const timespec times[2] = {{1'600'000'000, 123'456'789}, {1'600'000'000, 123'456'789}};
  for (const auto& entry : fs::recursive_directory_iterator(dir.path(name))) {
    if (!entry.is_directory()) continue;
    ASSERT_EQ(::utimensat(AT_FDCWD, entry.path().c_str(), times, 0), 0);
  }
  ASSERT_EQ(::utimensat(AT_FDCWD, dir.path(name).c_str(), times, 0), 0);
}

}  // namespace dataline
