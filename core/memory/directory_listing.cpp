// SPDX-License-Identifier: Apache-2.0
#include "core/memory/directory_listing.h"

#include <dirent.h>

#include <cerrno>
#include <utility>

namespace dataline {

struct DirectoryListing::State {
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (directory != nullptr) ::closedir(directory);
  }
  DIR* directory = nullptr;
};

namespace {

DirectoryEntry::Kind kind_of(const dirent& entry) {
  switch (entry.d_type) {
    case DT_DIR:
      return DirectoryEntry::Kind::kDirectory;
    case DT_REG:
      return DirectoryEntry::Kind::kFile;
    case DT_LNK:
    case DT_UNKNOWN:
      return DirectoryEntry::Kind::kLink;
    default:
      return DirectoryEntry::Kind::kOther;
  }
}

}  // namespace

DirectoryListing::DirectoryListing(std::unique_ptr<State> state) : state_(std::move(state)) {}
DirectoryListing::DirectoryListing(DirectoryListing&&) noexcept = default;
DirectoryListing::~DirectoryListing() = default;

Result<DirectoryListing> DirectoryListing::open(const std::string& path) {
  auto state = std::make_unique<State>();
  state->directory = ::opendir(path.c_str());
  if (state->directory == nullptr) return file_error(path, errno);
  return DirectoryListing(std::move(state));
}

Result<DirectoryListing> DirectoryListing::open(const OpenDirectory& root, const std::string& path) {
  DL_ASSIGN_OR_RETURN(Descriptor descriptor, root.open_subdirectory(path.empty() ? "." : path.c_str()));
  auto state = std::make_unique<State>();
  state->directory = ::fdopendir(descriptor.get());
  if (state->directory == nullptr) return file_error(root.path_of(path), errno);
  static_cast<void>(descriptor.release());  // closed with the listing
  return DirectoryListing(std::move(state));
}

bool DirectoryListing::next(DirectoryEntry& entry) {
  for (;;) {
    errno = 0;
    const dirent* found = ::readdir(state_->directory);
    if (found == nullptr) {
      failure_ = errno;
      return false;
    }
    const std::string_view name = found->d_name;
    if (name == "." || name == "..") continue;
    entry.name = name;
    entry.kind = kind_of(*found);
    return true;
  }
}

int DirectoryListing::descriptor() const { return ::dirfd(state_->directory); }

}  // namespace dataline
