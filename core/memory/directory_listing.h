// The entries of a directory, in the system's order.
// Threads: one at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/memory/open_directory.h"

namespace dataline {

struct DirectoryEntry {
  enum class Kind : int32_t {
    kFile,  // a regular one
    kDirectory,
    kLink,  // or not told: facts_of_entry() says what it leads to
    kOther,
  };
  std::string name;  // UTF-8 on Windows, elsewhere as stored; never . or ..
  Kind kind = Kind::kOther;
};

class DirectoryListing {
 public:
  // Errors name the path.
  static Result<DirectoryListing> open(const std::string& path);
  // Of a subdirectory of `root`; "" is `root` itself.
  static Result<DirectoryListing> open(const OpenDirectory& root, const std::string& path);
  DirectoryListing(DirectoryListing&&) noexcept;
  ~DirectoryListing();

  // The next entry; false at the end, or when the listing failed: failure() is then errno, else 0.
  bool next(DirectoryEntry& entry);
  int failure() const { return failure_; }
  int descriptor() const;  // of the directory, for facts_of() and facts_of_entry()

 private:
  struct State;
  explicit DirectoryListing(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
  int failure_ = 0;
};

}  // namespace dataline
