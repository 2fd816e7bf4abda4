// Directories that the URI of a dataset names. What is written there changes the dataset: a directory of images gets a class, and a
// directory of shards gets a shard.
// Threads: plain functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/memory/file.h"

namespace dataline {

class Source;

// Whether `path` is this directory or lies in it, whatever links lead to it; it may be new.
bool lies_in(const std::string& path, const FileFacts& directory);

// kBadOption if `path` is such a directory or lies in one. `what` precedes the path in
// the message: "option cache".
Status refuse_in_set(const Source& source, const std::string& path, std::string_view what);
Status in_set_error(std::string_view what, const std::string& path, std::string_view directory);

}  // namespace dataline
