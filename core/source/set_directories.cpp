// SPDX-License-Identifier: Apache-2.0
#include "core/source/set_directories.h"

#include <utility>

#include "core/memory/locked_file.h"
#include "core/source/identity.h"
#include "core/source/source.h"

namespace dataline {
namespace {

// The path itself for a root and for ".".
std::string parent_of(const std::string& path) {
  const size_t end = path.find_last_not_of("/\\");
  const size_t slash = end == std::string::npos ? end : path.find_last_of("/\\", end);
  if (slash == std::string::npos) return end == std::string::npos ? path : ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// The nearest parent that exists, or the path itself, without links; "" if that cannot be told.
std::string existing_part(std::string path) {
  for (;;) {
    if (Result<std::string> found = absolute_path(path); found.is_ok()) return found.take();
    std::string parent = parent_of(path);
    if (parent == path) return "";
    path = std::move(parent);
  }
}

}  // namespace

bool lies_in(const std::string& path, const FileFacts& directory) {
  for (std::string at = existing_part(path); !at.empty();) {
    FileFacts facts;
    if (facts_of_path(at, facts) == 0 && facts.same_as(directory)) return true;
    std::string parent = parent_of(at);
    if (parent == at || parent == ".") return false;
    at = std::move(parent);
  }
  return false;
}

Status refuse_in_set(const Source& source, const std::string& path, std::string_view what) {
  IdentityBuilder builder;
  source.identify(builder);
  for (const IdentityBuilder::Directory& directory : builder.directories_) {
    if (lies_in(path, directory.facts)) return in_set_error(what, path, directory.path);
  }
  return Status::ok();
}

Status in_set_error(std::string_view what, const std::string& path, std::string_view directory) {
  return error(Code::kBadOption, what, ": ", path, " is in ", directory,
               ", a directory of the dataset, where it could become a sample or a class; choose a place "
               "outside of it");
}

}  // namespace dataline
