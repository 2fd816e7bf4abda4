// The lock is a file that no other process can open, and that goes with its handle. A directory with open files cannot be renamed, so
// the lock is given back just before.
// SPDX-License-Identifier: Apache-2.0
#include "core/memory/output_directory.h"

#include "core/memory/directory_listing.h"
#include "core/memory/windows/system.h"

namespace dataline {
namespace {

constexpr char kLockName[] = "dataline.lock";

Status exists_error(const std::string& path) {
  return error(Code::kWrongState, path,
               ": exists, and existing files are never overwritten: remove it, or choose another name");
}

Status last_error(const std::string& path) { return file_error(path, windows::errno_of(GetLastError())); }

Result<Descriptor> open_handle(const std::string& path, DWORD access, DWORD share, DWORD how, DWORD flags) {
  const std::optional<std::wstring> wide = windows::wide_path(path);
  if (!wide) return file_error(path, errno);
  const HANDLE handle = CreateFileW(wide->c_str(), access, share, nullptr, how, flags, nullptr);
  if (handle == INVALID_HANDLE_VALUE) return last_error(path);
  Descriptor descriptor = windows::descriptor_of(handle);
  if (!descriptor) return file_error(path, EMFILE);
  return descriptor;
}

// Looks at the entry itself, not at what a link leads to: a link is a reparse point.
constexpr DWORD kKindAttributes = FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT;

Result<DWORD> attributes_of(const std::string& path) {
  const std::optional<std::wstring> wide = windows::wide_path(path);
  if (!wide) return file_error(path, errno);
  const DWORD attributes = GetFileAttributesW(wide->c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES) return last_error(path);
  return attributes;
}

}  // namespace

Result<AppendFile> AppendFile::open(const std::string& path, int64_t keep) {
  DL_ASSIGN_OR_RETURN(Descriptor descriptor,
                      open_handle(path, GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_DELETE, OPEN_ALWAYS,
                                  FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OPEN_REPARSE_POINT));
  LARGE_INTEGER end;
  end.QuadPart = keep;
  const HANDLE handle = windows::handle_of(descriptor.get());
  if (SetFilePointerEx(handle, end, nullptr, FILE_BEGIN) == 0 || SetEndOfFile(handle) == 0)
    return last_error(path);
  return AppendFile(path, std::move(descriptor));
}

Status AppendFile::append(Bytes bytes) {
  DL_RETURN_IF_ERROR(write_all(descriptor_, path_, bytes));
  return sync_file(descriptor_, path_);
}

Result<OutputDirectory> OutputDirectory::open(const std::string& path) {
  std::string trimmed = path;
  while (trimmed.size() > 1 && (trimmed.back() == '/' || trimmed.back() == '\\')) trimmed.pop_back();
  OutputDirectory out(trimmed, trimmed + ".partial");
  FileFacts found;
  if (facts_of_path(out.path_, found) == 0) return exists_error(out.path_);
  const std::optional<std::wstring> wide = windows::wide_path(out.partial_);
  if (!wide) return file_error(out.partial_, errno);
  if (CreateDirectoryW(wide->c_str(), nullptr) == 0 && GetLastError() != ERROR_ALREADY_EXISTS)
    return last_error(out.partial_);
  DL_ASSIGN_OR_RETURN(const DWORD attributes, attributes_of(out.partial_));
  if ((attributes & kKindAttributes) != FILE_ATTRIBUTE_DIRECTORY) {
    return error(
        Code::kWrongState, out.partial_,
        ": is not a directory, so it was not created by a writer: move it away, or choose another name");
  }
  Result<Descriptor> lock =
      open_handle(out.path_of(kLockName), GENERIC_WRITE, 0, CREATE_ALWAYS, FILE_FLAG_DELETE_ON_CLOSE);
  if (!lock.is_ok()) {
    if (GetLastError() != ERROR_SHARING_VIOLATION && GetLastError() != ERROR_ACCESS_DENIED)
      return lock.status();
    return error(Code::kWrongState, out.partial_, ": another process is writing this set");
  }
  out.descriptor_ = lock.take();
  return out;
}

Result<std::vector<std::string>> OutputDirectory::names() const {
  std::vector<std::string> out;
  DL_ASSIGN_OR_RETURN(DirectoryListing listing, DirectoryListing::open(partial_));
  for (DirectoryEntry entry; listing.next(entry);) {
    if (entry.name != kLockName) out.push_back(entry.name);
  }
  if (listing.failure() != 0) return file_error(partial_, listing.failure());
  return out;
}

Result<OutputDirectory::Kind> OutputDirectory::kind_of(const std::string& name) const {
  constexpr DWORD kShareAll = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  DL_ASSIGN_OR_RETURN(const DWORD attributes, attributes_of(path_of(name)));
  if ((attributes & kKindAttributes) != 0) return Kind::kOther;
  DL_ASSIGN_OR_RETURN(const Descriptor file,
                      open_handle(path_of(name), FILE_READ_ATTRIBUTES, kShareAll, OPEN_EXISTING,
                                  FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OPEN_REPARSE_POINT));
  BY_HANDLE_FILE_INFORMATION found;
  if (GetFileInformationByHandle(windows::handle_of(file.get()), &found) == 0)
    return last_error(path_of(name));
  return found.nNumberOfLinks > 1 ? Kind::kShared : Kind::kFile;
}

Status OutputDirectory::remove(const std::string& name) const {
  const std::optional<std::wstring> wide = windows::wide_path(path_of(name));
  if (!wide) return file_error(path_of(name), errno);
  return DeleteFileW(wide->c_str()) != 0 ? Status::ok() : last_error(path_of(name));
}

Status OutputDirectory::sync() const { return sync_directory(partial_); }

Status OutputDirectory::publish() {
  const std::optional<std::wstring> from = windows::wide_path(partial_), to = windows::wide_path(path_);
  if (!from || !to) return file_error(path_, errno);
  descriptor_ = Descriptor();
  if (MoveFileExW(from->c_str(), to->c_str(), MOVEFILE_WRITE_THROUGH) != 0) return Status::ok();
  if (GetLastError() == ERROR_ALREADY_EXISTS) return exists_error(path_);
  return last_error(path_);
}

}  // namespace dataline
