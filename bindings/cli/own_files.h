// Files that a command must not write, because it reads them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace dataline::cli {

// For a check before a run: throws Failure if `target` exists and is a file that the URI names, whatever name or link leads to
// it, or lies in a directory that the URI names, or beside shards that it names by a pattern and is called as they are. `-`, what does
// not exist, and a state or a report of this program in such a directory are fine.
void refuse_own_file(const std::string& target, std::string_view uri);

}  // namespace dataline::cli
