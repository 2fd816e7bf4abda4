// SPDX-License-Identifier: Apache-2.0
#include "core/memory/directory_listing.h"

#include <utility>

#include "core/memory/windows/system.h"

namespace dataline {

struct DirectoryListing::State {
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (search != INVALID_HANDLE_VALUE) FindClose(search);
  }
  Descriptor directory;
  HANDLE search = INVALID_HANDLE_VALUE;
  WIN32_FIND_DATAW found = {};
};

namespace {

DirectoryEntry::Kind kind_of(const WIN32_FIND_DATAW& found) {
  if ((found.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0) return DirectoryEntry::Kind::kLink;
  const bool directory = (found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
  return directory ? DirectoryEntry::Kind::kDirectory : DirectoryEntry::Kind::kFile;
}

}  // namespace

DirectoryListing::DirectoryListing(std::unique_ptr<State> state) : state_(std::move(state)) {}
DirectoryListing::DirectoryListing(DirectoryListing&&) noexcept = default;
DirectoryListing::~DirectoryListing() = default;

// Errors of the search are those of next(): its first entry comes with its start.
Result<DirectoryListing> DirectoryListing::open(const std::string& path) {
  FileFacts facts;
  const int number = facts_of_path(path, facts);
  if (number != 0) return file_error(path, number);
  if (!facts.is_directory) return file_error(path, ENOTDIR);
  auto state = std::make_unique<State>();
  state->directory = Descriptor::open(path, kDirectoryFlags);
  if (!state->directory) return file_error(path, errno);
  return DirectoryListing(std::move(state));
}

Result<DirectoryListing> DirectoryListing::open(const OpenDirectory& root, const std::string& path) {
  auto state = std::make_unique<State>();
  DL_ASSIGN_OR_RETURN(state->directory, root.open_subdirectory(path.empty() ? "." : path.c_str()));
  return DirectoryListing(std::move(state));
}

bool DirectoryListing::next(DirectoryEntry& entry) {
  State& state = *state_;
  for (;;) {
    BOOL more;
    if (state.search == INVALID_HANDLE_VALUE) {
      const std::optional<std::wstring> all = windows::path_below(state.directory.get(), "*");
      if (!all) {
        failure_ = errno;
        return false;
      }
      state.search = FindFirstFileExW(all->c_str(), FindExInfoBasic, &state.found, FindExSearchNameMatch,
                                      nullptr, FIND_FIRST_EX_LARGE_FETCH);
      more = state.search != INVALID_HANDLE_VALUE;
    } else {
      more = FindNextFileW(state.search, &state.found);
    }
    if (more == 0) {
      const DWORD code = GetLastError();
      const bool end = code == ERROR_NO_MORE_FILES || code == ERROR_FILE_NOT_FOUND;
      failure_ = end ? 0 : windows::errno_of(code);
      return false;
    }
    const std::wstring_view name = state.found.cFileName;
    if (name == L"." || name == L"..") continue;
    entry.name = windows::narrow(name);
    entry.kind = kind_of(state.found);
    return true;
  }
}

int DirectoryListing::descriptor() const { return state_->directory.get(); }

}  // namespace dataline
