// Storages of the host's (extensions): where the bytes of paths like `s3://bucket/key` are.
//
// Threads: all functions are called from several threads at once.
// Failure: messages say what went wrong; MappedFile adds the path.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/cancel.h"
#include "core/base/status.h"

namespace dataline {

struct OpenContext;

// One object, open for reading. Its bytes never change.
class StoredObject {
 public:
  virtual ~StoredObject() = default;
  virtual int64_t bytes() const = 0;
  // Another text when the object has other bytes, such as a version or an ETag; empty: the storage states none.
  virtual const std::string& fingerprint() const = 0;
  // All of a range within the object. `cancelled` null: the token of the open tells.
  virtual Status read(int64_t offset, int64_t bytes, std::byte* out, const CancelFlag* cancelled) const = 0;
};

class HostStorage {
 public:
  virtual ~HostStorage() = default;
  virtual std::string_view scheme() const = 0;
  virtual std::string_view doc() const = 0;
  // `path`: whole, with its scheme.
  virtual Result<std::unique_ptr<const StoredObject>> open(const std::string& path,
                                                           const OpenContext& context) const = 0;
};

using HostStorageRef = std::shared_ptr<const HostStorage>;

// The word before `://`; empty if there is none.
inline std::string_view scheme_of_path(std::string_view path) {
  const size_t end = path.find("://");
  if (end == std::string_view::npos) return {};
  const std::string_view word = path.substr(0, end);
  const bool plain = std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+';
  });
  return plain ? word : std::string_view();
}

// The storage of a path; null for a path of this machine.
inline const HostStorage* storage_of(std::string_view path, const std::vector<HostStorageRef>& storages) {
  if (storages.empty()) return nullptr;
  const std::string_view scheme = scheme_of_path(path);
  for (const HostStorageRef& storage : storages) {
    if (storage->scheme() == scheme) return storage.get();
  }
  return nullptr;
}

}  // namespace dataline
